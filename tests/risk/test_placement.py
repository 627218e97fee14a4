"""Raw records under the labels of a manifest, for every kind of group one can tell of."""

import numpy as np
import pandas as pd
import pytest
from lengths import in_pairs
from releases import manifest_of

from anonymizer.errors import InputError
from anonymizer.release.manifest.placement import place
from anonymizer.release.publish import publish
from anonymizer.release.study import Study


def labels(values, *groups):
    """The label of each value, None where it has none."""
    people = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    found, known = place(people, manifest_of(recoding={"a": list(groups)}))
    return [text if there else None for text, there in zip(found["a"], known, strict=True)]


def test_ranges_are_half_open_and_exact():
    groups = [
        {"label": "(-inf, 0.1)", "from": None, "to": 0.1},
        {"label": "[0.1, 0.3)", "from": 0.1, "to": 0.3},
        {"label": "[5, inf)", "from": 5, "to": None},
    ]
    values = ["0.1", 0.1, "0.30", " 0.29", -7, "5.0", "x", None, 4]
    low, middle, high = (group["label"] for group in groups)
    assert labels(values, *groups) == [middle, middle, None, middle, low, high, None, None, None]


def test_values_are_told_by_their_texts():
    groups = [{"label": "few", "values": ["39", "0047"]}, {"label": "x", "values": ["47"]}]
    assert labels([39, "39.0", " 39", "0047", "47", "4.7"], *groups) == [*["few"] * 4, "x", None]


def test_masked_codes():
    masked = [{"label": "479**", "masked": [3, 5]}, {"label": "48***", "masked": [2, 5]}]
    values = ["47901", "479", "47801", "48000", "5", "55", None, "479*"]
    expected = ["479**", "*", "*", "48***", "5", "*", "*", "*"]  # what is in no other group
    assert labels(values, *masked, {"label": "5"}, {"label": "*"}) == expected


def test_codes_that_are_masked_at_their_begin_or_by_another_character():
    groups = [{"label": "##906", "masked": [0, 2]}, {"label": "x*", "masked": [1, 2]}]
    values = ["47906", "48906", "##906", "4906", "xa", "x*", "x"]
    assert labels(values, *groups) == [*["##906"] * 3, None, "x*", "x*", None]
    whole = [{"label": "*", "masked": [0, 1]}, {"label": "a", "values": ["a"]}]
    assert labels(["7", None, "77"], *whole) == ["*", None, None]


def test_a_masked_code_says_what_is_masked_within_its_label():
    for masked in ([1, 1], [2, 1], [0, 4], [1], [1, 2, 3], [-1, 2]):
        with pytest.raises(InputError, match=r"recoding\.a\.0"):
            labels(["47"], {"label": "4**", "masked": masked})


def test_all_values_but_some():
    groups = [{"label": "other", "except": ["fr", "es"]}, {"label": "fr", "values": ["fr"]}]
    values = ["fr", "es", "it", "other", " never seen", 7, None]
    assert labels(values, *groups) == ["fr", None, *["other"] * 4, None]


def test_a_single_star_is_everybody():
    assert labels(["x", 3, None], {"label": "*"}) == ["*"] * 3
    listed = {"label": "anything", "values": ["x", "y"]}
    assert labels(["x", "z", None], listed) == ["anything", None, "anything"]


def test_a_single_raw_value_is_not_everybody():
    """The others were suppressed, a missing one among them."""
    people = pd.DataFrame({"a": ["x", "y", None]})
    for level, there in [(0, [True, False, False]), (1, [True, False, True])]:
        only = [{"label": "x", "values": ["x"]}]
        manifest = manifest_of(recoding={"a": only}, levels={"a": level})
        assert place(people, manifest)[1].tolist() == there


def test_missing_values():
    listed = [{"label": "*", "values": []}, {"label": "few", "values": ["1"]}]
    assert labels([1, None], *listed) == ["few", "*"]
    spelled = [{"label": "{a, null}", "values": ["a", None]}, {"label": "b", "values": ["b"]}]
    assert labels(["a", None, "b"], *spelled) == ["{a, null}", "{a, null}", "b"]
    raw = [{"label": None, "values": [None]}, {"label": "a", "values": ["a"]}]
    assert place(pd.DataFrame({"a": [None, "a"]}), manifest_of(recoding={"a": raw}))[1].all()


def test_a_raw_star_is_no_missing_value():
    raw = [{"label": "*", "values": ["*"]}, {"label": None, "values": [None]}]
    told = manifest_of(recoding={"a": raw}, levels={"a": 0})
    found, known = place(pd.DataFrame({"a": ["*", None]}), told)
    assert (found["a"].isna().tolist(), known.tolist()) == ([False, True], [True, True])


