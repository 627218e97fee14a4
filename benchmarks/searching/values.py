"""Many sensitive values: time and memory against the distinct pairs of a cell and a value."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from measure import described, problem_of, table
from workloads import CUP_RECORDS, CUP_VALUES, Workload, cup_like, many_values

from anonymizer.objectives import Discernibility
from anonymizer.recoding import solve
from searching.machine import bandwidth, calibration
from searching.processes import MOST_MEMORY, Report, ask, forget_peak, peak
from searching.ways import compared, encoded, fit, seconds

__all__ = ["measure", "values"]

LIMIT = 30
"""Seconds for a process."""
RECORDS = (30_000, 1_000_000)
VALUES = (10, 100, 1_000, 10_000)
TABLES: Mapping[str, Callable[[int, int], Workload]] = {
    "cup": cup_like,
    "adult": lambda records, values: many_values(records, values, 2),
}


def measure(what: str, name: str, records: str, number: str) -> Iterator[dict[str, Any]]:
    """A fit, or the search in one way, with the memory that it takes beyond the table's."""
    workload = TABLES[name](int(records), int(number))
    if what == "fit":
        earlier = peak()
        forget_peak()
        held = peak()
        taken, _ = seconds(lambda: fit(workload, "discernibility"))
        yield {"fit": taken, "peak": max(peak(), earlier), "added": peak() - held}
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
    yield "*cup*: drawn by `workloads.cup_like`, seven quasi-identifiers, 9,000 nodes, W skewed and"
    yield "tied to two of them, entropy l = 5. *adult*: `workloads.many_values`, drawn from Adult,"
    yield "eight quasi-identifiers, 4,320 nodes, W skewed and tied to age, entropy l = 2. Both: 4 %"
    yield "suppression, discernibility. *Pairs*: the distinct pairs of a cell (a combination of raw"
    yield "quasi-identifiers) and a value of W."
    yield f"Old: {old}; new: {new}. Each fit and each search is a fresh process with kernels"
    yield f"loaded, {LIMIT} s and {MOST_MEMORY // 2**30} GiB; one run. Where it ends, more values"
    yield "are not tried (-). *Count*: from the DataFrame to counts, encoded (new). Peaks are of"
    yield "the whole process, table included; *added*: what the fit takes beyond what was held."
    yield ""
    yield from calibration(bandwidth())
    yield ""
    header = ["table", "records", "values", "cells", "pairs", "count, s", f"search, old: {old}, s"]
    header += [f"search, new: {new}, s", "old/new", "checked", "fit, s", "fit, us per pair"]
    header += ["peak GiB: old", "new", "fit", "added, bytes per pair"]
    rows = [_row("cup", CUP_RECORDS, CUP_VALUES, set())]
    for records in RECORDS:
        ended: set[str] = set()
        rows += [_row("adult", records, number, ended) for number in VALUES]
    yield from table(header, rows)


def _row(name: str, records: int, number: int, ended: set[str]) -> list[object]:
    """Measure one table; what ends early joins those that are not tried again."""
    drawn = TABLES[name](records, number)
    cells = len(drawn.table.drop_duplicates(list(drawn.names)))
    pairs = len(drawn.table.drop_duplicates())

    def report(what: str) -> Report:
        if what in ended:
            return Report([], "-")
        found = ask("values", what, name, records, number, seconds=LIMIT)
        if found.ended:
            ended.add(what)
        return found

    old, new = map(report, compared())
    fitted = report("fit")
    first, second = old.line.get("search"), new.line.get("search")
    line, last = new.line, fitted.line
    return [
        *(name, f"{records:,}", f"{number:,}", f"{cells:,}", f"{pairs:,}"),
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
