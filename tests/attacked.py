"""Random tables, released and audited by the command line, and attacked without it.

``python -m tests.attacked`` holds what `audit` says of each against the attacker of ``simulated``,
and writes what came of it to benchmarks/results/attacker.md.
"""

import argparse
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from math import inf, sqrt
from pathlib import Path
from time import monotonic
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))  # as pytest finds what tests share

from simulated import NEAR, Attacker, Posteriors, breaks, random_table, released_by, worth_of

from anonymizer import (
    Anonymizer,
    Best,
    Boxes,
    Cut,
    DistinctLDiversity,
    EntropyLDiversity,
    FullDomain,
    KAnonymity,
    MergedCells,
    PolicyUnreachableError,
    TCloseness,
    VariableRange,
)
from anonymizer.cli import main as command_line
from anonymizer.feedback.progress import ignore
from anonymizer.recoding.recoding import Recoding
from anonymizer.risk import method
from anonymizer.risk.method import Learnt, listed, nothing_learnt, simulation
from anonymizer.risk.minimality import Minimality
from anonymizer.risk.simulation import (
    Dealing,
    Released,
    SimulatedSearch,
    Simulation,
    cells_of,
    limited,
)

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "attacker.md"
KINDS: dict[str, Recoding] = {
    "ranges": VariableRange(),
    "levels": FullDomain(),
    "suppression": FullDomain(suppression=0.4),
    "any": FullDomain(suppression=0.4, suppress="any"),
    "boxes": Boxes(),
    "cuts": Cut(),
    "merged": MergedCells(),
    "best": Best(),
}
MODELS = [DistinctLDiversity(2), EntropyLDiversity(1.6), TCloseness(0.35, distance="equal")]
BOUNDS = [{"distinct": 2}, {"entropy": 1.6}, {"distance": 0.35}]
"""The same bounds, as the attacker judges by them."""

