"""The peers that PyPI has, on the same workloads: what they take, and whether they keep the policy.

    pip install anjana crowds

anjana fixes the versions of pandas and NumPy, so it may need an environment of its own:
ANONYMIZER_PEERS names the Python interpreter that has the peers, this one where it is not set.
Neither is a dependency of the project; what is not installed is skipped.

What a peer cannot state is asked for as nearly as it can: anjana's l is a whole number, rounded up
here, and its t bounds the earth mover's distance (of unordered values: total variation), not a
divergence; it takes one model beside k. crowds knows k alone. So a release is held against both:
what the peer was asked for, in the peer's own terms, and the policy of the workload. Either check
counts the released table with pandas and believes nothing that the peer says.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
from workloads import Workload

from anonymizer import EntropyLDiversity, KAnonymity, TCloseness
from anonymizer.counts.counts import Classes, Ints
from anonymizer.information.entropy import entropy, mutual_information
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.lattice import Node

__all__ = [
    "PEERS",
    "Answer",
    "Ask",
    "Audit",
    "Released",
    "answers",
    "ask_peer",
    "asks",
    "audit",
    "installed",
    "released_by",
]

PEERS = ("anjana", "crowds")
LIMIT = 120.0
"""Seconds a peer is given."""
PROCESS = Path(__file__).with_name("peer_process.py")
Labels = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Ask:
    """What a peer is asked for; None where it is not asked."""

    peer: str
    k: int | None = None
    l: int | None = None  # noqa: E741 (the model's own letter)
    t: float | None = None
    sensitive: str | None = None
    suppression: float = 0
    sort: str | None = None
    """An attribute that the peer's table is sorted by, its index left as it is."""

    def __str__(self) -> str:
        wanted = {"k": self.k, "entropy l": self.l, "EMD t": self.t}
        parts = [f"{name} = {value:g}" for name, value in wanted.items() if value is not None]
        if self.suppression:
            parts.append(f"{self.suppression:.0%} suppression")
        if self.sort:
            parts.append(f"sorted by {self.sort}")
        return f"{self.peer}: {', '.join(parts)}"


@dataclass(frozen=True, eq=False)
class Released:
    """What a peer gave: every cell a text; no table where it released nothing or did not finish."""

    seconds: float | None
    table: pd.DataFrame | None
    failure: str | None = None


@dataclass(frozen=True)
class Audit:
    """What a released table is, counted from its records.

    Parameters
    ----------
    levels
        The level of each quasi-identifier: the lowest that has all labels released.
    suppressed
        Records left out.
    classes, smallest
        How many classes, and the records of the smallest.
    information
        I(X~;W) in bits, of the records released; None without a sensitive attribute.
    as_asked
        Whether every class is what the peer was asked for, and no more records were left out.
    policy
        Whether every class satisfies every model of the workload, and no more records were left
        out.
    """

    levels: Node
    suppressed: int
    classes: int
    smallest: int
    information: float | None
    as_asked: bool
    policy: bool


@dataclass(frozen=True)
class Answer:
    """What came of asking a peer.

    ``seconds`` are of the peer's work alone, not of its start or of reading files; None when it
    did not finish, and then ``failure`` says why. ``audit`` is None when nothing was released.
    """

    ask: Ask
    seconds: float | None
    audit: Audit | None
    failure: str | None = None


def asks(workload: Workload) -> list[Ask]:
    """What each peer can be asked of a workload; nothing where it can state no part of it."""
    stated = {type(model): model for model in workload.models}
    size, diversity = stated.get(KAnonymity), stated.get(EntropyLDiversity)
    closeness = stated.get(TCloseness)
    k = size.k if isinstance(size, KAnonymity) else None
    share, about = workload.suppression, next(iter(workload.sensitive), None)
    found = []
    if isinstance(diversity, EntropyLDiversity):
        found.append(Ask("anjana", k, ceil(diversity.l), None, about, share))
    if isinstance(closeness, TCloseness):
        found.append(Ask("anjana", k, None, closeness.t, about, share))
    if not found:
        found.append(Ask("anjana", k, suppression=share))
        found.append(Ask("crowds", k, suppression=share))
    return found


def answers(workload: Workload, limit: float = LIMIT) -> Iterator[Answer]:
    """Ask every installed peer what it can be asked of a workload, one after another."""
    for ask in asks(workload):
        if installed(ask.peer) is None:
            yield Answer(ask, None, None, f"skipped: {ask.peer} is not installed")
        else:
            yield ask_peer(workload, ask, limit)


def ask_peer(workload: Workload, ask: Ask, limit: float = LIMIT) -> Answer:
    """Run a peer as :func:`released_by` does, and audit what it releases."""
    labels = _labels(workload)
    found = released_by(workload, ask, limit, labels)
    audited = None if found.table is None else audit(workload, ask, found.table, labels)
    return Answer(ask, found.seconds, audited, found.failure)


