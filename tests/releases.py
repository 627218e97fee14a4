"""Releases of every kind, small ones, that tests change afterwards."""

import csv
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pandas as pd

from anonymizer.errors import InputError
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.publish import publish
from anonymizer.release.study import Study

JOBS = {"nurse": "health", "vet": "health", "smith": "craft", "mason": "craft", "monk": "church"}
NAME = "Nemo-"

POLICY = """
[[privacy]]
model = "k-anonymity"
k = 4
[[privacy]]
model = "t-closeness"
t = 0.45
distance = "kl"
"""


@dataclass(frozen=True)
class Kind:
    """A study's search, masking, objective and policy, and how its table lies."""

    more: str = ""
    policy: str = POLICY
    missing: str = "error"
    suffix: str = "csv"
    sensitive: tuple[str, ...] = ("disease",)
    jobs: str = '"job.csv"'
    alone: bool = False
    population: bool = False
    spelled: bool = False


def searched(recoding: str, more: str = "", search: str = "") -> str:
    return f'[search]\n{search}\n[recoding]\nmethod = "{recoding}"\nmin-gain = 0.0\n{more}\n'


def drawn(method: str, levels: str, more: str) -> str:
    return f'[recoding]\nmethod = "{method}"\nlevels = {levels}\nseed = 1\n{more}\n'


def fixed_at(level: int) -> str:
    return f'[recoding]\nmethod = "fixed"\nlevels = {{age = 4, job = {level}}}\n'


KEPT = '{ keep = [["nurse", "vet", "smith", "baker"], ["nurse", "baker"]], other = "all others" }'

