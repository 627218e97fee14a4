"""Tables as people write them: encodings, quotes, marks of numbers, files without a header line."""

import csv
import gzip
import io
import json
import re
import unicodedata

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonymizer.cli import main
from anonymizer.errors import InputError
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables.files import (
    Format,
    GivenFormat,
    describe_file,
    release_format,
    write_table,
)
from anonymizer.tables.relations.embedded.files import opened
from tests.whole import read_table

BLANK, NARROW = "\u00a0", "\u202f"


def put(directory, content, name="t.csv"):
    path = directory / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def described(directory, content, wanted=(), name="t.csv", **keys):
    return describe_file(put(directory, content, name), GivenFormat(**keys), wanted)


def read(directory, content, wanted=(), name="t.csv", **keys):
    form = described(directory, content, wanted, name, **keys)
    return read_table(directory / name, form, wanted)


def texts(frame):
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


# Numbers


@pytest.mark.parametrize(
    ("fields", "marks", "plain"),
    [
        (["3,5", "12", "-0,25"], (",", ""), ["3.5", "12", "-0.25"]),
        (["1.234,5", "12"], (",", "."), ["1234.5", "12"]),
        (["1,234.5", "1,000", "2"], (".", ","), ["1234.5", "1000", "2"]),
        (["1 234,5", "7"], (",", " "), ["1234.5", "7"]),
        ([f"1{BLANK}234,5", f"1{NARROW}000", "1 000"], (",", " "), ["1234.5", "1000", "1000"]),
        (["1'234.5", "7"], (".", "'"), ["1234.5", "7"]),
        (["1\u2019234'567.5", "1'000"], (".", "'"), ["1234567.5", "1000"]),
        (["1.234.567,8"], (",", "."), ["1234567.8"]),
        (["3,5", "NA", "", "?"], (",", ""), ["3.5", "NA", "", "?"]),
        (["0,123"], (",", ""), ["0.123"]),
        (["1234,567"], (",", ""), ["1234.567"]),
        (["1,5E+03", "+2,0e-1"], (",", ""), ["1.5E+03", "+2.0e-1"]),
        ([" 3,5 ", "4"], (",", ""), ["3.5", "4"]),
        (["3.5", "4"], (".", ""), ["3.5", "4"]),
        (["1.234", "4"], (".", ""), ["1.234", "4"]),
        (["1 234", "5 678"], (".", ""), ["1 234", "5 678"]),
        (["3,5", "x"], (".", ""), ["3,5", "x"]),
        (["12,34,56.7"], (".", ""), ["12,34,56.7"]),
        (["01.02.2020,5"], (".", ""), ["01.02.2020,5"]),
        (["1.2,3"], (".", ""), ["1.2,3"]),
    ],
)
def test_the_marks_of_numbers_are_found(tmp_path, fields, marks, plain):
    content = "a;b\n" + "".join(f"{field};x\n" for field in fields)
    form = described(tmp_path, content)
    assert (form.decimal, form.thousands) == marks
    assert read_table(tmp_path / "t.csv", form)["a"].tolist() == plain


@pytest.mark.parametrize("separator", ["\t", "|", ";"])
def test_a_decimal_comma_in_one_column_is_that_of_all(tmp_path, separator):
    lines = ["a|b|c|d", "3,5|1,234|x,1|1", "4|5,678|1,5|2"]
    content = "\n".join(lines).replace("|", separator)
    assert texts(read(tmp_path, content)) == [
        ["3.5", "1.234", "x,1", "1"],
        ["4", "5.678", "1,5", "2"],
    ]


def test_commas_that_separate_fields_are_no_marks(tmp_path):
    assert described(tmp_path, "a,b\n3,5\n1,234\n") == Format(False)
    assert described(tmp_path, 'a,b\n"3,5",1\n"x",2\n') == Format(False)
    assert read(tmp_path, 'a,b\n"3,5",1\n', decimal=",")["a"].tolist() == ["3.5"]
    marked = 'a,b\n"1,234.50",1\n"2,000",2\n'
    assert described(tmp_path, marked).thousands == ","
    assert read(tmp_path, marked)["a"].tolist() == ["1234.50", "2000"]


OPEN = 'a,b\n"1,234",1\n"5",2\n'
EUROPEAN = "a;b\n1,5;1.234\n2,5;7\n"


