"""What a good colleague would say of a release whose policy holds; never a value of a record."""

import json
import re
from collections import Counter
from itertools import product
from unicodedata import normalize

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer import (
    Anonymizer,
    DifferentialPrivacy,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    KAnonymity,
    KMap,
    MeanInformation,
    MutualInformation,
    Population,
    Pram,
    SafePub,
    TCloseness,
    check,
)
from anonymizer.cli import main
from anonymizer.privacy import PrivacyModel
from anonymizer.release.column_warnings import column_warnings, order_warnings
from anonymizer.release.warnings import WARNINGS, ReleaseWarning

Found = list[tuple[str, str | None, int, int]]


def told(warnings: object, code: str | None = None) -> Found:
    assert isinstance(warnings, tuple)
    return [(w.code, w.column, w.count, w.of) for w in warnings if code in (None, w.code)]


def of_classes(
    classes: dict[str, list], *models: PrivacyModel, missing: str = "error"
) -> tuple[ReleaseWarning, ...]:
    """The warnings of a table that has a class for each key, of some sensitive values."""
    rows = [(key, value) for key, values in classes.items() for value in values]
    table = pd.DataFrame(rows, columns=["q", "w"])
    return check(table, "q", "w", models, missing).warnings


# The policy and the roles


@pytest.mark.parametrize(
    ("models", "count"),
    [
        ([MeanInformation(1)], 1),
        ([KAnonymity(1)], 1),
        ([KAnonymity(1), MeanInformation(1)], 2),
        ([DistinctLDiversity(1), EntropyLDiversity(1)], 2),
        ([KAnonymity(2), MeanInformation(1)], 0),
        ([KAnonymity(1), DistinctLDiversity(2)], 0),
        ([], 0),
    ],
)
def test_a_policy_that_no_class_can_break(models, count):
    found = of_classes({"a": list("uvw"), "b": list("uvw")}, *models)
    assert told(found) == ([("weak-policy", None, count, count)] if count else [])


def test_a_population_in_which_everybody_may_stand_alone():
    people = pd.DataFrame({"q": list("aabbc")})
    table = pd.DataFrame({"q": list("ab"), "w": list("uv")})
    found = check(table, "q", "w", [KMap(1, Population(people))])
    assert told(found.warnings, "weak-policy") == [("weak-policy", None, 1, 1)]


def test_no_attribute_declared_sensitive():
    table = pd.DataFrame({"q": list("aabb"), "x": [1, 1, 2, 2], "y": list("uuvv")})
    found = check(table, "q", privacy=[KAnonymity(2)])
    assert told(found.warnings) == [("no-sensitive-attribute", None, 2, 3)]
    assert check(table[["q"]], "q", privacy=[KAnonymity(2)]).warnings == ()
    assert check(table, "q").warnings == ()  # of no policy


# Classes


SKEWED = {"a": [*"uuuuv"], "b": [*"uuuvv"], "c": [*"vvvvvvvv"], "d": [*"uuuvuuuv"]}
"""Of five, five, eight and eight records: 4, 3, 8 and 6 of them have the commonest value."""


@pytest.mark.parametrize("models", [[KAnonymity(5)], [DistinctLDiversity(1)], [MeanInformation(1)]])
def test_nearly_homogeneous_classes_by_hand(models):
    """4 of 5 and 8 of 8 are 80 % or more; their values can be guessed for 4 + 8 records."""
    (found,) = (w for w in of_classes(SKEWED, *models) if w.code == "homogeneous-classes")
    assert (found.column, found.count, found.of, found.records) == ("w", 2, 4, 12)
    assert "80% or more of 2 of 4 classes and is that of 12 records" in found.message


def test_distinct_values_do_not_keep_a_class_from_being_homogeneous():
    found = of_classes({"a": ["u"] * 19 + ["v"], "b": ["u", "v"]}, DistinctLDiversity(2))
    assert told(found) == [("homogeneous-classes", "w", 1, 2)]


@pytest.mark.parametrize("model", [EntropyLDiversity(1.5), TCloseness(0.5, "kl")])
def test_models_that_bound_how_often_a_value_occurs_are_trusted(model):
    assert told(of_classes(SKEWED, KAnonymity(5), model)) == []


def test_a_model_about_another_attribute_says_nothing():
    table = pd.DataFrame({"q": list("aaaabbbb"), "w": list("uuuuvvvv"), "x": list("rsrsrsrs")})
    found = check(table, "q", ["w", "x"], [EntropyLDiversity(2, attribute="x")])
    assert told(found.warnings) == [("homogeneous-classes", "w", 2, 2)]


def test_a_constant_sensitive_attribute():
    found = of_classes({"a": ["u", "u"], "b": ["u", "u", "u"]}, KAnonymity(2))
    assert told(found) == [("constant-sensitive", "w", 5, 5)]


