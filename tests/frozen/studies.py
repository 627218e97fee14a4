"""Random studies with all that is released, commands that follow them, and tables of engines."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import engines
import pytest
from fuzz.exercise import parameters
from fuzz.studies import Case, arrow_of, case_of, frame_of, lay

from anonymizer import Anonymizer, AnonymizerError
from anonymizer.tables.files.parquet import exact_frame

from .texts import fresh, left, lying, plain, ran, rows, without_chance

NUMBERS: Mapping[str, str] = {
    "full-domain": (
        "1 2 4 22 28 32 44 45 59 69 79 84 103 110 114 132 136 159 164 170 178 184 187 195 196 201 "
        "202 214 230 240 241 245 248 252 256 265 805 812 843 862 866 873 895 896 899 903 929 935 "
        "937 972 1284 1306 1410 1434"
    ),
    "variable-range": (
        "29 35 53 100 109 158 160 179 190 193 208 224 231 239 262 310 325 332 351 413 429 441 463 "
        "474 497 507 513 519 522 859"
    ),
    "cut": (
        "11 33 39 42 57 65 80 107 126 145 152 182 191 197 215 222 229 243 287 309 329 354 367 387 "
        "399 407 837 939"
    ),
    "boxes": (
        "12 17 36 56 68 82 91 93 120 134 141 163 189 194 218 225 286 301 303 313 357 370 371 412"
    ),
    "best": "119 260 347 722 1060 1092 1289 1361 1382 1591 1861 2132 2203 2323 2327 2529",
    "merged-cells": "50 199 395 410 735 988 1416 1585 1967 2716",
    "fixed": "51 78 112 147 155 161 166 169 188 238 278 333 913 924 941",
    "safepub": "41 94 373 417 535 618 921 938",
    "random": "249 554 633 650 688 726 981 1015 1243 1320 1493 1931 2320 2337 2687",
}
"""Studies by recoding, four of five with a release, of all models, objectives and searches."""

FOLLOWED = "17 50 79 80 147 230 245 329 371 413 417 474 650 688 941 1060 1284 1382 1416 1931"
"""Studies of files with a release, which other commands are given."""

IN_LIBRARIES = "170 413 735 17 35 65 80 94 230 333 371 650 688 726 1382"
"""Studies whose table is given to each library."""

IN_SPARK = 3
"""How many of them Spark has, whose jobs take seconds: the first."""

LIBRARIES: Mapping[str, Callable[[Any], Any]] = {"pandas": exact_frame, **engines.KINDS}
"""What makes a table of each library of one of Arrow."""

AFTER, INTO = " and after", " in "


def names() -> Iterator[str]:
    """Studies, those that commands follow, and those in libraries."""
    for numbers in NUMBERS.values():
        yield from (f"study:{number}" for number in numbers.split())
    yield from (f"study:{number}{AFTER}" for number in FOLLOWED.split())
    for library in LIBRARIES:
        some = IN_LIBRARIES.split()
        here = some[:IN_SPARK] if library == "spark" else some
        yield from (f"study:{number}{INTO}{library}" for number in here)


def text(name: str) -> str | None:
    """What comes of a study; None in a library that is not installed."""
    case = case_of(name.split()[0])
    # What a choice without sensitive values is drawn by would never end where nothing is by chance.
    known = case.document.get("search", {})
    kept = {key: each for key, each in known.items() if key not in ("against", "odds")}
    case.document |= {"search": kept} if kept else {}
    if known and not kept:
        del case.document["search"]
    if not case.redrawn:  # of which an order would disclose who was drawn
        case.document["output"] = {"order": "kept"}
    with fresh() as directory, without_chance():
        lay(case, directory)
        if INTO in name:
            return _in_library(case, name.partition(INTO)[2])
        if name.endswith(AFTER):
            return _after(case)
        return _fitted(case, frame_of(case), rows) if case.route == "frame" else _run(case)


def _run(case: Case) -> str:
    before = lying()
    return ran("run", "study.toml", "--output", "out") + left(before, case.redrawn)


def _after(case: Case) -> str:
    """What other commands make of a release, and of the same table by it."""
    ran("run", "study.toml", "--output", "out")
    before = lying()
    done = [
        ran("verify", "out", "--study", "study.toml", "--json"),
        ran("apply", "out", case.data, "--output", "again", "--order", "kept"),
        ran("export", "out", "--sql", "--output", "out.sql"),
        ran("report", "out", "--markdown", "--output", "out.md"),
    ]
    return "".join(done) + left(before)


def _in_library(case: Case, library: str) -> str | None:
    try:
        table = LIBRARIES[library](arrow_of(case))
    except (ImportError, pytest.skip.Exception):
        return None
    return _fitted(case, table, lambda released: "\n".join([*engines.records_of(released), ""]))


def _fitted(case: Case, table: object, shown: Callable[[Any], str]) -> str:
    """What the Python interface makes of a table: the released one, and its manifests."""
    try:
        anonymizer = Anonymizer(**parameters(case, Path()))
        released = shown(anonymizer.fit_transform(table))
    except AnonymizerError as error:
        return f"{type(error).__name__}: {error}\n"
    release = anonymizer.release_
    return released + plain(release.to_dict()) + plain(release.steward_manifest.to_dict())
