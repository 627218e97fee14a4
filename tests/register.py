"""An attacker who holds the folder of a release, and a register of everybody's quasi-identifiers.

He enumerates all tables of counts that the released table allows, and keeps those whose figures are
those of the manifest, wherever it has figures of the raw table. What is left of the ways to deal
out the sensitive values is what he knows of each person. Nothing of the library is used.

``python -m tests.register --number 300`` attacks random studies: by the folder as it is, and as it
was when the manifest had all figures, which its steward's file now has.
"""

import argparse
import csv
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, log2, prod
from pathlib import Path

Cell = tuple[str, ...]
Ill = Mapping[Cell, int]

NEAR = 1e-9
HIDDEN = "*"


@dataclass(frozen=True)
class Folder:
    """What lies in a folder: the records, their quasi-identifiers, and the manifest."""

    names: tuple[str, ...]
    rows: list[dict[str, str]]
    manifest: Mapping

    @classmethod
    def read(cls, release: Path) -> "Folder":
        manifest = json.loads((release / "release.json").read_text(encoding="utf-8"))
        with (release / manifest["table"]["file"]).open(newline="", encoding="utf-8") as file:
            rows = [*csv.DictReader(file)]
        return cls(tuple(manifest["columns"]["quasi_identifiers"]), rows, manifest)

    def label(self, cell: Cell) -> Cell:
        """The class of people who have some quasi-identifiers, each released or hidden."""
        shown = {name: row[name] for row in self.rows[:1] for name in self.names}
        return tuple(
            HIDDEN if shown[name] == HIDDEN else value
            for name, value in zip(self.names, cell, strict=True)
        )

    def ill(self, sensitive: str, value: str) -> Counter[Cell]:
        """How many of each class have a sensitive value."""
        return Counter(
            tuple(row[name] for name in self.names) for row in self.rows if row[sensitive] == value
        )


def entropy(*counts: int) -> float:
    """Of how many there are of each, in bits."""
    total = sum(counts)
    return -sum(each / total * log2(each / total) for each in counts if each)


def information(people: Mapping[Cell, int], ill: Ill) -> float:
    """I(X;W) of cells and a sensitive attribute of two values."""
    everybody, sick = sum(people.values()), sum(ill.values())
    within = sum(
        size / everybody * entropy(ill[cell], size - ill[cell]) for cell, size in people.items()
    )
    return entropy(sick, everybody - sick) - within


def hidden(counts: Mapping[Cell, int], node: Sequence[int]) -> Counter[Cell]:
    """Counts of cells of which those attributes are hidden whose level is 1."""
    found: Counter[Cell] = Counter()
    for cell, size in counts.items():
        found[
            tuple(HIDDEN if level else value for level, value in zip(node, cell, strict=True))
        ] += size
    return found


@dataclass(frozen=True)
class Policy:
    """Classes of k people, and entropy l-diversity."""

    k: int
    diversity: float

    def holds(self, people: Mapping[Cell, int], ill: Ill) -> bool:
        return all(
            size >= self.k and 2 ** entropy(ill[cell], size - ill[cell]) >= self.diversity - NEAR
            for cell, size in people.items()
        )


def figures(people: Mapping[Cell, int], ill: Ill, policy: Policy, found: Mapping) -> Mapping:
    """The figures of a table of counts that a manifest may have, by their places."""
    original, retained = information(people, ill), found["retained"]
    nodes = [*product((0, 1), repeat=len(next(iter(people))))]
    feasible = [n for n in nodes if policy.holds(hidden(people, n), hidden(ill, n))]
    minimal = [
        node
        for node in feasible
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in feasible
        )
    ]
    return {
        ("information", "original"): original,
        ("information", "loss"): 1 - retained / original if original > NEAR else None,
        ("search", "feasible"): len(feasible),
        ("search", "minimal"): sorted(minimal),
    }


def consistent(manifest: Mapping, expected: Mapping) -> bool:
    """Whether a manifest has these figures, as far as it has any."""
    for (part, name), value in expected.items():
        reported = manifest[part].get(name)
        if reported is None:
            continue
        if isinstance(value, list):
            if sorted(map(tuple, reported)) != value:
                return False
        elif value is None or abs(reported - value) > NEAR:
            return False
    return True


def tables(people: Mapping[Cell, int], folder: Folder, ill: Mapping[Cell, int]) -> Iterator[Ill]:
    """All tables of counts that the released one allows."""
    classes: dict[Cell, list[Cell]] = {}
    for cell in sorted(people):
        classes.setdefault(folder.label(cell), []).append(cell)
    ways = []
    for label, cells in classes.items():
        within = product(*(range(people[cell] + 1) for cell in cells))
        ways.append(
            [dict(zip(cells, n, strict=True)) for n in within if sum(n) == ill.get(label, 0)]
        )
    for parts in product(*ways):
        yield Counter({cell: n for part in parts for cell, n in part.items()})


