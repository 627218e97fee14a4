"""Numbers that are written with a unit: ranges keep it, in every recoding, manifest and SQL."""

import random
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Hierarchy, InputError, verify_release
from anonymizer.cli import main
from anonymizer.hierarchy.reading import of_rule, rule_alone
from anonymizer.profiling.among import unit_among
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables.values import measure_in
from tests.release.test_codes import released_alike


@pytest.mark.parametrize(
    ("rule", "value", "labels"),
    [
        ({"widths": [5, 20], "unit": "cm"}, "165 cm", ["[165 cm, 170 cm)", "[160 cm, 180 cm)"]),
        ({"widths": [5], "unit": "cm"}, "164.9CM", ["[160 cm, 165 cm)"]),
        ({"cuts": [1000, 2000], "unit": "$"}, "$1,200", ["[$1000, $2000)"]),
        ({"cuts": [1000, 2000], "unit": "$"}, "-$1,200.50", ["(-inf, $1000)"]),
        ({"widths": [10], "unit": "%"}, "\u22125 %", ["[-10 %, 0 %)"]),
        ({"widths": [10], "unit": "$"}, "-$5", ["[-$10, $0)"]),
        (
            {"widths": [500], "unit": "EUR", "decimal": ","},
            "1.234,50 EUR",
            ["[1000 EUR, 1500 EUR)"],
        ),
        ({"widths": [2.5], "unit": "%", "decimal": ","}, "12,4%", ["[10 %, 12,5 %)"]),
        ({"cuts": [1000], "unit": "kg", "decimal": ","}, "1\u202f234,5 kg", ["[1000 kg, inf)"]),
        ({"cuts": [1000], "unit": "CHF"}, "CHF 1'234.50", ["[1000 CHF, inf)"]),
        ({"widths": [10, 20], "unit": "kg", "top": 90}, "97 kg", ["[90 kg, inf)"] * 2),
        (
            {"widths": [10], "unit": "kg", "ground": 5},
            "97 kg",
            ["[95 kg, 100 kg)", "[90 kg, 100 kg)"],
        ),
    ],
)
def test_units_by_hand(rule, value, labels):
    hierarchy = Hierarchy.of(rule)
    assert [str(label) for label in hierarchy.labels(value)[:-1]] == labels
    assert hierarchy.limits.min_level == 1  # how a number is written is not released
    assert of_rule(rule_alone(hierarchy)).describe() == hierarchy.describe()
    for other in ("165", "165 lb", "1,2 cm", "1.2,3 kg", "1 2 kg", "cm", "90+"):
        assert not hierarchy.covers(hierarchy.key(other))


@given(
    st.decimals(-(10**6), 10**6, places=2),
    st.sampled_from(["cm", "$", "%", "mg/dl", "\u20ac"]),
    st.sampled_from([".,", ".'", ". ", ".\u202f", ",.", ",\u2019", ",\u00a0"]),
)
def test_what_is_written_with_a_unit_is_read_again(number, unit, marks):
    decimal, thousands = marks
    written = Hierarchy.ranges([5], unit=unit, decimal=decimal).scale.written(number)
    assert measure_in(written, unit, decimal) == number
    grouped = f"{number:,}".translate({ord("."): decimal, ord(","): thousands})
    assert measure_in(f"{grouped} {unit}", unit, decimal) == number
    assert measure_in(str(number), unit) is None


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"widths": [5], "unit": ""}, "unit = '' must be what stands next to each number, without"),
        ({"widths": [5], "unit": "m2"}, "unit = 'm2' must be what stands next to each number"),
        ({"cuts": [5], "unit": "cm", "decimal": ";"}, "decimal = ';' must be the decimal mark of"),
        ({"cuts": [5], "decimal": ","}, "decimal = ',' must be the decimal mark of numbers with a"),
        ({"cuts": [5], "unit": 5}, "unit = 5 must be what stands next to each number"),
        ({"widths": [5], "unit": "cm", "top": 9, "exact": True}, "exact and unit do not go togeth"),
        ({"prefixes": [5], "unit": "cm"}, "unit goes with widths, such as { widths = [5, 10] }"),
    ],
)
def test_units_that_are_none(rule, message):
    with pytest.raises(InputError) as error:
        Hierarchy.of(rule)
    assert message in str(error.value)


def dollars(number: int) -> str:
    return f"${number:,}"