@pytest.mark.parametrize(("gaps", "warned"), [(4, False), (5, True)])
def test_a_sensitive_attribute_that_most_records_miss(gaps, warned):
    values = [None] * gaps + ["u", "v", "u", "v"]
    found = of_classes({"a": values}, EntropyLDiversity(1.1), missing="category")
    expected = [("missing-sensitive", "w", gaps, gaps + 4)] if warned else []
    assert told(found, "missing-sensitive") == expected


@pytest.mark.parametrize("gap", [None, np.nan, pd.NaT])
def test_diversity_that_missing_values_make(gap):
    """Without gaps a has one value and b two; c has none missing, d nothing else."""
    classes = {
        "a": ["u", gap, "u"],
        "b": ["u", "v", gap],
        "c": ["u", "v"],
        "d": [gap, gap],
    }
    found = of_classes(classes, KAnonymity(2), DistinctLDiversity(1), missing="category")
    assert told(found, "missing-as-value") == []
    (found,) = (
        w
        for w in of_classes(classes, DistinctLDiversity(2), missing="category")
        if w.code == "missing-as-value"
    )
    assert (found.column, found.count, found.of, found.records) == ("w", 2, 4, 5)


def test_entropy_that_missing_values_make():
    """Of a, H(1/2, 1/4, 1/4) is 1.5 bits, and 1 bit of u and v alone."""
    classes = {"a": ["u", "u", "v", "v", None, None]}
    found = of_classes(classes, EntropyLDiversity(2.5), missing="category")
    assert told(found, "missing-as-value") == [("missing-as-value", "w", 1, 1)]
    found = of_classes(classes, EntropyLDiversity(2), missing="category")
    assert told(found, "missing-as-value") == []


def test_an_answer_that_all_lists_of_a_class_have():
    """hiv is in 5 of 5 lists of a, and in 3 of 5 of b; c has one list, as a class of one value."""
    classes = {
        "a": ["hiv", "hiv flu", "flu hiv", "gout hiv", "hiv gout"],
        "b": ["hiv", "hiv flu", "flu", "gout", "gout hiv"],
        "c": ["hiv flu"] * 5,
    }
    found = of_classes(classes, DistinctLDiversity(1))
    (listed,) = (w for w in found if w.code == "several-answers")
    assert (listed.column, listed.count, listed.of, listed.records) == ("w", 1, 3, 5)
    words = {"a": ["full time", "part time", "none"], "b": ["full time", "never", "part time"]}
    assert told(of_classes(words, DistinctLDiversity(1)), "several-answers") == []
    grades = {"a": ["1", "2", "1,2"], "b": ["2,1", "1", "2"]}
    assert told(of_classes(grades, DistinctLDiversity(1)), "several-answers") == []


def test_numbers_that_differ_by_little():
    """They spread from 0 to 100: 5 of them is little, 6 is not."""
    classes = {
        "a": [0, 5, 3],
        "b": [0, 6, 3],
        "c": [40, 40, 40],  # of one value: homogeneous, not similar
        "d": ["100", "95.5", " 99"],
    }
    found = of_classes(classes, DistinctLDiversity(1))
    (similar,) = (w for w in found if w.code == "similar-numbers")
    assert (similar.column, similar.count, similar.of, similar.records) == ("w", 2, 4, 6)


def test_one_director_makes_no_spread():
    """5 % at either end do not count: with them, 100 to 139 would lie within 5 % of a million."""
    classes = {str(k): [100 + 10 * k, 109 + 10 * k] * 10 for k in range(4)}
    classes["4"] = [100, 139, 10**6]
    assert told(of_classes(classes, DistinctLDiversity(2)), "similar-numbers") == []
    alike = {"a": [0] * 30 + [10**6], "b": [0] * 10 + [1]}  # all but the tails are 0
    found = of_classes(alike, DistinctLDiversity(2))
    assert told(found, "similar-numbers") == [("similar-numbers", "w", 1, 2)]


def test_texts_and_gaps_are_no_numbers():
    found = of_classes({"a": [1, 2], "b": ["100", "few"]}, DistinctLDiversity(2))
    assert told(found, "similar-numbers") == []
    gaps = {"a": [1.0, 2.0, None], "b": [1.0, 2.0], "c": [100.0, 0.0], "d": [None]}
    found = of_classes(gaps, DistinctLDiversity(1), missing="category")
    assert told(found, "similar-numbers") == [("similar-numbers", "w", 1, 4)]


@pytest.mark.parametrize(("own", "warned"), [(6, True), (5, False)])
def test_a_sensitive_attribute_that_finds_people(own, warned):
    """Nobody else earns what any of them does; 0 stands for no income."""
    found = of_classes({"a": [0, 0, 0, *range(101, 101 + own)]}, KAnonymity(2))
    expected = [("nearly-unique-sensitive", "w", own, own + 3)] if warned else []
    assert told(found, "nearly-unique-sensitive") == expected


