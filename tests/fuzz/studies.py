"""Random studies: a small table of awkward values, how it generalizes, and a policy."""

import csv
import gzip
import io
import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from anonymizer.objectives import OBJECTIVES, MutualInformation

from . import values as pool
from .hierarchies import LONE, hierarchy, number_in, toml_of
from .policies import Scene, policy

__all__ = ["RECODINGS", "Case", "case_of", "lay"]

MARK = "Xq7planted"
"""What every identifier begins with; nothing that is written may hold it."""

Table = dict[str, list[object]]


@dataclass
class Case:
    """A study before it lies in a directory.

    ``route``: ``"csv"``, ``"parquet"`` or ``"frame"``, a DataFrame for the Python interface.
    ``document`` is what the study file says, ``files`` are hierarchies and a population by name,
    ``options`` how the CSV file is written.
    """

    name: str
    route: str
    recoding: str
    table: Table
    document: dict
    files: dict[str, str]
    separator: str = ","
    options: dict[str, object] = field(default_factory=dict)

    @property
    def rng(self) -> random.Random:
        """For what happens to the case after it was made."""
        return random.Random(f"exercise of {self.name}")

    @property
    def redrawn(self) -> bool:
        """Whether the study gives another release each time."""
        return self.recoding == "safepub" or "against" in self.document.get("search", {})

    @property
    def data(self) -> str:
        """The name of the table's file."""
        if self.route == "parquet":
            return "people.parquet"
        return "people.csv.gz" if self.options.get("compressed") else "people.csv"


def case_of(name: str) -> Case:
    """The case of a name such as ``study:4711``; always the same."""
    rng = random.Random(name)
    recoding = rng.choices([*RECODINGS], [weight for weight, _ in RECODINGS.values()])[0]
    route = rng.choices(("csv", "parquet", "frame"), (60, 20, 20))[0]
    roles = _roles(rng, recoding)
    size = _size(rng, recoding)
    tame = rng.choice((0.0, 0.5, 0.8, 1.0))
    table = {
        name: _column(rng, role, route, size, tame if recoding not in CAREFUL else 0.97)
        for name, role in roles.items()
    }
    _mark(rng, roles, table)
    files: dict[str, str] = {}
    document = _document(rng, recoding, roles, table, files)
    _against(random.Random(f"against of {name}"), document)
    options = {
        "compressed": rng.random() < 0.05,
        "bom": rng.random() < 0.05,
        "crlf": rng.random() < 0.1,
        "quoted": rng.random() < 0.1,
    }
    separator = rng.choices(",;\t|", (7, 2, 1, 1))[0]
    if rng.random() < 0.5 or separator in "\t|":
        document["data"]["separator"] = separator
    case = Case(name, route, recoding, table, document, files, separator, options)
    document["data"]["path"] = case.data
    return case


def lay(case: Case, directory: Path) -> Path:
    """Write table, hierarchies and study file; give the path of the last."""
    for name, text in case.files.items():
        (directory / name).write_text(text, encoding="utf-8", newline="")
    if case.route == "csv":
        (directory / case.data).write_bytes(_csv(case))
    elif case.route == "parquet":
        pyarrow.parquet.write_table(arrow_of(case), directory / case.data)
    study = directory / "study.toml"
    study.write_text(toml_of(case.document), encoding="utf-8")
    return study


def frame_of(case: Case) -> pd.DataFrame:
    """The DataFrame of a case for the Python interface."""
    rng = random.Random(f"dtypes of {case.name}")
    return pd.DataFrame({name: _series(rng, column) for name, column in case.table.items()})


def arrow_of(case: Case) -> pa.Table:
    """The table of a case as Parquet has it, each column of one type."""
    rng = random.Random(f"types of {case.name}")
    return pa.table({name: _array(rng, column) for name, column in case.table.items()})


# Columns


CAREFUL = ("safepub", "random", "boxes", "merged-cells")
"""Recodings that take long or need much: mostly tame values, so that they are reached."""


def _roles(rng: random.Random, recoding: str) -> dict[str, str]:
    """Names of columns in a random order, each with its role."""
    roles = dict.fromkeys(("age", "job", "zip code")[: rng.choice((1, 2, 2, 3))], "quasi")
    if recoding == "random":
        roles = {"age": "number"}
    if recoding != "safepub":
        roles |= dict.fromkeys(
            ("disease", "in\u00e7ome")[: rng.choice((0, 1, 1, 1, 2))], "sensitive"
        )
        roles |= {"note": "other"} if rng.random() < 0.25 else {}
        roles |= {"outcome": "target"} if rng.random() < 0.1 else {}
    if recoding == "random" and "disease" not in roles:
        roles["disease"] = "sensitive"
    if recoding == "variable-range":
        roles["age"] = "number" if rng.random() < 0.5 else "quasi"
    roles |= {"name": "identifier"} if rng.random() < 0.7 else {}
    names = list(roles)
    rng.shuffle(names)
    return {name: roles[name] for name in names}


