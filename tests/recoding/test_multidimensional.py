"""Releases of boxes and of merged cells: labels, maps and manifests, held by a stranger's count."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checker import classes_of, least_close, least_diverse, mutual_information, rows_of, smallest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import nested_rows, tables

from anonymizer import (
    Anonymizer,
    DistinctLDiversity,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    MutualInformation,
    PolicyUnreachableError,
    TCloseness,
)
from anonymizer.cli import main
from anonymizer.release.request import RECODINGS

SEX = Hierarchy.suppression()
AGE = Hierarchy.ranges(widths=[10])
REGIONAL = ["boxes", "merged-cells"]
OF_ANONYMIZER = ("sensitive", "privacy", "objective", "missing", "identifiers", "time_limit")


def asking(recoding: str, **options: object) -> Anonymizer:
    """An estimator of a recoding; options are of either."""
    others = {name: options.pop(name) for name in OF_ANONYMIZER if name in options}
    about = {"sensitive": "w", "objective": "mutual-information"}
    given = {**about, "privacy": [KAnonymity(4)], **others}
    return Anonymizer({"age": AGE, "sex": SEX}, recoding=RECODINGS[recoding](**options), **given)


@pytest.fixture
def people() -> pd.DataFrame:
    """Men's ages tell one diagnosis from the other; four women only together make a class."""
    ages = [20] * 4 + [30] * 4 + [20, 20, 30, 30]
    return pd.DataFrame({"age": ages, "sex": ["m"] * 8 + ["f"] * 4, "w": list("aaaabbbbabab")})


def test_boxes_are_released_by_their_labels(people):
    released = asking("boxes").fit_transform(people)
    assert released["age"].tolist() == ["(-inf, 25)"] * 4 + ["[25, inf)"] * 4 + ["*"] * 4
    assert released["sex"].tolist() == ["m"] * 8 + ["f"] * 4
    assert list(released.columns) == ["age", "sex", "w"]


def test_the_manifest_tells_the_boxes_and_what_their_labels_mean(people):
    asked = asking("boxes").fit(people)
    told = asked.release_.steward_manifest.to_dict()
    assert told["recoding"]["age"] == [
        {"label": "*"},
        {"label": "(-inf, 25)", "from": None, "to": 25},
        {"label": "[25, inf)", "from": 25, "to": None},
    ]
    assert sorted(map(tuple, (box.values() for box in told["regions"]))) == [
        ("(-inf, 25)", "m"),
        ("*", "f"),
        ("[25, inf)", "m"),
    ]
    assert told["search"]["proven"] is True
    assert told["search"]["bound"] == told["search"]["value"] == pytest.approx(8 / 12)
    assert told["information"]["gap"] == pytest.approx(0)