def held_together(rows: list[tuple], *models: PrivacyModel) -> tuple[ReleaseWarning, ...]:
    """The warnings of a table of class, salary and disease."""
    table = pd.DataFrame(rows, columns=["q", "salary", "disease"])
    return check(table, "q", ["salary", "disease"], models).warnings


def test_a_sensitive_attribute_that_tells_another_one():
    """Four salaries, two diseases: each salary has one in a class, another one in the next."""
    rows = [("a", pay, "HIV" if pay < 3 else "flu") for pay in (1, 2, 3, 4)] * 2
    rows += [("b", pay, "flu" if pay < 3 else "HIV") for pay in (1, 2, 3, 4)] * 2
    (found,) = held_together(rows, DistinctLDiversity(2))
    assert (found.code, found.column, found.about) == (
        "sensitive-tells-sensitive",
        "salary",
        "disease",
    )
    assert (found.count, found.of) == (8, 16)  # 16 right instead of 8
    assert "whoever knows 'salary' of somebody in a class guesses 'disease'" in found.message


def test_what_the_class_tells_alone_is_told_by_no_attribute():
    rows = [(q, pay, "HIV" if q == "a" else "flu") for q in "ab" for pay in (1, 2, 3, 4)] * 2
    assert told(held_together(rows), "sensitive-tells-sensitive") == []


attributes = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from("uvw")), min_size=8
)


@given(rows=attributes)
def test_who_knows_one_value_guesses_the_other_right(rows):
    """An attacker in plain Python, who guesses the commonest value of those who are left."""

    def right(about: int, *known: int) -> int:
        groups: dict[tuple, Counter] = {}
        for row in rows:
            groups.setdefault(tuple(row[place] for place in known), Counter())[row[about]] += 1
        return sum(max(group.values()) for group in groups.values())

    warned = {
        warning.column: warning.count
        for warning in held_together(rows)
        if warning.code == "sensitive-tells-sensitive"
    }
    expected = {}
    for name, place, about in (("salary", 1, 2), ("disease", 2, 1)):
        wrong, alone = len(rows) - right(about, 0, place), len(rows) - right(about, 0)
        if 10 * wrong <= len(rows) < 10 * alone:
            expected[name] = alone - wrong
    assert warned == expected


def bodies(heights: int, weights: int, twins: int = 0) -> pd.DataFrame:
    """Everybody has a height and a weight of few, and the two together alone, but for twins."""
    rows = [
        (place % 2, h, w) for place, (h, w) in enumerate(product(range(heights), range(weights)))
    ]
    rows += [(0, 0, 0)] * twins
    return pd.DataFrame(rows, columns=["q", "height", "weight"])


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (bodies(5, 6), [("unique-together", "height", 30, 30)]),
        (bodies(5, 6, 28), [("unique-together", "height", 29, 58)]),
        (bodies(5, 6, 29), []),  # 29 of 59 are fewer than half
        (bodies(2, 3), []),  # six values say little
    ],
)
@pytest.mark.parametrize("held", [pd.DataFrame, pa.Table.from_pandas])
def test_columns_that_are_unique_together(table, expected, held):
    warnings = check(held(table), "q").warnings
    assert told(warnings, "unique-together") == expected
    assert [each.about for each in warnings if each.code == "unique-together"] == ["weight"] * len(
        expected
    )


def test_a_column_is_named_once_and_one_that_is_unique_by_itself_not_at_all():
    table = bodies(6, 6).assign(third=lambda t: t["weight"], number=range(36))
    warnings = check(table, "q").warnings
    assert told(warnings, "nearly-unique-column") == [("nearly-unique-column", "number", 36, 36)]
    assert told(warnings, "unique-together") == [("unique-together", "height", 36, 36)]


columns = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40)


@given(rows=columns)
def test_records_alone_with_two_values(rows):
    table = pd.DataFrame(rows, columns=["height", "weight"]).assign(q=0)
    alone = sum(times == 1 for times in Counter(rows).values())
    found = told(check(table, "q").warnings, "unique-together")
    assert found == (
        [("unique-together", "height", alone, len(rows))]
        if alone >= 7 and 2 * alone >= len(rows)
        else []
    )


