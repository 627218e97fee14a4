"""What a release is to tell much about: targets, beside sensitive attributes or as such.

Sixteen records; sex tells everything about the job and nothing about the illness, the zip code the
other way round. Either can be kept as it is, never both, so that the target decides which.
"""

import json
import re
from collections import Counter, defaultdict
from itertools import product
from math import log

import pandas as pd
import pytest
from checker import classes_of, mutual_information, rows_of
from forked import unwarned

from anonymizer import (
    Anonymizer,
    DistinctLDiversity,
    FullDomain,
    InputError,
    KAnonymity,
    MutualInformation,
    PolicyBrokenError,
    TCloseness,
)
from anonymizer.cli import main
from anonymizer.objectives import (
    AboveShuffled,
    MillerMadow,
    objective_of,
)

ROWS = [
    {"name": f"Nemo{i}", "sex": sex, "zip": code, "job": f"job {sex}", "ill": f"ill {code}"}
    for i, (sex, code) in enumerate(list(product("fm", "12")) * 4)
]
STUDY = """\
[data]
path = "people.csv"
[quasi-identifiers]
sex = "suppress"
zip = "suppress"
[sensitive]
attributes = ["ill"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "k-anonymity"
k = 5
"""


def fitted(target=None, **parameters) -> Anonymizer:
    if target is not None:
        parameters["objective"] = MutualInformation(target=target)
    stated = {
        "quasi_identifiers": {"sex": "suppress", "zip": "suppress"},
        "sensitive": "ill",
        "privacy": [KAnonymity(5)],
        "identifiers": ["name"],
    }
    return Anonymizer(**stated | parameters).fit(pd.DataFrame(ROWS))


SEX, ZIP = {"sex": 0, "zip": 1}, {"sex": 1, "zip": 0}


@pytest.mark.parametrize(
    ("parameters", "levels", "value"),
    [
        ({"objective": "mutual-information"}, ZIP, 1),
        ({"target": "job"}, SEX, 1),
        ({"target": ["job"]}, SEX, 1),
        ({"target": "ill"}, ZIP, 1),
        ({"target": {"job": 1, "ill": 2}}, ZIP, 2),
        ({"target": {"job": 2, "ill": 1}}, SEX, 2),
        ({"target": {"job": 0.5}}, SEX, 0.5),
        ({"target": "job", "sensitive": ()}, SEX, 1),
        ({"objective": MutualInformation(target={"job": 1.0})}, SEX, 1),
    ],
)
def test_the_target_decides_what_is_kept(parameters, levels, value):
    """Classes of 4 are too small; one attribute has to go, and each tells one bit."""
    release = fitted(**parameters).release_
    assert release.levels == levels
    assert release.search.value == pytest.approx(value)
    assert release.search.proven


def test_the_manifest_tells_of_every_target():
    told = fitted(
        target=["job", "ill"], privacy=[KAnonymity(8)]
    ).release_.steward_manifest.to_dict()
    assert list(told["targets"]) == ["job", "ill"]
    kept = [name for name in ("job", "ill") if told["targets"][name]["retained"] > 0.5]
    assert len(kept) == 1  # one of both, a tie
    for name in ("job", "ill"):
        about = told["targets"][name]
        assert about["original"] == pytest.approx(1)
        assert about["ceiling"] == pytest.approx(1)
        assert about["loss"] == pytest.approx(0 if name in kept else 1)
        assert about["gap"] == pytest.approx(0 if name in kept else 1)
        free = -1 if name in kept else 1
        assert about["miller_madow"] == pytest.approx(about["retained"] - free / (2 * 16 * log(2)))
    assert told["targets"]["ill"] == told["information"]
    assert told["other_columns"] == ["job"]  # no model is about it


def test_a_target_that_is_not_sensitive_is_not_covered_by_the_policy():
    """It is released as it is: whoever knows it knows more than the quasi-identifiers."""
    without = fitted(objective="precision").release_.to_dict()
    assert (without["targets"], without["other_columns"]) == ({}, ["job"])
    assert fitted(target="job").release_.to_dict()["other_columns"] == ["job"]


def test_a_policy_is_about_sensitive_attributes_not_about_targets():
    """Each sex has one job: a model about jobs would forbid what the target asks for."""
    assert fitted(target="job", privacy=[DistinctLDiversity(2)]).release_.levels == SEX
    both = {"sensitive": ["ill", "job"], "target": "job"}
    assert fitted(**both, privacy=[DistinctLDiversity(2)]).release_.levels == {"sex": 1, "zip": 1}
    one = [DistinctLDiversity(2, attribute="ill")]
    assert fitted(**both, privacy=one).release_.levels == SEX
    message = "distinct-l-diversity is about 'job', which is no sensitive attribute; .* are ill"
    with pytest.raises(InputError, match=message):
        fitted(target="job", privacy=[DistinctLDiversity(2, attribute="job")])


def test_a_model_bounds_a_target_that_is_sensitive():
    closer = [TCloseness(0.5, "kl", attribute="ill")]
    told = fitted(target={"job": 1, "ill": 1}, privacy=closer).release_.steward_manifest.to_dict()
    assert told["levels"] == SEX
    assert told["targets"]["ill"]["ceiling"] == pytest.approx(0.5)
    assert told["targets"]["job"]["ceiling"] == pytest.approx(1)


def test_another_table_has_to_have_the_target():
    anonymizer = fitted(target="job")
    assert len(anonymizer.transform(pd.DataFrame(ROWS))) == 16
    with pytest.raises(InputError, match="the table has no column 'job'"):
        anonymizer.transform(pd.DataFrame(ROWS).drop(columns="job"))
    with pytest.raises(PolicyBrokenError, match="k-anonymity fails in 2 of 2 classes"):
        anonymizer.transform(pd.DataFrame(ROWS).head(8))


@pytest.mark.parametrize("remove", [False, True])
def test_information_about_a_target_under_suppression(remove):
    """Recounted from the table released: what was left out, or became ``*``, does not count."""
    rare = [{**ROWS[0], "zip": "3", "job": "pilot"}] * 3 + [{**ROWS[1], "zip": "4"}] * 3
    table = pd.DataFrame(ROWS + rare)
    anonymizer = Anonymizer(
        {"zip": "suppress"},
        "ill",
        [KAnonymity(4)],
        identifiers=["name"],
        recoding=FullDomain(suppression=0.3, remove=remove),
        objective=MutualInformation(target={"job": 3, "ill": 1}),
    )
    released = anonymizer.fit_transform(table)
    assert Counter(released["zip"]) == {"1": 8, "2": 8, **({} if remove else {"*": 6})}
    told = anonymizer.release_.steward_manifest.to_dict()
    rows = released.to_dict("records")
    value = 0.0
    for name, weight in {"job": 3, "ill": 1}.items():
        retained = mutual_information(classes_of(rows, ["zip"], name))
        assert told["targets"][name]["retained"] == pytest.approx(retained)
        value += weight * retained
    assert told["search"]["value"] == pytest.approx(value)


def test_a_target_may_miss_values():
    table = pd.DataFrame(
        [{**row, "job": None if i < 2 else row["job"]} for i, row in enumerate(ROWS)]
    )
    anonymizer = Anonymizer(
        {"sex": "suppress"}, (), [KAnonymity(5)], objective=MutualInformation(target="job")
    )
    with pytest.raises(InputError, match="column 'job' misses the value of 2 of 16 records"):
        anonymizer.fit(table)
    assert len(anonymizer.set_params(missing="drop").fit_transform(table)) == 14
    kept = anonymizer.set_params(missing="category").fit_transform(table)
    assert kept["job"].isna().sum() == 2


# Targets that cannot be


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target": "jobb"}, "the table has no column 'jobb'; did you mean 'job'"),
        ({"target": "sex"}, "column 'sex' has more than one role; give it one"),
        ({"target": ["job", "name"]}, "column 'name' has more than one role; give it one"),
        ({"target": 3}, "target must name a column or a list of columns, not 3"),
        ({"target": [["job"]]}, r"target must name a column or a list of columns, not \['job'\]"),
        ({"target": {3: 1}}, "column names must be texts, not 3"),
        ({"target": {"job": -1}}, "weight of 'job' must be a number of at least 0 and at most 1,0"),
        ({"target": {"job": "1"}}, "weight of 'job' must be a number"),
        ({"target": {"job": float("nan")}}, "weight of 'job' must be a number"),
        ({"target": {"job": True}}, "weight of 'job' must be a number"),
    ],
    ids=str,
)
def test_targets_that_cannot_be(parameters, message):
    with pytest.raises(InputError, match=message):
        fitted(**parameters)


# Studies


@pytest.fixture
def run(tmp_path, capsys):
    def call(objective, *arguments):
        pd.DataFrame(ROWS).to_csv(tmp_path / "people.csv", index=False)
        (tmp_path / "study.toml").write_text(STUDY + f"[objective]\n{objective}\n")
        with pytest.raises(SystemExit) as stop:
            main(["run", str(tmp_path / "study.toml"), "-o", str(tmp_path / "out"), *arguments])
        out, err = capsys.readouterr()
        assert "Nemo" not in out + err
        return stop.value.code, out, err

    return call


@pytest.mark.parametrize(
    ("objective", "names", "levels"),
    [
        ('name = "mutual-information"\ntarget = "job"', ["job"], SEX),
        ('target = "ill"', ["ill"], ZIP),
        ("targets = {job = 1, ill = 0.5}", ["job", "ill"], SEX),
        ("targets = {job = 0.5, ill = 1}", ["job", "ill"], ZIP),
    ],
)
def test_a_study_may_name_targets(run, tmp_path, objective, names, levels):
    code, out, err = run(objective, "--json")
    assert (code, unwarned(err)) == (0, "")
    told = json.loads(out)
    assert (list(told["targets"]), told["levels"]) == (names, levels)
    rows = rows_of(tmp_path / "out" / "released.csv")
    for name in names:
        retained = mutual_information(classes_of(rows, ["sex", "zip"], name))
        assert told["targets"][name]["retained"] == pytest.approx(retained)
    sizes = defaultdict(int)
    for row in rows:
        sizes[row["sex"], row["zip"]] += 1
    assert min(sizes.values()) == 8


def test_the_report_has_a_table_for_each_target(run):
    code, out, _ = run("targets = {job = 1, ill = 0.5}")
    assert code == 0
    assert "Information about job" in out
    assert "Information about ill" in out
    assert re.search("not covered by the policy .* knows them: job\n", out)  # ill is sensitive


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ('target = "jobb"', "the table has no column 'jobb'; did you mean 'job'?"),
        ('target = "sex"', "column 'sex' has more than one role; give it one"),
        ('target = "name"', "column 'name' has more than one role; give it one"),
        ("targets = {job = 1, zip = 1}", "column 'zip' has more than one role; give it one"),
        ('target = "job"\ntargets = {ill = 1}', "[objective] has target and targets; choose on"),
        ("target = 3", "[objective] target must be a text in quotes"),
        ('targets = ["job"]', "[objective] targets must be a section"),
        ('targets = {job = "1"}', "[objective] targets.job must be a number"),
        ("targets = {job = -1}", "weight of 'job' must be a number of at least 0"),
        ('target = "job"\nweights = {ill = 1}', "targets have their own weights"),
        ('name = "precision"\ntarget = "job"', "the objective precision has no target; only"),
        ('targte = "job"', "[objective] unknown key 'targte'; did you mean 'target'?"),
    ],
)
def test_targets_of_a_study_that_cannot_be(run, tmp_path, objective, message):
    code, out, err = run(objective)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("target", "weights"),
    [
        (None, {}),
        ("job", {"job": 1}),
        (["job", "ill"], {"job": 1, "ill": 1}),
        ({"job": 2, "ill": 0.5}, {"job": 2, "ill": 0.5}),
    ],
)
@pytest.mark.parametrize("kind", [MutualInformation, MillerMadow, AboveShuffled])
def test_targets_are_a_name_or_names_or_weighted(kind, target, weights):
    objective = kind(target=target)
    assert objective.targets == weights
    assert objective == kind(target=target) == objective_of(kind.name, targets=target)
    assert fitted(objective=objective).release_.search.proven


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 3}, "target must name a column or a list of columns, not 3"),
        ({"target": [3]}, "target must name a column or a list of columns, not 3"),
        ({"target": {"job": -1}}, "weight of 'job' must be a number of at least 0"),
        ({"target": "job", "weights": {"ill": 1}}, "targets have their own weights"),
        ({"weights": {"ill": "1"}}, "weight of 'ill' must be a number"),
        ({"weights": "ill"}, "weights must map attributes to numbers, not be 'ill'"),
    ],
)
def test_an_objective_is_checked_when_it_is_made(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        MutualInformation(**options)
