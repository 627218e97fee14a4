"""Releases with one change, of the table or of the manifest, and what ``verify`` says of them."""

import atexit
import json
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from release.test_verification import CHANGES, TOLD, changed, with_leaf
from releases import KINDS, copied, manifest_in, release_of, rewritten

from .texts import fresh, ran, without_chance

NUMBER = 320
OF_TABLES = 120
"""How many of the edits change the table; the others change the manifest."""


def names() -> list[str]:
    """The edits by number."""
    return [f"edit {number}" for number in range(NUMBER)]


def text(name: str) -> str:
    """What was changed, and what is said of it without the study and with it."""
    number = int(name.split()[1])
    with fresh() as directory:
        kind = (_in_table if number < OF_TABLES else _in_manifest)(number, directory)
        shutil.copytree(_released(kind[0]).parent, directory, dirs_exist_ok=True, ignore=_outputs)
        said = [ran("verify", "out", "--json"), ran("verify", "out", "--json", "-s", "study.toml")]
        return ": ".join(kind) + "\n" + "".join(said)


def _in_table(number: int, directory: Path) -> tuple[str, str]:
    known = [(kind, way) for kind in TOLD for way in CHANGES]
    kind, way = Random("edits").sample(known, OF_TABLES)[number]
    changed(_released(kind), directory, CHANGES[way])
    return kind, way


def _in_manifest(number: int, directory: Path) -> tuple[str, str]:
    rng = Random(f"edit {number}")
    kind = rng.choice([*KINDS])
    path = copied(_released(kind), directory)
    manifest = manifest_in(path)
    leaf = _leaf(rng, manifest)
    rewritten(path, with_leaf(manifest, leaf))
    return kind, json.dumps(leaf)


def _leaf(rng: Random, part: Any) -> tuple[str | int, ...]:
    """The way to some value, each part of a part being as likely as the others."""
    if not part or not isinstance(part, dict | list):
        return ()
    key: Any = rng.choice(sorted(part)) if isinstance(part, dict) else rng.randrange(len(part))
    return (key, *_leaf(rng, part[key]))


def _outputs(directory: str, names: list[str]) -> set[str]:
    return {name for name in names if name in ("out", "out.steward.json")}


@cache
def _released(kind: str) -> Path:
    """A release of a kind, its records in the order of the table where that discloses nothing."""
    place = Path(tempfile.mkdtemp(prefix="frozen-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    made = KINDS[kind]
    if not made.alone:
        made = replace(made, more=f'{made.more}\n[output]\norder = "kept"\n')
    with without_chance():
        return release_of(made, place)