def test_what_several_columns_tell_is_verified(tmp_path, capsys):
    """In a release and its manifest, and found again by who verifies it."""
    table = bodies(10, 10).assign(
        salary=lambda t: t["height"] % 4,
        disease=lambda t: (t["height"] % 4).map("abca".__getitem__),
    )
    table.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "people.csv"\n[quasi-identifiers]\nq = "suppress"\n'
        '[sensitive]\nattributes = ["salary", "disease"]\n'
        '[[privacy]]\nmodel = "distinct-l-diversity"\nl = 2\n'
    )
    for arguments in (
        ["run", str(tmp_path / "study.toml"), "--output", str(tmp_path / "out")],
        ["verify", str(tmp_path / "out"), "--study", str(tmp_path / "study.toml")],
        ["report", str(tmp_path / "out"), "--markdown", "-o", "-"],
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        said = capsys.readouterr()
        assert stop.value.code == 0, said.err
    given = json.loads((tmp_path / "out" / "release.json").read_text())["warnings"]
    found = [(each["code"], each["column"], each["count"]) for each in given]
    assert ("sensitive-tells-sensitive", "salary", 50) in found
    assert ("unique-together", "height", 100) in found
    assert "has together" in said.out


def test_spellings_that_read_alike():
    """Two ways each to write flu, é (one of them decomposed) and true."""
    values = ["flu", "Flu", "cold", "É", normalize("NFD", "é"), True, "TRUE"]
    found = of_classes({"a": values}, DistinctLDiversity(2))
    assert told(found) == [("spellings-alike", "w", 3, 7)]
    assert told(of_classes({"a": ["flu", "cold"]}, DistinctLDiversity(2))) == []


# Columns without a role


def people(records: int = 240, seed: int = 0) -> pd.DataFrame:
    """Ages from 20 to 59, evenly, in random order, with a sensitive attribute."""
    rng = np.random.default_rng(seed)
    ages = 20 + rng.permutation(records) % 40
    return pd.DataFrame({"age": ages, "w": rng.choice([*"uvwxyz"], records)})


def released_with(
    extra: object, name: str = "extra", level: int = 1, **options
) -> tuple[ReleaseWarning, ...]:
    """The warnings of people in ranges of 10 years, with a column more."""
    table = people()
    table[name] = extra(table) if callable(extra) else extra
    given = {"privacy": [KAnonymity(2), EntropyLDiversity(1.1)], **options}
    ranges = {"age": Hierarchy.ranges(widths=[10])}
    how = Anonymizer(ranges, "w", recoding=Fixed({"age": level}), **given)
    return how.fit(table).release_.warnings


def test_an_address_of_ones_own():
    found = released_with(lambda table: [f"{n}@example.org" for n in range(len(table))])
    assert told(found) == [
        ("identifying-values", "extra", 240, 240),
        ("nearly-unique-column", "extra", 240, 240),
    ]


@pytest.mark.parametrize("gap", [None, "", "unknown"])
@pytest.mark.parametrize("seed", range(3))
def test_nearly_unique_by_hand(gap, seed):
    """Of ten who have one, nine addresses differ; two people share one, so eight are alone."""
    known = [f"{n}@example.org" for n in (0, 0, 1, 2, 3, 4, 5, 6, 7, 8)]
    table = pd.DataFrame({"q": "a", "x": [*known, *[gap] * 30]}).sample(frac=1, random_state=seed)
    assert told(column_warnings(table, ["x"])) == [("nearly-unique-column", "x", 8, 40)]
    table["x"] = table["x"].replace({"8@example.org": "7@example.org"})  # 8 of 10
    assert column_warnings(table, ["x"]) == ()


@pytest.mark.parametrize(("own", "warned"), [(10, True), (9, False)])
def test_values_of_their_own_that_one_in_a_hundred_has(own, warned):
    table = pd.DataFrame({"x": [*[0] * (1000 - own), *range(1, own + 1)]})
    expected = [("nearly-unique-column", "x", own, 1000)] if warned else []
    assert told(column_warnings(table, ["x"])) == expected


def test_few_records_say_nothing_of_a_column():
    assert column_warnings(pd.DataFrame({"x": range(6)}), ["x"]) == ()
    assert len(column_warnings(pd.DataFrame({"x": range(7)}), ["x"])) == 1


def test_columns_of_lists_are_passed_over():
    table = pd.DataFrame({"x": [[n] for n in range(20)], "y": range(20)})
    assert told(column_warnings(table, ["x", "y"])) == [("nearly-unique-column", "y", 20, 20)]


@pytest.mark.parametrize(
    ("extra", "gain"),
    [
        (lambda t: t["age"], 216),  # all that the label leaves open: nine of ten
        (lambda t: 2024 - t["age"], 216),
        (lambda t: [f"{a}{'abc'[n % 3]}" for n, a in enumerate(t["age"])], 216),
        (lambda t: t["age"] // 5 * 5, 24),  # two halves of each range: one guess more in each
        (lambda t: t["age"].astype("category"), 216),
    ],
)
def test_a_copy_of_a_generalized_column(extra, gain):
    """Six people of each age: of a range of ten ages six of 60 are guessed, 24 in all four."""
    found = released_with(extra)
    assert told(found, "column-gives-away") == [("column-gives-away", "extra", gain, 240)]
    assert "gives 'age' away" in found[-1].message


@pytest.mark.parametrize(
    "extra",
    [
        "constant",
        lambda t: t["age"] // 10,  # no more than the label says
        lambda t: np.arange(len(t)) % 2,
        lambda t: np.arange(len(t)) % 60,
        lambda t: np.random.default_rng(1).integers(0, 200, len(t)),
    ],
)
def test_columns_that_give_nothing_away(extra):
    assert told(released_with(extra)) == []


def test_nothing_is_given_away_of_what_is_released_as_it_is():
    assert told(released_with(lambda t: t["age"], level=0)) == []


def test_identifiers_give_nothing_away_but_targets_do():
    assert told(released_with(lambda t: t["age"], identifiers=["extra"])) == []
    found = released_with(lambda t: t["age"], objective=MutualInformation(target="extra"))
    assert told(found) == [("column-gives-away", "extra", 216, 240)]


@pytest.mark.parametrize("recoding", ["boxes", "merged-cells", "variable-range"])
def test_regions_and_ranges_are_given_away_too(recoding):
    table = people().assign(extra=lambda t: t["age"])
    how = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10])}, "w", [KAnonymity(30)], recoding=recoding
    )
    found = told(how.fit(table).release_.warnings, "column-gives-away")
    assert [(column, of) for _, column, _, of in found] == [("extra", 240)]


