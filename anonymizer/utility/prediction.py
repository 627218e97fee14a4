"""What classifiers learn from a release, compared with what they learn from the original table.

Cross-validated: trained on the released records of all folds but one, tested on the original
records of that one, recoded the same way. The features are the quasi-identifiers, since all other
columns say after a release what they said before.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from anonymizer.errors import InputError, require_columns
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.recoding import Watch, ignore
from anonymizer.utility.features import Features, Learner, features_of
from anonymizer.utility.pairing import Pairing
from anonymizer.utility.validation import Guess, Score, Trial, dealt

__all__ = ["MOST_CLASSES", "Prediction", "predictions", "targets_of"]

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
        return {**asdict(self), "kept": self.kept}


def targets_of(pairing: Pairing, requested: Sequence[str] | None) -> list[str]:
    """The columns to predict: the requested ones, else what the release is to inform about.

    That is the targets of the study, or the sensitive attributes, as far as they are categories.

    Raises
    ------
    InputError
        When a requested column cannot be predicted.
    """
    if requested is None:
        names = pairing.schema.targets or pairing.schema.sensitive
        return [name for name in names if not _objection(name, pairing)]
    require_columns(pairing.table.columns, requested)
    for name in requested:
        objection = _objection(name, pairing)
        if objection:
            raise InputError(f"target {name!r} {objection}")
    return list(dict.fromkeys(requested))


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
    recoded = features_of(pairing, representative, suppressed=False)
    everybody, released = np.ones(len(pairing), bool), ~pairing.left_out
    found: list[Prediction] = []
    for target in targets:
        truth = pairing.others[target][0]
        trial = Trial(truth, dealt(truth, folds, np.random.default_rng(seed)))
        majority = trial.score(_most_frequent(truth), released)
        for learner in classifiers:
            watch(f"{learner.name}: {target!r}", len(found), len(targets) * len(classifiers))
            original = trial.score(_learnt(learner, truth, raw, raw), everybody)
            score = trial.score(_learnt(learner, truth, shown, recoded), released)
            sizes = int(truth.max()) + 1, len(truth)
            found.append(Prediction(target, learner.name, *sizes, majority, original, score))
    return found


def _most_frequent(truth: Codes) -> Guess:
    """Guess every record's class by the frequencies of the classes."""

    def guess(taught: Mask, tested: Mask) -> Floats:
        records = np.bincount(truth[taught], minlength=int(truth.max()) + 1)
        return np.tile(records / records.sum(), (int(tested.sum()), 1))

    return guess


def _learnt(learner: Learner, truth: Codes, shown: Features, tests: Features) -> Guess:
    """Let a classifier guess; a class that it never saw is impossible to it."""

    def guess(taught: Mask, tested: Mask) -> Floats:
        likely = np.zeros((int(tested.sum()), int(truth.max()) + 1))
        seen = np.unique(truth[taught])
        if len(seen) == 1:  # nothing to tell apart, which classifiers refuse
            likely[:, seen] = 1.0
        else:
            features = shown.of(taught), truth[taught], tests.of(tested)
            likely[:, seen] = learner.probabilities(*features)
        return likely

    return guess