def test_numbers_that_may_be_two_are_refused_where_they_matter(tmp_path):
    message = (
        "cannot read .*t.csv: column 'a' has numbers with a comma before three digits: set "
        "thousands = ',' in .data. if it marks thousands, decimal = ',' if it is a decimal mark, "
        'or thousands = "" if neither'
    )
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, OPEN, ["a"])
    assert "1,234" not in str(error.value)  # the number of a folder may have its digits
    assert read(tmp_path, OPEN, ["b"])["a"].tolist() == ["1,234", "5"]
    assert len(described(tmp_path, OPEN).doubts) == 1
    for keys, plain in [
        ({"thousands": ","}, "1234"),
        ({"decimal": ","}, "1.234"),
        ({"thousands": ""}, "1,234"),
    ]:
        assert read(tmp_path, OPEN, ["a"], **keys)["a"].tolist() == [plain, "5"]


def test_points_next_to_decimal_commas_may_be_thousands(tmp_path):
    with pytest.raises(InputError, match="column 'b' has numbers with a point before three digits"):
        read(tmp_path, EUROPEAN, ["b"])
    assert read(tmp_path, EUROPEAN, ["b"], thousands=".")["b"].tolist() == ["1234", "7"]
    assert read(tmp_path, EUROPEAN, ["b"], thousands="")["b"].tolist() == ["1.234", "7"]


NOTATIONS = [
    (decimal, thousands)
    for decimal in ".,"
    for thousands in ["", ".", ",", " ", BLANK, NARROW, "'", "\u2019"]
    if thousands != decimal
]


def written(number, decimal, thousands):
    """A number as people of a country write it, by Python's own formatting."""
    text = f"{number:,}" if thousands else str(number)
    return text.translate(str.maketrans({",": thousands, ".": decimal}))


numbers = st.one_of(
    st.integers(-(10**9), 10**9),
    st.decimals(-(10**7), 10**7, places=3).map(lambda number: number + 0),
)


@given(
    st.lists(st.tuples(numbers, st.sampled_from(["x", "1,5 m", "a.b", "2020-01-01"])), min_size=1),
    st.sampled_from(NOTATIONS),
    st.sampled_from(",;\t|"),
)
@example([(1234567, "x")], (",", "."), ";")
def test_numbers_are_read_as_python_reads_them(tmp_path_factory, rows, notation, separator):
    path = tmp_path_factory.getbasetemp() / "numbers.csv"
    decimal, thousands = notation
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["number", "text"])
        writer.writerows([written(number, *notation), text] for number, text in rows)
    given = GivenFormat(decimal=decimal, thousands=thousands, separator=separator)
    frame = read_table(path, describe_file(path, given))
    assert [float(text) for text in frame["number"]] == [float(number) for number, _ in rows]
    assert frame["text"].tolist() == [text for _, text in rows]
    released = tmp_path_factory.getbasetemp() / "released.csv"
    write_table(frame, released, describe_file(path, given).released)
    back = pd.read_csv(released, sep=separator)
    assert back["number"].astype(float).tolist() == [float(number) for number, _ in rows]


@given(st.lists(numbers, min_size=1, max_size=30), st.sampled_from(NOTATIONS))
def test_what_is_found_is_never_another_number(tmp_path_factory, found, notation):
    """A file with a decimal mark in every number: read as it was written, or left as texts."""
    path = tmp_path_factory.getbasetemp() / "found.csv"
    fields = [written(number * 1 + type(number)(0), *notation) for number in found]
    path.write_text("a;b\n" + "".join(f"{field};x\n" for field in fields), encoding="utf-8")
    try:
        column = read_table(path, describe_file(path, GivenFormat(), ["a"]))["a"].tolist()
    except InputError:  # they may be two numbers
        return
    if column != fields:
        assert [float(text) for text in column] == [float(number) for number in found]


