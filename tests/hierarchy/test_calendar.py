"""Dates: what is one, the units of the calendar, the ends of ranges, and how tables hold them."""

import calendar as months
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Anonymizer, KAnonymity
from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.calendar import UNITS, Clock, Dates, iso_of, span_of, unit_at
from anonymizer.tables import engine
from anonymizer.tables.spelling import read_keys

NESTED = [unit for unit in UNITS if unit != "week"]

moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))


def labels(value, units, **options):
    return [str(label) for label in Hierarchy.calendar(units, **options).labels(value)][:-1]


def place(text):
    return Clock().moment(text).place


@pytest.mark.parametrize(
    ("unit", "value", "label", "low", "high"),
    [
        ("second", "2024-03-05 10:07:09.5", "2024-03-05 10h07m09s", "2024-03-05 10:07:09", 1),
        ("minute", "2024-03-05 10:07:09", "2024-03-05 10h07m", "2024-03-05 10:07:00", 60),
        ("hour", "2024-03-05 10:07", "2024-03-05 10h", "2024-03-05 10:00:00", 3600),
        ("day", "2024-03-05 10:07", "2024-03-05", "2024-03-05", 86400),
        ("week", "2024-03-05", "2024-W10", "2024-03-04", "2024-03-11"),
        ("week", "2024-12-30", "2025-W01", "2024-12-30", "2025-01-06"),
        ("week", "2021-01-03", "2020-W53", "2020-12-28", "2021-01-04"),
        ("month", "2024-02-29", "2024-02", "2024-02-01", "2024-03-01"),
        ("month", "2023-12-31", "2023-12", "2023-12-01", "2024-01-01"),
        ("quarter", "2024-03-31 23:59:59", "2024-Q1", "2024-01-01", "2024-04-01"),
        ("half-year", "2024-07-01", "2024-H2", "2024-07-01", "2025-01-01"),
        ("year", "0987-07-01", "0987", "0987-01-01", "0988-01-01"),
        ("5 years", "2024-07-01", "2020-2024", "2020-01-01", "2025-01-01"),
        ("decade", "1969-12-31", "1960s", "1960-01-01", "1970-01-01"),
        ("century", "2000-01-01", "2000-2099", "2000-01-01", "2100-01-01"),
        ("century", "9999-12-31", "9900-9999", "9900-01-01", None),
        ("decade", "0001-01-01", "0000s", "0001-01-01", "0010-01-01"),
    ],
)
def test_units_of_the_calendar_by_hand(unit, value, label, low, high):
    first, last, name = unit_at(unit, place(value))
    assert (name, iso_of(first)) == (label, low)
    if isinstance(high, int):
        assert last - first == high
    else:
        assert high == (None if last is None else iso_of(last))
    assert labels(value, [unit]) == [label]


@given(moments, moments)
def test_units_hold_their_moments_and_names_tell_them_apart(one, other):
    places = [place(str(moment)) for moment in (one, other)]
    for unit in UNITS:
        spans = [unit_at(unit, each) for each in places]
        for (low, high, name), each in zip(spans, places, strict=True):
            assert low <= each
            assert high is None or each < high
            assert span_of(name) == (low, high, name)
            if high is not None:
                assert unit_at(unit, high)[0] == high
        assert (spans[0] == spans[1]) == (spans[0][2] == spans[1][2])


@pytest.mark.parametrize(
    "label",
    [
        "2024-13",
        "2024-Q5",
        "2024-H0",
        "2024-W54",
        "2024-02-30",
        "2025s",
        "2001-2005",
        "*",
        "2024-2025",
        "1999-2098",
        "2024-01-01 24h",
        "x",
        "",
        "2024-01-01 10h60m",
    ],
)
def test_what_names_no_unit_spans_nothing(label):
    assert span_of(label) is None


