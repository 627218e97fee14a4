"""Run one peer on one table: what peers.py starts in a process of its own, under a time limit.

    python benchmarks/peer_process.py DIRECTORY

DIRECTORY holds table.csv and ask.json; the answer is left there as released.csv and answer.json.
Knows nothing of this project, so that it runs under the interpreter that has the peers: anjana
fixes the versions of pandas and NumPy.
"""

import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd

Ask = Mapping[str, Any]
Work = Callable[[pd.DataFrame], pd.DataFrame | None]


def anjana(ask: Ask) -> Work:
    """The function of anjana that answers for the strictest model asked for."""
    functions = import_module("anjana.anonymity")
    # Values that occur alone: anjana looks every record's label up in the level before.
    hierarchies = {name: dict(enumerate(levels)) for name, levels in ask["hierarchies"].items()}
    names, k, share = list(hierarchies), ask["k"] or 1, 100 * ask["suppression"]
    about = ask["sensitive"]
    if ask["t"] is not None:
        return lambda table: functions.t_closeness(
            table, [], names, about, k, ask["t"], share, hierarchies
        )
    if ask["l"] is not None:
        return lambda table: functions.entropy_l_diversity(
            table, [], names, about, k, ask["l"], share, hierarchies
        )
    return lambda table: functions.k_anonymity(table, [], names, k, share, hierarchies)


def crowds(ask: Ask) -> Work:
    """The search of crowds (OLA) under its own default loss."""
    rule = import_module("crowds.kanonymity.generalizations").GenRule
    search = import_module("crowds.kanonymity.ola").anonymize
    rules = {
        name: rule([dict(zip(levels[0], level, strict=True)).get for level in levels[1:-1]])
        for name, levels in ask["hierarchies"].items()
    }

    def work(table: pd.DataFrame) -> pd.DataFrame | None:
        found = search(table, rules, k=ask["k"], max_sup=100 * ask["suppression"])
        return None if found is None else found[0]

    return work


PEERS: Mapping[str, Callable[[Ask], Work]] = {"anjana": anjana, "crowds": crowds}


def main() -> None:
    """Answer; the clock runs while the peer works, not while it is imported or files are read."""
    directory = Path(sys.argv[1])
    ask = json.loads((directory / "ask.json").read_text(encoding="utf-8"))
    table = pd.read_csv(directory / "table.csv", dtype=str, keep_default_na=False)
    if ask["sort"]:
        table = table.sort_values(ask["sort"])  # records keep the labels of their index
    work = PEERS[ask["peer"]](ask)
    start = perf_counter()
    released = work(table)
    seconds = perf_counter() - start
    if released is not None and len(released):
        # crowds' top level is None
        released.fillna("*").to_csv(directory / "released.csv", index=False)
    answer = {"seconds": seconds, "version": version(ask["peer"]), "pandas": pd.__version__}
    (directory / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