@dataclass(frozen=True)
class Learnt:
    """How many people the attacker knows for sure, and of how many more than the policy allows."""

    people: int
    sure: int
    beyond: int
    wrong: int
    left: int
    possible: int


def attack(release: Path, register: Sequence[Cell], policy: Policy, truth: Ill) -> Learnt:
    """What a folder and a register tell of the people in it; ``truth`` is who was right."""
    folder, people = Folder.read(release), Counter(register)
    ill = folder.ill("diagnosis", "HIV")
    found = folder.manifest["information"]
    possible, kept = 0, []
    for table in tables(people, folder, ill):
        possible += 1
        if consistent(folder.manifest, figures(people, table, policy, found)):
            kept.append((table, prod(comb(size, table[cell]) for cell, size in people.items())))
    total = sum(weight for _, weight in kept)
    sure = beyond = wrong = 0
    for cell, size in people.items():
        share = sum(table[cell] * weight for table, weight in kept) / total / size
        if min(share, 1 - share) < NEAR:
            sure += size
            wrong += size if truth[cell] != round(share) * size else 0
        doubt = entropy_of(share)
        beyond += size if 2**doubt < policy.diversity - NEAR else 0
    return Learnt(len(register), sure, beyond, wrong, len(kept), possible)


def entropy_of(share: float) -> float:
    """Of a value and its opposite, in bits."""
    return -sum(p * log2(p) for p in (share, 1 - share) if p > NEAR)


@dataclass(frozen=True)
class Study:
    """People of some wards and sexes, of whom those of one sex are ill more often."""

    records: Sequence[tuple[str, str, str]]
    policy: Policy = Policy(3, 1.5)

    @classmethod
    def drawn(cls, seed: int) -> "Study":
        rng = random.Random(seed)
        rare, often = rng.choice([(0.05, 0.95), (0.2, 0.8), (0.35, 0.6)])
        records = []
        for ward in range(rng.randint(2, 4)):
            for _ in range(rng.randint(4, 9)):
                sex = rng.choice("MF")
                ill = rng.random() < (often if sex == "F" else rare)
                records.append((f"W{ward}", sex, "HIV" if ill else "flu"))
        return cls(records)

    @property
    def register(self) -> list[Cell]:
        return [record[:2] for record in self.records]

    @property
    def ill(self) -> Ill:
        return Counter(record[:2] for record in self.records if record[2] == "HIV")

    @property
    def released(self) -> bool:
        """Whether the policy holds where sex is hidden."""
        node = (0, 1)
        return self.policy.holds(hidden(Counter(self.register), node), hidden(self.ill, node))

    def write(self, directory: Path) -> Path:
        """The study file, next to its table."""
        with (directory / "t.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("ward", "sex", "diagnosis"), *self.records])
        path = directory / "study.toml"
        path.write_text(
            '[data]\npath = "t.csv"\n[quasi-identifiers]\nward = "suppress"\nsex = "suppress"\n'
            '[sensitive]\nattributes = ["diagnosis"]\n'
            f'[[privacy]]\nmodel = "k-anonymity"\nk = {self.policy.k}\n'
            f'[[privacy]]\nmodel = "entropy-l-diversity"\nl = {self.policy.diversity}\n'
            '[recoding]\nmethod = "fixed"\nlevels = {ward = 0, sex = 1}\n',
            encoding="utf-8",
        )
        return path


def as_it_was(release: Path, directory: Path) -> Path:
    """A copy of a release whose manifest has the figures of its steward's file."""
    copy = Path(shutil.copytree(release, directory / "as-it-was"))
    shutil.copy(release.with_name(f"{release.name}.steward.json"), copy / "release.json")
    return copy


def attacked(study: Study, directory: Path) -> tuple[Learnt, Learnt]:
    """What the attacker learns of a study: by the folder as it is, and as it was."""
    from anonymizer.release.publish import publish
    from anonymizer.release.study import Study as StudyFile

    out = directory / "out"
    publish(StudyFile(study.write(directory)), out)
    register, policy, ill = study.register, study.policy, study.ill
    now = attack(out, register, policy, ill)
    return now, attack(as_it_was(out, directory), register, policy, ill)


def main() -> None:
    """Attack random studies and print what was learnt."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found: list[tuple[Learnt, Learnt]] = []
    seed = given.seed
    while len(found) < given.number:
        study = Study.drawn(seed)
        seed += 1
        if study.released:
            with tempfile.TemporaryDirectory() as directory:
                found.append(attacked(study, Path(directory)))
    for name, place in (("as it is", 0), ("as it was, with all figures", 1)):
        learnt = [each[place] for each in found]
        sys.stdout.write(
            f"{len(learnt)} studies, the folder {name}: {sum(e.sure for e in learnt)} of "
            f"{sum(e.people for e in learnt)} people known for sure, "
            f"{sum(e.wrong for e in learnt)} of them wrongly; "
            f"{sum(e.beyond for e in learnt)} beyond the policy, in "
            f"{sum(e.beyond > 0 for e in learnt)} studies\n"
        )


if __name__ == "__main__":
    main()
