"""The risk of a sample by its weights, and of households, against plain Python record by record."""

import json
from collections import Counter
from math import log, prod

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import KINDS
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError
from anonymizer.risk import assess
from anonymizer.risk.file import Subject, assess_file
from anonymizer.risk.sample import HIGH, MOST_CLASSES, SampleColumns

SECRETS = ("Nemo",)
TABLE = pd.DataFrame(
    {
        "home": [f"Nemo{name}" for name in "aabbc"],
        "age": [20, 30, 30, 20, 40],
        "weight": [2.0, 4.5, 3.5, 3.0, 1.0],
    }
)
"""Homes a and b have a member of 20 and one of 30, c one of 40 who stands for nobody else."""
BOTH = {"weight": "weight", "household": "home"}


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = draw(st.integers(1, 40))
    return pd.DataFrame(
        {
            "home": rng.integers(0, draw(st.integers(1, 12)), records),
            "age": rng.integers(0, draw(st.integers(1, 6)), records),
            "sex": rng.choice(["f", "m"], records),
            "weight": rng.choice([0.5, 1, 12.25, 800], records),
        }
    )


def chance(records: int, people: float) -> float:
    """Benedetti and Franconi's risk, as their formulas stand."""
    p = min(records / people, 1)
    if p == 1:
        return 1 / records
    q = 1 - p
    if records == 1:
        return p / q * log(1 / p)
    if records == 2:
        return p / q - (p / q) ** 2 * log(1 / p)
    return p / (records - q)


def figures(risks: list[float]) -> object:
    return {
        "highest": pytest.approx(max(risks)),
        "average": pytest.approx(sum(risks) / len(risks)),
        "expected": pytest.approx(sum(risks)),
        "above": sum(risk > HIGH for risk in risks),
    }


def expected(table: pd.DataFrame, names: list[str], *, weighted: bool) -> dict[str, object]:
    """The figures, record by record."""
    kinds = [*table[names].itertuples(index=False, name=None)]
    homes, weights = table["home"].tolist(), table["weight"].tolist()
    sizes = Counter(kinds)
    people: Counter = Counter()
    for kind, weight in zip(kinds, weights, strict=True):
        people[kind] += weight
    if not weighted:
        own = [1 / sizes[kind] for kind in kinds]
    else:
        own = [chance(sizes[kind], people[kind]) for kind in kinds]
    found = [
        1 - prod(1 - risk for risk, other in zip(own, homes, strict=True) if other == home)
        for home in homes
    ]
    members = {
        home: tuple(sorted(kind for kind, of in zip(kinds, homes, strict=True) if of == home))
        for home in homes
    }
    alike = Counter(members.values())
    return {
        "of_record": figures(own),
        "people": pytest.approx(sum(weights)) if weighted else None,
        "fewest_people": pytest.approx(min(people.values())) if weighted else None,
        "of_household": figures(found),
        "households": len(members),
        "households_alone": sum(alike[each] == 1 for each in members.values()),
        "riskiest": riskiest(sizes, people) if weighted else [],
    }


def riskiest(sizes: Counter, people: Counter) -> object:
    """Ten classes of the highest risk, of fewer people first; without their numbers."""
    found = [(chance(sizes[kind], people[kind]), people[kind], sizes[kind]) for kind in sizes]
    found.sort(key=lambda each: (-round(each[0], 12), each[1]))
    return [
        {"records": size, "people": pytest.approx(of), "risk": pytest.approx(risk)}
        for risk, of, size in found[:MOST_CLASSES]
    ]


def unnumbered(sample: dict) -> dict:
    """The figures without the numbers of classes, which follow from the order of the records."""
    rows = [{n: each for n, each in row.items() if n != "number"} for row in sample["riskiest"]]
    return sample | {"riskiest": rows}


def sample_of(table: object, **columns: object) -> object:
    """The figures of a sample as JSON has them."""
    return unnumbered(json.loads(json.dumps(assess(table, "age", **columns).to_dict()["sample"])))


def test_households_by_hand():
    """A record of 20 or 30 is found by a guess of two; c is found, and alone with its 40."""
    found = assess(TABLE, "age", household="home").sample
    assert found.people is None
    assert (found.of_record.highest, found.of_record.expected) == (1, 3)
    assert (found.of_household.highest, found.of_household.expected) == (1, 4 * 3 / 4 + 1)
    assert (found.of_household.average, found.of_household.above) == (4 / 5, 5)
    assert (found.households, found.households_alone) == (3, 1)


def test_weights_by_hand():
    """Two of 20 for 5 people, p / q = 2 / 3; two of 30 for 8, p / q = 1 / 3; one of 40 for 1."""
    found = assess(TABLE, "age", weight="weight").sample
    twenty, thirty = 2 / 3 - 4 / 9 * log(5 / 2), 1 / 3 - 1 / 9 * log(4)
    assert (found.people, found.fewest_people) == (14, 1)
    assert found.of_record.highest == 1
    assert found.of_record.expected == pytest.approx(2 * twenty + 2 * thirty + 1)
    assert found.of_record.above == 5
    assert (found.of_household, found.households, found.households_alone) == (None, None, None)
    assert [(each.number, each.records, each.people) for each in found.riskiest] == [
        *((3, 1, 1), (1, 2, 5), (2, 2, 8))
    ]
    assert [each.risk for each in found.riskiest] == pytest.approx([1, twenty, thirty])