# Encodings


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_unicode_is_found(tmp_path, encoding, found, end):
    content = end.join(["größe,b", "Zürich,1", '"a,\u20ac",2', ""])
    form = described(tmp_path, content.encode(encoding))
    assert form.encoding == found
    frame = read_table(tmp_path / "t.csv", form, ["größe"])
    assert texts(frame) == [["Zürich", "1"], ["a,\u20ac", "2"]]


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_a_byte_order_mark_decides(tmp_path, mark):
    content = "\ufeffa;b\n1;2\n".encode(mark)
    assert texts(read(tmp_path, content, ["a"])) == [["1", "2"]]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp500", "utf-16-be", "cp1251", "gbk"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_any_encoding_may_be_given(tmp_path, encoding, name):
    word = "Женя" if encoding == "cp1251" else "中文" if encoding == "gbk" else "Zürich"
    content = (f"a,b\n{word},1\n" + "x,2\n" * 40_000).encode(encoding)
    packed = gzip.compress(content, mtime=0) if name.endswith("gz") else content
    frame = read(tmp_path, packed, ["a"], name=name, encoding=encoding)
    assert len(frame) == 40_001
    assert frame["a"][0] == word


def test_letters_cut_by_a_block_are_whole(tmp_path):
    word = "ü€𝄞" * 1000
    content = "a,b\n" + f"{word},1\n" * 400
    for encoding in ["utf-16", "utf-32", "gb18030"]:
        frame = read(tmp_path, content.encode(encoding), encoding=encoding)
        assert set(frame["a"]) == {word}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nZürich,1\n".encode("cp1252"), 'set encoding = "cp1252" in .data. if it comes from'),
        (b"a,b\n\x81x,1\n", 'not UTF-8 text; set encoding in .data., such as "latin-1"'),
        (b"a,b\n" + b"x,1\n" * 50_000 + b"\xfcx,1\n", 'set encoding = "cp1252"'),
        ("a,b\nx,1\n".encode("utf-16")[:-1], "it is not utf-16 text; set another encoding"),
    ],
)
def test_a_text_in_another_encoding(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


def test_utf_16_without_a_mark_may_be_given_by_its_plain_name(tmp_path):
    content = "a,b\n1,2\n".encode("utf-16-be")
    assert texts(read(tmp_path, content, encoding="utf-16")) == [["1", "2"]]


def test_a_wrong_encoding_is_refused(tmp_path):
    with pytest.raises(InputError, match="not utf-16 text; set another encoding"):
        read(tmp_path, b"a,b\nx,1\n", encoding="utf-16")
    with pytest.raises(InputError, match="not gbk text; set another encoding"):
        read(tmp_path, b"a,b\n\xff\xffx,1\n", encoding="gbk")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "cp500"])
@pytest.mark.parametrize(
    ("variable", "limit", "content"),
    [
        ("ANONYMIZER_MAX_TABLE", 1000, "a,b\n" + "x,1\n" * 400),
        # The bytes of these letters in UTF-16 have line feeds in them, the text has none.
        ("ANONYMIZER_MAX_LINE", 3_000_000, "a,b\n" + "\u0a0a" * 6_000_000 + ",1\n"),
        ("ANONYMIZER_MAX_COLUMNS", 3, "a,b,c,d\n1,2,3,4\n"),
    ],
)
def test_limits_hold_in_every_encoding(tmp_path, monkeypatch, encoding, variable, limit, content):
    if encoding == "cp500":
        content = content.replace("\u0a0a", "\u00e4\u00e4")
    form = described(tmp_path, content.encode(encoding), encoding=encoding)
    monkeypatch.setenv(variable, str(limit))
    with pytest.raises(InputError, match=variable):
        read_table(tmp_path / "t.csv", form)


def test_a_bomb_shows_in_every_encoding(tmp_path, monkeypatch):
    content = gzip.compress(("a,b\n" + "x,1\n" * 9_000_000).encode("utf-16"), mtime=0)
    form = described(tmp_path, content, name="t.csv.gz")
    with pytest.raises(InputError, match="ANONYMIZER_MAX_RATIO"):
        read_table(tmp_path / "t.csv.gz", form)


# Header lines


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("age,sex\n30,f\n41,m\n", True),
        ("30,f\n41,m\n50,f\n", False),
        ("30,f\n41,m\n50,x\n", True),  # open: f need not be a name
        ("-3,f\n41,m\n", False),
        ("3.5,f\n41,m\n", False),
        ("country,2019,2020\nA,1,2\nB,3,4\n", True),
        ("1,2,3\n4,5,6\n", True),
        ("2019,x\na,y\n", True),
        ("?,30,f\nx,41,f\n", False),
        ("a\n", True),
        ("30,f\n", True),
        ("x,y\na,b\na,c\n", True),
    ],
)
def test_a_missing_header_line_is_found(tmp_path, content, header):
    form = described(tmp_path, content)
    assert form.header is header
    if not header:
        assert form.columns[:2] == ("column-1", "column-2")
        frame = read_table(tmp_path / "t.csv", form)
        assert len(frame) == content.count("\n")