@pytest.mark.parametrize("recoding", REGIONAL)
@pytest.mark.parametrize("ages", [[20], [20, 25]])
def test_all_numbers_are_never_told_by_a_lower_level(people, recoding, ages):
    # A level that holds them all tells where they end, and may be narrower than it may be.
    some = people.assign(age=ages * (12 // len(ages)))
    released = asking(recoding, min_width=15, min_records=12).fit_transform(some)
    assert set(released["age"]) == {"*"}


def test_ages_that_are_all_missing_are_not_too_narrow(people):
    some = people.assign(age=None)
    for recoding in REGIONAL:
        released = asking(recoding, missing="category", min_width=5).fit_transform(some)
        assert set(released["age"]) == {"*"}


def test_merged_cells_are_told_apart_by_a_column(people):
    asked = asking("merged-cells")
    released = asked.fit_transform(people)
    assert list(released.columns) == ["age", "sex", "w", "class"]
    assert asked.release_.information.retained == pytest.approx(8 / 12)
    assert len(released.groupby("class")) == 3
    assert asked.search_.proven is False


def test_the_map_is_applied_to_other_tables(people):
    for recoding in REGIONAL:
        asked = asking(recoding).fit(people)
        expected = asked.transform(people)
        order = np.random.default_rng(5).permutation(len(people))
        again = asked.transform(people.iloc[order])
        pd.testing.assert_frame_equal(again, expected.iloc[order].reset_index(drop=True))


@pytest.mark.parametrize("recoding", REGIONAL)
def test_row_order_does_not_matter(people, recoding):
    released = asking(recoding).fit_transform(people)
    order = np.random.default_rng(1).permutation(len(people))
    again = asking(recoding).fit_transform(people.iloc[order])
    pd.testing.assert_frame_equal(again, released.iloc[order].reset_index(drop=True))


@pytest.mark.parametrize("recoding", REGIONAL)
def test_combinations_without_a_class_are_refused_with_counts_alone(people, recoding):
    people = people[(people["sex"] == "m") | (people["age"] == 20)]
    asked = asking(recoding, privacy=[KAnonymity(2)]).fit(people)
    strange = pd.concat([people, people.assign(age=30, sex="f")])
    if recoding == "boxes":  # the women's box holds every age
        assert len(asked.transform(strange)) == len(strange)
    else:
        with pytest.raises(InputError, match="10 records of the table combine values in a way"):
            asked.transform(strange)


@pytest.mark.parametrize("recoding", REGIONAL)
def test_values_that_no_class_takes_are_refused(people, recoding):
    """Ranges take what lies in them, seen or not."""
    fitted = asking(recoding).fit(people)
    assert fitted.transform(people.assign(age=24))["age"].unique().tolist() == ["(-inf, 25)", "*"]
    with pytest.raises(InputError, match="4 records of the table combine values in a way that no"):
        fitted.transform(people.assign(sex=["m"] * 8 + ["other"] * 4))


def test_a_column_of_the_name_of_the_classes_is_refused(people):
    with pytest.raises(InputError, match="the table has a column 'class', which is the name"):
        asking("merged-cells").fit(people.assign(**{"class": 1}))
    asking("merged-cells", identifiers=["class"]).fit(people.assign(**{"class": 1}))
    asking("boxes").fit(people.assign(**{"class": 1}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refinement": "best"}, "refinement = 'best' is unknown"),
        ({"objective": "loss"}, "the objective loss is not made for recodings beyond levels"),
        ({"max_classes": 0}, "max-classes = 0 must be a whole number of at least 1"),
        ({"time_limit": 0}, "time-limit = 0 must be a number of seconds above 0"),
    ],
)
def test_options_that_cannot_be(people, options, message):
    with pytest.raises(InputError, match=message):
        asking("boxes", **options).fit(people)


def test_cells_that_gain_too_little_apart_are_merged_as_one(people):
    """Ages of men gain 8 / 12 bits, the women's ages nothing."""
    asked = asking("merged-cells", privacy=[KAnonymity(2)], min_gain=0.1)
    released = asked.fit_transform(people)
    assert len(asked.recoding_) == 3
    assert released["class"].tolist()[8:] == [released["class"].tolist()[8]] * 4
    women = people[people["sex"] == "f"].assign(age=30)
    assert (
        asked.recoding_.class_of(np.array([[1, 0], [0, 0]])).tolist()
        == [released["class"].tolist()[8] - 1] * 2
    )
    assert asked.transform(pd.concat([people, women]))["class"].nunique() == 3
    one = asking("merged-cells", privacy=[KAnonymity(2)], min_gain=1.0).fit(people)
    assert one.release_.classes == 1


def test_what_cannot_be_imported_is_said(people, monkeypatch):
    monkeypatch.setitem(sys.modules, "anonymizer.recoding.boxes", None)
    with pytest.raises(ImportError, match=r"anonymizer\.recoding\.boxes"):
        asking("boxes").fit(people)


@pytest.mark.parametrize("recoding", REGIONAL)
def test_several_sensitive_attributes_and_a_target(people, recoding):
    """Both sensitive attributes stay diverse, and what is kept is about neither."""
    people = people.assign(v=list("cdcdcdcdcdcd"), use=list("xxxxyyyyxyxy"))
    models = [
        DistinctLDiversity(2, attribute="v"),
        TCloseness(0.3, distance="equal", attribute="w"),
        KAnonymity(2),
    ]
    asked = asking(
        recoding,
        sensitive=["w", "v"],
        objective=MutualInformation(target={"use": 1}),
        privacy=models,
    )
    released = asked.fit_transform(people)
    columns = [name for name in released.columns if name not in ("w", "v", "use")]
    groups = released.groupby(columns)
    assert (groups["v"].nunique() == 2).all()
    assert (abs(groups["w"].agg(lambda w: (w == "a").mean()) - 0.5) <= 0.3).all()
    told = asked.release_.targets["use"]
    rows = released.to_dict("records")
    assert told.retained == pytest.approx(mutual_information(classes_of(rows, columns, "use")))
    assert asked.search_.value == pytest.approx(told.retained)


@pytest.mark.parametrize("recoding", REGIONAL)
def test_more_values_than_a_label_should_list_are_refused(recoding):
    table = pd.DataFrame({"zip": [f"z{i}" for i in range(101)] * 2, "w": ["a", "b"] * 101})
    asked = Anonymizer({"zip": SEX}, "w", [KAnonymity(2)], recoding=recoding)
    with pytest.raises(InputError, match="of 'zip' divides a group into 101 values"):
        asked.fit(table)
    asked.fit(table[table["zip"] != "z100"])


def test_policies_out_of_reach_are_one_line(people):
    for recoding in REGIONAL:
        with pytest.raises(Exception, match="min-records = 13; relax one") as caught:
            asking(recoding, min_records=13).fit(people)
        assert caught.value.exit_code == 1


def test_labels_tell_shapes_apart():
    """The values of a group and the group itself, and texts with commas, never read alike."""
    rows = [[value, group] for value, group in zip("abcdefgh", "xxxyyyzz", strict=True)]
    values = [*"abcdefgh", "a, b"]
    hierarchy = Hierarchy.from_rows([*rows, ["a, b", "z"]])
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"q": rng.choice(values, 200), "w": rng.choice(list("123"), 200)})
    asked = Anonymizer({"q": hierarchy}, "w", [KAnonymity(9)], recoding="merged-cells")
    released = asked.fit_transform(table)
    labels = asked.recoding_.labels["q"]
    shapes = asked.recoding_.shapes["q"]
    assert len(set(labels)) == len(set(shapes))
    assert released.groupby(["q", "class"]).size().min() >= 9


