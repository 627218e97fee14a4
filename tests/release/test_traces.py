"""Nothing of records that were left out lies in a release: neither in memory nor in the file."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pyarrow.types as kinds
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Anonymizer, Fixed, FullDomain, Hierarchy, KAnonymity, Pram, SafePub
from anonymizer.privacy import DifferentialPrivacy
from anonymizer.tables.files.delimited import Format, write_table
from anonymizer.tables.traces import anew, without_traces
from tests.whole import read_table

PARQUET = Format(parquet=True)
PLANTED = b"MARKER01"
KEPT = b"visible2"


class Label(pa.ExtensionType):
    """Texts of a kind of their own, kept in a dictionary."""

    def __init__(self):
        super().__init__(pa.dictionary(pa.int8(), pa.string()), "tests.label")

    def __hash__(self):
        return 1

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def of_bytes(kind, width):
    """Two values of a fixed width that are these bytes, then a missing one over such bytes."""
    values = [text[:width].ljust(width, b"\0") for text in (PLANTED, KEPT, PLANTED)]
    buffers = [pa.py_buffer(b"\x03"), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(kind, 3, buffers)


def of_texts(kind):
    return pa.array([PLANTED.decode(), KEPT.decode(), None]).cast(kind)


LEAVES = [
    *map(of_texts, (pa.string(), pa.large_string(), pa.string_view())),
    *(of_texts(pa.binary()).cast(kind) for kind in (pa.large_binary(), pa.binary_view())),
    of_texts(pa.binary()),
    of_bytes(pa.binary(8), 8),
    *(of_bytes(kind, 4) for kind in (pa.int32(), pa.uint32(), pa.float32(), pa.date32())),
    *(of_bytes(kind, 8) for kind in (pa.int64(), pa.uint64(), pa.float64(), pa.date64())),
    *(of_bytes(pa.timestamp(unit), 8) for unit in ("ms", "us", "ns")),
    *(of_bytes(pa.duration(unit), 8) for unit in ("s", "ns")),
    of_bytes(pa.time32("ms"), 4),
    *(of_bytes(pa.time64(unit), 8) for unit in ("us", "ns")),
    of_bytes(pa.decimal32(9, 2), 4),
    of_bytes(pa.decimal64(18, 2), 8),
    of_bytes(pa.decimal128(30, 2), 16),
    of_bytes(pa.decimal256(60, 2), 32),
    of_bytes(pa.month_day_nano_interval(), 16),
    of_bytes(pa.uuid().storage_type, 16).cast(pa.uuid()),
    of_texts(pa.string()).cast(pa.json_()),
]

TOO_SMALL = {"boolean", "int8", "uint8", "int16", "uint16", "float16", "null"}


def dictionaries(values):
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int16()), values.slice(0, 2))


def lists(values, make=pa.ListArray):
    """One value each, the last list being missing over one that holds something."""
    mask = pa.array([False, False, True])
    wide = pa.int64() if make is pa.LargeListArray else pa.int32()
    filled = pa.concat_arrays([values.slice(0, 2), values.slice(0, 1)])
    return make.from_arrays(pa.array([0, 1, 2, 3], wide), filled, mask=mask)


def views(values, make=pa.ListViewArray):
    wide = pa.int64() if make is pa.LargeListViewArray else pa.int32()
    places = pa.array([0, 1, 0], wide), pa.array([1, 1, 1], wide)
    return make.from_arrays(*places, values, mask=pa.array([False, False, True]))


def fixed_lists(values):
    filled = pa.concat_arrays([values.slice(0, 2), values.slice(0, 1)])
    return pa.FixedSizeListArray.from_arrays(filled, 1, mask=pa.array([False, False, True]))


def structs(values):
    filled = pa.concat_arrays([values.slice(0, 2), values.slice(0, 1)])
    field = pa.field("of", values.type, metadata={"example": PLANTED.decode()})
    return pa.StructArray.from_arrays([filled], fields=[field], mask=pa.array([False, False, True]))


def maps(values, keys=None):
    filled = pa.concat_arrays([values.slice(0, 2), values.slice(0, 1)])
    keys = filled if keys is None else keys
    return pa.MapArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), keys, filled, mask=pa.array([False, False, True])
    )


def runs(values):
    return pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), values)


def sparse(values):
    filled = pa.concat_arrays([values.slice(0, 2), values.slice(0, 1)])
    codes = pa.array([0, 0, 1], pa.int8())
    return pa.UnionArray.from_sparse(codes, [filled, pa.array([1, 2, 3])])


def dense(values):
    codes, places = pa.array([0, 0, 1], pa.int8()), pa.array([0, 1, 0], pa.int32())
    return pa.UnionArray.from_dense(codes, places, [values, pa.array([7])])


def labels():
    texts = pa.array([PLANTED.decode(), KEPT.decode()])
    storage = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), texts)
    return pa.ExtensionArray.from_storage(Label(), storage)


WRAPPERS = [
    dictionaries,
    lists,
    partial(lists, make=pa.LargeListArray),
    views,
    partial(views, make=pa.LargeListViewArray),
    fixed_lists,
    structs,
    maps,
]
UNWRITABLE = [runs, sparse, dense]  # nothing that Parquet has


def every_array():
    yield from LEAVES
    yield labels()
    texts, numbers = of_texts(pa.string()), of_bytes(pa.int64(), 8)
    for leaf in (texts, numbers, of_texts(pa.string_view()), of_bytes(pa.decimal128(30, 2), 16)):
        for wrapper in WRAPPERS:
            yield wrapper(leaf)
    for values in (texts, dictionaries(texts), lists(dictionaries(texts))):
        for wrapper in UNWRITABLE:
            yield wrapper(values)
    for outer in WRAPPERS:
        for middle in WRAPPERS[1:]:
            inner = middle(labels() if outer is dictionaries else dictionaries(texts))
            yield inner if outer is dictionaries else outer(inner)


ARRAYS = {str(array.type) + str(place): array for place, array in enumerate(every_array())}


def planted_in(content):
    """Whether bytes hold as much of the planted value as four bytes can."""
    return PLANTED[:4] in content or PLANTED[3::-1] in content  # decimals: highest byte first


def test_every_type_of_arrow_is_among_those_that_are_tried():
    tried = {array.type for array in ARRAYS.values()}
    names = [name for name in dir(kinds) if name.startswith("is_") and "_value" not in name]
    lacking = {name.removeprefix("is_") for name in names} - TOO_SMALL
    lacking -= {
        name for name in lacking if any(getattr(kinds, f"is_{name}")(kind) for kind in tried)
    }
    assert not lacking


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_made_anew_holds_its_values_alone(name):
    array = ARRAYS[name].slice(1)
    assert planted_in(pickle.dumps(ARRAYS[name]))
    made = anew(pa.chunked_array([array])).chunk(0)
    made.validate(full=not any(kind in name for kind in ("date64", "time", "decimal")))
    assert made.type == array.type
    assert made.equals(array) or made.to_pylist() == array.to_pylist()  # dates may be beyond Python
    content = b"".join(buffer.to_pybytes() for buffer in buffers_of(made))
    assert KEPT[:4] in content
    assert not planted_in(content)


def buffers_of(array):
    """All buffers of an array, those of dictionaries too."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    yield from (buffer for buffer in array.buffers() if buffer is not None)
    if kinds.is_dictionary(array.type):
        yield from buffers_of(array.dictionary)
    elif kinds.is_struct(array.type):
        yield from (b for child in array.flatten() for b in buffers_of(child))
    elif kinds.is_map(array.type):
        yield from (b for child in (array.keys, array.items) for b in buffers_of(child))
    elif kinds.is_union(array.type):
        yield from (b for place in (0, 1) for b in buffers_of(array.field(place)))
    elif kinds.is_nested(array.type):
        yield from buffers_of(array.values)


