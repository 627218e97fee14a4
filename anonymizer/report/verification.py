"""What came of the verification of a release: what differs, what was checked, what cannot be."""

from collections.abc import Iterable

from anonymizer.release.verification import CONSISTENT, RECOMPUTED, STUDY, Check, Verification
from anonymizer.report.console import console
from anonymizer.report.verdicts import verdict_table
from anonymizer.tables.values import counted

__all__ = ["print_verification"]

SAID = {
    RECOMPUTED: "recomputed from the table",
    CONSISTENT: "held against other fields of the manifest",
    STUDY: "held against the study",
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
    yield f"Checked: {_checked(found.checks)}."
    yield from (f"Not checked: {fields}: {reason}." for reason, fields in _reasons(found).items())


def _checked(checks: Iterable[Check]) -> str:
    """How many fields were checked in each way."""
    done = [check.how for check in checks if check.agrees is not None]
    return ", ".join(f"{done.count(how)} {said}" for how, said in SAID.items() if how in done)


def _reasons(found: Verification) -> dict[str, str]:
    """The fields that cannot be checked, by the reason."""
    fields: dict[str, list[str]] = {}
    for check in found.unchecked:
        fields.setdefault(check.reason, []).append(check.field)
    return {reason: ", ".join(names) for reason, names in fields.items()}
