"""Files that are nearly right: what every parser of the library is fed with.

Each parser has a small study that works. One file of it is changed: bytes of it, or what stands in
it, written anew. Then a command runs in this process. It has to end with exit code 0, 1 or 2, at
most one line on standard error that is no warning and no internal error, and nothing left behind;
what it releases is recounted as any other release is.
"""

import csv
import io
import json
import random
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from forked import unwarned
from oddities import UNPROTECTED

from .exercise import SECONDS, Hang, Outcome, command, limited
from .hierarchies import toml_of
from .reread import recounted

__all__ = ["PARSERS", "exercise_parser"]

STUDY = f"""\
{UNPROTECTED}
[[privacy]]
model = "k-anonymity"
k = 2

[[privacy]]
model = "t-closeness"
t = 1.5
distance = "kl"

[recoding]
suppression = 0.3
"""
OTHERS = (
    'recoding = { method = "variable-range", refine = ["age"], max-ranges = 4, grid = 5 }\n',
    'recoding = { method = "cut", group = ["job"], min-gain = 0.01 }\n',
    'recoding = { method = "fixed", levels = { age = 3, job = 2 } }\n',
    'search = { strategy = "branch-and-bound", time-limit = 60, seed = 3 }\n',
    'objective = { name = "loss", weights = { age = 2, job = 1.5 } }\n',
    'recoding = { method = "pram", distortion = { age = "absolute" }, draws = 3, seed = 1 }\n',
    'recoding = { method = "noise", grid = { age = 1.5 }, attributes = ["age"] }\n',
)
"""Lines that a study may have, too: they replace its search."""

HIERARCHIES = (
    "widths = [5, 25]\norigin = 3\n",
    "cuts = [[20, 35, 50], [35]]\n",
    "prefixes = [2, 1]\n",
    'redact = [1, 2]\nside = "left"\nmask = "#"\nmin-level = 1\nmax-level = 2\n',
    'keep = [[20, 30, 40], [30]]\nother = "rest"\n',
    "suppress = true\n",
)
JOBS = "nurse;health;all\nvet;health;all\nsmith;craft;all\nmason;craft;all\n"


@dataclass
class Trial:
    """A directory with a study that works, and what is about to be changed in it."""

    rng: random.Random
    directory: Path
    target: Path
    arguments: tuple[object, ...]


def exercise_parser(name: str, directory: Path, seconds: float = SECONDS) -> Outcome:
    """Change a file of a study in an empty directory and see what a command makes of it."""
    parser = name.partition(":")[0]
    rng = random.Random(name)
    trial = PARSERS[parser](rng, directory)
    outcome = Outcome(name, "", parser)
    before = {path: path.lstat().st_mtime_ns for path in directory.rglob("*")}
    try:
        with limited(seconds):
            code, _, error = command(*trial.arguments)
            outcome.ended = {0: "accepted", 1: "policy", 2: "refused"}.get(code, f"exit {code}")
            _complaint(trial, code, error, outcome)
            _leftovers(trial, before, code, outcome)
            if code == 0 and trial.arguments[0] == "run":
                _recount(trial, outcome)
    except Hang:
        outcome.ended = "hang"
        outcome.fail("hang", f"took more than {seconds} s")
    except Exception as error:  # not even the command line's last resort caught it
        outcome.ended = "traceback"
        outcome.fail("traceback", f"{type(error).__name__}: {error}")
    return outcome


def _complaint(trial: Trial, code: int, error: str, outcome: Outcome) -> None:
    lines = unwarned(error).splitlines()
    several = len(lines) > 1 and code != 1  # ways out follow a policy out of reach
    if code not in (0, 1, 2, 3) or several or (code == 2 and not lines):
        outcome.fail("exit", f"exit code {code}, standard error: {error}")
    place = error.partition("internal error, ")[2].partition(";")[0]
    if place:
        outcome.fail(f"internal error: {place}", error)
    if "out of memory" in error:
        outcome.fail("out of memory", error)
    if "planted" in error:
        outcome.fail("message shows an identifier", error)


def _leftovers(trial: Trial, before: dict[Path, int], code: int, outcome: Outcome) -> None:
    out = trial.directory / "out"
    changed = {p for p in trial.directory.rglob("*") if before.get(p) != p.lstat().st_mtime_ns}
    changed.discard(trial.directory)
    made = {path.name for path in changed if path != out}
    released = trial.arguments[0] == "run" and code == 0
    whole = {"release.json", "out.steward.json"}
    fine = made in (whole | {"released.csv"}, whole | {"released.parquet"})
    if (released and not fine) or (not released and changed):
        outcome.fail("left behind", f"exit code {code}: {sorted(made)}")


