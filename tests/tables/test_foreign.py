"""Files of other programs: every value exactly, codes as labels, an order where there is one."""

import datetime
import json
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import verify_release
from anonymizer.errors import InputError
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables.files import GivenFormat, describe_file
from anonymizer.tables.files.foreign import as_parquet, orders_in, write_foreign
from anonymizer.tables.relations.embedded.files import opened

STUDY = """[data]
path = "{path}"
missing = "category"
[quasi-identifiers]
age = {{ widths = [10, 20] }}
sex = "suppress"
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "k-anonymity"
k = 3
"""


def found(path: Path, table: str | None = None, **given: object) -> pd.DataFrame:
    form = describe_file(path, GivenFormat(**given))  # type: ignore[arg-type]
    with opened(path, form, table=table) as held:
        return held.frame(held.columns)


def texts(frame: pd.DataFrame) -> list[list[object]]:
    rows = frame.astype(object).to_numpy().tolist()
    return [[None if pd.isna(each) else str(each) for each in row] for row in rows]


@pytest.fixture
def pyreadstat():
    return pytest.importorskip("pyreadstat")


CODES = pd.DataFrame({"age": [30.0, 41.0, 99.0, None], "sex": [1.0, 2.0, 2.0, 3.0], "t": [*"ab c"]})
LABELS = {"age": {99.0: "unknown"}, "sex": {1.0: "male", 2.0: "female", 3.0: "female"}}
SHOWN = [
    ["30", "male", "a"],
    ["41", "female [2]", "b"],
    ["unknown", "female [2]", " "],
    [None, "female [3]", "c"],
]


@pytest.mark.parametrize("suffix", ["sav", "dta", "zsav"])
def test_codes_become_their_labels_and_codes_of_one_label_stay_apart(tmp_path, pyreadstat, suffix):
    path = tmp_path / f"t.{suffix}"
    if suffix == "dta":
        pyreadstat.write_dta(CODES, path, variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(CODES, path, variable_value_labels=LABELS, compress=suffix == "zsav")
    shown = texts(found(path))
    assert [[each and each.strip() for each in row] for row in shown] == [
        [each and each.strip() for each in row] for row in SHOWN
    ]
    assert orders_in(path) == {}


def test_a_label_that_is_another_value_is_told_apart_or_refused(tmp_path, pyreadstat):
    frame = pd.DataFrame({"age": [30.0, 1.0, 2.0]})
    labels = {"age": {1.0: "30", 2.0: "2"}}
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels)
    assert texts(found(tmp_path / "t.sav")) == [["30"], ["30 [1]"], ["2"]]
    labels = {"age": {30.0: "a [1]", 1.0: "a", 2.0: "a"}}
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels)
    with pytest.raises(InputError, match="'age' has a label that is another value, too; give each"):
        found(tmp_path / "t.sav")


def test_an_order_is_that_of_the_file_alone(tmp_path, pyreadstat):
    frame = pd.DataFrame({"size": [2.0, 1.0, 2.0], "town": [1.0, 2.0, 1.0]})
    labels = {"size": {2.0: "tall", 1.0: "small"}, "town": {1.0: "Bern", 2.0: "Aarau"}}
    measures = {"size": "ordinal", "town": "nominal"}
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(frame, path, variable_value_labels=labels, variable_measure=measures)
    assert orders_in(path) == {"size": ["small", "tall"]}


def test_whole_numbers_dates_and_missing_values_of_spss(tmp_path, pyreadstat):
    days = [datetime.date(1949, 8, 1), None]
    frame = pd.DataFrame({"n": [1.0, None], "x": [0.5, 2.0], "day": days})
    pyreadstat.write_sav(frame, tmp_path / "t.sav")
    shown = found(tmp_path / "t.sav")
    assert texts(shown) == [["1", "0.5", "1949-08-01"], [None, "2.0", None]]


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS = [
    ["age", "zip", "day", "note"],
    [30, "02139", datetime.datetime(2020, 1, 2), 1.5],
    [41, "02140", datetime.datetime(2020, 1, 3), "n/a"],
    [],
    [None, "x", None, None],
]


def test_a_sheet_of_excel(tmp_path):
    path = workbook(tmp_path / "t.xlsx", {"people": ROWS})
    assert texts(found(path)) == [
        ["30", "02139", "2020-01-02", "1.5"],
        ["41", "02140", "2020-01-03", "n/a"],
        [None, "x", None, None],
    ]


