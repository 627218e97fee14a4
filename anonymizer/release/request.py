"""What is requested of an estimator, as objects: roles, policy, recoding and objective."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import InputError, column_names, digest_of
from anonymizer.hierarchy import Hierarchy
from anonymizer.objectives import AUTOMATIC, Objective, ObjectiveName, objective_of
from anonymizer.privacy import PrivacyModel, models_of
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.recodings import RecodingName, recoding_of


class Request:
    """The parameters of an estimator as objects; each raises InputError where one is unusable."""

    quasi_identifiers: Mapping[str, Hierarchy | str | Path | Mapping[str, Any]]
    sensitive: str | Sequence[str]
    privacy: Sequence[PrivacyModel]
    recoding: RecodingName | Recoding
    objective: ObjectiveName | Literal["automatic"] | Objective
    identifiers: Sequence[str]
    missing: Missing
    insensitive: Sequence[str] | None
    seed: int
    time_limit: float | None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that is requested, as a manifest has it, hierarchies by content."""
        schema, objective = self.schema, self.chosen_objective
        pinned = schema.insensitive
        described = [[name, each.describe()] for name, each in self.hierarchies.items()]
        return digest_of(
            {
                "quasi_identifiers": described,
                "sensitive": schema.sensitive,
                "identifiers": schema.identifiers,
                "missing": schema.missing,
                "privacy": [[each.name, each.attribute, each.parameters] for each in self.models],
                "recoding": self.chosen_recoding.described,
                "objective": [objective.name, _options(objective)],
                "seed": self.seed,
                "time_limit": self.time_limit,
                **({} if pinned is None else {"insensitive": sorted(pinned)}),
            }
        )

    @property
    def chosen_recoding(self) -> Recoding:
        """The recoding, by its defaults where it is named."""
        return recoding_of(self.recoding)

    @property
    def chosen_objective(self) -> Objective:
        """The objective, by its defaults where it is named, or not even that."""
        return self.objective_for(self.chosen_recoding)[0]

    def objective_for(self, recoding: Recoding) -> tuple[Objective, str]:
        """The objective of a recoding, and why it is the one where none was given."""
        if self.objective == AUTOMATIC:
            name, because = recoding.default_objective(self.models)
            return objective_of(name), because
        if isinstance(self.objective, str):
            return objective_of(self.objective), ""
        if not isinstance(self.objective, Objective):
            raise InputError("objective must be the name of one, or an Objective")
        return self.objective, ""

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        if not isinstance(self.quasi_identifiers, Mapping):
            raise InputError("quasi_identifiers must map each column to its hierarchy")
        named = self.objective if isinstance(self.objective, Objective) else None
        pinned = self.insensitive
        return Schema(
            tuple(self.quasi_identifiers),
            column_names("sensitive", self.sensitive),
            column_names("identifiers", self.identifiers),
            self.missing,
            tuple(getattr(named, "targets", ())),  # one that is given by its name has none
            None if pinned is None else column_names("insensitive", pinned),
        )

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The policy."""
        models = models_of(self.privacy)
        if not models:
            raise InputError("privacy must list at least one model, such as [KAnonymity(5)]")
        return models

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """How each quasi-identifier generalizes: strings made into hierarchies."""
        given = self.quasi_identifiers
        return {name: Hierarchy.of(each, attribute=name) for name, each in given.items()}


def _options(objective: Objective) -> dict[str, object]:
    """The options of an objective."""
    if not is_dataclass(objective):
        return {}
    return {each.name: getattr(objective, each.name) for each in fields(objective)}