@given(moments)
def test_units_agree_with_the_calendar_of_python(moment):
    day = moment.date()
    quarter = (day.month + 2) // 3
    assert labels(moment, NESTED[3:8]) == [
        day.isoformat(),
        f"{day.year:04}-{day.month:02}",
        f"{day.year:04}-Q{quarter}",
        f"{day.year:04}-H{1 + (day.month > 6)}",
        f"{day.year:04}",
    ]
    low, high, _ = unit_at("month", place(str(day)))
    if high is not None:
        assert (high - low) / 86400 == months.monthrange(day.year, day.month)[1]


@given(st.sets(st.sampled_from(NESTED), min_size=2), st.lists(moments, min_size=1, max_size=30))
def test_levels_are_nested_and_labels_unique(units, values):
    ladder = sorted(units, key=UNITS.index)
    taxonomy = Hierarchy.calendar(ladder).over("birth", [*values, None])
    for fine, coarse in pairwise(taxonomy.levels):
        assert fine.split_by(coarse) is None
    for level in taxonomy.levels:
        texts = [str(label) for label in level.labels]
        assert len(set(texts)) == len(texts)
    # No unit reads like one of another level, nor does any reader take it for one.
    named = {str(label) for level in taxonomy.levels[1:-1] for label in level.labels if label}
    assert len(named) == sum(len(p) - (None in p.labels) for p in taxonomy.levels[1:-1])
    assert len(set(read_keys(sorted(named)))) == len(named)


@given(st.lists(moments, max_size=20), st.sampled_from(UNITS))
def test_partitions_of_many_values_are_those_of_each(values, unit):
    hierarchy = Hierarchy.calendar([unit])
    keys = [*map(hierarchy.key, values), None]
    for order in (keys, keys[::-1]):
        for level, partition in enumerate(hierarchy.partitions(order)):
            found = [partition.labels[group] for group in partition.groups]
            assert found == [hierarchy.labels_of(key)[level] for key in order]


@pytest.mark.parametrize(
    ("grid", "points"), [([date(2000, 1, 1), "2010-01-01"], [10957, 14610]), (3, 3)]
)
def test_a_grid_lists_dates_or_counts_them(grid, points):
    found = Hierarchy.of({"calendar": ["month"], "grid": grid}).limits.grid
    assert found == (points if points == 3 else tuple(86400 * day for day in points))


def test_a_grid_of_no_dates_is_refused():
    with pytest.raises(InputError, match=r"must be dates, such as grid = \[2000-01-01\], not 5"):
        Hierarchy.of({"calendar": ["month"], "grid": [5]})


def test_the_order_of_the_values_is_that_of_time():
    values = ["2024-03-05", "2024-03-05 10:00", "0999-01-01", None, "2024-03-04T23:59:59.999999999"]
    taxonomy = Hierarchy.calendar(["month"]).over("birth", values)
    assert [*taxonomy.texts] == [
        "0999-01-01",
        "2024-03-04 23:59:59.999999999",
        "2024-03-05",
        "2024-03-05 10:00:00",
        None,
    ]
    assert taxonomy.numbers[-1] is None
    assert list(taxonomy.numbers[:-1]) == sorted(taxonomy.numbers[:-1])