def test_an_open_header_line_is_a_doubt(tmp_path):
    (doubt,) = described(tmp_path, "country,2019\nA,1\nB,3\n").doubts
    assert 'if it is a record, set columns = ["age", ...] in [data]' in doubt
    assert described(tmp_path, "age,sex\n30,f\n41,m\n").doubts == ()


def test_the_columns_of_a_study_show_a_header_line(tmp_path):
    assert described(tmp_path, "3.5,x\n1,x\n", ["3.5"]).header
    assert not described(tmp_path, "3.5,x\n1,x\n").header
    assert described(tmp_path, "age,sex\n30,f\n", columns=("age", "sex")).header


def test_names_may_be_given(tmp_path):
    frame = read(tmp_path, " 30, f\n41,m\n\n", ["age"], columns=("age", "sex"))
    assert texts(frame) == [["30", " f"], ["41", "m"]]
    frame = read(tmp_path, '"30","f"\n"41","m"\n', ["age"], columns=("age", "sex"))
    assert texts(frame) == [["30", "f"], ["41", "m"]]


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("30,f\n41,m\n", ("age",), "line 1 has 2 fields, columns in .data. names 1"),
        ("30,f\n41,m\n", ("a", "b", "c"), "line 1 has 2 fields, columns in .data. names 3"),
        ("30,f\n41\n", ("a", "b"), "line 2 has 1 field, columns in .data. names 2"),
        ("30,f\n", ("a", "a"), "column 'a' stands more than once"),
        ("age,sex\n30,f\n", ("a", "b"), "its first line names the columns already; leave out"),
        ("", ("a", "b"), "it is empty"),
    ],
)
def test_names_that_cannot_be(tmp_path, content, columns, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, content, columns=columns)


@pytest.mark.parametrize(
    ("content", "given", "message"),
    [
        ("30,f\n41,m\n50,f\n", {}, "no line of it names its 2 columns: set columns = "),
        ("x,f\ny,m\n", {}, "does its first line name the columns. If not, set columns = "),
        ("age;sex\n30;f\n", {"separator": ","}, "one column when fields end at ','"),
        ("age:sex\n30:f\n", {}, "set the separator that the file has in .data."),
    ],
)
def test_a_column_that_is_missing_says_what_to_set(tmp_path, content, given, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, content, ["age"], **given)


# Quotes, ends and beginnings


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("'a','b'\n'1,2','it''s'\n", [["1,2", "it's"]]),
        ("a,b\n'x, y',1\n'z',2\n", [["x, y", "1"], ["z", "2"]]),
        ("a;b\n1;'x;y'\n2;'z'\n", [["1", "x;y"], ["2", "z"]]),
        ("a,b\n'tis,1\no'clock,2\n", [["'tis", "1"], ["o'clock", "2"]]),
        ("a,b\n'x',1\n\"y\",2\n", [["'x'", "1"], ["y", "2"]]),
        ("a,b\n'x',1\ny,2\n", [["'x'", "1"], ["y", "2"]]),
    ],
)
def test_single_quotes_are_found(tmp_path, content, rows):
    assert texts(read(tmp_path, content)) == rows


def test_quotes_may_be_given(tmp_path):
    assert texts(read(tmp_path, 'a,b\n"x,1\n', quote="")) == [['"x', "1"]]
    assert texts(read(tmp_path, "a,b\n'x,y',1\nz,2\n", quote="'")) == [["x,y", "1"], ["z", "2"]]
    with pytest.raises(InputError, match=r'is a quote left open\? Set quote = "" in \[data\]'):
        read(tmp_path, 'a,b\n"x,1\n')
    with pytest.raises(InputError, match='line 2 has 3 fields, the header 2; set quote = "\'"'):
        read(tmp_path, "a,b\n'x,y',1\nz,2\n")


@pytest.mark.parametrize(
    "content",
    [
        "sep=;\na;b\n1;2\n",
        "sep=;\r\na;b\r\n1;2\r\n",
        "\ufeffsep=;\na;b\n1;2\n",
        "SEP=|\na|b\n1|2\n",
        "a;b;\n1;2;\n",
        "a;b;;;\n1;2;;;\n",
        "a;b\n1;2\n\n\n",
        "\n\na;b\n\n1;2",
        "a\tb\n1\t2\n",
    ],
)
def test_what_programs_add_to_a_table(tmp_path, content):
    frame = read(tmp_path, content, ["a", "b"])
    assert list(frame.columns) == ["a", "b"]
    assert texts(frame) == [["1", "2"]]


