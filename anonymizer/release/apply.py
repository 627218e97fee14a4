"""A release's recoding applied to a table file: another release, written and proven like any."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from anonymizer.counts.multidimensional import CLASS
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.apply import budget_for
from anonymizer.recoding.generalization import NEARLY_ALL
from anonymizer.release.applied import plan_for
from anonymizer.release.applied_release import AppliedRelease
from anonymizer.release.document import EMBEDDED
from anonymizer.release.files import home_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import Order
from anonymizer.release.manifest.standing import same_file
from anonymizer.release.place import Place, as_study, written_as
from anonymizer.release.plan import Plan, RecodedTable
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.publisher import Expectation, FileOptions, publisher
from anonymizer.release.relations import counted_in
from anonymizer.release.release import Release
from anonymizer.release.request import Unseen
from anonymizer.release.signing import PrivateKey
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import require_followable
from anonymizer.release.verifiers import verifiers_of
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, GivenFormat, describe_file
from anonymizer.tables.files.format import missing_values_of
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.spreadsheet import with_safe_names_in

MOST_BEYOND = 0.5
"""Share of the dates of a table beyond those of a release from which on an error is about these."""


@dataclass(frozen=True)
class ApplyOptions:
    """What is done with what the release did not have.

    ``unseen`` values, the ``suppression`` that is allowed in place of that of the release, and the
    columns to ``drop``.
    """

    unseen: Unseen = "error"
    suppression: float | None = None
    drop: Collection[str] = ()


@dataclass(frozen=True)
class Means:
    """How a table is read and its release is written, where that is not as the table lies.

    ``table``: that of a database that has several. ``memory``: that is used at most, as ``"4GB"``.
    ``file``: ``"released.csv"``, ``"released.parquet"`` or one of another program, the format being
    that of the ending.
    ``parts``: how many Parquet files of a folder the release is spread over. ``order``: that of its
    records.
    """

    table: str | None = None
    memory: str | None = None
    file: str | None = None
    parts: int | None = None
    order: Order = "random"

    def written(self, form: Format) -> Format:
        """The format of the release of a table; InputError where it cannot be spread so."""
        found = written_as(form, self.file)
        if self.parts is not None and (found.program or not found.parquet):
            raise InputError("--parts is for Parquet; add --file released.parquet, or leave it out")
        return found

    def place(self, place: Place) -> Place:
        """A place that is read by these means; InputError where its engine has none of them."""
        given = {"table": self.table, "memory": self.memory, "order": self.order == "kept"}
        for name in (name for name, value in given.items() if value):
            if place.engine != EMBEDDED:
                raise InputError(
                    f"--{name} is for the embedded engine, not for engine = "
                    f'"{place.engine}" of the study; leave it out'
                )
        return place._replace(table=self.table or place.table, memory=self.memory or place.memory)


def publish_applied(
    release: Path,
    table: Path,
    directory: Path,
    wishes: ApplyOptions = ApplyOptions(),
    *,
    means: Means = Means(),
    study: Study | None = None,
    force: bool = False,
    watch: Watch = ignore,
    key: PrivateKey | None = None,
    signed_by: Path | None = None,
    strict: bool = False,
    person_key: PseudonymKey | None = None,
) -> tuple[Release, Manifest]:
    """Recode a table as a release was, and write the result into a directory.

    The release is verified first; the key in the file ``signed_by`` must have signed it. The new
    one is verified twice, as :func:`publish` does it, and has the verifiers that the release has:
    statements of SQL only where it is CSV. ``key`` signs it, and ``strict`` refuses one
    that has warnings. ``table``: one of a file,
    of several files or of a database, read and written by the ``means``. ``person_key``: of the
    pseudonyms of persons, where the release has them; by default that of the study.

    Raises InputError when release, table and directory do not fit, or values are not covered;
    PolicyBrokenError when the release does not hold, or its policy not of the table under the
    recoding.
    """
    home = home_of(release)
    if same_file(directory, home):
        raise InputError(f"{directory} is the release that is applied; choose another directory")
    with publisher(directory, table, force=force, key=key, strict=strict) as publication:
        watch("reading the release", 0, None)
        plan = Plan.from_manifest(release, study=study, person_key=person_key)
        require_followable(release, study, key=signed_by, watch=watch)
        assert plan.followed is not None
        manifest = plan.followed.manifest
        watch("reading the table", 0, None)
        plan = _within(plan, wishes.suppression)
        form = _format(table, manifest, plan.schema.columns, study)
        written = means.written(form)
        cells = manifest.spreadsheet
        disarmed = not written.parquet and cells is not None and cells.safe
        kinds = verifiers_of(manifest, written.suffix)
        options = FileOptions(written, disarmed, means.parts, means.order, kinds)

        def recode(raw: Relation) -> RecodedTable:
            stored = _known_columns(raw, table, manifest, plan, wishes.drop, options.safe)
            return _recoded(plan, stored, form, wishes.unseen)

        own = Place(table, form) if study is None else study.place_of(table, form)
        place, expectation = means.place(own)._replace(watch=watch), _expectation(plan, manifest)
        with as_study(study, _by_option):
            return publication.release(
                place, plan.schema.columns, recode, expectation, options, watch
            )


def _by_option(error: InputError) -> str | None:
    """The remedy where a key of ``[data]`` has an option here."""
    if error.key == "table":
        return "name one of them with --table" if error.value is None else "leave out --table"
    if error.key == "memory":
        return "give more of it by --memory, such as --memory 8GB, or count fewer different values"
    return None


def _expectation(plan: Plan, manifest: Manifest) -> Expectation:
    """What the new release is held against: the policy of the one that is applied."""
    listed = plan.source.listed
    numbered = listed is not None and listed.numbered
    schema = plan.schema.without_persons
    schema = schema.with_quasi_identifier(CLASS) if numbered else schema
    objective = {} if manifest.objective is None else manifest.objective.model_dump()
    return Expectation(schema, plan.fitted.models, objective)


def _known_columns(
    raw: Relation,
    path: Path,
    manifest: Manifest,
    plan: Plan,
    drop: Collection[str],
    safe: bool,
) -> Relation:
    """The table with the columns that the table of the release had, and no other ones."""
    if safe:
        raw = with_safe_names_in(raw, (*plan.schema.columns, *plan.schema.identifiers))
    absent = [name for name in drop if name not in raw.columns]
    if absent:
        raise InputError(f"{path} has no column {absent[0]!r} to drop; leave it out")
    left = [name for name in raw.columns if name not in drop]
    gone, others = columns_apart(manifest, left)
    if gone:
        raise InputError(f"{path} lacks columns of the release: {', '.join(map(repr, gone))}")
    if others:
        raise InputError(
            f"{path} has columns that the release did not have: {', '.join(map(repr, others))}; "
            f"nobody decided that they may be released: leave them out with --drop {others[0]}"
        )
    return raw.named({name: name for name in left}) if drop else raw


def columns_apart(manifest: Manifest, columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns of a release that a table has not, and those that the release had not."""
    about, roles = manifest.file
    added = {CLASS} - {*roles.identifiers} if roles.numbered(manifest.recoding) else set[str]()
    known = {*(about.columns or ())} - added
    gone = sorted(name for name in known if name not in columns)
    return gone, [name for name in columns if name not in {*known, *roles.identifiers}]


