"""Releases that have the mean sampling weight of each class: totals by class stay what they are."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import EACH, KINDS

from anonymizer import (
    Anonymizer,
    Boxes,
    Cut,
    FullDomain,
    Hierarchy,
    HouseholdRisk,
    InputError,
    KAnonymity,
    KMap,
    MergedCells,
    Pram,
    measure_quality,
)
from anonymizer.cli import main
from anonymizer.release.apply import publish_applied
from anonymizer.release.export import source_of
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables.population import mean_weights
from anonymizer.tables.relations.frames import relation_of
from anonymizer.utility import measure_file

KNOWN = {"age": Hierarchy.ranges(widths=[2, 4, 8]), "sex": Hierarchy.suppression()}
RECODINGS = [FullDomain(), FullDomain(suppression=0.2), Cut(), Boxes(), MergedCells()]

STUDY = """
[data]
path = "survey.csv"
weight = "weight"

[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"

[[privacy]]
model = "k-anonymity"
k = 3

[output]
weight = "class"
"""


def survey(seed: int = 5, records: int = 60) -> pd.DataFrame:
    """A sample of three strata; where each record stands in it is a column of its own."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 8, records),
            "sex": rng.choice(["f", "m"], records),
            "weight": rng.choice([80.5, 120.25, 310], records),
            "place": range(records),
        }
    )


def estimator(**options) -> Anonymizer:
    given = {"weight": "weight", "released_weight": "class", "privacy": [KAnonymity(3)], **options}
    return Anonymizer(KNOWN, **given)


def require_means(raw: pd.DataFrame, released: pd.DataFrame) -> None:
    """Require in each record the mean of its class in decimals, of six places."""
    names = [name for name in ("age", "sex", "class") if name in released.columns]
    own = released.assign(raw=raw["weight"].iloc[released["place"]].to_numpy())
    for _, rows in own.groupby([own[name].astype(str) for name in names]):
        mean = sum(map(Decimal, map(str, rows["raw"]))) / len(rows)
        assert rows["weight"].nunique() == 1
        assert abs(Decimal(str(rows["weight"].iloc[0])) - mean) <= Decimal("0.0000006")


def test_a_class_has_its_mean_weight_by_hand():
    """Strata of 10 and 40 people a record: the class of two has 50 people, 25 a record."""
    raw = pd.DataFrame({"age": [0, 1, 2, 3], "weight": ["10", "40", "40", "40"]})
    ages = {"age": Hierarchy.ranges(widths=[2])}
    one = Anonymizer(ages, privacy=[KAnonymity(2)], weight="weight", released_weight="class")
    released = one.fit_transform(raw)
    assert released["weight"].tolist() == [25, 25, 40, 40]
    told = [(each.code, each.column, each.count, each.of) for each in one.release_.warnings]
    assert ("weight-tells", "weight", 1, 2) in told  # all of the second are of one stratum
    assert "weight-tells" not in {each.code for each in one.release_.manifest.warnings}


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_every_recoding_with_classes_has_means(recoding):
    for seed in range(4):
        raw = survey(seed)
        released = estimator(recoding=recoding).fit_transform(raw)
        assert "weight" in released.columns
        require_means(raw, released)
        if len(released) == len(raw):
            assert released["weight"].sum() == pytest.approx(raw["weight"].sum())


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_every_kind_are_released_alike(kind):
    raw = survey()
    table = KINDS[kind](pa.Table.from_pandas(raw, preserve_index=False))
    released = relation_of(estimator().fit_transform(table))
    require_means(raw, released.frame(released.columns).sort_values("place"))


def test_nothing_else_changes():
    raw, plain = survey(), estimator(released_weight="leave-out")
    other = plain.fit_transform(raw)
    assert list(other.columns) == ["age", "sex", "place"]
    assert estimator().fit_transform(raw).drop(columns="weight").equals(other)
    assert plain.fingerprint == estimator(released_weight="leave-out").fingerprint
    assert plain.fingerprint != estimator().fingerprint
    assert plain.release_.manifest.released_weight is None


def test_models_of_people_hold_by_the_weights_of_the_table():
    raw = survey()
    released = estimator(privacy=[KMap(900, population="weights")]).fit_transform(raw)
    sums = released.groupby(["age", "sex"], observed=True)["weight"].sum()
    assert sums.min() >= 900
    require_means(raw, released)


def test_means_do_not_depend_on_the_order_of_records():
    raw = pd.DataFrame({"age": 1, "weight": [0.1, 0.2, 0.3, 1e9, 0.7]})
    column, weights = mean_weights(raw, "weight", ["age"])
    other, _ = mean_weights(raw[::-1], "weight", ["age"])
    assert column.nunique() == 1
    assert column[0] == other[0] == round((1e9 + 1.3) / 5, 6)
    assert weights.tolist() == [5]
    same = pd.DataFrame({"age": 1, "weight": ["2", "2.0", "2"]})  # one number
    assert mean_weights(same, "weight", ["age"])[1].tolist() == [1]