STUDIED = [
    'model = "distinct-l-diversity"\nl = 2',
    'model = "entropy-l-diversity"\nl = 1.6',
    'model = "t-closeness"\nt = 0.35\ndistance = "equal"',
]
METHODS = {
    "ranges": 'method = "variable-range"',
    "levels": 'method = "full-domain"',
    "suppression": 'method = "full-domain"\nsuppression = 0.4',
    "any": 'method = "full-domain"\nsuppression = 0.4\nsuppress = "any"',
    "boxes": 'method = "boxes"',
    "cuts": 'method = "cut"',
}
STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
a = {{ widths = [2] }}
b = "suppress"
[sensitive]
attributes = {about}
[recoding]
{recoding}
[objective]
name = "{objective}"
[[privacy]]
model = "k-anonymity"
k = 2
{models}
"""


class Simulated:
    """A random table, how it is released, and its search as the attack simulates it."""

    def __init__(self, kind: str, seed: int, records: int | None = None) -> None:
        rng = np.random.default_rng(seed)
        self.table = random_table(rng, records or int(rng.integers(5, 9)))
        self.about = [name for name in "wv" if name in self.table.columns]
        self.models = [KAnonymity(2), MODELS[int(rng.integers(3))]]
        self.objective = ("discernibility", "mutual-information")[int(rng.integers(2))]
        self.recoding = KINDS[kind]
        task = self.anonymizer().task(self.table)
        self.search, self.world = SimulatedSearch.of(self.recoding, task)
        self.cell_of = cells_of(self.search.problem, task.counted.kept)
        self.ours = self.search.released(self.world, limited(inf))

    def anonymizer(self) -> Anonymizer:
        return Anonymizer(
            quasi_identifiers={"a": {"widths": [2]}, "b": "suppress"},
            sensitive=self.about,
            privacy=self.models,
            recoding=self.recoding,
            objective=self.objective,
        )

    @property
    def whole(self) -> Released | None:
        """What all records are released as; None where not all are."""
        return None if self.ours is None or None in self.ours else self.ours

    def attacked(self, **options: int) -> Minimality:
        rng = np.random.default_rng(0)
        return simulation(self.search, self.world, self.whole, rng, seconds=inf, **options)

    def beliefs(self) -> list[dict[tuple, float]]:
        """What each record may have, how likely, by listing all worlds."""
        dealing = Dealing.of(self.world, self.whole)
        simulated = Simulation(self.search, self.whole, inf)
        return beliefs_of(
            simulated, listed(simulated, dealing, nothing_learnt(None), 10**6, ignore)
        )


def beliefs_of(simulated: Simulation, learnt: Learnt) -> list[dict[tuple, float]]:
    """What each record may have, how likely, by the mean of all worlds."""
    search, means = simulated.search, learnt.means[0, 0]
    counts = search.problem.counts
    columns = (np.array(counts.values[name], object)[kind] for name, kind in search.kinds.items())
    kinds = [*zip(*columns, strict=True)]
    return [
        {
            kind: mean / counts.sizes[cell]
            for kind, mean in zip(kinds, means[cell], strict=True)
            if mean
        }
        for cell in cells_of(search.problem, search.task.counted.kept)
    ]


def simulated_tables(kind: str, number: int, records: int | None = None):
    """So many tables that can be released, and all records of them."""
    seed = 0
    while number:
        seed += 1
        try:
            found = Simulated(kind, seed, records)
        except PolicyUnreachableError:
            continue
        if found.whole is not None:
            number -= 1
            yield found


@dataclass
class Tally:
    """What came of the tables of a kind; ``wrong`` are those in which anything differs."""

    refused: int = 0
    left_out: int = 0
    tables: int = 0
    listed: int = 0
    revealing: int = 0
    people: int = 0
    sure: int = 0
    beyond: int = 0
    beyond_tables: int = 0
    doubtful: int = 0
    worlds: int = 0
    compared: int = 0
    drawn: int = 0
    drawn_beyond: int = 0
    too_few: int = 0
    estimated: int = 0
    apart: int = 0
    walked: int = 0
    found_by_walks: int = 0
    within_error: int = 0
    codes: Counter = field(default_factory=Counter)
    methods: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add what came of other tables."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def expect(self, holds: bool, what: str) -> None:
        """Note what does not hold."""
        if not holds:
            self.wrong.append(what)


def said_of(command: list[str]) -> tuple[int, str]:
    """Carry out a command; its exit code, and what it prints."""
    output = io.StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(io.StringIO()):
            command_line(command)
    except SystemExit as stop:
        return int(stop.code or 0), output.getvalue()
    return 0, output.getvalue()


@dataclass(frozen=True)
class Audited:
    """What an audit says of a release: its exit code, of minimality, and beliefs of each record."""

    code: int
    said: dict
    released: pd.DataFrame
    beliefs: list[dict[tuple, float]] | None


def audited(found: Simulated, kind: str, place: Path) -> Audited:
    """Release a table by a study file, and audit the release; ValueError where it is refused."""
    people, study, out = place / "people.csv", place / "study.toml", place / "out"
    found.table.to_csv(people, index=False)
    model = STUDIED[MODELS.index(found.models[1])]
    models = (f'[[privacy]]\nattribute = "{name}"\n{model}' for name in found.about)
    study.write_text(
        STUDY.format(
            about=json.dumps(found.about),
            recoding=METHODS[kind],
            objective=found.objective,
            models="\n".join(models),
        )
    )
    code, _ = said_of(["run", str(study), "-o", str(out), "--force"])
    if code:
        raise ValueError
    options = [str(out), "--against", str(people), "--study", str(study), "--json"]
    beliefs = []

    def kept(simulated: Simulation, *given: Any) -> Learnt | None:
        learnt = listed(simulated, *given)
        if learnt is not None:
            beliefs.append(beliefs_of(simulated, learnt))
        return learnt

    with patch.object(method, "listed", kept):  # what it knows of each record, it does not print
        code, said = said_of(["audit", *options])
    released = pd.read_csv(out / "released.csv", dtype=str)
    minimality = json.loads(said)["releases"][0]["minimality"]
    return Audited(code, minimality, released, beliefs[0] if beliefs else None)


def attacked(kind: str, seed: int, records: int, most: int, walked: bool) -> Tally:
    """Attack a random table; ``most`` worlds are listed, of more some are drawn."""
    tally = Tally()
    try:
        found = Simulated(kind, seed, records)
        with tempfile.TemporaryDirectory() as place:
            audit = audited(found, kind, Path(place))
    except (PolicyUnreachableError, ValueError):
        tally.refused += 1
        return tally
    if found.whole is None:
        tally.left_out += 1
        tally.expect(audit.code == 3, "records were left out, and the exit code is not 3")
        return tally
    attacker = attacker_of(found)
    ours = attacker.labels(attacker.world(attacker.cells, attacker.values)) or {}
    rows = Counter((*ours[c], *v) for c, v in zip(attacker.cells, attacker.values, strict=True))
    names = [name for name in found.table.columns if name not in found.about]
    shown = audit.released[[*names, *found.about]].itertuples(index=False, name=None)
    tally.expect(rows == Counter(shown), "the command line releases another table")
    knows = attacker.attack(most, draws=most, seed=seed)
    tally.tables += 1
    tally.codes[audit.code] += 1
    tally.methods[audit.said["method"]] += 1
    if knows.errors is None:
        _compare(tally, found, knows, audit)
    else:
        _within_errors(tally, knows, audit)
    if walked and knows.errors is None and knows.share < 1 - NEAR:
        _walk(tally, found, knows, seed)
    tally.wrong = [f"{kind} {seed}: {what}" for what in tally.wrong]
    return tally


def attacker_of(found: Simulated) -> Attacker:
    """The attacker; he knows what recodings are worth where nothing is suppressed."""
    worth = None
    exact = not isinstance(found.recoding, FullDomain) or not found.recoding.suppression
    if exact and len(found.about) == 1:
        bounds = BOUNDS[MODELS.index(found.models[1])]
        worth = worth_of(found.objective, bounds, 2, Counter(found.table["w"]))
    return Attacker(found.table, found.about, released_by(found.anonymizer), worth)


def beyond(found: Simulated, knows: Posteriors) -> int:
    """How many records are beyond the policy, by the literature's definitions."""
    bounds = BOUNDS[MODELS.index(found.models[1])]
    alone = [
        [breaks(bounds, each, Counter(column)) for each in knows.of(place)]
        for place, (_, column) in enumerate(found.table[found.about].items())
    ]
    return sum(map(any, zip(*alone, strict=True)))