UNWRITTEN = (
    "run_end",
    "union",
    "month_day",
    "duration[s]",
    "date64",
    "dictionary<values=string_view",
)
WRITABLE = {
    name: array for name, array in ARRAYS.items() if not any(part in name for part in UNWRITTEN)
}
"""Those that Parquet has, with the bytes they have in memory."""


@pytest.fixture
def uncompressed(monkeypatch):
    plain = partial(pyarrow.parquet.write_table, compression="none")
    monkeypatch.setattr(pyarrow.parquet, "write_table", plain)


@pytest.mark.parametrize("name", WRITABLE)
def test_a_column_of_any_type_is_written_without_what_was_cut_off(name, tmp_path, uncompressed):
    whole = pd.DataFrame({"x": pd.array(ARRAYS[name], pd.ArrowDtype(ARRAYS[name].type))})
    whole.attrs["of"] = PLANTED.decode()
    released = without_traces(whole.iloc[1:])
    assert not planted_in(pickle.dumps(released))
    found = []
    for place, table in enumerate((whole, whole.iloc[1:], released)):
        path = tmp_path / f"{place}.parquet"
        write_table(table, path, PARQUET)
        found.append(planted_in(path.read_bytes()))
    assert found == [True, False, False]


@given(
    st.lists(st.none() | st.lists(st.none() | st.sampled_from("abc"), max_size=3), max_size=8),
    st.data(),
)
def test_slices_of_lists_of_dictionaries_stay_what_they_are(values, data):
    kind = pa.list_(pa.dictionary(pa.int8(), pa.string()))
    array = pa.array(values, kind)
    for other in (kind, pa.large_list(kind.value_type)):
        begin = data.draw(st.integers(0, len(values)))
        part = array.cast(other).slice(begin, data.draw(st.integers(0, len(values) - begin)))
        made = anew(pa.chunked_array([part]))
        made.validate(full=True)
        assert made.to_pylist() == part.to_pylist()
    assert anew(pa.chunked_array([], kind)).type == kind


