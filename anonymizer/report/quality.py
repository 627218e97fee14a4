"""What an analyst can still do with a release, as tables of text."""

from anonymizer.report.console import console, table_of
from anonymizer.utility import Measure, Prediction, Quality, Score

__all__ = ["print_quality"]


def print_quality(quality: Quality) -> None:
    """Print every measure, the tables and statistics that are furthest off, and the classifiers."""
    out = console()
    out.print(
        f"Compared {quality.records:,} records ({quality.dropped:,} dropped before, "
        f"{quality.suppressed:,} suppressed, {quality.left_out:,} of them left out).",
        soft_wrap=True,
    )
    columns = ["measure", "value", "original", "all suppressed", "normalized", "unit"]
    measures = [_measure(name, found) for name, found in quality.measures.items()]
    out.print(table_of("Groups and classes; 1 as the original", columns, measures))
    columns = ["quasi-identifier", "entropy", "granularity", "intensity", "squared error", "TV"]
    parts = _by_attribute(quality)
    out.print(table_of("The same by attribute, normalized; total variation", columns, parts))
    ways = _deviations(quality)
    out.print(table_of("Tables of counts: total variation", ["tables", "mean", "worst"], ways))
    title = f"Probabilistic information loss; a range stands for its {quality.representative}"
    out.print(table_of(title, ["statistic", "mean", "worst"], _losses(quality)))
    if quality.predictions is None:
        out.print("Classifiers were left out: scikit-learn is not installed.")
    elif quality.predictions:
        title = f"Accuracy / AUC, {quality.folds}-fold cross-validation"
        columns = ["target", "classifier", "majority", "original", "released", "gain kept"]
        out.print(table_of(title, columns, [_prediction(p) for p in quality.predictions]))


def _measure(name: str, measure: Measure | None) -> list[str]:
    if measure is None:
        return [name, *["-"] * 5]
    numbers = [measure.value, measure.original, measure.suppressed]
    return [name, *(f"{n:.6g}" for n in numbers), _share(measure.normalized), measure.unit]


def _share(number: float) -> str:
    """A share in four digits; what rounds to 0 has no sign."""
    return f"{round(number, 4) + 0.0:.4f}"


def _by_attribute(quality: Quality) -> list[list[str]]:
    names = ["non-uniform-entropy", "granularity", "generalization-intensity"]
    measures = [quality.measures[name] for name in [*names, "attribute-squared-error"]]
    distances = {table.columns: f"{table.distance:.4f}" for table in quality.tables}
    rows = []
    for name in quality.quasi_identifiers:
        parts = [measure and measure.attributes.get(name) for measure in measures]
        shares = [_share(part.normalized) if part else "-" for part in parts]
        rows.append([name, *shares, distances[name,]])
    return rows


def _deviations(quality: Quality) -> list[list[str]]:
    rows = []
    for ways, name in [(1, "one-way"), (2, "two-way")]:
        tables = [table for table in quality.tables if len(table.columns) == ways]
        if tables:
            worst = max(tables, key=lambda table: table.distance)
            mean = quality.total_variation(ways)
            rows.append(
                [
                    f"{name} ({len(tables):,})",
                    f"{mean:.4f}",
                    f"{worst.distance:.4f} ({', '.join(worst.columns)})",
                ]
            )
    return rows


def _losses(quality: Quality) -> list[list[str]]:
    rows = []
    for kind, mean in quality.pil.items():
        found = [loss for loss in quality.statistics if loss.statistic == kind]
        worst = max(found, key=lambda loss: loss.pil)
        share = "" if worst.share is None else f", {worst.share:g}"
        rows.append(
            [
                f"{kind} ({len(found):,})",
                f"{mean:.4f}",
                f"{worst.pil:.4f} ({', '.join(worst.columns)}{share})",
            ]
        )
    return rows


def _prediction(prediction: Prediction) -> list[str]:
    kept = prediction.kept
    scores = [prediction.majority, prediction.original, prediction.released]
    return [
        prediction.target,
        prediction.classifier,
        *map(_score, scores),
        "-" if kept is None else f"{kept:.1%}",
    ]


def _score(score: Score) -> str:
    return f"{score.accuracy:.4f} / " + ("-" if score.auc is None else f"{score.auc:.4f}")