# What is a date


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2024-03-05", "2024-03-05"),
        (" 2024-03-05 ", "2024-03-05"),
        (date(2024, 3, 5), "2024-03-05"),
        (datetime(2024, 3, 5), "2024-03-05"),
        (pd.Timestamp("2024-03-05"), "2024-03-05"),
        (np.datetime64("2024-03-05"), "2024-03-05"),
        ("2024-03-05T00:00", "2024-03-05"),
        ("2024-03-05 10:00", "2024-03-05 10:00:00"),
        (pd.Timestamp("2024-03-05 10:00:00.000000001"), "2024-03-05 10:00:00.000000001"),
        ("2024-03-05T10:00:00.500", "2024-03-05 10:00:00.5"),
        ("2024-03-05T10:00:00+01:00", "2024-03-05 09:00:00+00:00"),
        ("2024-03-05 10:00:00 +0100", "2024-03-05 09:00:00+00:00"),
        ("2024-03-05T09:00Z", "2024-03-05 09:00:00+00:00"),
        ("2024-03-05T10:00:00.000000001+01", "2024-03-05 09:00:00.000000001+00:00"),
        (datetime(2024, 3, 5, 10, tzinfo=ZoneInfo("Europe/Paris")), "2024-03-05 09:00:00+00:00"),
        (pd.Timestamp("2024-03-05 10:00", tz="Europe/Paris"), "2024-03-05 09:00:00+00:00"),
    ],
)
def test_one_moment_is_one_value_however_it_is_written(value, text):
    hierarchy = Hierarchy.calendar(["day"])
    assert str(hierarchy.key(value)) == text
    assert hierarchy.key(text) == hierarchy.key(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "2024",
        2024,
        "2024-03",
        "05.03.2024",
        "2024-02-30",
        "2024-13-01",
        "24-03-05",
        "2024-03-05 25:00",
        "0001-01-01T00:00:00+01:00",
        "2024-03-05x",
        "20240305",
        "٢024-01-01",
    ],
)
def test_what_is_no_date_is_refused(value):
    with pytest.raises(InputError, match="where a calendar needs dates such as"):
        Hierarchy.calendar(["year"]).over("birth", [value])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NaT, pd.NA])
def test_missing_dates_are_a_group_until_the_top(missing):
    taxonomy = Hierarchy.calendar(["year"]).over("birth", ["2024-03-05", missing])
    assert [label and str(label) for label in taxonomy.levels[1].labels] == ["2024", None]


def test_the_message_names_what_many_records_have_and_shows_the_form():
    with pytest.raises(InputError) as error:
        Hierarchy.calendar(["year"]).over("birth", ["05.03.2024", "1.1.1920"], [7, 1])
    assert str(error.value) == (
        "column 'birth' holds 2 values, in 8 records ('05.03.2024'; --show-values (in Python, "
        "showing_values()) names what fewer than 5 records have) where a calendar needs dates such "
        "as 2024-03-05 or 2024-03-05 10:00; give another format with the calendar, such as "
        'format = "%d.%m.%Y" or format = "%m/%d/%Y", or declare them as missing values'
    )


# Formats


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("%d.%m.%Y", "05.03.2024", "2024-03-05"),
        ("%d.%m.%Y", "5.3.2024", "2024-03-05"),
        ("%m/%d/%Y", "05/03/2024", "2024-05-03"),
        ("%Y%m%d", 20240305, "2024-03-05"),
        ("%Y%m%d", 20240305.0, "2024-03-05"),
        ("%Y-%m-%d", "2024-3-5", "2024-03-05"),
        ("%d.%m.%Y", "2024-03-05", "2024-03-05"),
        ("%d.%m.%Y", date(2024, 3, 5), "2024-03-05"),
        ("%d/%m/%Y %H:%M", "05/03/2024 07:08", "2024-03-05 07:08:00"),
        ("%d/%m/%Y %H:%M:%S.%f %z", "05/03/2024 07:08:09.25 +0200", "2024-03-05 05:08:09.25+00:00"),
        ("%% %Y|%m|%d (x)", "% 2024|03|05 (x)", "2024-03-05"),
    ],
)
def test_a_format_says_which_part_is_which(form, value, text):
    assert str(Hierarchy.calendar(["day"], format=form).key(value)) == text


def test_what_is_not_in_the_format_is_refused():
    hierarchy = Hierarchy.calendar(["day"], format="%d.%m.%Y")
    with pytest.raises(InputError, match=r"needs dates in the format '%d\.%m\.%Y'; clean"):
        hierarchy.over("birth", ["31.31.2024"])


@given(st.dates(), st.sampled_from(["%d.%m.%Y", "%Y%m%d", "%m/%d/%Y", "%d%m%Y"]))
def test_a_format_reads_what_python_writes_by_it(day, form):
    written = f"{day.year:04}".join(day.strftime(part) for part in form.split("%Y"))
    assert str(Hierarchy.calendar(["day"], format=form).key(written)) == day.isoformat()