def people(
    directory: Path, rule: str, method: str, pay: str = '"$"', write: Callable[[int], str] = dollars
) -> Study:
    rng = random.Random(3)
    heights = [f"{rng.randrange(150, 200)}{rng.choice([' cm', 'cm'])}" for _ in range(200)]
    heights[::40] = [""] * 5
    paid = [write(rng.randrange(500, 3000)) for _ in range(200)]
    rows = [f'{h},"{p}",{rng.choice("abc")}' for h, p in zip(heights, paid, strict=True)]
    (directory / "people.csv").write_text("\n".join(["height,pay,d", *rows, ""]))
    (directory / "study.toml").write_text(
        f'[data]\npath = "people.csv"\nmissing = "category"\n[quasi-identifiers]\nheight = {rule}\n'
        f"pay = {{ cuts = [[1000, 2000], [2000]], unit = {pay} }}\n"
        '[sensitive]\nattributes = ["d"]\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 4\n[search]\nseed = 1\ntime-limit = 1\n'
        f'[recoding]\nmethod = "{method}"\n'
    )
    return Study(directory / "study.toml")


@pytest.mark.parametrize(
    "method", ["full-domain", "cut", "variable-range", "boxes", "merged-cells"]
)
def test_a_release_of_units_verifies_applies_and_is_made_by_sql(tmp_path, method):
    rule = '{ widths = [5, 20], unit = "cm" }'
    released = released_alike(people(tmp_path, rule, method), tmp_path, method)
    assert not any(label.endswith("cm") for label in released["height"])  # somebody's own number


@pytest.mark.parametrize(("method", "mark"), [("full-domain", "."), ("boxes", "\u00a0")])
def test_a_release_of_decimal_commas_verifies_applies_and_is_made_by_sql(tmp_path, method, mark):
    def write(number: int) -> str:
        return f"{f'{number + 1000:,}'.replace(',', mark)},{number % 100:02} EUR"

    rule, pay = '{ widths = [5, 20], unit = "cm" }', '"EUR", decimal = ","'
    given = people(tmp_path, rule, method, pay, write)
    assert given.hierarchies["pay"].key(write(2345)) == Decimal("3345.45")
    released = released_alike(given, tmp_path, method)
    assert {*released["pay"]} <= {
        "(-inf, 2000 EUR)",
        "[1000 EUR, 2000 EUR)",
        "[2000 EUR, inf)",
        "*",
    }


def test_numbers_without_the_unit_are_refused_by_name(tmp_path):
    made = people(tmp_path, '{ widths = [5], unit = "cm" }', "full-domain")
    table = tmp_path / "people.csv"
    table.write_text(table.read_text() + '65 inch,"$900",a\n' * 5)
    with pytest.raises(InputError) as error:
        publish(made, tmp_path / "out")
    said = "('65 inch') where ranges need numbers with the unit 'cm', such as 1200 cm; clean"
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["165 cm", "170cm"], ("cm", ".")),
        (["$1,200", "$90"], ("$", ".")),
        (["12 %", "-3%"], ("%", ".")),
        (["120 mmHg", "130mmhg"], ("mmHg", ".")),
        (["USD 1,200", "900 USD"], ("USD", ".")),
        (["165 cm", "170"], None),
        (["165 cm", "70 kg"], None),
        (["1,70 cm", "1,80 cm"], ("cm", ",")),
        (["1,70 cm", "1.80 cm"], None),
        (["1.234,50 EUR", "1.234 EUR", "7 EUR"], ("EUR", ",")),
        (["1 234,5 kg", "1\u00a0234,5 kg", "1\u202f234 kg"], ("kg", ",")),
        (["CHF 1'234.50", "1\u2019234 CHF"], ("CHF", ".")),
        (["1'234,567.5 kg"], None),
        (["165", "170"], None),
        ([], None),
    ],
)
def test_one_unit_of_all_values(texts, unit):
    assert unit_among(texts) == unit


def test_a_draft_has_the_unit_and_runs(tmp_path, capsys):
    people(tmp_path, '"suppress"', "full-domain")
    table = tmp_path / "people.csv"
    table.write_text(table.read_text().replace("height,pay", "height,age"))
    with pytest.raises(SystemExit) as stop:
        main(["init", str(table), "-o", str(tmp_path / "study"), "--sensitive", "d"])
    assert not stop.value.code
    shown = " ".join(capsys.readouterr().out.split())
    assert "'height': a number with the unit 'cm' in 195 of 200 records." in shown
    study = Study(tmp_path / "study" / "study.toml")
    rules = tomllib.loads(study.path.read_text())["quasi-identifiers"]
    assert (rules["height"]["unit"], rules["age"]["unit"]) == ("cm", "$")
    publish(study, tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied
