"""A masking carried out: fitted to a table, drawn, verified, and drawn again for other tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from anonymizer.channels import Channel
from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts, Floats, Recoding
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.hierarchy import Taxonomy
from anonymizer.masking.attribute import Attribute
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.candidate_channels import ladder_of, require_suitable
from anonymizer.masking.contingency import Codes, Crossed
from anonymizer.masking.disclosure import Masked, realised, told_of
from anonymizer.masking.drawing import Drawn, attempt, first_that_holds
from anonymizer.masking.options import DISTORTION, Masking
from anonymizer.masking.part import Part
from anonymizer.masking.preserved import preserved
from anonymizer.masking.symbols import symbols_of
from anonymizer.privacy import KAnonymity, PrivacyModel, require_possible
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding.apply import described, levels_of, relabelled
from anonymizer.recoding.result import SearchResult
from anonymizer.release.information import Information, Informations, chances
from anonymizer.release.release import Release, generalized, prove, release_warnings
from anonymizer.tables import pandas as engine
from anonymizer.tables.values import counted as counting

__all__ = ["MaskedPlan", "mask"]


@dataclass(frozen=True, eq=False)
class MaskedPlan:
    """All that is needed to draw a masked release of a table.

    Parameters
    ----------
    schema, models
        The roles of the columns and the policy.
    taxonomies, recoding
        The values that are known, and the levels they are masked from.
    masking
        What was asked for.
    candidates
        The channels that were chosen, one for each part.
    seed
        For the shuffled baseline.
    study
        Fingerprint of everything that was asked for.
    """

    schema: Schema
    models: Sequence[PrivacyModel]
    taxonomies: Mapping[str, Taxonomy] = field(repr=False)
    recoding: Recoding = field(repr=False)
    masking: Masking
    candidates: Sequence[Candidate] = field(repr=False)
    seed: int
    study: str
    rng: np.random.Generator = field(repr=False)

    def __getstate__(self) -> dict[str, object]:
        return dict(vars(self.forgetting))

    @property
    def forgetting(self) -> "MaskedPlan":
        """The plan with the channels alone: no record that they were found for.

        Without a seed the source of randomness is another one, from which what was drawn before
        cannot be told.
        """
        rng = self.rng if self.masking.seed is not None else np.random.default_rng()
        found = tuple(candidate.forgetting for candidate in self.candidates)
        return replace(self, candidates=found, rng=rng)

    def release(self, table: pd.DataFrame) -> tuple[pd.DataFrame, Release]:
        """Draw what is released for each record, recount and verify it, and only then hand it out.

        Raises
        ------
        PolicyBrokenError
            When no draw of many satisfies the policy.
        InputError
            When the table lacks what it needs or holds values that the channels do not know.
        """
        kept = self.schema.admit(table)
        base = _base(kept, self.schema, self.recoding, self.taxonomies)
        parts = self._crossed(base)
        return self.proven(table, kept, base, parts, self._drawn(base, parts))

    def proven(
        self,
        table: pd.DataFrame,
        kept: pd.DataFrame,
        base: pd.DataFrame,
        parts: Sequence[Crossed],
        drawn: Drawn,
    ) -> tuple[pd.DataFrame, Release]:
        """Put drawn symbols into a table, recount and verify it, and hand it out with its proof.

        Parameters
        ----------
        table, kept, base
            The table, the records of it that are admitted, and these at the levels masked from.
        parts
            What each channel is about, counted.
        drawn
            The symbols of its records.

        Raises
        ------
        PolicyBrokenError
            When the table breaks the policy.
        """
        released = self._released(base, drawn)
        counts, verdicts = prove(released, self.schema, self.models)
        covered = (*self.schema.names, *self.schema.sensitive)
        raw = self.schema.counts(engine.tally(kept, self.schema.columns), self.taxonomies)
        about = self.models, self.schema.identifiers, self._hidden
        return released, Release(
            records=len(table),
            released=len(released),
            dropped=len(table) - len(kept),
            suppressed=0,
            suppressed_class="none",
            classes=len(counts),
            query_loss=loss_of_sizes(counts.sizes),
            other_columns=tuple(str(c) for c in released.columns if c not in covered),
            **self._informations(raw, counts),
            levels=levels_of(self.recoding, self.taxonomies),
            recoding=self._described(released),
            regions=(),
            privacy=verdicts,
            search=self.search,
            study=self.study,
            masking=self._masked(base, released, parts, drawn),
            warnings=release_warnings(table, kept, released, raw, counts, *about),
        )

    @property
    def search(self) -> SearchResult:
        """How the channels were found: what they distort, and what none can fall below."""
        value = sum(candidate.distortion for candidate in self.candidates)
        bounds = [candidate.lower_bound for candidate in self.candidates]
        known = [bound for bound in bounds if bound is not None]
        bound = sum(known) if len(known) == len(bounds) else None
        gap = None if bound is None else max(value - bound, 0.0)
        tried = len(self.candidates)
        return SearchResult(
            self.masking.method, DISTORTION, value, gap, tried, tried, None, None, 0, False, bound
        )

    def people(self, released: pd.DataFrame) -> None:
        """No model about a population stands in the policy of a masking."""

    def _crossed(self, base: pd.DataFrame) -> list[Crossed]:
        return [
            Crossed.of(base, replace(self.schema, names=candidate.part.names))
            for candidate in self.candidates
        ]

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
                f"{counting(records, 'record')} of the table have values of "
                f"{', '.join(candidate.part.names)} that the masking has never seen together; fit "
                "on a table that has them"
            )
        return np.asarray(candidate.matrix[rows])

    def _drawn(self, base: pd.DataFrame, parts: Sequence[Crossed]) -> Drawn:
        matrices = [self._rows_of(*pair) for pair in zip(self.candidates, parts, strict=True)]
        models = _held(self.models, self.masking)
        kept_of = _kept_of(base, parts, self.schema)
        for _ in range(self.masking.draws):
            drawn = attempt(parts, matrices, models, self.rng, self.masking.independent, kept_of)
            if drawn is not None:
                return drawn
        raise PolicyBrokenError(
            f"nothing was released: none of {self.masking.draws} draws satisfied the policy; fit "
            "on this table, or state more draws"
        )

    def _released(self, base: pd.DataFrame, drawn: Drawn) -> pd.DataFrame:
        """The table with the symbols of its records in place of the masked values."""
        columns = {}
        for candidate, symbol_of in zip(self.candidates, drawn.symbol_of, strict=True):
            for attribute in candidate.part.attributes:
                place = candidate.part.names.index(attribute.name)
                labels = [symbol[place] for symbol in candidate.symbols]
                columns[attribute.name] = symbols_of(base[attribute.name], symbol_of, labels)
        return engine.without_traces(engine.replaced(base, columns))

    def _described(self, released: pd.DataFrame) -> dict[str, list[dict[str, object]]]:
        """The levels that values were masked from: of masked attributes nothing but the channel."""
        masked = self._masked_names
        kept = {name: part for name, part in self.recoding.items() if name not in masked}
        shown = described(kept, {name: self.taxonomies[name] for name in kept}, released)
        return {name: shown.get(name, []) for name in self.recoding}

    @property
    def _masked_names(self) -> list[str]:
        return [a.name for candidate in self.candidates for a in candidate.part.attributes]

    @property
    def _hidden(self) -> list[str]:
        """The quasi-identifiers that are not released as they are."""
        return list(
            dict.fromkeys([*self._masked_names, *generalized(self.recoding, self.taxonomies)])
        )

    def _masked(
        self,
        base: pd.DataFrame,
        released: pd.DataFrame,
        parts: Sequence[Crossed],
        drawn: Drawn,
    ) -> Masked:
        attributes = [a for candidate in self.candidates for a in candidate.part.attributes]
        numbers = [attribute.name for attribute in attributes if attribute.numeric]
        pairs = zip(self.candidates, parts, drawn.symbol_of, strict=True)
        told = [told_of(*each) for each in pairs]
        return Masked(
            self.masking.method,
            tuple(attribute.name for attribute in attributes),
            {attribute.name: attribute.kind for attribute in attributes},
            {name: scale for c in self.candidates for name, scale in c.part.scale.items()},
            self.candidates[0].margin,
            self.masking.withhold,
            told,
            realised(parts[0], drawn.by_class),
            preserved(base, released, numbers, self.schema.sensitive),
        )

    def _informations(self, raw: Counts, released: Counts) -> Informations:
        """What is kept and lost; chance deals W out among the records of the released classes."""
        rng = np.random.default_rng(self.seed)
        chance = chances(raw, lambda _: released.shuffled(rng), rng)

        def about(*names: str) -> Information:
            return Information.of(raw, released, self.models, chance, names)

        return {
            "information": about(*self.schema.sensitive) if self.schema.sensitive else None,
            "targets": {name: about(name) for name in self.schema.targets},
        }


def mask(
    table: pd.DataFrame,
    counted: Counted,
    recoding: Recoding,
    models: Sequence[PrivacyModel],
    masking: Masking,
    seed: int,
    study: str,
) -> tuple[MaskedPlan, pd.DataFrame, Release]:
    """Find channels for a table, draw from them, and verify what was drawn.

    Raises
    ------
    InputError
        When table and masking do not fit together.
    PolicyUnreachableError
        When no channel satisfies the policy, or no draw of any does.
    """
    schema, taxonomies = counted.schema, counted.taxonomies
    require_suitable(models)
    require_possible(counted.counts, models)
    noisy = masking.method == "noise"
    attributes = [
        Attribute.of(name, taxonomies[name], recoding[name], masking.distortion_of(name), noisy)
        for name in masking.masked(schema.names)
    ]
    rng = np.random.default_rng(masking.seed)
    base = _base(counted.kept, schema, recoding, taxonomies)
    parts = _parts(base, Crossed.of(base, schema), attributes, masking.jointly)
    ladder = ladder_of(parts, schema.names, masking, models, len(base))
    crossed = [part.crossed for part in parts]
    kept_of = _kept_of(base, crossed, schema)
    how = masking.draws, rng, masking.independent, kept_of
    candidates, drawn = first_that_holds(ladder, _held(models, masking), *how)
    _require_private(candidates, masking.epsilon)
    asked = schema, models, taxonomies, recoding, masking
    plan = MaskedPlan(*asked, tuple(candidates), seed, study, rng)
    return plan, *plan.proven(table, counted.kept, base, crossed, drawn)


def _base(
    kept: pd.DataFrame,
    schema: Schema,
    recoding: Recoding,
    taxonomies: Mapping[str, Taxonomy],
) -> pd.DataFrame:
    """A table at the levels it is masked from, without its identifiers."""
    left = kept.drop(columns=list(schema.identifiers))
    return engine.without_traces(relabelled(left, recoding, taxonomies))


def _parts(
    base: pd.DataFrame, crossed: Crossed, attributes: Sequence[Attribute], jointly: bool
) -> list[Part]:
    """All masked attributes together, beside those that are kept; or each of them by itself."""
    if jointly:
        return [Part.of(base, crossed, crossed.schema.names, attributes)]
    return [Part.of(base, crossed, [attribute.name], attributes) for attribute in attributes]


def _require_private(candidates: Sequence[Candidate], epsilon: float | None) -> None:
    """Require what local differential privacy was asked for, of the channels as they are.

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
            "ask for less"
        )


def _held(models: Sequence[PrivacyModel], masking: Masking) -> list[PrivacyModel]:
    """What a drawn table is held to: the policy, and the class sizes that were stated."""
    stated = masking.min_records
    return [*models, *([] if stated is None else [KAnonymity(stated)])]


def _kept_of(base: pd.DataFrame, parts: Sequence[Crossed], schema: Schema) -> Codes | None:
    """What every record has of the quasi-identifiers beside all channels; None without such."""
    inside = {name for part in parts for name in part.schema.names}
    kept = [name for name in schema.names if name not in inside]
    return engine.grouped(base, kept)[0] if kept else None
