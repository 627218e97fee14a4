"""Releases that were changed, checksum and figures mended, so that a model alone can tell.

``tampered`` changes values, records, labels, spellings or parameters. What the library then says of
each model of the manifest is what the verifiers are held against.
"""

import csv
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from releases import KINDS, Kind, copied, header_and_rows, people, public_in

from anonymizer import InputError, verify_release
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import Verification

EVERY = "".join(
    f"[[privacy]]\nmodel = {each}\n"
    for each in (
        '"k-anonymity"\nk = 4',
        '"highest-reidentification-risk"\nrisk = 0.2',
        '"average-reidentification-risk"\nrisk = 0.1',
        '"reidentification-itpr"\nrisk = 0.95',
        '"distinct-l-diversity"\nl = 2',
        '"entropy-l-diversity"\nl = 1.4',
        '"recursive-l-diversity"\nc = 9\nl = 2',
        '"alpha-k-anonymity"\nalpha = 0.95\nk = 4',
        '"t-closeness"\nt = 0.45\ndistance = "kl"',
        '"t-closeness"\nt = 0.5\ndistance = "equal"',
        '"t-closeness"\nt = 0.5\ndistance = "ordered"\norder = ["low", "some", "high"]\n'
        'attribute = "income"',
        '"t-closeness"\nt = 0.5\ndistance = "ordered"\nattribute = "score"',
        '"basic-beta-likeness"\nbeta = 9',
        '"enhanced-beta-likeness"\nbeta = 9',
        '"delta-disclosure"\ndelta = 9',
        '"pointwise-maximal-leakage"\nepsilon = 9',
        '"bayesian-gain"\ngain = 0.9',
        '"value-gain"\ngain = 0.9',
        '"mean-information"\nbits = 2',
        '"itpr"\nrisk = 1',
    )
)
"""Every model that is examined without an installation."""


def of_every_model(directory: Path) -> Path:
    """A release under all of them, of people who have a score as well."""
    table = people(Kind())
    table["score"] = [(i * i // 7 + age // 20) % 4 * 5 for i, age in enumerate(table["age"])]
    table.drop(columns=["name", "note"]).to_csv(directory / "people.csv", index=False)
    (directory / "study.toml").write_text(
        '[data]\npath = "people.csv"\n'
        '[quasi-identifiers]\nage = { widths = [10, 20] }\njob = "suppress"\n'
        f'[sensitive]\nattributes = ["disease", "income", "score"]\n{EVERY}'
    )
    publish(Study(directory / "study.toml"), directory / "out")
    return directory / "out"


BY_SHORT = ("full-domain", "suppressed and kept", "merged-cells", "missing as a gap", "pram")
BY_LONG = tuple(name for name, kind in KINDS.items() if kind.suffix == "csv")

SPELLINGS = (
    str.upper,
    str.title,
    "{}.".format,
    "'{}'".format,
    "\u200b{}".format,
    "{}\u0301".format,
)

Rows = list[list[str]]


@dataclass(frozen=True)
class Change:
    """What changes: the records of a table, and its manifest, by chance."""

    rng: random.Random
    header: list[str]
    manifest: dict

    def column(self) -> int:
        """A sensitive column, or a quasi-identifier where there is none."""
        roles = self.manifest["columns"]
        return self.header.index(self.rng.choice(roles["sensitive"] or roles["quasi_identifiers"]))

    def value(self, rows: Rows) -> Rows:
        place = self.column()
        rows[self.rng.randrange(len(rows))][place] = self.rng.choice(rows)[place]
        return rows

    def values(self, rows: Rows) -> Rows:
        place = self.column()
        label, value = self.rng.choice(rows)[0], self.rng.choice(rows)[place]
        for row in rows:
            row[place] = value if row[0] == label else row[place]
        return rows

    def fewer(self, rows: Rows) -> Rows:
        label = self.rng.choice(rows)[:2]
        alike = [row for row in rows if row[:2] == label][: self.rng.randrange(6)]
        return [row for row in rows if row[:2] != label] + alike or rows

    def more(self, rows: Rows) -> Rows:
        return rows + [list(self.rng.choice(rows)) for _ in range(self.rng.randint(1, 9))]

    def labels(self, rows: Rows) -> Rows:
        column = self.header.index(self.rng.choice(self.manifest["columns"]["quasi_identifiers"]))
        for _ in range(self.rng.choice([1, 1, 40])):
            one, other = self.rng.choice(rows), self.rng.choice(rows)
            one[column], other[column] = other[column], one[column]
        return rows

    def parameter(self, rows: Rows) -> Rows:
        parameters = self.rng.choice(self.manifest["privacy"])["parameters"]
        number = self.rng.choice([key for key, n in parameters.items() if type(n) in (int, float)])
        whole = isinstance(parameters[number], int)
        parameters[number] *= self.rng.choice([2, 5, 20] if whole else [0.1, 0.5, 2.0])
        return rows

    def spelling(self, rows: Rows) -> Rows:
        place = self.column()
        spelled, value = self.rng.choice(SPELLINGS), self.rng.choice(rows)[place]
        some = [row for row in rows if row[place] == value]
        for row in some[: self.rng.randint(1, len(some))]:
            row[place] = spelled(value)
        return rows


CHANGES = ("value", "values", "fewer", "more", "labels", "parameter", "spelling")


def tampered(release: Path, directory: Path, rng: random.Random) -> Path:
    """A copy of a release with one to three changes, and a checksum that fits."""
    path = copied(release, directory)
    steward_file(path).unlink()
    header, rows = header_and_rows(path / "released.csv")
    rows.sort()  # they are released in a random order
    change = Change(rng, header, public_in(path))
    for _ in range(rng.randint(1, 3)):
        rows = getattr(change, rng.choice(CHANGES))(rows)
    with (path / "released.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    written(path, change.manifest)
    return path


def written(path: Path, manifest: Mapping) -> None:
    """Write a manifest with the checksum of the table next to it."""
    digest = sha256((path / "released.csv").read_bytes()).hexdigest()
    table = {**manifest["table"], "sha256": digest}
    (path / "release.json").write_text(json.dumps({**manifest, "table": table}), encoding="utf-8")


def mended(path: Path) -> Verification | None:
    """What the library says of a changed release, whose figures become those that it found.

    None where it refuses to say anything.
    """
    try:
        found = verify_release(path)
    except InputError:
        return None
    manifest, roles = public_in(path), public_in(path)["columns"]
    header, rows = header_and_rows(path / "released.csv")
    at = {name: header.index(name) for name in header}
    labels = {tuple(row[at[name]] for name in roles["quasi_identifiers"]) for row in rows}
    gaps = {name: sum(not row[at[name]] for row in rows) for name in manifest["table"]["missing"]}
    for each, verdict in zip(manifest["privacy"], found.verdicts, strict=True):
        each |= verdict.to_dict() | {"parameters": each["parameters"]}
    table = {**manifest["table"], "missing": gaps}
    counts = {"released": len(rows), "classes": len(labels), "table": table}
    written(path, manifest | counts)
    return found