def columns_of(values):
    """One column of each kind that pandas keeps values in, made of texts."""
    texts = pa.array(values)
    codes = pa.dictionary(pa.int8(), pa.string())
    yield "object", pd.Series(values, dtype=object)
    yield "str", pd.Series(values, dtype="str")
    yield "string", pd.Series(values, dtype="string")
    yield "category", pd.Series(values, dtype="category")
    yield "arrow", pd.Series(values, dtype=pd.ArrowDtype(pa.string()))
    yield "dictionary", pd.Series(texts.cast(codes), dtype=pd.ArrowDtype(codes))
    for name, made in (("list", [[v] for v in values]), ("struct", [{"of": v} for v in values])):
        kind = pa.list_(codes) if name == "list" else pa.struct([("of", codes)])
        yield name, pd.Series(pa.array(made, kind), dtype=pd.ArrowDtype(kind))


def planted_table():
    """Six records, of which the last one or two cannot be released under k = 2."""
    rest = [*("visible", "other") * 2, "MARKERa", "MARKERb"]
    table = pd.DataFrame({"q": [*"aaaa", "MARKERq", "MARKERr"]})
    table = table.assign(**dict(columns_of(rest)), number=pd.array([1] * 4 + [7, 8], "Int64"))
    table.index = pd.MultiIndex.from_arrays([rest, range(6)], names=["who", "n"])
    table.attrs["source"] = "MARKERs"
    table.flags.allows_duplicate_labels = False
    return table


def fitted(remove=False, **options):
    recoding = Fixed({"q": 0}, suppression=0.4, remove=remove)
    how = {"privacy": [KAnonymity(2)], "objective": "discernibility", "recoding": recoding}
    return Anonymizer({"q": Hierarchy.suppression()}, **how, **options)


def test_a_release_holds_nothing_of_the_records_that_were_left_out(tmp_path, uncompressed):
    table = planted_table()
    released = fitted(remove=True).fit_transform(table)
    assert len(released) == 4
    assert "MARKER" not in str(released)
    assert b"MARKER" not in pickle.dumps(released)
    assert list(released.dtypes.drop("category")) == list(table.dtypes.drop("category"))
    assert released.index.equals(pd.RangeIndex(4))
    write_table(released, tmp_path / "released.parquet", PARQUET)
    assert b"MARKER" not in (tmp_path / "released.parquet").read_bytes()


QUASI = dict(list(columns_of([*"aaaa", "MARKERa", "MARKERb"]))[:6])  # lists cannot be such


@pytest.mark.parametrize("column", QUASI.values(), ids=QUASI)
def test_suppressed_values_are_gone_whatever_kind_of_column_held_them(
    column, tmp_path, uncompressed
):
    table = pd.DataFrame({"q": column, "rest": range(6)})
    write_table(table, tmp_path / "table.parquet", PARQUET)
    for source in (table, read_table(tmp_path / "table.parquet", PARQUET, ["q"])):
        released = fitted().fit_transform(source)
        assert released["q"].tolist() == ["a"] * 4 + ["*"] * 2
        assert b"MARKER" not in pickle.dumps(released)
        write_table(released, tmp_path / "released.parquet", PARQUET)
        assert b"MARKER" not in (tmp_path / "released.parquet").read_bytes()