@pytest.mark.parametrize(
    ("units", "options", "message"),
    [
        ([], {}, r'calendar must list at least one unit, such as calendar = \["month"'),
        (["months"], {}, "calendar has no unit 'months'; did you mean 'month'"),
        ([3], {}, "calendar has no unit '?3'?; known are second, minute"),
        (["year", "month"], {}, "year is not finer than month; the finest unit comes first"),
        (["month", "month"], {}, "month is not finer than month"),
        (["week", "month"], {}, "a week may be in two units of a month; leave one of them out"),
        (["day"], {"zone": "Paris"}, "zone = \"Europe/Paris\", not 'Paris'"),
        (["day"], {"zone": 1}, "zone must be the name of a time zone"),
        (["day"], {"zone": "../etc"}, "zone must be the name of a time zone"),
        (["day"], {"format": "%d.%m.%y"}, "%y leaves open which century"),
        (["day"], {"format": "%m. %H %Y"}, "format must have %Y, %m and %d, such as format"),
        (["day"], {"format": "%d.%d.%m.%Y"}, "epoch-ms, not '%d.%d.%m.%Y'"),
        (["day"], {"format": 5}, "format must have %Y"),
        (["day"], {"format": "%d %b %Y %m"}, "format must have %Y"),
        (["day"], {"format": "%d.%m.%y{1930}.%Y"}, "format must have %Y"),
        (["day"], {"format": "excel days"}, "or be one of excel, epoch, epoch-ms"),
        (["day"], {"format": "%Y-%d-%m"}, "reads ISO dates with day and month exchanged"),
    ],
)
def test_a_calendar_that_is_none_is_refused(units, options, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.calendar(units, **options)


# Time zones


def test_the_day_is_that_of_the_zone():
    evening = "2024-03-05T23:30:00Z"
    assert labels(evening, ["day"]) == ["2024-03-05"]
    assert labels(evening, ["day"], zone="Europe/Paris") == ["2024-03-06"]
    assert labels(evening, ["day"], zone="America/New_York") == ["2024-03-05"]
    assert labels("2024-03-05 23:30:00", ["day"], zone="Europe/Paris") == ["2024-03-05"]


def test_an_hour_that_comes_twice_is_one_hour_of_the_clock():
    first, again = "2023-10-29T00:30:00Z", "2023-10-29T01:30:00Z"
    hierarchy = Hierarchy.calendar(["hour"], zone="Europe/Paris")
    assert hierarchy.key(first) != hierarchy.key(again)
    assert labels(first, ["hour"], zone="Europe/Paris") == ["2023-10-29 02h"]
    assert hierarchy.labels(first) == hierarchy.labels(again)


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["UTC", "Asia/Kolkata", "Europe/Paris", "America/New_York", "Pacific/Apia"]),
    st.integers(-14 * 60, 14 * 60),
)
def test_offsets_do_not_matter_where_the_moment_is_one(moment, zone, minutes):
    utc = moment.replace(tzinfo=UTC)
    other = utc.astimezone(timezone(timedelta(minutes=minutes)))
    hierarchy = Hierarchy.calendar(["day"], zone=zone)
    assert hierarchy.key(utc) == hierarchy.key(other.isoformat()) == hierarchy.key(str(other))
    day = utc.astimezone(ZoneInfo(zone)).date()
    assert str(hierarchy.labels(other)[0]) == day.isoformat()


# Ways to hold dates


HELD = {
    "texts": lambda days: [day.isoformat() for day in days],
    "texts with blanks": lambda days: [f" {day.isoformat()}" for day in days],
    "dates": list,
    "datetimes": lambda days: [datetime(day.year, day.month, day.day) for day in days],
    "timestamps": lambda days: pd.to_datetime(list(days)),
    "seconds": lambda days: np.array(days, "datetime64[s]"),
    "date32": lambda days: pd.array(days, pd.ArrowDtype(pa.date32())),
    "arrow timestamps": lambda days: pd.array(
        [datetime(day.year, day.month, day.day) for day in days], pd.ArrowDtype(pa.timestamp("ms"))
    ),
    "categories": lambda days: pd.Categorical([day.isoformat() for day in days]),
}