def test_groups_of_a_cut_go_by_their_own_label_where_it_is_told():
    groups = [
        {"label": "39", "level": 0},
        {"label": "40 (level 1)", "level": 0, "group": "40"},
        {"label": "47*** (level 2)", "level": 2, "group": "47***", "masked": [2, 5]},
    ]
    assert labels([39, "40", "47111", "48111"], *groups) == [*(g["label"] for g in groups), None]


def test_overlapping_groups_are_refused():
    groups = [{"label": "a", "values": ["1"]}, {"label": "[0, 2)", "from": 0, "to": 2}]
    with pytest.raises(InputError, match="column 'a' groups that overlap"):
        labels([1], *groups)


REGIONS = manifest_of(
    recoding={
        "age": [
            {"label": "[0, 10)", "from": 0, "to": 10},
            {"label": "[5, 20)", "from": 5, "to": 20},
        ],
        "sex": [{"label": "f", "values": ["f"]}, {"label": "*"}],
    },
    regions=[{"age": "[0, 10)", "sex": "f"}, {"age": "[5, 20)", "sex": "*"}],
)


def test_classes_of_their_own_groups():
    people = pd.DataFrame({"age": [1, 15, 12, 1], "sex": ["f", "f", "m", "m"]})
    found, known = place(people, REGIONS)
    assert known.tolist() == [True, True, True, False]
    assert found["class"].tolist()[:3] == ["1", "2", "2"]
    assert found["age"].tolist()[:3] == ["[0, 10)", "[5, 20)", "[5, 20)"]


def test_where_classes_overlap_the_order_tells_or_nothing_does():
    people = pd.DataFrame({"age": [7, 7], "sex": ["f", "f"]})
    with pytest.raises(InputError, match="2 records of the original fit several classes"):
        place(people, REGIONS)
    assert place(people, REGIONS, np.array([1, 0]))[0]["class"].tolist() == ["2", "1"]
    people["sex"] = ["f", "m"]
    with pytest.raises(InputError, match="1 record of the original fit"):  # 'm' is in no class 1
        place(people, REGIONS, np.array([0, 0]))


RULES = [
    'zip = { prefixes = [4, 3] }, job = "job.csv"',
    'zip = { redact = [1, 2], mask = "#" }, job = { keep = [["nurse", "cook"], ["nurse"]] }',
]
RECODINGS = ["full-domain", "variable-range", "cut", "boxes", "merged-cells"]


@pytest.mark.parametrize(
    ("recoding", "missing", "rules"), in_pairs(RECODINGS, ["error", "drop", "category"], RULES)
)
def test_records_are_placed_where_their_release_has_them(tmp_path, recoding, missing, rules):
    """In the order of its table: each record has the labels that stand in its place."""
    rng = np.random.default_rng([RECODINGS.index(recoding), len(missing)])
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 80).astype(str),
            "zip": rng.choice(["47901", "47902", "48", "4822", "47906"], 80),
            "job": rng.choice(["nurse", "clerk", "smith", "cook"], 80),
            "ill": rng.choice(["a", "b"], 80),
        }
    ).astype(object)
    if missing != "error":
        for name in ("age", "zip", "job"):
            table.loc[rng.random(80) < 0.06, name] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "age.toml").write_text("widths = [5, 10, 20]")
    (tmp_path / "job.csv").write_text("nurse,care,*\ncook,care,*\nclerk,desk,*\nsmith,craft,*\n")
    refine = ", refine = []" if recoding == "cut" else ""
    (tmp_path / "study.toml").write_text(
        f"""data = {{ path = "t.csv", missing = "{missing}" }}
quasi-identifiers = {{ age = "age.toml", {rules} }}
sensitive = {{ attributes = ["ill"] }}
recoding = {{ method = "{recoding}"{refine} }}
privacy = [{{ model = "k-anonymity", k = 2 }}]
output = {{ order = "kept" }}
"""
    )
    _, manifest = publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    released = pd.read_csv(tmp_path / "out" / "released.csv", dtype=str)
    kept = table.dropna() if missing == "drop" else table
    numbers = released["class"].astype(int).to_numpy() - 1 if "class" in released else None
    found, known = place(kept, manifest, numbers)
    assert known.all()
    for name in released.columns.drop("ill"):
        shown = released[name].fillna("missing").tolist()
        assert found[name].fillna("missing").astype(str).tolist() == shown
