"""What a study file may say, section by section; how it is read, and what is wrong with it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Optional,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
    field_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from anonymizer.counts.persons import PerPerson
from anonymizer.counts.roles import (
    INSTEAD_OF_NOISE,
    INSTEAD_OF_WORST,
    WORST,
    is_noise,
)
from anonymizer.counts.schema import Missing
from anonymizer.errors import LONGEST, InputError, near_file, nearest, shown, suggestion
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.manifest.parts import Number, Order
from anonymizer.release.request import RECODINGS, Against, ReleasedWeight
from anonymizer.tables.files.format import AS_LISTS, missing_values_of
from anonymizer.tables.reading import STUDY, parsed_toml, read_whole

UNKNOWN_SECTION = ("extra_forbidden", 1)
"""A complaint about a section, by its type and the length of its place."""

SIZE = r"^0*[1-9][0-9]{0,5}(\.[0-9]+)? ?([KMGTkmgt][Ii]?)[Bb]$"
"""How a size of memory is written."""

NUMBER = ("int", "float")
"""What pydantic adds to the place of a complaint about a number."""

UNION = (*NUMBER, "tuple[str, ...]", "literal['pinned']")
"""The same of a complaint about what may be one of several."""


class Section(BaseModel):
    """A section of a study file: keys with hyphens, none unknown."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: name.replace("_", "-"),
        arbitrary_types_allowed=True,
        defer_build=True,
    )


Texts = Annotated[
    tuple[StrictStr, ...],
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
]
"""Texts; one alone needs no list."""

Memory = Annotated[StrictStr, Field(pattern=SIZE)]
"""How much memory may be used, a number and its unit."""

PINNED: Literal["pinned"] = "pinned"
"""``columns`` of a study by which a table may have no columns but those of its sections."""

Engine = Literal["duckdb", "spark", "dask"]
"""What reads, counts, recodes and writes tables of files."""

EMBEDDED: Final = "duckdb"
"""The engine of this process; the others are those of clusters."""


class Data(Section):
    """``[data]``: where the table lies, how it is read and by what.

    ``person``: the columns that tell whose each record is; ``per_person``: what somebody with
    several sensitive values counts; ``weight``: that of the sampling weights of a survey;
    ``items``: what stands between the items that the cells of a sensitive attribute list.
    ``household``: those that tell households apart; ``shift``: the dates of persons that are moved.
    ``columns``: those of a CSV file without a
    header line, or ``PINNED``. ``layout``: the places of the columns of a file of fixed width.
    ``table``: that of a database, or the sheet of a workbook.
    ``master``: the address of the cluster of another engine than the embedded one.
    """

    path: StrictStr
    separator: StrictStr | None = None
    missing: Missing = "error"
    missing_values: Any = ()
    person: Texts = ()
    per_person: PerPerson = "share"
    weight: StrictStr | None = None
    items: dict[StrictStr, StrictStr] = {}
    household: Texts = ()
    shift: dict[StrictStr, Any] | None = None
    encoding: StrictStr | None = None
    decimal: StrictStr | None = None
    thousands: StrictStr | None = None
    quote: StrictStr | None = None
    columns: Annotated[tuple[StrictStr, ...], Field(min_length=1)] | Literal["pinned"] | None = None
    layout: (
        dict[StrictStr, int | Annotated[list[int], Field(min_length=2, max_length=2)]] | None
    ) = None
    table: StrictStr | None = None
    memory: Memory | None = None
    engine: Engine = EMBEDDED
    master: StrictStr | None = None

    @field_validator("missing_values", mode="before")
    @classmethod
    def _declared(cls, given: object) -> object:
        """Take over texts, or lists of them by column."""
        try:
            return missing_values_of(given)
        except InputError:
            raise PydanticCustomError("no_texts", AS_LISTS) from None

    @field_validator("per_person", mode="before")
    @classmethod
    def _offered(cls, given: object) -> object:
        """Refuse by its name a way of counting that there is no search for."""
        if given == WORST:
            raise PydanticCustomError("not_offered", INSTEAD_OF_WORST)
        return given


