"""Dates of one person, moved together by a secret number of days."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError, Shift
from anonymizer.counts.schema import Schema
from anonymizer.masking import shifting

STAYS = pd.DataFrame(
    {
        "who": ["a", "a", "b"],
        "in": ["2024-02-27", "2024-03-01 08:30:00", "2023-12-31"],
        "out": ["2024-03-01", None, "2024-01-01T00:00:00Z"],
    }
)
SCHEMA = Schema(("age",), ("diagnosis",), ("name",), targets=("cost",), person=("who",))


@pytest.fixture
def drawing(monkeypatch):
    """Return what sets the offsets of persons, in the order in which they appear."""

    def set_days(*days: int, most: int) -> None:
        left = iter(days)
        monkeypatch.setattr(shifting, "randbelow", lambda _: next(left) + most)

    return set_days


def test_dates_of_a_person_are_moved_together_by_hand(drawing):
    drawing(2, -1, most=3)
    moved = Shift(["in", "out"], 3).moved(STAYS, ["who"])
    assert moved["in"].tolist() == ["2024-02-29", "2024-03-03 08:30:00", "2023-12-30"]
    assert moved["out"].isna().tolist() == [False, True, False]
    assert moved["out"].dropna().tolist() == ["2024-03-03", "2023-12-31T00:00:00Z"]
    assert STAYS["in"][0] == "2024-02-27"


def test_each_number_of_days_has_the_same_chance():
    table = pd.DataFrame({"who": range(4000), "in": "2024-01-15"})
    moved = Shift("in", 2).moved(table, ["who"])
    found = Counter(moved["in"])
    assert sorted(found) == [f"2024-01-{day}" for day in range(13, 18)]
    # Five values of chance 1/5 each: 800 +- 25, and none is off by six times that.
    assert max(abs(records - 800) for records in found.values()) < 150
    assert not Shift("in", 2).moved(table, ["who"])["in"].equals(moved["in"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["1.2.2024", "28.12.2024"], ["3.2.2024", "30.12.2024"]),
        (["01.02.2024", "30.12.2024"], ["03.02.2024", "01.01.2025"]),
        (["31.12.2024", "2024-12-31"], ["02.01.2025", "2025-01-02"]),
    ],
)
def test_texts_keep_their_notation(drawing, given, expected):
    drawing(2, most=9)
    table = pd.DataFrame({"who": "a", "in": given})
    moved = Shift(["in"], 9, format="%d.%m.%Y").moved(table, ["who"])
    assert moved["in"].tolist() == expected


EAST = timezone(timedelta(hours=2))
KINDS = [
    pd.Series(pd.to_datetime(["2024-02-28 10:15", None])),
    pd.Series(pd.to_datetime(["2024-02-28 10:15", None]).tz_localize("Europe/Paris")),
    pd.Series(pd.to_datetime(["2024-02-28", None])).astype("datetime64[s]"),
    pd.Series([datetime(3000, 2, 28), None], dtype="datetime64[us]"),
    pd.Series([date(2024, 2, 28), None]),
    pd.Series([datetime(2024, 2, 28, 10, tzinfo=EAST), None], dtype=object),
    pd.Series([date(2024, 2, 28), None], dtype=pd.ArrowDtype(pa.date32())),
    pd.Series([datetime(2024, 2, 28, 10), None], dtype=pd.ArrowDtype(pa.timestamp("ms"))),
    pd.Series(["2024-02-28", None], dtype="string"),
    pd.Series(["2024-02-28", None], dtype="category"),
    pd.Series(pd.to_datetime(["2024-02-28", None])).astype("category"),
]


@pytest.mark.parametrize("column", KINDS, ids=lambda column: str(column.dtype))
def test_a_column_keeps_its_type(drawing, column):
    drawing(2, most=2)
    moved = Shift("in", 2).moved(pd.DataFrame({"who": "a", "in": column}), ["who"])["in"]
    if isinstance(column.dtype, pd.CategoricalDtype):
        assert moved.dtype.categories.dtype == column.dtype.categories.dtype
    else:
        assert moved.dtype == column.dtype
    assert moved.isna().tolist() == [False, True]
    if isinstance(column[0], str):
        assert moved[0] == "2024-03-01"
    else:
        assert moved[0] == column[0] + timedelta(2)


def test_an_instant_is_moved_by_times_of_24_hours(drawing):
    """Clocks went forward on 31 March: how far apart two instants are is as it was."""
    drawing(2, most=2)
    instants = pd.to_datetime(["2024-03-30 10:00"]).tz_localize("Europe/Paris")
    moved = Shift("in", 2).moved(pd.DataFrame({"who": "a", "in": instants}), ["who"])["in"]
    assert moved[0].astimezone(UTC) == instants[0].astimezone(UTC) + timedelta(2)
    drawing(2, most=2)
    one_by_one = pd.DataFrame({"who": "a", "in": instants.to_pydatetime()}, dtype=object)
    (later,) = Shift("in", 2).moved(one_by_one, ["who"])["in"]
    assert later.astimezone(UTC) == instants[0].astimezone(UTC) + timedelta(2)
    assert later.utcoffset() == timedelta(hours=2)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", " a ", "b", "c"]),
            st.none() | st.dates(date(1900, 1, 1), date(2100, 1, 1)),
            st.none() | st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
        ),
        min_size=1,
    ),
    st.integers(1, 400),
)
def test_plain_python_finds_one_number_of_days_for_each_person(records, days):
    table = pd.DataFrame(records, columns=["who", "in", "out"], dtype=object)
    moved = Shift(["in", "out"], days).moved(table, ["who"])
    found: dict[str, set[timedelta]] = {}
    for (who, *raw), shown in zip(records, moved[["in", "out"]].to_numpy(object), strict=True):
        for true, other in zip(raw, shown, strict=True):
            assert (true is None) == pd.isna(other)
            if true is not None:
                found.setdefault(who.strip(), set()).add(other - true)
    for gaps in found.values():
        assert len(gaps) == 1
        (gap,) = gaps
        assert gap == timedelta(gap.days)
        assert abs(gap.days) <= days


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["2024-01-01", "yesterday", "31.12.2024"],
            "^shift: column 'in' has 2 records whose value is no date; write dates as ISO 8601 has "
            'them, such as 2024-03-31, or give their format, such as format = "%d.%m.%Y", and '
            "leave out what is none$",
        ),
        ([20240101, 20240102, 3], "has 3 records whose value is no date"),
        (
            ["9999-12-31", "0001-01-01", "2024-01-01"],
            "^shift: column 'in' has 2 records whose date cannot be moved by 9 days within the "
            "calendar of its type; declare dates that stand for none, such as 9999-12-31, as "
            "missing$",
        ),
        (
            pd.to_datetime(["2262-04-10", "2024-01-01", None]).astype("datetime64[ns]"),
            "has 1 record whose date cannot be moved by 9 days",
        ),
    ],
)
def test_what_is_no_date_is_refused_by_its_number_alone(values, message):
    table = pd.DataFrame({"who": ["a", "b", "c"], "in": values})
    with pytest.raises(InputError, match=message):
        Shift("in", 9).moved(table, ["who"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": (), "days": 1}, 'name a column of dates, such as columns = ["admission"]'),
        ({"columns": "in", "days": 0}, "days = 0 must be a whole number of at least 1"),
        ({"columns": "in", "days": 36_526}, "days must be at most 36,525, a century"),
        ({"columns": "in", "days": 1, "format": "%d"}, "format must have %Y, %m and %d"),
        ({"columns": "in"}, "shift must have columns and days, such as Shift"),
        (7, "shift must have columns and days, such as Shift"),
    ],
)
def test_what_is_no_shift_is_refused(given, message):
    with pytest.raises(InputError) as error:
        Shift.of(given, SCHEMA)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("age", "shift: column 'age' is a quasi-identifier, and the policy and its figures are"),
        ("diagnosis", "shift: column 'diagnosis' is sensitive, and the policy and its figures are"),
        ("cost", "shift: column 'cost' is a target, and the policy and its figures are about"),
        ("who", "shift: column 'who' is left out of the release; leave it out of shift"),
        ("name", "shift: column 'name' is left out of the release; leave it out of shift"),
    ],
)
def test_columns_with_a_role_are_refused(name, message):
    with pytest.raises(InputError, match=message):
        Shift(["in", name], 9).require_fitting(SCHEMA)


def test_a_shift_needs_persons_and_columns_that_are_there():
    with pytest.raises(InputError, match="no column tells whose each record is; name it as person"):
        Shift("in", 9).require_fitting(Schema(("age",), ()))
    with pytest.raises(InputError, match="the table has no column 'dead'"):
        Shift("dead", 9).moved(STAYS, ["who"])


def test_rows_of_a_tally_are_moved_alike(drawing):
    from anonymizer.tables import engine

    drawing(1, 1, most=1)
    tally = engine.tally(STAYS.astype("category"), ["who", "in"])
    moved = Shift("in", 1).moved(tally, ["who"])
    assert sorted(moved["in"]) == ["2024-01-01", "2024-02-28", "2024-03-02 08:30:00"]
    assert moved.sizes.tolist() == [1, 1, 1]
    assert np.array_equal(moved.index, tally.index)


def day(number: int) -> date:
    return date(2024, 1, 1) + timedelta(number)


def test_dates_that_are_apart_as_those_of_nobody_else_by_hand():
    """a and b came again after 17 days, c after 16; d and e came once, and e stayed for a day."""
    rows = [("a", 0), ("a", 17), ("b", 90), ("b", 107), ("c", 3), ("c", 19), ("d", 5), ("e", 7)]
    table = pd.DataFrame(
        {"who": [who for who, _ in rows], "in": [day(at) for _, at in rows], "out": None}
    )
    assert Shift("in", 9).alone(table, ["who"]) == (1, 5)
    table.loc[7, "out"] = day(8)
    assert Shift(["in", "out"], 9).alone(table, ["who"]) == (2, 5)
    again = pd.concat([table, table.assign(who=table["who"] + " ")], ignore_index=True)
    assert Shift(["in", "out"], 9).alone(again, ["who"]) == (2, 5)


@given(st.lists(st.tuples(st.integers(0, 5), *[st.integers(0, 6) | st.none()] * 2), min_size=1))
def test_plain_python_counts_the_same_and_moving_them_changes_nothing(rows):
    dates = [[None if at is None else day(at) for at in row[1:]] for row in rows]
    table = pd.DataFrame(dates, columns=["in", "out"], dtype=object)
    table["who"] = [row[0] for row in rows]
    apart = {}
    for who in {row[0] for row in rows}:
        own = {(c, row[c]) for row in rows if row[0] == who for c in (1, 2) if row[c] is not None}
        first = min((at for _, at in own), default=0)
        apart[who] = frozenset((column, at - first) for column, at in own)
    kinds = Counter(apart.values())
    alone = sum(len(each) > 1 and kinds[each] == 1 for each in apart.values())
    shift = Shift(["in", "out"], 300)
    assert shift.alone(table, ["who"]) == (alone, len(apart))
    assert shift.alone(shift.moved(table, ["who"]), ["who"]) == (alone, len(apart))
