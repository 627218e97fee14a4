"""The recoding of a release as SQL: CASE for groups, and a join with its classes."""

# ruff: noqa: S608  # SQL is what this makes; names and texts are quoted by hierarchy/label.py

from collections.abc import Sequence
from itertools import combinations

from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY
from anonymizer.hierarchy.label import EVERYTHING, ColumnSql, listed, literal, name
from anonymizer.release.dialects import STANDARD, Dialect
from anonymizer.release.export import ExportedRelease, Labels, same_label
from anonymizer.release.files import MANIFEST
from anonymizer.tables.files.format import missing_texts
from anonymizer.tables.values import APOSTROPHES, BLANKS, number_of, number_text

NEXT = ",\n    "

HEADER = """\
-- The recoding of a release, for the table that was released.
-- Columns may be texts or numbers: values of columns with a role are cast to texts, and spaces
-- around them are left out. {numbers}
-- A record in none of the classes of the release is {fate}.{dates}
-- Not verified here: anything but the class sizes and distinct values of the last query.
-- Other tables, such as that of next month, need "anonymizer apply": this join would suppress
-- their new classes without a recount of the policy.
"""

UNTRIED = """\
-- Translated from SQL that runs in DuckDB and PostgreSQL, and never run in {called}: compare what
-- it makes with the release before you use it.
"""

RECOUNT = """\
-- Classes that break k or distinct l or have other records than in the release, and a
-- line with nothing but the number of records where that is another one.
-- The table is right if there is no line.
"""


def sql_of(source: ExportedRelease, table: str, into: str, dialect: Dialect = STANDARD) -> str:
    """Statements that make the released table in a database, and recount it.

    The table that is made has the released columns, in no order of its records.

    Parameters
    ----------
    source
        The release.
    table, into
        The names of the raw table, and of the released one that is made.
    dialect
        How the database writes it.

    Raises InputError when only the order of the records decides their classes, or when values were
    spelled in several ways, of which the release has one.
    """
    kept = source.manifest.suppressed_class == "kept"
    selected = _selected(source, table, dialect)
    header = HEADER.format(
        fate=f"released as {ANY}" if kept else "left out",
        numbers=dialect.numbers,
        dates=" Dates without a day are in none." if '"anonymizer date ' in selected else "",
    )
    if not dialect.tried:
        header += UNTRIED.format(called=dialect.called)
    made = dialect.spoken(f"CREATE TABLE {name(into)} AS\n{selected}")
    about = (verdict.attribute for verdict in source.manifest.privacy)
    together = TOGETHER if any(isinstance(each, tuple) for each in about) else ""
    recount = f"{RECOUNT}{together}{dialect.spoken(_recount(source, into))}"
    return f"{header}\n{made};\n\n{recount};\n"


def select_of(source: ExportedRelease, table: str, dialect: Dialect = STANDARD) -> str:
    """The query alone, for a view or a model of dbt; parameters and errors as of :func:`sql_of`.

    InputError, too, where a text would end the part of a template that is taken as it stands.
    """
    selected = _selected(source, table, dialect)
    if "endraw" in selected:
        raise InputError(
            "a label, a value or a name has 'endraw', which ends {% raw %} in a model of dbt; "
            "rename it, or leave out --select"
        )
    return dialect.spoken(selected)


def _selected(source: ExportedRelease, table: str, dialect: Dialect) -> str:
    """The query, not translated."""
    _require_one_spelling(source)
    _require_other_letters(source)
    dialect.require_names(source.columns)
    kept, groups = source.manifest.suppressed_class == "kept", _groups(source, dialect)
    steps = {
        "anonymizer texts": _texts(source, table, dialect),
        "anonymizer keys": _keys(source, dialect),
        "anonymizer places": _places(source, groups, dialect),
        "anonymizer groups": groups,
    }
    written = [f"{name(step)} {dialect.made_once} (\n{text}\n)" for step, text in steps.items()]
    return "WITH " + ",\n".join([*written, _classes(source)]) + "\n" + _joined(source, kept)


def _require_one_spelling(source: ExportedRelease) -> None:
    """Refuse sensitive values that were spelled in several ways: no manifest lists these."""
    for listing in source.manifest.items:
        raise InputError(
            f"cells of column {listing!r} list items, which the release has in order and each "
            "once, and SQL would write lists as the raw table does; recode with anonymizer apply"
        )
    for column in source.manifest.spelled_alike:
        raise InputError(
            f"column {column!r} of the raw table spells values in several ways, such as 1 and 1.0, "
            "of which the release has one, and SQL cannot tell which; give each value one spelling "
            "and release again, or recode with anonymizer apply"
        )


def _require_other_letters(source: ExportedRelease) -> None:
    """Refuse names that differ by case alone: DuckDB and SQLite take them for one."""
    first: dict[str, str] = {}
    for column in source.columns:
        other = first.setdefault(column.casefold(), column)
        if other != column:
            raise InputError(
                f"columns {other!r} and {column!r} differ by case alone, and many databases take "
                "them for one; rename one of them in the table, and release it again"
            )