def _size(rng: random.Random, recoding: str) -> int:
    if recoding in ("safepub", "random"):
        return rng.randint(40, 150)
    if recoding == "merged-cells":
        return rng.randint(5, 25)
    return rng.randint(200, 1500) if rng.random() < 0.01 else rng.choice((8, 12, 20, 30, 60))


def _column(rng: random.Random, role: str, route: str, size: int, tame: float) -> list[object]:
    """The values of a column; None where one is missing."""
    if role == "identifier":
        return [f"{MARK}{i}" for i in range(size)]
    if route == "frame" and role != "number" and rng.random() > max(tame, 0.3):
        return pool.drawn(rng, pool.objects(rng, 5), size)
    kind = "integers" if role == "number" else pool.palette(rng, tame)
    most = 12 if kind in (*pool.NUMBERS, "dates") and role in ("quasi", "number") else 4
    found: list[object] = pool.drawn(rng, pool.texts(rng, kind, most), size)
    gaps = rng.choice((0, 0, 0, 0.1, 0.4)) if role != "number" else 0
    found = [None if rng.random() < gaps else value for value in found]
    if route == "csv":
        return found
    return _typed(rng, found)


def _typed(rng: random.Random, column: list[object]) -> list[object]:
    """Texts that are numbers as numbers, now and then."""
    present = [str(value) for value in column if value is not None]
    if not present or any(number_in(text) is None for text in present) or rng.random() < 0.3:
        return column
    numbers = [None if value is None else float(str(value)) for value in column]
    if rng.random() < 0.3 or any(n is not None and (n % 1 or abs(n) > 2**52) for n in numbers):
        return [-0.0 if number == 0 and rng.random() < 0.5 else number for number in numbers]
    return [None if number is None else int(number) for number in numbers]


def _mark(rng: random.Random, roles: dict[str, str], table: Table) -> None:
    """Give one record a value that can be told in any file, to see whether it leaks."""
    names = [name for name, role in roles.items() if role == "quasi"]
    if names and rng.random() < 0.15:
        column = table[rng.choice(names)]
        if all(value is None or isinstance(value, str) for value in column):
            column[rng.randrange(len(column))] = LONE


def _series(rng: random.Random, column: list[object]) -> pd.Series:
    """A column of a DataFrame: of objects, or of the type that its values have."""
    kind = rng.choice(("object", "object", "infer", "category", "convert"))
    plain = pd.Series(column, dtype=object)
    if kind == "object":
        return plain
    try:
        if kind == "category":
            return plain.astype("category")
        return plain.infer_objects() if kind == "infer" else plain.convert_dtypes()
    except (TypeError, ValueError, OverflowError):
        return plain