class Columns(Section):
    """``[sensitive]``, ``[identifiers]`` and ``[insensitive]``: names of columns."""

    attributes: Texts = ()


class SearchOptions(Section):
    """``[search]``: how the recoding is searched for."""

    strategy: Literal[
        "automatic", "bisection", "top-down", "branch-and-bound", "incognito", "exhaustive"
    ] = "automatic"
    time_limit: Number | None = None
    seed: Annotated[StrictInt, Field(ge=0)] = 0
    against: Against | None = None
    odds: Number | None = None


class ObjectiveOptions(Section):
    """``[objective]``: what is kept most of."""

    name: StrictStr | None = None
    weights: dict[StrictStr, Number] = {}
    target: StrictStr | None = None
    targets: dict[StrictStr, Number] = {}
    aggregate: StrictStr | None = None


NUMBERED, PSEUDONYM = "number", "pseudonym"
"""What a release may have for each person: a random number, or a hash by the key in a file."""

MOST_PARTS = 10_000
"""Files that a released table may be spread over."""


ReleasedName = Literal[
    "released.csv", "released.parquet", "released.dta", "released.sav", "released.xlsx"
]
"""The name of the released table, by whose ending it is written."""


class OutputOptions(Section):
    """``[output]``: how the release is written.

    ``file``: the released table, in the format of its ending; that of the table by default.
    ``parts``: how many files of a folder it is spread over, one file by default. ``order``: that of
    the records, at random or as in the table. ``weight``: whether sampling weights are left out, or
    are the mean of each class. ``person``: what the release has in place of
    the columns that tell whose each record is, by default nothing: a random number of each person,
    or a pseudonym made with a key. ``verifiers``: files that examine it without this package.
    """

    file: ReleasedName | None = None
    parts: Annotated[StrictInt, Field(ge=1, le=MOST_PARTS)] | None = None
    csv_safe: StrictBool = False
    order: Order = "random"
    weight: ReleasedWeight = "leave-out"
    person: Literal["number"] | dict[StrictStr, StrictStr] | None = None
    verifiers: list[Literal["python", "sql", "html"]] = Field(default_factory=list)

    @field_validator("weight", mode="before")
    @classmethod
    def _weighed(cls, given: object) -> object:
        """Refuse by its name noise, which would hide nothing, or estimates as well."""
        if is_noise(given):
            raise PydanticCustomError("not_offered", INSTEAD_OF_NOISE)
        return given

    @field_validator("person", mode="before")
    @classmethod
    def _joining(cls, given: object) -> object:
        """Refuse what is no way to join the rows of a person, and name those that are."""
        of_key = given.get(PSEUDONYM) if isinstance(given, Mapping) and len(given) == 1 else None
        if given != NUMBERED and not isinstance(of_key, str):
            ways = f'"{NUMBERED}", or {{ {PSEUDONYM} = "key.file" }} with the file of a key'
            raise PydanticCustomError("no_way", f"must be {ways}")
        return given


def _as_read(annotation: Any) -> Any:
    """The type of an option as a TOML file has it; Any where the recoding itself says better."""
    kind, arguments = get_origin(annotation), get_args(annotation)
    if kind in (Union, UnionType):
        left = [each for each in arguments if get_origin(each) is not Callable]
        some = [each for each in left if each is not type(None)]
        if len(some) > 1 or get_origin(some[0]) is Mapping:
            return Any
        return _as_read(some[0]) if len(left) == 1 else Optional[_as_read(some[0])]  # noqa: UP045
    if kind is Sequence:
        return tuple[_as_read(arguments[0]), ...]  # type: ignore[misc]
    if kind is Mapping:
        return dict[StrictStr, _as_read(arguments[1])]  # type: ignore[misc]
    plain = {str: StrictStr, int: StrictInt, float: Number, bool: StrictBool}
    return annotation if kind is Literal else plain.get(annotation, Any)


def _options_of(kind: type[Recoding]) -> type[Section]:
    """``[recoding]`` of a method: its options but the strategy, which stands in ``[search]``."""
    hints = get_type_hints(kind)
    method: Any = (Literal[kind.name], ...)
    options: dict[str, Any] = {
        each.name: (_as_read(hints[each.name]), ... if each.default is MISSING else each.default)
        for each in fields(kind)  # type: ignore[arg-type]
        if each.name != STRATEGY
    }
    return create_model(kind.__name__, __base__=Section, method=method, **options)


