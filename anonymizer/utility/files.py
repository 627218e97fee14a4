"""A released file and its manifest beside the table of their study."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.counts.counts import Recoding
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.hierarchy import Taxonomy
from anonymizer.recoding import Watch, ignore
from anonymizer.release.manifest import MANIFEST, Manifest
from anonymizer.release.study import Study
from anonymizer.tables import pandas as engine
from anonymizer.tables.files import rearmed
from anonymizer.utility.quality import Quality, measure_quality

__all__ = ["Manifested", "measure_file"]


@dataclass(frozen=True, eq=False)
class Manifested:
    """What a manifest and its study say a release was made by."""

    schema: Schema
    taxonomies: Mapping[str, Taxonomy]
    recoding: Recoding


def measure_file(study: Study, path: Path, *, watch: Watch = ignore, **options: Any) -> Quality:
    """Measure the quality of a released file of a study; options as of ``measure_quality``.

    Raises
    ------
    InputError
        When a file cannot be read, or the released table is not the recoding of the study's table
        that the manifest beside it describes.
    PolicyBrokenError
        When an identifier stands in the released table.
    """
    manifest = Manifest.read(path.parent / MANIFEST)
    watch("reading the tables", 0, None)
    released = study.read(path)
    if study.disarms(study.format_of(path)):
        released = rearmed(released)
    original = study.read()
    watch("counting the table", 0, None)
    kept = study.schema.admit(original)
    taxonomies = taxonomies_of(engine.tally(kept, study.schema.columns), study.hierarchies)
    recoding = manifest.recoding_over(taxonomies)
    by = Manifested(study.schema, taxonomies, recoding)
    return measure_quality(original, released, by, watch=watch, **options)
