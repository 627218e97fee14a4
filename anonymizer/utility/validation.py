"""Cross-validation of guesses: folds, accuracy and area under the ROC curve."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats, Mask

__all__ = ["Guess", "Score", "Trial", "area_under_curve", "dealt"]

Guess = Callable[[Mask, Mask], Floats]
"""From the records to learn from and those to guess, shape (records,) each, to how likely each
class is, shape (records to guess, classes)."""


@dataclass(frozen=True)
class Score:
    """How well classes are predicted.

    Parameters
    ----------
    accuracy
        Share of the records whose class is the likeliest one.
    auc
        Area under the ROC curve, one class against the rest, weighted by the classes' records; the
        mean over folds. None where no fold has records of two classes.
    """

    accuracy: float
    auc: float | None


@dataclass(frozen=True, eq=False)
class Trial:
    """A cross-validation: the class of each record and the fold that tests it, shape (records,)."""

    truth: Codes
    fold_of: Codes

    def score(self, guess: Guess, teaching: Mask) -> Score:
        """Test every fold on what is learnt from those ``teaching`` records that are not in it."""
        hits, areas = 0, []
        for fold in range(int(self.fold_of.max()) + 1):
            tested = self.fold_of == fold
            taught = teaching & ~tested
            if not taught.any():
                raise InputError("too few records are released for classifiers to learn from")
            likely = guess(taught, tested)
            hits += int((likely.argmax(axis=1) == self.truth[tested]).sum())
            areas.append(_weighted_area(self.truth[tested], likely))
        known = [area for area in areas if area is not None]
        return Score(hits / len(self.truth), float(np.mean(known)) if known else None)


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
    """The area of each class that some records have and others have not, weighted by them."""
    present, records = np.unique(truth, return_counts=True)
    if len(present) < 2:
        return None
    areas = [area_under_curve(truth == code, likely[:, code]) for code in present]
    return float(np.average(areas, weights=records))
