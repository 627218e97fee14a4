"""A released file and its manifest beside the table of their study."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from anonymizer.counts import Recoding
from anonymizer.engines import pandas as engine
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Interval, Partition, Taxonomy
from anonymizer.publish import MANIFEST
from anonymizer.quality.quality import Quality, measure_quality
from anonymizer.schema import Schema, taxonomies_of
from anonymizer.search import Watch, ignore
from anonymizer.study import Study

__all__ = ["Manifested", "measure_file", "recoding_of"]


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
    manifest = _manifest(path.parent / MANIFEST)
    watch("reading the tables", 0, None)
    released = study.read(path)
    original = study.read()
    watch("counting the table", 0, None)
    kept = study.schema.admit(original)
    taxonomies = taxonomies_of(engine.tally(kept, study.schema.columns), study.hierarchies)
    try:
        recoding = recoding_of(manifest, taxonomies)
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise InputError(
            f"{path.parent / MANIFEST} does not describe a release of {study.path}; "
            "is it of another study, or was the study changed since?"
        ) from None
    by = Manifested(study.schema, taxonomies, recoding)
    return measure_quality(original, released, by, watch=watch, **options)


def recoding_of(
    manifest: Mapping[str, Any], taxonomies: Mapping[str, Taxonomy]
) -> dict[str, Partition]:
    """The partition of each quasi-identifier that a manifest describes.

    A level is taken from the hierarchy; ranges from where they begin and end.

    Raises
    ------
    KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError
        When the manifest does not fit the taxonomies.
    """
    if set(manifest["recoding"]) != set(taxonomies):
        raise ValueError("other quasi-identifiers")
    return {
        name: _level(taxonomy, manifest["levels"][name])
        if name in manifest["levels"]
        else _ranges(taxonomy, manifest["recoding"][name])
        for name, taxonomy in taxonomies.items()
    }


def _level(taxonomy: Taxonomy, level: int) -> Partition:
    if level not in range(taxonomy.height + 1):
        raise ValueError("no such level")
    return taxonomy.levels[level]


def _ranges(taxonomy: Taxonomy, groups: list[dict[str, Any]]) -> Partition:
    """Each number in its range, a missing value apart from all of them."""
    ranges = [
        Interval(_end(group["from"]), _end(group["to"])) for group in groups if "from" in group
    ]
    if taxonomy.numbers is None:
        raise ValueError("no numbers")
    return Partition.of(
        [ANY if number is None else _range(number, ranges) for number in taxonomy.numbers]
    )


def _range(number: Decimal, ranges: list[Interval]) -> Interval:
    """The range that holds a number."""
    for each in ranges:
        above = each.low is None or each.low <= number
        if above and (each.high is None or number < each.high):
            return each
    raise ValueError("a number in no range")


def _end(stated: int | float | None) -> Decimal | None:
    return None if stated is None else Decimal(str(stated))


def _manifest(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"there is no {path}: the manifest has to lie beside the released table"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{path} is damaged: it is no JSON text") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged: it is no manifest of a release")
    return content
