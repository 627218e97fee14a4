"""Random recodings: channels p(released | true) that distort least for the privacy asked for."""

from anonymizer.perturbation.bottlenecks import (
    Bottleneck,
    bottleneck_path,
    information_bottleneck,
)
from anonymizer.perturbation.bounds import mutual_information_bound, quadratic_gaussian_bound
from anonymizer.perturbation.alphabets import default_alphabet
from anonymizer.perturbation.channel import Channel, require_stochastic
from anonymizer.perturbation.described import channels_of, described
from anonymizer.perturbation.distortions import absolute, hamming, hierarchical, squared
from anonymizer.perturbation.estimates import Estimate, Mean
from anonymizer.perturbation.estimation import estimate_margin, estimate_mean, estimate_table
from anonymizer.perturbation.likelihood import Likelihood, maximum_likelihood
from anonymizer.perturbation.guarantees import private_channel
from anonymizer.perturbation.ranges import Ranges, best_ranges
from anonymizer.perturbation.result import OptimalChannel
from anonymizer.perturbation.source import Source, require_room
from anonymizer.perturbation.gaussian import GaussianMechanism, GaussianModel, gaussian_rate
from anonymizer.perturbation.grids import gaussian_channel
from anonymizer.perturbation.loss import (
    Moments,
    ProbabilisticLoss,
    moments_kept,
    pil,
    probabilistic_loss,
)
from anonymizer.perturbation.rates import rate_distortion
from anonymizer.perturbation.source import Source
from anonymizer.perturbation.synthesis import synthetic
from anonymizer.perturbation.tradeoff import privacy_distortion, privacy_distortion_curve

__all__ = [
    "Bottleneck",
    "Channel",
    "Estimate",
    "Likelihood",
    "Mean",
    "GaussianMechanism",
    "GaussianModel",
    "Moments",
    "OptimalChannel",
    "ProbabilisticLoss",
    "Source",
    "absolute",
    "channels_of",
    "described",
    "estimate_margin",
    "estimate_mean",
    "estimate_table",
    "Ranges",
    "best_ranges",
    "default_alphabet",
    "hamming",
    "hierarchical",
    "require_room",
    "maximum_likelihood",
    "bottleneck_path",
    "gaussian_channel",
    "gaussian_rate",
    "information_bottleneck",
    "moments_kept",
    "mutual_information_bound",
    "pil",
    "probabilistic_loss",
    "quadratic_gaussian_bound",
    "rate_distortion",
    "privacy_distortion",
    "privacy_distortion_curve",
    "private_channel",
    "require_stochastic",
    "squared",
    "synthetic",
]