@pytest.mark.slow
def test_drawn_values_are_given_away_too():
    table = people().assign(extra=lambda t: t["age"])
    how = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10])},
        "w",
        [EntropyLDiversity(4)],
        recoding=Pram(seed=1),
    )
    found = told(how.fit(table).release_.warnings)
    assert ("column-gives-away", "extra") in [(code, column) for code, column, *_ in found]


def test_records_that_are_left_out_do_not_shift_the_others():
    """One record of 99 years is left out; the copy of the others is theirs."""
    table = people()
    lone = pd.DataFrame({"age": [99], "w": ["u"]})
    table = pd.concat([table.head(100), lone, table.tail(140)], ignore_index=True)
    table["extra"] = table["age"]
    how = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10, 20])},
        "w",
        [KAnonymity(10)],
        recoding=FullDomain(suppression=0.01, remove=True),
    )
    release = how.fit(table).release_
    assert release.suppressed == 1
    assert told(release.warnings) == [("column-gives-away", "extra", 216, 240)]


@pytest.mark.parametrize("values", [2, 30, 400])
def test_chance_hardly_ever_gives_anything_away(values):
    """Fewer than one in a thousand columns by the bound; none of these 300."""
    rng, table = np.random.default_rng(values), people()
    shares = rng.dirichlet(np.full(values, 0.5), 100)
    extra = {f"x{n}": rng.choice(values, len(table), p=p) for n, p in enumerate(shares)}
    how = Anonymizer({"age": Hierarchy.ranges(widths=[10])}, "w", [KAnonymity(50)])
    release = how.fit(pd.concat([table, pd.DataFrame(extra)], axis=1)).release_
    assert told(release.warnings, "column-gives-away") == []
    assert release.levels == {"age": 1}


# Order


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("name", ["age", "patient"])
def test_records_sorted_by_what_is_hidden(name, ascending):
    table = people().assign(patient=lambda t: [f"P{n}" for n in range(len(t))])
    table = table.sample(frac=1, random_state=3)
    key = table[name] if name == "age" else table["patient"].str[1:].astype(int)
    table = table.loc[key.sort_values(ascending=ascending, kind="stable").index]
    how = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10])}, "w", [KAnonymity(20)], identifiers=["patient"]
    )
    assert told(how.fit(table).release_.warnings, "telling-order") == [
        ("telling-order", name, 239, 239)
    ]
    shuffled = table.sample(frac=1, random_state=5)
    assert told(how.fit(shuffled).release_.warnings) == []


def test_an_order_that_is_released_tells_nothing():
    table = people().sort_values("age")
    how = Anonymizer({"age": Hierarchy.ranges(widths=[10])}, "w", [KAnonymity(2)])
    assert how.fit(table).release_.levels == {"age": 0}
    assert told(how.release_.warnings) == []


def orders() -> dict[str, tuple[list, tuple[int, int] | None]]:
    """Columns, and the pairs in order that are warned of."""
    numbers = list(range(200))
    return {
        "numbers": (numbers, (199, 199)),
        "numbers as texts": ([str(n) for n in numbers], (199, 199)),
        "one out of place": ([*numbers[:9], 0, *numbers[10:]], (198, 199)),
        "many out of place": ([n + 2 * (n % 20 == 0) for n in numbers], None),
        "missing": ([None, *numbers, None], (199, 199)),
        "names": (sorted(f"{a}{b}" for a in "kcmab" for b in range(20)), (99, 99)),
        "dates": (list(pd.date_range("2020-01-01", periods=90)), (89, 89)),
        "days as written": ([f"{d:02}.{m:02}.20" for m in (1, 2, 3) for d in (1, 2, 3) * 99], None),
        "numbers beyond any": ([*"123456789", "1e999", "2e999", "3e999"], (11, 11)),
        "groups": ([*"m" * 99, *"a" * 99, *"z" * 99, *"b" * 99], (394, 395)),
        "halves": ([*"f" * 8, *"m" * 8], (15, 15)),
        "too few": ([*"f" * 7, *"m" * 7], None),
        "constant": (["f"] * 99, None),
        "one that differs": ([*"m" * 99, "f"], None),
        "one": ([1], None),
        "missing alone": ([None] * 9, None),
        "lists": ([[n] for n in numbers], None),
    }


