import bz2
import gzip
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length

from anonymizer.errors import InputError
from anonymizer.tables.files import Format, GivenFormat, describe_file, write_table
from anonymizer.tables.files.parquet import exact_frame
from tests.whole import read_table

SEPARATORS = ",;\t|"
CSV = "name,age,note\nann,30,x\nbob,41,\n"


def put(directory, content, name="t.csv"):
    path = directory / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, columns=(), **stated):
    return read_table(path, describe_file(path, GivenFormat(**stated)), columns)


def rows(frame):
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


# Reading


def test_a_table_by_hand(tmp_path):
    frame = read(put(tmp_path, CSV), ["note"])
    assert list(frame.columns) == ["name", "age", "note"]
    assert rows(frame) == [["ann", "30", "x"], ["bob", "41", None]]


def test_texts_stay_as_they_are_written(tmp_path):
    texts = ["007", "1.0", "1e5", "NA", "null", "nan", "True", "2020-01-01", "é"]
    frame = read(put(tmp_path, "a,b\n" + "".join(f"{text},\n" for text in texts)), ["a"])
    assert frame["a"].tolist() == texts
    assert set(frame["b"]) == {""}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a,b\n 1, 2\n", [" 1", " 2"]),
        (" a , b\n1,2\n", ["1", "2"]),
        ("a,b\r\n1,2\r\n", ["1", "2"]),
        ("a,b\r1,2\r", ["1", "2"]),
        ("a,b\n1,2", ["1", "2"]),
        ("\ufeffa,b\n1,2\n", ["1", "2"]),
        ('"a","b"\n"1","2"\n', ["1", "2"]),
        ('a,b\n"1,""5","2\n3"\n', ['1,"5', "2\n3"]),
        ('a,b\n1",2"\n', ['1"', '2"']),
    ],
)
def test_a_csv_file_however_written(tmp_path, text, values):
    frame = read(put(tmp_path, text), separator=",")
    assert list(frame.columns) == ["a", "b"]
    assert rows(frame) == [values]


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1\t2,3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a;b;c\n1,5;2;3\n", ";"),
        ('a,b\n"x;y;z",2\n', ","),
        ('a;b\n"[0, 20)";2\n"[20, 40)";3\n', ";"),
        ("a\n1\n", ","),
        ("a;b\n1;2\n3\n", ";"),
        ("a;b\n" + "1,2;3\n" * 30_000, ";"),
    ],
)
def test_the_separator_is_found(tmp_path, text, separator):
    assert describe_file(put(tmp_path, text)).separator == separator


def test_the_separator_may_be_stated(tmp_path):
    assert describe_file(put(tmp_path, "a,b;c\n1,2;3\n"), GivenFormat(",")) == Format(False, ",")
    assert rows(read(put(tmp_path, "a:b\n1:2\n"), separator=":")) == [["1", "2"]]


