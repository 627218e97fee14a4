"""What each kind of recoding keeps of real Adult, from two ranges of age up to the ceiling.

    python benchmarks/bench_ladder.py

Needs the directory of data sets in ANONYMIZER_DATA (adult/ and arx-adult/), and matplotlib for the
picture. Writes benchmarks/results/ladder.md and ladder.svg. Every release is counted again by a
pandas group-by of the table that comes out, which knows nothing of how it was made. Times are of
whole runs, from a DataFrame to a verified DataFrame, one job, after a first run that compiles.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from measure import table as markdown
from workloads import four_attributes

from anonymizer import (
    Anonymizer,
    Boxes,
    Cut,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    KAnonymity,
    MergedCells,
    Recoding,
    TCloseness,
    VariableRange,
    compare,
    load_adult,
)
from anonymizer.release.information import Information

SENSITIVE = "marital-status"
T, L = 0.55, 2.7
PUBLISHED = 0.34
RESULTS = Path(__file__).parent / "results"
INTRODUCTION = f"""# What each kind of recoding keeps

Made by `python benchmarks/bench_ladder.py` with ANONYMIZER_DATA set; bits of I(X~;W). Seconds from
a DataFrame to a verified DataFrame, one job, compiled code loaded. *smallest*: the records of the
smallest class. Every release was counted again by a pandas group-by: k, l and t hold in every
class. Miller and Madow's estimate and what is kept above W shuffled say how much of it is noise.

## UCI Adult, Bezzi (2010): t = {T}, l = {L}

30 162 records, age, sex, race and years of schooling, W = {SENSITIVE}. No recoding whatever keeps
more than the ceiling, H(W) - log l (Eq. 13). Published: 0.09 for A2, and {PUBLISHED} for A1*. The
latter is above the 0.3357 bits that age tells without any recoding; it is above the best of all
trees of boxes over all four attributes, too, and merged cells alone get there.
"""
EXTRACT = """
## Extract with ARX's hierarchies: k = 5, l = 2

