"""A release's recoding applied to a table file: another release, written and proven like any."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from anonymizer.counts.multidimensional import CLASS
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.generalization import NEARLY_ALL, budget_for
from anonymizer.recoding.problem.suppression import Suppression
from anonymizer.recoding.recoding import RecodingPlan
from anonymizer.release.applying.plans import Followed
from anonymizer.release.manifest import Manifest, home_of
from anonymizer.release.output.directory import reserved
from anonymizer.release.plan import Plan, Unseen
from anonymizer.release.publish import Written, require_free, same_file, write_release
from anonymizer.release.release import FILES, Release
from anonymizer.release.signing import PrivateKey
from anonymizer.release.study import Study
from anonymizer.release.verification import require_followable
from anonymizer.tables.files import Format, Given, describe_file, read_table, with_safe_names


@dataclass(frozen=True)
class Wishes:
    """What is done with what the release did not have.

    ``unseen`` values, the ``suppression`` that is allowed in place of that of the release, and the
    columns to ``drop``.
    """

    unseen: Unseen = "error"
    suppression: float | None = None
    drop: Collection[str] = ()


def publish_applied(
    release: Path,
    table: Path,
    directory: Path,
    wishes: Wishes = Wishes(),
    *,
    study: Study | None = None,
    force: bool = False,
    watch: Watch = ignore,
    key: PrivateKey | None = None,
    signed_by: Path | None = None,
) -> tuple[Release, Manifest]:
    """Recode a table as a release was, and write the result into a directory.

    The release is verified first; the key in the file ``signed_by`` must have signed it. The new
    one is verified twice, as :func:`publish` does it; ``key`` signs it.

    Raises InputError when release, table and directory do not fit, or values are not covered;
    PolicyBrokenError when the release does not hold, or its policy not of the table under the
    recoding.
    """
    with reserved(directory, FILES) as output:
        home = home_of(release)
        if same_file(directory, home):
            raise InputError(
                f"{directory} is the release that is applied; choose another directory"
            )
        require_free(directory, table, force)
        watch("reading the release", 0, None)
        plan = Plan.from_manifest(release, study=study)
        require_followable(release, study, key=signed_by)
        assert plan.followed is not None
        manifest = plan.followed.manifest
        watch("reading the table", 0, None)
        form, raw = _read(table, manifest, plan, wishes.drop, study)
        plan = _within(plan, wishes.suppression)
        fitted, released, proof = _released(plan, raw, wishes.unseen)
        watch("writing and verifying the release", 0, None)
        listed = plan.source.listed
        numbered = listed is not None and listed.numbered
        schema = plan.schema.with_quasi_identifier(CLASS) if numbered else plan.schema
        people = fitted.people(released)
        objective = {} if manifest.objective is None else manifest.objective.model_dump()
        safe = _is_safe(manifest, form)
        written = Written(form, safe, schema, plan.fitted.models, objective, key, force)
        return write_release(output, raw, released, proof, people, written)


def _is_safe(manifest: Manifest, form: Format) -> bool:
    """Whether cells that a spreadsheet would run are disarmed."""
    return not form.parquet and manifest.spreadsheet is not None and manifest.spreadsheet.safe


def _read(
    path: Path, manifest: Manifest, plan: Plan, drop: Collection[str], study: Study | None
) -> tuple[Format, pd.DataFrame]:
    """The table, written as that of the release was, with the columns that this had."""
    about, roles = manifest.file
    form, raw = _as_it_lies(path, manifest, plan.schema.columns, study)
    if _is_safe(manifest, form):
        raw = with_safe_names(raw, (*plan.schema.columns, *plan.schema.identifiers))
    absent = [name for name in drop if name not in raw.columns]
    if absent:
        raise InputError(f"{path} has no column {absent[0]!r} to drop; leave it out")
    raw = raw.drop(columns=list(drop))
    known = {name for name in about.columns or () if name != CLASS or CLASS in roles.identifiers}
    lacking = [repr(name) for name in known if name not in raw.columns]
    if lacking:
        raise InputError(f"{path} lacks columns of the release: {', '.join(sorted(lacking))}")
    others = [name for name in raw.columns if name not in known and name not in roles.identifiers]
    if others:
        raise InputError(
            f"{path} has columns that the release did not have: {', '.join(map(repr, others))}; "
            f"nobody decided that they may be released: leave them out with --drop {others[0]}"
        )
    return form, raw


def _as_it_lies(
    path: Path, manifest: Manifest, columns: Sequence[str], study: Study | None
) -> tuple[Format, pd.DataFrame]:
    """A table and its format: as a study has it, else as a manifest does.

    Encodings of one byte and marks of decimals are in no manifest.
    """
    if study is not None:
        form = study.format_of(path, columns)
        return form, read_table(path, form, columns)
    try:
        return _as_released(path, manifest, columns)
    except InputError as error:
        where = "in [data] of the study of the release, and name that with --study"
        raise InputError(str(error).replace("in [data]", where)) from None


def _as_released(
    path: Path, manifest: Manifest, columns: Sequence[str]
) -> tuple[Format, pd.DataFrame]:
    """A table and its format: the separator of the release, else the one that is found.

    What is written follows the file, so that a program that exports semicolons this month needs
    no study to say so.
    """
    roles = manifest.file[1]
    given = Given(separator=roles.separator, missing_values=tuple(roles.missing_values))
    form = describe_file(path, given, columns)
    try:
        return form, read_table(path, form, columns)
    except InputError as error:
        found = describe_file(path, replace(given, separator=None), columns)
        if form.parquet or found.separator == form.separator:
            raise InputError(str(error).split("; does its first line")[0]) from None
    return found, read_table(path, found, columns)


def _within(plan: Plan, share: float | None) -> Plan:
    """The plan with another budget."""
    if share is None or plan.followed is None:
        return plan
    source = plan.followed.source
    budget = Suppression(share, source.plan.suppression.remove)
    fitted = replace(source.plan, suppression=budget)
    followed: Followed = replace(plan.followed, source=replace(source, plan=fitted))
    method = {**plan.method, "suppression": share}
    return replace(plan, fitted=fitted, method=method, followed=followed)


def _released(
    plan: Plan, raw: pd.DataFrame, unseen: Unseen
) -> tuple[RecodingPlan, pd.DataFrame, Release]:
    """The table recoded and proven; the error of a broken policy says which budget would do."""
    try:
        return plan.released(raw, unseen)
    except PolicyBrokenError as error:
        needed = None if "needs suppression" in str(error) else _needed(plan, raw, unseen)
        if needed is None:
            raise
        raise PolicyBrokenError(f"{error}; needs suppression = {needed:g}") from None


def _needed(plan: Plan, raw: pd.DataFrame, unseen: Unseen) -> float | None:
    """The share of records that would have to be suppressed; None where no share would do."""
    try:
        outcome = _within(plan, NEARLY_ALL).carried_out(plan.admitted(raw), unseen)[1]
    except PolicyBrokenError:
        return None
    records = int(outcome.suppressed.sum())
    return budget_for(records, len(outcome.suppressed)) if records else None
