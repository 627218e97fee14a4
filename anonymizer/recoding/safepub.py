"""SafePub: a random sample of a table, at levels that were chosen without looking at it.

Bild, Kuhn and Prasser (2018). Everything reported of such a release is read off the released table:
any other figure (how many records there were, how many were left out, what the raw table says)
would have to be paid for in epsilon too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.feedback.logs import logged
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.objectives import Objective
from anonymizer.privacy import DifferentialPrivacy, KAnonymity, PrivacyModel
from anonymizer.recoding.apply import relabelled
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.levels import node_of
from anonymizer.recoding.problem import Run
from anonymizer.recoding.recoding import (
    Outcome,
    Recoding,
    RecodingPlan,
    SearchResult,
    Task,
    seen_in,
)
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.values import key_text


@dataclass(frozen=True)
class SafePub(Recoding):
    """A differentially private release: a sample at given levels, small classes left out.

    The policy holds one model of differential privacy, which says how to sample, and k-anonymity at
    most with it.

    Parameters
    ----------
    levels
        The level of every quasi-identifier, chosen without looking at the table.
    """

    name: ClassVar[str] = "safepub"
    searches: ClassVar[bool] = False
    private: ClassVar[bool] = True

    levels: Mapping[str, int]

    def __post_init__(self) -> None:
        if not isinstance(self.levels, Mapping):
            raise InputError("levels must map every quasi-identifier to a level")

    def require_suitable(
        self, models: Sequence[PrivacyModel], objective: Objective, run: Run
    ) -> None:
        """Refuse a policy that the guarantee does not cover."""
        super().require_suitable(models, objective, run)
        name = DifferentialPrivacy.name
        found = [model for model in models if isinstance(model, DifferentialPrivacy)]
        others = [m for m in models if not isinstance(m, DifferentialPrivacy | KAnonymity)]
        if not found:
            raise InputError(f"recoding = 'safepub' needs the model {name}, which says how to draw")
        if len(found) > 1:
            raise InputError(f"{name}: give it once")
        if others:
            raise InputError(
                f"{name}: its guarantee does not cover what {others[0].name} would leave out; only "
                "k-anonymity can be combined with it"
            )

    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Draw a sample of the table that is fitted, and remember which values it released."""
        schema = task.counted.schema
        if schema.counted:
            raise InputError(_as_it_is(schema.counted[0]))
        known = task.counted.taxonomies
        taxonomies = {name: _written_alike(taxonomy) for name, taxonomy in known.items()}
        node = node_of(self.levels, taxonomies)
        recoding = level_recoding(taxonomies, schema.quasi_identifiers, node)
        (private,) = (m for m in task.models if isinstance(m, DifferentialPrivacy))
        # The levels were not searched for, and what they are worth may not be reported.
        search = SearchResult("fixed", task.objective.name, nodes=1, searched=False)
        plan = SamplePlan(schema, task.models, taxonomies, recoding, search, private)
        drawn, outcome = plan.drawn(task.counted.kept)
        return replace(plan, seen=seen_in(drawn, taxonomies)), outcome


@dataclass(frozen=True, eq=False)
class SamplePlan(RecodingPlan):
    """A plan that releases a differentially private sample of a table.

    Every release draws anew, as ``model`` says, from a source of randomness that nobody knows; what
    several releases of one table disclose adds up.
    """

    private: ClassVar[bool] = True

    model: DifferentialPrivacy

    def carry_out(self, admitted: engine.Table) -> Outcome:
        """Draw a sample, recode it and leave small classes out: see ``drawn``."""
        with logged("recoding", __name__) as counted:
            outcome = self.drawn(admitted)[1]
            counted({"records": engine.records(outcome.released)})
        return outcome

    def drawn(self, admitted: T) -> tuple[T, Outcome]:
        """Draw the records that are left, and recode what is released of them.

        In random order and without an index: both would disclose who was drawn. InputError where a
        column would be released as it is, PolicyUnreachableError where no class is large enough.
        """
        self.require_room(admitted.columns)
        table = engine.chosen(admitted, self.schema.quasi_identifiers)
        rng = np.random.default_rng()  # from the system's entropy: a seed could be guessed
        drawn = engine.sampled(table, self.model.beta, rng)
        recoded = relabelled(self._alike(drawn), self.recoding, self.taxonomies)
        class_of, first = engine.grouped(recoded, self.schema.quasi_identifiers)
        large = (engine.sized(recoded, class_of, len(first)) >= self._least)[class_of]
        left = engine.records_of(recoded, large)
        if not large.any():
            raise PolicyUnreachableError(
                f"nothing was released: no class of the sample has k = {self._least} records; "
                "choose coarser levels, or a larger epsilon or delta"
            )
        released = engine.without_traces(engine.shuffled(left, rng))
        # Nothing is reported of records that are left out, so that none is marked.
        nowhere = np.zeros(len(released.index), bool)
        kept = engine.records_of(drawn, large)
        return kept, Outcome(released, nowhere, False, self.generalized)

    def require_room(self, columns: Iterable[object]) -> None:
        """Refuse a table with a column that would be released as it is."""
        known = (*self.schema.quasi_identifiers, *self.schema.identifiers)
        for column in columns:
            if column not in known:
                raise InputError(_as_it_is(column))

    def recoder(
        self, raw: Counts, released: Counts, outcome: Outcome, rng: np.random.Generator
    ) -> Callable[[Counts], Counts]:
        """Refuse: nothing is reported of the raw table."""
        raise NotImplementedError

    def _alike(self, table: T) -> T:
        """The table with every value as the taxonomies write it; those unknown as they are."""
        columns = {}
        for name, taxonomy in self.taxonomies.items():
            codes, values = engine.distinct(table[name])
            keys = [taxonomy.key_of(value) for value in values]
            texts = [
                key_text(key) if key in taxonomy.codes else value
                for key, value in zip(keys, values, strict=True)
            ]
            columns[name] = engine.relabel(table[name], codes, texts)
        return engine.replaced(table, columns)

    @property
    def _least(self) -> int:
        others = [model.k for model in self.models if isinstance(model, KAnonymity)]
        return max([self.model.k, *others])


def _written_alike(taxonomy: Taxonomy) -> Taxonomy:
    # The way of the table, ``39.0`` next to a gap, say, would disclose records that were not drawn.
    raw, *others = taxonomy.levels
    alike = Partition(raw.groups, tuple(taxonomy.texts[code] for code in raw.first))
    return replace(taxonomy, levels=(alike, *others))


def _as_it_is(column: object) -> str:
    return (
        f"{DifferentialPrivacy.name}: column {str(column)!r} would be released as it is; make it a "
        "quasi-identifier (at level 0, say), or an identifier"
    )
