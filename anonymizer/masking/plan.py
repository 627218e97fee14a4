"""Random recodings carried out: fitted to a table, drawn, and drawn again for other tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from anonymizer.channels import Channel
from anonymizer.counts.counts import Counts
from anonymizer.counts.counts import Recoding as Partitions
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.masking.attribute import Attribute
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.candidate_channels import ladder_of, require_suitable
from anonymizer.masking.contingency import Crossed
from anonymizer.masking.disclosure import Masked, realised, told_of
from anonymizer.masking.drawing import Drawn, attempt, first_that_holds
from anonymizer.masking.options import DISTORTION, RandomRecoding
from anonymizer.masking.part import Part
from anonymizer.masking.preserved import preserved
from anonymizer.masking.symbols import symbols_of
from anonymizer.privacy import KAnonymity, PrivacyModel, require_possible
from anonymizer.recoding.apply import described, relabelled
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.levels import node_of
from anonymizer.recoding.recoding import Outcome, RecodingPlan, Task, unsuppressed
from anonymizer.recoding.result import SearchResult
from anonymizer.tables import engine
from anonymizer.tables.values import counted

__all__ = ["RandomPlan", "fitted"]


@dataclass(frozen=True, eq=False)
class RandomPlan(RecodingPlan):
    """Channels for a table's values, and the levels that these are drawn from.

    Parameters
    ----------
    options
        The random recoding that was requested.
    candidates
        The channels that were chosen, one for each part.
    rng
        What draws.
    """

    random: ClassVar[bool] = True

    options: RandomRecoding
    candidates: Sequence[Candidate] = field(repr=False)
    rng: np.random.Generator = field(repr=False)

    @property
    def forgetting(self) -> "RandomPlan":
        """The plan with the channels alone: no record that they were found for.

        Without a seed the source of randomness is another one, from which what was drawn before
        cannot be inferred.
        """
        rng = self.rng if self.options.seed is not None else np.random.default_rng()
        found = tuple(candidate.forgetting for candidate in self.candidates)
        return replace(self, candidates=found, rng=rng)

    def carry_out(self, admitted: pd.DataFrame) -> Outcome:
        """Draw what is released for each record.

        Raises
        ------
        PolicyBrokenError
            When no draw of many satisfies the policy.
        InputError
            When the table holds values that the channels do not know.
        """
        base = _base(admitted, self.schema, self.partitions, self.taxonomies)
        parts = [
            Crossed.of(base, replace(self.schema, names=candidate.part.names))
            for candidate in self.candidates
        ]
        return self.outcome(base, parts, self._drawn(base, parts))

    def outcome(self, base: pd.DataFrame, parts: Sequence[Crossed], drawn: Drawn) -> Outcome:
        """Put drawn symbols into a table.

        Parameters
        ----------
        base
            The admitted records at the levels they are drawn from.
        parts
            What each channel is about, counted.
        drawn
            The symbols of its records.
        """
        released = self._released(base, drawn)
        reported = self._reported(base, released, parts, drawn)
        hidden = list(dict.fromkeys([*self._drawn_names, *self.generalized]))
        return Outcome(released, unsuppressed(len(released)), False, hidden, reported)

    def recoder(
        self, raw: Counts, released: Counts, outcome: Outcome, rng: np.random.Generator
    ) -> Callable[[Counts], Counts]:
        """Chance deals the sensitive values out among the records of the released classes."""
        return lambda _: released.shuffled(rng)

    def describe(self, shown: pd.DataFrame) -> dict[str, list[dict[str, object]]]:
        """The levels that values were drawn from: of drawn attributes nothing but the channel."""
        drawn = self._drawn_names
        kept = {name: part for name, part in self.partitions.items() if name not in drawn}
        known = described(kept, {name: self.taxonomies[name] for name in kept}, shown)
        return {name: known.get(name, []) for name in self.partitions}

    def _rows_of(self, candidate: Candidate, crossed: Crossed) -> Floats:
        """The rows of a channel for the values of a table, shape (n, k).

        Raises
        ------
        InputError
            When it holds values, or combinations of them, that the channel has none for.
        """
        known = {key: row for row, key in enumerate(candidate.part.crossed.keys)}
        rows = np.array([known.get(key, -1) for key in crossed.keys], np.intp)
        if (rows < 0).any():
            records = int(crossed.sizes[rows < 0].sum())
            raise InputError(
                f"{counted(records, 'record')} of the table have values of "
                f"{', '.join(candidate.part.names)} that the channel has never seen together; fit "
                "on a table that has them"
            )
        return np.asarray(candidate.matrix[rows])

    def _drawn(self, base: pd.DataFrame, parts: Sequence[Crossed]) -> Drawn:
        matrices = [self._rows_of(*pair) for pair in zip(self.candidates, parts, strict=True)]
        models = _required(self.models, self.options)
        kept_of = _kept_of(base, parts, self.schema)
        for _ in range(self.options.draws):
            drawn = attempt(parts, matrices, models, self.rng, self.options.independent, kept_of)
            if drawn is not None:
                return drawn
        raise PolicyBrokenError(
            f"nothing was released: none of {self.options.draws} draws satisfied the policy; fit "
            "on this table, or allow more draws"
        )

    def _released(self, base: pd.DataFrame, drawn: Drawn) -> pd.DataFrame:
        """The table with the symbols of its records in place of the true values."""
        columns = {}
        for candidate, symbol_of in zip(self.candidates, drawn.symbol_of, strict=True):
            for attribute in candidate.part.attributes:
                place = candidate.part.names.index(attribute.name)
                labels = [symbol[place] for symbol in candidate.symbols]
                columns[attribute.name] = symbols_of(base[attribute.name], symbol_of, labels)
        return engine.without_traces(engine.replaced(base, columns))

    @property
    def _attributes(self) -> list[Attribute]:
        return [each for candidate in self.candidates for each in candidate.part.attributes]

    @property
    def _drawn_names(self) -> list[str]:
        return [attribute.name for attribute in self._attributes]

    def _reported(
        self,
        base: pd.DataFrame,
        released: pd.DataFrame,
        parts: Sequence[Crossed],
        drawn: Drawn,
    ) -> Masked:
        attributes = self._attributes
        numbers = [attribute.name for attribute in attributes if attribute.numeric]
        channels = zip(self.candidates, parts, drawn.symbol_of, strict=True)
        return Masked(
            self.options.name,
            tuple(attribute.name for attribute in attributes),
            {attribute.name: attribute.kind for attribute in attributes},
            {name: scale for c in self.candidates for name, scale in c.part.scale.items()},
            self.candidates[0].margin,
            self.options.withhold,
            [told_of(*each) for each in channels],
            realised(parts[0], drawn.by_class),
            preserved(base, released, numbers, self.schema.sensitive),
        )


def fitted(options: RandomRecoding, task: Task) -> tuple[RandomPlan, Outcome]:
    """Find channels for a table and draw from them.

    Raises
    ------
    InputError
        When table and options do not fit together.
    PolicyUnreachableError
        When no channel satisfies the policy, or no draw of any does.
    """
    schema, taxonomies = task.counted.schema, task.counted.taxonomies
    models = task.models
    require_suitable(models)
    require_possible(task.counted.counts, models)
    node = node_of({**dict.fromkeys(taxonomies, 0), **(options.levels or {})}, taxonomies)
    recoding = level_recoding(taxonomies, tuple(taxonomies), node)
    noisy = options.name == "noise"
    attributes = [
        Attribute.of(name, taxonomies[name], recoding[name], options.distortion_of(name), noisy)
        for name in options.drawn(schema.names)
    ]
    rng = np.random.default_rng(options.seed)
    base = _base(task.counted.kept, schema, recoding, taxonomies)
    parts = _parts(base, Crossed.of(base, schema), attributes, options.jointly)
    ladder = ladder_of(parts, schema.names, options, models, len(base))
    crossed = [part.crossed for part in parts]
    kept_of = _kept_of(base, crossed, schema)
    how = options.draws, rng, options.independent, kept_of
    candidates, drawn = first_that_holds(ladder, _required(models, options), *how)
    _require_private(candidates, getattr(options, "epsilon", None))
    search = _result_of(options, candidates)
    plan = RandomPlan(schema, models, taxonomies, recoding, search, options, candidates, rng)
    return plan, plan.outcome(base, crossed, drawn)


def _result_of(options: RandomRecoding, candidates: Sequence[Candidate]) -> SearchResult:
    """How channels were found: what they distort, and what none can fall below."""
    value = sum(candidate.distortion for candidate in candidates)
    bounds = [candidate.lower_bound for candidate in candidates]
    known = [bound for bound in bounds if bound is not None]
    bound = sum(known) if len(known) == len(bounds) else None
    gap = None if bound is None else max(value - bound, 0.0)
    tried = len(candidates)
    return SearchResult(
        options.name, DISTORTION, value, gap, tried, tried, None, None, 0, False, bound
    )


def _base(
    admitted: pd.DataFrame,
    schema: Schema,
    recoding: Partitions,
    taxonomies: Mapping[str, Taxonomy],
) -> pd.DataFrame:
    """A table at the levels it is drawn from, without its identifiers."""
    left = admitted.drop(columns=list(schema.identifiers))
    return engine.without_traces(relabelled(left, recoding, taxonomies))


def _parts(
    base: pd.DataFrame, crossed: Crossed, attributes: Sequence[Attribute], jointly: bool
) -> list[Part]:
    """All drawn attributes together, with those that are kept; or each of them by itself."""
    if jointly:
        return [Part.of(base, crossed, crossed.schema.names, attributes)]
    return [Part.of(base, crossed, [attribute.name], attributes) for attribute in attributes]


def _require_private(candidates: Sequence[Candidate], epsilon: float | None) -> None:
    """Require the local differential privacy that was requested, of the channels as they are.

    Raises
    ------
    PolicyBrokenError
        When they have less.
    """
    if epsilon is None:
        return
    channels = [Channel(c.matrix, c.part.crossed.values, tuple(c.symbols)) for c in candidates]
    found = sum(channel.epsilon for channel in channels)
    if found > epsilon * (1 + 1e-9):
        raise PolicyBrokenError(
            f"nothing was released: the channels have epsilon = {found:.6g}, above {epsilon:g}; "
            "request less"
        )


def _required(models: Sequence[PrivacyModel], options: RandomRecoding) -> list[PrivacyModel]:
    """What a drawn table is held to: the policy, and the class sizes that were requested."""
    least = options.min_records
    return [*models, *([] if least is None else [KAnonymity(least)])]


def _kept_of(base: pd.DataFrame, parts: Sequence[Crossed], schema: Schema) -> Codes | None:
    """What every record has of the quasi-identifiers outside all channels; None without such."""
    inside = {name for part in parts for name in part.schema.names}
    kept = [name for name in schema.names if name not in inside]
    return engine.grouped(base, kept)[0] if kept else None
