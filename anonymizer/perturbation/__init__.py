"""Random recodings: channels p(released | true) that distort least for the privacy asked for."""

from anonymizer.perturbation.channel import Channel, require_stochastic
from anonymizer.perturbation.distortions import absolute, hamming, hierarchical, squared
from anonymizer.perturbation.result import OptimalChannel
from anonymizer.perturbation.source import Source, require_room

__all__ = [
    "Channel",
    "OptimalChannel",
    "Source",
    "absolute",
    "hamming",
    "hierarchical",
    "require_room",
    "require_stochastic",
    "squared",
]