STRATEGY = "search"
"""The option of recodings that stands in ``[search]``."""

SECTIONS = {name: _options_of(kind) for name, kind in RECODINGS.items()}
"""What ``[recoding]`` may say, by method."""

RENAMED = {"classes": "merged-cells"}
"""Methods that went by another name."""


class Document(Section):
    """A whole study file."""

    data: Data
    quasi_identifiers: dict[StrictStr, Any]
    sensitive: Columns = Columns()
    identifiers: Columns = Columns()
    insensitive: Columns = Columns()
    privacy: tuple[dict[str, Any], ...]
    recoding: Annotated[
        Union[tuple(SECTIONS.values())],  # type: ignore[valid-type]  # noqa: UP007
        Field(discriminator="method"),
    ] = SECTIONS["full-domain"].model_validate({"method": "full-domain"})
    search: SearchOptions = SearchOptions()
    objective: ObjectiveOptions = ObjectiveOptions()
    output: OutputOptions = OutputOptions()

    @field_validator("recoding", mode="before")
    @classmethod
    def _named(cls, given: object) -> object:
        """``recoding = "boxes"`` is a section of the method alone, the first one where none is."""
        if isinstance(given, str):
            return {"method": given}
        return {"method": next(iter(SECTIONS)), **given} if isinstance(given, dict) else given


class StudyDocument(NamedTuple):
    """The document of a study, and the path that paths in it are relative to the directory of."""

    path: Path
    document: Document


def read_document(path: Path) -> Document:
    """A study file, read and checked.

    Raises InputError when it cannot be read or says something it cannot; the message names file,
    section and key.
    """
    return parse_document(study_text(path), path)


def study_text(path: Path) -> str:
    """The text of a study file; InputError when it cannot be read, or is a table."""
    require_study(path)
    absent = f"there is no study file {path}{near_file(path)}"
    return read_whole(path, STUDY, "study file ", absent)


def parse_document(text: str, path: Path) -> Document:
    """The text of a study file, checked; messages name the file as ``path``."""
    return validated(parsed_study(text, path), path)


def parsed_study(text: str, path: Path) -> dict[str, Any]:
    """The sections of a text of TOML, not looked at; InputError says what is wrong with a line."""
    try:
        return parsed_toml(text)
    except ValueError as error:
        raise not_toml(path, text, str(error)) from None


def validated(content: Mapping[str, Any], path: Path) -> Document:
    """The sections of a study file, checked; messages name the file as ``path``."""
    try:
        return Document.model_validate(content)
    except ValidationError as error:
        raise _explained(error).at(f"{path}: ") from None


def _explained(error: ValidationError) -> InputError:
    """The first complaint, in the study file's words; without a key it is about a section."""
    # A section that is missing may be there by another name.
    complaints = error.errors(include_url=False, include_input=False)
    first = min(complaints, key=lambda each: (each["type"], len(each["loc"])) != UNKNOWN_SECTION)
    *section, key = [str(part)[:LONGEST] for part in first["loc"] if part not in UNION]
    place = f"[{section[0]}] " if section else ""
    match first["type"]:
        case "extra_forbidden":
            said = f"{place}unknown key {shown(key)}{_known(section, key)}"
        case "missing":
            if not section:
                absent = f"section {FORMS[key][0]} is missing"
                return InputError(absent, f"write {form_of(key)}", section=key)
            said = f"{place}{key} is missing"
        case "union_tag_invalid":
            name = str(first["ctx"]["tag"])
            now = (
                f"; it is {RENAMED[name]!r} now" if name in RENAMED else suggestion(name, SECTIONS)
            )
            unknown = f"[recoding] method = {shown(name)} is unknown{now}"
            return InputError(unknown, section="recoding")
        case _ if not section and key in FORMS:
            once = key != "privacy"
            how = "as one section" if once else "in double brackets, once for each model"
            return InputError(f"{key} is written {how}: {form_of(key)}", section=key)
        case _:
            inner = section[2:] if section[:1] == ["recoding"] else section[1:]
            said = f"{place}{'.'.join([*inner, key])} {_expected(first)}"
    return InputError(said, section=section[0] if section else None, key=key)