30 162 records, sex, age, race and education, W = marital-status.
"""
HALVES = """Learnt on one half of the records and evaluated on the other (`compare`, seed 0; those
that no class covers count as one class). Merging single cells learns the table by heart: much of
what it keeps of the one half is not there in the other. Where boxes of cells are merged that each
have to gain something, what is kept lasts.
"""
LEVELS = FullDomain()
HALVED: Mapping[str, Recoding] = {
    "best node of the lattice": FullDomain(),
    "ranges of age and schooling": VariableRange(),
    "boxes": Boxes(),
    "boxes, min-gain = 0.0005": Boxes(min_gain=5e-4),
    "merged cells": MergedCells(),
    "merged, min-gain = 0.0001": MergedCells(min_gain=1e-4),
    "merged, min-gain = 0.001": MergedCells(min_gain=1e-3),
}
HALVES_HEADER = ["recoding", "learnt half", "other half", "its Miller-Madow", "not covered"]
HEADER = [
    "recoding",
    "I(X~;W)",
    "Miller-Madow",
    "above shuffled",
    "classes",
    "smallest",
    "proven",
    "seconds",
]


@dataclass(frozen=True)
class Rung:
    """A recoding of the ladder, and what it came to."""

    name: str
    information: Information
    classes: int
    smallest: int
    proven: bool
    seconds: float

    @property
    def cells(self) -> list[object]:
        """A row of the table."""
        kept = self.information
        return [
            self.name,
            f"{kept.retained:.5f}",
            f"{kept.miller_madow:.5f}",
            f"{kept.retained_above_shuffled:.5f}",
            self.classes,
            self.smallest,
            "yes" if self.proven else "",
            f"{self.seconds:.2f}",
        ]


@dataclass(frozen=True)
class Setting:
    """A table, how it generalizes, and its policy."""

    table: pd.DataFrame
    hierarchies: Mapping[str, Hierarchy]
    k: int
    l: float  # noqa: E741 (the model's own letter)
    t: float

    def rung(
        self,
        name: str,
        recoding: Recoding = LEVELS,
        **options: Any,
    ) -> Rung:
        """Release the table, count it again, and time it."""
        kept = [*self.hierarchies, SENSITIVE]
        models = [KAnonymity(self.k), EntropyLDiversity(self.l)]
        models += [TCloseness(self.t, distance="kl")] if np.isfinite(self.t) else []
        asked = Anonymizer(self.hierarchies, SENSITIVE, models, recoding, **options)
        start = perf_counter()
        released = asked.fit_transform(self.table[kept])
        seconds = perf_counter() - start
        smallest = self.counted_again(released)
        release = asked.release_
        return Rung(
            name,
            release.information,
            release.classes,
            smallest,
            release.search.proven and release.search.strategy != "fixed",
            seconds,
        )

    def counted_again(self, released: pd.DataFrame) -> int:
        """Group the released table, hold the policy against it; the records of its smallest class.

        Raises
        ------
        AssertionError
            When the policy is broken.
        """
        columns = [name for name in released.columns if name != SENSITIVE]
        counts = released.groupby(columns, observed=True)[SENSITIVE].value_counts().unstack()
        shares = counts.fillna(0).to_numpy()
        sizes = shares.sum(axis=1)
        shares = shares / sizes[:, None]
        prior = released[SENSITIVE].value_counts(normalize=True)[counts.columns].to_numpy()
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.nansum(shares * np.log2(shares), axis=1)
            divergence = np.nansum(shares * np.log2(shares / prior), axis=1)
        broken = (
            (sizes < self.k) | (entropy < np.log2(self.l) - 1e-8) | (divergence > self.t + 1e-8)
        )
        if broken.any():
            raise AssertionError(f"{broken.sum()} classes break the policy")
        return int(sizes.min())


def adult() -> Setting:
    """The experiment of the paper, education by years of schooling."""
    table = load_adult().dropna().reset_index(drop=True)
    hierarchies = {
        "age": Hierarchy.ranges(widths=[25, 50]),
        "education-num": Hierarchy.ranges(widths=[4, 8]),
        "sex": Hierarchy.suppression(),
        "race": Hierarchy.suppression(),
    }
    return Setting(table, hierarchies, 1, L, T)


def ladder(setting: Setting) -> Iterator[Rung]:
    """From the coarsest recoding to the finest."""
    suppressed = {"education-num": 2 + 1, "sex": 1, "race": 1}
    yield setting.rung("A2: age in ranges of 50 years", Fixed({"age": 2, **suppressed}))
    yield setting.rung("best node of the lattice")
    yield setting.rung("ranges of age (A1*)", VariableRange(["age"]))
    yield setting.rung("ranges of age and schooling", VariableRange())
    yield setting.rung("ranges, groups of sex and race", VariableRange(group=["sex", "race"]))
    yield setting.rung("boxes, greedy (Mondrian)", Boxes(refinement="heuristic"))
    yield setting.rung("boxes", Boxes())
    yield setting.rung("merged cells, at most 8 classes", MergedCells(max_classes=8))
    yield setting.rung("merged cells", MergedCells())


def fewer(setting: Setting) -> Iterator[Rung]:
    """Boxes over some of the attributes, the others left out."""
    for names in (["age", "education-num"], ["age", "education-num", "sex"]):
        some = {name: setting.hierarchies[name] for name in names}
        fewer = Setting(setting.table, some, setting.k, setting.l, setting.t)
        yield fewer.rung(f"boxes over {', '.join(names)}", Boxes())


def cautious(setting: Setting) -> Iterator[Rung]:
    """The same kinds, confined to what is not noise."""
    for gain in (1e-4, 5e-4):
        yield setting.rung(f"boxes, min-gain = {gain:g}", Boxes(min_gain=gain))
    yield setting.rung("boxes above shuffled", Boxes(), objective="above-shuffled")
    yield setting.rung("boxes of 50 records, 5 years", Boxes(min_records=50, min_width=5))
    yield setting.rung("merged cells of 100 records", MergedCells(min_records=100))
    for gain in (1e-4, 1e-3):
        yield setting.rung(f"merged, min-gain = {gain:g}", MergedCells(min_gain=gain))


def halves(setting: Setting) -> Iterator[list[object]]:
    """Fitted on one half of the records, evaluated on the other: compare, seed 0."""
    kept = setting.table[[*setting.hierarchies, SENSITIVE]]
    models = [TCloseness(setting.t, distance="kl"), EntropyLDiversity(setting.l)]
    for name, recoding in HALVED.items():
        asked = Anonymizer(setting.hierarchies, SENSITIVE, models, recoding)
        fit = compare(asked, kept, recodings=[recoding]).fits[0]
        figures = [half.retained for half in (fit.fitted, fit.held_out)]
        corrected = fit.held_out.miller_madow
        yield [name, *(f"{bits:.4f}" for bits in (*figures, corrected)), fit.held_out.uncovered]


def extract() -> Setting:
    """ARX's extract and hierarchies."""
    workload = four_attributes()[0]
    return Setting(workload.table, workload.hierarchies, 5, 2, np.inf)


