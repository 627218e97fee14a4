"""Which attributes give people away, as tables of text."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from anonymizer.report.console import console, table_of
from anonymizer.risk import (
    DISTINCT,
    METRICS,
    Chain,
    Detected,
    Measures,
    Ranked,
    Ranking,
    Undeclared,
)

__all__ = ["print_detected", "print_ranking", "print_undeclared"]

SHOWN = 20
"""How many rows of a table are printed."""

USUAL = {"mutual_information": "MI (bits)", "discrimination_rate": "DR", "itpr": "ITPR"}
"""Measures that every table of subsets shows."""

CAUTION = "ITPR may fall when an attribute joins others."


def print_ranking(ranking: Ranking, metric: str = METRICS[0], shown: int = SHOWN) -> None:
    """Print the riskiest subsets about each attribute at risk, and what each adds to the others."""
    out = console()
    size = _counted(ranking.size, "quasi-identifier")
    out.print(
        f"{len(ranking.subsets):,} subsets of up to {size} of "
        f"{_counted(ranking.records, 'record')}, by {_named(metric)}. {CAUTION}",
        soft_wrap=True,
    )
    for about in (None, *ranking.sensitive):
        subsets = ranking.by(metric, about)
        out.print(_subsets(subsets[:shown], metric, about))
        _print_more(len(subsets) - shown)
        chain = ranking.reidentification if about is None else ranking.inference.get(about)
        if chain:
            out.print(_chain(chain, about, shown))
            _print_more(len(chain.links) - shown)


def print_detected(detected: Sequence[Detected], size: int, shown: int = SHOWN) -> None:
    """Print the minimal sets of up to so many columns that tell most records apart."""
    most = f"{DISTINCT:.0%} of the records apart"
    if not detected:
        console().print(f"No set of up to {_counted(size, 'column')} tells {most}.")
        return
    columns = ["columns", "distinction", "separation", "records alone"]
    rows = [
        [
            ", ".join(one.names),
            f"{one.distinction:.4f}",
            f"{one.separation:.6f}",
            f"{one.share_alone:.2%}",
        ]
        for one in detected[:shown]
    ]
    title = f"Minimal sets of up to {_counted(size, 'column')} that tell {most}"
    console().print(table_of(title, columns, rows))
    _print_more(len(detected) - shown)


def print_undeclared(found: Undeclared, shown: int = SHOWN) -> None:
    """Print a warning of each column that nobody declared but that identifies."""
    out = console()
    if found.flagged:
        rows = [[one.name, one.kind or "", one.reason] for one in found.flagged[:shown]]
        out.print(table_of("WARNING: not declared, but identifying", ["column", "as", "why"], rows))
        _print_more(len(found.flagged) - shown)
    elif found.attributes:
        out.print("No column without a role identifies.")
    if found.skipped:
        out.print(
            "Not counted, as their values cannot be told apart: " + ", ".join(found.skipped),
            soft_wrap=True,
        )


def _subsets(subsets: Iterable[Ranked], metric: str, about: str | None) -> Table:
    title = _title(about)
    known = ["records alone", "k"] if about is None else ["surest guess"]
    usual = USUAL if metric in USUAL else {metric: _named(metric), **USUAL}
    rows = [
        [
            ", ".join(subset.names),
            f"{subset.classes:,}",
            *_known(subset, about),
            *_numbers(subset.about(about), usual),
        ]
        for subset in subsets
    ]
    return table_of(title, ["attributes", "classes", *known, *usual.values()], rows)


def _known(subset: Ranked, about: str | None) -> list[str]:
    if about is not None:
        return [f"{subset.about(about).max_posterior:.4f}"]
    return [f"{subset.alone:,} ({subset.share_alone:.2%})", f"{subset.k:,}"]


def _numbers(measures: Measures, names: Iterable[str]) -> list[str]:
    return [f"{measures[name]:.6f}" for name in names]


def _chain(chain: Chain, about: str | None, shown: int) -> Table:
    """The greedy order, with what each attribute tells alone and adds to the others."""
    rows = [
        [
            link.name,
            *(f"{x:.6f}" for x in (link.alone, link.adds, link.total, link.adds_to_others)),
        ]
        for link in chain.links[:shown]
    ]
    title = f"{_title(about)}: {chain.total:.6f} bits by all together"
    columns = ["attribute", "alone", "adds to those above", "with those", "adds to all others"]
    return table_of(title, columns, rows)


def _title(about: str | None) -> str:
    return "Re-identification" if about is None else f"Inference of {about}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _named(metric: str) -> str:
    return metric.replace("_", " ")


def _print_more(rest: int) -> None:
    if rest > 0:
        console().print(f"... {rest:,} more; --json has all")