def _known(section: list[str], key: str) -> str:
    """What is said of a key that its section does not know: where it belongs, or what is known."""
    if [*section, key] == ["masking"]:
        return (
            "; values are drawn by a recoding: [recoding] with method = 'pram', 'noise' or "
            "'bottleneck'"
        )
    if [*section, key] == ["name"]:
        return "; it is for schemes, which --schemes of compare names after the study"
    if [*section, key] == ["search", "recoding"]:
        return "; it is method in section [recoding]"
    if section[:1] == ["recoding"]:
        return _of_recoding(section[1], key)
    if section[:1] == ["search"] and (methods := _methods_with(key)):
        return f"; it belongs in section [recoding], with method = {_listed(methods)}"
    if not section:
        known = _names(Document)
    else:
        kind = Document.model_fields[section[0].replace("-", "_")].annotation
        known = _names(kind) if isinstance(kind, type) and issubclass(kind, Section) else []
    return suggestion(key, known)


def _of_recoding(method: str, key: str) -> str:
    """What is said of a key that a method does not know: it, or one near it, may be another's."""
    known = _names(SECTIONS[method])
    every = dict.fromkeys(name for kind in SECTIONS.values() for name in _names(kind))
    meant = nearest(key, [*every])
    if not meant or meant in known:
        return suggestion(key, known)
    said = "; it" if meant == key else f"; did you mean {meant!r}? It"
    return f"{said} is for method = {_listed(_methods_with(meant))}, not for {method!r}"


def _methods_with(key: str) -> list[str]:
    return [name for name, kind in SECTIONS.items() if key in _names(kind)]


def _listed(names: list[str]) -> str:
    return " or ".join(map(repr, names))


def _expected(complaint: ErrorDetails) -> str:
    """What a value should have been, in words for people who do not know the library's types."""
    if complaint["loc"][-1] in NUMBER:
        return "must be a number, without quotes"
    if complaint["loc"][:2] == ("data", "columns") and complaint["type"] == "tuple_type":
        return f'must be "{PINNED}", or a list in brackets'
    if complaint["type"] == "literal_error":
        return f"must be {complaint['ctx']['expected']}"
    if complaint["type"] == "greater_than_equal":
        return f"must be at least {complaint['ctx']['ge']}"
    if complaint["type"] == "less_than_equal":
        return f"must be at most {complaint['ctx']['le']:,}"
    kinds = {
        "string_type": "must be a text in quotes",
        "bool_type": "must be true or false",
        "int_type": "must be a whole number, without quotes",
        "float_type": "must be a number, without quotes",
        "tuple_type": "must be a list in brackets",
        "dict_type": "must be a section",
        "too_short": "must not be empty",
        "string_pattern_mismatch": 'must be a size of memory, such as "4 GB" or "500 MB"',
        "model_type": "must be a section",
    }
    message = complaint["msg"]
    return kinds.get(complaint["type"], message[0].lower() + message[1:])


def _names(kind: type[Section]) -> list[str]:
    return [name.replace("_", "-") for name in kind.model_fields]


FORMS = {
    "data": ("[data]", 'path = "table.csv"'),
    "quasi-identifiers": ("[quasi-identifiers]", 'age = { widths = [5, 10] } or sex = "suppress"'),
    "sensitive": ("[sensitive]", 'attributes = ["diagnosis"]'),
    "identifiers": ("[identifiers]", 'attributes = ["name"]'),
    "insensitive": ("[insensitive]", 'attributes = ["note"]'),
    "privacy": ("[[privacy]]", 'model = "k-anonymity" and k = 5'),
    "recoding": ("[recoding]", 'method = "boxes"'),
    "search": ("[search]", 'strategy = "automatic"'),
    "objective": ("[objective]", 'name = "loss"'),
    "output": ("[output]", "csv-safe = true"),
}
"""Each section as it is written, and what may stand below it."""

