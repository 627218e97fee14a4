"""Random recodings fitted and carried out.

Channels are tried until a draw of one holds the policy, and are then drawn from for any table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from anonymizer.channels import Channel
from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError, PolicyBrokenError, PolicyUnreachableError
from anonymizer.feedback.logs import logged
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.masking.disclosure import (
    RandomizationReport,
    channel_report,
    disclosed,
    preserved,
)
from anonymizer.masking.drawing import Drawing, DrawnTable
from anonymizer.masking.methods import bottleneck, noise, pram
from anonymizer.masking.part import CandidateChannel, Contingency, MaskedAttribute, Part
from anonymizer.privacy import (
    KAnonymity,
    PrivacyModel,
    require_class_by_class,
    require_of_one,
    require_possible,
)
from anonymizer.recoding.apply import relabelled
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.levels import node_of
from anonymizer.recoding.recoding import Outcome, RecodingPlan, SearchResult, Task
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.values import is_missing, text_of

if TYPE_CHECKING:  # the options import what carries them out when a table is fitted
    from anonymizer.masking.options import RandomRecoding

KINDS = (("int64", -(2**63), 2**63), ("uint64", 0, 2**64))
"""Whole numbers that columns hold: from, and up to but not including."""


@dataclass(frozen=True, eq=False)
class RandomPlan(RecodingPlan):
    """Channels for a table's values, one for each part, and the levels these are drawn from."""

    random: ClassVar[bool] = True

    options: RandomRecoding
    rng: np.random.Generator = field(repr=False)
    candidates: Sequence[CandidateChannel] = field(repr=False)

    @property
    def forgetting(self) -> RandomPlan:
        """The plan with the channels alone: no record that they were found for.

        Without a seed the source of randomness is another one, from which what was drawn before
        cannot be inferred.
        """
        rng = self.rng if self.options.seed is not None else np.random.default_rng()
        found = tuple(replace(each, part=each.part.forgetting) for each in self.candidates)
        return replace(self, candidates=found, rng=rng)

    def dealt_by(self) -> int | None:
        """As ``RecodingPlan.dealt_by``: repeated where the draw is."""
        return None if self.options.seed is None else int(self.rng.integers(1 << 62))

    def base(self, admitted: T) -> T:
        """A table at the levels it is drawn from, without its identifiers."""
        left = engine.without_columns(admitted, self.schema.identifiers)
        return engine.without_traces(relabelled(left, self.recoding, self.taxonomies))

    def drawing(self, base: engine.Table, tables: Sequence[Contingency]) -> Drawing:
        """Return the way to draw a table, from the records of each part."""
        least = self.options.min_records
        inside = {name for table in tables for name in table.schema.quasi_identifiers}
        kept = [name for name in self.schema.quasi_identifiers if name not in inside]
        return Drawing(
            tables,
            [*self.models, *([] if least is None else [KAnonymity(least)])],
            self.options.draws,
            self.rng,
            self.options.independent,
            engine.grouped(base, kept)[0] if kept else None,
        )

    def carry_out(self, admitted: engine.Table) -> Outcome:
        """Draw what is released for each record."""
        with logged("recoding", __name__) as counted:
            base = self.base(admitted)
            names = [candidate.part.names for candidate in self.candidates]
            tables = [
                Contingency.of(base, replace(self.schema, quasi_identifiers=some)) for some in names
            ]
            matrices = list(map(_rows_for, self.candidates, tables))
            drawn = self.drawing(base, tables).draw(matrices)
            if drawn is None:
                raise PolicyBrokenError(
                    f"nothing was released: none of {self.options.draws} draws satisfied the "
                    "policy; fit on this table, or allow more draws"
                )
            outcome = self.outcome(base, tables, drawn)
            counted({"records": engine.records(outcome.released)})
        return outcome

    def outcome(
        self, base: engine.Table, tables: Sequence[Contingency], drawn: DrawnTable
    ) -> Outcome:
        """Put drawn symbols into a table of the admitted records at their levels."""
        columns, true = {}, drawn.dealt.records_of(base)
        for candidate, symbol_of in zip(self.candidates, drawn.dealt.symbol_of, strict=True):
            for attribute in candidate.part.attributes:
                place = candidate.part.names.index(attribute.name)
                labels = [symbol[place] for symbol in candidate.symbols]
                columns[attribute.name] = _symbols_of(true[attribute.name], symbol_of, labels)
        released = engine.without_traces(engine.replaced(true, columns))
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
            preserved(true, released, numbers, self.schema.sensitive),
            [
                channel_report(candidate, table, drawn.dealt, place)
                for place, (candidate, table) in enumerate(
                    zip(self.candidates, tables, strict=True)
                )
            ],
        )
        return Outcome(released, np.zeros(len(base.index), bool), False, hidden, report)

    def recoder(
        self, raw: Counts, released: Counts, outcome: Outcome, rng: np.random.Generator
    ) -> Callable[[Counts], Counts]:
        """Chance deals the sensitive values out among the records of the released classes."""
        return lambda _: released.shuffled(rng)

    def describe(self, shown: engine.Table) -> dict[str, list[dict[str, object]]]:
        """The levels that values were drawn from: of drawn attributes nothing but the channel."""
        drawn = {attribute.name for attribute in self._attributes}
        known = super().describe(shown)
        return {name: [] if name in drawn else groups for name, groups in known.items()}

    @property
    def _attributes(self) -> list[MaskedAttribute]:
        return [each for candidate in self.candidates for each in candidate.part.attributes]