def on_extract(setting: Setting) -> Iterator[Rung]:
    """Levels, ranges, cuts, boxes and merged cells."""
    yield setting.rung("best node of the lattice")
    yield setting.rung("ranges of age", VariableRange())
    yield setting.rung("cuts", Cut())
    yield setting.rung("boxes", Boxes())
    yield setting.rung("merged cells", MergedCells())


def written(rungs: list[Rung]) -> list[str]:
    """A table of rungs, the ceiling below them."""
    rows = [rung.cells for rung in rungs]
    ceiling = f"{rungs[-1].information.ceiling:.5f}"
    return markdown(HEADER, [*rows, ["ceiling: no recoding keeps more", ceiling, *[""] * 6]])


def draw(rungs: list[Rung], path: Path) -> None:
    """Draw the ladder: a bar for each recoding, the ceiling, and the figure that was published."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    plain = {"svg.hashsalt": "anonymizer", "font.size": 10.0}
    with mpl.rc_context(plain):
        figure = Figure(figsize=(8.2, 3.9), layout="constrained")
        axes = figure.subplots()
        names, kept = [r.name for r in rungs], [r.information.retained for r in rungs]
        colors = ["#9ab8d3" if not rung.proven else "#0072b2" for rung in rungs]
        bars = axes.barh(range(len(rungs)), kept, color=colors, height=0.7)
        labels = axes.bar_label(bars, [f"{value:.4f}" for value in kept], padding=-42)
        for label, rung in zip(labels, rungs, strict=True):
            label.set_color("white" if rung.proven else "black")
        axes.set_yticks(range(len(rungs)), names)
        axes.invert_yaxis()
        ceiling = rungs[-1].information.ceiling
        axes.axvline(ceiling, color="#d55e00", linewidth=1.4)
        axes.axvline(PUBLISHED, color="grey", linewidth=1.0, linestyle=":")
        top = -0.75
        axes.text(ceiling, top, f"ceiling {ceiling:.4f}", ha="center", color="#d55e00")
        axes.text(PUBLISHED, top, "published 0.34", ha="right", color="grey")
        axes.set_xlim(0, 0.41)
        axes.set_xlabel("information kept about marital status, bits (dark: proven best of a kind)")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Run it all and write the results."""
    setting, other = adult(), extract()
    for recoding in (Boxes(), MergedCells()):  # compiles
        setting.rung("", recoding, time_limit=1)
    rungs = list(ladder(setting))
    lines = [INTRODUCTION, *written(rungs), ""]
    lines += ["Boxes over fewer attributes, the others suppressed:", ""]
    lines += [*markdown(HEADER, [rung.cells for rung in fewer(setting)]), ""]
    lines += ["Kept to what is less noise:", ""]
    lines += [*markdown(HEADER, [rung.cells for rung in cautious(setting)]), "", HALVES]
    lines += [*markdown(HALVES_HEADER, halves(setting)), EXTRACT]
    lines += written(list(on_extract(other)))
    (RESULTS / "ladder.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(rungs, RESULTS / "ladder.svg")


if __name__ == "__main__":
    main()
