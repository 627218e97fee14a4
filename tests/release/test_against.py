"""Releases that are safe from who knows the method: choice, policy, refusals, what is said."""

import json
import re
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    Best,
    Boxes,
    Cut,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    MergedCells,
    MutualInformation,
    PolicyBrokenError,
    PolicyUnreachableError,
    RecursiveLDiversity,
    VariableRange,
    advise,
    compare,
    verify_release,
)
from anonymizer.recoding import rehearsal

AGES = Hierarchy.ranges(widths=[5, 20])
POLICY = [KAnonymity(5), EntropyLDiversity(1.5)]
SEARCHED = [
    FullDomain(),
    VariableRange(min_records=100),
    Cut(min_records=100),
    Boxes(min_records=200),
    MergedCells(min_records=200),
]


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance that is the same each time."""
    monkeypatch.setattr(rehearsal, "randbelow", Random(8).randrange)
    fixed, seeds = np.random.default_rng, iter(range(10_000))
    monkeypatch.setattr(rehearsal.np.random, "default_rng", lambda *_: fixed(next(seeds)))


@pytest.fixture(scope="module")
def patients() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    age, sex = rng.integers(20, 60, 3_000), rng.choice(["f", "m"], 3_000)
    ill = rng.random(3_000) < 0.2 + 0.4 * (age > 45)
    return pd.DataFrame({"age": age, "sex": sex, "w": np.where(ill, "ill", "well")})


def requested(**given: object) -> Anonymizer:
    known = {"age": AGES, "sex": "suppress"}
    parameters = {"privacy": POLICY, "against": "method", **given}
    return Anonymizer(known, "w", **parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize("recoding", SEARCHED, ids=lambda each: each.name)
def test_the_policy_holds_for_who_knows_the_method(patients, recoding):
    found = requested(recoding=recoding).fit(patients)
    assert [(v.model.name, v.model.odds) for v in found.release_.privacy if v.attribute] == [
        ("entropy-l-diversity", None),
        ("entropy-l-diversity", 1.25),
    ]
    released = found.transform(patients)
    classes = released.groupby(["age", "sex"])["w"].value_counts().unstack(fill_value=0)
    for ill, well in classes.to_numpy():
        shares = np.array([ill, well]) / (ill + well)
        for value in range(2):  # .8 of what it is, and the rest all ill, or all well
            believed = 0.8 * shares + 0.2 * np.eye(2)[value]
            doubt = -(believed * np.log2(believed)).sum()
            assert doubt >= np.log2(1.5) - 1e-9


def test_no_figure_of_a_rehearsal_is_one_of_the_table(patients):
    anonymizer = requested().fit(patients)
    search = anonymizer.search_
    assert (search.strategy, search.proven) == ("rehearsal", False)
    with pytest.raises(InputError, match="whose lattice says nothing of this one"):
        _ = anonymizer.lattice_
    assert anonymizer.release_.seeds.drawing == "withheld"
    assert search.value is search.bound is search.gap is search.minimal is search.feasible is None


def test_seven_records_whose_ordinary_release_gives_three_away():
    """Ages 1 and 2 together: with k = l = 2 that is because those of 1 are alike, or those of 2."""
    seven = pd.DataFrame(
        {"age": [1] * 3 + [2] * 4, "w": ["hiv"] * 3 + ["flu", "cold", "flu", "asthma"]}
    )
    ages, policy = {"age": "suppress"}, [KAnonymity(2), DistinctLDiversity(2)]
    assert Anonymizer(ages, "w", policy).fit(seven).release_.classes == 1
    others = seven.assign(w=["hiv", "flu", "hiv", "hiv", "cold", "flu", "asthma"])
    chosen = {"seven": 0, "others": 0}
    for name, table in (("seven", seven), ("others", others)):
        for _ in range(60):
            anonymizer = Anonymizer(ages, "w", policy, against="method")
            with suppress(PolicyBrokenError, PolicyUnreachableError):
                chosen[name] += anonymizer.fit(table).release_.classes == 1
    # One class is chosen as often where the three have hiv as where they have not.
    assert min(chosen.values()) > 10
    assert abs(chosen["seven"] - chosen["others"]) < 25


def test_a_refusal_says_what_another_run_tells(monkeypatch):
    """The values do not fit: all invented ones hold, and all that are true break the policy."""
    table = pd.DataFrame({"age": [20] * 50 + [50] * 50, "w": ["ill"] * 50 + ["well"] * 50})
    monkeypatch.setattr(rehearsal.DiscreteLaplace, "draw", lambda self: 10_000)
    with pytest.raises(PolicyBrokenError, match=re.escape("n runs may tell n times as much")):
        requested(privacy=[DistinctLDiversity(2)], objective="loss").fit(table.assign(sex="f"))


def test_a_study_is_run_verified_and_says_whom_it_is_safe_from(patients, run, tmp_path):
    patients.to_csv(tmp_path / "patients.csv", index=False)
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "patients.csv"\n[quasi-identifiers]\nage = { widths = [5, 20] }\n'
        'sex = "suppress"\n[sensitive]\nattributes = ["w"]\n'
        '[[privacy]]\nmodel = "entropy-l-diversity"\nl = 1.5\n'
        '[search]\nagainst = "method"\nodds = 1.5\n'
    )
    code, said, _ = run("run", study, "--output", tmp_path / "release")
    assert code == 0
    assert "Chosen in rehearsals" in said
    assert "advise" not in said  # whoever follows advice chooses by sensitive values
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    assert manifest["method"]["against"] == "method"
    assert manifest["method"]["odds"] == 1.5
    assert run("verify", tmp_path / "release", "--study", study)[0] == 0
    page = run("report", tmp_path / "release", "--markdown", "-o", "-")[1]
    assert "no value more than 1.5 times as likely against another than their shares" in page
    assert "entropy-l-diversity, w, for beliefs of odds up to 1.5" in page
    assert (
        run("apply", tmp_path / "release", tmp_path / "patients.csv", "-o", tmp_path / "b")[0] == 0
    )
    assert run("verify", tmp_path / "b")[0] == 0
    for command, says in (("advise", "advice says"), ("compare", "a comparison shows")):
        code, _, errors = run(command, study)
        assert code == 2
        assert f"the recoding chosen without the sensitive values, and {says}" in errors


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"against": None, "odds": 2.0}, 'give against = "method" with them, or leave them out'),
        ({"against": "nobody"}, "against = 'nobody' is unknown"),
        ({"odds": 1.0}, "odds = 1.0 must be a number above 1 and at most 100"),
        ({"recoding": Fixed({"age": 1, "sex": 0})}, "fixed is none of these"),
        ({"recoding": Best()}, "best is none of these"),
        ({"recoding": "safepub"}, "needs levels"),
        ({"person": "id"}, "deals the values of a class to its records one by one"),
        ({"objective": MutualInformation(target="id")}, "leave out its targets and weights"),
        ({"recoding": FullDomain(suppression=0.1)}, "leave out suppression"),
        (
            {"recoding": Boxes(), "privacy": [RecursiveLDiversity(3.0, 2)]},
            "is not made for recursive-l-diversity with boxes and merged cells",
        ),
        ({"missing": "drop"}, 'choose "gap" or "category"'),
        (
            {"privacy": [EntropyLDiversity(2, "grassberger")]},
            "odds are for models of single classes that merging preserves",
        ),
    ],
)
def test_what_is_not_shown_to_be_safe_is_refused(patients, given, message):
    with pytest.raises(InputError, match=re.escape(message)):
        requested(**given).fit(patients.assign(id=range(len(patients))))


def test_another_table_that_breaks_the_policy_is_no_refusal_of_a_choice(patients):
    anonymizer = requested().fit(patients)
    with pytest.raises(PolicyBrokenError) as raised:
        anonymizer.transform(patients.assign(w="ill"))
    assert "rehearsals" not in str(raised.value)


def test_a_policy_out_of_reach_names_the_attribute(patients):
    with pytest.raises(PolicyUnreachableError, match="'w'"):
        requested(privacy=[AlphaKAnonymity(0.6, 5)], odds=5.0).fit(patients)


def test_figures_of_other_recodings_are_not_shown(patients):
    for shown in (advise, compare):
        with pytest.raises(InputError, match="let the figures decide nothing"):
            shown(requested(), patients)


def test_a_release_whose_policy_is_of_sizes_alone_is_verified(patients, run, tmp_path):
    """No model of it is about a sensitive attribute, so that none has odds."""
    patients.to_csv(tmp_path / "patients.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "patients.csv"\n[quasi-identifiers]\nage = { widths = [5, 20] }\n'
        'sex = "suppress"\n[sensitive]\nattributes = ["w"]\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n[search]\nagainst = "method"\n'
    )
    assert run("run", tmp_path / "study.toml", "--output", tmp_path / "release")[0] == 0
    assert run("verify", tmp_path / "release", "--study", tmp_path / "study.toml")[0] == 0


def test_an_edited_bound_is_noticed(patients, run, tmp_path):
    path = tmp_path / "release"
    patients.to_csv(tmp_path / "patients.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "patients.csv"\n[quasi-identifiers]\nage = { widths = [5, 20] }\n'
        'sex = "suppress"\n[sensitive]\nattributes = ["w"]\n'
        '[[privacy]]\nmodel = "entropy-l-diversity"\nl = 1.5\n[search]\nagainst = "method"\n'
    )
    assert run("run", tmp_path / "study.toml", "--output", path)[0] == 0
    manifest = Path(path) / "release.json"
    text = manifest.read_text()
    for field, other in (
        ("privacy.1.worst", text.replace('"odds": 1.25', '"odds": 1.5')),
        ("method", re.sub(r'("against": "method",\s*"odds": )1.25', r"\g<1>1.01", text)),
    ):
        assert other != text
        manifest.write_text(other)
        assert field in [each.field for each in verify_release(path).differences]
