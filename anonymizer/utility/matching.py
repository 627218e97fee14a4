"""Released records in random order, put into that of the original ones that they stand for.

What is released of a record follows from its values, so that it is found by what it reads: records
that are released alike are one as good as another.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Partitions, row_keys
from anonymizer.counts.multidimensional import CLASS, dealt_out
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.release.manifest.placement import covering
from anonymizer.tables import engine
from anonymizer.tables.values import texts_of
from anonymizer.utility.fates import class_numbers
from anonymizer.utility.labels import RegionLabels

Labels = Mapping[str, np.ndarray]
"""The label of each original record, by quasi-identifier, shape (records,)."""


def ordered(released: pd.DataFrame, originals: pd.DataFrame) -> pd.DataFrame:
    """Released records in the order of the original ones, which are given as they are released.

    Raises InputError where some of either are none of the other.
    """
    names = [name for name in originals.columns if name in released.columns]
    keys = _rows_alike([_read_alike(originals[name], released[name]) for name in names])
    own, others = keys[: len(originals)], keys[len(originals) :]
    lacking = np.bincount(own, minlength=len(keys)) - np.bincount(others, minlength=len(keys))
    _refuse(int(max(lacking[lacking > 0].sum(), -lacking[lacking < 0].sum())))
    place = np.empty(len(own), np.intp)
    place[np.argsort(own, kind="stable")] = np.argsort(others, kind="stable")
    return released.iloc[place]


def _refuse(wrong: int) -> None:
    if wrong:
        raise InputError(
            f"{plural(wrong, 'record')} of the release and of the original are not the recoding "
            "of each other; measure the table as it was released, with the table it was made of"
        )


def _rows_alike(columns: Sequence[Codes]) -> Codes:
    """Numbers of rows of several columns, equal where all of them are, shape (rows,)."""
    return np.unique(row_keys(np.column_stack(columns)), return_inverse=True)[1]


def _read_alike(one: pd.Series, other: pd.Series) -> Codes:
    """The values of two columns, numbered by their texts, shape (records of both,)."""
    try:
        found = [engine.distinct(column) for column in (one, other)]
    except InputError:
        raise InputError(
            f"column {str(one.name)!r} holds values that cannot be told apart, such as lists, and "
            'the records are in random order; measure a release with order = "kept" in [output]'
        ) from None
    texts = [np.array(texts_of(values), dtype=object)[codes] for codes, values in found]
    return pd.factorize(np.concatenate(texts), use_na_sentinel=False)[0]


def of_partitions(
    released: pd.DataFrame, codes: Mapping[str, Codes], recoding: Partitions
) -> tuple[Labels, Mask]:
    """The labels of original records by their groups, and which of them were left out.

    Classes of which a release holds no record were suppressed: left out where it has fewer records,
    else ``*``. Shape (records,) each.
    """
    labels = {
        name: np.array(texts_of(recoding[name].labels), dtype=object)[recoding[name].groups[own]]
        for name, own in codes.items()
    }
    both = [_read_alike(pd.Series(own, name=n), released[n]) for n, own in labels.items()]
    keys, records = _rows_alike(both), len(next(iter(codes.values())))
    absent = ~np.isin(keys[:records], keys[records:])
    if len(released) < records:
        return labels, absent
    return {name: np.where(absent, ANY, own) for name, own in labels.items()}, absent & False


def of_regions(
    kept: pd.DataFrame,
    released: pd.DataFrame,
    codes: Mapping[str, Codes],
    recoding: RegionLabels,
) -> tuple[Labels, bool]:
    """The labels of original records by the class that covers each, and whether it is the only one.

    Else it is one that leaves all classes as they are. Raises InputError where none is.
    """
    regions = recoding.regions
    members = [np.array([recoding.members[n][each[n]] for each in regions]) for n in codes]
    cells = np.column_stack([*codes.values()])
    class_of, several = covering(members, cells)
    mixed = bool(several.any()) and recoding.numbered
    if mixed:
        names = [name for name in kept.columns if name not in codes and name in released.columns]
        nothing = np.zeros(len(kept) + len(released), np.intp)
        alike = [_read_alike(kept[name], released[name]) for name in names]
        keys, numbers = _rows_alike([nothing, *alike]), class_numbers(released, len(regions))
        found = dealt_out(members, cells, keys[: len(kept)], numbers, keys[len(kept) :])
        class_of = np.full(len(kept), -1) if found is None else found
    _refuse(int((class_of < 0).sum()))
    labels = {n: np.array([each[n] for each in regions], dtype=object)[class_of] for n in codes}
    return ({**labels, CLASS: class_of + 1} if recoding.numbered else labels), mixed
