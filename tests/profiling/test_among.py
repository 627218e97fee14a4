"""Columns of mostly numbers: ranges, codes for no answer, texts and units among them."""

import tomllib
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError, Study, verify_release
from anonymizer.profiling import profile
from anonymizer.profiling.among import codes_apart, notation_of, texts_among
from anonymizer.profiling.ladders import ladder_of
from anonymizer.release.publish import publish
from anonymizer.tables.values import number_of

SEX = ["f", "m"] * 200
D = ["flu", "hip", "hiv", "flu"] * 100


def column(common: list[object], rare: list[object], times: int = 10) -> list[str]:
    """A column of 400 records: ``rare`` values ``times`` each, the rest of ``common`` ones."""
    odd = [str(value) for value in rare for _ in range(times)]
    rest = [str(common[place % len(common)]) for place in range(400 - len(odd))]
    return np.random.default_rng(5).permutation([*rest, *odd]).tolist()


def kind_of(values: list[str], name: str = "age") -> tuple[str, int]:
    found = profile(pd.DataFrame({name: values, "sex": SEX, "d": D}))[name]
    return found.kind, found.missing


def drafted(directory: Path, values: list[str], name: str = "age") -> Study:
    """The study that is drafted for a table, from its file on."""
    from anonymizer.cli import main

    table = directory / "people.csv"
    pd.DataFrame({name: values, "sex": SEX, "d": D}).to_csv(table, index=False)
    with pytest.raises(SystemExit) as stop:
        main(["init", str(table), "-o", str(directory / "study"), "--sensitive", "d"])
    assert not stop.value.code
    return Study(directory / "study" / "study.toml")


AGES = list(range(18, 90))


@pytest.mark.parametrize(
    ("rare", "name", "kind", "missing"),
    [
        (["90+", "> 89"], "age", "whole number", 0),  # ranges are numbers
        (["<1", "90 and over"], "age", "whole number", 0),
        (["unknown"], "age", "whole number", 10),
        (["*"], "age", "whole number", 10),
        (["refused", "90+"], "age", "whole number", 10),
        (["V45", "E90"], "dx", "category", 0),  # codes of diseases are no slips
        (["a", "b", "c", "d", "e"], "x", "category", 0),  # nor are many texts
    ],
)
def test_a_column_is_of_the_kind_of_most_of_its_values(rare, name, kind, missing):
    assert kind_of(column(AGES, rare), name) == (kind, missing)


@pytest.mark.parametrize(
    ("common", "rare", "codes"),
    [
        ([0, 1, 2, 3, 4], [77, 88, 99], ["77", "88", "99"]),
        ([1, 2, 3, 4, 5, 6], [-9, -8], ["-8", "-9"]),
        (list(range(5000, 90000, 1000)), [999998], ["999998"]),
        (list(range(1950, 2010)), [9998, 9999], ["9998", "9999"]),
        (AGES, [99], []),  # an age like any other
        ([70, 75, 80, 85, 90, 95], [77, 88], []),
        ([-30, -9, 0, 10, 20], [], []),  # degrees below zero
    ],
)
def test_codes_for_no_answer_stand_apart(common, rare, codes):
    values = column(common, rare)
    found = profile(pd.DataFrame({"kids": values, "sex": SEX, "d": D}))
    among = found.counted["kids"].among
    assert sorted(among.codes if among else []) == codes
    assert found["kids"].missing == 10 * len(codes)


@given(st.dictionaries(st.integers(-999, 999_999).map(str), st.integers(1, 50), min_size=1))
def test_no_code_lies_among_the_numbers(records):
    codes = {*codes_apart(records, ())}
    rest = [float(text) for text in records if text not in codes]
    assert codes < {*records} or not codes
    assert all(not min(rest) <= float(code) <= max(rest) for code in codes)


@given(st.dictionaries(st.text(max_size=5), st.integers(1, 50), max_size=9))
def test_every_record_is_a_number_a_range_or_a_text(records):
    found = texts_among(records)
    if found is not None:
        parts = (found.ranges, found.others)
        assert sum(records.values()) == found.numbers + sum(n for p in parts for n in p.values())
        assert all(number_of(text) is None for part in parts for text in part)


@pytest.mark.parametrize(
    ("texts", "notation"),
    [
        (["165 cm", "1,70 cm"], "'cm'"),
        (["$1,200", "$5,549.25"], "'$'"),
        (["5.549,25 EUR", "7,00 EUR"], "'eur'"),
        (["12 %", "55,5%"], "'%'"),
        (["(5549)", "120"], "brackets or a long minus sign"),
        (["\u22125", "12"], "brackets or a long minus sign"),
        (["1000 A", "5 B"], None),
        (["12", "13"], None),
        ([], None),
    ],
)
def test_numbers_in_another_notation(texts, notation):
    assert notation_of(texts) == notation


