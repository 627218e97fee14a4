"""Scikit-learn's classifiers on quasi-identifiers. The one module that needs it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.utility.numbers import Features

ROUNDS = 300
"""Most iterations of logistic regression; beyond its default of 100, which wide tables exceed."""


@dataclass(frozen=True)
class Classifier:
    """A pipeline of scikit-learn, made anew for the features of every training."""

    name: str
    make: Callable[[Features], Pipeline]

    def probabilities(self, seen: Features, classes: Codes, tested: Features) -> Floats:
        """Learn from some records, and return how likely each class is for others.

        Shape (records tested, distinct classes seen), classes in ascending order.
        """
        pipeline = self.make(seen)
        with warnings.catch_warnings():
            # A regression that is stopped early still predicts; so it is for both tables.
            warnings.simplefilter("ignore", ConvergenceWarning)
            pipeline.fit(_matrix(seen), classes)
        return np.asarray(pipeline.predict_proba(_matrix(tested)), float)


def classifiers(seed: int, n_jobs: int | None) -> list[Classifier]:
    """Logistic regression, a random forest and naive Bayes, as scikit-learn sets them by default.

    Ordered attributes are numbers, standardized for the regression; others are one-hot encoded
    for the regression and numbered for the forest. To naive Bayes all are categories. A category
    that training never showed tells the regression nothing; to the forest it comes before all
    others, and naive Bayes knows it by Laplace's smoothing alone.
    """

    def regression(features: Features) -> Pipeline:
        nominal = OneHotEncoder(handle_unknown="ignore")
        model = LogisticRegression(max_iter=ROUNDS)
        return make_pipeline(_columns(features, nominal, StandardScaler()), model)

    def forest(features: Features) -> Pipeline:
        nominal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        model = RandomForestClassifier(random_state=seed, n_jobs=n_jobs)
        return make_pipeline(_columns(features, nominal, "passthrough"), model)

    def bayes(features: Features) -> Pipeline:
        places = list(range(len(features.sizes)))
        categories = ColumnTransformer([("categories", "passthrough", places)])
        return make_pipeline(categories, CategoricalNB(min_categories=list(features.sizes)))

    return [
        Classifier("logistic regression", regression),
        Classifier("random forest", forest),
        Classifier("naive Bayes", bayes),
    ]


def _matrix(features: Features) -> Floats:
    """Categories, then numbers, side by side, shape (records, attributes + ordered ones)."""
    return np.hstack([features.categories.astype(float), features.numbers])


def _columns(features: Features, nominal: object, number: object) -> ColumnTransformer:
    """Encode the attributes without numbers one way, those with numbers another."""
    width = len(features.sizes)
    others = [place for place in range(width) if place not in features.ordered]
    numbers = [width + place for place in range(len(features.ordered))]
    return ColumnTransformer([("nominal", nominal, others), ("numbers", number, numbers)])
