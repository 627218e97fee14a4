"""What texts are made of: commands, and the files that they leave."""

import json
import os
import re
import shlex
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow.parquet
from fuzz.exercise import command
from fuzz.workers import SCRATCH

from anonymizer.cli import advise

CHECKOUT = Path(__file__).parents[2]

LEFT_OUT: Mapping[tuple[str, ...], str] = {
    ("versions",): "what is installed",
    ("release",): "digest of release.json, which has the versions",
    ("applies", "sha256"): "digest of release.json, which has the versions",
    ("table", "sha256"): "the table is there itself; a Parquet file names the version that wrote",
    ("table", "parts", "sha256"): "as that of the table",
}
"""Fields of ``release.json`` and of the steward's file that are left out, and why."""

OF_REPORTS = re.compile(r"^- \*\*(Date of its manifest|Made by|SHA-256 of .*)\*\*: .*\n", re.M)
"""Lines of a report that are left out: the day, the version, and digests as those above."""


def settle() -> None:
    """Let nothing depend on time: advice ends when it ends."""
    advise.SECONDS = inf


@contextmanager
def fresh() -> Iterator[Path]:
    """An empty directory to work in; texts do not say where it lies."""
    before = Path.cwd()
    within = SCRATCH if SCRATCH.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="frozen-", dir=within) as name:
        os.chdir(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield Path(name)
        finally:
            os.chdir(before)


@contextmanager
def without_chance() -> Iterator[None]:
    """Let the system's entropy, from which samples are drawn by design, always be the same."""

    def always(size: int) -> bytes:
        return (sha256(b"frozen").digest() * (size // 32 + 1))[:size]

    with patch("random._urandom", always):
        yield


def ran(*arguments: object) -> str:
    """A command of the command line: its exit code, output and errors."""
    code, out, error = command(*arguments)
    line = shlex.join(["anonymizer", *map(str, arguments)])
    return placeless(f"$ {line}\nexit code {code}\n--- output\n{out}--- errors\n{error}")


def placeless(text: str) -> str:
    """A text without the directories that it was made in."""
    return text.replace(str(Path.cwd()), "HERE").replace(str(CHECKOUT), "CHECKOUT")


def lying() -> set[Path]:
    """The files of this directory."""
    return {path for path in Path().rglob("*") if path.is_file()}


def left(before: set[Path], drawn: bool = False) -> str:
    """The files of this directory that were not there before; ``drawn``: in an order by chance."""
    texts = {str(path): _content(path) for path in sorted(lying() - before)}
    if drawn:
        for path in texts.keys() & {"out/released.csv", "out/released.parquet"}:
            texts[path] = "".join(sorted(texts[path].splitlines(keepends=True)))
    return "".join(f"--- {path}\n{text}" for path, text in texts.items())


def _content(path: Path) -> str:
    if path.suffix == ".json":
        return plain(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return "".join(f"{line}\n" for line in (table.schema.to_string(), *map(repr, rows)))
    text = path.read_bytes().decode("utf-8", "backslashreplace")
    return OF_REPORTS.sub("", text) if path.suffix == ".md" else text


def plain(content: object) -> str:
    """JSON with sorted keys, without what is left out."""
    return json.dumps(_without(content, ()), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _without(content: Any, place: tuple[str, ...]) -> Any:
    if isinstance(content, list):
        return [_without(each, place) for each in content]
    if not isinstance(content, dict):
        return content
    kept = {name: each for name, each in content.items() if (*place, name) not in LEFT_OUT}
    return {name: _without(each, (*place, name)) for name, each in kept.items()}


def rows(table: pd.DataFrame) -> str:
    """The types and the records of a table, in its order."""
    types = [f"{name}: {kind}" for name, kind in table.dtypes.items()]
    records = map(repr, map(tuple, table.astype(object).itertuples()))
    return "".join(f"{line}\n" for line in (*types, *records))
