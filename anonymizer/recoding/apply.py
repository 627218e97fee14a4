"""Recodings applied: to tables, and to counts as they would be released under a policy.

The one place where classes of counts are recoded, merged and suppressed. Searches do the same to
encoded counts, and a plan to the table.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil

import numpy as np
import pandas as pd

from anonymizer.counts.counting import classes_of
from anonymizer.counts.counts import Counts, Grouping, Partitions
from anonymizer.counts.multidimensional import CLASS, Regions
from anonymizer.counts.pairs import row_keys
from anonymizer.counts.persons import Attribute
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Interval, Meaning, Partition, Taxonomy
from anonymizer.information.entropy import mutual_information
from anonymizer.kernels import NATIVE
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.objectives.candidate import Layout, histograms_of
from anonymizer.privacy import (
    PrivacyModel,
    Verdict,
    acceptable,
    judged_classes,
    measures_of,
    verdicts,
)
from anonymizer.recoding.policy import Policy, Suppressed, Suppression, suppress
from anonymizer.recoding.problem import Problem
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.values import texts_apart


class UnknownValuesError(InputError):
    """A table holds values, or combinations of them, that a recoding was not made for."""


def levels_of(recoding: Partitions | Regions, taxonomies: Mapping[str, Taxonomy]) -> dict[str, int]:
    """Return the level of each partition that is one."""
    partitions = {} if isinstance(recoding, Regions) else recoding
    # By identity: whoever chooses a level takes the partition from the taxonomy.
    return {
        name: level
        for name, partition in partitions.items()
        for level, candidate in enumerate(taxonomies[name].levels)
        if candidate is partition
    }


def relabelled(table: T, recoding: Partitions | Regions, taxonomies: Mapping[str, Taxonomy]) -> T:
    """Replace the values of quasi-identifiers by the labels of their groups.

    InputError where it holds values, or combinations of them, that the recoding does not cover, or
    a column of the name that the recoding adds.
    """
    if isinstance(recoding, Regions):
        return _regrouped(table, recoding, taxonomies)

    def recoded(column: pd.Series) -> pd.Series:
        name = str(column.name)
        return _recoded(table, column, taxonomies[name], recoding[name])

    return engine.changed(table, recoding, recoded)


def _regrouped(table: T, regions: Regions, taxonomies: Mapping[str, Taxonomy]) -> T:
    """Replace the quasi-identifiers of each record by the labels of its class."""
    if regions.numbered:
        require_unnumbered(table.columns)
    rows = engine.rows_of(table)
    encoded = [_places(table, rows[name], taxonomies[name]) for name in regions.names]
    class_of = regions.class_of(np.column_stack([places[codes] for codes, places in encoded]))
    if (class_of < 0).any():
        uncovered = engine.records_in(table, class_of < 0)
        raise UnknownValuesError(
            f"{plural(uncovered, 'record')} of the table combine values in a way "
            "that no class of the recoding covers; fit on a table that has them"
        )
    columns = {
        name: engine.relabel(rows[name], class_of, list(map(published, regions.labels[name])))
        for name in regions.names
    }
    if regions.numbered:
        columns[CLASS] = pd.Series(class_of + 1, index=rows.index, name=CLASS)
    return engine.replaced(table, columns)


def matched(released: engine.Table, people: T, schema: Schema) -> T:
    """Fit a recoded population to a release: people whom no class stands for become ``*``.

    Only where the release has such a class: suppressed records are those of people like them.
    """
    if not engine.all_equal(released, schema.quasi_identifiers, ANY).any():
        return people
    # The people are counted after the released records, and may be in classes of their own.
    counts, class_of = classes_of(released, schema, people, complete=False)
    unknown = counts.sizes[class_of[len(released.index) :]] == 0
    return engine.replaced(
        people, {name: overwritten(people[name], unknown) for name in schema.quasi_identifiers}
    )


def overwritten(column: pd.Series, records: Mask) -> pd.Series:
    """Write ``*`` into some records of a column; all others become texts, of one kind with it."""
    codes, values = engine.distinct(column)
    texts = texts_apart(values)
    # The code of ``*`` comes after those of all texts.
    return engine.relabel(column, np.where(records, len(texts), codes), [*texts, ANY])


def require_unnumbered(columns: Iterable[object]) -> None:
    """Refuse a table with a column of the name of the one that numbers the classes."""
    if CLASS in columns:
        raise InputError(
            f"the table has a column {CLASS!r}, which is the name of the column that numbers the "
            "classes of this recoding; rename it or list it among the identifiers"
        )


def _places(table: engine.Table, column: pd.Series, taxonomy: Taxonomy) -> tuple[Codes, Codes]:
    """Number each row's value among the distinct ones, with the code of each of these."""
    codes, values = engine.distinct(column)
    places = taxonomy.encode(values)
    strange = places < 0
    if strange.any():
        raise UnknownValuesError(
            f"column {column.name!r} holds {plural(int(strange.sum()), 'value')}, in "
            f"{plural(engine.records_in(table, strange[codes]), 'record')}, that the recoding "
            "does not cover"
        )
    return codes, places