def test_a_line_is_counted_from_the_top_of_the_file(tmp_path):
    with pytest.raises(InputError, match="line 3 has 1 field, the header 2"):
        read(tmp_path, "sep=;\na;b\n1\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;b;\n1;2;\n3;4;5\n", "column '' of"),
        (
            "My table\na,b\n1,2\n",
            "the header 1; remove lines before the one that names the columns",
        ),
        ("a;b\n1;2;\n", "the header 2; end the header by ';' as the lines do"),
        ("a;b;\n1;2\n", "the header 3; remove the last ';' of the header"),
        ("# from HIS\na,b\n1,2\n", "remove the lines of comments, which begin by '#'"),
        ("% a, b\na,b,c\n1,2,3\n", "remove the lines of comments, which begin by '%'"),
        ("Table 1,,\n,,\na,b,c\n1,2,3\n", "2 of its 3 columns have no name; name each; if its"),
        ("a,b\n1,5,6\n2,7,8\n", "as R writes it, begin the header by 'row,', or write the table"),
    ],
)
def test_lines_that_do_not_belong(tmp_path, content, message):
    if message.startswith("column"):  # a last column that has a value is a column
        assert list(read(tmp_path, content).columns) == ["a", "b", ""]
        return
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


# Other kinds of files


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.json", b'{"a": 1}', r"it is JSON; .* pandas.read_json\('t.json'\).to_parquet\('t.p"),
        ("t.csv", b'[{"a": 1}, {"a": 2}]', "it is JSON"),
        ("t.csv", b"PK\x03\x04..[Content_Types].xml", "it is a workbook; .* in .xlsx or .ods"),
        ("t.zip", b"PK\x03\x04..t.csv", "it is a zip archive; unpack it"),
        ("t.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", "it is an Excel workbook; .* ends in .xls"),
        ("t.csv", b"<!DOCTYPE html>\n<html>", "it is a page of HTML"),
        ("t.csv", b"\n <HTML><body>", "it is a page of HTML"),
        ("t.csv", b"PAR1....", "it is Parquet; give it a name that ends in .parquet"),
        ("t.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), "ends in .gz, such as t.csv.gz"),
        ("t.csv", b"<stata_dta>", "it is a Stata file; give it a name that ends in .dta"),
        ("t.csv", b"$FL2@", "it is an SPSS file; give it a name that ends in .sav"),
        ("t.csv", b"ARROW1\0", "it is of Arrow; give it a name that ends in .arrow"),
        ("t.rds", b"x", "write the table by write.csv"),
    ],
)
def test_another_kind_of_file(tmp_path, name, content, message):
    with pytest.raises(InputError, match=f"cannot read .*{message}"):
        described(tmp_path, content, name=name)


@pytest.mark.parametrize(
    "content", ["[a,b\n1,2\n", "{a,b\n1,2\n", "BZ,b\n1,2\n", "a,<html>\n1,2\n"]
)
def test_a_table_that_begins_alike(tmp_path, content):
    assert len(read(tmp_path, content)) == 1


def test_a_directory_and_a_name_that_is_nearly_right(tmp_path):
    with pytest.raises(
        InputError, match=r"there is no table in .*: it has no Parquet or CSV files"
    ):
        describe_file(tmp_path)
    put(tmp_path, "a,b\n1,2\n", "people.csv")
    with pytest.raises(InputError, match=r"no file .*peple.csv; did you mean 'people.csv'"):
        describe_file(tmp_path / "peple.csv")
    put(tmp_path, "", ".hidden")
    with pytest.raises(InputError, match=r"no file .*none.csv$"):
        describe_file(tmp_path / "none.csv")
    with pytest.raises(InputError, match="are other signs in double quotes; use single ones"):
        describe_file(tmp_path / "a\tb" / "x.csv")


