"""How a part is recoded by a release of counts: as the steward did it, by what the release shows.

A value is placed by the groups of the manifest and, with the study, by its hierarchies. A record is
released when its class stands in the released counts; the classes that do not were suppressed on
the union, which no part can see by itself. Texts are those of the released counts, so that parts
which write a value in different ways agree.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts.schema import classes_of
from anonymizer.errors import PolicyBrokenError
from anonymizer.hierarchy import Hierarchy
from anonymizer.kernels.arrays import Mask
from anonymizer.recoding.apply import overwritten, relabelled
from anonymizer.release.applied import AppliedPlan, key_of, plan_for
from anonymizer.release.plan import Plan
from anonymizer.tables import engine
from anonymizer.tables.counts_file import as_text, as_texts
from anonymizer.tables.engine import Tally
from anonymizer.tables.spelling import read_keys
from anonymizer.tables.values import plain_text

Keys = Callable[[Sequence[str | None]], list[Hashable]]
"""A key for each value, equal where two are one."""

Fate = Literal["none", "kept", "removed"]
"""What becomes of suppressed records, as a manifest has it."""


class RecodedRows(NamedTuple):
    """A part as it is released, rows numbered as they were given, and how many were suppressed."""

    released: Tally
    suppressed: int


@dataclass(frozen=True, eq=False)
class SitePlan:
    """What a site needs of a release: its plan, and the counts of the released union as texts."""

    plan: Plan
    whole: Tally = field(repr=False)
    fate: Fate

    def part(self, table: Tally) -> RecodedRows:
        """The counts of a part as it is released.

        Raises PolicyBrokenError where some class of it is not in the release, and none was
        suppressed.
        """
        admitted = self.plan.admitted(table)
        own, _ = plan_for(self.plan.source, admitted, "suppress")
        strange = own.strange(admitted)
        recoded = self._spelled(_recoded(own, admitted, strange))
        hidden = strange | self._unknown(recoded, strange)
        suppressed = int(recoded.sizes[hidden].sum())
        if suppressed and self.fate == "none":
            raise PolicyBrokenError(
                "nothing was written: the part has classes that the release does not have, though "
                "that suppressed none; it was changed after it was counted, or the release was"
            )
        if self.fate == "removed":
            return RecodedRows(engine.records_of(recoded, ~hidden), suppressed)
        names = self.plan.schema.quasi_identifiers
        stars = {name: overwritten(recoded[name], hidden) for name in names}
        return RecodedRows(engine.replaced(recoded, stars) if suppressed else recoded, suppressed)

    def _unknown(self, recoded: Tally, strange: Mask) -> Mask:
        """Which rows are in classes that the release does not have, shape (rows,)."""
        counts, class_of = classes_of(self.whole, self.plan.schema, recoded, complete=False)
        unknown = counts.sizes[class_of[len(self.whole.index) :]] == 0
        return np.asarray(unknown & ~strange)

    def _spelled(self, recoded: Tally) -> Tally:
        """The texts of the release in place of those that mean the same."""
        texts = as_texts(recoded)
        schema, reaches = self.plan.schema, self.plan.source.reaches
        columns = {}
        for name in schema.quasi_identifiers:
            if reaches[name].level == 0:  # other labels are those of the release already
                keys = _raw_keys(reaches[name].hierarchy)
                columns[name] = self._as_released(name, texts, keys)
        for name in schema.sensitive:
            columns[name] = self._as_released(name, texts, read_keys)
        return engine.replaced(texts, columns)

    def _as_released(self, name: str, texts: Tally, keys: Keys) -> pd.Series:
        """A column with the released text of every value whose key is that of a released one."""
        labels = engine.distinct(self.whole[name])[1]
        codes, values = engine.distinct(texts[name])
        known = {*labels}
        found = keys([*map(as_text, labels), *map(as_text, values)])
        released = dict(zip(found[: len(labels)], labels, strict=True))
        own = [
            value if value in known else released.get(key, value)
            for value, key in zip(values, found[len(labels) :], strict=True)
        ]
        return engine.relabel(texts[name], codes, own)


def _raw_keys(hierarchy: Hierarchy | None) -> Keys:
    """What makes two raw values of a quasi-identifier one."""
    key = plain_text if hierarchy is None else partial(key_of, hierarchy)
    return lambda values: [*map(key, values)]


def _recoded(own: AppliedPlan, admitted: Tally, strange: Mask) -> Tally:
    """The rows under the labels of their groups; those that nothing covers are ``*``."""
    left = engine.records_of(admitted, ~strange)
    recoded = relabelled(left, own.recoding, own.taxonomies)
    if not strange.any():
        return recoded
    names = own.schema.quasi_identifiers
    others = engine.records_of(admitted, strange)
    stars = engine.replaced(
        others, {n: overwritten(others[n], np.ones(len(others.index), bool)) for n in names}
    )
    tables = [as_texts(table) for table in (recoded, stars)]
    rows = pd.concat([table.combinations.astype(object) for table in tables])
    sizes = np.concatenate([table.sizes for table in tables])
    order = np.argsort(np.concatenate([np.flatnonzero(~strange), np.flatnonzero(strange)]))
    return Tally(rows.iloc[order], sizes[order])