def _recount(trial: Trial, outcome: Outcome) -> None:
    """Hold what was released against the study, if that can be read here at all."""
    document = tomllib.loads((trial.directory / "study.toml").read_text(encoding="utf-8-sig"))
    manifest = json.loads((trial.directory / "out" / "release.json").read_text(encoding="utf-8"))
    path = trial.directory / "out" / manifest["table"]["file"]
    separator = manifest["columns"]["separator"]
    for failure in recounted(document, {}, path, separator, outcome.readers):
        outcome.fail(*failure)


# The study that works


def _rows() -> list[list[str]]:
    jobs = ("nurse", "vet", "smith", "mason")
    ills = ("flu", "cold", "hiv")
    people = [
        [f"planted{i}", str(20 + i * 7 % 30), jobs[i * 3 % 4], ills[i % 3], str(i)]
        for i in range(16)
    ]
    people[3][2], people[5][3] = "", "?"
    return [["name", "age", "job", "disease", "other"], *people]


def _table_text(separator: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(_rows())
    return file.getvalue()


def _laid(rng: random.Random, directory: Path, study: str = STUDY) -> None:
    (directory / "study.toml").write_text(study)
    (directory / "age.toml").write_text(HIERARCHIES[0])
    (directory / "job.csv").write_text(JOBS)
    (directory / "people.csv").write_text(_table_text())


def _run(directory: Path) -> tuple[object, ...]:
    return ("run", directory / "study.toml", "--output", directory / "out")


# Parsers


def _document(rng: random.Random, directory: Path) -> Trial:
    text = STUDY
    if rng.random() < 0.6:
        key, _, line = rng.choice(OTHERS).partition(" = ")
        text = f"{key} = {line}" + STUDY.partition("[recoding]")[0]
    _laid(rng, directory, text)
    return _changed(rng, directory, directory / "study.toml", _run(directory), _toml)


def _rule(rng: random.Random, directory: Path) -> Trial:
    _laid(rng, directory)
    (directory / "age.toml").write_text(rng.choice(HIERARCHIES))
    return _changed(rng, directory, directory / "age.toml", _run(directory), _toml)


def _hierarchy(rng: random.Random, directory: Path) -> Trial:
    _laid(rng, directory)
    target = directory / "job.csv"
    target.write_text(JOBS.replace(";", rng.choice(";;,\t|")))
    return _changed(rng, directory, target, _run(directory), _delimited)


def _table(rng: random.Random, directory: Path) -> Trial:
    separator = rng.choice(",,;\t|")
    _laid(rng, directory)
    target = directory / "people.csv"
    target.write_text(_table_text(separator, rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))))
    return _changed(rng, directory, target, _run(directory), _delimited)


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "cp500", "shift_jis")


def _dressed(rng: random.Random, directory: Path) -> Trial:
    """A table in another notation: its keys are given, left to be found, or wrong."""
    encoding, quote = rng.choice(ENCODINGS), rng.choice(("'", '"'))
    decimal, thousands = rng.choice(((",", "."), (",", " "), (".", ","), (".", "'"), (",", "")))
    header, *rows = _rows()
    for row in rows:
        row[1] = row[1] and f"{row[1]}{decimal}5"
        row[4] = f"1{thousands}{int(row[4]):03}{decimal}25"
    file = io.StringIO()
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(file, delimiter=";", quotechar=quote, quoting=quoting)
    writer.writerows([header, *rows] if rng.random() < 0.6 else rows)
    text = rng.choice(("", "", "sep=;\r\n")) + file.getvalue()
    keys = {
        "encoding": encoding, "quote": quote, "decimal": decimal, "thousands": thousands,
        "columns": header, "separator": ";",
    }  # fmt: skip
    given = {key: keys[key] for key in keys if rng.random() < 0.6}
    if rng.random() < 0.3:
        given[rng.choice(tuple(keys))] = rng.choice(ODD_KEYS)
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in given.items())
    _laid(rng, directory, STUDY.replace("[data]\n", f"[data]\n{lines}", 1))
    target = directory / "people.csv"
    target.write_bytes(text.encode(encoding))

    def structure(rng: random.Random, content: bytes) -> bytes:
        changed = _delimited(rng, content.decode(encoding).encode())
        return changed.decode("utf-8", "replace").encode(encoding, "replace")

    return _changed(rng, directory, target, _run(directory), structure)


