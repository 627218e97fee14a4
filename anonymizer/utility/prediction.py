"""What classifiers learn from a release, beside what they learn from the original table.

Cross-validated: trained on the released records of all folds but one, tested on the original
records of that one, recoded the same way. The features are the quasi-identifiers, since all other
columns say after a release what they said before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.counts.counts import Codes, Floats
from anonymizer.errors import InputError, require_columns
from anonymizer.privacy import Mask
from anonymizer.recoding import Watch, ignore
from anonymizer.utility.features import Features, Learner, features_of
from anonymizer.utility.pairing import Pairing
from anonymizer.utility.validation import Guess, Score, Trial, dealt

__all__ = [
    "MOST_CLASSES",
    "Prediction",
    "predictions",
    "targets_of",
]

MOST_CLASSES = 50
"""Values of a target beyond which it is no category to be predicted."""


@dataclass(frozen=True)
class Prediction:
    """How well one classifier predicts one target.

    Parameters
    ----------
    target, classifier
        The column, and what predicts it.
    classes, records
        How many values it has, and how many records were predicted.
    majority
        Always the most frequent class of the released training records: what needs no features.
    original, released
        Trained and tested on the original records; trained on the release.
    """

    target: str
    classifier: str
    classes: int
    records: int
    majority: Score
    original: Score
    released: Score

    @property
    def kept(self) -> float | None:
        """(released - majority) / (original - majority), accuracies; None where that is no gain."""
        gain = self.original.accuracy - self.majority.accuracy
        return (self.released.accuracy - self.majority.accuracy) / gain if gain > 0 else None

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        return {
            "target": self.target,
            "classifier": self.classifier,
            "classes": self.classes,
            "records": self.records,
            "majority": self.majority.to_dict(),
            "original": self.original.to_dict(),
            "released": self.released.to_dict(),
            "kept": self.kept,
        }


def targets_of(pairing: Pairing, asked: Sequence[str] | None) -> list[str]:
    """The columns to predict: those asked for, else what the release is to tell about.

    That is the targets of the study, or the sensitive attributes, as far as they are categories.

    Raises
    ------
    InputError
        When a column that is asked for cannot be predicted.
    """
    if asked is None:
        names = pairing.schema.targets or pairing.schema.sensitive
        return [name for name in names if not _objection(name, pairing)]
    require_columns(pairing.table.columns, asked)
    for name in asked:
        objection = _objection(name, pairing)
        if objection:
            raise InputError(f"target {name!r} {objection}")
    return list(dict.fromkeys(asked))


def _objection(name: str, pairing: Pairing) -> str:
    """Why a column cannot be predicted, or nothing."""
    if name in pairing.attributes:
        return (
            "is a quasi-identifier, whose values the release recodes; choose a sensitive attribute "
            "or a column released as it was"
        )
    if name in pairing.schema.identifiers:
        return "is an identifier, which no release has"
    if name not in pairing.others:
        return "holds values that cannot be told apart, such as lists"
    values = len(pairing.others[name][1])
    if values < 2:
        return "has the same value throughout: there is nothing to predict"
    if values > MOST_CLASSES:
        return f"has {values:,} values; a class to predict has at most {MOST_CLASSES}"
    return ""


def predictions(
    pairing: Pairing,
    targets: Sequence[str],
    classifiers: Sequence[Learner],
    *,
    folds: int,
    seed: int,
    representative: str,
    watch: Watch = ignore,
) -> list[Prediction]:
    """How well each classifier predicts each target, from the original and from the release.

    Records are dealt to the folds at random, each class evenly; never more folds than records.

    Raises
    ------
    InputError
        When nothing is left to learn from.
    """
    raw = features_of(pairing, None)
    shown = features_of(pairing, representative)
    asked = features_of(pairing, representative, suppressed=False)
    found: list[Prediction] = []
    for target in targets:
        truth = pairing.others[target][0]
        trial = Trial(truth, dealt(truth, folds, np.random.default_rng(seed)))
        released = ~pairing.left_out
        majority = trial.score(_most_frequent(truth), released)
        for learner in classifiers:
            watch(f"{learner.name}: {target!r}", len(found), len(targets) * len(classifiers))
            found.append(
                Prediction(
                    target,
                    learner.name,
                    int(truth.max()) + 1,
                    len(truth),
                    majority,
                    trial.score(_learnt(learner, truth, raw, raw), np.ones(len(truth), bool)),
                    trial.score(_learnt(learner, truth, shown, asked), released),
                )
            )
    return found


def _most_frequent(truth: Codes) -> Guess:
    """Tell every record's classes by their frequencies."""

    def guess(taught: Mask, tested: Mask) -> Floats:
        records = np.bincount(truth[taught], minlength=int(truth.max()) + 1)
        return np.tile(records / records.sum(), (int(tested.sum()), 1))

    return guess


def _learnt(learner: Learner, truth: Codes, shown: Features, asked: Features) -> Guess:
    """Let a classifier tell; a class that it never saw is impossible to it."""

    def guess(taught: Mask, tested: Mask) -> Floats:
        likely = np.zeros((int(tested.sum()), int(truth.max()) + 1))
        seen = np.unique(truth[taught])
        if len(seen) == 1:  # nothing to tell apart, which classifiers refuse
            likely[:, seen] = 1.0
        else:
            likely[:, seen] = learner.probabilities(
                shown.of(taught), truth[taught], asked.of(tested)
            )
        return likely

    return guess
