"""The figures of the papers, computed anew."""

import json

from fuzz.exercise import command

from anonymizer import InputError, load_adult
from anonymizer.papers.command import PAPERS

from .texts import plain

STEADY = ("section", "quantity", "published", "place", "where", "varies")
"""What stays of a row that says of itself that it varies: with the clock, or with rounding."""

OF_ADULT = "bezzi2010"
"""The paper that is about a table that is not in the repository."""


def names() -> list[str]:
    """The papers."""
    return [f"figures of {paper}" for paper in PAPERS]


def text(name: str) -> str | None:
    """What ``reproduce`` prints of a paper as JSON; None where its table cannot be had."""
    paper = name.removeprefix("figures of ")
    try:
        if paper == OF_ADULT:
            load_adult()
    except InputError:
        return None
    code, out, error = command("reproduce", paper, "--json")
    found = json.loads(out)
    measured = {row["section"] for row in found if row["varies"]}  # its pictures are of seconds
    rows = [{**row, "series": None} if row["section"] in measured else row for row in found]
    rows = [{key: row[key] for key in STEADY} if row["varies"] else row for row in rows]
    return f"exit code {code}\n{plain(rows)}{error}"
