"""A table of recodings that were compared."""

from pathlib import Path

from anonymizer.report.console import console, table_of
from anonymizer.utility.comparison import Comparison, Fit, Half


def print_comparison(comparison: Comparison, picture: Path | None = None) -> None:
    """Print what each recoding keeps on either half, the best of each policy marked.

    ``picture``: where the same was drawn.
    """
    out = console()
    out.print(
        f"Fitted to a random half of {comparison.records:,} records (seed {comparison.seed}), "
        f"evaluated on the other. Information about {', '.join(comparison.about)}, in bits; in "
        "brackets corrected for what small classes pretend (Miller-Madow)."
    )
    rows = [_fit(fit, comparison.is_best(fit)) for fit in comparison.fits]
    if rows:
        measured = ["classes", "fitted", "held out", "ceiling", "loss there", "holds there"]
        columns = ["recoding", *comparison.swept, *measured]
        forms = f"s {'g ' * len(comparison.swept)}, s s .4f .1% s"
        out.print(table_of("* keeps most, held out and corrected", columns, rows, forms))
    for row in comparison.unfit:
        point = "".join(f", {name} = {value:g}" for name, value in row.parameters.items())
        name = row.recoding + (point and point + ",")
        out.print(f"{name} cannot be fitted to the half: {row.reason}.")
    if picture and rows:
        out.print(f"The picture lies in {picture}.")


def _fit(fit: Fit, best: bool) -> list[object]:
    held_out = fit.held_out
    uncovered = f", {held_out.uncovered:,} uncovered" if held_out.uncovered else ""
    return [
        fit.recoding + (" *" if best else ""),
        *fit.parameters.values(),
        held_out.classes,
        _bits(fit.fitted),
        _bits(held_out),
        fit.fitted.ceiling,
        held_out.loss,
        ("yes" if held_out.satisfied else "NO") + uncovered,
    ]


def _bits(half: Half) -> str:
    return f"{half.retained:.4f} ({half.miller_madow:.4f})"