@pytest.mark.parametrize("kind", orders())
def test_orders_by_hand(kind):
    values, pairs = orders()[kind]
    column = pd.Series(values, dtype=None if kind in ("numbers", "dates") else object)
    expected = [] if pairs is None else [("telling-order", "x", *pairs)]
    assert told(order_warnings(pd.DataFrame({"x": column}), ["x"])) == expected


def test_a_long_table_is_looked_at_here_and_there():
    table = pd.DataFrame({"x": np.arange(100_000)})
    assert told(order_warnings(table, ["x"])) == [("telling-order", "x", 14_285, 14_285)]
    assert order_warnings(table.sample(frac=1, random_state=1), ["x"]) == ()


@pytest.mark.parametrize("values", [2, 3, 10, 1000])
def test_chance_hardly_ever_makes_an_order(values):
    """At most one in 3,000 columns by the bound; none of these 1,200."""
    rng = np.random.default_rng(values)
    tables = [
        pd.DataFrame({"x": rng.integers(0, values, rng.integers(16, 60))}) for _ in range(300)
    ]
    assert [order_warnings(table, ["x"]) for table in tables] == [()] * 300


# Laws


@st.composite
def odd_tables(draw: st.DrawFn) -> pd.DataFrame:
    """Tables of which much can be warned: of few values, sparse, copied, similar."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(10, 60))
    age = rng.integers(20, 20 + draw(st.integers(1, 30)), size)
    return pd.DataFrame(
        {
            "age": age,
            "w": rng.choice(["u", "U", "v", "x"][: draw(st.integers(1, 4))], size),
            "pay": rng.integers(0, draw(st.sampled_from([3, 300])), size),
            "copy": age.astype(str) if draw(st.booleans()) else "same",
            "own": rng.permutation(size),
        }
    )


@settings(max_examples=15)
@given(odd_tables(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_records_makes_no_difference(table, seed):
    """But for what is said of that order itself."""
    rng = np.random.default_rng(seed)

    def found(rows: pd.DataFrame) -> list[ReleaseWarning]:
        how = Anonymizer({"age": Hierarchy.ranges(widths=[5])}, ["w", "pay"], [KAnonymity(3)])
        return [w for w in how.fit(rows).release_.warnings if w.code != "telling-order"]

    assert found(table) == found(table.iloc[rng.permutation(len(table))])


@pytest.mark.slow
@settings(max_examples=15)
@given(odd_tables())
def test_what_holds_a_column_makes_no_difference(table):
    """Counting goes by numbers of categories where all columns are of them, by hashes elsewhere."""
    how = Anonymizer({"age": Hierarchy.ranges(widths=[5])}, ["w", "pay"], [KAnonymity(3)])
    texts = table.astype(str)
    kinds = [texts.astype(kind) for kind in (object, "str", "category")]
    first, *others = (how.fit(kind).release_.warnings for kind in kinds)
    assert others == [first, first]


@settings(max_examples=15)
@given(odd_tables())
def test_counts_are_parts_of_wholes(table):
    how = Anonymizer({"age": Hierarchy.ranges(widths=[5])}, ["w", "pay"], [KAnonymity(3)])
    for warning in how.fit(table).release_.warnings:
        assert 0 < warning.count <= warning.of
        assert json.loads(json.dumps(warning.to_dict())) == {
            "code": warning.code,
            "column": warning.column,
            "count": warning.count,
            "of": warning.of,
            "message": warning.message,
        }


# Where they are read


MARKED = """\
[data]
path = "table.csv"
missing = "category"
[quasi-identifiers]
age = "age.toml"
[sensitive]
attributes = ["state", "pay", "last"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "distinct-l-diversity"
attribute = "state"
l = 2
[[privacy]]
model = "k-anonymity"
k = 1
[recoding]
method = "fixed"
levels = { age = 1 }
[output]
order = "kept"
"""


def planted(tmp_path) -> pd.DataFrame:
    """A study that everything is to be warned of, each of its values marked."""
    rows = [
        {
            "name": f"MARKname{n:03}",
            "age": 7000 + n // 2,
            "state": ["MARKstate", "markstate", None][n % 3]
            if n < 40
            else [None, "MARKflu"][n % 2],
            "pay": 8000 + n % 2 if n < 40 else 9000 + 5 * n,
            "last": "MARKlast" if n % 9 == 0 else None,
            "mail": f"MARK{(n * 7) % 80}@example.org",
            "copy": f"MARK{7000 + n // 2}",
        }
        for n in range(80)
    ]
    table = pd.DataFrame(rows)
    table.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "study.toml").write_text(MARKED)
    (tmp_path / "age.toml").write_text("widths = [20]\n")
    return table


def ended(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(each) for each in arguments])
    return int(stop.value.code or 0), *capsys.readouterr()


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The report; standard error has warnings alone."""
    code, out, err = ended(capsys, *arguments)
    assert code in (0, 1)
    assert all(line.startswith("WARNING (") for line in err.splitlines())
    return out


EXPECTED = [
    "homogeneous-classes",  # last
    "missing-sensitive",  # last
    "missing-as-value",  # state
    "sensitive-tells-sensitive",  # pay and state
    "similar-numbers",  # pay
    "spellings-alike",  # state
    "identifying-values",  # mail
    "nearly-unique-column",  # mail
    "column-gives-away",  # copy
    "telling-order",  # name and age
]


def test_warnings_of_a_run_show_no_value(tmp_path, capsys):
    planted(tmp_path)
    code, report, err = ended(capsys, "run", tmp_path / "study.toml", "-o", tmp_path / "out")
    assert code == 0
    manifest = json.loads((tmp_path / "out.steward.json").read_text())
    assert {w["code"] for w in manifest["warnings"]} == set(EXPECTED)
    assert {tuple(w) for w in manifest["warnings"]} == {
        ("code", "column", "count", "of", "message")
    }
    assert err.splitlines() == lines_of(manifest["warnings"])
    assert "WARNING" not in report
    assert not re.search(r"MARK|mark|@|7\d\d\d|8\d\d\d|9\d\d\d", err)


def lines_of(warnings: list[dict]) -> list[str]:
    return [f"WARNING ({each['code']}): {each['message']}." for each in warnings]


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_a_strict_run_with_warnings_releases_nothing(tmp_path, capsys, json_too):
    planted(tmp_path)
    study, out = tmp_path / "study.toml", tmp_path / "out"
    strict = ["run", study, "-o", out, "--strict", *json_too]
    code, report, err = ended(capsys, *strict)
    first, *others = err.splitlines()
    assert (code, report, out.exists()) == (1, "", False)
    words = f"anonymizer: nothing was released: there would be {len(others)} warnings, and strict"
    assert first.startswith(words)
    assert ended(capsys, "run", study, "-o", out)[0] == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert others == lines_of(json.loads((tmp_path / "out.steward.json").read_text())["warnings"])
    assert ended(capsys, *strict, "--force")[0] == 1
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}