def _format(path: Path, manifest: Manifest, columns: Sequence[str], study: Study | None) -> Format:
    """How a table lies in its file: as a study has it, else as a manifest does.

    Encodings of one byte and marks of decimals are in no manifest. The separator is that of the
    release, else the one that is found: what is written follows the file, so that a program that
    exports semicolons this month needs no study to say so.
    """
    if study is not None:
        return study.format_of(path, columns)
    roles = manifest.file[1]
    missing = missing_values_of(roles.missing_values)
    given = GivenFormat(separator=roles.separator, missing_values=missing)
    with as_study(study, _by_option):
        form = describe_file(path, given, columns)
        from anonymizer.tables.relations.embedded.files import columns_in  # loads duckdb

        if form.parquet or {*columns} <= {*columns_in(path, form)}:
            return form
        return describe_file(path, replace(given, separator=None), columns)


def _within(plan: Plan, share: float | None) -> Plan:
    """The plan with another budget."""
    if share is None or plan.followed is None:
        return plan
    source = plan.followed.source
    budget = replace(source.plan.suppression, share=share)
    fitted = replace(source.plan, suppression=budget)
    followed: AppliedRelease = replace(plan.followed, source=replace(source, plan=fitted))
    method = {**plan.method, "suppression": share, "suppress": budget.suppress}
    return replace(plan, fitted=fitted, method=method, followed=followed)


def _recoded(plan: Plan, table: Relation, form: Format, unseen: Unseen) -> RecodedTable:
    """The table recoded and proven; the error of a broken policy says what would do."""
    try:
        return plan.recoded(table, form, unseen)
    except PolicyBrokenError as error:
        admitted = plan.admitted(counted_in(table, plan.schema.columns, form)[1])
        if beyond := _beyond(plan, admitted):  # no share of suppressed records mends that
            raise PolicyBrokenError(f"{error}{beyond}") from None
        needed = None if error.key == "suppression" else _needed(plan, admitted, unseen)
        budget = "" if needed is None else f"; needs suppression = {needed:g}"
        raise PolicyBrokenError(f"{error}{budget}{_overlapping(plan, admitted)}") from None


def _beyond(plan: Plan, admitted: Tally) -> str:
    """What a message adds where most dates lie before or after all that the release divides."""
    for name, reach in plan.source.reaches.items():
        spans = [each.interval for each in reach.groups if each.is_range and each.calendar]
        ends = [end for span in spans for end in (span.low, span.high) if end is not None]
        if not ends:
            continue
        codes, values = engine.distinct(admitted[name])
        places = [spans[0].scale.place(value) for value in values]
        off = [each is not None and not min(ends) <= each < max(ends) for each in places]
        share = np.average(np.array(off)[codes], weights=admitted.sizes)
        if share >= MOST_BEYOND:
            return (
                f"; {share:.0%} of the dates of {name!r} lie beyond those of the release: run its "
                "study on the table instead"
            )
    return ""


def _overlapping(plan: Plan, admitted: Tally) -> str:
    """What a message adds where classes overlap: a table is not placed as the first one was."""
    if plan.source.listed is None:
        return ""
    if not plan.source.overlaps(plan_for(plan.source, admitted, "suppress")[0], admitted):
        return ""
    return (
        "; records fit several classes of the release, which overlap, and are in the first of "
        "them: run the study of the release on the table instead"
    )


def _needed(plan: Plan, admitted: Tally, unseen: Unseen) -> float | None:
    """The share of records that would have to be suppressed; None where no share would do."""
    try:
        outcome = _within(plan, NEARLY_ALL).carried_out(admitted, unseen).outcome
    except PolicyBrokenError:
        return None
    records = outcome.suppressed_of(admitted)
    return budget_for(records, engine.records(admitted)) if records else None
