"""Tables of what an analyst can still do with a release."""

from collections.abc import Sequence

from anonymizer.report.console import console, table_of
from anonymizer.utility import Quality, Score


def print_quality(quality: Quality) -> None:
    """Print every measure, the tables and statistics that are furthest off, and the classifiers."""
    out = console()
    out.print(
        f"Compared {quality.records:,} records ({quality.dropped:,} dropped before, "
        f"{quality.suppressed:,} suppressed, {quality.left_out:,} of them left out)."
    )
    columns = ["measure", "value", "original", "all suppressed", "normalized", "unit"]
    title = "Groups and classes; 1 as the original"
    out.print(table_of(title, columns, _measures(quality), "s .6g .6g .6g s"))
    columns = ["quasi-identifier", "entropy", "granularity", "intensity", "squared error", "TV"]
    title = "The same by attribute, normalized; total variation"
    out.print(table_of(title, columns, _by_attribute(quality), "s s s s s .4f"))
    title, columns = "Tables of counts: total variation", ["tables", "mean", "worst"]
    out.print(table_of(title, columns, _deviations(quality), "s .4f"))
    title = f"Probabilistic information loss; a range stands for its {quality.representative}"
    columns = ["statistic", "mean", "worst"]
    out.print(table_of(title, columns, _losses(quality), "s .4f"))
    if quality.predictions is None:
        out.print("Classifiers were left out: scikit-learn is not installed.")
    elif quality.predictions:
        title = f"Accuracy / AUC, {quality.folds}-fold cross-validation"
        columns = ["target", "classifier", "majority", "original", "released", "gain kept"]
        rows = [
            [p.target, p.classifier, *map(_score, (p.majority, p.original, p.released)), p.kept]
            for p in quality.predictions
        ]
        out.print(table_of(title, columns, rows, "s s s s s .1%"))


def _measures(quality: Quality) -> list[list[object]]:
    return [
        [name, found.value, found.original, found.suppressed, _share(found.normalized), found.unit]
        if found
        else [name, *[None] * 5]
        for name, found in quality.measures.items()
    ]


def _share(number: float) -> str:
    """A share in four digits; what rounds to 0 has no sign."""
    return f"{round(number, 4) + 0.0:.4f}"


def _by_attribute(quality: Quality) -> list[list[object]]:
    names = ["non-uniform-entropy", "granularity", "generalization-intensity"]
    measures = [quality.measures[name] for name in [*names, "attribute-squared-error"]]
    distances = {table.columns: table.distance for table in quality.tables}
    rows: list[list[object]] = []
    for name in quality.quasi_identifiers:
        parts = [measure and measure.attributes.get(name) for measure in measures]
        rows.append([name, *(part and _share(part.normalized) for part in parts), distances[name,]])
    return rows


def _deviations(quality: Quality) -> list[list[object]]:
    rows: list[list[object]] = []
    for ways, name in [(1, "one-way"), (2, "two-way")]:
        tables = [table for table in quality.tables if len(table.columns) == ways]
        if tables:
            worst = max(tables, key=lambda table: table.distance)
            mean = quality.total_variation(ways)
            rows.append([f"{name} ({len(tables):,})", mean, _worst(worst.distance, worst.columns)])
    return rows


def _losses(quality: Quality) -> list[list[object]]:
    rows: list[list[object]] = []
    for kind, mean in quality.pil.items():
        found = [loss for loss in quality.statistics if loss.statistic == kind]
        worst = max(found, key=lambda loss: loss.pil)
        share = "" if worst.share is None else f", {worst.share:g}"
        rows.append([f"{kind} ({len(found):,})", mean, _worst(worst.pil, worst.columns, share)])
    return rows


def _worst(value: float, columns: Sequence[str], more: str = "") -> str:
    return f"{value:.4f} ({', '.join(columns)}{more})"


def _score(score: Score) -> str:
    return f"{score.accuracy:.4f} / " + ("-" if score.auc is None else f"{score.auc:.4f}")
