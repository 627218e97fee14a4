"""The population of a study, recoded as a release of it was."""

from pathlib import Path

import pandas as pd

from anonymizer.counts.schema import taxonomies_of
from anonymizer.recoding.apply import matched, relabelled
from anonymizer.release.manifest import MANIFEST, Manifest
from anonymizer.release.study import Study
from anonymizer.tables import pandas as engine
from anonymizer.tables.files import Format, disarmed

__all__ = ["people_of", "recoded_people"]


def recoded_people(
    study: Study, path: Path, table: pd.DataFrame, people: pd.DataFrame
) -> pd.DataFrame:
    """The population of a study as the released table at a path was recoded.

    Raises
    ------
    InputError
        When there is no manifest next to the table, or it is of another study.
    """
    manifest = Manifest.read(path.parent / MANIFEST)
    return people_of(study, manifest, study.format_of(path), table, people)


def people_of(
    study: Study,
    manifest: Manifest,
    form: Format,
    table: pd.DataFrame,
    people: pd.DataFrame,
) -> pd.DataFrame:
    """The population of a study, recoded as a manifest describes.

    Raises
    ------
    InputError
        When the manifest is of another study.
    """
    population = study.schema.admit_population(people)
    tally = engine.tally(population, study.schema.names)
    taxonomies = taxonomies_of(tally, study.hierarchies)
    recoding = manifest.recoding_over(taxonomies)
    recoded = relabelled(population, recoding, taxonomies)
    written = disarmed(recoded) if study.disarms(form) else recoded
    return matched(table, written, study.schema)