SUPPRESSION = 'suppression = 0.2\nsuppress = "any"\n'
KINDS: Mapping[str, Kind] = {
    "full-domain": Kind(),
    "full-domain of parquet": Kind(suffix="parquet"),
    "full-domain without a file of jobs": Kind(jobs='"suppress"'),
    "suppressed and kept": Kind(f"[recoding]\n{SUPPRESSION}"),
    "suppressed by size": Kind(
        "[recoding]\nsuppression = 0.2\n", POLICY.replace("0.45", "0.9").replace("k = 4", "k = 5")
    ),
    "suppressed and removed": Kind(f"[recoding]\n{SUPPRESSION}remove = true\n"),
    "suppressed, by discernibility": Kind(
        f'[recoding]\n{SUPPRESSION}[objective]\nname = "discernibility"\n'
    ),
    "removed, by average class size": Kind(
        f'[recoding]\n{SUPPRESSION}remove = true\n[objective]\nname = "average-class-size"\n'
    ),
    "removed, by discernibility": Kind(
        f'[recoding]\n{SUPPRESSION}remove = true\n[objective]\nname = "discernibility"\n'
    ),
    "by precision": Kind('[objective]\nname = "precision"\n'),
    "by loss": Kind('[objective]\nname = "loss"\n'),
    "by miller-madow": Kind('[objective]\nname = "miller-madow"\n'),
    "above shuffled": Kind('[objective]\nname = "above-shuffled"\n'),
    "best": Kind(searched("best", 'recodings = ["full-domain", "cut"]')),
    "fixed": Kind('[recoding]\nmethod = "fixed"\nlevels = {age = 3, job = 2}\n'),
    "kept values": Kind(fixed_at(1), jobs=KEPT),
    "kept values, merged cells": Kind(searched("merged-cells", search="seed = 3"), jobs=KEPT),
    "masked codes": Kind(fixed_at(1), jobs='{ suffixes = [3, 1], mask = "#" }'),
    "variable-range": Kind(searched("variable-range")),
    "ranges and groups": Kind(searched("variable-range", 'group = ["job"]')),
    "cut": Kind(searched("cut")),
    "cut through levels": Kind(searched("cut", "refine = []"), POLICY.replace("0.45", "0.56")),
    "cut of parquet": Kind(searched("cut"), suffix="parquet"),
    "boxes": Kind(searched("boxes", "max-classes = 6")),
    "merged-cells": Kind(searched("merged-cells", search="seed = 0")),
    "missing as a category": Kind(missing="category"),
    "missing as a category, cut": Kind(searched("cut"), missing="category"),
    "missing as a category, boxes": Kind(
        searched("boxes", "max-classes = 5"), missing="category", suffix="parquet"
    ),
    "missing as a gap": Kind(missing="gap"),
    "missing as a gap, boxes": Kind(searched("boxes", "max-classes = 5"), missing="gap"),
    "missing and dropped": Kind(missing="drop"),
    "two attributes": Kind(
        "[objective]\nweights = {disease = 2}\n", sensitive=("disease", "income")
    ),
    "a target": Kind('[objective]\ntarget = "income"\n'),
    "targets": Kind("[objective]\ntargets = {income = 1, disease = 0.5}\n"),
    "no sensitive attribute": Kind(
        '[objective]\nname = "discernibility"\n',
        '[[privacy]]\nmodel = "k-anonymity"\nk = 4\n',
        sensitive=(),
    ),
    "pram": Kind(
        drawn("pram", "{age = 2, job = 0}", 'attributes = ["job"]'),
        POLICY.replace("0.45", "0.6"),
    ),
    "pram, withheld": Kind(
        drawn("pram", "{age = 2, job = 0}", 'attributes = ["job"]\nwithhold = true'),
        POLICY.replace("0.45", "0.6"),
    ),
    "noise": Kind(
        drawn("noise", "{age = 0, job = 2}", 'attributes = ["age"]\ngrid = {age = 10}'),
        POLICY.replace("0.45", "0.6"),
    ),
    "bottleneck": Kind(
        drawn("bottleneck", "{age = 2, job = 1}", ""), POLICY.replace("0.45", "0.6")
    ),
    "differential privacy": Kind(
        '[recoding]\nmethod = "safepub"\nlevels = {age = 2, job = 2}\n',
        '[[privacy]]\nmodel = "differential-privacy"\nepsilon = 2\ndelta = 0.01\n',
        sensitive=(),
        alone=True,
    ),
    "values spelled in several ways": Kind(spelled=True),
    "population": Kind(
        policy=POLICY + '[[privacy]]\nmodel = "k-map"\nk = 9\npopulation = "everybody.csv"\n',
        population=True,
    ),
    "population, suppressed": Kind(
        f"[recoding]\n{SUPPRESSION}",
        POLICY + '[[privacy]]\nmodel = "k-map"\nk = 9\npopulation = "everybody.csv"\n',
        population=True,
    ),
}

OTHER_KINDS: Mapping[str, Kind] = {
    "codes of one length": Kind(
        fixed_at(2), jobs='{ prefixes = [1], length = 3, replace = { "v" = ["n"] } }'
    ),
}
"""Kinds that frozen edits do not draw: one more of these would make others of all of them."""