def _texts(source: ExportedRelease, table: str, dialect: Dialect) -> str:
    """The records that count, and their quasi-identifiers as texts, NULL where missing.

    Every column gets a name of ours, so that none of the table's own can be mistaken for one.
    """
    roles = source.manifest.file[1]
    texts = [
        f"{_value(source, column)} AS {name(f'anonymizer text {number}')}"
        for number, column in enumerate(source.names)
    ]
    read = {*roles.sensitive, *roles.targets} - {*source.typed}
    texts += [
        f"{_value(source, column) if column in read else f't.{name(column)}'} "
        f"AS {name(f'anonymizer column {number}')}"
        for number, column in enumerate(source.columns)
        if column not in source.released
    ]
    columns = dict.fromkeys((*source.names, *roles.sensitive, *roles.targets))
    wanted = [each for column in columns for each in dialect.exact(column)]
    if roles.missing == "drop":
        wanted += [f"{_value(source, column)} IS NOT NULL" for column in columns]
    where = f"\n  WHERE {' AND '.join(wanted)}" if wanted else ""
    return f"  SELECT\n    {NEXT.join(texts)}\n  FROM {name(table)} AS t{where}"


def _value(source: ExportedRelease, column: str) -> str:
    text = f"TRIM(CAST(t.{name(column)} AS VARCHAR))"
    missing = listed(["", *missing_texts(source.manifest.file[1].missing_values, column)])
    return f"CASE WHEN {text} NOT IN {missing} THEN {text} END"


def _keys(source: ExportedRelease, dialect: Dialect) -> str:
    """One text for equal numbers."""
    keys = [
        f"{dialect.key(name(f'anonymizer text {number}'))} AS {name(f'anonymizer key {number}')}"
        for number in range(len(source.names))
    ]
    return f"  SELECT *,\n    {NEXT.join(keys)}\n  FROM {name('anonymizer texts')}"


def _places(source: ExportedRelease, conditions: str, dialect: Dialect) -> str:
    """Where texts lie as numbers and as dates that conditions read, NULL where they are none."""
    places = []
    for number in range(len(source.names)):
        key = name(f"anonymizer key {number}")
        place_of_number = dialect.number(_bare(source, source.names[number], key))
        if _has_ends(source, source.names[number]):
            place_of_number = f"COALESCE({place_of_number}, {dialect.end(key)})"
        for kind, found in (("number", place_of_number), ("date", dialect.date(key))):
            if (place := name(f"anonymizer {kind} {number}")) in conditions:
                places.append(f",\n    {found} AS {place}")
    return f"  SELECT *{''.join(places)}\n  FROM {name('anonymizer keys')}"


def _bare(source: ExportedRelease, column: str, key: str) -> str:
    """The number next to a unit, where a column has one: all values of the raw table are such."""
    group = next((each for each in source.manifest.recoding[column] if each.unit), None)
    if group is None:
        return key
    bare = f"REPLACE(LOWER({key}), {literal(str(group.unit).lower())}, '')"
    for mark in (*BLANKS, *APOSTROPHES, "." if group.decimal else ","):
        bare = f"REPLACE({bare}, {literal(mark)}, '')"
    return f"REPLACE({bare}, ',', '.')" if group.decimal else bare


def _has_ends(source: ExportedRelease, column: str) -> bool:
    """Whether all numbers beyond one are a group, which texts such as 90+ may belong to."""
    return not {"bottom", "top"}.isdisjoint(source.manifest.hierarchies.get(column, ()))


def _keys_of(number: int, dialect: Dialect) -> ColumnSql:
    kinds = ("key", "number", "date")
    return dialect.column(*(name(f"anonymizer {kind} {number}") for kind in kinds))


def _groups(source: ExportedRelease, dialect: Dialect) -> str:
    """The group of each value, or the class of each record where classes have groups of theirs."""
    if source.manifest.regions:
        cases = [_case(_regions(source, dialect), 0)]
    else:
        cases = [
            _case([label.condition(keys) for _, label in source.manifest.labels(column)], i)
            for i, column in enumerate(source.names)
            for keys in (_keys_of(i, dialect),)
        ]
    return f"  SELECT *,\n    {NEXT.join(cases)}\n  FROM {name('anonymizer places')}"


def _case(conditions: Sequence[str], number: int) -> str:
    order = sorted(enumerate(conditions), key=lambda each: each[1] == EVERYTHING)
    whens = "\n      ".join(f"WHEN {each} THEN {i}" for i, each in order)
    return f"CASE {whens}\n      ELSE -1 END AS {name(f'anonymizer group {number}')}"