def test_strict_where_nothing_is_to_be_warned_of(tmp_path, capsys):
    """Two diagnoses alternate in every class, and ages stand in no order."""
    rows = [(20 + 7 * n % 20, "uv"[n // 20 % 2]) for n in range(400)]
    pd.DataFrame(rows, columns=["age", "ill"]).to_csv(tmp_path / "table.csv", index=False)
    study, out = tmp_path / "study.toml", tmp_path / "out"
    text = MARKED.replace('["state", "pay", "last"]', '["ill"]').replace('"state"', '"ill"')
    text = re.sub(r"\[identifiers\]\n.*\n", "", text).replace("k = 1", "k = 5")
    study.write_text(text.replace("distinct-l-diversity", "entropy-l-diversity"))
    (tmp_path / "age.toml").write_text("widths = [20]\n")
    for command in (
        ("run", study, "-o", out),
        ("verify", out),
        ("check", out),
        ("apply", out, tmp_path / "table.csv", "-o", tmp_path / "again"),
    ):
        code, _, err = ended(capsys, *command, "--strict")
        assert (command[0], code, err) == (command[0], 0, "")


def test_strict_commands_on_a_release_with_warnings(tmp_path, capsys):
    planted(tmp_path)
    out, again = tmp_path / "out", tmp_path / "again"
    assert ended(capsys, "run", tmp_path / "study.toml", "-o", out)[0] == 0
    reported = lines_of(json.loads((tmp_path / "out.steward.json").read_text())["warnings"])
    for command in (["verify", out], ["check", out]):
        plain, strict = (ended(capsys, *command, *more) for more in ([], ["--strict"]))
        assert (plain[0], strict[0]) == (0, 1)
        assert plain[1:] == strict[1:]
        assert {*plain[2].splitlines()} <= {*reported}
        assert "WARNING (homogeneous-classes)" in plain[2]
    assert ended(capsys, "verify", out)[2].splitlines() == reported
    code, _, err = ended(capsys, "apply", out, tmp_path / "table.csv", "-o", again, "--strict")
    assert (code, again.exists()) == (1, False)
    assert "nothing was released: there would be" in err
    assert ended(capsys, "apply", out, tmp_path / "table.csv", "-o", again)[0] == 0


def test_warnings_are_records_of_the_log(tmp_path, capsys, caplog):
    planted(tmp_path)
    _, _, err = ended(capsys, "-v", "check", tmp_path / "table.csv", "-s", tmp_path / "study.toml")
    found = [each for each in caplog.records if each.levelname == "WARNING"]
    assert found
    assert all(each.name.startswith("anonymizer.") for each in found)
    for each in found:  # once each, with its time
        assert len(re.findall(rf"[0-9,]+ WARNING {re.escape(each.message)}\n", err)) == 1


def test_a_forged_warning_steers_no_terminal(tmp_path, capsys):
    planted(tmp_path)
    out = tmp_path / "out"
    assert ended(capsys, "run", tmp_path / "study.toml", "-o", out)[0] == 0
    manifest = json.loads((out / "release.json").read_text())
    manifest["warnings"][0]["message"] = "fine\x1b[2J\nWARNING (none): all is well"
    (out / "release.json").write_text(json.dumps(manifest))
    code, _, err = ended(capsys, "verify", out)
    assert code == 1
    assert "\x1b" not in err
    assert len(err.splitlines()) == len(manifest["warnings"])


def test_warnings_of_a_check_show_no_value(tmp_path, capsys):
    """Of the raw table: nothing is hidden there, and the identifier is no column of a release."""
    planted(tmp_path)
    about = tmp_path / "table.csv", "--study", tmp_path / "study.toml"
    found = json.loads(run(capsys, "check", *about, "--json"))["warnings"]
    named = [(w["code"], w["column"]) for w in found if w["code"] == "nearly-unique-column"]
    assert named == [("nearly-unique-column", "mail")]
    _, report, err = ended(capsys, "check", *about)
    assert "WARNING" not in report
    assert err.splitlines() == lines_of(found)
    assert not re.search(r"MARK|mark|@|7\d\d\d|8\d\d\d|9\d\d\d", err)


def test_warnings_of_a_released_table_are_found_in_it_too(tmp_path, capsys):
    """What is in its classes and columns; not what only the raw table tells."""
    planted(tmp_path)
    run(capsys, "run", tmp_path / "study.toml", "-o", tmp_path / "out")
    about = tmp_path / "out" / "released.csv", "--study", tmp_path / "study.toml"
    found = json.loads(run(capsys, "check", *about, "--json"))["warnings"]
    stated = json.loads((tmp_path / "out" / "release.json").read_text())["warnings"]
    # Of spellings, how many the raw table had is not public.
    assert [each for each in found if each["code"] != "spellings-alike"] == stated


def test_python_has_them():
    how = Anonymizer({"age": Hierarchy.ranges(widths=[10])}, (), [KAnonymity(1)], objective="loss")
    released = how.fit_transform(people())
    assert told(how.release_.warnings, "weak-policy") == [("weak-policy", None, 1, 1)]
    assert how.release_.steward_manifest.to_dict()["warnings"] == [
        w.to_dict() for w in how.release_.warnings
    ]
    how.transform(people().sort_values("w"))
    assert len(released) == 240


def test_a_differentially_private_release_tells_nothing_of_the_raw_table():
    """Sorted by an identifier, which any other release is warned of."""
    table = pd.DataFrame({"patient": range(4000), "sex": ["f", "m"] * 2000})
    private = [DifferentialPrivacy(1, 1e-3)]
    drawn, fixed = SafePub({"sex": 0}), Fixed({"sex": 0})
    cases = [(private, drawn, []), ([KAnonymity(5)], fixed, ["telling-order"])]
    for models, recoding, expected in cases:
        how = Anonymizer(
            {"sex": "suppress"},
            (),
            models,
            identifiers=["patient"],
            objective="loss",
            recoding=recoding,
        )
        assert [w.code for w in how.fit(table).release_.warnings] == expected


def test_every_warning_is_a_sentence_that_says_what_to_do():
    for code, caution in WARNINGS.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
        message = ReleaseWarning(code, "pay", 1, 7, 1, "age").message
        assert ";" in message
        assert not re.search(r"[{}]|\.$|1 records", message), message
        assert caution.when
        assert caution.counts


def test_spellings_alike():
    """Three spellings of 1 and two of x read alike; 2 has one."""
    table = pd.DataFrame({"q": ["a"] * 6, "w": ["1", "1.0", "01", "x", "x\u200b", "2"]})
    anonymizer = Anonymizer({"q": "suppress"}, sensitive="w", privacy=[EntropyLDiversity(2)])
    anonymizer.fit_transform(table)
    expected = [("spellings-alike", "w", 3, 6)]
    assert told(anonymizer.release_.warnings) == expected
    assert told(check(table, "q", "w", [EntropyLDiversity(2)]).warnings) == expected
