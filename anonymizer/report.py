"""What a person reads: releases, verifications and comparisons as tables of text."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from time import monotonic

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from anonymizer.objectives import MutualInformation
from anonymizer.privacy import Verdict
from anonymizer.quality import Measure, Prediction, Quality, Score
from anonymizer.release import Information, Release, SearchResult
from anonymizer.reproduce import Row
from anonymizer.search import Watch, ignore

__all__ = [
    "print_ladder",
    "print_quality",
    "print_release",
    "print_rows",
    "print_verdicts",
    "progress",
]

AFTER = 1.0
"""Seconds after which progress is shown."""

OFTEN = 0.1
"""Seconds between two looks at it."""

SHOWN = 8
"""How many groups of an attribute a report lists."""


def print_release(release: Release, directory: Path) -> None:
    """Print what was searched, what is kept, and where the release lies."""
    out = _console()
    for line in _summary(release):
        out.print(line)
    out.print(_table("Recoding", ["quasi-identifier", "level", "groups"], _recoding(release)))
    if release.information:
        kept = _information(release.information)
        out.print(_table("Information about the sensitive attribute", ["", ""], kept))
    out.print(_verdicts(release.privacy))
    if release.other_columns:
        out.print(
            "Released as they were, and not covered by the policy if an attacker knows them: "
            + ", ".join(name or "a column without a name" for name in release.other_columns),
            soft_wrap=True,
        )
    out.print(f"The release lies in {directory}.", soft_wrap=True)


def print_verdicts(verdicts: Iterable[Verdict]) -> None:
    """Print model, threshold, worst class, holds or not: one row per verdict."""
    _console().print(_verdicts(verdicts))


def print_quality(quality: Quality) -> None:
    """Print every measure, the tables and statistics that are furthest off, and the classifiers."""
    out = _console()
    out.print(
        f"Compared {quality.records:,} records ({quality.dropped:,} dropped before, "
        f"{quality.suppressed:,} suppressed, {quality.left_out:,} of them left out).",
        soft_wrap=True,
    )
    columns = ["measure", "value", "original", "all suppressed", "normalized", "unit"]
    measures = [_measure(name, found) for name, found in quality.measures.items()]
    out.print(_table("Groups and classes; 1 as the original", columns, measures))
    columns = ["quasi-identifier", "entropy", "granularity", "intensity", "squared error", "TV"]
    parts = _by_attribute(quality)
    out.print(_table("The same by attribute, normalized; total variation", columns, parts))
    ways = _deviations(quality)
    out.print(_table("Tables of counts: total variation", ["tables", "mean", "worst"], ways))
    title = f"Probabilistic information loss; a range stands for its {quality.representative}"
    out.print(_table(title, ["statistic", "mean", "worst"], _losses(quality)))
    if quality.predictions is None:
        out.print("Classifiers were left out: scikit-learn is not installed.")
    elif quality.predictions:
        title = f"Accuracy / AUC, {quality.folds}-fold cross-validation"
        columns = ["target", "classifier", "majority", "original", "released", "gain kept"]
        out.print(_table(title, columns, [_prediction(p) for p in quality.predictions]))


def print_ladder(rows: Iterable[Row]) -> None:
    """Print what each recoding of the bundled census keeps."""
    cells = [[row.quantity, row.computed, row.remark] for row in rows]
    _console().print(
        _table("What a recoding keeps, in bits", ["recoding", "kept", "policy"], cells)
    )


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """Print a paper's experiment beside what it comes to here."""
    cells = [[row.quantity, row.computed, row.published, row.remark] for row in rows]
    _console().print(_table(title, ["quantity", "computed", "published", "remark"], cells))


