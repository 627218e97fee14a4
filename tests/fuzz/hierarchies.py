"""Random hierarchy files, and TOML as a study file has it."""

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

__all__ = ["LONE", "hierarchy", "listed", "number_in", "toml_of"]

KINDS = ("suppress", "table", "masked", "keep", "ranges", "calendar", "order")
LONE = "Zk3alone"
"""A value of a quasi-identifier that one record has: told by no file that does not show it."""

UNITS = (
    *("second", "minute", "hour", "day", "month", "quarter", "half-year", "year", "5 years"),
    *("decade", "century"),
)
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
STYLES = ("g", "g", "g", "", "True ", "NA", "[", "=", "\u00e9 ")
"""What labels begin with; none of them: labels that look like values."""


def number_in(text: str) -> Fraction | None:
    """The number that a text writes out, if it is a short one."""
    try:
        return Fraction(text.strip()) if len(text) < 40 and "/" not in text else None
    except ValueError:
        return None


def hierarchy(
    rng: random.Random, values: Sequence[object], kind: str | None = None
) -> tuple[str, str]:
    """The suffix and the content of a hierarchy file over some values, of a kind or any."""
    present = [str(v).strip() for v in values if v is not None and str(v).strip()]
    numbers = bool(present) and all(number_in(text) is not None for text in present)
    dates = bool(present) and all(DATE.fullmatch(text) for text in present)
    weights = (3, 3, 1, 1.5, 4 * numbers, 6 * dates, 1)
    kind = kind or rng.choices(KINDS, weights)[0]
    if kind == "table" and present:
        return "csv", listed(rng, present)
    if kind == "ranges":
        return "toml", _ranges(rng)
    if kind == "masked":
        return "toml", _masked(rng)
    if kind == "keep" and present:
        return "toml", _kept(rng, present)
    if kind == "calendar":
        return "toml", _calendar(rng)
    if kind == "order" and len(set(present)) > 1:
        return "toml", _order(rng, present)
    return "toml", "suppress = true\n"


def _masked(rng: random.Random) -> str:
    """Codes that are masked from either side, by any character."""
    name = rng.choice(("prefixes", "prefixes", "suffixes", "redact"))
    lengths = sorted({rng.randint(1, 4), 1, 2}, reverse=name != "redact")
    side = f'side = "{rng.choice(("left", "right"))}"\n' if name == "redact" else ""
    mask = f'mask = "{rng.choice("*#x")}"\n' if rng.random() < 0.5 else ""
    return f"{name} = {lengths}\n{side}{mask}"


def _kept(rng: random.Random, values: Sequence[str]) -> str:
    """Some values that are kept, none that one record alone has, and what all others are called."""
    counts = Counter(values)
    often = [value for value in counts if counts[value] > 1 or rng.random() < 0.1 * (value != LONE)]
    kept = rng.sample(often, min(len(often), rng.randint(1, 4))) or ["nobody's"]
    levels = [kept, kept[: rng.randint(1, len(kept))]][: rng.randint(1, 2)]
    others = ["other", "g0", *(value for value in counts if value not in (*kept, LONE))]
    return f"keep = {_value(levels)}\nother = {_value(rng.choice(others))}\n"


def _ranges(rng: random.Random) -> str:
    width = rng.choice((1, 2, 5, 10, 0.5))
    if rng.random() < 0.7:
        widths = [width, width * 2, width * 10][: rng.randint(1, 3)]
        origin = f"origin = {rng.choice((1, -3, 0.25))}\n" if rng.random() < 0.2 else ""
        return f"widths = {widths}\n{origin}"
    cuts = sorted(rng.sample(range(-5, 70), rng.randint(1, 5)))
    return f"cuts = [{cuts}, {cuts[::2]}]\n" if rng.random() < 0.5 else f"cuts = {cuts}\n"


def _calendar(rng: random.Random) -> str:
    units = [unit for unit in UNITS if rng.random() < 0.3] or ["month"]
    if units[-1] in UNITS[:4] and rng.random() < 0.3:
        units.append("week")
    zone = f'zone = "{rng.choice(("UTC", "Europe/Paris", "Asia/Tokyo"))}"\n'
    return f"calendar = {json.dumps(units)}\n{zone if rng.random() < 0.3 else ''}"


def _order(rng: random.Random, values: Sequence[str]) -> str:
    """The values in any order, those that are equal numbers once, and some that do not occur."""
    keys = {number_in(text) if number_in(text) is not None else text: text for text in values}
    order = [*keys.values(), "Zz", "a - b"]
    rng.shuffle(order)
    lines = [f"order = [{', '.join(map(_text, order))}]"]
    if rng.random() < 0.4:
        lines.append(f"widths = {rng.choice(([2], [2, 4], [3]))}")
    elif rng.random() < 0.6:
        cuts = sorted(rng.sample(range(1, len(order)), rng.randint(1, len(order) - 1)))
        levels = [cuts, cuts[::2]] if rng.random() < 0.5 else [cuts]
        lines.append(f"cuts = {_value([[order[cut] for cut in level] for level in levels])}")
    return "\n".join(lines) + "\n"


def listed(rng: random.Random, values: Iterable[str]) -> str:
    """A table that lists values, those that are equal numbers with equal labels."""
    distinct = list(dict.fromkeys(values))
    heights, style = rng.randint(1, 3), rng.choice(STYLES)
    groups = rng.randint(1, 4)
    keys = {text: number_in(text) if number_in(text) is not None else text for text in distinct}
    place = {key: rng.randrange(groups) for key in dict.fromkeys(keys.values())}
    rows = [
        [text, *(f"{style}{place[keys[text]] >> level}" for level in range(heights))]
        for text in distinct
    ]
    file = io.StringIO()
    csv.writer(file, delimiter=rng.choice(";;,\t|"), lineterminator="\n").writerows(rows)
    return file.getvalue()


def toml_of(document: Mapping[str, object]) -> str:
    """A document as TOML: values first, then sections, then lists of sections."""
    plain = {k: v for k, v in document.items() if not isinstance(v, dict) and not _sections(v)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in document.items():
        if isinstance(value, dict):
            lines += [f"[{_key(key)}]", *_lines(value)]
        elif _sections(value):
            lines += [line for each in value for line in (f"[[{_key(key)}]]", *_lines(each))]
    return "\n".join(lines) + "\n"


def _sections(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _lines(section: Mapping[str, object]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in section.items()]


def _key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else _text(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return str(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
