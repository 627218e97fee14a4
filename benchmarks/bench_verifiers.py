"""How long a recipient waits for a million records: a browser, Python alone, three databases.

    python benchmarks/bench_verifiers.py [--records 1000000]

Writes benchmarks/results/verifiers.md. The release is CSV with four quasi-identifiers and two
sensitive attributes under four models. Each is started anew; what a database takes has the loading
of the table in it. What is not installed is left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from postgres import PLACES, Server, served

from anonymizer.release.publish import publish
from anonymizer.release.study import Study

RESULTS = Path(__file__).parent / "results" / "verifiers.md"
STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = { widths = [5, 10, 20] }
sex = "suppress"
zip = { suffixes = [2, 1] }
job = "suppress"
[sensitive]
attributes = ["illness", "income"]
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "t-closeness"
t = 0.5
distance = "kl"
[[privacy]]
model = "entropy-l-diversity"
l = 1.5
[output]
verifiers = ["python", "sql", "html"]
"""
DUCKDB = """
import duckdb, sys
script = open("verify.sql").read()
head = script.partition("-- DuckDB:")[2].partition("\\n--\\n")[0]
database = duckdb.connect()
database.execute("\\n".join(line[2:] for line in head.splitlines()))
lines = [line for line in script.splitlines() if not line.startswith("--")]
for statement in "\\n".join(lines).split(";\\n"):
    if statement.strip() and "no" in {row[-1] for row in database.execute(statement).fetchall()}:
        sys.exit(1)
"""


def released(place: Path, records: int) -> tuple[Path, int]:
    """A release of made-up people, and its classes."""
    rng = np.random.default_rng(0)
    pd.DataFrame(
        {
            "age": rng.integers(18, 90, records),
            "sex": rng.choice(["f", "m"], records),
            "zip": rng.integers(100, 400, records),
            "job": rng.choice(["nurse", "vet", "smith", "monk"], records),
            "illness": rng.choice(["flu", "cold", "hiv", "asthma", "cancer"], records),
            "income": rng.choice(["low", "middle", "high"], records),
        }
    ).to_csv(place / "people.csv", index=False)
    (place / "study.toml").write_text(STUDY, encoding="utf-8")
    manifest = publish(Study(place / "study.toml"), place / "out")[1]
    return place / "out", manifest.classes


def by_page(release: Path) -> None:
    """The page in Chromium, from the files to the verdict."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        where, flags = shutil.which("chromium-headless-shell"), ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=where, args=flags)
        page = browser.new_page()
        page.goto((release / "verify.html").as_uri())
        page.set_input_files("#files", [str(each) for each in release.iterdir()])
        page.wait_for_selector("#summary[data-state=holds]", timeout=600_000)
        browser.close()


def by_postgresql(server: Server, release: Path) -> None:
    """A server that runs already."""
    script = (release / "verify.sql").read_text(encoding="utf-8")
    head = script.partition("-- PostgreSQL,")[2].partition("\n--\n")[0].splitlines()[1:]
    loading = "\n".join(line.removeprefix("--") for line in head)
    loading = loading.replace("released.csv", str(release / "released.csv"))
    server.psql(f"{loading}\n{script}")


def ways(server: Server | None) -> dict[str, Callable[[Path], object]]:
    """What can be tried here, by name."""

    def started(*command: str, script: str | None = None) -> Callable[[Path], object]:
        return lambda release: subprocess.run(
            command, cwd=release, input=script, text=True, check=True, stdout=subprocess.DEVNULL
        )

    found = {
        "`verify.html`, Chromium": by_page,
        "`verify.py`": started(sys.executable, "-I", "verify.py"),
        "`verify.sql`, DuckDB": started(sys.executable, "-c", DUCKDB),
        "`anonymizer verify`": started(sys.executable, "-m", "anonymizer", "verify", "."),
    }
    if shutil.which("sqlite3"):
        dots = [".mode csv", '.separator ","', ".import released.csv released", ".read verify.sql"]
        found["`verify.sql`, SQLite"] = started("sqlite3", script="\n".join(dots))
    if server is not None:
        found["`verify.sql`, PostgreSQL"] = partial(by_postgresql, server)
    return found


def main() -> None:
    """Time each, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    records = parser.parse_args().records
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place.chmod(0o755)  # a server of its own user reads the table
        release, classes = released(place, records)
        size = (release / "released.csv").stat().st_size / 1e6
        lines = []
        for name, run in ways(stack.enter_context(served()) if PLACES else None).items():
            begin = time.perf_counter()
            run(release)
            lines.append(f"| {name} | {time.perf_counter() - begin:.1f} |")
    RESULTS.write_text(
        "# Verifying without an installation\n\n"
        f"Made by `python benchmarks/bench_verifiers.py`: {records:,} records in {classes:,} "
        f"classes,\n{size:.0f} MB of CSV, four quasi-identifiers, two sensitive attributes; "
        "k-anonymity, t-closeness and\nentropy l-diversity. Once each, from the start of the "
        f"program to the last verdict, on {os.cpu_count()} cores\nthat others used as well.\n\n"
        "| with | seconds |\n|---|---|\n" + "\n".join(lines) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
