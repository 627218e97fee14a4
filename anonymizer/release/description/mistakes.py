"""What is wrong with a study file, in a line that shows the right form."""

import re
from pathlib import Path

from anonymizer.errors import LONGEST, InputError

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
        return f"= stands between a key and its value: {match[1]} = {_quoted(match[2])}"
    if match := UNQUOTED.fullmatch(line):
        if match[2].lower() in ("true", "false"):
            return f"write {match[1]} = {match[2].lower()}, in small letters"
        return f'texts stand in quotes: {match[1]} = "{match[2]}"'
    if match := SPACED.fullmatch(line):
        return f'a name with blanks or other signs stands in quotes: "{match[1].strip()}" = ...'
    return ""


def _quoted(value: str) -> str:
    return f'"{value}"' if re.fullmatch(r"[^\W\d][^\"'\[\]{}]*", value) else value