def people(kind: Kind, records: int = 240) -> pd.DataFrame:
    """People whose disease goes with age and job; where records are suppressed five stand out."""
    rows = []
    for i in range(records):
        age, job = 20 + i * 7 % 40 // 4 * 4, [*JOBS][(i // 3) % 5]
        ill = ["flu", "cold", "hiv"][(i * i // 5 + age // 20 * 2 + len(job)) % 4 % 3]
        income = ["low", "high", "some"][(i // 7 + age // 16) % 3]
        rows.append((f"{NAME}{i}", age, job, ill, income, f"n{i}"))
    if "suppression" in kind.more:
        rows[:5] = [(f"{NAME}{i}", 77 + 20 * i, *row[2:]) for i, row in enumerate(rows[:5])]
    table = pd.DataFrame(rows, columns=["name", "age", "job", "disease", "income", "note"])
    if kind.alone:
        return table[["name", "age", "job"]]
    if kind.spelled:
        table["disease"] = table["disease"].map({"flu": "1", "cold": "x", "hiv": "2"})
        table["disease"] += [".0" * (i % 4 == 0) for i in table.index]
    if kind.missing != "error":
        table["job"] = table["job"].mask(table.index % 9 == 4)
        table["disease"] = table["disease"].mask(table.index % 8 == 5)
    return table


def release_of(kind: Kind, directory: Path) -> Path:
    """Publish a release of a kind; its directory, next to which the study lies."""
    directory.mkdir(parents=True, exist_ok=True)
    table = people(kind)
    if kind.suffix == "csv":
        table.to_csv(directory / "people.csv", index=False)
    else:
        table.to_parquet(directory / "people.parquet", index=False)
    if kind.population:
        everybody = pd.concat([table] * 3)[["age", "job"]]
        everybody.to_csv(directory / "everybody.csv", index=False)
    (directory / "age.toml").write_text("widths = [5, 10, 20]\n")
    (directory / "job.csv").write_text("".join(f"{job};{of}\n" for job, of in JOBS.items()))
    sensitive = ", ".join(f'"{name}"' for name in kind.sensitive)
    (directory / "study.toml").write_text(
        f'[data]\npath = "people.{kind.suffix}"\nmissing = "{kind.missing}"\n'
        f'[quasi-identifiers]\nage = "age.toml"\njob = {kind.jobs}\n'
        f"[sensitive]\nattributes = [{sensitive}]\n"
        f'[identifiers]\nattributes = ["name"]\n{kind.policy}{kind.more}'
    )
    publish(Study(directory / "study.toml"), directory / "out")
    return directory / "out"


def copied(release: Path, directory: Path) -> Path:
    """A copy of a release and of its steward's file, which a test may change."""
    copy = Path(shutil.copytree(release, directory / "out"))
    shutil.copy(steward_file(release), steward_file(copy))
    return copy


def manifest_of(**parts: object) -> Manifest:
    """A manifest of nothing but some parts."""
    nothing: dict[str, object] = dict.fromkeys(("records", "dropped", "suppressed", "information"))
    losses = ("uncertainty", "average", "standard_deviation", "maximum", "minimum")
    nothing |= {"format": 2, "query_loss": dict.fromkeys(losses, 0.0)}
    nothing |= {"seeds": {"search": 0, "drawing": "none"}}
    nothing |= dict.fromkeys(("released", "classes"), 0)
    nothing |= {name: {} for name in ("targets", "levels", "recoding", "search")}
    nothing |= {name: [] for name in ("other_columns", "privacy", "warnings")}
    return Manifest.parse({**nothing, "suppressed_class": "none", **parts})


def manifest_in(release: Path) -> dict:
    """What the steward has of a release, all figures."""
    found = json.loads(steward_file(release).read_text(encoding="utf-8"))
    return {name: part for name, part in found.items() if name != "release"}


def public_in(release: Path) -> dict:
    """What everybody has of it."""
    return json.loads((release / "release.json").read_text(encoding="utf-8"))


def alike(one: Path, other: Path) -> bool:
    """Whether two releases are the same but for the order of their records, and its digests."""
    tables = [sorted((each / "released.csv").read_text().splitlines()) for each in (one, other)]
    manifests = [(each / "release.json").read_text() for each in (one, other)]
    told = [re.sub('"sha256": "[0-9a-f]{64}"', "", each) for each in manifests]
    return tables[0] == tables[1] and told[0] == told[1]


def rewritten(release: Path, manifest: Mapping) -> None:
    """Give a release another manifest, and its steward the figures that belong to it."""
    try:
        text = Manifest.parse(manifest).public.text
    except InputError:  # it is damaged
        text = json.dumps(manifest)
    (release / "release.json").write_text(text, encoding="utf-8")
    belongs = {"release": sha256(text.encode()).hexdigest()}
    steward_file(release).write_text(json.dumps({**manifest, **belongs}), encoding="utf-8")


def header_and_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows
