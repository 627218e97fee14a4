"""A policy that no recoding can reach ends with exit code 1, whichever model says so."""

import pandas as pd
import pytest

from anonymizer.cli import main
from anonymizer.privacy import MODELS

IMPOSSIBLE = {
    "k-anonymity": "k = 1000",
    "person-k-anonymity": "k = 1000",
    "largest-share": "share = 0.001",
    "km-anonymity": "k = 1000\nm = 2",
    "composition-k-anonymity": "k = 1000",
    "household-k-anonymity": "k = 1000",
    "household-composition-k-anonymity": "k = 1000",
    "household-risk": "risk = 0.001",
    "distinct-l-diversity": "l = 9",
    "entropy-l-diversity": "l = 9",
    "recursive-l-diversity": "c = 1\nl = 9",
    "t-closeness": 't = 0\ndistance = "kl"',
    "alpha-k-anonymity": "alpha = 0.01\nk = 2",
    "basic-beta-likeness": "beta = 0.001",
    "enhanced-beta-likeness": "beta = 0.001",
    "delta-disclosure": "delta = 0.001",
    "pointwise-maximal-leakage": "epsilon = 0.001",
    "bayesian-gain": "gain = 0",
    "value-gain": "gain = 0",
    "mean-information": "bits = 0",
    "itpr": "risk = 0",
    "reidentification-itpr": "risk = 0",
    "k-map": 'k = 1000\npopulation = "everybody.csv"',
    "delta-presence": 'lower = 0.9\nupper = 1\npopulation = "everybody.csv"',
    "average-reidentification-risk": "risk = 0.0001",
    "highest-reidentification-risk": "risk = 0.0001",
    "individual-risk": "risk = 0.0001",
    "population-uniqueness": "uniqueness = 0\nfraction = 0.9",
    "differential-privacy": "epsilon = 0.01\ndelta = 0.0001",
}
"""Of every model parameters that the table below cannot satisfy, generalized by at most one level.

Distances and gains of 0 would hold with everything suppressed: ages may be joined by tens alone.
"""


@pytest.fixture
def run(tmp_path, capsys):
    """The exit code of a study of these models, what it printed, and what it said."""
    ages = [*range(20, 60), 75]
    ill = ["flu" if age < 40 else "cold" for age in ages]
    table = pd.DataFrame({"age": ages, "ill": ill, "who": [age // 2 for age in ages]})
    table = table.assign(stands=2)
    table.to_csv(tmp_path / "people.csv", index=False)
    table[["age"]].to_csv(tmp_path / "ages.csv", index=False)
    pd.concat([table[["age"]]] * 3).to_csv(tmp_path / "everybody.csv", index=False)

    def call(model, parameters, recoding, path="people.csv", person=(), weight=""):
        sensitive = "" if path == "ages.csv" else '[sensitive]\nattributes = ["ill"]\n'
        highest = "" if "pram" in recoding else ", max-level = 1"
        (tmp_path / "study.toml").write_text(
            f'[data]\npath = "{path}"\nperson = {[*person]}\n{weight}[quasi-identifiers]\n'
            f"age = {{ widths = [10, 20]{highest} }}\n{sensitive}"
            f'[[privacy]]\nmodel = "{model}"\n{parameters}\n[recoding]\n{recoding}\n'
        )
        with pytest.raises(SystemExit) as stop:
            main(["run", str(tmp_path / "study.toml"), "-o", str(tmp_path / "out")])
        return stop.value.code, *capsys.readouterr()

    return call


def test_every_model_has_impossible_parameters():
    assert {*IMPOSSIBLE} == {*MODELS}


@pytest.mark.parametrize("model", IMPOSSIBLE)
def test_an_impossible_parameter_is_a_policy_out_of_reach(run, tmp_path, model):
    alone = model == "differential-privacy"
    recoding = 'method = "safepub"\nlevels = { age = 1 }' if alone else 'method = "full-domain"'
    path = "ages.csv" if alone else "people.csv"
    person = ["who"] if MODELS[model].of_persons else []
    weight = 'weight = "stands"\n' if model == "individual-risk" else ""
    weight += 'household = "who"\n' if MODELS[model].of_households else ""
    code, out, said = run(model, IMPOSSIBLE[model], recoding, path, person, weight)
    assert (code, out) == (1, ""), said
    assert said.startswith("anonymizer: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("recoding", ["variable-range", "cut", "fixed", "pram", "best"])
def test_more_records_than_there_are_is_out_of_reach_of_every_recoding(run, tmp_path, recoding):
    levels = "\nlevels = { age = 1 }" if recoding in ("fixed", "pram") else ""
    code, out, said = run("k-anonymity", "k = 1000", f'method = "{recoding}"{levels}')
    assert (code, out) == (1, ""), said
    assert not (tmp_path / "out").exists()
