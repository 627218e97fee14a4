"""From a raw table to a study that runs."""

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import warn
from anonymizer.errors import InputError
from anonymizer.feedback.document import Block
from anonymizer.feedback.progress import progress
from anonymizer.feedback.words import names_listed, plural
from anonymizer.hierarchy.codes import people_by_zip3
from anonymizer.profiling.policy import POLICY_PRESETS, PolicyPreset
from anonymizer.profiling.safe_harbor import SafeHarborPreset
from anonymizer.release.drafting import DraftOptions
from anonymizer.release.manifest.standing import same_file
from anonymizer.release.person_warnings import profile_warnings
from anonymizer.release.place import (
    STUDY_FILE,
    directory_for,
    read_raw,
    relative,
    require_room,
    written,
)
from anonymizer.release.study import Draft, draft
from anonymizer.report.printing import print_json, print_report, printing
from anonymizer.report.profile import draft_report, profile_report

NONE = "-"
"""What is answered for no column at all."""

Drafting = Callable[[DraftOptions], Draft]


def init(
    table: Path,
    output: Path | None,
    force: bool,
    yes: bool,
    columns: tuple[str, ...] | None,
    as_json: bool,
    details: bool,
    k: int | None,
    sensitive: tuple[str, ...] | None,
    quasi_identifiers: tuple[str, ...] | None,
    identifiers: tuple[str, ...] | None,
    person: tuple[str, ...] | None,
    insensitive: tuple[str, ...] | None,
    max_quasi_identifiers: int | None,
    preset: tuple[str, ...],
    census: Path | None,
    database_table: str | None,
    **form: Any,
) -> None:
    """Carry out ``init``."""
    directory = output or directory_for(table)
    if directory.suffix == ".toml":
        raise InputError(
            f"{directory} would be a directory, in which {STUDY_FILE} is written; name one without "
            f".toml, such as {directory.with_suffix('')}"
        )
    safe_harbor, policy = _presets(preset, k)
    if census is not None and not safe_harbor:
        raise click.UsageError("--census is for --preset safe-harbor")
    if census is not None:
        people_by_zip3(census)  # before a long table is read
    require_room(directory, force=force)
    if same_file(table, directory / STUDY_FILE):
        raise InputError(f"{table} is the table itself; choose another directory")
    with ExitStack() as opened:
        with progress() as watch:
            watch(f"reading {table.name}", 0, None)
            given = read_raw(table, database_table, columns, form)
            raw, read = opened.enter_context(given)
            named = {} if database_table is None else {"table": database_table}
            data = {"path": relative(table, directory), **named, **written(read)}
            watch("profiling the columns", 0, None)
            told = () if person == (NONE,) else person
            roles = (quasi_identifiers, sensitive, identifiers, told, insensitive)
            known = None if census is None else relative(census, directory)
            wanted = SafeHarborPreset(known) if safe_harbor else None
            wishes = DraftOptions(k, *roles, max_quasi_identifiers, wanted, policy, directory)
            found = draft(raw, wishes, data)
        asked = interactive() and not yes and not as_json
        if asked:
            print_report(profile_report(found.profile, details=details))
            found = _asked(found, wishes, lambda wish: draft(raw, wish, data))
            click.confirm(f"Write the study to {directory}?", default=True, abort=True)
    study = found.write(directory, force=force)
    shown = profile_report(found.profile, details=details)
    headless = columns is None and read.columns is not None
    _report(found, study, as_json, () if asked else shown, headless)


def _presets(names: Sequence[str], k: int | None) -> tuple[bool, PolicyPreset | None]:
    """Whether Safe Harbor is wanted, and the policy of the others; refused: several, or k, too."""
    policies = [name for name in dict.fromkeys(names) if name in POLICY_PRESETS]
    if len(policies) > 1:
        raise click.UsageError(f"--preset {' and '.join(policies)} are two policies; leave one")
    if policies and k is not None:
        raise click.UsageError(
            f"--preset {policies[0]} says how many a class has at least; leave --k out, and raise "
            "it in the study"
        )
    return SafeHarborPreset.key in names, POLICY_PRESETS[policies[0]] if policies else None


def _report(
    found: Draft, study: Path, as_json: bool, columns: Iterable[Block], headless: bool
) -> None:
    """Print what was found once it is written; who was asked has seen the columns before."""
    warn([*profile_warnings(found.profile, found.profile.person)])
    with printing(f"the study is in {study.parent}"):
        if as_json:
            print_json(found.profile.to_dict())
            return
        print_report([*columns, *draft_report(found, study, headless=headless)])


def interactive() -> bool:
    """Whether somebody sits at a terminal who can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _asked(found: Draft, wishes: DraftOptions, draft: Drafting) -> Draft:
    """The draft with what is answered; what is not, stays as it is proposed."""
    click.echo(f"For each proposal: Enter takes it; names are separated by commas, {NONE} is none.")
    questions = {
        "sensitive": "Sensitive: what nobody shall learn of anybody",
        "quasi_identifiers": "Quasi-identifiers: what others may know of somebody",
    }
    if found.profile.repeated or found.profile.person:
        questions["person"] = "Person: what tells whose each record is, where people have several"
    roles = {"sensitive": "sensitive", "quasi_identifiers": "quasi-identifier", "person": "person"}
    for name, question in questions.items():
        proposed = found.profile.of_role(roles[name])  # type: ignore[arg-type]
        found, wishes = _answered(
            question,
            NONE if not proposed else ", ".join(proposed),
            partial(_with_names, wishes, name),
            (found, wishes),
            draft,
        )
    unit = "person" if found.profile.person else "record"
    return _answered(
        f"k: {unit}s of a class at least; {plural(found.profile.units, unit)} suggest",
        str(found.k),
        lambda answer: replace(wishes, k=_whole(answer)),
        (found, wishes),
        draft,
    )[0]


def _answered(
    question: str,
    proposed: str,
    wish: Callable[[str], DraftOptions],
    known: tuple[Draft, DraftOptions],
    draft: Drafting,
) -> tuple[Draft, DraftOptions]:
    """Ask until the answer can be used; the proposal itself changes nothing."""
    while True:
        answer = click.prompt(question, default=proposed)
        if answer == proposed:
            return known
        try:
            wishes = wish(answer)
            return draft(wishes), wishes
        except InputError as error:
            click.echo(f"{error}")


def _with_names(wishes: DraftOptions, name: str, answer: str) -> DraftOptions:
    chosen = () if answer.strip() == NONE else tuple(names_listed(answer))
    if name == "quasi_identifiers" and not chosen:
        raise InputError("a study needs at least one quasi-identifier; name one")
    if name == "quasi_identifiers":
        wishes = replace(wishes, max_quasi_identifiers=None)  # who names them says how many
    return replace(wishes, **{name: chosen})  # type: ignore[arg-type]


def _whole(answer: str) -> int:
    if not answer.strip().isdecimal() or int(answer) < 2:
        raise InputError(f"k = {answer!r:.50} must be a whole number of at least 2")
    return int(answer)