TABLES = (".csv", ".tsv", ".tab", ".data", ".dat", ".parquet", ".pq", ".xlsx", ".xls", ".sav")
TABLES_PACKED = (".gz", ".bz2", ".zst", ".lz4")

LINE = re.compile(r"\(at line (\d+), column \d+\)")
TYPOGRAPHIC = re.compile("[\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019]")
BARE_KEY = r"[A-Za-z0-9_-]+"
UNQUOTED = re.compile(rf"\s*({BARE_KEY})\s*=\s*([^\W\d][^\"'#=\[\]{{}}]*?)\s*(?:#.*)?")
COLON = re.compile(rf"\s*({BARE_KEY})\s*:\s*(\S.*)")
SPACED = re.compile(r"\s*([^\W\d][^\"'=#\[\]]*[^\w\"'=#\[\]-][^\"'=#\[\]]*?)\s*=.*")


def form_of(section: str) -> str:
    """How a section is written, in words."""
    name, below = FORMS[section]
    return f"{name} with {below} below it"


def require_study(path: Path) -> None:
    """Require that a path does not lead to a directory or a table, by its name."""
    if path.is_dir():
        raise InputError(
            f"{path} is a directory; name the study file in it, such as {path / 'study.toml'}"
        )
    suffixes = [each.lower() for each in path.suffixes]
    packed = suffixes[-1:] and suffixes[-1] in TABLES_PACKED
    if (suffixes[-2:-1] if packed else suffixes[-1:]) and suffixes[-2 if packed else -1] in TABLES:
        raise _is_table(path)


def not_toml(path: Path, text: str, reason: str) -> InputError:
    """The complaint about a text that is no TOML: what is wrong with which line."""
    if re.match(r"\s*\{", text):
        return InputError(
            f"{path} is JSON, and a study is TOML; write it as {form_of('data')}, or let "
            "anonymizer init write one from the table"
        )
    if _like_table(text):
        return _is_table(path)
    found = LINE.search(reason)
    number = int(found[1]) if found else 0
    lines = text.splitlines()
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    said = _of_line(line, reason)
    if said:
        return InputError(f"{path}: line {number}: {said}")
    return InputError(f"{path} is not a TOML file: {reason}")


def _is_table(path: Path) -> InputError:
    return InputError(
        f"{path} is a table, not a study; anonymizer init {path} writes a study for it"
    )


def _like_table(text: str) -> bool:
    """Whether the first lines have separators, as many each, and nothing that a study has."""
    lines = [line for line in text.splitlines()[:5] if line.strip()]
    if len(lines) < 2 or any("=" in line or line.lstrip()[:1] in "[#" for line in lines):
        return False
    return any(len({line.count(mark) for line in lines} | {0}) == 2 for mark in ",;\t|")


def _of_line(line: str, reason: str) -> str:
    """What is wrong with a line, and its right form; empty where it is none of the usual."""
    twice = re.search(r"Cannot declare \('(.*)',\) twice", reason)
    if twice:
        return f"section [{twice[1][:LONGEST]}] stands twice; write all of its keys below one"
    if "Cannot overwrite a value" in reason:
        return "this key stands twice; leave one of the two"
    if len(line) > LONGEST:
        return ""
    if TYPOGRAPHIC.search(line):
        return """the quotes are typographic; write plain ones, " or '"""
    if "\\" in line and '"' in line:
        return "a backslash has another meaning in double quotes; use single quotes, or /"
    return _unquoted(line)


def _unquoted(line: str) -> str:
    """What is wrong with a line whose quotes or whose equals sign are missing."""
    if match := COLON.fullmatch(line):
        value = match[2]
        quoted = f'"{value}"' if re.fullmatch(r"[^\W\d][^\"'\[\]{}]*", value) else value
        return f"= stands between a key and its value: {match[1]} = {quoted}"
    if match := UNQUOTED.fullmatch(line):
        if match[2].lower() in ("true", "false"):
            return f"write {match[1]} = {match[2].lower()}, in small letters"
        return f'texts stand in quotes: {match[1]} = "{match[2]}"'
    if match := SPACED.fullmatch(line):
        return f'a name with blanks or other signs stands in quotes: "{match[1].strip()}" = ...'
    return ""