ODD_KEYS = (
    "",
    " ",
    ",",
    ";",
    "'",
    "utf-16",
    "hz",
    "idna",
    "x" * 300,
    "\u00a0",
    ["age", "age"],
    [""],
)
"""What a key of a table's notation may wrongly be."""

CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}


def _compressed(rng: random.Random, directory: Path) -> Trial:
    kind = rng.choice(tuple(CODECS))
    _laid(rng, directory, STUDY.replace("people.csv", f"people.csv.{kind}"))
    text = _table_text().encode()
    if rng.random() < 0.3:  # what is inside is broken instead, or large
        text = _bytes(rng, text) if rng.random() < 0.9 else text + b"\n" * 10**7
    target = directory / f"people.csv.{kind}"
    with pa.CompressedOutputStream(str(target), CODECS[kind]) as stream:
        stream.write(text)
    return _changed(rng, directory, target, _run(directory), None)


def _parquet(rng: random.Random, directory: Path) -> Trial:
    _laid(rng, directory, STUDY.replace("people.csv", "people.parquet"))
    header, *rows = _rows()
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    target = directory / "people.parquet"
    if rng.random() < 0.5:
        table = pa.table(columns)
        codec = rng.choice(("snappy", "none", "gzip", "zstd"))
        pyarrow.parquet.write_table(table, target, compression=codec)
        return _changed(rng, directory, target, _run(directory), None)
    pyarrow.parquet.write_table(_retyped(rng, columns), target)
    return Trial(rng, directory, target, _run(directory))


TYPES = (
    pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.string()),
    pa.struct({"a": pa.string()}), pa.map_(pa.string(), pa.int64()), pa.null(), pa.bool_(),
    pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(38, 10), pa.decimal256(70, 3),
    pa.date32(), pa.date64(), pa.time32("s"), pa.time64("us"), pa.timestamp("ns"),
    pa.timestamp("us", "Europe/Paris"), pa.duration("us"), pa.binary(2), pa.string_view(),
)  # fmt: skip


def _retyped(rng: random.Random, columns: dict[str, list]) -> pa.Table:
    """The table with some columns of any type that Parquet knows."""
    arrays: dict[str, pa.Array] = {name: pa.array(values) for name, values in columns.items()}
    for name in rng.sample(list(arrays), rng.randint(1, 3)):
        with_gaps = [None if rng.random() < 0.2 else value for value in range(16)]
        arrays[name] = _array(rng.choice(TYPES), with_gaps) or arrays[name]
    names = list(arrays)
    if rng.random() < 0.2:
        names[rng.randrange(len(names))] = rng.choice(("age", "", "__index_level_0__", "x\ny", "*"))
    return pa.table(list(arrays.values()), names=names)