# What is given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"encoding": "ansi"}, "encoding = 'ansi' is unknown; known are utf-8, cp1252"),
        ({"encoding": "base64"}, "encoding = 'base64' is unknown"),
        ({"encoding": "idna"}, "encoding = 'idna' is unknown"),
        ({"encoding": "a\0b"}, "encoding = .* is unknown"),
        ({"decimal": "comma"}, "decimal = 'comma' must be '.' or ','"),
        ({"decimal": ",", "thousands": ","}, "thousands = ',' must be .* another mark than"),
        ({"thousands": "x"}, "thousands = 'x' must be"),
        ({"quote": "`"}, "quote = '`' must be"),
        ({"quote": "'", "separator": "'"}, 'quote = "\'" must be'),
        ({"separator": "tab"}, "separator 'tab' must be one ASCII character"),
    ],
)
def test_what_no_file_has_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        GivenFormat(**given)


@given(
    st.binary(max_size=60),
    st.sampled_from([None, "utf-16", "utf-32-be", "cp500", "gbk", "shift_jis", "hz"]),
    st.sampled_from([None, "", "'"]),
    st.sampled_from([None, ("a",), ("a", "b")]),
)
@example(b"\xff\xfe\x00\x00", None, None, None)
@example(b"1,1\x00", None, "'", ("a", "b"))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, encoding, quote, columns):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    try:
        form = describe_file(path, GivenFormat(encoding=encoding, quote=quote, columns=columns))
        frame = read_table(path, form)
    except InputError:
        return
    assert columns is None or not form.header or set(columns) <= set(frame.columns)


# Releases