def _compare(tally: Tally, found: Simulated, knows: Posteriors, audit: Audited) -> None:
    """Hold what an audit says against what the attacker knows who listed all worlds."""
    number, said = beyond(found, knows), audit.said
    every = [knows.of(place) for place in range(len(found.about))]
    highest = max(max(each.values()) for alone in every for each in alone)
    tally.listed += 1
    tally.revealing += knows.share < 1 - NEAR
    tally.people += len(knows.records)
    tally.sure += sum(
        any(max(alone[record].values()) > 1 - NEAR for alone in every)
        for record in range(len(knows.records))
    )
    tally.beyond += number
    tally.beyond_tables += number > 0
    if said["method"] != "exact" or audit.beliefs is None:
        tally.doubtful += audit.code == 3
        tally.expect(audit.code in (int(number > 0), 3), "exit code")
        return
    largest = max(highest, said["largest_share"])
    tally.expect(audit.code == int(number > 0), "exit code")
    tally.expect(said["records_breached"] == number, "records beyond the policy")
    tally.expect(abs(said["probability"] - knows.share) < NEAR, "share of worlds")
    tally.expect(abs(said["largest_posterior"] - largest) < NEAR, "largest posterior")
    tally.worlds += said["worlds"]
    for one, right in zip(audit.beliefs, knows.records, strict=True):
        differs = [abs(one.get(v, 0) - right.get(v, 0)) for v in {*one, *right}]
        tally.compared += len(differs)
        tally.expect(max(differs) < NEAR, "a posterior")


FEW = 20
"""Draws that say nothing."""


def _within_errors(tally: Tally, knows: Posteriors, audit: Audited) -> None:
    """Hold what an audit says of each record against draws of the attacker."""
    tally.drawn += 1
    tally.drawn_beyond += audit.code == 1
    if audit.beliefs is None or knows.kept < FEW or knows.errors is None:
        tally.too_few += 1
        return
    for one, right, error in zip(audit.beliefs, knows.records, knows.errors, strict=True):
        for value in right:
            own = one.get(value, 0.0)
            # A few draws know their own error badly: one of a hundred says that it is small.
            least = sqrt(own * (1 - own) / knows.kept)
            off = abs(own - right[value]) / max(error[value], least)
            tally.estimated += 1
            tally.apart += int(off > 3)
            tally.expect(off < 6, "a belief is far from the attacker's draws")


