"""Random recodings: channels p(released | true) that distort least for the privacy asked for."""

from anonymizer.perturbation.channel import Channel, require_stochastic
from anonymizer.perturbation.distortions import absolute, hamming, hierarchical, squared
from anonymizer.perturbation.result import OptimalChannel
from anonymizer.perturbation.source import Source
from anonymizer.perturbation.tradeoff import privacy_distortion, privacy_distortion_curve

__all__ = [
    "Channel",
    "OptimalChannel",
    "Source",
    "absolute",
    "hamming",
    "hierarchical",
    "privacy_distortion",
    "privacy_distortion_curve",
    "require_stochastic",
    "squared",
]
