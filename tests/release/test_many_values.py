"""A sensitive attribute of thousands of values, from the table to the report."""

import contextlib
import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from anonymizer import Anonymizer, EntropyLDiversity, Hierarchy, KAnonymity
from anonymizer.cli import main
from anonymizer.counts import pairs
from anonymizer.counts.counting import Counted
from anonymizer.counts.schema import Schema

VALUES = 3000

STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = { widths = [5, 20] }
zip = { widths = [8, 40] }
sex = "suppress"
[sensitive]
attributes = ["income"]
[[privacy]]
model = "k-anonymity"
k = 4
[[privacy]]
model = "entropy-l-diversity"
l = 3
[[privacy]]
model = "t-closeness"
t = 0.95
distance = "ordered"
[recoding]
method = "full-domain"
suppression = 0.05
"""


@pytest.fixture(scope="module")
def people():
    """6,000 records in some 3,000 combinations, of incomes of which most are near to each other."""
    rng = np.random.default_rng(4)
    records = 6000
    shares = 1 / np.arange(1, VALUES + 1) ** 0.6
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, records),
            "zip": rng.integers(0, 40, records),
            "sex": rng.choice(["f", "m"], records),
            "income": 1000 + rng.choice(VALUES, records, p=shares / shares.sum()),
        }
    )


def counted(people):
    schema = Schema(("age", "zip", "sex"), ("income",))
    hierarchies = {name: Hierarchy.suppression() for name in schema.quasi_identifiers}
    return Counted.of(people, schema, hierarchies, None).counts


def test_the_table_has_sparse_counts(people):
    joint = counted(people).joint["income"]
    assert isinstance(joint, csr_array)
    assert joint.nnz <= len(people)


def run(*words):
    """The exit code of a command, and what it says."""
    output = io.StringIO()
    with pytest.raises(SystemExit) as stop, contextlib.redirect_stdout(output):
        main([str(word) for word in words])
    return stop.value.code, output.getvalue()


@pytest.fixture(scope="module")
def said(people, tmp_path_factory):
    """What every command says of the table, its counts being arrays or sparse: a list of two."""
    found = []
    for few in (10**9, pairs.FEW_CELLS):
        folder = tmp_path_factory.mktemp("many")
        people.to_csv(folder / "people.csv", index=False)
        (folder / "study.toml").write_text(STUDY)
        study, release = folder / "study.toml", folder / "release"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pairs, "FEW_CELLS", few)
            patch.chdir(folder)
            quality = ["quality", release / "released.csv"]
            commands = {
                "run": ["run", study, "--output", release, "--json"],
                "verify": ["verify", release, "--json"],
                "check": ["check", "people.csv", "--study", study, "--json"],
                "risk": ["risk", "people.csv", "--study", study, "--json"],
                "audit": ["audit", release, "--against", "people.csv", "--json"],
                "quality": [*quality, "--study", study, "--no-classifiers", "--json"],
                "report": ["report", release, "--output", "report.md"],
            }
            outputs = {name: run(*words) for name, words in commands.items()}
        files = {
            name: (folder / name).read_text()
            for name in ("release/released.csv", "release/release.json", "report.md")
        }
        found.append((outputs, files))
    return found


def plain(value):
    """The numbers, texts and lists of a JSON document, one after the other."""
    if isinstance(value, dict):
        return [each for key in sorted(value) for each in (key, *plain(value[key]))]
    if isinstance(value, list):
        return [each for part in value for each in plain(part)]
    return [value]


def assert_alike(one, other):
    """Equal but for the last bits of numbers."""
    for first, second in zip(plain(one), plain(other), strict=True):
        if isinstance(first, float):
            assert second == pytest.approx(first, rel=1e-11, abs=1e-11)
        elif not (isinstance(first, str) and "/" in first):  # the path of the folder
            assert second == first


@pytest.mark.parametrize("command", ["run", "verify", "check", "risk", "audit", "quality"])
def test_every_command_says_the_same_of_both_kinds(said, command):
    (dense, _), (sparse, _) = said
    assert dense[command][0] == sparse[command][0] == (1 if command == "check" else 0)
    assert_alike(*(json.loads(each[command][1]) for each in (dense, sparse)))


def test_the_release_is_the_same_of_both_kinds(said):
    (_, dense), (_, sparse) = said
    assert sparse["release/released.csv"] == dense["release/released.csv"]
    assert sparse["report.md"] == dense["report.md"]
    assert_alike(*(json.loads(each["release/release.json"]) for each in (dense, sparse)))


def test_what_is_fitted_keeps_the_policy_and_information(people):
    """Of more values than classes have records: every figure is one of the sparse counts."""
    widths = {"age": [5, 20], "zip": [8, 40]}
    anonymizer = Anonymizer(
        quasi_identifiers={
            **{name: Hierarchy.ranges(widths=each) for name, each in widths.items()},
            "sex": "suppress",
        },
        sensitive="income",
        privacy=[KAnonymity(4), EntropyLDiversity(3)],
    )
    released = anonymizer.fit_transform(people)
    by_class = released.groupby(["age", "zip", "sex"])["income"]
    shares = by_class.value_counts(normalize=True)
    bits = -(shares * np.log2(shares)).groupby(level=[0, 1, 2]).sum()
    release = anonymizer.release_
    assert by_class.size().min() == release.privacy[0].worst >= 4
    assert 2 ** bits.min() == pytest.approx(release.privacy[1].worst)
    whole = people["income"].value_counts(normalize=True)
    retained = -(whole * np.log2(whole)).sum() - (bits * by_class.size()).sum() / len(people)
    assert release.information.retained == pytest.approx(retained)
