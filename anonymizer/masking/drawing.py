"""Drawing a table from channels, so carefully that the drawn table holds its policy.

A channel promises what is expected; the table that is released is one draw. It is held against the
policy like any other table: counted, and drawn again where it fails.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.counts.counts import Floats, Ints
from anonymizer.errors import PolicyUnreachableError
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.contingency import Codes, Crossed
from anonymizer.masking.rounding import rounded
from anonymizer.privacy import PrivacyModel

__all__ = ["Drawn", "attempt", "first_that_holds"]


@dataclass(frozen=True, eq=False)
class Drawn:
    """The symbols of all records.

    Parameters
    ----------
    symbol_of
        The symbol of each record, one array of shape (records,) for each part.
    by_class
        Records by class, all parts together, and stratum, shape (classes, strata).
    """

    symbol_of: list[Codes]
    by_class: np.ndarray


def first_that_holds(
    ladder: Iterable[Sequence[Candidate]],
    models: Sequence[PrivacyModel],
    draws: int,
    rng: np.random.Generator,
    independent: bool = False,
    kept_of: Codes | None = None,
) -> tuple[Sequence[Candidate], Drawn]:
    """The first channels, one for each part, of which a draw satisfies every model; and that draw.

    The rest is as of :func:`attempt`.

    Raises
    ------
    PolicyUnreachableError
        When no draw of any does.
    """
    tried = 0
    for candidates in ladder:
        tried += 1
        if len(candidates) == 1 and kept_of is None and not _promising(candidates[0], models):
            continue
        crossed = [candidate.part.crossed for candidate in candidates]
        matrices = [candidate.matrix for candidate in candidates]
        for _ in range(draws):
            drawn = attempt(crossed, matrices, models, rng, independent, kept_of)
            if drawn is not None:
                return candidates, drawn
    raise PolicyUnreachableError(
        f"masking: no table drawn from any of {tried} channels satisfied the policy; relax it "
        "(or min-records), state coarser levels, or mask other attributes"
    )


def attempt(
    crossed: Sequence[Crossed],
    matrices: Sequence[Floats],
    models: Sequence[PrivacyModel],
    rng: np.random.Generator,
    independent: bool = False,
    kept_of: Codes | None = None,
) -> Drawn | None:
    """Draw the symbols of all records once; None where a class of them breaks a model.

    ``independent``: every record by itself, which local differential privacy is about; otherwise
    the records of every symbol are kept near to what is expected. ``kept_of``: what every record
    has of attributes that are no part of any channel and tell classes apart all the same, shape
    (records,); None where there are none.
    """
    how = _multinomial if independent else rounded
    kinds = [_drawn(part, matrix, how, rng) for part, matrix in zip(crossed, matrices, strict=True)]
    whole = crossed[0]
    alone = len(crossed) == 1 and kept_of is None
    if alone:  # the classes are known before any record has its symbol
        by_class = _by_symbol(kinds[0], matrices[0].shape[1], whole.records.shape[1])
        if not whole.acceptable(by_class, models).all():
            return None
    symbol_of = [_dealt(part, drawn, rng) for part, drawn in zip(crossed, kinds, strict=True)]
    if not alone:
        beside = [] if kept_of is None else [kept_of]
        by_class = _together(whole, [*symbol_of, *beside])
        if not whole.acceptable(by_class, models).all():
            return None
    return Drawn(symbol_of, by_class)


def _promising(candidate: Candidate, models: Sequence[PrivacyModel]) -> bool:
    """Whether the table that is nearest to what is expected would do: draws are further from it."""
    expected = np.rint(candidate.law).astype(np.int64)
    return bool(candidate.part.crossed.acceptable(expected, models).all())


def _multinomial(records: Ints, channel: Floats, rng: np.random.Generator) -> Ints:
    """Records by value and symbol when every record is drawn by itself, shape (n, k)."""
    return np.asarray(rng.multinomial(records, channel))


def _drawn(
    crossed: Crossed,
    matrix: Floats,
    how: Callable[[Ints, Floats, np.random.Generator], Ints],
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw from a channel, stratum by stratum of equal sensitive values.

    Every record gets each symbol with the channel's chance. Rounded, the records of a symbol with
    some sensitive values are within one of what is expected.

    Returns
    -------
    Row, stratum, symbol, and the records of that kind, shape (kinds, 4).
    """
    found = []
    for stratum in range(crossed.records.shape[1]):
        rows = np.flatnonzero(crossed.records[:, stratum])
        columns = np.flatnonzero(matrix[rows].max(axis=0, initial=0.0) > 0)
        records = how(crossed.records[rows, stratum], matrix[np.ix_(rows, columns)], rng)
        row, column = np.nonzero(records)
        kind = [rows[row], np.full(len(row), stratum), columns[column], records[row, column]]
        found.append(np.column_stack(kind))
    return np.concatenate(found)


def _by_symbol(kinds: np.ndarray, symbols: int, strata: int) -> np.ndarray:
    """Records by symbol and stratum, shape (symbols, strata)."""
    found = np.zeros((symbols, strata), np.int64)
    np.add.at(found, (kinds[:, 2], kinds[:, 1]), kinds[:, 3])
    return found


def _dealt(crossed: Crossed, kinds: np.ndarray, rng: np.random.Generator) -> Codes:
    """The symbol of each record, those alike being dealt theirs at random, shape (records,)."""
    # Both sides in the order of rows, then strata: what was drawn for a kind goes to its records.
    shuffled = rng.permutation(len(crossed.row_of))
    order = np.lexsort((crossed.stratum_of[shuffled], crossed.row_of[shuffled]))
    _, _, symbol, records = kinds[np.lexsort((kinds[:, 1], kinds[:, 0]))].T
    symbol_of = np.empty(len(shuffled), np.intp)
    symbol_of[shuffled[order]] = np.repeat(symbol, records)
    return symbol_of


def _together(crossed: Crossed, codes: Sequence[Codes]) -> np.ndarray:
    """Records by class, told apart by several codes of each, and stratum, (classes, strata)."""
    _, class_of = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    strata = crossed.records.shape[1]
    keys = class_of.reshape(-1) * strata + crossed.stratum_of
    return np.bincount(keys, minlength=(class_of.max() + 1) * strata).reshape(-1, strata)
