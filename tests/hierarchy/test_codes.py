"""Codes of one length, lost zeros in front, and prefixes that are taken for another one."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Hierarchy, InputError
from anonymizer.hierarchy import Meaning
from anonymizer.hierarchy.authoring import inline_text, rule_text
from anonymizer.hierarchy.codes import people_by_zip3
from anonymizer.hierarchy.label import ColumnSql, PlacedColumn
from anonymizer.hierarchy.reading import of_rule, rule_alone
from anonymizer.release.dialects import SqliteColumn
from anonymizer.tables.reading import parsed_toml

ZIP = {"prefixes": [3, 2], "length": 5, "pad": "0"}
SMALL = {"000": ["036", "059"]}


@pytest.mark.parametrize(
    ("rule", "code", "expected"),
    [
        (ZIP, "2139", ("02139", "021**", "02***", "*")),
        (ZIP, 2139.0, ("02139", "021**", "02***", "*")),
        (ZIP, "02139-4307", ("02139", "021**", "02***", "*")),
        (ZIP, "2139 4307", ("02139", "021**", "02***", "*")),
        (ZIP, "21301", ("21301", "213**", "21***", "*")),
        (ZIP, "7", ("00007", "000**", "00***", "*")),
        ({"prefixes": [3], "length": 5}, "02139-4307", ("02139", "021**", "*")),
        ({"prefixes": [2], "length": 8}, "M1 1AE", ("M1 1AE", "M1******", "*")),
        ({"prefixes": [2], "length": 8}, "SW1A 1AA", ("SW1A 1AA", "SW******", "*")),
        ({"prefixes": [3, 1], "length": 8}, "M1", ("M1", "M1", "M*******", "*")),
        ({"prefixes": [3], "length": 6, "mask": "#"}, "K1A0B1", ("K1A0B1", "K1A###", "*")),
        ({"prefixes": [3, 1], "replace": SMALL}, "03601", ("000**", "0****", "*")),
        ({"prefixes": [3, 2], "replace": SMALL}, "03123", ("031**", "03***", "*")),
        ({"prefixes": [4, 2], "replace": SMALL}, "05912-3456", ("000*******", "00********", "*")),
        ({"prefixes": [4, 2], "replace": SMALL}, "00012", ("000**", "00***", "*")),
        ({**ZIP, "replace": SMALL}, "3601", ("000**", "000**", "00***", "*")),
        ({**ZIP, "ground": 4}, "2139", ("0213*", "021**", "02***", "*")),
        ({**ZIP, "ground": 3}, "2139", ("021**", "02***", "*")),
    ],
)
def test_codes_by_hand(rule, code, expected):
    hierarchy = Hierarchy.of(rule)
    assert hierarchy.labels(code) == expected
    # How a code is written is never released: level 1 is what codes are counted by.
    assert hierarchy.limits.min_level == 1
    assert hierarchy.counted_as(code) == expected[0]
    assert of_rule(rule_alone(hierarchy)).describe() == hierarchy.describe()
    assert Hierarchy.of(parsed_toml(rule_text(rule))) == hierarchy
    assert parsed_toml(f"zip = {inline_text(rule)}") == {"zip": rule}


def test_what_a_label_stands_for_is_said():
    rule = Hierarchy.of({**ZIP, "replace": SMALL})
    codes = [str(label) for label in rule.labels("3601")]
    said = [label.described for label in rule.labels("3601")[:-1]]
    form = {"length": 5, "pad": "0"}
    also = {**form, "also": ["036", "059"]}
    assert codes == ["000**", "000**", "00***", "*"]
    assert said == [
        {"masked": [3, 5], "code": also},
        {"masked": [3, 5], "code": also},
        {"masked": [2, 5], "code": also},
    ]
    assert rule.labels("03123")[2].described == {
        "masked": [2, 5],
        "code": {**form, "without": ["036"]},
    }


FRONT = st.text("0123", min_size=1, max_size=5)
WRITTEN = st.builds(str.__add__, FRONT, st.sampled_from(["", "-0123", " 1", "-", "-1-2"]))
KINDS = [
    {"prefixes": [3, 2, 1], "length": 5, "pad": "0"},
    {"prefixes": [3, 1], "length": 5},
    {"prefixes": [4, 2], "length": 5, "pad": "0", "replace": {"00": ["01", "12"], "33": ["02"]}},
    {"prefixes": [3, 2, 1], "replace": {"00": ["01", "12"], "33": ["02"]}},
    {"prefixes": [2, 1], "length": 6, "replace": {"000": ["012", "120"]}},
]


@given(st.lists(WRITTEN, min_size=1, max_size=12, unique=True), st.sampled_from(KINDS))
def test_a_label_stands_for_the_codes_that_have_it_in_memory_and_in_sql(codes, rule):
    hierarchy = Hierarchy.of(rule)
    hierarchy.over("code", codes)  # refuses levels that are not nested
    column = PlacedColumn.of_values(codes)
    database = duckdb.connect(config={"threads": 1})
    database.execute("CREATE TABLE t (i INTEGER, c VARCHAR)")
    database.executemany("INSERT INTO t VALUES (?, ?)", [*enumerate(column.texts)])
    for level in range(hierarchy.height - 1):
        labels = [hierarchy.labels(code)[level] for code in codes]
        for label in {*labels}:
            having = [place for place, each in enumerate(labels) if each == label]
            if not isinstance(label, Meaning):
                assert [codes[place].strip() for place in having] == [label] * len(having)
                continue
            assert sorted(label.stands_for.codes(column)) == having
            for kind in (ColumnSql, SqliteColumn):
                condition = label.stands_for.condition(kind("c", "", ""))
                found = database.execute(f"SELECT i FROM t WHERE {condition} ORDER BY i")
                assert [place for (place,) in found.fetchall()] == having


@given(st.lists(WRITTEN, min_size=1, max_size=12))
def test_lost_zeros_change_no_label(codes):
    rule = Hierarchy.of(ZIP)
    for code in codes:
        head = code.replace(" ", "-").partition("-")[0]
        assert rule.labels(code) == rule.labels(head.rjust(5, "0"))


@pytest.mark.parametrize("code", ["213945", "21394307", "M1 1AE", "-1234", "2139A", "02*", "²139"])
def test_what_is_no_code_has_no_place(code):
    rule = Hierarchy.of(ZIP)
    assert not rule.covers(rule.key(code))
    assert Hierarchy.of({"prefixes": [3], "length": 5}).covers(code)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"prefixes": [3], "pad": "0"}, "pad needs the length of codes, such as length = 5, pad"),
        ({"prefixes": [3], "length": 0}, "length = 0 must be how many characters codes have, such"),
        ({"prefixes": [3], "length": "5"}, "length = '5' must be how many characters codes have"),
        ({"prefixes": [3], "length": 5, "pad": 0}, "pad = 0 must be one letter or digit, such as"),
        ({"prefixes": [3], "length": 5, "pad": "-"}, "pad = '-' must be one letter or digit"),
        ({"prefixes": [6], "length": 5}, "length = 5 is less than the 6 characters that prefixes"),
        ({"suffixes": [2], "length": 5}, "length goes with prefixes, such as { prefixes = [4, 3]"),
        ({"redact": [2], "replace": SMALL}, "replace goes with prefixes, such as { prefixes ="),
        ({"prefixes": [3], "replace": {}}, "replace must list the prefixes of each new one, such"),
        ({"prefixes": [3], "replace": ["036"]}, "replace must list the prefixes of each new one"),
        ({"prefixes": [3], "replace": {"000": "036"}}, "replace must list the prefixes of each"),
        ({"prefixes": [3], "replace": {"000": [36]}}, "replace must have prefixes in quotes, so"),
        ({"prefixes": [3], "replace": {"000": ["36"]}}, "replace must have prefixes of one length"),
        (
            {"prefixes": [3], "length": 5, "replace": {"000000": ["036000"]}},
            "replace must have prefixes of one length, and of no more characters than codes",
        ),
        (
            {"prefixes": [3], "replace": {"000": ["036"], "999": ["036"]}},
            "replace has the prefix '036' in two places; leave one of them",
        ),
    ],
)
def test_rules_of_codes_that_cannot_be(rule, message):
    with pytest.raises(InputError) as error:
        Hierarchy.of(rule)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


CENSUS = """GEO_ID,NAME,P1_001N
Geography,Geographic Area Name,!!Total
8600000US02138,ZCTA5 02138,"12,000"
8600000US02139,ZCTA5 02139,8001

