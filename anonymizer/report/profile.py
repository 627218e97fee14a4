"""Tables of what a raw table is, of the study that is proposed for it, and of what is doubtful."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from shlex import quote

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.profiling import TableProfile
from anonymizer.profiling.safe_harbor import SafeHarbor
from anonymizer.release.study import Draft
from anonymizer.risk.lint import Lint

RULE = "45 CFR 164.514(b)(2)(i)"

SHOWN = 100
"""How many columns are printed."""

ALIKE = 5
"""Columns in a row of one role and reason, from which on they share a line."""

FIGURES = ("kind", "values", "missing", "commonest", "distinction")
"""What is printed of each column where details are requested."""


def profile_report(found: TableProfile, *, details: bool = False) -> Iterator[Block]:
    """Yield the columns of a table, the roles that are proposed, and why.

    ``details``: with the figures of each column.
    """
    title = f"{plural(found.records, 'record')}, {plural(len(found.columns), 'column')}"
    names = ["column", *FIGURES * details, "role", "why"]
    rows = _figures(found) if details else _in_short(found)
    yield Table(title, names, rows[:SHOWN], "s s , , .1% .4f s" if details else "s")
    if len(rows) > SHOWN:
        yield f"... {len(rows) - SHOWN:,} more; --json has all"
    if not details:
        yield "--details has the figures of each column."
    yield (
        f"The proposed quasi-identifiers have {found.combinations:,} combinations of values; "
        f"{found.share_alone:.1%} of the records are alone with theirs."
    )
    if found.compared < found.records:
        yield (
            f"Which columns determine others was found on {found.compared:,} records, evenly "
            "spread."
        )


def _in_short(found: TableProfile) -> list[list[object]]:
    """A row for each column, or for several in a row of one role and reason."""
    rows: list[list[object]] = []
    for (role, why), group in groupby(found.columns, key=lambda each: (each.role, each.why)):
        names = [column.name for column in group]
        if len(names) >= ALIKE:
            names = [f"{names[0]} to {names[-1]} ({len(names):,})"]
        rows += [[name, role, why] for name in names]
    return rows


def _figures(found: TableProfile) -> list[list[object]]:
    return [
        [
            column.name,
            column.kind,
            column.values,
            column.missing,
            column.most_common,
            column.distinction,
            column.role,
            column.why,
        ]
        for column in found.columns
    ]


def draft_report(draft: Draft, study: Path, *, headless: bool = False) -> Iterator[Block]:
    """Yield what was proposed, where it lies, and what to do next.

    ``headless``: the file has no header line, and nobody named its columns.
    """
    found = draft.profile
    sensitive = found.of_role("sensitive")
    if headless:
        yield (
            "WARNING: the file has no header line, so that no name says what a column is; name all "
            "of them, in their order, with --columns."
        )
    yield f"Policy: {'; '.join(_model(each.keys) for each in draft.models)}."
    if found.person:
        yield (
            f"Person: {' and '.join(map(repr, found.person))}. There are {found.units:,} persons, "
            f"with up to {plural(found.most_records, 'record')} each, and the policy is about "
            "them. --person names another column; - is none."
        )
    if found.weight is not None:
        yield (
            f"Weight: {found.weight!r} seems to say for how many people each record stands. The "
            'release leaves it out, and the policy uses it where a model has population = "weights"'
            ". If it is no such weight, give it another role, such as with --identifiers."
        )
    for column in found.columns:
        if said := draft.remark(column.name):
            yield f"{column.name!r}: {said}"
    if beyond := [column.name for column in found.columns if column.why.beyond]:
        yield (
            f"WARNING: {', '.join(map(repr, beyond))} {'is' if len(beyond) == 1 else 'are'} "
            "released as in the table, beyond --max-quasi-identifiers; leave out with "
            "--identifiers what others may know of somebody."
        )
    if not sensitive:
        yield (
            "WARNING: no attribute is sensitive, so that the policy says nothing on what a class "
            "tells of the people in it; name one with --sensitive, if there is one."
        )
    for name in sensitive:
        if found[name].why.guess:
            yield (
                f"WARNING: {name!r} is taken for sensitive, which is a guess; name another one "
                "with --sensitive."
            )
    yield f"The study is in {study}; its comments say why. Next:"
    release = study.parent / "release"
    yield f"  anonymizer run {_quoted(study)} --output {_quoted(release)}"
    yield f"  anonymizer advise {_quoted(study)}  (what the policy protects and costs)"


def _model(keys: dict[str, object]) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in keys.items() if name != "model")
    return f"{keys['model']} with {given}"


def _quoted(path: Path) -> str:
    return quote(str(path))


def safe_harbor_report(found: SafeHarbor) -> Iterator[Block]:
    """Yield what was found, what could not be examined, and what Safe Harbor wants besides."""
    size = f"{plural(found.records, 'record')}, {plural(found.columns, 'column')}"
    if found.findings:
        columns = len({each.column for each in found.findings})
        rows = [
            [each.letter, each.identifier, each.column, _why(each.count, each.of, each.why)]
            for each in found.findings
        ]
        yield Table(f"{RULE}: {size}", ["", "identifier", "column", "found by"], rows)
        yield f"{plural(columns, 'column')} must change before this is Safe Harbor:"
        remedies = dict.fromkeys((each.letter, each.remedy) for each in found.findings)
        yield from (f"  ({letter}) {remedy}" for letter, remedy in remedies)
    else:
        yield f"{RULE}: {size}: none of the 18 identifiers was found."
    if found.unexamined:
        yield "Not examined:"
        yield from (f"  {name}: {why}" for name, why in found.unexamined)
    yield (
        "Whoever releases must also have no knowledge that what is left could identify somebody "
        "(164.514(b)(2)(ii)); no program can say that."
    )


def _why(count: int | None, of: int, why: str) -> str:
    return why if count is None else f"{why} ({count:,} of {plural(of, 'value')})"


def lint_report(found: Lint) -> Iterator[Block]:
    """Yield each finding with its line and rule, then how many there are of each level."""
    for each in found.findings:
        yield f"{found.path}:{each.line}: {each.level} {each.rule}: {each.text}"
        if each.figures:
            yield f"    {each.figures}"
    levels = Counter(each.level for each in found.findings)
    said = [plural(levels[level], level) for level in ("error", "warning", "note") if levels[level]]
    yield f"{found.path}: {', '.join(said) or 'nothing was found'}"
