"""Files that are no CSV and no Parquet: known by how they begin, and how to convert them."""

import re
from pathlib import Path

from anonymizer.errors import InputError

MAGIC = (
    (b"PAR1", "it is Parquet; give it a name that ends in .parquet"),
    (b"\x1f\x8b", "it is compressed; give it a name that ends in .gz, such as {name}.gz"),
    (b"BZh", "it is compressed; give it a name that ends in .bz2, such as {name}.bz2"),
    (b"\x28\xb5\x2f\xfd", "it is compressed; give it a name that ends in .zst, such as {name}.zst"),
    (b"\xd0\xcf\x11\xe0", "it is an Excel workbook; save the sheet as CSV UTF-8, or " + "{excel}"),
    (b"%PDF", "it is a PDF document; export its table as CSV"),
    (b"7z\xbc\xaf", "it is an archive; unpack it and name the table in it"),
    (b"ARROW1", "it is Feather; {feather}"),
    (b"ORC", "it is ORC; {orc}"),
    (b"$FL2", "it is an SPSS file; {spss}"),
    (b"$FL3", "it is an SPSS file; {spss}"),
    (b"<stata_dta>", "it is a Stata file; {stata}"),
    (b"RDX", "it is a file of R; write the table by write.csv"),
)
"""How a file begins, and what is said of it; ``{excel}`` and the like are ``READERS``."""

SUFFIXES = {
    ".json": "it is JSON; {json}",
    ".jsonl": "it is JSON, a record a line; {lines}",
    ".ndjson": "it is JSON, a record a line; {lines}",
    ".xlsx": "it is an Excel workbook; save the sheet as CSV UTF-8, or {excel}",
    ".ods": "it is a spreadsheet; save the sheet as CSV UTF-8, or {excel}",
    ".dta": "it is a Stata file; {stata}",
    ".sav": "it is an SPSS file; {spss}",
    ".sas7bdat": "it is a SAS file; {sas}",
    ".xpt": "it is a SAS file; {sas}",
    ".feather": "it is Feather; {feather}",
    ".arrow": "it is Feather; {feather}",
    ".orc": "it is ORC; {orc}",
    ".rds": "it is a file of R; write the table by write.csv",
    ".rda": "it is a file of R; write the table by write.csv",
    ".rdata": "it is a file of R; write the table by write.csv",
}
"""What is said of a file by the ending of its name."""

READERS = {
    "json": "read_json({name!r})",
    "lines": "read_json({name!r}, lines=True)",
    "excel": "read_excel({name!r})",
    "stata": "read_stata({name!r})",
    "spss": "read_spss({name!r})",
    "sas": "read_sas({name!r})",
    "feather": "read_feather({name!r})",
    "orc": "read_orc({name!r})",
}
"""Functions of pandas that read what this package does not."""

JSON = re.compile(rb"\s*(?:\[\s*)*[{\[]\s*(?:\"[^\"]*\"\s*:|\{|\})")
MARKUP = re.compile(rb"\s*<(?:!doctype html|html|head|\?xml)", re.IGNORECASE)
WORKBOOK = (b"xl/", b"[Content_Types].xml", b"mimetypeapplication/vnd.oasis")


def require_table(path: Path, start: bytes) -> None:
    """Require that a file is no file of another kind; InputError says how to convert it."""
    said = _kind(path, start)
    if said:
        converters = {
            name: f"convert it, such as by pandas.{call.format(name=path.name)}.to_parquet("
            f"{path.stem + '.parquet'!r})"
            for name, call in READERS.items()
        }
        raise InputError(f"cannot read {path}: {said.format(name=path.name, **converters)}")


def _kind(path: Path, start: bytes) -> str:
    """What is said of a file that is no table by its start, or by its name; empty if it is one."""
    start = start.removeprefix(b"\xef\xbb\xbf")
    if start.startswith(b"PK\x03\x04"):
        return _archive(start)
    known = next((said for magic, said in MAGIC if start.startswith(magic)), "")
    if known:
        return known
    if MARKUP.match(start):
        return "it is a page of HTML or XML, perhaps of an error or a login, and no table"
    if path.suffix.lower() in SUFFIXES:
        return SUFFIXES[path.suffix.lower()]
    return SUFFIXES[".json"] if JSON.match(start) else ""


def _archive(start: bytes) -> str:
    if any(mark in start[:2000] for mark in WORKBOOK):
        return SUFFIXES[".xlsx"]
    return "it is a zip archive; unpack it and name the table in it"
