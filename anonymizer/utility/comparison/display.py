"""A comparison as a notebook shows it: a row for each fit."""

from typing import TYPE_CHECKING

from anonymizer.feedback.display import Display, Table

if TYPE_CHECKING:
    from anonymizer.utility.comparison.comparison import Comparison
    from anonymizer.utility.comparison.halves import Fit

COLUMNS = ("recoding", "bits fitted", "bits held out", "classes", "classes that fail", "holds")


def of_comparison(comparison: "Comparison") -> Display:
    """Every fit with its bits on both halves, the best of each point marked, and the ceilings."""
    ceilings = [point.ceiling for point in comparison.points]
    low, high = min(ceilings), max(ceilings)
    span = f"{low:.4f}" if low == high else f"{low:.4f} to {high:.4f}"
    rows = [
        [*fit.parameters.values(), *_row(fit, comparison.is_best(fit))] for fit in comparison.fits
    ]
    return Display(
        f"Comparison of {len({fit.recoding for fit in comparison.fits}):,} recodings",
        lines=[
            f"Fitted on a half of {comparison.records:,} records, evaluated on the other; bits are "
            f"about {', '.join(comparison.about)}; the ceiling is {span}; * is best."
        ],
        tables=[Table("Recodings", [*comparison.swept, *COLUMNS], rows)],
        alerts=[f"{each.recoding}: {each.reason}" for each in comparison.unfit[:3]],
    )


def _row(fit: "Fit", best: bool) -> list[object]:
    half = fit.held_out
    return [
        fit.recoding + (" *" if best else ""),
        f"{fit.fitted.retained:.4f}",
        f"{half.retained:.4f}",
        half.classes,
        half.broken,
        "yes" if half.satisfied else "NO",
    ]
