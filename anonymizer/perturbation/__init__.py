"""Random recodings: channels p(released | true) that distort least for the privacy asked for."""

from anonymizer.perturbation.bottlenecks import (
    Bottleneck,
    bottleneck_path,
    information_bottleneck,
)
from anonymizer.perturbation.bounds import mutual_information_bound, quadratic_gaussian_bound
from anonymizer.perturbation.channel import Channel, require_stochastic
from anonymizer.perturbation.distortions import absolute, hamming, hierarchical, squared
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
from anonymizer.perturbation.result import OptimalChannel
from anonymizer.perturbation.source import Source
from anonymizer.perturbation.synthesis import synthetic
from anonymizer.perturbation.tradeoff import privacy_distortion, privacy_distortion_curve

__all__ = [
    "Bottleneck",
    "Channel",
    "GaussianMechanism",
    "GaussianModel",
    "Moments",
    "OptimalChannel",
    "ProbabilisticLoss",
    "Source",
    "absolute",
    "bottleneck_path",
    "gaussian_channel",
    "gaussian_rate",
    "hamming",
    "hierarchical",
    "information_bottleneck",
    "moments_kept",
    "mutual_information_bound",
    "pil",
    "privacy_distortion",
    "privacy_distortion_curve",
    "probabilistic_loss",
    "quadratic_gaussian_bound",
    "rate_distortion",
    "require_stochastic",
    "squared",
    "synthetic",
]