def test_ranges_go_with_the_group_of_an_end(tmp_path, capsys):
    values = column(AGES, ["90+", "> 89"])
    study = drafted(tmp_path, values)
    assert study.hierarchies["age"].rule()["top"] == "90"
    shown = " ".join(capsys.readouterr().out.split())
    said = "'age': a number in 380 of 400 records; ranges ('90+', '> 89') in 20 records, which go"
    assert said in shown
    publish(study, tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied
    released = pd.read_csv(tmp_path / "out" / "released.csv")
    # Nothing from 90 on is divided, however boxes join it with what is below.
    ends = released["age"].str.extract(r", (.*)\)")[0].dropna().replace("inf", "90")
    assert ends.astype(float).max() == 90
    assert released["age"].str.endswith(", inf)").sum() >= 20
    assert not released["age"].str.contains("other").any()


def test_codes_are_declared_missing_in_their_column(tmp_path, capsys):
    study = drafted(tmp_path, column([0, 1, 2, 3, 4], [77, 99]), "kids")
    assert study.given.missing_values == {"kids": ("77", "99")}
    shown = " ".join(capsys.readouterr().out.split())
    assert "codes that stand apart ('77', '99') in 20 records, which are taken for no" in shown
    publish(study, tmp_path / "out")
    released = pd.read_csv(tmp_path / "out" / "released.csv")
    assert released["kids"].isna().sum() == 20


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            column(AGES, ["Total"], 1),
            "other texts in 1 record, which are none, and which run",
        ),
        (column(AGES, ["years"], 1), "leave out those of nobody, such as totals and units"),
        (column(AGES, ["*"]), "other texts ('*') in 10 records, which run refuses, as releases"),
    ],
)
def test_what_a_person_has_to_decide_is_said_and_refused(tmp_path, capsys, values, said):
    study = drafted(tmp_path, values)
    assert said in " ".join(capsys.readouterr().out.split())
    # A text of one record is in no file: it may be somebody's.
    assert "Total" not in (tmp_path / "study" / "study.toml").read_text()
    assert "missing-values" not in (tmp_path / "study" / "study.toml").read_text().split("\n\n")[1]
    with pytest.raises(InputError, match="where ranges need numbers"):
        publish(study, tmp_path / "out")


@pytest.mark.parametrize(
    "values",
    [
        column([f"1,{n} m" for n in range(50, 99)], ["1.50 m"]),  # two decimal marks
        column([f"{n} cm" for n in range(150, 200)], ["171"]),
        column([f"${n}" for n in range(150, 200)], ["90 EUR"]),
    ],
)
def test_numbers_without_one_unit_are_left_out_by_name(values):
    found = profile(pd.DataFrame({"x": values, "sex": SEX, "d": D}))["x"]
    assert found.role == "left out"
    assert "which no rule reads; write plain numbers to release ranges of them" in found.why


BORN = [date(1930, 1, 1) + timedelta(53 * place) for place in range(380)]


def spelled(form: str) -> list[str]:
    return [day.strftime(form) for day in BORN]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (spelled("%d.%m.%Y"), "%d.%m.%Y"),
        (spelled("%m/%d/%Y 0:00"), "%m/%d/%Y %H:%M"),
        (spelled("%d-%b-%Y"), "%d-%b-%Y"),
        (spelled("%d%b%Y"), "%d%b%Y"),
        (spelled("%B %d, %Y"), "%b %d, %Y"),
        (spelled("%d.%m.%y"), f"%d.%m.%y{{{date.today().year - 99}}}"),
        (spelled("%Y%m%d"), "%Y%m%d"),
        ([str((day - date(1899, 12, 30)).days) for day in BORN], "excel"),
        ([str((day - date(1970, 1, 1)).days * 86_400) for day in BORN], "epoch"),
    ],
)
def test_dates_are_drafted_in_the_notation_that_they_have(tmp_path, values, form):
    study = drafted(tmp_path, [*values, *values[:20]], "birth_date")
    rule = study.hierarchies["birth_date"].rule()
    assert (rule["calendar"][0], rule["format"]) == ("year", form)
    publish(study, tmp_path / "out")
    released = pd.read_csv(tmp_path / "out" / "released.csv")
    assert len(released) == 400
    assert verify_release(tmp_path / "out", study).satisfied


