"""Findings for servers of continuous integration: SARIF 2.1.0, the OASIS standard of 2020."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from anonymizer.errors import InputError
from anonymizer.release.output import require_place, write_file
from anonymizer.risk.lint import RULES, Lint
from anonymizer.version import __version__

SUFFIX = ".sarif"
SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif_at(path: Path, *, force: bool) -> Callable[[Lint], None]:
    """Return a function that writes findings to a file, which ``force`` replaces.

    Raises InputError when the file cannot be made. No table, study or manifest has its suffix.
    """
    if path.suffix != SUFFIX:
        raise InputError(f"cannot write {path}: findings go to a file that ends in {SUFFIX}")
    require_place(path, "cannot write", force=force)

    def write(found: Lint) -> None:
        content = (json.dumps(sarif(found), indent=2) + "\n").encode()
        write_file(path, partial(_write, content=content), force=force)

    return write


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def sarif(found: Lint) -> dict[str, Any]:
    """Return findings as a log of SARIF: their messages, and none of the steward's figures."""
    names = [*dict.fromkeys(each.rule for each in found.findings)]
    uri = _uri(found.path)
    results = [
        {
            "ruleId": each.rule,
            "ruleIndex": names.index(each.rule),
            "level": each.level,
            "message": {"text": each.text},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri},
                        "region": {"startLine": each.line},
                    }
                }
            ],
        }
        for each in found.findings
    ]
    rules = [
        {
            "id": name,
            "shortDescription": {"text": RULES[name].finds},
            "defaultConfiguration": {"level": RULES[name].level},
        }
        for name in names
    ]
    driver = {"name": "anonymizer", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": found.error is None}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _uri(path: Path) -> str:
    """The path of a file as servers compare it with those of a repository, if it lies within."""
    try:
        return quote(path.absolute().relative_to(Path.cwd()).as_posix())
    except ValueError:
        return path.absolute().as_uri()
