"""The risk of a table file, and the file that its details are written to."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.counting import open_columns
from anonymizer.errors import InputError, suggestion
from anonymizer.recoding import Watch, ignore
from anonymizer.release.manifest.standing import same_file
from anonymizer.release.output.atomic import require_place, write_file
from anonymizer.release.release import MANIFEST
from anonymizer.release.results import as_json
from anonymizer.risk.assessment import Assessment, assess_columns
from anonymizer.risk.detection import Detected, Undeclared, detect, undeclared
from anonymizer.risk.ranking import Ranking, rank
from anonymizer.risk.subject import Subject
from anonymizer.risk.subsets import affordable
from anonymizer.tables.files import Format, write_table

SUFFIXES = {".csv": Format(parquet=False), ".parquet": Format(parquet=True)}


@dataclass(frozen=True, eq=False)
class FileRisk:
    """What an attacker learns from a table file, whatever columns it has.

    ``ranking`` is of subsets of the quasi-identifiers. ``detected`` are the minimal sets of
    columns, other than sensitive ones and identifiers, that distinguish most records, of up to
    ``detected_size`` columns: less than requested where columns are many.
    """

    assessment: Assessment  # for an attacker who knows the quasi-identifiers
    undeclared: Undeclared  # what columns without a role would add to that
    ranking: Ranking | None = None  # None where it was not requested
    detected: Sequence[Detected] | None = None
    detected_size: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The risk as JSON has it."""
        content = {**self.assessment.to_dict(), "undeclared": self.undeclared.to_dict()}
        if self.ranking is not None:
            content |= {"by_attribute": self.ranking.to_dict(), "detected": as_json(self.detected)}
            content["detected_size"] = self.detected_size
        return content


def assess_file(subject: Subject, size: int | None = None, watch: Watch = ignore) -> FileRisk:
    """Measure the risk of a table file as it is: nothing is recoded.

    With a ``size`` also that of subsets of up to this many attributes.
    """
    watch("reading the table", 0, None)
    schema = subject.schema
    table = open_columns(subject.path, subject.form, schema)
    assessment = assess_columns(table, schema, watch)
    columns = [name for name in table.columns if isinstance(name, str)]
    hidden = (*schema.sensitive, *subject.identifiers)
    declared = {*hidden, *subject.targets} & set(columns)
    others = undeclared(table, columns, schema.quasi_identifiers, declared, watch=watch)
    if size is None:
        return FileRisk(assessment, others)
    ranking = rank(table, schema.quasi_identifiers, schema.sensitive, size, watch)
    known = [name for name in columns if name not in (*hidden, *others.skipped)]
    fits = max(affordable(size, len(known)), 1)
    return FileRisk(assessment, others, ranking, detect(table, known, fits, watch=watch), fits)


def details_at(
    path: Path, tables: Iterable[Path], *, force: bool = False
) -> Callable[[pd.DataFrame], None]:
    """Return a function that writes detailed risks to ``path``, completely or not at all.

    The file must not be one of the tables, nor be in the directory of a release, which must not
    contain what an attacker may learn.
    """
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        hint = suggestion(path.suffix, SUFFIXES)
        raise InputError(f"cannot write {path}: no table has suffix {path.suffix!r}{hint}")
    require_place(path, "cannot write", force=True)
    if (path.parent / MANIFEST).exists():
        raise InputError(
            f"{path} would lie in the directory of a release, and discloses what that hides; "
            "write elsewhere"
        )
    if any(same_file(path, table) for table in tables):
        raise InputError(f"{path} is a table of the study; choose another file")
    require_place(path, "cannot write", force=force)

    def write(details: pd.DataFrame) -> None:
        frame = details.reset_index()
        write_file(path, lambda place: write_table(frame, place, form), force=force)

    return write


def records_numbered(assessment: Assessment) -> pd.DataFrame:
    """The risks of each record, by its place in the file, from 1, without dropped records."""
    risks = assessment.by_record()
    risks.index = pd.Index(risks.index + 1, name="record")
    return risks


def classes_named(assessment: Assessment) -> pd.DataFrame:
    """The risks of each class with its values, ``value(age)`` for each attribute."""
    risks = assessment.by_class()
    class_of = assessment.classes.class_of
    some = np.zeros(assessment.classes.classes, np.intp)
    some[class_of] = np.arange(len(class_of))
    values = {
        f"value({name})": assessment.table[name].iloc[some].to_numpy()
        for name in assessment.schema.quasi_identifiers
    }
    return pd.DataFrame(values, risks.index).join(risks)
