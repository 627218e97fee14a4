"""Recodings side by side, as a table of text."""

from pathlib import Path

from anonymizer.report.console import console, table_of
from anonymizer.utility.comparison import Comparison, Fit, Half, Unfit

__all__ = ["print_comparison"]


def print_comparison(comparison: Comparison, picture: Path | None = None) -> None:
    """Print what each recoding keeps on either half, the best of each policy marked.

    ``picture``: where the same was drawn.
    """
    out = console()
    out.print(
        f"Fitted to a random half of {comparison.records:,} records (seed {comparison.seed}), "
        f"evaluated on the other. Information about {', '.join(comparison.about)}, in bits; in "
        "brackets corrected for what small classes pretend (Miller-Madow).",
        soft_wrap=True,
    )
    columns = [
        "recoding",
        *comparison.swept,
        "classes",
        "fitted",
        "held out",
        "ceiling",
        "loss there",
    ]
    rows = [_fit(fit, comparison.is_best(fit)) for fit in comparison.fits]
    if rows:
        out.print(table_of("* keeps most, held out and corrected", [*columns, "holds there"], rows))
    for row in comparison.unfit:
        out.print(f"{_named(row)} cannot be fitted to the half: {row.reason}.", soft_wrap=True)
    if picture and rows:
        out.print(f"The picture lies in {picture}.", soft_wrap=True)


def _fit(fit: Fit, best: bool) -> list[str]:
    return [
        fit.recoding + (" *" if best else ""),
        *(f"{value:g}" for value in fit.parameters.values()),
        f"{fit.held_out.classes:,}",
        _bits(fit.fitted),
        _bits(fit.held_out),
        f"{fit.fitted.ceiling:.4f}",
        f"{fit.held_out.loss:.1%}",
        ("yes" if fit.held_out.satisfied else "NO") + _uncovered(fit.held_out),
    ]


def _uncovered(half: Half) -> str:
    return f", {half.uncovered:,} uncovered" if half.uncovered else ""


def _bits(half: Half) -> str:
    return f"{half.retained:.4f} ({half.miller_madow:.4f})"


def _named(row: Unfit) -> str:
    point = "".join(f", {name} = {value:g}" for name, value in row.parameters.items())
    return row.recoding + (point and point + ",")
