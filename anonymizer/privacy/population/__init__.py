"""Estimates about the population of a sample: uniqueness, re-identification, sampling.

In go class sizes and the sampling fraction, out come shares and probabilities. Imports kernels;
scipy is imported when a function first needs it, never by importing this package.
"""

from anonymizer.privacy.population.risks import Risk as Risk
from anonymizer.privacy.population.risks import estimated_risk as estimated_risk
from anonymizer.privacy.population.risks import household as household
from anonymizer.privacy.population.risks import individual as individual
from anonymizer.privacy.population.risks import journalist as journalist
from anonymizer.privacy.population.risks import marketer as marketer
from anonymizer.privacy.population.risks import prosecutor as prosecutor
from anonymizer.privacy.population.sampling import failure_probability as failure_probability
from anonymizer.privacy.population.sampling import sampling_rate as sampling_rate
from anonymizer.privacy.population.sampling import smallest_class as smallest_class
from anonymizer.privacy.population.uniqueness import ESTIMATORS as ESTIMATORS
from anonymizer.privacy.population.uniqueness import Uniqueness as Uniqueness
from anonymizer.privacy.population.uniqueness import population_uniqueness as population_uniqueness
from anonymizer.privacy.population.uniqueness import sample_uniqueness as sample_uniqueness