def _array(rng: random.Random, column: list[object]) -> pa.Array:
    """A column of a Parquet file, of a type that can hold it."""
    array = pa.array(column)
    if pa.types.is_null(array.type):
        return array.cast(pa.string())
    kinds: list[pa.DataType] = [array.type] * 2
    if pa.types.is_string(array.type):
        kinds += [pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
        if set(column) <= {"True", "False", None}:
            return pa.array([None if v is None else v == "True" for v in column])
        kinds += [pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us"), pa.binary()]
    elif pa.types.is_integer(array.type):
        kinds += [
            pa.int8(),
            pa.float64(),
            pa.decimal128(12, 2),
            pa.dictionary(pa.int8(), pa.int64()),
        ]
    elif pa.types.is_floating(array.type):
        kinds += [pa.float32(), pa.decimal128(12, 2)]
    try:
        return array.cast(rng.choice(kinds))
    except pa.ArrowException:
        return array


def _csv(case: Case) -> bytes:
    """The table as a CSV file."""
    rows = zip(*case.table.values(), strict=True)
    texts = [["" if value is None else str(value) for value in row] for row in rows]
    awkward = any("\r" in text for row in texts for text in row) or len(case.table) == 1
    quoting = csv.QUOTE_ALL if awkward or case.options["quoted"] else csv.QUOTE_MINIMAL
    file = io.StringIO()
    ending = "\r\n" if case.options["crlf"] else "\n"
    writer = csv.writer(file, delimiter=case.separator, lineterminator=ending, quoting=quoting)
    writer.writerows([list(case.table), *texts])
    content = file.getvalue().encode("utf-8-sig" if case.options["bom"] else "utf-8")
    return gzip.compress(content, 1, mtime=0) if case.options["compressed"] else content


# Study files


def _document(
    rng: random.Random, recoding: str, roles: dict[str, str], table: Table, files: dict[str, str]
) -> dict:
    """What the study file says, but for the path of the table."""
    names = sorted(name for name, role in roles.items() if role in ("quasi", "number"))
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    data: dict[str, object] = {"path": ""}
    gaps = any(_is_gap(value) for name in names + sensitive for value in table[name])
    if rng.random() < (0.95 if gaps else 0.5):
        data["missing"] = rng.choice(("category", "gap", "drop"))
    if rng.random() < 0.15:
        data["missing-values"] = rng.sample(["?", "NA", "-", "null", "x", "1"], 2)
    scene = Scene(rng, table, names, sensitive, recoding, str(data.get("missing", "error")), files)
    quasi: dict[str, object] = {}
    for name in names:
        first = recoding == "variable-range" and name == names[0] and rng.random() < 0.95
        suffix, content = hierarchy(rng, table[name], "ranges" if first else None)
        if suffix == "toml":
            content += _limits(rng, content)
            if rng.random() < 0.4:
                quasi[name] = tomllib.loads(content)
                continue
        quasi[name] = f"{name.replace(' ', '-')}.{suffix}"
        files[str(quasi[name])] = content
    if rng.random() < 0.1:
        scene.population = "everybody.csv"
        files["everybody.csv"] = _everybody(rng, names, table)
    document: dict = {
        "data": data,
        "quasi-identifiers": quasi,
        "sensitive": {"attributes": sensitive},
        "identifiers": {"attributes": [n for n, role in roles.items() if role == "identifier"]},
        "privacy": policy(scene),
    }
    if not sensitive and rng.random() < 0.5:
        del document["sensitive"]
    RECODINGS[recoding][1](rng, document, files)
    _objective(rng, document, recoding, sensitive, roles)
    return document


SEARCHED = ("full-domain", "variable-range", "cut", "boxes", "merged-cells")


def _against(rng: random.Random, document: dict) -> None:
    """Now and then a choice without the sensitive values, seldom where that is refused anyway."""
    recoding, objective = document["recoding"], document.get("objective", {})
    fits = recoding.get("method", "full-domain") in SEARCHED and "suppression" not in recoding
    fits = fits and document["data"].get("missing") != "drop" and "target" not in objective
    if rng.random() < (0.15 if fits else 0.01):
        search = document.setdefault("search", {})
        search["against"] = "method"
        if rng.random() < 0.5:
            search["odds"] = rng.choice((1.1, 2, 10.0, 100))


def _limits(rng: random.Random, rule: str) -> str:
    """What a rule file says of the levels and ranges that a release may use; mostly nothing."""
    said = ""
    if rng.random() < 0.15:
        said += f"min-level = {rng.choice((0, 1, 1, 2))}\n"
    if rng.random() < 0.15:
        said += f"max-level = {rng.choice((1, 1, 2))}\n"
    if rule.startswith(("widths", "cuts")) and rng.random() < 0.15:
        said += f"grid = {rng.choice(('1', '3', '[0, 2.5, 30]', '[-1]'))}\n"
    return said


def _is_gap(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or str(value).strip() in ("", "nan")


def _everybody(rng: random.Random, names: list[str], table: Table) -> str:
    """A population: the records of the table and some more people of the same values."""
    people = list(zip(*(table[name] for name in names), strict=True))
    more = [tuple(rng.choice(table[name]) for name in names) for _ in people] * rng.randint(1, 3)
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([names, *(["" if v is None else v for v in row] for row in people + more)])
    return file.getvalue()


INFORMED = [name for name, kind in OBJECTIVES.items() if issubclass(kind, MutualInformation)]
OF_LEVELS = [name for name, kind in OBJECTIVES.items() if kind.levels_only]
OF_CLASSES = [name for name in OBJECTIVES if name not in (*INFORMED, *OF_LEVELS, "itpr")]


def _objective(
    rng: random.Random, document: dict, recoding: str, sensitive: list[str], roles: dict[str, str]
) -> None:
    targets = [name for name, role in roles.items() if role == "target"]
    if recoding == "random" or (not targets and sensitive and rng.random() < 0.6):
        return
    stated: dict[str, object] = {}
    levels = recoding in ("full-domain", "fixed", "safepub")
    if not sensitive and not targets:
        stated["name"] = rng.choice(OF_CLASSES + OF_LEVELS * levels)
    elif rng.random() < 0.6:
        stated["name"] = rng.choice(
            INFORMED + OF_CLASSES + OF_LEVELS * levels + ["itpr"] * (levels and bool(sensitive))
        )
    if targets and stated.get("name", INFORMED[0]) in INFORMED:
        stated["target"] = targets[0]
    document["objective"] = stated


def _full_domain(rng: random.Random, document: dict, files: dict[str, str]) -> None:
    stated: dict[str, object] = {}
    if rng.random() < 0.4:
        stated["suppression"] = rng.choice((0.05, 0.2, 0.5, 0.9))
        if rng.random() < 0.3:
            stated["remove"] = True
    elif rng.random() < 0.4:
        strategies = ("bisection", "top-down", "branch-and-bound", "incognito", "exhaustive")
        document["search"] = {"strategy": rng.choice(strategies)}
    if "suppression" not in stated or rng.random() < 0.02:
        _bounded(rng, stated)
    document["recoding"] = stated


def _bounded(rng: random.Random, stated: dict[str, object]) -> None:
    if rng.random() < 0.1:
        stated["max-classes"] = rng.randint(1, 5)
    if rng.random() < 0.1:
        stated["min-records"] = rng.randint(1, 5)


def _cutting(recoding: str) -> Callable[[random.Random, dict, dict[str, str]], None]:
    def state(rng: random.Random, document: dict, files: dict[str, str]) -> None:
        stated: dict[str, object] = {"method": recoding}
        ordered = [
            name for name, file in document["quasi-identifiers"].items() if _ordered(file, files)
        ]
        others = [name for name in document["quasi-identifiers"] if name not in ordered]
        if recoding not in CAREFUL and rng.random() < 0.2:
            stated["group"] = others[:1]
        if ordered and rng.random() < 0.3:
            options = ("min-width", "grid") if recoding in CAREFUL else ("max-ranges", "grid")
            stated[rng.choice(options)] = rng.randint(1, 4)
        if rng.random() < 0.15:
            stated["min-gain"] = 0.01
        if rng.random() < 0.1 and recoding != "merged-cells":  # which has no such option
            stated["refinement"] = "heuristic"
        _bounded(rng, stated)
        document["recoding"] = stated

    return state


def _best(rng: random.Random, document: dict, files: dict[str, str]) -> None:
    section = {"method": "best"}
    if rng.random() < 0.5:
        known = ["full-domain", "variable-range", "cut", "boxes"]
        section["recodings"] = rng.sample(known, rng.randint(1, 3))
    document["recoding"] = section


def _ordered(given: object, files: dict[str, str]) -> bool:
    """Whether a hierarchy in a line, or in a file, is one of ranges."""
    if isinstance(given, dict):
        return not {"widths", "cuts", "calendar", "order"}.isdisjoint(given)
    return files[str(given)].startswith(("widths", "cuts", "calendar", "order"))


def _fixed(rng: random.Random, document: dict, files: dict[str, str]) -> None:
    levels = {name: rng.choice((0, 1, 1, 2)) for name in document["quasi-identifiers"]}
    document["recoding"] = {"method": "fixed", "levels": levels}


def _private(rng: random.Random, document: dict, files: dict[str, str]) -> None:
    levels = dict.fromkeys(document["quasi-identifiers"], 1)
    document["recoding"] = {"method": "safepub", "levels": levels}


def _masked(rng: random.Random, document: dict, files: dict[str, str]) -> None:
    method = rng.choice(("pram", "noise", "bottleneck"))
    stated: dict[str, object] = {"method": method, "seed": rng.randrange(100), "draws": 5}
    if method == "pram" and rng.random() < 0.2:
        stated["epsilon"] = 2.0
    if rng.random() < 0.2:
        stated["min-records"] = 3
    if rng.random() < 0.2:
        stated["withhold"] = True
    document["recoding"] = stated


RECODINGS: dict[str, tuple[float, Callable[[random.Random, dict, dict[str, str]], None]]] = {
    "full-domain": (45, _full_domain),
    "variable-range": (14, _cutting("variable-range")),
    "cut": (14, _cutting("cut")),
    "boxes": (10, _cutting("boxes")),
    "best": (2, _best),
    "merged-cells": (0.7, _cutting("merged-cells")),
    "fixed": (10, _fixed),
    "safepub": (2, _private),
    "random": (1.2, _masked),
}
"""How often each recoding is tried, and what a study says of it."""