def _recoded(
    table: engine.Table, column: pd.Series, taxonomy: Taxonomy, partition: Partition
) -> pd.Series:
    """Replace the values of a column by the labels of their groups.

    A column released at level 0 stays as it is, unless values that are written differently but
    are the same (39 and 39.0) have to become one.
    """
    codes, places = _places(table, column, taxonomy)
    if partition is taxonomy.levels[0] and len(np.unique(places)) == len(places):
        return column
    labels = [published(label) for label in partition.labels]
    recoded = engine.relabel(column, partition.groups[places][codes], labels)
    return recoded.infer_objects() if partition is taxonomy.levels[0] else recoded


def published(label: Hashable) -> Hashable:
    """Return a label as a released table has it."""
    return str(label) if isinstance(label, Interval | Meaning) else label


MOST_NEEDED = 0.5
"""Share of the records of a half beyond which no suppression, and no class size, is suggested."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The records of a problem under a recoding, as they would be released.

    ``raw`` are the records released, as they were, ``classes`` the same recoded: ``suppressed``
    records form the class in the place ``merged``, or are in neither where that is None. Records
    that the recoding has no class for, ``uncovered``, are one class together.
    """

    problem: Problem = field(repr=False)
    recoding: Partitions | Grouping = field(repr=False)
    raw: Counts = field(repr=False)
    classes: Counts = field(repr=False)
    suppressed: int = 0
    merged: int | None = None
    uncovered: int = 0

    @classmethod
    def of(cls, problem: Problem, recoding: Partitions | Grouping) -> Evaluation:
        """Recode the records of a problem, and suppress within the budget what breaks the policy.

        Where records would have to be suppressed beyond it, none is.
        """
        raw = problem.counts
        recoded, uncovered = covered(recoding, raw)
        plain = cls(problem, recoding, raw, recoded, uncovered=uncovered)
        if isinstance(recoding, Grouping) or not problem.suppresses:
            return plain
        hidden = all_hidden(recoded, recoding)
        found = suppressed_of(recoded, problem.models, problem.suppression, hidden)
        if found is None or not found.marks.any():
            return plain
        if found.removed:
            gone = falls_in(raw, recoding, recoded.select(found.marks))
            left, kept = raw.without(gone), recoded.without(found.marks)
            return replace(plain, raw=left, classes=kept, suppressed=found.records)
        merged = recoded.merge(found.marks)
        first = recoded.cells[found.marks][0]  # a merged class goes by the cell of the first one
        (place,) = np.flatnonzero((merged.cells == first).all(axis=1))
        cells = merged.cells.copy()
        cells[place] = [_hidden_code(recoding[name]) for name in raw.names]
        classes = replace(merged, cells=cells)
        return replace(plain, classes=classes, suppressed=found.records, merged=int(place))

    def on(self, counts: Counts) -> Evaluation:
        """Evaluate the recoding on other records, which had no say in it."""
        return Evaluation.of(replace(self.problem, counts=counts), self.recoding)

    @cached_property
    def broken(self) -> Mask:
        """The classes that break the policy, shape (classes,)."""
        return ~acceptable(self.classes, self.problem.models)

    @property
    def satisfied(self) -> bool:
        """Whether every class satisfies every model."""
        return not self.broken.any()

    @property
    def records_broken(self) -> int:
        """The records of classes that break the policy."""
        return int(self.classes.sizes[self.broken].sum())

    @cached_property
    def verdicts(self) -> Sequence[Verdict]:
        """Each model held against the classes, by its definition."""
        return verdicts(self.classes, self.problem.models)

    def measured(self, model: PrivacyModel, attribute: Attribute | None) -> tuple[Codes, Floats]:
        """Return the places of the classes that a model judges, and what it measures of each.

        Of a model that is about the table as a whole there is one measure.
        """
        classes, sizes = judged_classes(model, self.classes, attribute), self.classes.sizes
        if model.judges_empty:
            return np.arange(len(sizes)), measures_of(model, classes)
        return np.flatnonzero(sizes), measures_of(model, classes.occupied)

    @property
    def about(self) -> Sequence[str]:
        """Attributes that information is about: the targets, if any, else the sensitive ones."""
        return self.raw.targets or self.raw.sensitive

    def original(self, about: Sequence[str]) -> float:
        """Return I(X;W) of the raw quasi-identifiers, in bits, summed over some attributes."""
        return sum(mutual_information(self.raw.joint[name]) for name in about)

    def retained(self, about: Sequence[str]) -> float:
        """Return I(X~;W) of the recoded ones, in bits, summed over some attributes."""
        return sum(mutual_information(self.classes.joint[name]) for name in about)

    @cached_property
    def suppression_needed(self) -> float | None:
        """The share of the records whose suppression would mend it; None where there is none.

        Rounded up. Only for partitions, next to whose classes records can be suppressed.
        """
        if isinstance(self.recoding, Grouping):
            return None
        recoded = self.problem.counts.recode(self.recoding)
        budget = replace(self.problem.suppression, share=MOST_NEEDED)
        hidden = all_hidden(recoded, self.recoding)
        found = suppressed_of(recoded, self.problem.models, budget, hidden)
        return None if found is None else budget_for(found.records, recoded.records)

    def min_records_needed(self, fitted: Evaluation) -> int | None:
        """Return a size above that, in the ``fitted`` half, of each class that breaks the policy.

        None where a class without records there does, or one of most of them.
        """
        sizes = _sizes_in(fitted, self)[self.broken]
        if not len(sizes) or not sizes.all():
            return None
        least = int(sizes.max()) + 1
        return least if least <= MOST_NEEDED * fitted.problem.counts.records else None