def _rows_for(candidate: CandidateChannel, table: Contingency) -> Floats:
    """The rows of a channel for the values of a table, shape (n, k)."""
    rows = candidate.part.contingency.rows_of(table.keys)
    if (rows < 0).any():
        records = int(table.sizes[rows < 0].sum())
        raise InputError(
            f"{plural(records, 'record')} of the table have values of "
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
    """Name the type of columns that holds the numbers; None where none does."""
    if not all(isfinite(number) for number in numbers if isinstance(number, float)):
        return None
    for kind, least, most in KINDS:
        if all(least <= number < most and number == int(number) for number in numbers):
            return kind
    exact = all(isinstance(number, float) or abs(number) < 2**53 for number in numbers)
    return "float64" if exact else None


CANDIDATES: Mapping[
    str, Callable[[Part, Any, Sequence[PrivacyModel], float], Iterator[CandidateChannel]]
]
CANDIDATES = {"pram": pram, "noise": noise, "bottleneck": bottleneck}
"""What gives the channels of a part, in the order in which they are to be tried, by method.

Of the part, the options, the policy, and the records that every symbol is expected for at least.
"""


def fitted(options: RandomRecoding, task: Task) -> tuple[RandomPlan, Outcome]:
    """Find channels for a table and draw from them."""
    schema, taxonomies = task.counted.schema, task.counted.taxonomies
    _require_unlimited(options, taxonomies)
    # A drawn table cannot answer for models of people, unless class by class.
    require_class_by_class([m for m in task.models if m.people is not None], "a random recoding")
    require_of_one(task.models, "a random recoding")
    require_possible(task.counted.counts, task.models)
    node = node_of({**dict.fromkeys(taxonomies, 0), **(options.levels or {})}, taxonomies)
    recoding = level_recoding(taxonomies, tuple(taxonomies), node)
    search = SearchResult(options.name, options.minimises)
    rng = np.random.default_rng(options.seed)
    plan = RandomPlan(schema, task.models, taxonomies, recoding, search, options, rng, ())
    noisy = options.name == "noise"
    attributes = [
        MaskedAttribute.of(
            name, taxonomies[name], recoding[name], options.distortion_of(name), noisy
        )
        for name in options.drawn(schema.quasi_identifiers)
    ]
    base = plan.base(task.counted.kept)
    groups = [attributes] if options.jointly else [[each] for each in attributes]
    parts = []
    for some in groups:
        names = schema.quasi_identifiers if options.jointly else (some[0].name,)
        parts.append(
            Part(Contingency.of(base, replace(schema, quasi_identifiers=names)), tuple(some))
        )
    drawing = plan.drawing(base, [part.contingency for part in parts])
    proposed = _candidates(
        parts, schema.quasi_identifiers, options, task.models, engine.records(base)
    )
    candidates, drawn = _first_that_holds(proposed, drawing)
    _require_private(candidates, options)
    plan = replace(plan, candidates=candidates, search=_result_of(options, candidates))
    return plan, plan.outcome(base, drawing.tables, drawn)


def _require_unlimited(options: RandomRecoding, taxonomies: Mapping[str, Taxonomy]) -> None:
    """Refuse limits of levels: a drawn value is of the level that the options give."""
    for name, taxonomy in taxonomies.items():
        if taxonomy.finest or taxonomy.bounded:
            lowest = "min-level" if taxonomy.limits.ground is None else "ground"
            given = "max-level" if taxonomy.bounded else lowest
            raise InputError(
                f"recoding {options.name!r} draws values, and cannot keep to the {given} of "
                f"{name!r}; leave it out, and give the level that values are drawn at by levels = "
                f"{{ {name} = {taxonomy.finest} }}"
            )


def _candidates(
    parts: Sequence[Part],
    names: Sequence[str],
    options: RandomRecoding,
    models: Sequence[PrivacyModel],
    records: int,
) -> Iterator[Sequence[CandidateChannel]]:
    """Candidates for every part at a time, in the order they are to be tried.

    Every symbol is expected for as many records as the policy requires of a class, and enough that
    a record more or less hardly matters: a quarter of the square root of all, or the square root of
    what is requested on top of that.
    """
    drawn = {name for part in parts for name in part.names}
    some_kept = drawn != {*names} or not all(len(part.blocks) == 1 for part in parts)
    if options.independent and some_kept:
        raise InputError(
            "pram: epsilon is promised of all quasi-identifiers or of none; those that are kept as "
            "they are disclose everything; draw all of them"
        )
    options, given = options.split(len(parts)), options.min_records
    enough = ceil(sqrt(records) / 4) if given is None else given + ceil(sqrt(given))
    least = max([enough, 1, *(int(getattr(model, "k", 1)) for model in models)])
    found = CANDIDATES[options.name]
    return zip(*(found(part, options, models, least) for part in parts), strict=False)


def _first_that_holds(
    candidates: Iterator[Sequence[CandidateChannel]], drawing: Drawing
) -> tuple[Sequence[CandidateChannel], DrawnTable]:
    """The first channels, one for each part, of which a draw satisfies every model; that draw."""
    tried = 0
    for found in candidates:
        tried += 1
        matrices = [candidate.matrix for candidate in found]
        drawn = None if drawing.is_hopeless(matrices) else drawing.draw(matrices)
        if drawn is not None:
            return found, drawn
    raise PolicyUnreachableError(
        f"random recoding: no table drawn from any of {tried} channels satisfied the policy; relax "
        "it (or min-records), choose coarser levels, or draw other attributes"
    )


def _require_private(candidates: Sequence[CandidateChannel], options: RandomRecoding) -> None:
    """Require the requested local differential privacy of the channels."""
    if options.promised is None:
        return
    found = sum(
        Channel(each.matrix, each.part.contingency.values, tuple(each.symbols)).epsilon
        for each in candidates
    )
    if found > options.promised * (1 + 1e-9):
        raise PolicyBrokenError(
            f"nothing was released: the channels have epsilon = {found:.6g}, above "
            f"{options.promised:g}; request less"
        )


def _result_of(options: RandomRecoding, candidates: Sequence[CandidateChannel]) -> SearchResult:
    """Report the search for channels: their distortion, and a bound that none falls below."""
    value = sum(candidate.distortion for candidate in candidates)
    bound, tried = sum(candidate.lower_bound for candidate in candidates), len(candidates)
    known = isfinite(bound)
    return SearchResult(
        options.name,
        options.minimises,
        value,
        gap=max(value - bound, 0.0) if known else None,
        nodes=tried,
        checked=tried,
        bound=bound if known else None,
    )