@pytest.mark.parametrize("held", HELD)
def test_the_partition_does_not_depend_on_how_dates_are_held(held):
    rng = np.random.default_rng(3)
    days = [date(1990, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 900, 60)]
    hierarchy = Hierarchy.calendar(["month", "year"])
    found = {}
    for name in ("texts", held):
        column = pd.Series(HELD[name](days), name="birth")
        codes, values = engine.distinct(column)
        taxonomy = hierarchy.over("birth", values)
        found[name] = (
            [
                [str(level.labels[group]) for group in level.groups[taxonomy.encode(values)[codes]]]
                for level in taxonomy.levels[1:]
            ],
            taxonomy.texts,
        )
    assert found[held] == found["texts"]


# Where ranges end


def points(texts, units, level=0):
    values = sorted(place(text) for text in texts)
    starts, end = Dates(Clock(), tuple(units)).blocks(values, level)
    return [iso_of(start) for start in starts], iso_of(end)


def test_ranges_end_where_a_unit_of_the_calendar_begins():
    days = ["2020-01-17", "2020-01-30", "2020-03-02", "2021-12-31"]
    months_ = (["2020-01-01", "2020-03-01", "2021-12-01"], "2022-01-01")
    assert points(days, ["month", "year"]) == months_
    assert points(days, ["day", "month"]) == months_  # no day of anybody
    assert points(days, ["day"]) == (
        ["2020-01-13", "2020-01-27", "2020-03-02", "2021-12-27"],
        "2022-01-03",
    )
    assert points(days, ["year"]) == (["2020-01-01", "2021-01-01"], "2022-01-01")
    assert points(days, ["month", "year"], 1) == months_
    assert points(days, ["month", "year"], 2) == (["2020-01-01", "2021-01-01"], "2022-01-01")
    assert points(days, ["month", "year"], 3) == (["2020-01-01", "2021-01-01"], "2022-01-01")


def test_hours_are_a_grid_of_times_of_day():
    times = ["2020-01-17 10:12", "2020-01-17 10:59", "2020-01-18 00:00"]
    assert points(times, ["hour", "day"]) == (
        ["2020-01-17 10:00:00", "2020-01-18"],
        "2020-01-18 01:00:00",
    )


def test_the_last_range_may_end_in_1970():
    assert points(["1969-12-31"], ["month"]) == (["1969-12-01"], "1970-01-01")
    assert Decimal(0) == place("1970-01-01")


def test_a_long_format_makes_no_long_message():
    calendar = Hierarchy.of({"calendar": ["month"], "format": "%d.%m.%Y" + "x" * 100_000})
    with pytest.raises(InputError, match=r"in the format a text of 100008 letters; clean"):
        calendar.over("birth", ["05.03.2024"])


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("%d-%b-%Y", "01-AUG-1949", "1949-08-01"),
        ("%d%b%Y", "01AUG1949", "1949-08-01"),
        ("%b %d, %Y", "August 01, 1949", "1949-08-01"),
        ("%d. %b %Y", "1. M\u00e4rz 1949", "1949-03-01"),
        ("%Y\u5e74%m\u6708%d\u65e5", "1949\u5e7408\u670801\u65e5", "1949-08-01"),
        ("%d.%m.%y{1930}", "01.08.49", "1949-08-01"),
        ("%d.%m.%y{1930}", "01.08.29", "2029-08-01"),
        ("%d%m%y{1925}", "010824", "2024-08-01"),
        ("%m/%d/%Y %H:%M", "8/1/1949 0:00", "1949-08-01"),
        ("%Y%m%d", "19490801", "1949-08-01"),
        ("excel", "18111", "1949-08-01"),
        ("excel", 18111.5, "1949-08-01 12:00:00"),
        ("epoch", "-644371200", "1949-08-01"),
        ("epoch-ms", "1500", "1970-01-01 00:00:01.5"),
        ("excel", "1949-08-01", "1949-08-01"),  # ISO 8601 is read whatever the format
        ("%d %b %Y", "1 Foo 1949", None),
        ("excel", "1e9", None),
    ],
)
def test_notations_of_dates(form, text, day):
    moment = Clock(None, form).moment(text)
    assert (moment and str(moment)) == day


