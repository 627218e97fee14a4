"""Table 7 of Bkakria et al. (2021): which metrics assess which risk, by the paper's own tests.

A metric assesses the risk of re-identification when it orders the ages of Table 3 as section 3.3
expects and rises with epsilon (Figures 1 and 2); that of inference when it orders the diseases as
expected and rises with lambda (Figure 3) and with theta (Figure 4 and its example). Brackets say
that its largest value depends on the table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from anonymizer.papers.bkakria2021 import schemes
from anonymizer.papers.bkakria2021.cases import profile
from anonymizer.papers.bkakria2021.schemes import along, metric_of, readings_of
from anonymizer.papers.row import AS_PUBLISHED, PublishedSection, Reading, Row, read, trend
from anonymizer.risk import Reidentification

FAILS, BRACKETED, HOLDS = "X", "(✓)", "✓"
PRINTED = {
    "DR": ("X", "(✓)"),
    "MI": ("X", "(✓)"),
    "CP": ("X", "(✓)"),
    "MIL": ("(✓)", "X"),
    "ELD": ("(✓)", "X"),
    "ITPR": ("✓", "✓"),
}
"""Re-identification, inference."""
EDGE = 1e-9
"""Metrics that differ by less are equal."""

Test = Callable[[str], list[str]]
"""From a metric to the places where it fails."""


def marks() -> PublishedSection:
    """Every mark derived, and compared with the printed one."""
    rows = [
        _mark(metric, risk, printed)
        for metric, both in PRINTED.items()
        for risk, printed in zip(TESTS, both, strict=True)
    ]
    rows.append(_only(rows))
    return PublishedSection(
        "Table 7: what each metric assesses",
        rows,
        "✓ where all tests hold, (✓) where they do and its largest value depends on the table, X "
        "where one fails. Figures 2 to 5 are of assumed tables; Table 3, Figure 1 and the example "
        "are the paper's.",
        "Table 7",
        "anonymizer.risk.Profile.measures",
    )


def _only(rows: Sequence[Row]) -> Row:
    """Find the metrics that assess both risks, by the marks derived."""
    pairs = zip(rows[::2], rows[1::2], strict=True)
    both = [
        name
        for name, marked in zip(PRINTED, pairs, strict=True)
        if all(row.computed != FAILS for row in marked)
    ]
    return Row.claim(
        "metrics that assess both risks",
        both == ["ITPR"],
        ", ".join(both) or "none",
        "ITPR only",
        "also in the abstract and in section 2",
        why="ITPR fails the paper's own test of theta, above, and no other passes all",
        place="Section 6, Table 7",
    )


def _mark(short: str, risk: str, printed: str) -> Row:
    metrics = readings_of(short)
    readings = [_reading(name, metric, risk, printed) for name, metric in metrics.items()]
    agreeing = next((reading.name for reading in readings if reading.agreement), readings[0].name)
    bounded = "is always 1" if _bounded(metrics[agreeing]) else "varies"
    why = "; ".join(_failed(metrics[agreeing], risk))
    why = why or f"all tests hold, its largest value {bounded}"
    return replace(read(f"{short}, {risk}", printed, readings, why), remark=why)


def _reading(name: str, metric: str, risk: str, printed: str) -> Reading:
    mark = HOLDS if _bounded(metric) else BRACKETED
    mark = FAILS if _failed(metric, risk) else mark
    return Reading(name, mark, AS_PUBLISHED if mark == printed else "")


@cache
def _failed(metric: str, risk: str) -> list[str]:
    """List the expectations of the paper that a metric does not meet."""
    return [
        what + (f" in {', '.join(where)}" if where[0] else "")
        for what, test in TESTS[risk].items()
        if (where := test(metric))
    ]


def _ages_in_order(metric: str) -> list[str]:
    """Age 1 = Age 3 > Age 4 > Age 5 > Age 2."""
    first, second, third, fourth, fifth = (
        metric_of(metric, profile(f"Age {n}")) for n in range(1, 6)
    )
    holds = abs(first - third) < EDGE and third - EDGE > fourth > fifth > second
    return [] if holds else [""]


def _diseases_in_order(metric: str) -> list[str]:
    first, second, third = (metric_of(metric, profile(f"Age 5, Disease {n}")) for n in (1, 2, 3))
    return [] if third - EDGE > second and second - EDGE > first else [""]


@cache
def _tables() -> Mapping[str, Mapping[str, Mapping[str, list[float]]]]:
    """Every metric along the tables where it has to rise, by what rises there, and their names."""
    figures = (schemes.FIGURE_1, schemes.FIGURE_2A, schemes.FIGURE_2B)
    sizes = {each.name: each.profiles(each.points) for each in figures}
    excess = {schemes.FIGURE_3.name: schemes.FIGURE_3.profiles(schemes.FIGURE_3.points)}
    groups = (schemes.FIGURE_4A, schemes.FIGURE_4B)
    varied = {each.name: each.profiles(range(10, 129, 2)) for each in groups}
    varied["the example"] = [schemes.example(ill) for ill in (1, 5, 12, 50)]
    found = {"ε": sizes, "λ": excess, "θ": varied}
    return {
        over: {name: along(profiles) for name, profiles in tables.items()}
        for over, tables in found.items()
    }


def _rises(over: str) -> Test:
    return lambda metric: [
        name for name, found in _tables()[over].items() if trend(found[metric]) != "rises"
    ]


def _bounded(metric: str) -> bool:
    disclosed = (Reidentification.of([1] * records) for records in (8, 10_000))
    return all(abs(metric_of(metric, profile) - 1) < EDGE for profile in disclosed)


TESTS: dict[str, dict[str, Test]] = {
    "re-identification": {
        "does not order the ages": _ages_in_order,
        "does not rise with ε": _rises("ε"),
    },
    "inference": {
        "does not order the diseases": _diseases_in_order,
        "does not rise with λ": _rises("λ"),
        "does not rise with θ": _rises("θ"),
    },
}
"""The tests of each risk, under what is said of a metric that fails; each says where it does."""
