"""What of HIPAA's eighteen identifiers a table has, for people to read."""

from collections.abc import Iterator

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.profiling.safe_harbor import SafeHarbor

RULE = "45 CFR 164.514(b)(2)(i)"


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
