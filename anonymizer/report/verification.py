"""What of a manifest is true."""

from collections.abc import Iterable

from anonymizer.release.verification import Verification
from anonymizer.report.console import console
from anonymizer.report.verdicts import verdict_table
from anonymizer.tables.values import counted

SAID = {
    "recomputed": "recomputed from the table",
    "consistent": "held against other fields of the manifest",
    "study": "held against the study",
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
    done = [check.how for check in found.checks if check.agrees is not None]
    ways = (f"{done.count(how)} {said}" for how, said in SAID.items() if how in done)
    yield f"Checked: {', '.join(ways)}."
    fields: dict[str, list[str]] = {}
    for check in found.unchecked:
        fields.setdefault(check.reason, []).append(check.field)
    yield from (f"Not checked: {', '.join(names)}: {reason}." for reason, names in fields.items())
