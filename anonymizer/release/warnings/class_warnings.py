"""Warnings about the classes of a table, by what was counted."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from anonymizer.counts.columns import by_text
from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.schema import Schema
from anonymizer.information.matrices import having, largest, pairs_of, without
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.privacy import (
    TOLERANCE,
    DistinctLDiversity,
    EntropyLDiversity,
    PrivacyModel,
    RecursiveLDiversity,
    measures_of,
)
from anonymizer.release.warnings.column_warnings import singled_out
from anonymizer.release.warnings.warnings import MISSING, NARROW, NEARLY, TELLING, ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.spelling import alike_keys
from anonymizer.tables.values import is_missing, number_of

DIVERSITIES = DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
"""Models that count values, whatever these are."""

TAIL = 0.05
"""Share of the records at either end that does not make a spread: one director of many clerks."""


def class_warnings(
    counts: Counts, models: Sequence[PrivacyModel], others: int = 0
) -> tuple[ReleaseWarning, ...]:
    """Warn of a policy and of classes that promise less than they seem to.

    ``counts``: a table as it stands. ``models``: the policy that it is held against. ``others``:
    how many columns the table has besides the counted ones.
    """
    found = []
    weak = [model for model in models if not model.per_class or _is_void(model)]
    if models and len(weak) == len(models):  # a policy that no class can break
        found.append(ReleaseWarning("weak-policy", None, len(weak), len(models)))
    if models and others and not counts.sensitive:
        columns = len(counts.names) + others
        found.append(ReleaseWarning("no-sensitive-attribute", None, others, columns))
    for name in counts.sensitive:
        classes = counts.about(name).occupied
        about = [model for model in models if model.sensitive and model.attribute in (None, name)]
        found += _of_attribute(classes, about)
    return tuple(found)


def _is_void(model: PrivacyModel) -> bool:
    """Whether a class of one record satisfies a model: at least 1 record, or 1 value."""
    return model.at_least and model.threshold <= 1


def _of_attribute(classes: Classes, about: Sequence[PrivacyModel]) -> Iterator[ReleaseWarning]:
    """What to warn of about one sensitive attribute, under the models that are about it."""
    missing = np.array([is_missing(value) for value in classes.values], bool)
    count, records = int(classes.margin[missing].sum()), int(classes.margin.sum())
    known = classes.known.select(classes.known.sizes > 0)
    if (classes.margin > 0).sum() == 1:
        yield ReleaseWarning("constant-sensitive", classes.attribute, records, records)
    else:
        yield from _homogeneous(known, about)
    if own := singled_out(*np.unique(classes.margin[classes.margin > 0], return_counts=True)):
        yield ReleaseWarning("nearly-unique-sensitive", classes.attribute, own, records)
    if count > MISSING * records and not classes.gap:
        yield ReleaseWarning("missing-sensitive", classes.attribute, count, records)
    if not classes.gap:
        yield from _diverse_by_gaps(classes, about, missing)
    yield from _alike(known, missing[: len(known.values)])


def _homogeneous(classes: Classes, about: Sequence[PrivacyModel]) -> Iterator[ReleaseWarning]:
    """Classes of nearly one value, where no model bounds how often a value occurs in each."""
    # What any further records of one value leave acceptable says nothing of how often it occurs.
    loose = [model.strongly_monotone or _is_void(model) for model in about]
    if any(model.per_class and not free for model, free in zip(about, loose, strict=True)):
        return
    most = largest(classes.joint)
    nearly = most >= NEARLY * classes.sizes - TOLERANCE
    yield from _of_some("homogeneous-classes", classes, nearly, int(most[nearly].sum()))


def _diverse_by_gaps(
    classes: Classes, about: Iterable[PrivacyModel], missing: Mask
) -> Iterator[ReleaseWarning]:
    """Classes that would break a model of diversity if only values counted."""
    if not missing.any():
        return
    gaps = having(classes.joint, missing)
    values = without(classes.joint[gaps], missing)
    known = replace(classes, joint=values, margin=np.where(missing, 0, classes.margin))
    broken = np.zeros(len(classes), bool)
    for model in about:
        if isinstance(model, DIVERSITIES) and not _is_void(model):
            broken[gaps] |= ~model.accepts(measures_of(model, known))
    yield from _of_some("missing-as-value", classes, broken, int(classes.sizes[broken].sum()))


def _alike(classes: Classes, missing: Mask) -> Iterator[ReleaseWarning]:
    """Classes of different numbers that all lie close together."""
    numbers = _numbers(classes, missing)
    if numbers is None:
        return
    near = NARROW * _spread(numbers[~missing], classes.margin[~missing])
    rows, columns = pairs_of(classes.joint)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    # A missing value is NaN, and so is the width of a class that has one: nothing is near it.
    width = np.maximum.reduceat(numbers[columns], starts) - np.minimum.reduceat(
        numbers[columns], starts
    )
    alike = (width > 0) & (width <= near)
    yield from _of_some("similar-numbers", classes, alike, int(classes.sizes[alike].sum()))


def _numbers(classes: Classes, missing: Mask) -> Floats | None:
    """The number that each value is, NaN for a missing one; None where one is no number."""
    gaps = zip(classes.values, missing, strict=True)
    found = [np.nan if gap else number_of(value) for value, gap in gaps]
    if missing.all() or any(number is None for number in found):
        return None
    return np.array(found, float)


def _spread(numbers: Floats, records: np.ndarray) -> float:
    """How far most records' numbers lie apart: without either tail, or all of them if that is 0."""
    order = np.argsort(numbers)
    shares = np.cumsum(records[order]) / records.sum()
    low, high = (numbers[order[np.searchsorted(shares, end)]] for end in (TAIL, 1 - TAIL))
    return float(high - low or np.ptp(numbers))


def telling_warnings(table: engine.Table, schema: Schema) -> Iterator[ReleaseWarning]:
    """Warn of sensitive attributes that tell another one within the classes of a table.

    Each is held to the policy by itself, as if nobody knew the other. One whose values are nearly
    unique tells everything, and has a warning of its own.
    """
    if len(schema.sensitive) < 2:
        return
    class_of, _ = engine.grouped(table, schema.quasi_identifiers)
    values = {name: by_text(table[name], alike_keys) for name in schema.sensitive}
    alone = {name: _guessed(table, class_of, codes) for name, (codes, _) in values.items()}
    records = engine.records(table)
    for column, about in permutations(schema.sensitive, 2):
        codes, known = values[column]
        sizes = engine.sized(table, codes, len(known))
        if singled_out(*np.unique(sizes[sizes > 0], return_counts=True)):
            continue
        found = _guessed(table, class_of * len(known) + codes, values[about][0])
        if records - found <= TELLING * records < records - alone[about]:
            yield ReleaseWarning(
                "sensitive-tells-sensitive", column, found - alone[about], records, about=about
            )


def _guessed(table: engine.Table, groups: Codes, values: Codes) -> int:
    """Records whose value is the likeliest one of their group."""
    bound = int(values.max()) + 1
    pairs, place = np.unique(groups.astype(np.int64) * bound + values, return_inverse=True)
    sizes = engine.sized(table, place, len(pairs))
    starts = np.flatnonzero(np.diff(pairs // bound, prepend=-1))
    return int(np.maximum.reduceat(sizes, starts).sum())


def _of_some(code: str, classes: Classes, some: Mask, records: int) -> Iterator[ReleaseWarning]:
    """A warning of some classes, if there are any."""
    if some.any():
        yield ReleaseWarning(code, classes.attribute, int(some.sum()), len(classes), records)