def _regions(source: ExportedRelease, dialect: Dialect) -> list[str]:
    """The condition of each class.

    Boxes hold no combination of the table twice, whatever their labels say of values that it has
    not, and the first that covers one of these is what ``apply`` takes, too.

    Raises InputError when two merged cells may cover the same values, so that the order of records
    decides.
    """
    labels = {column: dict(source.manifest.labels(column)) for column in source.names}
    regions = source.manifest.regions
    numbered = len(source.released) > len(source.names)
    for one, other in combinations(regions, 2) if numbered else ():
        if all(
            one[c] == other[c] or labels[c][one[c]].meets(labels[c][other[c]]) for c in source.names
        ):
            raise InputError(
                "several classes of the release cover the same values, and only the order of the "
                "records decides between them, which SQL does not know; recode with anonymizer "
                'apply, or release with method = "boxes"'
            )
    return [
        " AND ".join(
            f"({labels[column][region[column]].condition(_keys_of(i, dialect))})"
            for i, column in enumerate(source.names)
        )
        for region in regions
    ]


def _classes(source: ExportedRelease) -> str:
    """The classes of the release: their groups by number, and their labels."""
    labels = [f"anonymizer label {i}" for i in range(len(source.released))]
    names = [*(f"anonymizer of {i}" for i in range(_width(source))), *labels]
    rows = [
        f"  ({', '.join([*map(str, _numbers(source, row)), *map(literal, row)])})"
        for row in source.classes
    ]
    shown = ", ".join(map(name, names))
    return f"{name('anonymizer classes')} ({shown}) AS (VALUES\n{NEXT.join(rows)}\n)"


def _width(source: ExportedRelease) -> int:
    return 1 if source.manifest.regions else len(source.names)


def _numbers(source: ExportedRelease, row: Sequence[str | None]) -> list[int]:
    """The numbers of the groups, or of the class, that have the labels of a class."""
    if source.manifest.regions:
        if len(source.released) > len(source.names):
            return [int(row[-1] or 0) - 1]
        wanted = dict(zip(source.names, row, strict=True))
        return [source.manifest.regions.index(wanted)]
    recoding = source.manifest.recoding
    return [
        next(i for i, group in enumerate(recoding[c]) if same_label(group.label, label))
        for c, label in zip(source.names, row, strict=True)
    ]


def _joined(source: ExportedRelease, kept: bool) -> str:
    columns = [_column(source, column, kept) for column in source.columns]
    on = " AND ".join(
        f"r.{name(f'anonymizer group {i}')} = c.{name(f'anonymizer of {i}')}"
        for i in range(_width(source))
    )
    join = "LEFT JOIN" if kept else "JOIN"
    return (
        f"SELECT\n  {NEXT.join(columns)}\nFROM {name('anonymizer groups')} AS r\n"
        f"{join} {name('anonymizer classes')} AS c ON {on}"
    )


def _column(source: ExportedRelease, column: str, kept: bool) -> str:
    if column not in source.released:
        own = name(f"anonymizer column {source.columns.index(column)}")
        return f"r.{own} AS {name(column)}"
    label = f"c.{name(f'anonymizer label {source.released.index(column)}')}"
    if kept:
        known = f"c.{name('anonymizer of 0')} IS NULL"
        label = f"CASE WHEN {known} THEN '{ANY}' ELSE {label} END"
    return f"{label} AS {name(column)}"


TOGETHER = "-- What models promise of several attributes together is not counted.\n"


def _recount(source: ExportedRelease, into: str) -> str:
    """A query of what breaks k or distinct l, or is not the release: it has to give no row."""
    by, nothing = ", ".join(map(name, source.released)), ", ".join("NULL" for _ in source.released)
    sizes = "\n  ".join(
        f"WHEN {_is_class(source, row)} THEN {size}" for row, size in source.sizes.items()
    )
    wrong = [f"COUNT(*) <> CASE {sizes}\n  ELSE 0 END"]
    wrong += [f"COUNT(*) < {bound}" for _, bound in _bounds(source, "k-anonymity", "k")]
    wrong += [
        f"COUNT(DISTINCT {name(attribute)}) < {bound}"
        for attribute, bound in _bounds(source, "distinct-l-diversity", "l")
    ]
    return (
        f"SELECT {by}, COUNT(*) AS records\nFROM {name(into)}\nGROUP BY {by}\n"
        f"HAVING {' OR '.join(wrong)}\n"
        f"UNION ALL\nSELECT {nothing}, COUNT(*)\nFROM {name(into)}\n"
        f"HAVING COUNT(*) <> {sum(source.sizes.values())}"
    )


def _is_class(source: ExportedRelease, row: Labels) -> str:
    return " AND ".join(
        f"{name(column)} {'IS NULL' if label is None else '= ' + literal(label)}"
        for column, label in zip(source.released, row, strict=True)
    )


def _bounds(source: ExportedRelease, model: str, parameter: str) -> list[tuple[str, str]]:
    """The attribute and the bound of each such model of the policy, the bound as SQL writes it.

    Raises InputError where that is no number.
    """
    found = []
    for verdict in source.manifest.privacy:
        if verdict.model == model:
            bound = number_of(verdict.parameters.get(parameter))
            if bound is None:
                raise InputError(f"{MANIFEST} is damaged: {model} has no {parameter}")
            if not isinstance(verdict.attribute, tuple):  # SQL counts no distinct combinations
                found.append((str(verdict.attribute), number_text(bound)))
    return found