@pytest.mark.parametrize("separator", ["é", "\n", "\r"])
def test_a_separator_that_cannot_be_is_refused(tmp_path, separator):
    with pytest.raises(InputError, match=r"separator|cannot read"):
        read(put(tmp_path, CSV), separator=separator)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("t.csv.gz", gzip.compress),
        ("t.csv.bz2", bz2.compress),
        ("t.csv.zst", lambda b: pa.compress(b, "zstd", asbytes=True)),
    ],
)
def test_a_compressed_file_is_read_whole_or_refused(tmp_path, name, pack):
    text = "a;b\n" + "".join(f"{i};{i * i % 97}\n" for i in range(5000))
    packed = pack(text.encode())
    assert len(read(put(tmp_path, packed, name))) == 5000
    for length in [0, 1, 5, len(packed) // 2, len(packed) - 9, len(packed) - 5, len(packed) - 1]:
        with pytest.raises(InputError, match=r"cannot read .*t\.csv"):
            read(put(tmp_path, packed[:length], name))
    with pytest.raises(InputError, match=r"cannot read .*damaged"):
        read(put(tmp_path, text, name))


def test_a_gz_file_of_several_members_is_read_whole(tmp_path):
    packed = gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n")
    assert rows(read(put(tmp_path, packed, "t.csv.gz"))) == [["1", "2"], ["3", "4"]]


def test_what_counts_as_missing(tmp_path):
    text = "a,b\n?,?\n,\n ? ,x\nn/a,?\n"
    frame = read(put(tmp_path, text), ["a"], missing_values=("?", "n/a"))
    assert rows(frame) == [[None, "?"], [None, ""], [None, "x"], [None, "?"]]


def test_a_number_is_missing_as_it_is_declared(tmp_path):
    path = put(tmp_path, "a,b\n39.0,\n39,\n7.0,\n7,\n")
    frame = read(path, ["a"], missing_values=("39.0", "7"))
    assert rows(frame) == [[None, ""], ["39", ""], [None, ""], [None, ""]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n1,2\n3\n4,5\n", "line 3 has 1 field, the header 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, the header 2"),
        ("a,b\n" + "1,2\n" * 400_000 + "3\n", "line 400002 has 1 field, the header 2"),
        ("a,b\n1,gr\xfcn\n".encode("latin-1"), "it is not UTF-8 text"),
        ("a,gr\xfcn\n1,2\n".encode("latin-1"), "it is not UTF-8 text"),
        (gzip.compress(CSV.encode(), mtime=0), "cannot read"),
        (CSV.encode("utf-16")[:-1], "it is not utf-16 text"),
        ("a,b,a\n1,2,3\n", "column 'a' stands more than once"),
        ("a,b, a\n1,2,3\n", "column 'a' stands more than once"),
        ('a,b\n1,2\n3,"4\n5,6\n', "cannot read"),
        ('a,b\n1,2\n"3,4\n5,6\n', "cannot read"),
    ],
)
def test_csv_files_that_cannot_be(tmp_path, content, message):
    path = put(tmp_path, content)
    with pytest.raises(InputError, match=message) as error:
        read(path)
    assert str(path) in str(error.value)


def test_a_field_may_be_long(tmp_path):
    long = "x" * 3_000_000
    assert read(put(tmp_path, f"a,b\n1,{long}\n"))["b"].tolist() == [long]


def test_no_message_quotes_the_data(tmp_path):
    for content in ["a,b\n1,2\nsecret\n", "a,b\n1,secret\n3,4,5\n", b"a,b\nsecret,\xff\n"]:
        with pytest.raises(InputError) as error:
            read(put(tmp_path, content))
        assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "there is no file"),
        ("none.parquet", "there is no file"),
        (".", "there is no table in"),
        ("a\0b", "there is no file"),
        ("x" * 300, r"there is no file|cannot read"),
    ],
)
def test_a_path_without_a_table(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        describe_file(tmp_path / name)


def test_a_file_that_goes_away_between_two_looks(tmp_path):
    form = describe_file(put(tmp_path, CSV))
    (tmp_path / "t.csv").unlink()
    with pytest.raises(InputError, match="cannot read"):
        read_table(tmp_path / "t.csv", form)


# Parquet


def test_a_parquet_file_keeps_its_types(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, None], "c": ["x", ""], "d": [True, False]})
    form = Format(parquet=True)
    write_table(frame, tmp_path / "t.parquet", form)
    assert describe_file(tmp_path / "t.parquet") == form
    assert rows(read_table(tmp_path / "t.parquet", form, ["c"])) == [
        [1, 0.5, "x", True],
        [2, None, None, False],
    ]


def test_whole_numbers_beside_a_missing_one_stay_whole(tmp_path):
    big = 2**60 + 1
    pq.write_table(pa.table({"a": ["x", "y"], "b": [big, None]}), tmp_path / "t.parquet")
    frame = read(tmp_path / "t.parquet")
    write_table(frame, tmp_path / "u.parquet", Format(parquet=True))
    assert pq.read_table(tmp_path / "u.parquet")["b"].to_pylist() == [big, None]


def test_a_column_that_pandas_wrote_as_index_is_a_column(tmp_path):
    frame = pd.DataFrame({"name": ["ann", "bob"], "age": [30, 41]})
    frame.set_index("name").to_parquet(tmp_path / "t.parquet")
    assert set(read(tmp_path / "t.parquet").columns) == {"name", "age"}