KINDS = ("gut", "übel", "mäßig")
GERMAN = "Name;Größe;Ort;Befund\n" + "".join(
    f"p{i};{150 + i % 40},{i % 2 * 5};{('Köln', 'Zürich')[i % 2]};{KINDS[i % 3]}\n"
    for i in range(120)
)
STUDY = """\
[data]
path = "t.csv"
{keys}

[quasi-identifiers]
"Größe" = {{ widths = [10, 50] }}
Ort = "suppress"

[sensitive]
attributes = "Befund"

[identifiers]
attributes = "Name"

[[privacy]]
model = "k-anonymity"
k = 3
"""


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.mark.parametrize(
    ("encoding", "keys", "found"),
    [
        ("cp1252", 'encoding = "cp1252"\ndecimal = ","', "A record's class"),
        ("utf-16", "", 'Read t.csv with encoding = "utf-16", decimal = ","; set these in [data]'),
        ("cp500", 'encoding = "cp500"\nthousands = "."', 'Read t.csv with decimal = ","; set'),
    ],
)
def test_a_release_is_plain(tmp_path, capsys, encoding, keys, found):
    put(tmp_path, GERMAN.encode(encoding))
    study = put(tmp_path, STUDY.format(keys=keys), "study.toml")
    code, out, err = run(capsys, "run", study, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert found in out
    released = tmp_path / "out" / "released.csv"
    frame = pd.read_csv(released, sep=";")
    assert list(frame.columns) == ["Größe", "Ort", "Befund"]
    assert set(frame["Befund"]) == {"gut", "übel", "mäßig"}
    sizes = frame.groupby(["Größe", "Ort"]).size()
    assert sizes.min() >= 3
    for arguments in [
        ("verify", tmp_path / "out"),
        ("verify", tmp_path / "out", "-s", study),
        ("check", released, "-s", study),
        ("risk", tmp_path / "t.csv", "-s", study),
        ("quality", released, "-s", study, "--no-classifiers"),
        ("audit", tmp_path / "out", "-a", tmp_path / "t.csv", "-s", study, "--draws", 5),
    ]:
        code, _, err = run(capsys, *arguments)
        assert (code, err) == (0, ""), arguments
    code, out, _ = run(capsys, "check", tmp_path / "t.csv", "-s", study, "--json")
    assert (code, json.loads(out)["records"]) == (0, 120)


def test_numbers_without_a_role_are_released_plainly(tmp_path, capsys):
    rows = "".join(f"{20 + i % 3};1.{i % 9}00,5;{'fm'[i % 2]}\n" for i in range(60))
    put(tmp_path, "age;income;sex\n" + rows)
    text = STUDY.format(keys="").replace('"Größe"', "age").replace("Ort", "sex")
    text = re.sub(r"\[(sensitive|identifiers)\]\nattributes = .*\n", "", text)
    text += '[objective]\nname = "loss"\n'
    study = put(tmp_path, text, "study.toml")
    assert run(capsys, "run", study, "-o", tmp_path / "out")[0] == 0
    frame = pd.read_csv(tmp_path / "out" / "released.csv", sep=";")
    assert sorted(frame["income"]) == sorted(1000.5 + i % 9 * 100 for i in range(60))


def test_a_population_is_read_by_the_same_keys(tmp_path, capsys):
    put(tmp_path, GERMAN.encode("cp1252"))
    put(tmp_path, GERMAN.encode("cp1252"), "people.csv")
    text = STUDY.format(keys='encoding = "cp1252"')
    text += '\n[[privacy]]\nmodel = "k-map"\nk = 2\npopulation = "people.csv"\n'
    study = put(tmp_path, text, "study.toml")
    assert run(capsys, "run", study, "-o", tmp_path / "out")[0] == 0
    assert run(capsys, "verify", tmp_path / "out", "-s", study)[0] == 0


def test_an_audit_without_a_study_says_what_it_lacks(tmp_path, capsys):
    put(tmp_path, GERMAN.encode("cp1252"))
    study = put(tmp_path, STUDY.format(keys='encoding = "cp1252"'), "study.toml")
    assert run(capsys, "run", study, "-o", tmp_path / "out")[0] == 0
    code, _, err = run(capsys, "audit", tmp_path / "out", "-a", tmp_path / "t.csv")
    assert code == 2
    assert "set encoding" in err
    assert "--study" in err


def test_a_released_table_is_read_as_it_was_written(tmp_path):
    path = put(tmp_path, "1.5;-2\n1.5;-2\n", "released.csv")
    assert release_format(path) == Format(False, ";")
    assert list(read_table(path, release_format(path)).columns) == ["1.5", "-2"]


def test_the_same_table_in_every_dress(tmp_path):
    plain = io.StringIO()
    rows = [[str(i), f"{i / 8:.3f}", ("x", "y;z", "ü")[i % 3]] for i in range(50)]
    csv.writer(plain, lineterminator="\n").writerows([["id", "size", "kind"], *rows])
    expected = texts(read(tmp_path, plain.getvalue()))
    dressed = io.StringIO()
    writer = csv.writer(dressed, delimiter=";", quotechar="'", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([i, s.replace(".", ","), kind] for i, s, kind in rows)
    found = described(tmp_path, dressed.getvalue().encode("utf-16"))
    assert (found.quote, found.decimal, found.header) == ("'", ",", False)
    assert texts(read_table(tmp_path / "t.csv", found)) == expected


# Names that look alike


NAME = "Größe"
OTHER = unicodedata.normalize("NFD", NAME)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize(("there", "wanted"), [(NAME, OTHER), (OTHER, NAME)])
def test_a_name_is_the_same_in_either_unicode_form(tmp_path, suffix, there, wanted):
    path = tmp_path / f"t{suffix}"
    frame = pd.DataFrame({there: ["1", "2"], "b": ["3", "4"]})
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    form = describe_file(path, expected=[wanted])
    with opened(path, form, columns=[wanted]) as table:
        assert [*table.columns] == [wanted, "b"]
        assert table.tally([wanted]).sizes.tolist() == [1, 1]


def test_a_study_may_have_the_other_form_of_every_name(tmp_path):
    frame = pd.DataFrame({NAME: [1, 2] * 8, f"{NAME} b": ["x"] * 16, "c": ["y", "z"] * 8})
    table = {unicodedata.normalize("NFD", name): column for name, column in frame.items()}
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "study.toml").write_text(
        f'[data]\npath = "t.csv"\n[quasi-identifiers]\n"{NAME}" = "suppress"\n[identifiers]\n'
        f'attributes = ["{NAME} b"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n',
        encoding="utf-8",
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert list(pd.read_csv(tmp_path / "out" / "released.csv")) == [NAME, "c"]


def test_two_columns_that_differ_by_the_form_alone_are_told_apart(tmp_path):
    assert list(read(tmp_path, f"{NAME},{OTHER}\n1,2\n", [NAME, OTHER])) == [NAME, OTHER]


@pytest.mark.parametrize("wanted", ["sex at birth", "sex  at birth"])
def test_a_name_with_other_blanks_is_not_guessed(tmp_path, wanted):
    with pytest.raises(InputError, match="one of its columns differs in blanks, or in how accents"):
        read(tmp_path, "sex\u00a0at birth,b\n1,2\n", [wanted])
