"""What a table satisfies, and where it is weak; what of a manifest is true."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from anonymizer.privacy import Verdict
from anonymizer.release.verification import Verification
from anonymizer.release.verification.fields import NEEDED
from anonymizer.release.warnings.warnings import ReleaseWarning
from anonymizer.report.console import console, table_of
from anonymizer.tables.values import counted

if TYPE_CHECKING:  # a release prints verdicts without anything of risk
    from anonymizer.risk.check import Check


DIGEST = 15
"""Characters of a digest that are shown."""


def print_check(check: "Check") -> None:
    """Print what a table satisfies as it stands, and how it does under a policy."""
    out = console()
    print_warnings(out, check.warnings)
    out.print(
        f"{check.records:,} records in {check.classes:,} equivalence classes, the smallest of "
        f"{check.k:,}: k = {check.k}."
    )
    for name, found in check.sensitive.items():
        title = f"The strictest that holds about {name}"
        out.print(table_of(title, ["parameter", "value"], found.items(), "s .6g"))
    out.print(table_of("Risk of re-identification", ["", ""], check.risk.items(), "s .6g"))
    out.print(verdict_table(check.privacy))


def print_warnings(out: Console, warnings: Iterable[ReleaseWarning]) -> None:
    """Print what is the matter and how to mend it, each warning with its code."""
    for warning in warnings:
        out.print(f"WARNING ({warning.code}): {warning.message}.")


def verdict_table(
    verdicts: Iterable[Verdict], title: str = "Policy, recounted on the table"
) -> Table:
    """Each model with its threshold and the class that comes off worst."""
    columns = ["model", "about", "threshold", "worst class", "classes that fail", "holds"]
    return table_of(title, columns, map(_verdict, verdicts), "s s s .6g s")


def _verdict(verdict: Verdict) -> list[object]:
    model = verdict.model
    parameters = [f"{name} = {_shown(value)}" for name, value in model.parameters.items()]
    failing = f"{verdict.violating} of {verdict.classes}" if model.per_class else "the whole table"
    return [
        f"{model.name} ({', '.join(parameters)})",
        verdict.attribute or "class sizes",
        model.range,
        verdict.worst,
        failing,
        "yes" if verdict.satisfied else "NO",
    ]


def _shown(value: object) -> str:
    """A parameter in few words: what is long is in the study."""
    if isinstance(value, Mapping):
        return str(value.get("name", "given"))
    if isinstance(value, list):
        return f"{len(value)} values"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text[:DIGEST] + "..." if text.startswith("sha256:") else text


SAID = {
    "recomputed": "recomputed from the table",
    "consistent": "held against other fields of the manifest",
    "study": "held against the study",
    "key": "held against the key",
    "original": "held against the original table",
}


def print_verification(found: Verification) -> None:
    """Print what differs, one line each, what was checked, what cannot be, and the verdicts."""
    out = console()
    for line in _lines(found):
        out.print(line)
    if found.verdicts:
        out.print(verdict_table(found.verdicts))


def _lines(found: Verification) -> Iterable[str]:
    if not found.checks:
        yield "No manifest is about this table: it was recounted under the policy of the study."
        return
    different = counted(len(found.differences), "difference")
    yield f"{different}:" if found.differences else "The release is what its manifest says."
    yield from (f"  {check}" for check in found.differences)
    if found.signer:
        yield f"Its manifest is signed by the key {found.signer}."
    done = [check.how for check in found.checks if check.agrees is not None]
    ways = (f"{done.count(how)} {said}" for how, said in SAID.items() if how in done)
    yield f"Checked: {', '.join(ways)}."
    fields: dict[str, dict[str, None]] = {}
    for check in found.unchecked:
        needed = NEEDED.get(check.reason, check.reason)
        fields.setdefault(needed, {})[_plain(check.field)] = None
    yield from (f"Not checked: {', '.join(names)}: {reason}." for reason, names in fields.items())
    if found.verdicts and not found.by_study:
        yield (
            "The policy below is the one that the manifest names: compare it with the one that you "
            "expect, or give the study."
        )


def _plain(field: str) -> str:
    """A kind of fields in few words: ``recoding.values`` for ``recoding.*.*.values.*``."""
    return ".".join(part for part in field.split(".") if "*" not in part)