def accepts(problem: Problem, recoding: Partitions | Grouping) -> bool:
    """Return whether a recoding that a search found holds of counts, too, that do not add up."""
    return not problem.counts_persons or Evaluation.of(problem, recoding).satisfied


def covered(recoding: Partitions | Grouping, counts: Counts) -> tuple[Counts, int]:
    """Recode records that had no say in a recoding, and count those that it does not cover.

    Those that it does not cover are one class together, which costs what they tell but keeps them
    in every figure. Partitions cover all: the values of both halves are known to them.
    """
    if not isinstance(recoding, Grouping):
        return counts.recode(recoding), 0
    class_of = recoding.class_of(counts.cells)
    unknown = class_of < 0
    together = np.where(unknown, class_of.max(initial=0) + 1, class_of)
    return counts.grouped(together), int(counts.sizes[unknown].sum())


def suppressed_of(
    counts: Counts,
    models: Sequence[PrivacyModel],
    suppression: Suppression,
    hidden: Mask,
    forced: Mask | None = None,
) -> Suppressed | None:
    """Choose what is suppressed of recoded classes; None where the budget is too small.

    ``hidden``: the class, if any, that is ``*`` in every quasi-identifier already; ``forced``,
    classes that are suppressed whether or not they break the policy.
    """
    layout, histograms = Layout.of(counts), histograms_of(counts)
    policy = Policy(models, layout, NATIVE)
    bound = policy.against(layout.margins)
    broken = None
    if forced is not None and forced.any():
        marks = bound.broken(histograms, int(layout.margins[-1]))[1] | forced
        broken = int(histograms.sizes[marks].sum(dtype=np.int64)), marks
    return suppress(histograms, policy, bound, suppression, hidden, broken, forced)


def budget_for(suppressed: int, records: int) -> float:
    """Return the least share of three digits that covers some suppressed records."""
    return ceil(suppressed / records * 1000) / 1000


def all_hidden(recoded: Counts, recoding: Partitions) -> Mask:
    """Mark the class labelled ``*`` in every quasi-identifier, shape (classes,)."""
    hidden = np.ones(len(recoded), bool)
    for name, codes in zip(recoded.names, recoded.cells.T, strict=True):
        hidden &= recoding[name].hidden[codes]
    return hidden


def _hidden_code(partition: Partition) -> int:
    # The group that is ``*`` anyway, or a code that no value has.
    codes = partition.representatives[partition.hidden]
    return int(codes[0]) if len(codes) else len(partition.groups)


def falls_in(raw: Counts, recoding: Partitions, classes: Counts) -> Mask:
    """Mark the raw cells that a recoding puts into some of its classes, shape (cells,)."""
    columns = zip(raw.names, raw.cells.T, strict=True)
    cells = np.column_stack([recoding[name].representatives[codes] for name, codes in columns])
    keys = row_keys(np.concatenate([classes.cells, cells]))
    return np.isin(keys[len(classes) :], keys[: len(classes)])


def _sizes_in(fitted: Evaluation, other: Evaluation) -> Ints:
    """Count the records of each class in the other half, shape (classes of the one,)."""
    known, classes, recoding = fitted.classes, other.classes, other.recoding
    if isinstance(recoding, Grouping):
        keys = recoding.class_of(np.concatenate([known.cells, classes.cells]))
    else:
        keys = row_keys(np.concatenate([known.cells, classes.cells]))
    sizes = np.zeros(int(keys.max(initial=0)) + 2, np.int64)  # one more, for those not covered
    here = keys[: len(known)]
    sizes[here] = known.sizes
    return np.asarray(sizes[keys[len(known) :]])