def test_a_table_without_either_is_no_sample():
    assert assess(TABLE, "age").to_dict()["sample"] is None


@given(tables(), st.booleans())
def test_a_sample_by_plain_python(table, weighted):
    weight = "weight" if weighted else None
    found = assess(table, ["age", "sex"], weight=weight, household="home")
    sample = found.sample.to_dict()
    assert unnumbered(sample) == expected(table, ["age", "sex"], weighted=weighted)
    by_class = found.by_class()["records"]
    for row in sample["riskiest"]:
        assert by_class[row["number"]] == row["records"]
    numbers = [row["number"] for row in sample["riskiest"]]
    assert len({*numbers}) == len(numbers)


@given(tables())
def test_a_household_of_ones_own_changes_no_risk(table):
    found = assess(table.assign(home=range(len(table))), "age", **BOTH).sample
    assert found.of_household.to_dict() == pytest.approx(found.of_record.to_dict())


@pytest.mark.parametrize("kind", ["arrow", "duckdb", "polars"])
def test_samples_of_every_kind_are_measured_alike(kind):
    repeated = pd.concat([TABLE, TABLE[:2]], ignore_index=True)  # rows that are counted together
    other = KINDS[kind](pa.Table.from_pandas(repeated, preserve_index=False))
    found = sample_of(other, **BOTH)
    assert found == expected(repeated, ["age"], weighted=True) == sample_of(repeated, **BOTH)


def test_several_columns_tell_households_apart():
    parts = TABLE.assign(village="Nemo", number=TABLE["home"].str[4:]).drop(columns="home")
    assert sample_of(parts, household=["village", "number"]) == sample_of(TABLE, household="home")


def test_files_are_measured_as_tables(tmp_path):
    """Marks of decimals are those of the file, and who misses an age is left out."""
    sampled = SampleColumns("weight", ("home",))
    TABLE.to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",")
    TABLE.to_parquet(tmp_path / "a.parquet")
    more = pd.DataFrame({"home": ["Nemod"], "age": ["?"], "weight": ["?"]})
    pd.concat([TABLE.astype(str), more]).to_csv(tmp_path / "b.csv", index=False)
    wide = TABLE.assign(**{f"c{number}": 1 for number in range(70)})
    wide.to_parquet(tmp_path / "wide.parquet")
    for name, names, form in (
        ("a.csv", ["age"], {"decimal": ","}),
        ("a.parquet", ["age"], {}),
        ("b.csv", ["age"], {"missing": "drop"}),
        ("wide.parquet", ["age", *(f"c{number}" for number in range(70))], {}),
    ):
        subject = Subject.of_names(tmp_path / name, names, **form)
        found = assess_file(subject, sampled=sampled)
        sample = found.assessment.sample.to_dict()
        assert unnumbered(sample) == expected(TABLE, ["age"], weighted=True)
        sizes = found.assessment.by_class()["records"]
        assert [sizes[row["number"]] for row in sample["riskiest"]] == [1, 2, 2]
        assert not {"home", "weight"} & {each.name for each in found.undeclared.attributes}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weight": "wieght"}, "the table has no column 'wieght'; did you mean 'weight'?"),
        ({"household": "hone"}, "the table has no column 'hone'; did you mean 'home'?"),
        ({"weight": 3}, "weight must name a column, not 3"),
        ({"weight": "age"}, "column 'age' has more than one role; give it one"),
        ({"household": "weight"}, "column 'weight' has more than one role; give it one"),
        ({"person": "home", "household": ()}, "are those of persons who have one record each"),
        (
            {"table": TABLE.assign(weight=[1, 0, -1, np.nan, np.inf])},
            "'weight', the sampling weight, has no number above 0 in 4 of 5 records; correct it",
        ),
        (
            {"table": TABLE.assign(weight="Nemo")},
            "'weight', the sampling weight, has no number above 0 in 5 of 5 records",
        ),
        (
            {"table": TABLE.assign(home=TABLE["home"].where(TABLE["age"] < 40))},
            "column 'home', which tells households apart, misses the value of 1 of 5 records",
        ),
    ],
)
def test_what_cannot_be_measured_of_a_sample(arguments, message):
    given = {"table": TABLE, "quasi_identifiers": "age"} | BOTH
    with pytest.raises(InputError) as error:
        assess(**given | arguments)
    assert message in str(error.value)
    assert "Nemo" not in str(error.value)


def test_the_command_line(run, tmp_path):
    """Neither column is warned of, as any other would be that tells records apart."""
    path = tmp_path / "sample.csv"
    TABLE.to_csv(path, index=False)
    columns = ("--quasi-identifiers", "age", "--weight", "weight", "--household", "home")
    code, out, err = run("risk", path, *columns)
    said = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "the records stand for 14 people, those of a class for 1 at least." in said
    assert "anybody of its household" in said
    assert "Households alone with the classes of their members: 1 of 3." in said
    assert "not declared, but identifying" not in said
    found = json.loads(run("risk", path, *columns, "--json")[1])["sample"]
    assert unnumbered(found) == expected(TABLE, ["age"], weighted=True)
    assert "Classes whose records are found most surely" in said
    code, _, err = run("risk", path, *columns[:-1], "hone")
    assert code == 2
    assert "the table has no column 'hone'; did you mean 'home'?" in err
    path.write_text(path.read_text().replace("Nemoc", " NA "))
    code, _, err = run("risk", path, *columns)
    assert code == 2
    assert "misses the value of 1 of 5 records" in err
