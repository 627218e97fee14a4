"""Random recodings: channels p(released | true) that distort least for the privacy asked for."""

from anonymizer.perturbation.alphabets import default_alphabet
from anonymizer.perturbation.channel import Channel, require_stochastic
from anonymizer.perturbation.distortions import absolute, hamming, hierarchical, squared
from anonymizer.perturbation.guarantees import private_channel
from anonymizer.perturbation.ranges import Ranges, best_ranges
from anonymizer.perturbation.result import OptimalChannel
from anonymizer.perturbation.source import Source
from anonymizer.perturbation.tradeoff import privacy_distortion, privacy_distortion_curve

__all__ = [
    "Channel",
    "OptimalChannel",
    "Ranges",
    "Source",
    "absolute",
    "best_ranges",
    "default_alphabet",
    "hamming",
    "hierarchical",
    "privacy_distortion",
    "privacy_distortion_curve",
    "private_channel",
    "require_stochastic",
    "squared",
]
