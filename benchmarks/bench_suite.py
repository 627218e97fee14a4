"""Where the time of the tests goes: by directory and by kind, from one run of all of them.

    python benchmarks/bench_suite.py [DIRECTORY]

Needs ANONYMIZER_DATA and an idle machine. Runs ``make test`` with the plugin ``suite_clock``, or
reads what that wrote into a directory, and writes benchmarks/results/suite.md.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from measure import table as markdown

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "suite.md"
BROWSER = {"browser", "page", "demonstration"}

INTRODUCTION = """# Where the time of the tests goes

Made by `python benchmarks/bench_suite.py`: seconds of three workers, added up, on two cores that
had nothing to do but `make test`. Kinds are exclusive: what is waited for is in no other.
"""


@dataclass
class Spent:
    """Seconds of a test: in all, waiting for processes, and in its fixtures."""

    test: str
    seconds: float = 0.0
    waiting: float = 0.0
    fixtures: float = 0.0
    browser: bool = False

    @property
    def room(self) -> str:
        """The directory of the test."""
        return self.test.partition("::")[0].rpartition("/")[0]

    def kinds(self) -> Mapping[str, float]:
        """The seconds by kind."""
        waiting = min(self.waiting, self.seconds)  # waited for in several threads at once
        rest = self.seconds - waiting
        fixtures = min(self.fixtures, max(rest, 0))
        kind = "tests themselves"
        if self.browser:
            kind = "tests in a browser"
        elif "spark" in self.test or "cluster" in self.test:
            kind = "tests of Spark and of clusters"
        return {
            "waiting for processes": waiting,
            "fixtures": fixtures,
            kind: rest - fixtures,
        }


def measured(directory: Path) -> tuple[list[Spent], float]:
    """What each test took, and collection in all workers."""
    found: dict[str, Spent] = {}
    collecting = 0.0
    for path in directory.glob("*.jsonl"):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if line["part"] == "collection":
                collecting += line["seconds"]
                continue
            spent = found.setdefault(line["test"], Spent(line["test"]))
            spent.seconds += line["seconds"]
            spent.waiting += line["waiting"]
            spent.fixtures += line["seconds"] if line["part"] != "call" else 0.0
            spent.browser |= bool(BROWSER & {*line["fixtures"]})
    return [*found.values()], collecting


def by(tests: list[Spent], parts: Callable[[Spent], Mapping[str, float]]) -> list[list[str]]:
    """Rows of seconds, the most first."""
    seconds: dict[str, float] = defaultdict(float)
    for test in tests:
        for name, spent in parts(test).items():
            seconds[name] += spent
    order = sorted(seconds.items(), key=lambda item: -item[1])
    return [[name, f"{spent:,.0f}"] for name, spent in order]


def report(directory: Path) -> str:
    """The page."""
    tests, collecting = measured(directory)
    total = sum(test.seconds for test in tests)
    kinds = [["collection", f"{collecting:,.0f}"], *by(tests, Spent.kinds)]
    longest = sorted(tests, key=lambda test: -test.seconds)[:20]
    return "\n".join(
        [
            INTRODUCTION,
            f"{len(tests):,} tests, {total:,.0f} s.\n",
            *markdown(["kind", "seconds"], kinds),
            "",
            *markdown(["directory", "seconds"], by(tests, lambda test: {test.room: test.seconds})),
            "",
            *markdown(["test", "seconds"], [[f"`{t.test}`", f"{t.seconds:.1f}"] for t in longest]),
            "",
        ]
    )


def main() -> None:
    """Run the tests, or read what a run has written, and write the page."""
    if len(sys.argv) > 1:
        RESULTS.write_text(report(Path(sys.argv[1])), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as directory:
        clock = {"SUITE_CLOCK": directory, "PYTEST_ADDOPTS": "-p suite_clock"}
        environment = {**os.environ, **clock, "PYTHONPATH": str(HERE)}
        subprocess.run(["make", "test"], cwd=HERE.parent, env=environment, check=True)
        RESULTS.write_text(report(Path(directory)), encoding="utf-8")


if __name__ == "__main__":
    main()
