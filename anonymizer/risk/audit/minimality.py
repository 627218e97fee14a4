"""The minimality attack on a release that was read back: whether and on what it is run."""

from collections.abc import Sequence

import numpy as np

from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.objectives import OBJECTIVES
from anonymizer.recoding.levels import FullDomain
from anonymizer.release.manifest import Manifest
from anonymizer.release.study import Study
from anonymizer.risk.attacks import Minimality, minimality
from anonymizer.risk.audit.people import Placed
from anonymizer.tables import engine


def minimality_of(table: Placed, draws: int, rng: np.random.Generator) -> Minimality:
    """What an attacker learns about a release from knowing that no finer one satisfied the policy.

    ``draws``: worlds that ``rng`` draws where they are too many to enumerate.
    """
    study = table.release.study
    if study is None:
        return Minimality.not_applicable("its hierarchies are known by --study alone")
    if reason := _obstacle(table, study):
        return Minimality.not_applicable(reason)
    roles = study.schema
    schema = Schema(roles.quasi_identifiers, roles.sensitive, missing=roles.missing)
    tally = engine.tally(schema.admit(table.original), schema.columns)
    population = table.release.population(table.release.models)
    people = None if population is None else engine.tally(population, schema.quasi_identifiers)
    taxonomies = taxonomies_of(tally, study.hierarchies, people)
    counts, levels = schema.counts(tally, taxonomies, people), table.release.manifest.levels
    node = tuple(levels[name] for name in counts.names)
    return minimality(counts, taxonomies, node, table.release.models, rng, draws)


def _obstacle(table: Placed, study: Study) -> str | None:
    """Why the release is not known to be minimal."""
    recoding = study.recoding
    if not isinstance(recoding, FullDomain):
        return obstacle(table.release.manifest, study.schema.quasi_identifiers)
    if recoding.max_classes is not None or recoding.min_records is not None:
        return "the search kept to bounds in addition to the policy"
    if not table.exact:
        return "the original holds more people than the release"
    if set(table.values) != set(table.release.schema.sensitive):
        return "the original lacks a sensitive attribute"
    return obstacle(
        table.release.manifest, study.schema.quasi_identifiers, float(recoding.suppression)
    )


def obstacle(manifest: Manifest, names: Sequence[str], suppression: float = 0.0) -> str | None:
    """Why a release is not known to be minimal, by its manifest; None where it is.

    ``names`` are the quasi-identifiers, ``suppression`` the share of records that the study allows
    to be suppressed.
    """
    search, objective = manifest.search, OBJECTIVES.get(str(manifest.search.objective))
    reasons = {
        "every class has groups of its own, no level": bool(manifest.regions),
        "not every quasi-identifier was released at a level": (
            set(manifest.levels) != set(names) or search.refinements != 0
        ),
        "the levels were given, not searched for": search.strategy == "fixed",
        "the search did not prove that its result is the best": not search.proven,
        "records may be suppressed, so that a finer node could have been within the budget": (
            suppression > 0 or manifest.suppressed != 0
        ),
        "the objective may rise under generalization, so that finer nodes need not break the "
        "policy": objective is None or not objective.falls,
    }
    return next((reason for reason, true in reasons.items() if true), None)