def test_a_sheet_is_named_where_there_are_several(tmp_path):
    path = workbook(tmp_path / "t.xlsx", {"people": ROWS, "notes": [["a"], [1]]})
    assert len(found(path, "people")) == 3
    with pytest.raises(InputError, match="has several sheets: 'people', 'notes'; set table in"):
        found(path)
    with pytest.raises(InputError, match=r"no sheet 'peple', only .*; did you mean 'people'"):
        found(path, "peple")
    wide = workbook(tmp_path / "w.xlsx", {"a": [["My table"], ["a", "b"], [1, 2]]})
    with pytest.raises(InputError, match="row 2 has more cells than the first one; remove rows"):
        found(wide)


def test_a_sheet_of_libreoffice(tmp_path):
    pytest.importorskip("python_calamine")
    odf = pytest.importorskip("odf.opendocument")
    table, text = pytest.importorskip("odf.table"), pytest.importorskip("odf.text")
    book = odf.OpenDocumentSpreadsheet()
    sheet = table.Table(name="s")
    for row in (["age", "sex"], [30, "f"], [41, "m"]):
        line = table.TableRow()
        for each in row:
            kind = {"valuetype": "float", "value": each} if isinstance(each, int) else {}
            cell = table.TableCell(**(kind or {"valuetype": "string"}))
            cell.addElement(text.P(text=str(each)))
            line.addElement(cell)
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    book.save(str(tmp_path / "t.ods"))
    assert texts(found(tmp_path / "t.ods")) == [["30", "f"], ["41", "m"]]


def test_json_lines(tmp_path):
    lines = [
        {"a": 1, "b": "2020-01-02", "c": True, "d": 1.5, "e": 2**70},
        {"a": None, "b": "x", "d": 2, "e": 1},
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines) + "\n")
    shown = found(path)
    assert texts(shown) == [
        ["1", "2020-01-02", "True", "1.5", str(2**70)],
        [None, "x", None, "2.0", "1"],
    ]
    path.write_text('{"a": [1]}\n')
    with pytest.raises(InputError, match="column 'a' has lists or objects; write a value each"):
        found(path)
    path.write_text('{"a": 1}\nNemo\n')
    with pytest.raises(InputError, match="line 2 is no object of JSON") as error:
        found(path)
    assert "Nemo" not in str(error.value)


def test_arrow(tmp_path):
    order = pd.Categorical(["low", "high"], categories=["low", "high"], ordered=True)
    frame = pd.DataFrame({"n": [1, 2**60 + 1], "size": order, "town": pd.Categorical(["b", "a"])})
    pyarrow.feather.write_feather(pa.Table.from_pandas(frame), tmp_path / "t.arrow")
    assert texts(found(tmp_path / "t.arrow")) == [["1", "low", "b"], [str(2**60 + 1), "high", "a"]]
    assert orders_in(tmp_path / "t.arrow") == {"size": ["low", "high"]}


