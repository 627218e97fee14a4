"""How quickly the explorer answers: from a key on a slider to the figures in the browser.

    python benchmarks/bench_explore.py [four] [nine] [million]

Needs arx-adult/ in the directory of data sets that ANONYMIZER_DATA names, and Chromium. Writes
benchmarks/results/explore.md.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from measure import table as markdown
from workloads import FOUR, NINE, directory, enlarged

from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.outcome import outcome_of
from anonymizer.release.study import Study

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from explorer.driving import (  # noqa: E402
    CHROMIUM,
    FLAGS,
    SECONDS,
    VIEWS,
    answered,
    explored,
    opened,
    started,
    visit,
)
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

RESULTS = HERE / "results" / "explore.md"
MOVES = 80
MILLION = 1_000_000

INTRODUCTION = f"""# The explorer

Made by `python benchmarks/bench_explore.py` with ANONYMIZER_DATA set: the Adult extract (30,162
records) with ARX's hierarchies, or as many records drawn from it as a row says. The command
`anonymizer explore` serves the page, and headless Chromium on the same machine opens it. Everything
is by default but what a row says.

A slider of t-closeness goes {MOVES} steps in one direction by the arrow keys, so that no answer is
known before. Milliseconds are from the key in the browser to the figures of its answer, drawn. At
most 200 with four attributes and 500 with nine, at the 95th percentile.
"""

WATCHING = """() => {
  window.moved = [];
  let began = null;
  addEventListener('keydown', event => { began = performance.now(); }, true);
  new MutationObserver(() => {
    if (began === null) return;
    const since = began;
    began = null;
    requestAnimationFrame(() => setTimeout(() => window.moved.push(performance.now() - since)));
  }).observe(document.querySelector('.status'), {attributeFilter: ['data-answers']});
}"""
"""Takes note of how long it is from each key to the next answer, and until that is drawn."""


@dataclass(frozen=True)
class Case:
    """A table and a policy that are explored."""

    title: str
    names: Sequence[str]
    sensitive: str
    records: int | None = None
    suppression: float = 0.0
    method: str = "full-domain"

    def written(self, folder: Path) -> Path:
        """The study, with its table next to it."""
        data = folder / "people.csv"
        if self.records is None:
            table, separator = directory() / "adult.csv", ";"
        else:
            enlarged(self.records).to_csv(data, index=False)
            table, separator = data, ","
        names = [name for name in self.names if name != self.sensitive]
        lines = [
            *("[data]", f'path = "{table}"', f'separator = "{separator}"'),
            "[quasi-identifiers]",
            *(f'{name} = "{directory()}/adult_hierarchy_{name}.csv"' for name in names),
            *("[sensitive]", f'attributes = ["{self.sensitive}"]'),
            *("[[privacy]]", 'model = "t-closeness"', 'distance = "kl"', "t = 1.0"),
            *("[[privacy]]", 'model = "k-anonymity"', "k = 5"),
            *("[recoding]", f'method = "{self.method}"'),
        ]
        if self.suppression:
            lines.append(f'suppression = {self.suppression}\nsuppress = "any"')
        study = folder / "study.toml"
        study.write_text("\n".join([*lines, ""]))
        return study


CASES = {
    "four": [
        Case("4 attributes", FOUR, "marital-status"),
        Case("4 attributes, variable-range", FOUR, "marital-status", method="variable-range"),
    ],
    "nine": [
        Case("8 attributes and a sensitive one", NINE, "occupation"),
        Case("the same, 2 % suppressed", NINE, "occupation", suppression=0.02),
    ],
    "million": [
        Case("10^6 records, 4 attributes", FOUR, "marital-status", MILLION),
        Case("10^6 records, 8 and a sensitive one", NINE, "occupation", MILLION),
    ],
}


def measured(browser: Browser, case: Case) -> tuple[list[str], list[str]]:
    """The rows of a case: its moves, and its views."""
    with tempfile.TemporaryDirectory() as folder:
        study = case.written(Path(folder))
        with explored(study, start=started) as found:
            start = perf_counter()
            with opened(browser, found.link) as page:
                first = perf_counter() - start
                moved = _moved(page)
                opening = [f"{_opened(page, title):.0f}" for title in VIEWS]
        alone = _alone(study)
    p50, p95 = np.percentile(moved, [50, 95])
    figures = [f"{p50:.0f}", f"{p95:.0f}", f"{max(moved):.0f}", f"{alone:.0f}", f"{first:.1f}"]
    return [case.title, *figures], [case.title, *opening]


def _moved(page: Page) -> list[float]:
    """Milliseconds of each move of the slider of t."""
    visit(page, "Policy")
    page.evaluate(WATCHING)
    page.get_by_role("slider", name="t,").first.focus()
    page.keyboard.press("ArrowLeft")  # the first move may load what is not loaded yet
    for move in range(MOVES):
        page.wait_for_function(f"window.moved.length > {move}", timeout=SECONDS)
        answered(page)
        page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"window.moved.length > {MOVES}", timeout=SECONDS)
    found: list[float] = page.evaluate("window.moved")
    return found[1:]


def _opened(page: Page, title: str) -> float:
    """Milliseconds until a view is there; what it computes beyond that may take longer."""
    start = perf_counter()
    visit(page, title)
    return 1000 * (perf_counter() - start)


def _alone(study: Path) -> float:
    """The median milliseconds of the same answers in this process, without a browser."""
    counter, text = Counter(), study.read_text()
    taken = []
    for move in range(21):
        asked = Study.parsed(text.replace("t = 1.0", f"t = {0.99 - move / 100:.2f}"), study)
        counted = counter.counted(asked)
        start = perf_counter()
        outcome_of(counted)
        taken.append(1000 * (perf_counter() - start))
    return float(np.median(taken[1:]))


def main(chosen: Sequence[str]) -> None:
    """Measure the cases that are named, all by default."""
    cases = [case for name in chosen or CASES for case in CASES[name]]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        rows = [measured(browser, case) for case in cases]
        browser.close()
    header = ["", "median, ms", "95 %, ms", "most, ms", "answer alone, ms", "first page, s"]
    lines = [
        INTRODUCTION,
        *markdown(header, [moves for moves, _ in rows]),
        "",
        "*Answer alone* is the same search and its classes, held against the policy, without a",
        "browser: the median of 20. *First page* is from opening the link to the first answer: the",
        "table is counted then, and kernels are loaded.",
        "",
        "## Views",
        "",
        "Milliseconds from a click on a view until it is there. What takes longer to compute, such",
        "as a frontier, shows its points as they come.",
        "",
        *markdown(["", *VIEWS], [views for _, views in rows]),
        "",
    ]
    RESULTS.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
