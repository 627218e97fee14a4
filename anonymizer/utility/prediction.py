"""What classifiers learn from a release, compared with what they learn from the original table.

Cross-validated: trained on the released records of all folds but one, tested on the original
records of that one, recoded the same way. The features are the quasi-identifiers, since all other
columns say after a release what they said before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.errors import InputError, require_columns
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.privacy import TOLERANCE
from anonymizer.release.information import NOISE
from anonymizer.release.results import Result
from anonymizer.utility.numbers import Features, features_of
from anonymizer.utility.pairing import Pairing

if TYPE_CHECKING:
    from anonymizer.utility.learners import Classifier

Guess = Callable[[Mask, Mask], Floats]
"""From the records to learn from and those to guess, shape (records,) each, to how likely each
class is, shape (records to guess, classes)."""

MOST_CLASSES = 50
"""Values of a target beyond which it is no category to be predicted."""


def learners(seed: int, n_jobs: int | None) -> "Sequence[Classifier] | None":
    """Return the classifiers; None where scikit-learn is not installed."""
    try:
        from anonymizer.utility.learners import classifiers  # loads scikit-learn
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        return None
    return classifiers(seed, n_jobs)


@dataclass(frozen=True)
class Score:
    """Accuracy of predicted classes.

    ``auc`` is the area under the ROC curve, one class against the rest, weighted by the classes'
    records; the mean over folds. None where no fold has records of two classes.
    """

    accuracy: float  # share of the records whose class is the likeliest one
    auc: float | None


def cross_validated(truth: Codes, fold_of: Codes, guess: Guess, teaching: Mask) -> Score:
    """Test every fold on what is learnt from those ``teaching`` records that are not in it.

    ``truth`` is the class of each record, ``fold_of`` the fold that tests it, shape (records,).
    """
    hits, areas = 0, []
    for fold in range(int(fold_of.max()) + 1):
        tested = fold_of == fold
        taught = teaching & ~tested
        if not taught.any():
            raise InputError("too few records are released for classifiers to learn from")
        likely = guess(taught, tested)
        hits += int((likely.argmax(axis=1) == truth[tested]).sum())
        areas.append(_weighted_area(truth[tested], likely))
    known = [area for area in areas if area is not None]
    return Score(hits / len(truth), float(np.mean(known)) if known else None)


def dealt(truth: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Deal records to folds at random, those of each class in turn, shape (records,).

    Folds, and the records of one class in them, differ by one at the most. However rare a class
    is, its records can be dealt.
    """
    order = rng.permutation(len(truth))
    order = order[np.argsort(truth[order], kind="stable")]
    fold_of = np.empty(len(truth), np.intp)
    fold_of[order] = np.arange(len(truth)) % min(folds, len(truth))
    return fold_of


def area_under_curve(hit: Mask, score: Floats) -> float:
    """P(score of a hit > score of a miss) + P(they are equal) / 2: Mann and Whitney's U / (n m).

    There must be a hit and a miss.

    >>> area_under_curve(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    _, place, sizes = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[place]
    hits = int(hit.sum())
    above = float(ranks[hit].sum()) - hits * (hits + 1) / 2
    return above / (hits * (len(hit) - hits))


def _weighted_area(truth: Codes, likely: Floats) -> float | None:
    """Average the areas of the classes that some records have and others have not, by records."""
    present, records = np.unique(truth, return_counts=True)
    if len(present) < 2:
        return None
    areas = [area_under_curve(truth == code, likely[:, code]) for code in present]
    return float(np.average(areas, weights=records))


@dataclass(frozen=True)
class Prediction(Result):
    """Scores of one classifier on one target."""

    derived = ("kept",)

    target: str
    classifier: str
    classes: int  # values of the target
    records: int  # that were predicted
    majority: Score  # the most frequent class of the released training records, without features
    original: Score  # trained and tested on the original records
    released: Score  # trained on the release

    @property
    def kept(self) -> float | None:
        """(released - majority) / (original - majority), accuracies; None where not determined.

        That is where the denominator is within noise: at most ``NOISE`` standard errors of the
        difference of two accuracies, sqrt((a (1 - a) + b (1 - b)) / records).
        """
        least, most = self.majority.accuracy, self.original.accuracy
        error = sqrt((most * (1 - most) + least * (1 - least)) / self.records)
        gain = most - least
        determined = gain > max(NOISE * error, TOLERANCE)
        return (self.released.accuracy - least) / gain if determined else None


def targets_of(pairing: Pairing, requested: Sequence[str] | None) -> list[str]:
    """Return the columns to predict: the requested ones, else what the release is about.

    That is the targets of the study, or the sensitive attributes, as far as they are categories.

    Raises InputError when a requested column cannot be predicted.
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
    """Say why a column cannot be predicted, or nothing."""
    if name in pairing.attributes:
        return (
            "is a quasi-identifier, whose values the release recodes; choose a sensitive attribute "
            "or a column released as it was"
        )
    if name in pairing.schema.identifiers:
        return "is an identifier, which no release has"
    if name not in pairing.others:
        return "holds values that cannot be distinguished, such as lists"
    values = len(pairing.others[name][1])
    if values < 2:
        return "has the same value throughout: there is nothing to predict"
    if values > MOST_CLASSES:
        return f"has {values:,} values; a class to predict has at most {MOST_CLASSES}"
    return ""


def predictions(
    pairing: Pairing,
    targets: Sequence[str],
    classifiers: "Sequence[Classifier]",
    *,
    folds: int,
    seed: int,
    representative: str,
    watch: Watch = ignore,
) -> list[Prediction]:
    """Score each classifier on each target, from the original and from the release.

    Records are dealt to the folds at random, each class evenly; never more folds than records.

    Raises InputError when nothing is left to learn from.
    """
    raw = features_of(pairing, None)
    shown = features_of(pairing, representative)
    recoded = features_of(pairing, representative, suppressed=False)
    everybody, released = np.ones(len(pairing), bool), ~pairing.left_out
    found: list[Prediction] = []
    for target in targets:
        truth = pairing.others[target][0]
        score = partial(cross_validated, truth, dealt(truth, folds, np.random.default_rng(seed)))
        majority = score(partial(_by_frequency, truth), released)
        for learner in classifiers:
            watch(f"{learner.name}: {target!r}", len(found), len(targets) * len(classifiers))
            guess = partial(_by_classifier, learner, truth)
            original = score(partial(guess, raw, raw), everybody)
            kept = score(partial(guess, shown, recoded), released)
            sizes = int(truth.max()) + 1, len(truth)
            found.append(Prediction(target, learner.name, *sizes, majority, original, kept))
    return found


def _by_frequency(truth: Codes, taught: Mask, tested: Mask) -> Floats:
    records = np.bincount(truth[taught], minlength=int(truth.max()) + 1)
    return np.tile(records / records.sum(), (int(tested.sum()), 1))


def _by_classifier(
    learner: "Classifier",
    truth: Codes,
    shown: Features,
    tests: Features,
    taught: Mask,
    tested: Mask,
) -> Floats:
    """Let a classifier guess; a class that it never saw is impossible to it."""
    likely = np.zeros((int(tested.sum()), int(truth.max()) + 1))
    seen = np.unique(truth[taught])
    if len(seen) == 1:  # classifiers refuse to learn a single class
        likely[:, seen] = 1.0
    else:
        features = shown.of(taught), truth[taught], tests.of(tested)
        likely[:, seen] = learner.probabilities(*features)
    return likely
