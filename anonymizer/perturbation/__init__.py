"""Random recodings: channels p(released | true) that distort least for the privacy asked for."""

from anonymizer.perturbation.channel import Channel, require_stochastic
from anonymizer.perturbation.described import channels_of, described
from anonymizer.perturbation.distortions import absolute, hamming, hierarchical, squared
from anonymizer.perturbation.estimates import Estimate, Mean
from anonymizer.perturbation.estimation import estimate_margin, estimate_mean, estimate_table
from anonymizer.perturbation.likelihood import Likelihood, maximum_likelihood
from anonymizer.perturbation.result import OptimalChannel
from anonymizer.perturbation.source import Source, require_room

__all__ = [
    "Channel",
    "Estimate",
    "Likelihood",
    "Mean",
    "OptimalChannel",
    "Source",
    "absolute",
    "channels_of",
    "described",
    "estimate_margin",
    "estimate_mean",
    "estimate_table",
    "hamming",
    "hierarchical",
    "require_room",
    "maximum_likelihood",
    "require_stochastic",
    "squared",
]
