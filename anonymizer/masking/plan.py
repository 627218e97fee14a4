"""Random recodings carried out: the channels that were found, drawn from for any table."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import ClassVar

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.masking.attribute import Attribute
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.contingency import Contingency
from anonymizer.masking.disclosure import (
    RandomizationReport,
    channel_report,
    disclosed,
    preserved,
)
from anonymizer.masking.drawing import Drawing, Drawn
from anonymizer.masking.options import RandomRecoding
from anonymizer.privacy import KAnonymity
from anonymizer.recoding.apply import described, relabelled
from anonymizer.recoding.recoding import Outcome, RecodingPlan, unsuppressed
from anonymizer.tables import engine
from anonymizer.tables.values import counted, is_missing, text_of

KINDS = (("int64", -(2**63), 2**63), ("uint64", 0, 2**64))
"""Whole numbers that columns hold: from, and up to but not including."""


@dataclass(frozen=True, eq=False)
class RandomPlan(RecodingPlan):
    """Channels for a table's values, one for each part, and the levels these are drawn from."""

    random: ClassVar[bool] = True

    options: RandomRecoding
    rng: np.random.Generator = field(repr=False)
    candidates: Sequence[Candidate] = field(repr=False)

    @property
    def forgetting(self) -> "RandomPlan":
        """The plan with the channels alone: no record that they were found for.

        Without a seed the source of randomness is another one, from which what was drawn before
        cannot be inferred.
        """
        rng = self.rng if self.options.seed is not None else np.random.default_rng()
        found = tuple(candidate.forgetting for candidate in self.candidates)
        return replace(self, candidates=found, rng=rng)

    def base(self, admitted: pd.DataFrame) -> pd.DataFrame:
        """A table at the levels it is drawn from, without its identifiers."""
        left = admitted.drop(columns=list(self.schema.identifiers))
        return engine.without_traces(relabelled(left, self.recoding, self.taxonomies))

    def drawing(self, base: pd.DataFrame, tables: Sequence[Contingency]) -> Drawing:
        """How a table is drawn, from the records of each part."""
        least = self.options.min_records
        inside = {name for table in tables for name in table.schema.names}
        kept = [name for name in self.schema.names if name not in inside]
        return Drawing(
            [*self.models, *([] if least is None else [KAnonymity(least)])],
            self.options.draws,
            self.rng,
            self.options.independent,
            engine.grouped(base, kept)[0] if kept else None,
        )

    def carry_out(self, admitted: pd.DataFrame) -> Outcome:
        """Draw what is released for each record."""
        base = self.base(admitted)
        names = [candidate.part.names for candidate in self.candidates]
        tables = [Contingency.of(base, replace(self.schema, names=some)) for some in names]
        matrices = list(map(_rows_for, self.candidates, tables))
        drawn = self.drawing(base, tables).draw(tables, matrices)
        if drawn is None:
            raise PolicyBrokenError(
                f"nothing was released: none of {self.options.draws} draws satisfied the policy; "
                "fit on this table, or allow more draws"
            )
        return self.outcome(base, tables, drawn)

    def outcome(self, base: pd.DataFrame, tables: Sequence[Contingency], drawn: Drawn) -> Outcome:
        """Put drawn symbols into a table of the admitted records at their levels."""
        columns = {}
        for candidate, symbol_of in zip(self.candidates, drawn.symbol_of, strict=True):
            for attribute in candidate.part.attributes:
                place = candidate.part.names.index(attribute.name)
                labels = [symbol[place] for symbol in candidate.symbols]
                columns[attribute.name] = _symbols_of(base[attribute.name], symbol_of, labels)
        released = engine.without_traces(engine.replaced(base, columns))
        hidden = list(dict.fromkeys([*columns, *self.generalized]))
        attributes, whole = self._attributes, tables[0]
        numbers = [attribute.name for attribute in attributes if attribute.numeric]
        report = RandomizationReport(
            self.options.name,
            tuple(attribute.name for attribute in attributes),
            {attribute.name: attribute.kind for attribute in attributes},
            {name: scale for c in self.candidates for name, scale in c.part.scale.items()},
            self.candidates[0].margin,
            self.options.withhold,
            {name: disclosed(whole.joint(name, drawn.by_class)) for name in whole.codes},
            preserved(base, released, numbers, self.schema.sensitive),
            list(map(channel_report, self.candidates, tables, drawn.symbol_of)),
        )
        return Outcome(released, unsuppressed(len(released)), False, hidden, report)

    def recoder(
        self, raw: Counts, released: Counts, outcome: Outcome, rng: np.random.Generator
    ) -> Callable[[Counts], Counts]:
        """Chance deals the sensitive values out among the records of the released classes."""
        return lambda _: released.shuffled(rng)

    def describe(self, shown: pd.DataFrame) -> dict[str, list[dict[str, object]]]:
        """The levels that values were drawn from: of drawn attributes nothing but the channel."""
        drawn = {attribute.name for attribute in self._attributes}
        kept = {name: part for name, part in self.partitions.items() if name not in drawn}
        known = described(kept, self.taxonomies, shown)
        return {name: known.get(name, []) for name in self.partitions}

    @property
    def _attributes(self) -> list[Attribute]:
        return [each for candidate in self.candidates for each in candidate.part.attributes]


def _rows_for(candidate: Candidate, table: Contingency) -> Floats:
    """The rows of a channel for the values of a table, shape (n, k)."""
    rows = candidate.part.contingency.rows_of(table.keys)
    if (rows < 0).any():
        records = int(table.sizes[rows < 0].sum())
        raise InputError(
            f"{counted(records, 'record')} of the table have values of "
            f"{', '.join(candidate.part.names)} that the channel has never seen together; fit "
            "on a table that has them"
        )
    return np.asarray(candidate.matrix[rows])


def _symbols_of(column: pd.Series, symbol_of: Codes, labels: Sequence[Hashable]) -> pd.Series:
    """The symbols of all records, in place of a column: of one kind, so that any format holds them.

    Numbers where all symbols are, and texts where only some are: a requested alphabet, or the means
    of ranges, may be of another kind than the values next to them. Nothing reads otherwise then.
    """
    some = [label for label in labels if not is_missing(label)]
    numbers = [n for n in some if isinstance(n, int | float) and not isinstance(n, bool)]
    if len(numbers) < len(some) and len({type(label) for label in some}) > 1:
        labels = [None if is_missing(label) else text_of(label) for label in labels]
    drawn = engine.relabel(column, symbol_of, labels)
    kind = _kind(numbers) if len(numbers) == len(labels) else None
    return drawn if kind is None else drawn.astype(np.dtype(kind))


def _kind(numbers: Sequence[int | float]) -> str | None:
    """What numbers are the same as; None where nothing is that columns of numbers hold."""
    if not all(isfinite(number) for number in numbers if isinstance(number, float)):
        return None
    for kind, least, most in KINDS:
        if all(least <= number < most and number == int(number) for number in numbers):
            return kind
    exact = all(isinstance(number, float) or abs(number) < 2**53 for number in numbers)
    return "float64" if exact else None
