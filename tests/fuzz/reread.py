"""A release in the eyes of each of its readers, held against the policy it was made for."""

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .readers import ReaderError, View, texts_of, views_of
from .recount import Judged, broken, key_of
from .studies import Case

__all__ = ["people_of", "recounted"]

Texts = Mapping[str, Sequence[str | None]]
Failure = tuple[str, str]


def recounted(
    document: Mapping,
    files: Mapping[str, str],
    path: Path,
    separator: str,
    readers: Counter,
    people: Sequence[tuple] | None = None,
) -> Iterator[Failure]:
    """What does not hold of a release in the eyes of its readers: kind and detail.

    ``readers`` counts who could read it; ``people`` are the labels of a population.
    """
    texts = texts_of(path, separator)
    gap = document.get("data", {}).get("missing") == "gap"
    judged = Judged({}, texts, *_columns(document), people, _chains(files), True, gap)
    fine: set[str] = set()
    for reader, view in views_of(path, separator).items():
        label = f"{path.suffix[1:]}/{reader}"
        misread = _misread(view, texts, [*judged.names, *judged.sensitive])
        if isinstance(view, ReaderError) or misread:
            yield f"{label} {misread[0]}", misread[1]
            continue
        readers[label] += 1
        shape = repr([_numbered(view[name]) for name in (*judged.names, *judged.sensitive)])
        if shape in fine:  # who sees the same classes and values counts the same
            continue
        found = list(_broken(replace(judged, view=view, as_texts=reader == "text"), document))
        fine |= set() if found else {shape}
        yield from ((f"{label} breaks {model}", detail) for model, detail in found)


def _columns(document: Mapping) -> tuple[list[str], list[str]]:
    """The columns that tell classes apart, and the sensitive ones."""
    numbered = document.get("recoding", {}).get("method") == "merged-cells"
    names = [*document["quasi-identifiers"], *(["class"] if numbered else [])]
    sensitive = document.get("sensitive", {}).get("attributes", [])
    return names, [sensitive] if isinstance(sensitive, str) else sensitive


def _misread(view: View | ReaderError, texts: Texts, names: Sequence[str]) -> Failure | tuple[()]:
    """How a reader fails to see the table that stands there, if it does."""
    if isinstance(view, ReaderError):
        return "cannot read", str(view)
    if not set(names) <= set(view):
        return "reads other columns", str(sorted(set(view) ^ set(texts)))
    records = {len(column) for column in view.values()}
    if records != {len(column) for column in texts.values()}:
        return "reads other records", str(records)
    return ()


def _broken(judged: Judged, document: Mapping) -> Iterator[Failure]:
    search = document.get("search", {})
    odds = float(search.get("odds", 1.25)) if "against" in search else None
    for model, attribute, worst in broken(judged, document["privacy"], odds):
        about = f" about {attribute!r}: {_alike(judged, attribute)}" if attribute else ""
        yield model, f"comes to {worst:.6g}{about}"


def _numbered(column: Sequence[int | None]) -> list[int | None]:
    """A column by the order in which its values occur."""
    number: dict[int, int] = {}
    return [None if v is None else number.setdefault(v, len(number)) for v in column]


def _alike(judged: Judged, attribute: str) -> str:
    """The texts that a reader takes for one value."""
    alike: dict[object, set[str]] = {}
    for text, code in zip(judged.texts[attribute], judged.view[attribute], strict=True):
        alike.setdefault(code, set()).add(str(text)[:40])
    groups = [str(sorted(group)) for group in alike.values() if len(group) > 1]
    return "; ".join(groups) or "no texts alike"


def _chains(files: Mapping[str, str]) -> dict[str, dict[str, tuple]]:
    """The labels of sensitive values, by the file of their hierarchy."""
    return {
        name: {row[0]: tuple(row) for row in _rows(text)}
        for name, text in files.items()
        if name.startswith("sensitive")
    }


def _rows(text: str) -> list[list[str]]:
    """The rows of a hierarchy that was written here, with ``*`` above several last groups."""
    for separator in ";,\t|":
        read = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows = [row for row in read if row]
        if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            break
    several = len({row[-1] for row in rows}) > 1 or len(rows[0]) == 1
    return [[*row, "*"] for row in rows] if several else rows


def people_of(case: Case, texts: Texts) -> list[tuple] | None:
    """The population's labels, by those of the table's records; None where these do not say.

    Whom no class stands for is among the suppressed, where there are some.
    """
    names = list(case.document["quasi-identifiers"])
    shown = list(zip(*(texts[name] for name in names), strict=True))
    if "everybody.csv" not in case.files or len(shown) != len(case.table[names[0]]):
        return None
    hidden = ("*",) * len(names)
    labels: dict[tuple[str, object], set[str | None]] = {}
    for place, label in enumerate(shown):
        for name, text in zip(names, label, strict=True):
            if label != hidden:
                labels.setdefault((name, _key(case.table[name][place])), set()).add(text)
    _, *people = csv.reader(io.StringIO(case.files["everybody.csv"], newline=""))
    found = [[labels.get((n, _key(v)), ()) for n, v in zip(names, p, strict=True)] for p in people]
    if any(len(label) > 1 for person in found for label in person):
        return None
    known = set(shown)
    if any(_may_be_in(person, known - {hidden}) for person in found if not all(person)):
        return None
    recoded = [tuple(next(iter(label), None) for label in person) for person in found]
    lost = hidden if hidden in known else None
    everybody = [person if person in known else lost or person for person in recoded]
    return everybody if known <= set(everybody) else None


def _may_be_in(person: Sequence[Collection[str | None]], known: Collection[tuple]) -> bool:
    """Whether a class has the labels of a person, as far as these are known."""
    return any(
        all(not labels or label in labels for labels, label in zip(person, each, strict=True))
        for each in known
    )


def _key(value: object) -> object:
    return key_of("" if value is None else str(value))
