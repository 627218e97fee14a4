"""Data that tests share. Real tables are skipped where they cannot be had, never in CI."""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path

# Processes that share a machine take each other's cores when linear algebra spins on all of them.
# It is read once, when NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from lengths import LONG, WITHIN
from releases import KINDS, OTHER_KINDS, release_of

from anonymizer import InputError, load_adult

# Where modules are not kept compiled, as images of machines often have it, each process that a
# test starts compiles the library anew, and each worker the tests: seconds each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts the tests in the background has switched Ctrl-C off for all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The speed of a shared machine must not decide whether a test passes. The same few examples are
# tried each time; HYPOTHESIS_PROFILE=thorough tries many others.
settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=12,
)
settings.register_profile(
    "thorough", settings.get_profile("suite"), derandomize=False, max_examples=500
)
settings.register_profile("long", settings.get_profile("suite"), max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "long" if LONG else "suite"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect thousands of tests, none of which is garbage: looking for some takes a quarter."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 100)  # tests make much and leave little: a twentieth less


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what only ``make long`` tries, and put what needs Spark first.

    One worker then starts it, and no other takes a test of these: workers get the list in pieces
    that hang together, and take from the ends of others' pieces.
    """
    for item in items:
        if of_clusters(item):
            item.add_marker("slow")
    if not LONG:
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    items.sort(key=lambda item: not of_clusters(item))


first_began = cache(time.monotonic)


def pytest_runtest_setup() -> None:
    """Leave what has not begun within the time of ``make quick`` to ``make test``."""
    if time.monotonic() - first_began() > float(os.environ.get(WITHIN, "inf")):
        pytest.skip("the time of `make quick` is over; `make test` runs it")


def of_clusters(item: pytest.Item) -> bool:
    """Whether a test starts a cluster, which takes seconds."""
    return "spark" in item.nodeid or "cluster" in item.nodeid


def pytest_sessionfinish() -> None:
    """What was collected may go at the end, as libraries that count what is left expect."""
    gc.unfreeze()


SEARCHED = {"test_plots.py"}
"""Where merged cells are searched for as long as by default: there the search is the point."""


@pytest.fixture(autouse=True, scope="module")
def brief(request: pytest.FixtureRequest) -> Iterator[None]:
    """Merged cells are searched for briefly: what is done with a search's result is the same."""
    from anonymizer.recoding import merged_cells

    with pytest.MonkeyPatch.context() as patched:
        if not LONG and not SEARCHED & {request.path.parent.name, request.path.name}:
            patched.setattr(merged_cells, "PATIENCE", merged_cells.PATIENCE // 10)
        yield


@pytest.fixture(autouse=True, scope="session")
def unkept() -> Iterator[None]:
    """No test has a machine lose its power, and to wait for a disk takes a tenth of a release."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def published_from(tmp_path: Path) -> Callable[[pd.DataFrame, str], tuple[Path, Path]]:
    """A release by the text of a study, whose table is ``raw.csv``: both their paths."""
    from anonymizer.release.publish import publish
    from anonymizer.release.study import Study

    def of(table: pd.DataFrame, study: str) -> tuple[Path, Path]:
        table.to_csv(tmp_path / "raw.csv", index=False)
        (tmp_path / "study.toml").write_text(study)
        publish(Study(tmp_path / "study.toml"), tmp_path / "release")
        return tmp_path / "release", tmp_path / "raw.csv"

    return of


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A release of a kind, published once for all: tests change copies of it."""
    made: dict[str, Path] = {}

    def of(kind: str) -> Path:
        if kind not in made:
            of_kind = {**KINDS, **OTHER_KINDS}[kind]
            made[kind] = release_of(of_kind, tmp_path_factory.mktemp("release"))
        return made[kind]

    return of


@pytest.fixture(scope="session")
def release(published: Callable[[str], Path]) -> Callable[[str], Path]:
    """The same, unless a file has a release of its own."""
    return published


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Callable[..., tuple[int, str, str]]:
    """The command line in this process: exit code, output, errors but warnings.

    None of SECRETS is in these.
    """
    from forked import unwarned

    from anonymizer.cli import main

    secrets = getattr(request.module, "SECRETS", ())

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([*map(str, arguments)])
        out, err = capsys.readouterr()
        assert not [secret for secret in secrets if secret in out + err]
        return stop.value.code, out, unwarned(err)

    return call


def unavailable(reason: str) -> None:
    if "ANONYMIZER_DATA" in os.environ:
        pytest.fail(f"ANONYMIZER_DATA is set, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def adult() -> pd.DataFrame:
    """Real UCI Adult, the 30 162 records without missing values."""
    try:
        return load_adult().dropna()
    except InputError as error:
        unavailable(str(error))
        raise


@pytest.fixture(scope="session")
def extract() -> Path:
    """The directory of the Adult extract with ARX's own hierarchies."""
    directory = Path(os.environ.get("ANONYMIZER_DATA", "."), "arx-adult")
    if not (directory / "adult.csv").exists():
        unavailable("there is no arx-adult/adult.csv in the data directory")
    return directory