@st.composite
def drawn(draw: st.DrawFn) -> tuple[pd.DataFrame, dict[str, Hierarchy]]:
    table = draw(tables(2))
    names = list(table.columns[:-1])
    hierarchies = {
        name: Hierarchy.from_rows(draw(nested_rows(sorted(set(table[name]))))) for name in names
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table.insert(0, "x", rng.integers(0, 6, len(table)))
    hierarchies = {"x": Hierarchy.ranges(widths=[2]), **hierarchies}
    if draw(st.booleans()):
        table["x"] = table["x"].mask(rng.random(len(table)) < 0.2)
    return table, hierarchies


@settings(deadline=None, max_examples=20)
@given(drawn=drawn(), recoding=st.sampled_from(REGIONAL), data=st.data())
def test_no_release_breaks_its_policy(drawn, recoding, data):
    table, hierarchies = drawn
    sensitive = table.columns[-1]
    k = data.draw(st.integers(1, min(5, len(table))))
    diverse, t = (
        data.draw(st.sampled_from([1, 1.2, 1.5])),
        data.draw(st.sampled_from([0.1, 0.5, 3])),
    )
    exact, heuristic = {"refinement": "exact"}, {"refinement": "heuristic"}
    ways = [exact, heuristic] if recoding == "boxes" else [{}]
    asked = Anonymizer(
        hierarchies,
        sensitive,
        [KAnonymity(k), EntropyLDiversity(diverse), TCloseness(t, distance="kl")],
        recoding=RECODINGS[recoding](
            max_classes=data.draw(st.sampled_from([None, None, 2])),
            min_records=data.draw(st.sampled_from([None, 3])),
            min_width=data.draw(st.sampled_from([None, 2])),
            min_gain=data.draw(st.sampled_from([0, 0.05])),
            **data.draw(st.sampled_from(ways)),
        ),
        missing="category",
        seed=data.draw(st.integers(0, 3)),
    )
    try:
        released = asked.fit_transform(table)
    except (PolicyUnreachableError, InputError) as refused:
        assert "relax one" in str(refused) or "no recoding can reach it" in str(refused)  # noqa: PT017
        return
    columns = [*hierarchies, *(["class"] if recoding == "merged-cells" else [])]
    rows = released.astype(object).where(released.notna(), "missing").to_dict("records")
    classes = classes_of(rows, columns, sensitive)
    assert len(classes) == asked.release_.classes
    assert smallest(classes) >= max(k, asked.recoding.min_records or 1)
    assert least_diverse(classes) >= diverse - 1e-6
    assert least_close(classes) <= t + 1e-6
    assert len(classes) <= (asked.recoding.max_classes or len(classes))
    assert mutual_information(classes) == pytest.approx(asked.release_.information.retained)


STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = "age.toml"
sex = "suppress"
[sensitive]
attributes = ["w"]
[[privacy]]
model = "k-anonymity"
k = 4
[recoding]
method = "{recoding}"
min-gain = 0.0

[search]
seed = 7
time-limit = 30
"""


@pytest.fixture
def study(tmp_path: Path, people: pd.DataFrame, request: pytest.FixtureRequest) -> Path:
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "age.toml").write_text("widths = [10]\n")
    (tmp_path / "study.toml").write_text(STUDY.format(recoding=request.param))
    return tmp_path / "study.toml"


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@pytest.mark.parametrize("study", REGIONAL, indirect=True)
def test_from_the_study_to_the_file_and_back(study, capsys):
    release = study.parent / "release"
    assert run("run", study, "--output", release) == 0
    printed = capsys.readouterr().out
    assert "by class" in printed
    told = json.loads((release / "release.json").read_text())
    numbered = told["search"]["strategy"] == "merging"
    assert numbered == ("may be chance" in printed)
    assert numbered or "proven optimum" in printed or "best found" in printed
    columns = ["age", "sex", *(["class"] if numbered else [])]
    classes = classes_of(rows_of(release / "released.csv"), columns, "w")
    assert smallest(classes) >= 4
    assert len(classes) == told["classes"] == len(told["regions"])
    assert told["other_columns"] == []
    for command in ("verify", "check"):
        assert run(command, release / "released.csv", "--study", study) == 0
    assert run("check", study.parent / "people.csv", "--study", study) == 1


@pytest.mark.parametrize("study", ["merged-cells"], indirect=True)
def test_a_release_without_its_classes_cannot_be_verified(study, capsys):
    release = study.parent / "release"
    assert run("run", study, "--output", release) == 0
    table = pd.read_csv(release / "released.csv").drop(columns="class")
    table.to_csv(release / "released.csv", index=False)
    capsys.readouterr()
    assert run("verify", release / "released.csv", "--study", study) == 1
    assert "the table lacks 'class'" in capsys.readouterr().out


def test_merged_cells_tell_no_extreme():
    """One man is 97; the women's range would end where his age begins."""
    ages = [20] * 5 + [40] * 5 + [20] * 4 + [97]
    table = pd.DataFrame(
        {"age": ages, "sex": ["f"] * 10 + ["m"] * 5, "w": [*"aaaaa", *"bbbbb", *"ccccc"]}
    )
    anonymizer = asking("merged-cells", privacy=[KAnonymity(5)])
    released = anonymizer.fit_transform(table)
    assert released["age"].tolist() == ["(-inf, 30)"] * 5 + ["[30, inf)"] * 5 + ["*"] * 5
    told = anonymizer.release_.to_dict()["recoding"]["age"]
    assert {"label": "[30, inf)", "from": 30, "to": None} in told
    assert "97" not in json.dumps(told)
    assert anonymizer.transform(table).equals(released)


@pytest.mark.parametrize("recoding", REGIONAL)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_beyond_every_end_of_a_range_lie_as_many_as_in_the_smallest_class(recoding, data):
    some = st.tuples(st.integers(0, 9), st.sampled_from("fm"), st.sampled_from("ab"))
    rows = data.draw(st.lists(some, min_size=4, max_size=30))
    table = pd.DataFrame(rows, columns=["age", "sex", "w"])
    anonymizer = asking(recoding, privacy=[KAnonymity(data.draw(st.integers(2, 4)))])
    released = anonymizer.fit_transform(table)
    by = anonymizer.plan_.fitted.published.quasi_identifiers
    least = released.groupby(list(by)).size().min()
    for label in anonymizer.release_.to_dict()["recoding"]["age"]:
        low, high = label.get("from"), label.get("to")
        assert low is None or (table["age"] < low).sum() >= least
        assert high is None or (table["age"] >= high).sum() >= least
