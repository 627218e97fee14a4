"""Tables released where they lie: counted there, recoded there, and counted again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd

from anonymizer.counts.ground import at_ground, grounded, require_countable, require_held
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, require_columns
from anonymizer.hierarchy import Hierarchy
from anonymizer.recoding.recoding import RecodingPlan, Task
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.plan import Plan, Unseen
from anonymizer.release.proof import prove
from anonymizer.release.release import Release
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, cleaned
from anonymizer.tables.relations.dealing import CHANGED
from anonymizer.tables.relations.relation import Moves, Original, Relation
from anonymizer.tables.values import is_missing

if TYPE_CHECKING:
    from anonymizer.tables.relations.frames import Frame


@dataclass(frozen=True, eq=False)
class Carried:
    """A release that was proven on counts, and the table that it is, which is not computed yet.

    ``table``: where the released table lies, and ``source`` that which it is made of. ``counted``:
    its records by the columns with a role; ``plan`` made it of the records that were ``given``,
    counted with clean values, at their ground.
    """

    source: Relation = field(repr=False)
    table: Relation = field(repr=False)
    counted: Tally = field(repr=False)
    given: Tally = field(repr=False)
    plan: RecodingPlan = field(repr=False)
    release: Release

    @property
    def people(self) -> Tally | None:
        """The population as the table was recoded; None where there is none."""
        return self.plan.people(self.counted)

    def handed_out(self, columns: Sequence[str] | None = None) -> "Frame":
        """The released table, or some columns of it, computed once and proven as it is then.

        PolicyBrokenError when a class breaks the policy, InputError where the table that it is made
        of changed since it was counted.
        """
        table: Any = self.table
        table = table.computed()
        self.verify(table)
        if columns is None or [*columns] == [*table.columns]:
            return cast("Frame", table)
        return cast("Frame", table.chosen(columns).computed())

    def verify(self, table: Relation | None = None) -> None:
        """Count the released table where it lies, or another one, and hold the policy against it.

        PolicyBrokenError when a class breaks it, InputError where the table changed meanwhile.
        """
        released, plan = self.table if table is None else table, self.plan
        plan.schema.require_unnamed(released.columns)
        columns = plan.published.columns
        recounted = released.tally(columns)
        expected = engine.tally(self.counted, columns)
        if not np.array_equal(np.sort(recounted.sizes), np.sort(expected.sizes)):
            raise InputError(CHANGED)
        prove(recounted, plan.published, plan.models, plan.people(recounted))


def counted_in(
    relation: Relation, columns: Sequence[str], form: Format | None = None
) -> tuple[Tally, Tally]:
    """The records of a table as they are, counted, and the same with clean values, row by row.

    ``form``: how the table lies in a file, whose blanks and spellings of missing values are no part
    of a value; a table in memory has none.
    """
    require_columns(relation.columns, columns)
    raw = relation.tally(columns)
    return raw, cleaned_in(raw, columns, form)


def cleaned_in(raw: Tally, columns: Sequence[str], form: Format | None) -> Tally:
    """Counted records with clean values, row by row; see ``counted_in``."""
    if form is None:
        return raw
    return engine.replaced(raw, {name: cleaned(raw[name], form) for name in columns})


def records_in(
    relation: Relation, columns: Sequence[str], form: Format | None, because: str
) -> pd.DataFrame:
    """All records of a table in memory, one by one, with clean values in some columns.

    ``because``: why they are needed so, as a sentence begins that ends in how many there are.
    InputError where they are more than memory holds.
    """
    require_held(relation, because)
    frame = relation.frame(relation.columns)
    if form is None:
        return frame
    return engine.replaced(frame, {name: cleaned(frame[name], form) for name in columns})


def admitted_in(
    relation: Relation, raw: Tally, admitted: Tally, columns: Sequence[str]
) -> Relation:
    """The records of a table that were admitted, with their values in some columns.

    ``raw``: the table, counted; ``admitted``: those of its rows that were, by its index.
    """
    changed = [name for name in columns if not _same(raw, admitted, name)]
    if not changed and len(admitted.index) == len(raw.index):
        return relation
    return relation.recoded(Moves.between(raw, admitted, relation.columns, changed))


class AtGround(NamedTuple):
    """A table at the ground of its hierarchies, which are ``settled``, and its records, counted.

    ``raw`` as they are, ``table`` with clean values, row by row.
    """

    relation: Relation
    hierarchies: Mapping[str, Hierarchy]
    raw: Tally
    table: Tally

    @classmethod
    def of(
        cls,
        relation: Relation,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        form: Format | None,
    ) -> "AtGround":
        """Count a table by its columns with a role; InputError where memory would not hold it."""
        relation, found = grounded(relation, hierarchies, form)
        require_countable(relation, schema.columns, found)
        return cls(relation, found, *counted_in(relation, schema.columns, form))


def tallied_for(
    anonymizer: Anonymizer, table: engine.Table | Relation, form: Format | None = None
) -> tuple[engine.Table, Mapping[str, Hierarchy]]:
    """What is counted for an estimator, and the hierarchies of it.

    A table in memory is itself; one that lies elsewhere is counted there, at its ground.
    """
    if isinstance(table, pd.DataFrame | Tally):
        return table, anonymizer.hierarchies
    schema = anonymizer.schema
    require_columns(table.columns, [*schema.columns, *schema.identifiers])
    at = AtGround.of(table, schema, anonymizer.hierarchies, form)
    return at.table, at.hierarchies


def fitted(
    anonymizer: Anonymizer,
    relation: Relation,
    form: Format | None = None,
    on_counted: Callable[[Task], object] | None = None,
) -> Carried:
    """Fit an estimator to a table where it lies; errors as ``Anonymizer.fit_transform``.

    ``on_counted`` is called once the table is counted.
    """
    schema = anonymizer.schema
    require_columns(relation.columns, [*schema.columns, *schema.identifiers])
    schema.require_pinned(relation.columns)
    relation, hierarchies, raw, table = AtGround.of(relation, schema, anonymizer.hierarchies, form)
    task = anonymizer.task(table, hierarchies)
    if on_counted is not None:
        on_counted(task)
    released = anonymizer.fit_counted(table, task, Original(relation, raw))
    plan = anonymizer.plan_.fitted
    recoded = _recoded(relation, raw, released, anonymizer.columns_, plan)
    given = at_ground(table, hierarchies)
    return Carried(relation, recoded, released, given, plan, anonymizer.release_)


def applied(
    plan: Plan, relation: Relation, form: Format | None = None, unseen: Unseen = "error"
) -> Carried:
    """Recode a table where it lies by a plan that was fitted; errors as ``Plan.release``."""
    schema: Schema = plan.schema
    require_columns(relation.columns, schema.columns)
    schema.require_pinned(relation.columns)
    relation, hierarchies, raw, table = AtGround.of(relation, schema, plan.hierarchies, form)
    carried_out, released, release = plan.released(table, unseen, Original(relation, raw))
    kept = [name for name in relation.columns if name not in schema.identifiers]
    columns = [*kept, *(name for name in released.columns if name not in kept)]
    recoded = _recoded(relation, raw, released, columns, carried_out)
    given = at_ground(table, hierarchies)
    return Carried(relation, recoded, released, given, carried_out, release)


def _recoded(
    relation: Relation, raw: Tally, released: Tally, columns: Sequence[str], plan: RecodingPlan
) -> Relation:
    """A table recoded by a plan that was carried out on its tally.

    Where records were drawn, their order would disclose which ones.
    """
    changed = _changed(raw, released)
    recoded = relation.recoded(Moves.between(raw, released, columns, changed, plan.dealt_by()))
    return recoded.shuffled() if plan.private else recoded


def _changed(raw: Tally, released: Tally) -> list[str]:
    """The columns of a release that are not as they were."""
    return [name for name in released.columns if not _same(raw, released, name)]


def _same(raw: Tally, released: Tally, name: str) -> bool:
    """Whether every record is released with the value, and the kind of value, that it had."""
    if name not in raw.columns:
        return False
    codes, values = engine.distinct(raw[name].loc[released.index])
    others, labels = engine.distinct(released[name])
    place = {_told(label): number for number, label in enumerate(labels)}
    same = np.array([place.get(_told(value), -1) for value in values], np.intp)
    return bool((same[codes] == others).all())


def _told(value: object) -> object:
    """What tells a value from others: its kind, too, and nothing where it is missing."""
    return None if is_missing(value) else (type(value), value)
