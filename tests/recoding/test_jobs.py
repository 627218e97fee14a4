"""Searches in several jobs, wherever joblib's caller places them: the same result from all."""

import pickle
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib.parallel import ThreadingBackend, register_parallel_backend

from anonymizer import (
    Anonymizer,
    Boxes,
    FullDomain,
    Hierarchy,
    KAnonymity,
    MergedCells,
    TCloseness,
    VariableRange,
)
from anonymizer.recoding.partitions import joint
from anonymizer.recoding.recoding import Recoding


class Elsewhere(ThreadingBackend):
    """Jobs that share nothing: what they get and give are copies, as on other machines."""

    supports_return_generator = False
    sent = 0

    def submit(self, func, callback=None):
        packed = pickle.dumps(func)

        def carried_out():
            Elsewhere.sent += 1
            return pickle.loads(pickle.dumps(pickle.loads(packed)()))

        return super().submit(carried_out, callback)


register_parallel_backend("elsewhere", Elsewhere)


JOBS = ("nurse", "vet", "smith", "mason", "monk")
CRAFTS = {"smith": "craft", "mason": "craft"}


def people(records: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, records)
    columns = {
        "age": age,
        "job": rng.choice(JOBS, records),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], records),
        "w": np.where(rng.random(records) < age / 90, "ill", "well"),
    }
    return pd.DataFrame(columns)


def estimator(recoding: str | Recoding, **options: object) -> Anonymizer:
    known = {
        "age": Hierarchy.ranges(widths=[5, 10, 20]),
        "job": Hierarchy.from_rows([[job, CRAFTS.get(job, "other")] for job in JOBS]),
        "town": "suppress",
    }
    policy = [KAnonymity(4), TCloseness(0.5, "kl")]
    return Anonymizer(known, "w", policy, recoding=recoding, **options)


SEARCHES = {
    "exhaustive": FullDomain(search="exhaustive"),
    "suppression": FullDomain(suppression=0.05),
    "ranges": VariableRange(refinement="heuristic"),
    "boxes by dynamic programming": Boxes(grid=5),
    "boxes by beam": Boxes(),
    "merged cells": MergedCells(grid=30, max_classes=3),
}


def told(made: Anonymizer) -> dict[str, object]:
    """What a manifest reports, but for the time limit among what was requested."""
    told = made.release_.to_dict()
    del told["study"]
    return told


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_jobs_may_be_on_other_machines(name, monkeypatch):
    """With progress that cannot be sent, and a time limit that is not in the way."""
    monkeypatch.setattr("anonymizer.recoding.problem.WORTH_JOBS", 1)
    monkeypatch.setattr("anonymizer.recoding.boxes.search.WORTH_JOBS", 1)
    monkeypatch.setattr(joint, "refine_exactly", lambda *_: None)  # as where there are too many
    table, lock = people(), threading.Lock()

    def watch(*_: object) -> None:
        with lock:
            pass

    alone = estimator(SEARCHES[name], progress=False)
    released = alone.fit_transform(table)
    limit = None if isinstance(SEARCHES[name], FullDomain) else 60
    there = estimator(SEARCHES[name], progress=watch, n_jobs=2, time_limit=limit)
    before = Elsewhere.sent
    with joblib.parallel_config(backend="elsewhere"):
        again = there.fit_transform(table)
    assert Elsewhere.sent > before
    pd.testing.assert_frame_equal(again, released)
    assert told(there) == told(alone)