def test_dates_that_lack_a_day_or_all_of_it(tmp_path, capsys):
    iso = spelled("%Y-%m-%d")
    study = drafted(tmp_path, [*iso, *["1949-08"] * 10, *["0000-00-00"] * 10], "birth_date")
    assert study.hierarchies["birth_date"].ground == "month"
    assert study.given.missing_values == {"birth_date": ("0000-00-00",)}
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "'birth_date': a date in 380 of 400 records; dates without a day ('1949-08') in 10" in shown
    )
    publish(study, tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied


def test_numbers_are_no_dates_unless_a_name_says_so():
    numbers = [str((day - date(1899, 12, 30)).days) for day in BORN] + ["20000"] * 20
    assert kind_of(numbers, "income")[0] == "whole number"
    assert kind_of(numbers, "birth_date")[0] == "date"


def test_midnights_of_another_zone_want_the_zone():
    winter = [f"{day}T23:00:00Z" for day in BORN[:200]]
    summer = [f"{day}T22:00:00.000Z" for day in BORN[:200]]
    table = pd.DataFrame({"birth_date": winter + summer, "sex": SEX, "d": D})
    found = profile(table)["birth_date"]
    assert found.role == "left out"
    assert 'zone = "Europe/Berlin"' in found.why
    noon = table.assign(birth_date=[f"{day}T12:07:00Z" for day in [*BORN, *BORN[:20]]])
    assert profile(noon)["birth_date"].role == "quasi-identifier"


@pytest.mark.parametrize(
    ("rare", "times", "rule"),
    [
        (["97+"], 10, {"top": "97"}),
        (["95+"], 1, {"top": "95"}),  # a round number is nobody's own
        (["97+"], 1, {}),
        (["<1", "> 94"], 1, {"bottom": "1", "top": "95"}),
    ],
)
def test_an_end_gives_nobody_away(tmp_path, capsys, rare, times, rule):
    study = drafted(tmp_path, column(AGES, rare, times))
    found = study.hierarchies["age"].rule()
    assert {name: end for name, end in found.items() if name in ("bottom", "top")} == rule
    if not rule:
        assert "97" not in (tmp_path / "study" / "study.toml").read_text()
        assert "ranges in 1 record, which run refuses: give" in " ".join(
            capsys.readouterr().out.split()
        )


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (["2139", "21301", "10001"], "codes of 4 and 5 characters: zeros in front may be lost"),
        (["02139", "02139-4307"], "codes of 5 and 10 characters: length = 5 gives them one length"),
        (["M1 1AE", "SW1A 1AA"], "codes of 6 and 8 characters: length = 8 gives them one length"),
        (
            ["2139", "21394307", "10001"],
            "codes of 4 and 8 characters: decide which lost a zero in front, and write each with 5",
        ),
        (["2139", "02139", "021394307"], "codes of 4 and 9 characters: decide which lost a zero"),
        (["2139", "21394307"], "codes of 4 and 8 characters: decide whether all lost a zero in"),
        (["02139", "021394307"], "codes of 5 and 9 characters: length = 5 gives them one length."),
        (["02139", "21301", "10001"], ""),
    ],
)
def test_codes_of_several_lengths_are_said(tmp_path, capsys, codes, said):
    drafted(tmp_path, column(codes, []), "zip")
    shown = " ".join(capsys.readouterr().out.split())
    assert (f"'zip': {said}" in shown) == bool(said)
    assert said or "'zip': codes" not in shown


@pytest.mark.parametrize(
    ("codes", "name", "wanted"),
    [
        (["2139", "2140", "21301", "21302", "10001"], "zip", {"length": 5, "pad": "0"}),
        (["601", "602", "2139", "21301", "21302"], "zip", {"length": 5, "pad": "0"}),
        (["02139", "2139", "2140", "21301", "21302"], "area", {"length": 5, "pad": "0"}),
        (["02139-4307", "2139", "2140", "21301"], "zip", {"length": 5, "pad": "0"}),
        (["02139-4307", "02139", "02140", "21301"], "zip", {"length": 5}),
        (["021394307", "02139", "02140", "21301"], "zip", {"length": 5}),
        (["1234 AB", "1234AC", "1011AA", "1011 AB"], "postcode", {"length": 7}),
        (["K1A 0B1", "K1A0B2", "K2A 0B1", "K2B 0B1"], "postal", {"length": 7}),
        (["M1 1AE", "M1 2AE", "SW1A 1AA", "SW1B 1AA"], "postcode", {"length": 8}),
        (["2139", "2140", "21301", "21302", "10001"], "amount", {}),
        (["7", "07", "12", "13", "14"], "amount", {}),
        (["2139", "21394307", "10001", "10002"], "zip", {}),
        (["2139", "unknown", "10001", "10002"], "zip", {}),
    ],
)
def test_codes_of_several_lengths_get_one_length(codes, name, wanted):
    found = profile(pd.DataFrame({name: column(codes, []), "sex": SEX, "d": D}))
    rule = ladder_of(found.counted[name], 5).rule
    assert {key: rule[key] for key in ("length", "pad") if key in rule} == wanted


def test_a_draft_of_codes_is_released_and_lost_zeros_make_no_group(tmp_path):
    codes = ["02139", "2139", "2140", "02139-4307", "21301", "21302"]
    study = drafted(tmp_path, column(codes, []), "zip")
    rule = tomllib.loads(study.path.read_text())["quasi-identifiers"]["zip"]
    assert (rule["length"], rule["pad"]) == (5, "0")
    publish(study, tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied
    shown = {*pd.read_csv(tmp_path / "out" / "released.csv", dtype=str)["zip"]}
    assert not any(len(label) == 4 or "-" in label for label in shown)
