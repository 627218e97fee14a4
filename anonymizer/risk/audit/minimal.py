"""The minimality attack on a release: what is known of it beside the counts."""

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.hierarchy import Taxonomy
from anonymizer.recoding.levels import FullDomain
from anonymizer.release.study import Study
from anonymizer.risk.attacks import Minimality, minimality, obstacle
from anonymizer.risk.audit.people import Placed
from anonymizer.tables import pandas as engine

__all__ = ["minimality_of"]


def minimality_of(table: Placed, draws: int, rng: np.random.Generator) -> Minimality:
    """What an attacker learns of a release who knows that no finer one satisfied the policy.

    Parameters
    ----------
    table
        The release, and the people it was made of.
    draws
        Worlds drawn where there are too many to look at.
    rng
        What draws them.
    """
    study = table.release.study
    if study is None:
        return Minimality.not_applicable("its hierarchies are known by --study alone")
    if reason := _obstacle(table, study):
        return Minimality.not_applicable(reason)
    counts, taxonomies = _counted(table, study)
    levels = table.release.manifest["levels"]
    node = tuple(int(levels[name]) for name in counts.names)
    return minimality(counts, taxonomies, node, table.release.models, rng, draws)


def _obstacle(table: Placed, study: Study) -> str | None:
    """Why the release is not known to be minimal."""
    recoding = study.recoding
    if not isinstance(recoding, FullDomain):
        return obstacle(table.release.manifest, study.schema.names, 0.0)
    if recoding.max_classes is not None or recoding.min_records is not None:
        return "the search kept to bounds beside the policy"
    if not table.exact:
        return "the original holds more people than the release"
    if set(table.values) != set(table.release.schema.sensitive):
        return "the original lacks a sensitive attribute"
    return obstacle(table.release.manifest, study.schema.names, float(recoding.suppression))


def _counted(table: Placed, study: Study) -> tuple[Counts, dict[str, Taxonomy]]:
    """The original's counts, and the hierarchies over its values."""
    stated = study.schema
    schema = Schema(stated.names, stated.sensitive, missing=stated.missing)
    tally = engine.tally(schema.admit(table.original), schema.columns)
    population = table.release.population(table.release.models)
    people = None if population is None else engine.tally(population, schema.names)
    taxonomies = taxonomies_of(tally, study.hierarchies, people)
    return schema.counts(tally, taxonomies, people), taxonomies
