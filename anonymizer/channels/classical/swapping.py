"""Values swapped between records of near ranks."""

import numpy as np
import pandas as pd

from anonymizer.channels.classical.numeric import columns_in
from anonymizer.channels.validation import number_of, require_generator
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats

__all__ = ["rank_swapping"]


def rank_swapping(frame: pd.DataFrame, percent: float, rng: np.random.Generator) -> pd.DataFrame:
    """Swap each value with one whose rank is at most percent / 100 * N away, column by column.

    In the order of ranks every value that was not swapped yet changes places with another such,
    drawn from those up to floor(percent N / 100) ranks above it (Moore, 1996). Margins are kept
    exactly; what columns say of each other is blurred. There is no guarantee: a value is released,
    if of another record, and one of rare size betrays its neighbours in rank.

    Parameters
    ----------
    frame
        Columns of numbers, none missing. Equal numbers are ranked at random.
    percent
        Of the records: above 0, up to 100.
    rng
        Where chance comes from.

    Raises
    ------
    InputError
        When columns hold no numbers, or so few percent are less than one record.
    """
    require_generator(rng)
    numbers = columns_in(frame)
    percent = number_of("percent", percent, above=0, most=100)
    window = int(len(numbers) * percent / 100)
    if not window:
        raise InputError(
            f"percent = {percent:g} of {len(numbers):,} records is less than one: nothing would be "
            f"swapped; take at least {100 / len(numbers):.3g}"
        )
    masked = {}
    for place, name in enumerate(frame.columns):
        order = _ranked(numbers[:, place], rng)
        taken = np.empty(len(order), np.intp)
        taken[order] = order[_partners(len(order), window, rng)]
        masked[name] = frame[name].array.take(taken)
    return pd.DataFrame(masked, index=frame.index)


def _ranked(numbers: Floats, rng: np.random.Generator) -> Codes:
    """The records in ascending order, shape (records,)."""
    shuffled = rng.permutation(len(numbers))
    return shuffled[np.argsort(numbers[shuffled], kind="stable")]


def _partners(ranks: int, window: int, rng: np.random.Generator) -> Codes:
    """The rank that each rank is swapped with; its own where none is left; shape (ranks,)."""
    partner = np.arange(ranks)
    free = np.ones(ranks, bool)
    for rank, chance in enumerate(rng.random(ranks)):
        if free[rank]:
            above = np.flatnonzero(free[rank + 1 : rank + 1 + window])
            if len(above):
                other = rank + 1 + above[int(chance * len(above))]
                partner[rank], partner[other] = other, rank
                free[other] = False
    return partner