def _array(kind: pa.DataType, values: Sequence[int | None]) -> pa.Array | None:
    """Small numbers as values of a type; None where they cannot be."""
    nested: dict[str, Callable[[int], object]] = {
        "list<": lambda v: [str(v % 3)],
        "struct<": lambda v: {"a": str(v % 3)},
        "map<": lambda v: [(str(v % 3), v)],
        "fixed_size_binary": lambda v: b"ab",
        "float": lambda v: (0.0, -0.0, float("nan"), float("inf"), 1.0)[v % 5],
    }
    make = next((make for key, make in nested.items() if str(kind).startswith(key)), None)
    try:
        if make:
            return pa.array([None if v is None else make(v) for v in values], kind)
        plain = pa.array([None if v is None else v % 4 for v in values])
        return plain.cast(pa.string()).cast(kind) if _is_textual(kind) else plain.cast(kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _is_textual(kind: pa.DataType) -> bool:
    return "string" in str(kind) or "binary" in str(kind)


MADE: dict[str, dict[str, bytes]] = {}
"""Files of releases that the manifest parser starts from, by study."""

COMMANDS: tuple[Callable[[Path], tuple[object, ...]], ...] = (
    lambda d: ("verify", d / "out" / "released.csv", "--study", d / "study.toml"),
    lambda d: ("check", d / "out" / "released.csv", "--study", d / "study.toml"),
    lambda d: ("quality", d / "out" / "released.csv", "-s", d / "study.toml", "--no-classifiers"),
    lambda d: ("audit", d / "out", "--against", d / "people.csv", "--draws", 20),
    lambda d: ("audit", d / "out", "-a", d / "people.csv", "-s", d / "study.toml", "--draws", 20),
    lambda d: ("estimate", d / "out", "--of", "age"),
)


def _manifest(rng: random.Random, directory: Path) -> Trial:
    which = rng.choice(("", OTHERS[1], OTHERS[2], OTHERS[5], 'recoding = { method = "boxes" }\n'))
    _laid(rng, directory, which + STUDY.partition("[recoding]")[0] if which else STUDY)
    _release(which, directory)
    masked = "pram" in which
    arguments = (COMMANDS[-1] if masked and rng.random() < 0.6 else rng.choice(COMMANDS))(directory)
    return _changed(rng, directory, directory / "out" / "release.json", arguments, _json)


def _release(which: str, directory: Path) -> None:
    """Release the study that works, or take the release that was made of it before."""
    if which not in MADE:
        code, _, error = command(*_run(directory))
        if code:
            raise ValueError(f"the study to start from fails: {error}")
        MADE[which] = {p.name: p.read_bytes() for p in (directory / "out").iterdir()}
    (directory / "out").mkdir(exist_ok=True)
    for name, content in MADE[which].items():
        (directory / "out" / name).write_bytes(content)


PARSERS: dict[str, Callable[[random.Random, Path], Trial]] = {
    "document": _document,
    "rule": _rule,
    "hierarchy": _hierarchy,
    "table": _table,
    "dressed": _dressed,
    "compressed": _compressed,
    "parquet": _parquet,
    "manifest": _manifest,
}
"""What makes a trial of each parser of the library."""


# Changes


Structure = Callable[[random.Random, bytes], bytes]


def _changed(
    rng: random.Random,
    directory: Path,
    target: Path,
    arguments: tuple[object, ...],
    structure: Structure | None,
) -> Trial:
    """Change the bytes of a file, or what stands in it; rarely make it something else."""
    content = target.read_bytes()
    if structure is not None and rng.random() < 0.7:
        content = structure(rng, content)
    elif rng.random() < 0.97:
        content = _bytes(rng, content)
    else:
        return _replaced(rng, directory, target, arguments)
    target.write_bytes(content)
    return Trial(rng, directory, target, arguments)


def _replaced(
    rng: random.Random, directory: Path, target: Path, arguments: tuple[object, ...]
) -> Trial:
    """A directory, a link to nothing or nothing at all in the place of a file."""
    target.unlink()
    kind = rng.choice(("nothing", "directory", "link", "empty", "itself"))
    if kind == "directory":
        target.mkdir()
    elif kind == "link":
        target.symlink_to(directory / "nowhere")
    elif kind == "itself":
        target.symlink_to(target)
    elif kind == "empty":
        target.touch()
    return Trial(rng, directory, target, arguments)


TOKENS = (
    b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\r\n", b"\n\n", b'"', b"'", b"\\", b",", b";",
    b"{", b"}", b"[", b"]", b"[[", b"=", b"#", b"*", b" ", b"nan", b"inf", b"-0.0", b"1e999",
    b"9" * 400, b"-1", b"null", b"true", b"NA", b"\xc3", b"\xe2\x80\x8b", b"..", b"/dev/null",
    b"[" * 3000, b"{'a':" * 500, b"=1+1", b"0x10", b"\xf0\x9f\x98\x80", b"\x1f\x8b", b"PAR1",
)  # fmt: skip


def _bytes(rng: random.Random, content: bytes) -> bytes:
    """Some bytes changed, left out, doubled or put in; or another encoding."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 1, 4, 30, 200)))
        match rng.choice(("flip", "byte", "cut", "drop", "double", "token", "move")):
            case "flip" if start < len(data):
                data[start] ^= 1 << rng.randrange(8)
            case "byte" if start < len(data):
                data[start] = rng.randrange(256)
            case "cut" if rng.random() < 0.2:
                del data[start:]
            case "drop":
                del data[start:end]
            case "double":
                data[start:start] = data[start:end] * rng.choice((1, 1, 2, 100))
            case "token":
                data[start:start] = rng.choice(TOKENS)
            case "move":
                piece = data[start:end]
                del data[start:end]
                place = rng.randrange(len(data) + 1)
                data[place:place] = piece
    if rng.random() < 0.03:
        encoding = rng.choice(("utf-16", "latin-1", "utf-32", "cp500"))
        return bytes(data).decode("latin-1").encode(encoding, errors="replace")
    return bytes(data)


ODD: tuple[object, ...] = (
    None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, 10**30, 10**4000, float("nan"), float("inf"),
    "", " ", "age", "job", "disease", "*", "x" * 5000, "\x00", "a\nb", "\ud7ff", "1", "0.5", "nan",
    "k-anonymity", "/dev/null", "/", ".", "..", "study.toml", "released.csv", [], {}, [[]], [{}],
    [1, 2], ["a", 1], {"a": 1}, {"": ""}, [None], ["age", "age"], {"age": 10**20}, "\u202e",
)  # fmt: skip


def _altered(rng: random.Random, content: object) -> object:
    """A structure with one or some of its parts left out, doubled, renamed or something else."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = _once(rng, content)
    return content


def _once(rng: random.Random, content: object) -> object:
    if isinstance(content, dict) and content and rng.random() < 0.93:
        key = rng.choice(list(content))
        return _in_section(rng, content, key)
    if isinstance(content, list) and content and rng.random() < 0.9:
        place = rng.randrange(len(content))
        items = [*content]
        match rng.choice(("change", "change", "change", "drop", "double", "swap")):
            case "change":
                items[place] = _once(rng, items[place])
            case "drop":
                del items[place]
            case "double":
                items.insert(place, items[place])
            case "swap":
                items.reverse()
        return items
    return _other(rng, content)


def _in_section(rng: random.Random, content: dict, key: object) -> dict:
    match rng.choice(("change",) * 6 + ("drop", "rename", "add")):
        case "change":
            return {**content, key: _once(rng, content[key])}
        case "drop":
            return {other: value for other, value in content.items() if other != key}
        case "rename":
            name = rng.choice(("", "age", "x", "level", str(key).upper()))
            return {name if other == key else other: value for other, value in content.items()}
    return {**content, rng.choice(("", "x", "level", "from", "group")): rng.choice(ODD)}


LARGE = 10**15
"""Numbers beyond are changed no further."""


def _other(rng: random.Random, value: object) -> object:
    """Something else in the place of a value, often nearly the same."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and abs(value) < LARGE and rng.random() < 0.5:
        return rng.choice((value + 1, value - 1, -value, value * 1000, str(value), value / 3))
    if isinstance(value, str) and rng.random() < 0.3:
        return rng.choice((value + " ", value.upper(), value[1:], value * 2, [value], value + "\n"))
    if rng.random() < 0.03:
        return _deep(rng.choice((20, 200, 2000)))
    return rng.choice(ODD)


def _deep(levels: int) -> list:
    nested: list = [1]
    for _ in range(levels):
        nested = [nested]
    return nested


def _toml(rng: random.Random, content: bytes) -> bytes:
    document = _altered(rng, tomllib.loads(content.decode()))
    if not isinstance(document, dict):
        return _shown(document).encode("utf-8", "replace")
    try:
        return toml_of(_without_none(document)).encode()
    except (RecursionError, ValueError):
        return b"a = " + b"[" * 2000 + b"]" * 2000


def _without_none(value: object):
    """TOML knows no null."""
    if isinstance(value, dict):
        return {str(k): _without_none(v) for k, v in value.items() if v is not None}
    return [_without_none(v) for v in value if v is not None] if isinstance(value, list) else value


def _json(rng: random.Random, content: bytes) -> bytes:
    document = _altered(rng, json.loads(content))
    try:
        text = json.dumps(document, ensure_ascii=False)
    except (RecursionError, ValueError):
        text = "[" * 5000 + "]" * 5000
    return text.encode()


def _delimited(rng: random.Random, content: bytes) -> bytes:
    """Rows and fields left out, doubled, swapped or something else."""
    lines = [line.split(_cut_by(content)) for line in content.decode().splitlines()]
    for _ in range(rng.choice((1, 1, 2, 5))):
        row = rng.randrange(len(lines))
        place = rng.randrange(len(lines[row])) if lines[row] else 0
        match rng.choice(("change", "change", "drop", "double", "row", "rows", "copy", "column")):
            case "change" if lines[row]:
                lines[row][place] = _shown(_other(rng, lines[row][place]))
            case "drop" if lines[row]:
                del lines[row][place]
            case "double" if lines[row]:
                lines[row].insert(place, lines[row][place])
            case "row" if len(lines) > 1:
                del lines[row]
            case "rows":
                lines[row:row] = [list(lines[row])] * rng.choice((1, 2, 50))
                lines = [list(line) for line in lines]
            case "copy":
                lines[rng.randrange(len(lines))] = list(lines[row])
            case "column":
                lines = [line[:place] + line[place + 1 :] for line in lines]
    return (
        "\n".join(_cut_by(content).join(line) for line in lines).encode("utf-8", "replace") + b"\n"
    )


def _shown(value: object) -> str:
    try:
        return str(value)[:6000]
    except RecursionError:  # of something nested deeply
        return "[" * 6000


def _cut_by(content: bytes) -> str:
    first = content.decode().splitlines()[0]
    return max(",;\t|", key=first.count)
