"""Masked codes from either side, and values that are kept while all others are one group."""

import pickle

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Anonymizer, Fixed, InputError, KAnonymity
from anonymizer.hierarchy import Hierarchy, Meaning, cut_of
from anonymizer.hierarchy.label import MASKS, OthersLabel


@pytest.mark.parametrize(
    ("rule", "code", "expected"),
    [
        ({"prefixes": [4, 2]}, "47906", ("4790*", "47***", "*")),
        ({"prefixes": [4, 2]}, "47", ("47", "47", "*")),
        ({"prefixes": [4], "mask": "#"}, "47906", ("4790#", "*")),
        ({"suffixes": [3, 1]}, "47906", ("**906", "****6", "*")),
        ({"suffixes": [3, 1]}, "4", ("4", "4", "*")),
        ({"redact": [2, 4]}, "47906", ("479**", "4****", "*")),
        ({"redact": [2, 4]}, "479", ("4**", "***", "*")),
        ({"redact": [1, 3], "side": "left", "mask": "x"}, "47906", ("x7906", "xxx06", "*")),
        ({"redact": [1], "side": "right"}, "4", ("*", "*")),
    ],
)
def test_masked_codes_by_hand(rule, code, expected):
    assert Hierarchy.of(rule).labels(code) == expected


def test_what_is_masked_is_said_of_a_label():
    first, second, _ = Hierarchy.suffixes([3, 1], mask="#").labels("47906")
    assert isinstance(first, Meaning)
    assert (first.stands_for.entry(), second.stands_for.entry()) == (
        {"masked": [0, 2]},
        {"masked": [0, 4]},
    )
    assert type(Hierarchy.suffixes([5]).labels("47906")[0]) is str


CODES = st.lists(st.text("01*#", min_size=1, max_size=6), min_size=2, max_size=6, unique=True)


@given(
    codes=CODES,
    lengths=st.sets(st.integers(1, 6), min_size=1, max_size=4),
    kind=st.sampled_from(["prefixes", "suffixes", "redact left", "redact right"]),
    mask=st.sampled_from("*#"),
)
def test_masked_levels_are_nested_and_keep_the_length_of_codes(codes, lengths, kind, mask):
    name, *side = kind.split()
    ordered = sorted(lengths, reverse=name != "redact")
    rule = {name: ordered, "mask": mask} | ({"side": side[0]} if side else {})
    hierarchy = Hierarchy.of(rule)
    taxonomy = hierarchy.over("code", codes)  # refuses levels that are not nested
    assert taxonomy.height == len(lengths) + 1
    for code in codes:
        assert {len(label) for label in hierarchy.labels(code)[:-1]} == {len(code)}
    assert Hierarchy.of(hierarchy.rule()) == hierarchy


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"prefixes": [2, 3]}, "prefixes must be falling whole lengths of at least 1, such as pre"),
        ({"suffixes": [2, 3]}, "suffixes must be falling whole lengths of at least 1, such as suf"),
        (
            {"redact": [3, 2]},
            "redact must be rising whole lengths of at least 1, such as redact = ",
        ),
        ({"redact": [0]}, "redact must be rising whole lengths"),
        ({"redact": [1001]}, "redact must be lengths of at most 1,000"),
        ({"redact": [1], "side": "up"}, 'side = \'up\' must be "left" or "right"'),
        ({"redact": [1], "side": ["left"]}, 'side = list must be "left" or "right"'),
        ({"redact": 2}, "redact must be a list, such as redact = [2]"),
        ({"prefixes": [1], "side": "left"}, "side goes with redact, such as { redact = [2, 4], si"),
        ({"prefixes": [1], "mask": "0"}, "mask = '0' must be one of * # ? ~ x X"),
        ({"prefixes": [1], "mask": "**"}, "mask = '**' must be one of"),
        ({"prefixes": [1], "mask": 3}, "mask = 3 must be one of"),
        ({"keep": "France"}, "keep must be a list, such as keep = "),
        ({"keep": []}, "keep must be a list, such as keep = "),
        ({"keep": [["a"], []]}, "keep of level 2 must list values, texts in quotes or numbers"),
        ({"keep": [["a"], "a"]}, "keep of level 2 must list values, texts in quotes or numbers"),
        ({"keep": [True]}, "keep of level 1 must list values, texts in quotes or numbers"),
        ({"keep": [" "]}, "keep of level 1 must list values, texts in quotes or numbers"),
        ({"keep": [["a"], ["b"]]}, "level 2 keeps 'b', which level 1 does not; each list of keep"),
        ({"keep": ["a", "other"]}, "other = 'other' is one of the values to keep; give the group"),
        ({"keep": ["a"], "other": "*"}, "other must be a label, and not '*', such as other = "),
        ({"keep": ["a"], "other": ""}, "other must be a label"),
        ({"keep": ["a"], "other": ["b"]}, "other must be a label"),
        ({"keep": list(range(10_001))}, "keep may list at most 10,000 values; write a CSV table"),
        ({"suppress": True, "other": "x"}, "other goes with keep, such as { keep = [["),
    ],
)
def test_rules_that_cannot_be(rule, message):
    with pytest.raises(InputError) as error:
        Hierarchy.of(rule)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_no_masking_character_makes_a_number_or_a_formula():
    assert not {*MASKS} & {*"0123456789.,+-=@eE_ \"'"}


