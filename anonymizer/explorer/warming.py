"""Machine code of the searches, compiled next to the page: nobody who moves a slider waits for it.

Once for an installation. Compiling takes some 20 seconds, and the answers until then are those of
slower code.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from getpass import getuser
from itertools import product
from math import inf
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from time import sleep

from anonymizer.errors import InputError
from anonymizer.release.system import locked

PATIENCE = 10
"""How much other processes come first, as ``nice`` has it."""

OFTEN = 0.5
"""Seconds between two looks whether the process that wants it is still there."""


@contextmanager
def warmed() -> Iterator[None]:
    """Let another process compile what is not on disk yet, for as long as this one goes on."""
    from anonymizer.kernels import driver

    driver.account.spent = -inf  # however long searches take, nothing is compiled in this process
    if driver.pays(False):
        yield
        return
    process = subprocess.Popen(  # noqa: S603 (this Python, and a module of this package)
        [sys.executable, "-m", __name__, str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def warm() -> None:
    """Compile what searches of levels need, and keep it on disk: by searching a small table.

    Nothing is done where it is there already.
    """
    from anonymizer.kernels import driver

    if not driver.pays(False):  # before anything else is loaded, which takes longer than to look
        search_a_little()


def search_a_little() -> None:
    """Search the levels of a small table, with and without suppression, in machine code."""
    import pandas as pd

    from anonymizer.counts.counting import Counted
    from anonymizer.counts.schema import Schema
    from anonymizer.hierarchy import Hierarchy
    from anonymizer.kernels import compiled_kernel
    from anonymizer.privacy import EntropyLDiversity, KAnonymity, TCloseness
    from anonymizer.recoding import Problem, Suppression
    from anonymizer.recoding.full_domain.solve import solve
    from anonymizer.recoding.problem import ALONE

    rows = product(range(20, 60, 5), "ab", "xyz")
    table = pd.DataFrame(rows, columns=["age", "sex", "diagnosis"])
    hierarchies = {"age": Hierarchy.ranges(widths=[10, 20]), "sex": Hierarchy.suppression()}
    schema = Schema(tuple(hierarchies), ("diagnosis",), (), "error", ())
    counted = Counted.of(table, schema, hierarchies, None)
    models = (KAnonymity(5), EntropyLDiversity(1.5), TCloseness(0.5, distance="kl"))
    for suppression in (Suppression(), Suppression(0.1)):
        problem = Problem(
            counted.counts,
            counted.taxonomies,
            models,
            suppression=suppression,
            kernel=compiled_kernel(),
        )
        solve(problem, "automatic", ALONE)


def _alone(parent: int) -> None:
    """Compile, if nobody else does at the time, and for no longer than whoever wants it lives."""
    Thread(target=_outlived, args=[parent], daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(PATIENCE)
    place = Path(gettempdir()) / f"anonymizer-compiling-{getuser()}"
    with suppress(InputError), locked(place, place, "cannot lock"):
        warm()


def _outlived(parent: int) -> None:
    while os.getppid() == parent:
        sleep(OFTEN)
    os._exit(0)


if __name__ == "__main__":
    _alone(int(sys.argv[1]))