def released_by(
    workload: Workload, ask: Ask, limit: float = LIMIT, labels: Labels | None = None
) -> Released:
    """Run a peer in a process of its own, ended when the limit is over.

    The limit is of the process: a second or two of it goes into imports and reading the table.
    """
    columns = [*workload.names, *workload.sensitive]
    known = _labels(workload) if labels is None else labels
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        workload.table[columns].to_csv(directory / "table.csv", index=False)
        request = json.dumps({**asdict(ask), "hierarchies": known})
        (directory / "ask.json").write_text(request, encoding="utf-8")
        try:
            done = subprocess.run(
                [_interpreter(), PROCESS, directory],
                capture_output=True,
                timeout=limit,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Released(None, None, f"no answer within {limit:g} s")
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            return Released(None, None, reason or f"ended by signal {-done.returncode}")
        answer = json.loads((directory / "answer.json").read_text(encoding="utf-8"))
        path = directory / "released.csv"
        if not path.exists():
            return Released(answer["seconds"], None, "released nothing")
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return Released(answer["seconds"], table)


@cache
def installed(peer: str) -> str | None:
    """The version of a peer, and of the pandas it runs on; None when it is not installed."""
    question = f"from importlib.metadata import version as v; print(v({peer!r}), v('pandas'))"
    done = subprocess.run(
        [_interpreter(), "-c", question], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return None
    own, pandas = done.stdout.split()
    return f"{peer} {own} on pandas {pandas}"


def audit(
    workload: Workload, ask: Ask, released: pd.DataFrame, labels: Labels | None = None
) -> Audit:
    """Count a released table and hold it against what was asked for and against the policy.

    Parameters
    ----------
    workload
        What was to be done.
    ask
        What the peer was asked for.
    released
        What it gave, every cell a text.
    labels
        The labels of the workload's hierarchies, where they are known already.
    """
    names = list(workload.names)
    suppressed = len(workload.table) - len(released)
    sizes: Ints = np.asarray(released.groupby(names).size(), np.int64)
    joint = {name: _by_value(workload, released, name) for name in workload.sensitive}
    enough = 0 <= suppressed <= workload.suppression * len(workload.table)
    return Audit(
        _levels(_labels(workload) if labels is None else labels, released),
        suppressed,
        len(sizes),
        int(sizes.min()),
        sum(mutual_information(classes.joint) for classes in joint.values()) if joint else None,
        enough and _as_asked(ask, sizes, joint),
        enough and _satisfied(workload, sizes, joint),
    )


def _satisfied(workload: Workload, sizes: Ints, joint: Mapping[str, Classes]) -> bool:
    """Whether every class satisfies every model of the policy."""
    alone = Classes(sizes[:, None], sizes.sum(keepdims=True))
    return all(
        bool(model.accepts(model.measure(classes)).all())
        for model in workload.models
        for classes in (joint.values() if model.sensitive else [alone])
    )


def _as_asked(ask: Ask, sizes: Ints, joint: Mapping[str, Classes]) -> bool:
    """Whether every class is as the peer says it makes them."""
    holds = ask.k is None or sizes.min() >= ask.k
    if ask.sensitive is None:
        return bool(holds)
    classes = joint[ask.sensitive].joint
    if ask.l is not None:
        holds = holds and entropy(classes).min() >= np.log2(ask.l) - TOLERANCE
    if ask.t is not None:
        within = classes / classes.sum(axis=1, keepdims=True)
        overall = classes.sum(axis=0) / classes.sum()
        holds = holds and abs(within - overall).sum(axis=1).max() / 2 <= ask.t + TOLERANCE
    return bool(holds)


def _by_value(workload: Workload, released: pd.DataFrame, attribute: str) -> Classes:
    """The released classes by the values of a sensitive attribute, beside the whole table's."""
    margin = workload.table[attribute].astype(str).value_counts()
    keys = [released[name] for name in workload.names]
    joint = pd.crosstab(keys, released[attribute]).reindex(columns=margin.index, fill_value=0)
    return Classes(np.asarray(joint, np.int64), np.asarray(margin, np.int64))


def _levels(labels: Labels, released: pd.DataFrame) -> Node:
    """The lowest level of each attribute that has all its released labels."""
    return tuple(
        next(level for level, texts in enumerate(levels) if set(released[name]) <= set(texts))
        for name, levels in labels.items()
    )


def _labels(workload: Workload) -> dict[str, list[list[str]]]:
    """For each attribute its values and, level by level, their labels, as texts."""
    found = {}
    for name, hierarchy in workload.hierarchies.items():
        values: Sequence[Hashable] = sorted(workload.table[name].unique())
        above = zip(*(map(str, hierarchy.labels(value)) for value in values), strict=True)
        found[name] = [list(map(str, values)), *map(list, above)]
    return found


def _interpreter() -> str:
    return os.environ.get("ANONYMIZER_PEERS", sys.executable)