@pytest.mark.parametrize(
    ("ground", "text", "label"),
    [
        ("month", "1949-08", "1949-08"),
        ("month", "1949-08-00", "1949-08"),
        ("year", "1949-00-00", "1949"),
        ("year", "1949", "1949"),
        ("year", "1949-08", "1949"),
        ("year", "0000-00-00", None),
        ("month", "1949", None),  # it may be of any month
        ("month", "1949-13", None),
        ("month", "8/1949", "1949-08"),
        ("month", "08.1949", "1949-08"),
        ("month", "AUG-1949", "1949-08"),
        ("month", "ao\u00fbt 1949", "1949-08"),
        ("month", "Foo 1949", None),
        ("month", "13/1949", None),
        ("month", "1949/08", None),  # 1949/50 is a year of schools
        ("year", "1949.5", None),
        ("month", "1949 Q3", None),
        ("quarter", "Q3 1949", "1949-Q3"),
        ("quarter", "1949q3", "1949-Q3"),
        ("quarter", "1949-Q5", None),
        ("quarter", "08/1949", "1949-Q3"),
        ("half-year", "1949 H2", "1949-H2"),
    ],
)
def test_a_date_without_a_day_belongs_to_its_month(ground, text, label):
    dates = Hierarchy.of({"calendar": ["year", "decade"], "ground": ground})
    key = dates.key(text)
    assert dates.covers(key) == (label is not None)
    assert label is None or str(dates.labels(text)[0]) == label
    assert not Hierarchy.of({"calendar": ["year"]}).covers(
        Hierarchy.of({"calendar": ["year"]}).key(text)
    )


@pytest.mark.parametrize(
    ("form", "text", "label"),
    [
        ("%Y%m", "194908", "1949-08"),
        ("%Y%m", "194913", None),
        ("%Y/%m", "1949/08", "1949-08"),
        ("%b %y{1930}", "Aug 49", "1949-08"),
        ("%b %y{1930}", "Foo 49", None),
        ("%Y%m%d", "19490800", "1949-08"),
        ("%Y%m%d", "19490000", "1949"),
        ("%Y%m%d", "00000000", None),
        ("%Y%m%d", "19491300", None),
        ("%d%m%Y", "00081949", "1949-08"),
        ("%d.%m.%y{1930}", "00.08.49", "1949-08"),
        ("%d.%m.%y{1930}", "00.00.00", None),  # no year 2000
        ("%d-%b-%Y", "00-Foo-1949", None),
        ("%m/%d/%Y", "08/1949", "1949-08"),
        ("%m/%d/%Y", "08/01/1949", None),  # a date with a day
    ],
)
def test_a_format_reads_dates_without_a_day(form, text, label):
    unit = Clock(None, form).partial(text)
    assert (unit and unit[2]) == label
    assert label is None or Clock(None, form).moment(text) is None


def test_dates_without_a_day_are_refused_with_the_way_out():
    people = pd.DataFrame({"born": ["1949-08", "1949-08-01"] * 5, "d": ["a", "b"] * 5})
    anonymizer = Anonymizer(
        quasi_identifiers={"born": {"calendar": ["year"]}}, sensitive="d", privacy=[KAnonymity(2)]
    )
    with pytest.raises(
        InputError, match='count dates by a unit that they have, such as ground = "m'
    ):
        anonymizer.fit(people)