def test_an_index_without_a_name_is_no_column(tmp_path):
    frame = pd.DataFrame({"age": [30, 41, 52]}, index=[7, 3, 5])
    frame.to_parquet(tmp_path / "t.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "t.parquet").names
    assert list(read(tmp_path / "t.parquet").columns) == ["age"]


def test_parquet_files_that_cannot_be(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": ["x"] * 50}).to_parquet(path)
    content = path.read_bytes()
    for cut in [0, 3, len(content) // 2, len(content) - 1]:
        path.write_bytes(content[:cut])
        with pytest.raises(InputError, match=r"cannot read .*t\.parquet: it is damaged"):
            read(path)


def read_or_refused(path, columns=()):
    try:
        return read(path, columns) is not None
    except InputError:
        return True
    except Exception:
        return False


def test_parquet_files_with_a_flipped_bit_are_read_or_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": ["x", "y"] * 50}).to_parquet(path)
    content = path.read_bytes()
    crashes = []
    for place in range(0, len(content), at_length(17, 7)):
        flipped = bytearray(content)
        flipped[place] ^= 0x10
        path.write_bytes(flipped)
        if not read_or_refused(path, ["a"]):
            crashes.append(place)
    assert crashes == []


def test_duplicate_parquet_columns_are_named(tmp_path):
    table = pa.table([[1], [2]], names=["a", "a"])
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column 'a' stands more than once"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([["x"], ["y"]]),
        pa.array([{"k": 1}, {"k": 2}]),
        pa.array([b"x", b"y"]),
        pa.array([2**31 - 1, 1], pa.date32()),
    ],
)
def test_columns_of_odd_types_are_read_or_refused(tmp_path, column):
    pq.write_table(pa.table({"a": column}), tmp_path / "t.parquet")
    assert read_or_refused(tmp_path / "t.parquet", ["a"])


# There and back

# Surrogates cannot be written as UTF-8; a carriage return has a test of its own.
texts = st.text(
    st.one_of(
        st.sampled_from(list(",;\t|\"'\n \\#é\u2028\ufeff")),
        st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"),
    ),
    max_size=6,
)
tables_of_texts = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(texts, min_size=width, max_size=width), max_size=5)
)


@given(tables_of_texts, st.sampled_from(SEPARATORS))
def test_texts_come_back(tmp_path_factory, content, separator):
    path = tmp_path_factory.getbasetemp() / "t.csv"
    width = len(content[0]) if content else 2
    names = ["a", 'b "quoted"', "c;d,e", "f\tg|h"][:width]
    form = Format(False, separator)
    write_table(pd.DataFrame(content, columns=names, dtype="str"), path, form)
    back = read_table(path, form)
    assert list(back.columns) == names
    assert rows(back) == [[text.lstrip(" ") for text in row] for row in content]
    write_table(back, path, form)
    assert rows(read_table(path, form)) == rows(back)


@pytest.mark.parametrize("text", ["a\rb", "\r", "a\r\nb", "a\r,b", "\0"])
def test_odd_characters_come_back(tmp_path, text):
    frame = pd.DataFrame({"a": ["1", "2"], "b": [text, "x"]})
    write_table(frame, tmp_path / "t.csv", Format(False))
    assert rows(read(tmp_path / "t.csv")) == [["1", text], ["2", "x"]]


@given(tables_of_texts)
def test_parquet_texts_come_back(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "t.parquet"
    names = list("abcd")[: len(content[0]) if content else 2]
    write_table(pd.DataFrame(content, columns=names, dtype="str"), path, Format(True))
    assert rows(read_table(path, Format(True))) == content


@pytest.mark.parametrize("name", ["x;y", "a,b", "t\tab"])
def test_a_single_column_is_not_taken_for_several(tmp_path, name):
    """Its separator is found by itself again, though its name looks as if it had another."""
    path = tmp_path / "t.csv"
    write_table(pd.DataFrame({name: ["1", None, "[2, 3)", "4;5"]}), path, Format(parquet=False))
    frame = read(path, [name])
    assert list(frame.columns) == [name]
    assert rows(frame) == [["1"], [None], ["[2, 3)"], ["4;5"]]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"ab"] * 6, pa.binary(2)),
        pa.array([["x"], []] * 3),
        pa.array([{"x": 1}] * 6),
        pa.array([Decimal(1)] * 6, pa.decimal256(50, 2)),
    ],
    ids=lambda column: str(column.type),
)
def test_pandas_reads_what_is_written(tmp_path, column):
    pq.write_table(pa.table({"age": range(6), "other": column}), tmp_path / "t.parquet")
    form = Format(parquet=True)
    table = exact_frame(pq.read_table(tmp_path / "t.parquet"))
    write_table(table, tmp_path / "released.parquet", form)
    assert list(pd.read_parquet(tmp_path / "released.parquet")["age"]) == list(range(6))
