"""What a table, and the last release, show of a study: values that are new, classes that break.

Findings as in ``anonymizer.risk.lint``; their messages have no value and no count of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import log, sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from anonymizer.errors import InputError, PolicyBrokenError, did_you_mean
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Hierarchy
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy import about_each
from anonymizer.release.applied import AppliedPlan, plan_for
from anonymizer.release.apply import columns_apart
from anonymizer.release.files import COUNTS, MANIFEST, home_of, sound
from anonymizer.release.manifest import Manifest
from anonymizer.release.place import Place
from anonymizer.release.plan import Plan
from anonymizer.release.proof import prove
from anonymizer.release.relations import CountedTable, cleaned_in
from anonymizer.release.study import Study
from anonymizer.release.verification.policies import models_of
from anonymizer.release.verification.studied import studied
from anonymizer.release.warnings import policy_warnings
from anonymizer.risk.check import check_measured
from anonymizer.risk.file import Subject
from anonymizer.risk.lint import OF_RUN, Lint, LintFinding, implies, study_findings
from anonymizer.risk.measured import MeasuredTable
from anonymizer.tables import engine
from anonymizer.tables.files import Format
from anonymizer.tables.reading import KeyPath
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.spreadsheet import rearmed_text, with_safe_names_in
from anonymizer.tables.values import is_missing, number_of, plain_text, text_of

MOVED = 0.1
"""Share of the records that have to have another value before shares are said to have moved."""

RARELY = 0.001
"""Probability that chance alone moves shares by as much as is reported."""

SOME = 1_000
"""Records of which a column is looked at to know what its values are."""

HARDLY = 0.2
"""Share of numbers below which the values of a column are texts."""

FINGERPRINT = "study.fingerprint"

PLACES: Mapping[str, KeyPath] = {
    "privacy": ("privacy", 0),
    "levels": ("quasi-identifiers",),
    "hierarchies": ("quasi-identifiers",),
    "columns.quasi_identifiers": ("quasi-identifiers",),
    "columns.sensitive": ("sensitive",),
    "columns.identifiers": ("identifiers",),
    "table.columns": ("insensitive",),
    "objective": ("objective",),
    "search": ("search",),
    "seeds": ("search", "seed"),
    "method": ("recoding",),
    "masking": ("recoding",),
}
"""The section of a study that a field of a manifest follows from; of others it is ``[data]``."""


def lint_file(
    path: Path, table: Path | None, release: Path | None, text: str, watch: Watch = ignore
) -> Lint:
    """Lint the text of a study; with a table also that, and with a release what has changed.

    Raises InputError where table or release cannot be read.
    """
    try:
        study = Study.parsed(text, path)
    except InputError as error:
        return Lint.of_error(path, text, error)
    try:
        found = [*study_findings(study)]
    except InputError as error:
        # An error without a section is of a file that the study names, and may quote a value of it.
        counted = any("population" in each for each in study.document.privacy)
        counted = counted or not error.section
        return Lint.of_error(path, text, error, counted=counted)
    if release is not None:
        manifest = Manifest.read(home_of(release) / MANIFEST)
        found += changes(study, manifest)
    if table is not None:
        watch("reading the table", 0, None)
        form = study.format_of(table)
        with study.place_of(table, form, watch).opened(()) as relation:
            found += _examined("the table", table_findings(study, relation, form))
            if release is not None:
                watch("comparing with the release", 0, None)
                drifting = drift(study, manifest, release, relation, form)
                found += _examined("drift", drifting)
    return Lint.of_study(path, text, found)


def _examined(what: str, found: Iterator[LintFinding]) -> Iterator[LintFinding]:
    """Go on without what cannot be examined; why it cannot may be a figure of the table."""
    try:
        yield from found
    except InputError as error:
        message = f"{what} could not be examined as a whole"
        yield LintFinding("not-examined", message, "", ("data",), str(error))


def changes(study: Study, manifest: Manifest) -> Iterator[LintFinding]:
    """Find what differs between a study and the manifest of its last release."""
    remedy = "run the study, so that the release is the study's again"
    with sound(Path(MANIFEST)):
        before = models_of(manifest, study)
        now = about_each(study.privacy, study.schema.sensitive)
        for model in before:
            if model is not None and not any(implies(each, model) for each in now):
                yield LintFinding(
                    "study-weaker",
                    f"the last release promised {model.name} {model.range}, which the study does "
                    "not require any more",
                    "put the model back, or decide that readers are promised less",
                    ("privacy", 0),
                )
        different = [each for each in studied(manifest, study) if each.agrees is False]
    # The fingerprint differs wherever anything does.
    said = [each for each in different if each.field != FINGERPRINT] or different
    for each in said:
        message = f"{each.field} is not as in the last release"
        yield LintFinding("study-changed", message, remedy, _place_of(each.field), str(each))


def _place_of(field: str) -> KeyPath:
    """The section of the study that a field of a manifest follows from."""
    found = (place for name, place in PLACES.items() if f"{field}.".startswith(f"{name}."))
    return next(found, ("data",))


def table_findings(study: Study, relation: Relation, form: Format) -> Iterator[LintFinding]:
    """Find what a table shows of a study that is to be run on it."""
    schema, there = study.schema, [*relation.columns]
    absent = [name for name in dict.fromkeys(schema.named) if name not in there]
    for name in absent:
        yield LintFinding(
            "column-absent",
            f"the table has no column {name!r}",
            "mend its name, or take it out of the study",
            _role_of(study, name),
            did_you_mean(name, there).removeprefix("; "),
        )
    others = [name for name in there if name not in {*schema.named, *schema.left_out}]
    yield from _without_role(study, others)
    if study.shift is not None:
        others = [name for name in others if name not in study.shift.names]
    columns = {
        name: _column(relation, name, form)
        for name in schema.columns
        if name in there and name not in schema.withheld
    }
    incomplete = [*_of_values(study, columns)]
    yield from incomplete
    if absent or any(each.rule == "missing-refused" for each in incomplete):
        return
    roles = replace(schema, identifiers=(), targets=())
    measured = MeasuredTable.stored(relation, roles, form, respell=False)
    known = (*schema.identifiers, *schema.targets_alone)
    for warning in check_measured(measured, roles, [], identifiers=known).warnings:
        if warning.code in OF_RUN:
            yield LintFinding.of_warning(
                warning, _role_of(study, warning.column), study.schema.named
            )


def _column(relation: Relation, name: str, form: Format | None) -> engine.Tally:
    """The values of a column, counted and clean."""
    return cleaned_in(relation.tally([name]), [name], form)


def _role_of(study: Study, name: str | None) -> KeyPath:
    """The key of a study that gives a column its role; ``[data]`` where it has none."""
    document = study.document
    if name in document.quasi_identifiers:
        return ("quasi-identifiers", str(name))
    for section in ("sensitive", "identifiers", "insensitive"):
        if name in getattr(document, section).attributes:
            return (section, "attributes")
    data = document.data
    keys = {"person": data.person, "household": data.household, "weight": (data.weight,)}
    for key, columns in keys.items():
        if name is not None and name in columns:
            return ("data", key)
    return ("objective",) if name in study.targets else ("data",)


def _without_role(study: Study, others: Sequence[str]) -> Iterator[LintFinding]:
    """Columns of the table that the study says nothing of."""
    if not others:
        return
    names = ", ".join(map(repr, others))  # of a file without a header line they are values
    if study.schema.insensitive is not None:
        yield LintFinding(
            "column-not-listed",
            "the table has columns that the study omits, and its columns are pinned",
            "list them in [identifiers], to leave them out, or in [insensitive]",
            ("data", "columns"),
            names,
        )
        return
    yield LintFinding(
        "column-without-role",
        "columns of the table have no role, and are released as they are",
        "list in [identifiers] what a release has to leave out",
        ("data",),
        names,
    )
    schema, models = study.schema, () if study.recoding.private else study.privacy
    for warning in policy_warnings(models, schema.quasi_identifiers, schema.sensitive, len(others)):
        if warning.code == "no-sensitive-attribute":
            yield LintFinding.of_warning(warning, ("privacy", 0), schema.named)


def _of_values(study: Study, columns: Mapping[str, engine.Tally]) -> Iterator[LintFinding]:
    """Missing values, values that hierarchies do not list, levels and separators without use."""
    for name, table in columns.items():
        missing = engine.missing_values(table, [name]).get(name, 0)
        if missing and study.schema.missing == "error":
            yield LintFinding(
                "missing-refused",
                f'column {name!r} misses values, and missing = "error" refuses them',
                'choose missing = "drop" or "gap", or clean the column',
                ("data", "missing"),
                plural(missing, "record"),
            )
        if name in study.hierarchies:
            yield from _of_hierarchy(study.hierarchies[name], name, table)
    for name, mark in study.schema.items:
        values = engine.distinct(columns[name][name])[1] if name in columns else [mark]
        if not any(mark in text_of(each) for each in values if not is_missing(each)):
            place: KeyPath = ("data", "items", name)
            message = f"items does nothing: no cell of {name!r} has this separator"
            yield LintFinding("key-idle", message, "leave it out, or mend it", place)


def _of_hierarchy(hierarchy: Hierarchy, name: str, table: engine.Tally) -> Iterator[LintFinding]:
    """Values that a hierarchy does not list, and levels that merge nothing."""
    codes, values = engine.distinct(table[name])
    place: KeyPath = ("quasi-identifiers", name)
    known = [is_missing(each) or hierarchy.covers(hierarchy.key(each)) for each in values]
    if strangers := known.count(False):
        records = engine.records_in(table, ~np.array([*known, True])[codes])
        yield LintFinding(
            "hierarchy-incomplete",
            f"column {name!r} has values that its hierarchy does not list",
            f"add them to {hierarchy.source}, or clean the column",
            place,
            f"{plural(strangers, 'value')}, in {plural(records, 'record')}",
        )
        return
    sizes = [len(level) for level in hierarchy.over(name, values).levels]
    # Level 1 of a table that has its values already may be level 0; a table of one value has one.
    idle = [n for n in range(2, len(sizes)) if sizes[n] == sizes[n - 1] and sizes[0] > 1]
    if idle:
        levels = ", ".join(map(str, idle))
        message = f"{name!r}: level {levels} of its hierarchy merges no group of the level below"
        yield LintFinding("level-idle", message, "leave such levels out, or choose others", place)


def drift(
    study: Study, manifest: Manifest, release: Path, relation: Relation, form: Format
) -> Iterator[LintFinding]:
    """Find what keeps a table from being released as the last one was, and what moved."""
    if manifest.spreadsheet is not None and manifest.spreadsheet.safe:
        roles = (*study.schema.columns, *study.schema.identifiers)
        relation = with_safe_names_in(relation, roles)
    gone, new = columns_apart(manifest, relation.columns)
    for name in gone:
        yield LintFinding(
            "drift-column-gone",
            f"the table has no column {name!r}, which the last release had",
            "put it back, or run the study anew",
            _role_of(study, name),
        )
    if new:
        yield LintFinding(
            "drift-column-new",
            "the table has columns that the last release had not",
            "leave them out with --drop of apply, or give them a role and run the study anew",
            ("data",),
            ", ".join(map(repr, new)),
        )
    plan, before = _plan(study, release), Subject.of_release(release)
    if before.path.name == COUNTS:
        yield LintFinding("not-examined", "drift: the last release is of counts, without a table")
        return
    if set(plan.schema.columns) - {*relation.columns}:
        return
    with Place(before.path, before.form).opened(()) as released:
        withheld = {*plan.schema.keys, plan.schema.weight}
        kept = [name for name in released.columns if name not in {*manifest.recoding, *withheld}]
        moved = [*_types(study, kept, released, relation)]
        yield from moved
        if not moved:
            yield from _recoded(study, plan, released, before.form, relation, form)


def _plan(study: Study, release: Path) -> Plan:
    """The plan of a release, with the hierarchies of the study where these are still the same."""
    with suppress(InputError):
        return Plan.from_manifest(release, study=study)
    return Plan.from_manifest(release)


def _types(
    study: Study, kept: Sequence[str], released: Relation, relation: Relation
) -> Iterator[LintFinding]:
    """Columns that are not recoded, and have numbers in one of both tables alone."""
    for name in (name for name in kept if name in relation.columns):
        shares = [_numeric(each.sample([name], SOME)[name]) for each in (released, relation)]
        if None not in shares and {*shares} == {True, False}:
            yield LintFinding(
                "drift-column-type",
                f"column {name!r} has numbers in one of the tables, and texts in the other",
                "deliver the column as it was, or run the study anew",
                _role_of(study, name),
            )


def _numeric(column: pd.Series) -> bool | None:
    """Whether all values are numbers, or hardly any; None where neither is so."""
    numbers = [number_of(rearmed_text(v)) is not None for v in column if not is_missing(v)]
    share = float(np.mean(numbers)) if numbers else 0.5
    return True if share == 1 else False if share < HARDLY else None


def _recoded(
    study: Study,
    plan: Plan,
    released: Relation,
    written: Format,
    relation: Relation,
    form: Format,
) -> Iterator[LintFinding]:
    """What the recoding of the last release makes of a table."""
    raw = CountedTable.of(relation, plan.schema.columns, plan.hierarchies, form)
    admitted = plan.admitted(raw.table)
    own, _ = plan_for(plan.source, admitted, "suppress")
    strange = own.strange(admitted)
    yield from _strangers(study, own, admitted)
    if strange.all():
        return
    rest = engine.records_of(admitted, ~strange)
    try:
        fitted = plan_for(plan.source, rest, "error")[0]
        recoded = fitted.carry_out(rest).released
        people, persons = fitted.people(recoded), fitted.schema.persons_of(rest)
        prove(recoded, fitted.published, fitted.models, people, persons)
    except PolicyBrokenError as error:
        yield LintFinding(
            "drift-classes",
            "under the recoding of the last release classes of this table break the policy",
            "run the study anew on this table",
            ("privacy", 0),
            str(error),
        )
        return
    # A record that fits several listed classes may have been in another one of them last time.
    known = () if plan.source.listed else plan.schema.quasi_identifiers
    for name in (*known, *plan.schema.sensitive):
        if name in released.columns:
            last = _shares(_column(released, name, written), name)
            distance = moved_by(last, _shares(recoded, name))
            if distance is not None:
                yield LintFinding(
                    "drift-shares",
                    f"the shares of the values of {name!r} moved since the last release",
                    "see whether the table is of the same people; run the study anew if it is",
                    _role_of(study, name),
                    f"{distance:.0%} of the records have another value",
                )


def _strangers(study: Study, own: AppliedPlan, admitted: engine.Table) -> Iterator[LintFinding]:
    """Values, or combinations of them, that a recoding does not cover."""
    remedy = 'run the study anew, or apply with --unseen "any" or "suppress"'
    alone = [name for name, mask in own.strangers.items() if mask.any()]
    for name in alone:
        mask = own.strangers[name]
        place = _role_of(study, name)
        if mask.all():
            message = f"no value of column {name!r} is one that the last release covers"
            mend = "deliver the column as it was, or run the study anew"
            yield LintFinding("drift-column-type", message, mend, place)
            continue
        message = f"column {name!r} has values that the last release does not cover"
        yield LintFinding("drift-values", message, remedy, place, plural(int(mask.sum()), "value"))
    if not alone and (strange := own.strange(admitted)).any():
        records = plural(engine.records_in(admitted, strange), "record")
        message = "records combine values as no class of the last release does"
        yield LintFinding("drift-values", message, remedy, ("quasi-identifiers",), records)


def _shares(table: engine.Table, name: str) -> dict[str | None, int]:
    """How many records have each value of a column, by its text."""
    codes, values = engine.distinct(table[name])
    sizes = engine.sized(table, codes, len(values))
    found: dict[str | None, int] = {}
    for value, size in zip(values, sizes, strict=True):
        text = None if is_missing(value) else plain_text(rearmed_text(value))
        found[text] = found.get(text, 0) + int(size)
    return found


def moved_by(last: Mapping[str | None, int], now: Mapping[str | None, int]) -> float | None:
    """Return the total variation distance of two counts of values; None where chance explains it.

    Of two samples of n and m records of one distribution p each share differs by at most
    sqrt(p (1 - p) (1 / n + 1 / m)) in the mean (Jensen), and the distance exceeds half their sum by
    s with a probability of at most exp(-2 s^2 / (1 / n + 1 / m)) (McDiarmid).

    >>> round(moved_by({"a": 500, "b": 500}, {"a": 800, "b": 200}), 9)
    0.3
    >>> moved_by({"a": 5, "b": 5}, {"a": 8, "b": 2})
    """
    texts = [*{**last, **now}]
    pairs = np.array([[each.get(text, 0) for text in texts] for each in (last, now)], float)
    records = pairs.sum(axis=1)
    if not records.all():
        return None
    shares: Floats = pairs / records[:, None]
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    both, spread = pairs.sum(axis=0) / records.sum(), float((1 / records).sum())
    chance = float(np.sqrt(both * (1 - both) * spread).sum() / 2) + sqrt(
        log(1 / RARELY) * spread / 2
    )
    return distance if distance >= max(MOVED, chance) else None
