"""Tables of the attributes that identify people or reveal sensitive values."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from anonymizer.report.console import console, table_of
from anonymizer.risk import DISTINCT, METRICS, Chain, Detected, Ranked, Ranking, Undeclared
from anonymizer.tables.values import counted

SHOWN = 20
"""How many rows of a table are printed."""

USUAL = {"mutual_information": "MI (bits)", "discrimination_rate": "DR", "itpr": "ITPR"}
"""Measures that every table of subsets shows."""

CAUTION = "ITPR may fall when an attribute joins others."


def print_ranking(ranking: Ranking, metric: str = METRICS[0], shown: int = SHOWN) -> None:
    """Print the riskiest subsets about each attribute at risk, and what each adds to the others."""
    out = console()
    out.print(
        f"{len(ranking.subsets):,} subsets of up to {counted(ranking.size, 'quasi-identifier')} of "
        f"{counted(ranking.records, 'record')}, by {_named(metric)}. {CAUTION}"
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
    """Print the minimal sets of up to so many columns that distinguish most records."""
    sets = f"up to {counted(size, 'column')}"
    most = f"{DISTINCT:.0%} of the records apart"
    if not detected:
        console().print(f"No set of {sets} tells {most}.")
        return
    columns = ["columns", "distinction", "separation", "records alone"]
    rows = [
        [", ".join(one.names), one.distinction, one.separation, one.share_alone]
        for one in detected[:shown]
    ]
    title = f"Minimal sets of {sets} that tell {most}"
    console().print(table_of(title, columns, rows, "s .4f .6f .2%"))
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
        names = ", ".join(found.skipped)
        out.print(f"Not counted, as their values cannot be distinguished: {names}")


def _subsets(subsets: Iterable[Ranked], metric: str, about: str | None) -> Table:
    usual = USUAL if metric in USUAL else {metric: _named(metric), **USUAL}
    known, forms = (["records alone", "k"], "s ,") if about is None else (["surest guess"], ".4f")
    rows = []
    for subset in subsets:
        found = subset.about(about)
        alone = f"{subset.alone:,} ({subset.share_alone:.2%})"
        cells = [alone, subset.k] if about is None else [found.max_posterior]
        rows.append([subset.names, subset.classes, *cells, *(found[name] for name in usual)])
    columns = ["attributes", "classes", *known, *usual.values()]
    return table_of(_title(about), columns, rows, f"s , {forms} .6f")


def _chain(chain: Chain, about: str | None, shown: int) -> Table:
    """The greedy order, with what each attribute reveals alone and adds to the others."""
    rows = [
        [link.name, link.alone, link.adds, link.total, link.adds_to_others]
        for link in chain.links[:shown]
    ]
    title = f"{_title(about)}: {chain.total:.6f} bits by all together"
    columns = ["attribute", "alone", "adds to those above", "with those", "adds to all others"]
    return table_of(title, columns, rows, "s .6f")


def _title(about: str | None) -> str:
    return "Re-identification" if about is None else f"Inference of {about}"


def _named(metric: str) -> str:
    return metric.replace("_", " ")


def _print_more(rest: int) -> None:
    if rest > 0:
        console().print(f"... {rest:,} more; --json has all")