# Kept values

COUNTRIES = Hierarchy.keep(["France", "Spain", "Italy"], ["France"])


def test_kept_values_by_hand():
    assert COUNTRIES.labels("France") == ("France", "France", "*")
    assert COUNTRIES.labels(" Spain ") == ("Spain", "other", "*")
    assert COUNTRIES.labels("Andorra") == ("other", "other", "*")
    assert COUNTRIES.labels(None) == (None, None, "*")
    numbers = Hierarchy.of({"keep": [1, 2.0], "other": 9})
    assert [numbers.labels(value)[0] for value in (1, "1.0", 2, 3, 9)] == ["1", "1", "2", "9", "9"]
    assert Hierarchy.of(COUNTRIES.rule()) == COUNTRIES


def test_all_that_is_not_kept_is_one_group_even_what_reads_like_it():
    taxonomy = COUNTRIES.over("country", ["Spain", "other", "Andorra", None])
    first = taxonomy.levels[1]
    names = dict(zip(taxonomy.texts, first.groups.tolist(), strict=True))
    assert names["other"] == names["Andorra"] != names["Spain"]
    assert first.labels[names["other"]] == "other"
    # As raw values they are two, and a cut that has both groups tells them apart.
    assert names.keys() == {"France", "Italy", "Spain", "other", "Andorra", None}


def test_a_manifest_lists_what_the_steward_kept_and_no_other_value():
    taxonomy = COUNTRIES.over("country", ["Spain", "Andorra", "MARKER"])
    kept = [{"label": name, "values": [name]} for name in ("France", "Italy", "Spain")]
    others = {"label": "other", "except": ["France", "Spain", "Italy"]}
    first = taxonomy.describe(taxonomy.levels[1], {"Spain", "other"})
    assert sorted(first, key=lambda group: group["label"]) == [*kept, others]
    assert others not in taxonomy.describe(taxonomy.levels[1], {"Spain"})  # all suppressed
    second = taxonomy.describe(taxonomy.levels[2], {"other"})
    assert {"label": "other", "except": ["France"]} in second
    assert taxonomy.describe(taxonomy.levels[3], {"*"}) == [{"label": "*"}]
    raw = taxonomy.describe(taxonomy.levels[0], {"Spain", "Andorra"})
    assert [group["label"] for group in raw] == ["Andorra", "France", "Italy", "Spain"]


def test_a_group_of_a_cut_says_what_it_lacks_at_its_own_level():
    taxonomy = COUNTRIES.over("country", ["France", "Spain", "other", "Andorra"])
    second = taxonomy.levels[2]
    other = second.labels.index("other")
    cut = cut_of(taxonomy, [(2, other), (1, taxonomy.levels[1].labels.index("France"))])
    described = taxonomy.describe(cut, {"other", "France"})
    assert {"label": "other", "except": ["France"], "level": 2} in described
    assert {"label": "France", "values": ["France"], "level": 1} in described


@pytest.mark.parametrize("level", [0, 1])
def test_a_pickled_plan_holds_no_value_of_a_suppressed_record(level):
    table = pd.DataFrame({"job": [*["nurse"] * 3, *["vet"] * 2, "MARKER"]})
    fitted = Anonymizer(
        {"job": {"keep": ["nurse", "vet"], "other": "others"}},
        privacy=[KAnonymity(2)],
        recoding=Fixed({"job": level}, suppression=0.2),
        objective="loss",
    )
    released = fitted.fit_transform(table)["job"].tolist()
    assert released == ["nurse"] * 3 + ["vet"] * 2
    pickled = pickle.dumps(fitted)
    assert b"MARKER" not in pickled
    assert pickle.loads(pickled).transform(table.iloc[:5])["job"].tolist() == released
    for thing in (repr(fitted), repr(fitted.taxonomies_), str(fitted.release_.to_dict())):
        assert "MARKER" not in thing


def test_labels_with_a_meaning_survive_pickling():
    label = Meaning("other", OthersLabel(("a",))).marked(" (level 2)")
    again = pickle.loads(pickle.dumps(label))
    assert (again, again.described) == (label, {"except": ["a"], "group": "other"})
