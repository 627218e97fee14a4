"""Many sensitive values: time and memory against the distinct pairs of a cell and a value."""

from collections.abc import Callable, Iterator
from typing import Any

from measure import described, problem_of, table
from workloads import CUP_RECORDS, CUP_VALUES, cup_like

from anonymizer.objectives import Discernibility
from anonymizer.recoding import solve
from searching.machine import calibration
from searching.processes import MOST_MEMORY, Report, ask, peak
from searching.ways import compared, encoded, fit, seconds

__all__ = ["measure", "values"]

LIMIT = 60
"""Seconds for a process."""
RECORDS = (30_000, 1_000_000)
VALUES = (10, 100, 1_000, 10_000)
LEAST = 2.0
"""The l of the tables of few values and of many: ten values as skewed as these have no l of 5."""

Ask = Callable[[str], Report]


def measure(what: str, records: str, number: str, l: str) -> Iterator[dict[str, Any]]:  # noqa: E741
    """A fit, or the search in one way, with the memory that it takes beyond the table's."""
    workload = cup_like(int(records), int(number), float(l))
    before = peak()
    if what == "fit":
        taken, _ = seconds(lambda: fit(workload, "discernibility"))
        yield {"fit": taken, "peak": peak(), "added": peak() - before}
        return
    counted, problem = seconds(lambda: problem_of(workload, Discernibility()))
    chosen = compared()[what](problem)
    encoding, _ = seconds(lambda: encoded(chosen))
    taken, found = seconds(lambda: solve(chosen))
    checked, _, _, value = described(problem, found)
    figures = {"count": counted, "encode": encoding, "search": taken, "peak": peak()}
    yield {**figures, "checked": checked, "value": value}


def values() -> Iterator[str]:
    """Thousands of sensitive values."""
    old, new = compared()
    yield "Tables drawn by `workloads.cup_like`: seven quasi-identifiers, 9,000 nodes, W skewed and"
    yield "tied to two of them; entropy l-diversity, 4 % suppression, discernibility. *Pairs*: the"
    yield "distinct pairs of a cell (a combination of raw quasi-identifiers) and a value of W."
    yield f"Old: {old}; new: {new}. Each fit and each search is a fresh process with kernels"
    yield f"loaded, {LIMIT} s and {MOST_MEMORY // 2**30} GiB; one run. Where it ends, more values"
    yield "are not tried (-). *Count*: from the DataFrame to counts, encoded (new). Peaks are of"
    yield "the whole process, table included; *added*: what the fit takes beyond the peak before."
    yield ""
    yield from calibration()
    yield ""
    header = ["records", "values", "l", "cells", "pairs", "count, s", f"search, old: {old}, s"]
    header += [f"search, new: {new}, s", "old/new", "checked", "fit, s", "fit, us per pair"]
    header += ["peak GiB: old", "new", "fit", "added, bytes per pair"]
    rows = [_row(CUP_RECORDS, CUP_VALUES, 5, set())]
    for records in RECORDS:
        ended: set[str] = set()
        rows += [_row(records, number, LEAST, ended) for number in VALUES]
    yield from table(header, rows)


def _row(records: int, number: int, l: float, ended: set[str]) -> list[object]:  # noqa: E741
    """Measure one table; what ends early joins those that are not tried again."""
    drawn = cup_like(records, number, l)
    cells = len(drawn.table.drop_duplicates(list(drawn.names)))
    pairs = len(drawn.table.drop_duplicates())

    def report(what: str) -> Report:
        if what in ended:
            return Report([], "-")
        found = ask("values", what, records, number, l, seconds=LIMIT)
        if found.ended:
            ended.add(what)
        return found

    old, new = (report(name) for name in compared())
    fitted = report("fit")
    first, second = old.line.get("search"), new.line.get("search")
    line, last = new.line, fitted.line
    return [
        *(f"{records:,}", f"{number:,}", f"{l:g}", f"{cells:,}", f"{pairs:,}"),
        f"{line['count'] + line['encode']:.2f}" if line else "",
        _shown(old, "search"),
        _shown(new, "search"),
        f"{first / second:.1f}" if first and second else "",
        line.get("checked", ""),
        _shown(fitted, "fit"),
        f"{1e6 * last['fit'] / pairs:.1f}" if last else "",
        *(f"{each.line['peak'] / 2**30:.2f}" if each.line else "" for each in (old, new, fitted)),
        f"{last['added'] / pairs:,.0f}" if last else "",
    ]


def _shown(report: Report, figure: str) -> str:
    return f"{report.line[figure]:.2f}" if report.line else report.ended
