"""What an attacker learns: by hand, and against pandas on the same records."""

import numpy as np
import pandas as pd
import pytest
from explorer.conftest import small_study

from anonymizer.counts.counts import Counts
from anonymizer.explorer.answers.attack import (
    GUESSING,
    LINKAGE,
    exposure_of,
    measures_for,
    seen_by,
    tellings_of,
)
from anonymizer.explorer.page.explorer import Explorer
from anonymizer.explorer.session.session import Session


def counts_of(table: pd.DataFrame, names: list[str], about: str) -> Counts:
    """Counts without the library's own way to them."""
    cells = np.column_stack([pd.factorize(table[name])[0] for name in names]).astype(np.intp)
    joint = pd.get_dummies(table[about]).to_numpy(np.int64)
    return Counts.of(tuple(names), cells, np.ones(len(table), np.int64), {about: joint})


@pytest.fixture
def records() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 6, 60).astype(str),
            "city": rng.integers(0, 3, 60).astype(str),
            "sex": rng.integers(0, 2, 60).astype(str),
            "diagnosis": rng.choice(list("fffcca"), 60),
        }
    )


def test_by_hand():
    """Two people of Rome with the flu; in Oslo one has it and one has a cold."""
    table = pd.DataFrame({"city": ["Rome", "Rome", "Oslo", "Oslo"], "of": list("ffcf")})
    found = exposure_of(counts_of(table, ["city"], "of"), None, "of")
    assert (found.records, found.classes, found.alone) == (4, 2, 0)
    assert (found.highest, found.average) == (0.5, 0.5)
    assert found.guessing.surest == 1
    assert (found.guessing.certain, found.guessing.nearly) == (2, 2)
    assert (found.guessing.right, found.guessing.blind) == (0.75, 0.75)


@pytest.mark.parametrize(
    "known", [[], ["age"], ["city", "sex"], ["age", "city"], ["age", "city", "sex"]]
)
def test_every_figure_is_that_of_a_group_by(records, known):
    found = exposure_of(counts_of(records, ["age", "city", "sex"], "diagnosis"), known, "diagnosis")
    groups = records.groupby(known)["diagnosis"] if known else [((), records["diagnosis"])]
    shares = [(len(of), of.value_counts(normalize=True).max()) for _, of in groups]
    sizes = np.array([size for size, _ in shares])
    most = np.array([share for _, share in shares])
    assert (found.records, found.classes) == (60, len(sizes))
    assert found.highest == pytest.approx(1 / sizes.min())
    assert found.average == pytest.approx(len(sizes) / 60)
    assert found.alone == (sizes == 1).sum()
    assert found.guessing.surest == pytest.approx(most.max())
    assert found.guessing.certain == sizes[most == 1].sum()
    assert found.guessing.nearly == round((sizes * most)[most >= 0.8 - 1e-12].sum())
    assert found.guessing.right == pytest.approx((sizes * most).sum() / 60)
    blind = records["diagnosis"].value_counts(normalize=True).max()
    assert found.guessing.blind == pytest.approx(blind)


def test_what_one_attribute_tells_is_that_of_a_group_by(records):
    names = ["age", "city", "sex"]
    found = tellings_of(counts_of(records, names, "diagnosis"), names, "diagnosis")

    def right(known: list[str]) -> float:
        return (
            records.groupby(known)["diagnosis"].agg(lambda of: of.value_counts().max()).sum() / 60
        )

    for each in found:
        assert each.alone == pytest.approx(right([each.name]))
        assert each.others == pytest.approx(right([n for n in names if n != each.name]))
    assert [each.alone for each in found] == sorted((each.alone for each in found), reverse=True)


def test_whoever_knows_everything_tells_numbered_classes_apart():
    """Two classes of the same labels, which only a column of numbers tells apart."""
    counts = Counts.of(
        ("city", "class"),
        np.array([[0, 0], [0, 1]], np.intp),
        np.array([2, 3], np.int64),
        {"of": np.array([[2, 0], [0, 3]], np.int64)},
    )
    assert len(seen_by(counts, None)) == 2
    assert len(seen_by(counts, ["city"])) == 1
    assert exposure_of(counts, None, "of").guessing.certain == 5
    assert exposure_of(counts, ["city"], "of").guessing.certain == 0


def test_a_population_hides_people_from_who_does_not_know_that_they_are_in_the_table():
    counts = Counts.of(
        ("city",),
        np.array([[0], [1], [2]], np.intp),
        np.array([1, 3, 0], np.int64),
        {},
        population=np.array([4, 6, 9], np.int64),
    )
    known = exposure_of(counts, None, None, in_table=True)
    assert (known.classes, known.highest, known.average, known.alone) == (2, 1, 0.5, 1)
    unknown = exposure_of(counts, None, None, in_table=False)
    assert (unknown.highest, unknown.alone) == (0.25, 0)
    assert unknown.average == pytest.approx((1 / 4 + 3 / 6) / 4)


def test_suppressed_records_are_a_class_of_their_own(tmp_path):
    path = small_study(tmp_path)
    text = path.read_text().replace(
        'method = "full-domain"',
        'method = "fixed"\nlevels = { age = 1, city = 0 }\nsuppression = 0.9',
    )
    path.write_text(text)
    outcome = Explorer(Session(path)).outcome(text, lambda *_: None)
    assert outcome.holds
    table = pd.read_csv(tmp_path / "people.csv")
    decade = table["age"] // 10
    size = table.groupby([decade, "city"])["age"].transform("size")
    label = decade.astype(str) + table["city"]
    label[size < 3] = "*"
    found = exposure_of(outcome.counts, None, "diagnosis")
    groups = table.groupby(label)["diagnosis"]
    assert found.records == 12
    assert found.classes == groups.ngroups
    assert outcome.suppressed == (label == "*").sum() > 0
    assert found.highest == 1 / groups.size().min()
    right = groups.agg(lambda of: of.value_counts().max()).sum() / 12
    assert found.guessing.right == pytest.approx(right)


def test_measures_are_written_with_units():
    table = pd.DataFrame({"city": ["Rome", "Rome", "Oslo", "Oslo"], "of": list("ffcf")})
    found = exposure_of(counts_of(table, ["city"], "of"), None, "of")
    texts = {each.name: each.text(found) for each in measures_for("of")}
    assert texts["Surest guess"] == "100%"
    assert texts["Value certain"] == "2 (50%)"
    assert texts["Highest re-identification risk"] == "50%"
    assert measures_for(None) == LINKAGE
    assert all(0 <= each.portion(found) <= 1 for each in (*GUESSING, *LINKAGE))