def _walk(tally: Tally, found: Simulated, knows: Posteriors, seed: int) -> None:
    """Hold what walks say against all worlds."""
    rng = np.random.default_rng(seed)
    said = simulation(found.search, found.world, found.whole, rng, most=0, seconds=inf)
    number = beyond(found, knows)
    tally.methods[f"walks: {said.method}"] += 1
    if said.method == "sampled" and number:
        tally.walked += 1
        tally.found_by_walks += bool(said.records_breached)
        doubt = "within its error" in said.reason
        tally.within_error += doubt
        known = said.records_breached == number or doubt
        tally.expect(known, "walks miss who is beyond the policy, and do not say so")


NUMBERS = {"ranges": 400, "boxes": 200, "cuts": 200, "levels": 200, "suppression": 100, "any": 100}


def attack_all(numbers: Mapping[str, int], jobs: int, minutes: float) -> dict[str, Tally]:
    """Attack so many tables of each kind, in turn, as far as the time allows.

    Up to 200 worlds are listed; of every sixteenth table walks are held against them as well.
    """
    found, seeds, end = {kind: Tally() for kind in numbers}, Counter(), monotonic() + 60 * minutes
    with ProcessPoolExecutor(jobs) as pool:
        while monotonic() < end:
            tasks = []
            for kind, number in numbers.items():
                some = min(4 * jobs, number - found[kind].tables)
                for seed in range(seeds[kind] + 1, seeds[kind] + 1 + some):
                    task = pool.submit(attacked, kind, seed, 12, 200, seed % 16 == 0)
                    tasks.append((kind, task))
                seeds[kind] += some
            if not tasks:
                break
            for kind, task in tasks:
                found[kind].add(task.result())
            for kind, tally in found.items():
                sys.stderr.write(f"{kind}: {vars(tally)}\n")
    return found


HEAD = """\
# `audit` against an attacker who knows the method

Made by `python -m tests.attacked`.

Random tables of 12 records are released and audited by the command line: two quasi-identifiers, one
or two sensitive attributes, k = 2, and one of entropy l = 1.6, distinct l = 2 and t = .35. An
attacker in plain Python (`tests/simulated.py`) has the release, the quasi-identifiers, and the
library as a black box. He lists up to 200 ways to deal the values of classes, or draws 200.

- Listed: `audit` believes of each record what he believes, to 1e-9, and exits with 1 exactly where
  somebody is beyond the policy. Or it says that it is not known (3), where its 25 seconds are over.
- Drawn: three standard errors of his draws should be exceeded by .3 % of beliefs, and six by none.
  Of fewer than 20 draws that are released alike nothing is said.
- Left out: suppressed records are not in the release, and `audit` says that it is not known (3).
- Walked: of a sixteenth of the tables, those with somebody beyond the policy, by walks as well.

In full they are {}.
Fewer are what the time allowed.

"""
COLUMNS = (
    *("recoding", "tables", "left out", "listed", "reveal", "known for sure", "beyond, people"),
    *("beyond, tables", "exit 0, 1, 3", "beliefs compared", "drawn", "estimated, beyond 3 errors"),
    *("walked: found, within error", "wrong"),
)


def written(found: Mapping[str, Tally]) -> str:
    """What came of the tables, as a page."""
    rows = [COLUMNS, ["---"] * len(COLUMNS)]
    for kind, each in found.items():
        codes = ", ".join(str(each.codes[code]) for code in (0, 1, 3))
        rows.append(
            [
                *(kind, each.tables, each.left_out, each.listed, each.revealing, each.sure),
                *(each.beyond, each.beyond_tables, codes, each.compared),
                f"{each.drawn}, of which {each.too_few} say nothing",
                f"{each.estimated}, {each.apart}",
                f"{each.walked}: {each.found_by_walks}, {each.within_error}",
                len(each.wrong),
            ]
        )
    full = ", ".join(f"{number} of {kind}" for kind, number in NUMBERS.items())
    return HEAD.format(full) + "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def main() -> None:
    """Attack random tables and write what was learnt; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the full numbers")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=inf)
    given = parser.parse_args()
    numbers = {kind: round(number * given.share) for kind, number in NUMBERS.items()}
    found = attack_all(numbers, given.jobs, given.minutes)
    RESULTS.write_text(written(found), encoding="utf-8")
    wrong = [what for each in found.values() for what in each.wrong]
    sys.stdout.write("\n".join([*wrong, f"{len(wrong)} wrong", ""]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