8600000US03601,ZCTA5 03601,20000
"""


def test_three_digits_are_shown_where_a_census_counts_enough_people(tmp_path):
    """021 has 20,001 people and is shown; 036 has 20,000; nobody knows of 995."""
    (tmp_path / "zcta.csv").write_text(CENSUS)
    assert people_by_zip3(tmp_path / "zcta.csv") == {"021": 20_001, "036": 20_000}
    rule = Hierarchy.of({"census": "zcta.csv"}, tmp_path)
    shown = {code: rule.labels(code) for code in ("02138", "2139-4307", "03601", "99501", "00012")}
    assert shown == {code: ("021**" if "213" in code else "000**", "*") for code in shown}
    assert rule.limits.ground == 1  # no code is shown whole
    assert of_rule(rule_alone(rule)) == rule  # as a manifest repeats it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zip,people\n", "must have lines with a zip code"),
        ("zip,people\n02139,1\nBoston,2\n", "line 3 has no zip code in its first column"),
        ("zip,people\n02139,1\n02138,many\n", "line 3 has no zip code in its first column"),
        ("zip,people\n02139,1\n02139,2\n", "line 3 has a zip code for the second time"),
        ("zip,people\n02139,1\n021,2\n", "all of five digits or all of three"),
        ("zip,people\n02139,20000\n", "nowhere do more than 20,000 people live"),
    ],
)
def test_a_census_that_says_nothing_is_refused(tmp_path, text, message):
    (tmp_path / "zcta.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        Hierarchy.of({"census": "zcta.csv"}, tmp_path)


def test_a_census_is_a_path(tmp_path):
    with pytest.raises(InputError, match=r"census must be a path in quotes, such as census = "):
        Hierarchy.of({"census": 3}, tmp_path)
    with pytest.raises(InputError, match=r"cannot read census .*none.csv: No such file"):
        Hierarchy.of({"census": "none.csv"}, tmp_path)