@contextmanager
def progress(console: Console | None = None, after: float = AFTER) -> Iterator[Watch]:
    """Show on standard error what is being done, once that takes longer than a second.

    Nothing at all is shown where standard error is no terminal.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield ignore
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    start = Timer(after, bar.start)
    start.daemon = True
    start.start()
    try:
        yield Shown(bar)
    finally:
        start.cancel()
        start.join()
        bar.stop()


class Shown:
    """Tells a progress bar what is being done, not more often than eyes can follow."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.task: TaskID | None = None
        self.doing, self.due = "", 0.0

    def __call__(self, doing: str, done: int, of: int | None) -> None:
        """Show what is being done, how much of it, and of how much in all."""
        if doing == self.doing and monotonic() < self.due:
            return
        if doing != self.doing:
            if self.task is not None:
                self.bar.remove_task(self.task)
            self.task, self.doing = self.bar.add_task(doing, total=of), doing
        if self.task is not None:
            counted = f" ({done:,})" if of is None and done else ""
            self.bar.update(self.task, description=doing + counted, completed=done)
        self.due = monotonic() + OFTEN


class _Console(Console):
    """A console that leaves it to the caller what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Let the error through instead of exiting."""
        raise BrokenPipeError


def _console() -> Console:
    """Standard output; a pipe gets lines as long as they are."""
    plain = _Console(highlight=False, markup=False)
    return plain if plain.is_terminal else _Console(highlight=False, markup=False, width=200)


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of texts, taken as they are."""
    grid = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid


def _summary(release: Release) -> list[str]:
    search = release.search
    lines = [
        f"Searched {search.nodes:,} nodes ({search.strategy}, {search.checked:,} checked)"
        + _feasible(search),
        f"Released {release.released:,} of {release.records:,} records in {release.classes:,} "
        f"equivalence classes ({release.dropped:,} dropped, {_suppressed(release)}).",
    ]
    if search.refinements:
        proven = "the proven optimum" if search.proven else "a local optimum, not proven"
        lines.insert(1, f"Ranges were cut {search.refinements:,} times; the result is {proven}.")
    elif not search.proven:
        gap = "" if search.gap is None else f"; another may be better by {search.gap:.6g}"
        lines.insert(1, f"The search was not finished: this is the best node found{gap}.")
    if search.objective != MutualInformation.name:
        lines.append(f"The objective, {search.objective}, comes to {search.value:.6g}.")
    return lines


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


def _feasible(search: SearchResult) -> str:
    if search.feasible is None or search.minimal is None:
        return "."
    return f": {search.feasible:,} satisfy the policy, {len(search.minimal):,} of them minimal."


def _suppressed(release: Release) -> str:
    fates = {"none": "", "kept": ", kept as one class", "removed": " and left out"}
    return f"{release.suppressed:,} suppressed{fates[release.suppressed_class]}"


def _recoding(release: Release) -> list[list[str]]:
    return [
        [name, str(release.levels.get(name, "ranges")), _groups(groups)]
        for name, groups in release.recoding.items()
    ]


def _groups(groups: Sequence[dict[str, object]]) -> str:
    labels = " ".join(str(group["label"]) for group in groups[:SHOWN])
    return labels + (f" ... ({len(groups)} in all)" if len(groups) > SHOWN else "")


def _information(information: Information) -> list[list[str]]:
    return [
        ["I(X;W), raw quasi-identifiers", f"{information.original:.6f} bits"],
        ["I(X~;W), released", f"{information.retained:.6f} bits"],
        ["ceiling: no recoding can keep more", f"{information.ceiling:.6f} bits"],
        ["I(X;W) with W shuffled: chance alone", f"{information.shuffled:.6f} bits"],
        ["loss", f"{information.loss:.2%}"],
        ["loss, chance taken off", f"{information.loss_above_shuffled:.2%}"],
    ]


def _verdicts(verdicts: Iterable[Verdict]) -> Table:
    columns = ["model", "about", "threshold", "worst class", "classes that fail", "holds"]
    return _table("Policy, recounted on the table", columns, [_verdict(v) for v in verdicts])


def _verdict(verdict: Verdict) -> list[str]:
    model = verdict.model
    parameters = ", ".join(f"{name} = {value}" for name, value in model.parameters.items())
    return [
        f"{model.name} ({parameters})",
        verdict.attribute or "class sizes",
        f"{'>=' if model.at_least else '<='} {model.threshold:g}",
        f"{verdict.worst:.6g}",
        f"{verdict.violating} of {verdict.classes}",
        "yes" if verdict.satisfied else "NO",
    ]