@pytest.mark.parametrize("suffix", ["sav", "dta", "xlsx", "ods", "arrow", "jsonl", "xpt"])
def test_what_is_no_such_file_is_refused_in_our_words(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    with pytest.raises(InputError, match="there is no file"):
        describe_file(path)
    path.write_bytes(b"PK\x03\x04 Nemo")
    with pytest.raises(InputError, match=r"cannot read .*t") as error:
        found(path)
    assert "Nemo" not in str(error.value)


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    (tmp_path / "t.sav").write_bytes(b"$FL2")
    with pytest.raises(InputError, match=r"a file of SPSS needs pyreadstat.*'\.\[files\]'"):
        found(tmp_path / "t.sav")


def people(number: int = 24) -> pd.DataFrame:
    ages = [20.0 + i * 7 % 20 for i in range(number)]
    sexes, ills = [1.0 + i % 2 for i in range(number)], [1.0 + i % 3 for i in range(number)]
    return pd.DataFrame({"age": ages, "sex": sexes, "ill": ills})


def test_a_release_of_labels(tmp_path, pyreadstat):
    labels = {"sex": {1.0: "male", 2.0: "female"}, "ill": {1.0: "flu", 2.0: "cold", 3.0: "mumps"}}
    pyreadstat.write_sav(people(), tmp_path / "t.sav", variable_value_labels=labels)
    (tmp_path / "study.toml").write_text(STUDY.format(path="t.sav"))
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    released = pd.read_parquet(tmp_path / "out" / "released.parquet")
    assert {*released["ill"]} == {"flu", "cold", "mumps"}


# Columns of a fixed width, and blanks


FIXED = " 50M   c\n 53F   a\n\n  7M   b\n"
LAYOUT = {"age": [1, 3], "sex": 4, "ill": [8, 8]}


def test_a_layout_says_where_columns_are(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text(FIXED)
    assert texts(found(path, layout=LAYOUT)) == [
        ["50", "M", "c"],
        ["53", "F", "a"],
        ["7", "M", "b"],
    ]
    path.write_text(FIXED + " 8M\n")
    with pytest.raises(InputError, match="line 5 has 3 characters, and a column of layout begins"):
        found(path, layout=LAYOUT)


@pytest.mark.parametrize("layout", [{}, {"a": 0}, {"a": [3, 2]}, {"a": "x"}, "a", "a=1-2-3"])
def test_a_layout_that_cannot_be(layout):
    with pytest.raises(InputError, match=r"write layout = \{ age = \[1, 3\], sex = 4 \}"):
        GivenFormat(layout=layout)


@pytest.mark.parametrize("text", [FIXED, "50Mc\n53Fa\n51Mb\n", "age  sex\n50   M\n53   F\n"])
def test_a_fixed_width_is_never_taken_for_one_column(tmp_path, text):
    path = tmp_path / "t.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="if its columns are of a fixed width, set layout = "):
        describe_file(path)
    assert describe_file(path, GivenFormat(separator=",")).separator == ","


def test_single_blanks_separate(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text('age sex "the ill"\n50 M c\n53 F "a b"\n')
    assert describe_file(path).separator == " "
    assert texts(found(path)) == [["50", "M", "c"], ["53", "F", "a b"]]


def test_names_of_rows_are_told_in_a_table_of_blanks(tmp_path):
    (tmp_path / "t.txt").write_text('"age" "sex"\n"1" 50 "M"\n"2" 51 "F"\n')
    with pytest.raises(InputError, match="as R writes it, begin the header by 'row '"):
        found(tmp_path / "t.txt")


@pytest.mark.parametrize(
    "text",
    [
        "zip\n02139\n02140\n",
        "code\nA123\nB456\n",
        "note\nit is\nno\n",
        "job title\nchief officer\ndata steward\n",
        "when\n2020-01-01 10:00\n2020-01-02 11:00\n",
    ],
)
def test_one_column_is_one(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert list(found(path)) == [text.split("\n")[0]]


def test_a_release_of_a_fixed_width_is_csv(tmp_path):
    lines = (f"{int(a):3}{'MF'[int(s) - 1]}{'abc'[int(i) - 1]}" for a, s, i in people().to_numpy())
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    layout = 'path = "t.txt"\nlayout = { age = [1, 3], sex = 4, ill = 5 }'
    (tmp_path / "study.toml").write_text(STUDY.format(path="t").replace('path = "t"', layout))
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert list(pd.read_csv(tmp_path / "out" / "released.csv")) == ["age", "sex", "ill"]


# Released


LABELLED = {"sex": {1.0: "male", 2.0: "female"}, "ill": {1.0: "flu", 2.0: "cold", 4.0: "plague"}}
WORDS = {"age": "Age in years", "ill": "What do you have?"}


def released(directory: Path, source: str, file: str) -> Path:
    output = f'[output]\nfile = "{file}"\norder = "kept"\n'
    (directory / "study.toml").write_text(STUDY.format(path=source) + output)
    publish(Study(directory / "study.toml"), directory / "out")
    assert verify_release(directory / "out", Study(directory / "study.toml")).satisfied
    assert {each.name for each in (directory / "out").iterdir()} == {file, "release.json"}
    return directory / "out" / file


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_labels_of_untouched_columns_make_the_round_trip(tmp_path, pyreadstat, suffix):
    frame = people()
    if suffix == "sav":
        pyreadstat.write_sav(
            frame,
            tmp_path / "t.sav",
            variable_value_labels=LABELLED,
            column_labels=WORDS,
            variable_measure={"ill": "nominal"},
        )
    else:
        whole = {name: {int(c): each for c, each in of.items()} for name, of in LABELLED.items()}
        options = {"variable_value_labels": whole, "column_labels": WORDS}
        pyreadstat.write_dta(frame, tmp_path / "t.dta", **options)
    path = released(tmp_path, f"t.{suffix}", f"released.{suffix}")
    codes, meta = getattr(pyreadstat, f"read_{suffix}")(str(path))
    # Of the labels those that nobody has are left out: 3 has none, and 4 is nobody's.
    assert meta.variable_value_labels == {"ill": {1: "flu", 2: "cold"}}
    assert meta.column_names_to_labels["ill"] == "What do you have?"
    assert not meta.column_names_to_labels["age"]
    assert codes["ill"].tolist() == frame["ill"].tolist()
    assert "plague" not in path.read_bytes().decode("latin-1")
    assert {*codes["age"]} <= {"[20, 30)", "[30, 40)", "[20, 40)", "*"}


@pytest.mark.parametrize("suffix", ["sav", "dta", "xlsx"])
def test_a_release_of_csv_for_other_programs(tmp_path, suffix):
    pytest.importorskip("openpyxl" if suffix == "xlsx" else "pyreadstat")
    frame = people().astype(int).astype(str).assign(note=["=1+1", "02139", "", "é"] * 6)
    frame.to_csv(tmp_path / "t.csv", index=False)
    path = released(tmp_path, "t.csv", f"released.{suffix}")
    shown = found(path)
    assert ["" if pd.isna(v) else v for v in shown["note"]] == ["=1+1", "02139", "", "é"] * 6


def test_a_workbook_has_no_formula(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    frame = people().assign(note=["=1+1", "x"] * 12, day=[datetime.date(2020, 1, 2)] * 24)
    frame.to_parquet(tmp_path / "t.parquet")
    sheet = openpyxl.load_workbook(released(tmp_path, "t.parquet", "released.xlsx"))["released"]
    types = [{cell.data_type for cell in column[1:]} for column in sheet.iter_cols()]
    assert types == [{"s"}, {"n"}, {"n"}, {"s"}, {"d"}]


LABEL = st.text(st.characters(categories=["L", "N", "Zs", "P"]), min_size=1, max_size=12).map(
    str.strip
)


@given(
    codes=st.lists(st.integers(-9, 30), min_size=1, max_size=20),
    labels=st.dictionaries(st.integers(-9, 30), LABEL.filter(bool), min_size=1, max_size=8),
    suffix=st.sampled_from(["sav", "dta"]),
)
def test_any_labels_make_the_round_trip_or_are_refused(codes, labels, suffix):
    """Values are as many as codes, and the codes come back: nothing is merged without a word."""
    library = pytest.importorskip("pyreadstat")
    with TemporaryDirectory() as directory:
        source, held = Path(directory) / f"t.{suffix}", Path(directory) / "t.parquet"
        frame = pd.DataFrame({"a": [float(each) for each in codes]})
        given = {"a": {(float(c) if suffix == "sav" else c): of for c, of in labels.items()}}
        getattr(library, f"write_{suffix}")(frame, source, variable_value_labels=given)
        shown = {labels.get(code, str(code)) for code in codes}
        if len(shown) < len({*codes}):  # mostly told apart by their codes, else refused
            with suppress(InputError):
                as_parquet(source, None, held)
        else:
            as_parquet(source, None, held)
        if not held.exists():
            return
        assert pd.read_parquet(held)["a"].nunique() == len({*codes})
        write_foreign(held, Path(directory) / f"b.{suffix}", source, ["a"])
        again, meta = getattr(library, f"read_{suffix}")(str(Path(directory) / f"b.{suffix}"))
        assert again["a"].astype(int).tolist() == codes
        there = {c: of for c, of in labels.items() if c in codes}
        assert meta.variable_value_labels.get("a", {}) == there


def test_what_a_program_does_not_take_is_refused(tmp_path, pyreadstat):
    frame = people().assign(**{"marital-status": ["x"] * 24})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="'marital-status' has a name that Stata does not take"):
        released(tmp_path, "t.parquet", "released.dta")
    people().assign(note=["Nemo\x01"] * 24).to_parquet(tmp_path / "t.parquet")
    pytest.importorskip("openpyxl")
    with pytest.raises(InputError, match="has a value that Excel does not take") as error:
        released(tmp_path, "t.parquet", "released.xlsx")
    assert "Nemo" not in str(error.value)
    assert not (tmp_path / "out").exists()
