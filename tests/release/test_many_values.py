"""A sensitive attribute of thousands of values, from the table to the report."""

import io
import json
import re
from contextlib import nullcontext, redirect_stdout

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from strategies import sparse_counts

from anonymizer import Anonymizer, EntropyLDiversity, Hierarchy, KAnonymity
from anonymizer.cli import main
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
[output]
order = "kept"
"""


@pytest.fixture(scope="module")
def people():
    """2,400 records in some 1,900 combinations, of some 1,300 incomes of 3,000."""
    rng = np.random.default_rng(4)
    records = 2400
    shares = 1 / np.arange(1, VALUES + 1) ** 0.6
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, records),
            "zip": rng.integers(0, 40, records),
            "sex": rng.choice(["f", "m"], records),
            "income": 1000 + rng.choice(VALUES, records, p=shares / shares.sum()),
        }
    )


def test_the_table_has_sparse_counts(people):
    schema = Schema(("age", "zip", "sex"), ("income",))
    hierarchies = {name: Hierarchy.suppression() for name in schema.quasi_identifiers}
    with sparse_counts():
        counts = Counted.of(people, schema, hierarchies, None).counts
    joint = counts.joint["income"]
    assert isinstance(joint, csr_array)
    assert joint.nnz <= len(people)
    assert joint.shape[1] > 1000


def run(*words):
    """The exit code of a command, and what it says."""
    output = io.StringIO()
    with pytest.raises(SystemExit) as stop, redirect_stdout(output):
        main([str(word) for word in words])
    return stop.value.code, output.getvalue()


@pytest.fixture(scope="module")
def said(people, tmp_path_factory):
    """What every command says of the table, its counts being arrays or sparse: a list of two."""
    found = []
    for kind in (nullcontext, sparse_counts):
        folder = tmp_path_factory.mktemp("many")
        people.to_csv(folder / "people.csv", index=False)
        (folder / "study.toml").write_text(STUDY)
        study, release = folder / "study.toml", folder / "release"
        with kind(), pytest.MonkeyPatch.context() as patch:
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


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "verify", "check", "risk", "audit", "quality"])
def test_every_command_says_the_same_of_both_kinds(said, command):
    (dense, _), (sparse, _) = said
    assert dense[command][0] == sparse[command][0] == {"check": 1, "audit": 3}.get(command, 0)
    assert_alike(*(json.loads(each[command][1]) for each in (dense, sparse)))


def test_the_release_is_the_same_of_both_kinds(said):
    (_, dense), (_, sparse) = said
    assert sparse["release/released.csv"] == dense["release/released.csv"]
    digest = re.compile("[0-9a-f]{64}")  # also of the manifest, whose last bits may differ
    assert digest.sub("", sparse["report.md"]) == digest.sub("", dense["report.md"])
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
    with sparse_counts():
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
