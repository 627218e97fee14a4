"""The digests of texts, those that are recorded, and how they differ."""

import json
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import process_time

Digests = Mapping[str, str]

PARTS = ("interface", "mistakes", "edits", "studies", "papers", "optima")
"""The modules that make texts, the quickest first."""

HERE = Path(__file__).parent
MADE_WITH = HERE / "made_with.json"
LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "duckdb", "polars", "dask", "pyspark",
             "pydantic", "click", "rich", "narwhals", "clarabel")  # fmt: skip
"""What texts are made with: another version may round or word something otherwise."""

NOT_HERE = "not here"
"""In place of the digest of a text that needs a library or program that is not installed."""

DIGITS = 16


def names_of(part: str) -> list[str]:
    """The names of the texts of a part."""
    return list(import_module(f"{__package__}.{part}").names())


@cache
def _maker(part: str):
    from .texts import settle

    settle()
    return import_module(f"{__package__}.{part}").text


def text_of(part: str, name: str) -> str | None:
    """The text of a name; None where something is not installed."""
    return _maker(part)(name)


def digested(part: str, name: str) -> tuple[str, float]:
    """The digest of the text of a name, and for how many seconds this process worked."""
    _maker(part)
    since = process_time()
    text = text_of(part, name)
    return NOT_HERE if text is None else digest(text), process_time() - since


def digest(text: str) -> str:
    """The first digits of the SHA-256 of a text."""
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]


def recorded(part: str) -> Digests:
    """The digests of a part as they were recorded."""
    return json.loads((HERE / f"{part}.json").read_text(encoding="utf-8"))


def record(part: str, found: Digests) -> None:
    """Write the digests of a part, and what they were made with."""
    kept = {name: each for name, each in found.items() if each != NOT_HERE}
    for path, content in ((HERE / f"{part}.json", kept), (MADE_WITH, _versions())):
        path.write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def differences(before: Digests, now: Digests) -> Iterator[str]:
    """A line for each name that is not as it was recorded."""
    for name in {**before, **now}:
        if name not in now:
            yield f"{name}: is no more"
        elif now[name] == NOT_HERE:
            continue
        elif name not in before:
            yield f"{name}: is new"
        elif now[name] != before[name]:
            yield f"{name}: differs"


def other_versions() -> str:
    """What the digests were made with that has another version here; nothing where all is alike."""
    made_with = json.loads(MADE_WITH.read_text(encoding="utf-8"))
    here = _versions()
    said = (f"{name} {made_with.get(name)}, here {here[name]}" for name in here
            if made_with.get(name) != here[name])  # fmt: skip
    return "; ".join(said)


def _versions() -> dict[str, str]:
    python = {"python": platform.python_version(), "machine": platform.machine()}
    return {**python, **{name: _version(name) for name in LIBRARIES}}


def _version(name: str) -> str:
    try:
        return version(name)
    except ImportError:
        return "none"
