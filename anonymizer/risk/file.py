"""The risk of a table file, and the file that its details are written to."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from anonymizer.counts.counting import open_columns
from anonymizer.errors import InputError, suggestion
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest.parts import ReportedWarning
from anonymizer.release.manifest.standing import same_file
from anonymizer.release.output import require_place, write_file
from anonymizer.release.results import as_json
from anonymizer.release.warnings.warnings import ReleaseWarning
from anonymizer.risk.assessment import Assessment, assess_columns
from anonymizer.risk.detection import Detected, Undeclared, detect, undeclared
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.ranking import Ranking, rank
from anonymizer.risk.refinement import affordable
from anonymizer.risk.subject import Subject
from anonymizer.tables.engine import Table, Tally
from anonymizer.tables.files import Format, write_table
from anonymizer.tables.files.opening import is_database

Details = Literal["class", "record"]
"""Whose risks are listed: those of each class, or of each record by its place in the file."""

WIDE = 64
"""Columns with a role that are counted together."""

SUFFIXES = {".csv": Format(parquet=False), ".parquet": Format(parquet=True)}


@dataclass(frozen=True, eq=False)
class FileRisk:
    """The risk of a table file, whatever columns it has.

    ``ranking`` is of subsets of the quasi-identifiers. ``detected`` are the minimal sets of
    columns, other than sensitive ones and identifiers, that distinguish most records, of up to
    ``detected_size`` columns: less than requested where columns are many.
    """

    assessment: Assessment  # for an attacker who knows the quasi-identifiers
    undeclared: Undeclared  # what columns without a role would add to that
    ranking: Ranking | None = None  # None where it was not requested
    detected: Sequence[Detected] | None = None
    detected_size: int = 0
    details: pd.DataFrame | None = field(default=None, repr=False)  # of each class or record
    # about people with several records, and their values; of a release those of its manifest, too
    warnings: Sequence[ReleaseWarning | ReportedWarning] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the risk as JSON has it."""
        content = {**self.assessment.to_dict(), "undeclared": self.undeclared.to_dict()}
        content["warnings"] = [each.to_dict() for each in self.warnings]
        if self.ranking is not None:
            content |= {"by_attribute": self.ranking.to_dict(), "detected": as_json(self.detected)}
            content["detected_size"] = self.detected_size
        return content


def assess_file(
    subject: Subject,
    size: int | None = None,
    watch: Watch = ignore,
    details: Details | None = None,
) -> FileRisk:
    """Measure the risk of a table file as it is: nothing is recoded.

    The table is counted where it lies. With a ``size`` also the risk of subsets of up to this many
    attributes, and with ``details`` that of each.
    """
    with _opened(subject, watch, details == "record") as measured:
        schema = subject.schema
        assessment = assess_columns(measured.table, schema, watch)
        columns = [name for name in measured.columns if isinstance(name, str)]
        hidden = (*schema.sensitive, *subject.identifiers)
        declared = {*hidden, *subject.targets} & set(columns)
        known = schema.quasi_identifiers
        others = undeclared(measured.rest, columns, known, declared, watch=watch)
        warnings = measured.of_persons(schema, subject.privacy, subject.identifiers)
        found = FileRisk(assessment, others, warnings=subject.warned(warnings))
        if details is not None:
            watch("writing the details", 0, None)
            found = replace(found, details=_details(assessment, measured, details))
        if size is None:
            return found
        ranking = rank(measured.table, known, schema.sensitive, size, watch)
        known = tuple(name for name in columns if name not in (*hidden, *others.skipped))
        fits = max(affordable(size, len(known)), 1)
        detected = detect(measured.tally(known), known, fits, watch=watch)
        return replace(found, ranking=ranking, detected=detected, detected_size=fits)


@contextmanager
def _opened(subject: Subject, watch: Watch, in_order: bool) -> Iterator[MeasuredTable]:
    """Open the table as it is measured.

    A Parquet file of very many columns with a role is read a column at a time, until every record
    is alone: no two of them agree in all, so that there is nothing to count.
    """
    path, form, schema = subject.path, subject.form, subject.schema
    if len(schema.columns) <= WIDE or not (form.parquet and path.is_file()) or is_database(path):
        with subject.measured(watch, respell=True, in_order=in_order) as measured:
            yield measured
        return
    watch("reading the table", 0, None)
    table = open_columns(path, form, schema)
    # Nothing but its columns is used of it.
    yield MeasuredTable(cast(Table, table), [*table.columns], table)


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
        write_file(path, partial(write_table, frame, form=form), force=force, private=True)

    return write


def _details(assessment: Assessment, measured: MeasuredTable, details: Details) -> pd.DataFrame:
    """List the risks of each class with its values, or of each record by its place in the file."""
    if details == "class":
        return _classes_named(assessment)
    if measured.original is None and isinstance(measured.table, Tally):
        raise InputError("there are counts of the table, not its records; measure risks by class")
    risks = assessment.by_record()
    if measured.original is not None:
        row_of = measured.row_of
        risks = risks.take(row_of[row_of >= 0]).set_axis(np.flatnonzero(row_of >= 0))
    risks.index = pd.Index(risks.index + 1, name="record")
    return risks


def _classes_named(assessment: Assessment) -> pd.DataFrame:
    """List the risks of each class with its values, ``value(age)`` for each attribute."""
    risks = assessment.by_class()
    class_of = assessment.classes.class_of
    some = np.zeros(assessment.classes.classes, np.intp)
    some[class_of] = np.arange(len(class_of))
    values = {
        f"value({name})": assessment.table[name].iloc[some].to_numpy()
        for name in assessment.schema.quasi_identifiers
    }
    return pd.DataFrame(values, risks.index).join(risks)
