"""The fuzzers, briefly, and whether they would notice; ``python -m tests.fuzz`` runs long."""

import random
from pathlib import Path

import pandas as pd
import pytest
from cases import BOUNDED
from fuzz import recount, studies
from fuzz.__main__ import fuzz as command
from fuzz.__main__ import names_of
from fuzz.exercise import Outcome, exercise
from fuzz.mutations import PARSERS
from fuzz.pairs import told_apart
from fuzz.policies import POLICIES
from fuzz.readers import CSV_READERS, PARQUET_READERS, views_of
from fuzz.reread import recounted
from fuzz.studies import RECODINGS, case_of, lay
from fuzz.summary import Summary
from fuzz.workers import tried
from lengths import at_length

from anonymizer import privacy
from anonymizer.masking.options import RandomRecoding
from anonymizer.release.request import RECODINGS as KINDS
from anonymizer.tables.files import write_table
from anonymizer.tables.relations.embedded.stored import Stored

SLOW = ("merged-cells", "random", "boxes")
"""Recodings of which the short run tries few: they compile something, or search long."""


def quick(numbers: range, slow: int) -> list[str]:
    """Names of studies, those of slow recodings up to so many."""
    names = [f"study:{number}" for number in numbers]
    long = [name for name in names if case_of(name).recoding in SLOW]
    return [name for name in names if name not in long[slow:]]


def failures(names: list[str]) -> dict[str, list[tuple[str, str]]]:
    return {name: found for name in names if (found := tried(name).failures)}


@pytest.mark.parametrize("start", range(0, 30, 10))
def test_random_studies_hold(start):
    assert failures(quick(range(start, start + 10), 1)) == {}


@pytest.mark.parametrize("parser", PARSERS)
def test_changed_files_end_in_one_line_or_a_release(parser):
    assert failures([f"{parser}:{number}" for number in range(at_length(8, 15))]) == {}


# What the studies are about


def test_every_model_and_recoding_of_the_library_is_tried():
    known = {"random" if issubclass(kind, RandomRecoding) else name for name, kind in KINDS.items()}
    # A release does not show whose its records are, nor who lives together: see test_persons and
    # test_households of tests.release.
    shown = [kind for kind in BOUNDED if not (kind.of_persons or kind.of_households)]
    needed = {"population-uniqueness", *(kind.name for kind in shown)}
    assert needed <= set(POLICIES) <= set(privacy.MODELS)
    assert set(POLICIES) == {*recount.SIZES, *recount.VALUES}
    assert set(RECODINGS) == known


def test_many_studies_lead_to_a_release():
    ended = [tried(name).ended for name in quick(range(200, 220), 0)]
    assert ended.count("released") > len(ended) / 2


