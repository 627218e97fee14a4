"""Estimates about the population of a sample: uniqueness, re-identification, sampling.

In go class sizes and the sampling fraction, out come shares and probabilities. Imports kernels;
scipy is imported when a function first needs it, never by importing this package.
"""

from anonymizer.privacy.population.risks import (
    Risk,
    estimated_risk,
    journalist,
    marketer,
    prosecutor,
)
from anonymizer.privacy.population.sampling import (
    failure_probability,
    sampling_rate,
    smallest_class,
)
from anonymizer.privacy.population.uniqueness import (
    ESTIMATORS,
    Uniqueness,
    population_uniqueness,
    sample_uniqueness,
)

__all__ = [
    "ESTIMATORS",
    "Risk",
    "Uniqueness",
    "estimated_risk",
    "failure_probability",
    "journalist",
    "marketer",
    "population_uniqueness",
    "prosecutor",
    "sample_uniqueness",
    "sampling_rate",
    "smallest_class",
]