@pytest.fixture
def published(tmp_path):
    """The study, laid next to its table, and the directory of its release."""
    survey().to_csv(tmp_path / "survey.csv", index=False)
    (tmp_path / "s.toml").write_text(STUDY)
    publish(Study(tmp_path / "s.toml"), tmp_path / "r")
    return tmp_path / "s.toml", tmp_path / "r"


def test_files_are_verified_and_followed(published, tmp_path):
    study, directory = published
    manifest = json.loads((directory / "release.json").read_text())
    assert (manifest["weight"], manifest["released_weight"]) == ("weight", "class")
    require_means(survey(), pd.read_csv(directory / "released.csv"))
    found = verify_release(directory, study, original=study.parent / "survey.csv")
    assert found.satisfied
    agree = {check.field for check in found.checks if check.agrees}
    assert {"weights of classes", "mean weights of classes", "released_weight"} <= agree
    assert verify_release(directory).satisfied
    survey(6, 90).to_csv(tmp_path / "next.csv", index=False)
    publish_applied(directory, tmp_path / "next.csv", tmp_path / "next")
    require_means(survey(6, 90), pd.read_csv(tmp_path / "next" / "released.csv"))
    assert verify_release(tmp_path / "next", original=tmp_path / "next.csv").satisfied


def differing(directory, *given, **options) -> set[str]:
    return {check.field for check in verify_release(directory, *given, **options).differences}


def test_other_weights_are_noticed(published):
    study, directory = published
    place = directory / "released.csv"
    table = pd.read_csv(place)
    changed = table["weight"].where(table.index != 0, 1)
    table.assign(weight=changed).to_csv(place, index=False)
    assert "weights of classes" in differing(directory)
    table.assign(weight=table["weight"] + 1).to_csv(place, index=False)
    assert "weights of classes" not in differing(directory)
    assert "mean weights of classes" in differing(directory, original=study.parent / "survey.csv")
    table.drop(columns="weight").to_csv(place, index=False)
    assert "weights of classes" in differing(directory)


def test_a_manifest_of_other_weights_is_noticed(published):
    study, directory = published
    study.write_text(STUDY.replace('weight = "class"', 'weight = "leave-out"'))
    assert "released_weight" in differing(directory, study)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": None}, "released weights need the column that has them: name it as weight"),
        (
            {"released_weight": "raw"},
            "released_weight = 'raw' is unknown; known are leave-out, class",
        ),
        ({"recoding": Pram()}, "released weights are the means of classes, of a recoding that"),
        ({"verify": False}, "released weights are the means of classes, of a recoding that"),
        (
            {"household": "place", "privacy": [HouseholdRisk(0.5)]},
            "column 'weight' is mostly the same for all members of a household",
        ),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        estimator(**options).fit_transform(survey())


def test_other_ways_out_refuse_weights_of_classes(published):
    with pytest.raises(InputError, match="has in column 'weight' the mean of each class, which"):
        source_of(published[1])
    fitted = estimator().fit(survey())
    with pytest.raises(InputError, match="verify = False gives rows one by one"):
        fitted.set_params(verify=False).transform(survey())


def test_quality_counts_by_the_weights_of_the_original(published):
    study, directory = published
    raw, anonymizer = survey(), estimator()
    found = measure_quality(raw, anonymizer.fit_transform(raw), anonymizer.plan_, targets=())
    of_file = measure_file(Study(study), directory, targets=())
    assert found.weighted
    assert of_file.weighted == found.weighted
    columns = {name for each in found.tables for name in each.columns}
    assert columns == {"age", "sex", "place"}


def test_reports_say_what_the_weights_tell(published, capsys):
    study, directory = published

    def said(*arguments) -> str:
        with pytest.raises(SystemExit):
            main([*map(str, arguments)])
        return " ".join(capsys.readouterr().out.split())

    words = (
        "weight has in each record the mean weight of its class: the people of a class are those of"
        " the table, and a record of it tells no weight of its own."
    )
    run = said("run", study, "--output", directory, "--force")
    assert words in run
    assert (
        "Released as they were, and not covered by the policy if an attacker knows them: place "
        in run
    )
    page = said("report", directory, "--markdown", "--output", "-")
    assert words in page
    assert "the mix of strata" in page


@pytest.mark.parametrize("given", ["noise", {"noise": 0.2}])
def test_noise_is_refused_by_its_name(tmp_path, given):
    message = "by noise is not offered: noise that hides the stratum of a record is as large as"
    with pytest.raises(InputError, match=f"^released_weight {message}"):
        estimator(released_weight=given).fit(survey())
    written = '"noise"' if given == "noise" else "{ noise = 0.2 }"
    (tmp_path / "study.toml").write_text(STUDY.replace('weight = "class"', f"weight = {written}"))
    with pytest.raises(InputError, match=rf'\[output\] weight {message}.*; choose "class"'):
        Study(tmp_path / "study.toml")