def test_a_name_always_means_the_same_case(tmp_path):
    for place in ("one", "other"):
        (tmp_path / place).mkdir()
        lay(case_of("study:3"), tmp_path / place)
    files = [{p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("one", "other")]
    assert files[0] == files[1] != {}


# Whether the recount would notice


DOCUMENT = {
    "quasi-identifiers": {"age": "age.toml"},
    "sensitive": {"attributes": ["ill"]},
    "privacy": [],
}


def found(path: Path, *policy: dict) -> set[str]:
    kinds = recounted({**DOCUMENT, "privacy": policy}, {}, path, ",", Summary().readers)
    return {kind for kind, _ in kinds}


def test_texts_that_readers_take_for_one_value_are_no_diversity(tmp_path):
    """Two classes of two: by their texts each has two values, for pandas, DuckDB and Arrow one."""
    path = tmp_path / "released.csv"
    path.write_text("age,ill\n1,1\n1,1.0\n2,2\n2,2.0\n")
    broken = found(path, {"model": "distinct-l-diversity", "l": 2})
    readers = set(CSV_READERS) - {"text"}
    assert broken == {f"csv/{reader} breaks distinct-l-diversity" for reader in readers}


def test_a_value_spelled_otherwise_stands_alone_for_who_reads_texts(tmp_path):
    path = tmp_path / "released.csv"
    path.write_text("age,ill\n1,a\n1,a\n1.0,a\n")
    assert found(path, {"model": "k-anonymity", "k": 2}) == {"csv/text breaks k-anonymity"}


def test_zeros_of_either_sign_are_one_value_of_parquet(tmp_path):
    path = tmp_path / "released.parquet"
    pd.DataFrame({"age": [1.0, 1.0], "ill": [0.0, -0.0]}).to_parquet(path)
    broken = found(path, {"model": "distinct-l-diversity", "l": 2})
    readers = set(PARQUET_READERS) - {"text"}
    assert broken == {f"parquet/{reader} breaks distinct-l-diversity" for reader in readers}


def test_what_readers_take_for_missing_is_one_value(tmp_path):
    path = tmp_path / "released.csv"
    path.write_text("age,ill\n1,NA\n1,null\n1,\n")
    views = views_of(path, ",")
    assert views["text"]["ill"] == [0, 1, 2]
    assert views["pandas"]["ill"] == [None, None, None]


@pytest.mark.parametrize(
    ("policy", "broken"),
    [
        ({"model": "k-anonymity", "k": 3}, True),
        ({"model": "k-anonymity", "k": 2}, False),
        ({"model": "entropy-l-diversity", "l": 2}, True),
        ({"model": "t-closeness", "distance": "equal", "t": 0.49}, True),
        ({"model": "t-closeness", "distance": "equal", "t": 0.5}, False),
        ({"model": "t-closeness", "distance": "ordered", "t": 0.5, "order": ["x", "y"]}, False),
        ({"model": "basic-beta-likeness", "beta": 0.9}, True),
        ({"model": "delta-disclosure", "delta": 9}, True),
        ({"model": "average-reidentification-risk", "risk": 0.49}, True),
        ({"model": "highest-reidentification-risk", "risk": 0.5}, False),
        ({"model": "mean-information", "bits": 0.99}, True),
        ({"model": "itpr", "risk": 0.99}, True),
        ({"model": "reidentification-itpr", "risk": 0.5}, False),
        ({"model": "population-uniqueness", "uniqueness": 0, "fraction": 1}, False),
    ],
)
def test_models_are_recounted_by_their_definitions(tmp_path, policy, broken):
    """Two classes of two records, of one value each: what one record of each tells is certain."""
    path = tmp_path / "released.csv"
    path.write_text("age,ill\n1,x\n1,x\n2,y\n2,y\n")
    assert bool(found(path, policy)) == broken


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(1.0, 0.01, 21), (1.0, 1e-6, 74)])
def test_k_of_a_private_sample_follows_from_epsilon_and_delta(epsilon, delta, k):
    """As in SafePub's own table, and in ``test_sampled.py``."""
    assert recount.smallest_class(epsilon, delta) == k


# Whether a study that goes wrong would be noticed


def released_case() -> studies.Case:
    """A study with an identifier that is released as CSV."""
    for number in range(1000):
        case = case_of(f"study:{number}")
        if case.route == "csv" and "name" in case.table and case.recoding == "full-domain":
            outcome = tried(case.name)
            if outcome.ended == "released" and not outcome.failures:
                return case
    raise AssertionError("no such study")


def wrong(case: studies.Case, directory: Path) -> set[str]:
    return {kind.partition(":")[0] for kind, _ in exercise(case, directory).failures}


def test_an_identifier_in_a_release_is_noticed(tmp_path, monkeypatch):
    case = released_case()

    def write(table, path, form, parts):
        write_table(table.frame(table.columns).assign(note=studies.MARK), path, form)

    monkeypatch.setattr(Stored, "write", write)
    assert "identifier in output" in wrong(case, tmp_path)


def test_an_error_that_nobody_foresaw_is_noticed(tmp_path, monkeypatch):
    case = released_case()
    monkeypatch.setattr(Stored, "write", lambda *_: {}["nothing"])
    assert "internal error" in wrong(case, tmp_path)


def test_a_file_left_behind_is_noticed(tmp_path, monkeypatch):
    def fail(*_):
        (tmp_path / ".left").touch()
        raise OSError("disk full")

    case = released_case()
    monkeypatch.setattr(Stored, "write", fail)
    assert "left behind" in wrong(case, tmp_path)


# What is printed


def test_the_summary_names_the_command_that_repeats_a_failure():
    summary = Summary()
    summary.add(Outcome("study:7", "released", "cut", ["k-anonymity"]))
    summary.add(Outcome("manifest:3", "exit 3", "manifest", failures=[("exit", "exit code 3")]))
    text = str(summary)
    assert "study cut" in text
    assert "1 failures of 1 kinds" in text
    assert "python -m tests.fuzz --one manifest:3   # exit code 3" in text


def test_cases_are_numbered_from_the_seed():
    names = list(names_of(5, 12, 1, ("rule",)))
    assert names == [f"study:{n}" for n in range(5, 15)] + ["rule:5", "study:15", "study:16"]


def test_one_case_is_repeated(capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        command(["--one", "rule:1", "--keep", str(tmp_path)])
    assert ended.value.code == 0
    assert "nothing failed" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(4))
def test_what_a_reader_takes_for_one_value_has_one_key(tmp_path, seed):
    tried, apart = told_apart(random.Random(seed), tmp_path)
    assert tried > 50
    assert apart == []


def test_pairs_that_are_told_apart_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.pairs.read_keys", list)
    assert told_apart(random.Random(0), tmp_path)[1]
