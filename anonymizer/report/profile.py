"""Tables of what a raw table is, and of the study that is proposed for it."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from shlex import quote
from textwrap import shorten

from anonymizer.errors import printable
from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.profiling import TableProfile
from anonymizer.release.study import Draft

SHOWN = 100
"""How many columns are printed."""

ALIKE = 5
"""Columns in a row of one role and reason, from which on they share a line."""

NAMED = 24
"""Characters of a column's name in its line; longer ones move the rest of their line alone."""


def profile_report(
    found: TableProfile, *, details: bool = False, width: int = 200
) -> Iterator[Block]:
    """Yield a line for each column: its name, the role that is proposed, and why.

    ``details``: a table with their figures instead. ``width``: of a line, at the end of which a
    reason is cut between words.
    """
    title = f"{plural(found.records, 'record')}, {plural(len(found.columns), 'column')}"
    if details:
        yield from _figures(found, title)
    else:
        yield title
        yield from _lines(found, width)
    yield (
        f"The proposed quasi-identifiers have {found.combinations:,} combinations of values; "
        f"{found.share_alone:.1%} of the records are alone with theirs."
    )
    if found.compared < found.records:
        yield (
            f"Which columns determine others was found on {found.compared:,} records, evenly "
            "spread."
        )


def _lines(found: TableProfile, width: int) -> Iterator[str]:
    """Yield a line for each column, or for several in a row of one role and reason."""
    lines = []
    for (role, why), group in groupby(found.columns, key=lambda each: (each.role, each.why)):
        columns = [printable(column.name) for column in group]
        if len(columns) >= ALIKE:
            columns = [f"{columns[0]} to {columns[-1]} ({len(columns):,})"]
        lines += [(name, role, why) for name in columns]
    longest = min(max((len(name) for name, *_ in lines), default=0), NAMED)
    for name, role, why in lines[:SHOWN]:
        begin = f"{name:{longest}}  {role:16}  "
        room = max(width - len(begin), len("..."))
        yield begin + (shorten(why, room, placeholder=" ...") if len(why) > room else why)
    if len(lines) > SHOWN:
        yield f"... {len(lines) - SHOWN:,} more; --json has all"


def _figures(found: TableProfile, title: str) -> Iterator[Block]:
    rows = [
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
        for column in found.columns[:SHOWN]
    ]
    names = ["column", "kind", "values", "missing", "commonest", "distinction", "role", "why"]
    yield Table(title, names, rows, "s s , , .1% .4f s")
    if len(found.columns) > SHOWN:
        yield f"... {len(found.columns) - SHOWN:,} more; --json has all"


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