def test_undeclared_columns_of_a_file_are_written_anew(tmp_path, uncompressed):
    table = planted_table().reset_index(drop=True)
    schema = pa.Table.from_pandas(table).schema.with_metadata({b"note": b"MARKERm"})
    schema = schema.set(1, schema.field(1).with_metadata({b"note": b"MARKERf"}))
    arrow = pa.table(dict(pa.Table.from_pandas(table).to_pydict()), schema=schema)
    pyarrow.parquet.write_table(arrow, tmp_path / "table.parquet")
    assert (tmp_path / "table.parquet").read_bytes().count(b"MARKER") > 2
    released = fitted(remove=True).fit_transform(
        read_table(tmp_path / "table.parquet", PARQUET, ["q"])
    )
    write_table(released, tmp_path / "released.parquet", PARQUET)
    assert b"MARKER" not in (tmp_path / "released.parquet").read_bytes()
    again = pyarrow.parquet.read_table(tmp_path / "released.parquet")
    assert again["list"].type == pa.list_(pa.dictionary(pa.int8(), pa.string()))


def masked():
    table = pd.DataFrame({"q": [*"ab"] * 50, "s": [*"xxyy"] * 25})
    return Anonymizer(
        {"q": Hierarchy.suppression()}, "s", [KAnonymity(2)], recoding=Pram(seed=1)
    ), table


def sampled():
    model = DifferentialPrivacy(epsilon=1.0, delta=1e-3)
    table = pd.DataFrame({"q": ["a"] * 2000})
    levels = {"q": 0}
    return Anonymizer(
        {"q": Hierarchy.suppression()}, privacy=[model], recoding=SafePub(levels=levels)
    ), table


def planned():
    return fitted(), planted_table()


def merged():
    table = pd.DataFrame({"q": [*"aabb"], "s": [*"xyxy"]})
    hierarchy = {"q": Hierarchy.suppression()}
    return Anonymizer(hierarchy, "s", [KAnonymity(2)], recoding="merged-cells"), table


@pytest.mark.parametrize("made", [planned, merged, sampled, masked])
def test_notes_and_flags_of_a_table_do_not_travel(made):
    anonymizer, table = made()
    table.attrs["source"] = "MARKERs"
    table.flags.allows_duplicate_labels = False
    for released in (anonymizer.fit_transform(table), anonymizer.transform(table)):
        assert released.attrs == {}
        assert released.flags.allows_duplicate_labels
        assert type(released) is pd.DataFrame
    assert table.attrs == {"source": "MARKERs"}
    assert not table.flags.allows_duplicate_labels


def test_what_fills_a_sparse_column_and_names_that_no_column_has_are_gone():
    """Both are the value of the one person of C, who is left out."""
    table = pd.DataFrame({"zip": [*"AB"] * 10 + ["C"], "ill": [*"xyyx"] * 5 + ["x"]})
    incomes = [1.0, 2.0] * 10 + [123456.5]
    table["income"] = pd.arrays.SparseArray(incomes, fill_value=123456.5)
    names = pd.CategoricalIndex(table.columns, categories=[*table.columns, "MARKER01"])
    table.columns = names
    released = Anonymizer(
        {"zip": "suppress"},
        "ill",
        [KAnonymity(5)],
        recoding=FullDomain(suppression=0.1, remove=True),
    ).fit_transform(table)
    assert len(released) == 20
    assert b"MARKER01" not in pickle.dumps(released)
    assert released["income"].dtype == float
    assert sorted({*released["income"]}) == [1, 2]


def test_bytes_under_missing_numbers_are_cleared():
    hidden = int.from_bytes(PLANTED, "little")
    numbers = pd.arrays.IntegerArray(np.array([1, hidden]), np.array([False, True]))
    table = pd.DataFrame({"n": numbers})
    assert PLANTED in pickle.dumps(table)
    assert PLANTED not in pickle.dumps(without_traces(table))
    assert without_traces(table)["n"].tolist() == [1, pd.NA]


def test_compact_dictionaries_keep_their_order():
    ordered = pd.Categorical(["c", "a"], categories=["c", "MARKER", "b", "a"], ordered=True)
    left = without_traces(pd.DataFrame({"x": ordered}))["x"].cat
    assert left.categories.tolist() == ["c", "a"]
    assert left.ordered
    array = pc.dictionary_encode(pa.array(["c", "MARKER", "a"]))
    made = anew(pa.chunked_array([array.filter(pa.array([True, False, True]))])).chunk(0)
    assert made.dictionary.to_pylist() == ["c", "a"]
