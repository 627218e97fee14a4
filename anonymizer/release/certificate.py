"""Certificates: what shows a checker, which does not search, that no levels keep more.

Nodes of the lattice are closed one after the other: one that is infeasible with all below it, one
that is bounded by the optimum with all above it, any other by itself. Those that others close, too,
are left out. What the checker, ``verifiers/optimum.py``, does not accept is not handed out.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from csv import writer
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any

import numpy as np

from anonymizer.counts.columns import cells_of
from anonymizer.counts.schema import ALIKE
from anonymizer.errors import InputError
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.objectives import MutualInformation
from anonymizer.objectives.attributes import AttributeWise, places_of
from anonymizer.privacy import PrivacyModel, attributes_of
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.levels import FullDomain
from anonymizer.recoding.problem import Problem
from anonymizer.recoding.recoding import Recoding, Task
from anonymizer.release.files import VERIFIERS
from anonymizer.release.relations import CountedTable
from anonymizer.release.study import Study
from anonymizer.release.verifiers import HERE, optimum
from anonymizer.release.verifiers.verify import OfClass
from anonymizer.tables.counts_file import RECORDS
from anonymizer.tables.values import texts_apart

Row = tuple[str, ...]
"""The values of the quasi-identifiers of a record."""

CERTIFICATE, COUNTS, CHECKER = "certificate.json", "counts.csv", "optimum.py"

CONFIDENTIAL = "It holds records of the raw table, and is as confidential."

MOST_NODES = 20_000_000
"""Nodes of a lattice, each of which has an entry."""

MOST_TRIED = 30
"""Witnesses that are tried for a node before it gets one of its own."""


@dataclass(frozen=True, eq=False)
class Claim:
    """What is claimed of a table, and what it is claimed by.

    ``about``: hierarchies, policy, objective and suppression, as JSON has them; ``counts``: the
    table, counted, as CSV. Raises InputError where there is no certificate of such a claim.
    """

    recoding: FullDomain
    problem: Problem
    about: dict[str, Any]
    counts: str

    @classmethod
    def of(cls, task: Task, recoding: Recoding) -> "Claim":
        """The claim that a study makes by its recoding."""
        if not isinstance(recoding, FullDomain):
            raise _none(
                f"it proves levels, and method = {recoding.name!r} chooses others; choose "
                "method = 'full-domain' in [recoding]"
            )
        counted = task.counted
        problem = recoding.problem(counted.counts, counted.taxonomies, task.models, task.objective)
        _require_provable(problem, task, recoding)
        names = problem.counts.names
        texts = {name: _texts(name, counted.taxonomies[name].texts) for name in names}
        return cls(recoding, problem, _about(problem, texts), _counts_of(task, texts))

    @cached_property
    def table(self) -> Any:
        """The counts as the checker sees them."""
        return optimum.RawTable(self.about, StringIO(self.counts, newline=""))

    def doubt(self, certificate: Any) -> str:
        """Why a certificate does not prove this claim; empty where it does."""
        try:
            if any(certificate[key] != value for key, value in self.about.items()):
                return "it is about other hierarchies, another policy, objective or suppression"
            optimum.prove(certificate, self.table)
        except RuntimeError as why:
            return str(why)
        except Exception as why:  # of a damaged one anything may fail
            return f"it is damaged ({type(why).__name__})"
        return ""


def claimed(study: Study, n_jobs: int | None = None, watch: Watch = ignore) -> tuple[Claim, Task]:
    """What a study claims of its table, and the task that its recoding is chosen for."""
    anonymizer = study.anonymizer(n_jobs, watch)
    if anonymizer.chosen_shift is not None:
        raise _none("the dates of each person are shifted; leave [shift] out")
    with study.opened(watch) as table:
        watch("counting the table", 0, None)
        columns = anonymizer.schema.columns
        raw = CountedTable.of(table, columns, study.hierarchies, study.data_format)
        task = anonymizer.task(raw.table, raw.hierarchies)
    return Claim.of(task, anonymizer.chosen_recoding), task


def certified(claim: Claim, task: Task, watch: Watch = ignore) -> dict[str, str]:
    """The files of a certificate, by name, that no levels score higher than those chosen.

    Raises InputError where there is none, PolicyUnreachableError where no levels satisfy the
    policy.
    """
    found = claim.recoding.find(claim.problem, task.seed, task.run)
    if found is None:
        raise claim.recoding.unreachable(claim.problem, claim.recoding.reach)
    if not found.proven:
        raise _none("the search ended before the optimum was proven; raise time-limit in [search]")
    proof = _Cover(claim, found.node, found.score, watch).proof()
    certificate = json.loads(json.dumps({"certificate": CONFIDENTIAL, **claim.about, **proof}))
    if doubt := claim.doubt(certificate):
        raise _none(f"its checker does not come to the same result: {doubt}; please report it")
    checkers = {name: (HERE / name).read_text("utf-8") for name in (VERIFIERS["python"], CHECKER)}
    text = json.dumps(certificate, ensure_ascii=False, separators=(",", ":"))
    return {COUNTS: claim.counts, **checkers, CERTIFICATE: text + "\n"}


def _none(why: str) -> InputError:
    return InputError(f"there is no certificate: {why}")


def _require_provable(problem: Problem, task: Task, recoding: FullDomain) -> None:
    """Refuse what the checker has no sound proof for."""
    counts, schema = problem.counts, task.counted.schema
    if task.odds is not None:
        raise _none("the choice is rehearsed; leave against and odds out of [search]")
    if recoding.bounds.requested:
        limits = ", ".join(recoding.bounds.requested)
        raise _none(f"its checker knows no {limits}; leave it out of [recoding]")
    if schema.keys or schema.items or counts.population is not None or counts.least is not None:
        raise _none("classes are counted by more than records: persons, items or a population")
    if any(counts.margins[name][-1] for name in counts.gaps):
        raise _none("missing sensitive values count as nothing; choose missing = 'category'")
    if problem.objective.name not in optimum.OBJECTIVES:
        raise _none(
            f"the objective {problem.objective.name} may rise when classes merge, or is unknown to "
            "its checker; choose mutual-information or loss"
        )
    if problem.lattice.size > MOST_NODES:
        raise _none(f"the lattice has more than {MOST_NODES:,} nodes; set min-level or max-level")
    _require_merging(problem)


def _require_merging(problem: Problem) -> None:
    """Refuse a policy that merging classes may break."""
    for model in problem.models:
        if isinstance(model.attribute, tuple):
            raise _none(
                f"its checker knows each attribute by itself, and {model.name} is about "
                f"{model.about} together; leave it out"
            )
        known = model.name.replace("-", "_") in vars(OfClass) and model.monotone
        of_records = model.odds is None and model.people is None
        if not (known and of_records) or getattr(model, "distance", None) == "hierarchical":
            raise _none(
                f"{model.name} as the policy has it may break when classes merge, or is unknown to "
                "its checker; leave it out"
            )
        if problem.suppresses and model.name not in optimum.STRONG:
            raise _none(
                f"of {model.name} no bound is known while records are suppressed; leave out "
                f"suppression, or all models but {' and '.join(optimum.STRONG)}"
            )
    below = [level for each in problem.taxonomies.values() for level in each.levels[:-1]]
    if problem.suppresses and any(level.hidden.any() for level in below):
        raise _none("a hierarchy has * below its last level, as suppressed records have; rename it")


def _texts(name: str, values: Sequence[object]) -> list[str]:
    texts = ["" if value is None else str(value) for value in values]
    if len({*texts}) < len(texts):
        raise _none(f"values of column {name!r} are written alike")
    return texts


def _counts_of(task: Task, texts: dict[str, list[str]]) -> str:
    """The combinations of values of a table, and the records of each, in no order of theirs."""
    counted = task.counted
    tally, names = counted.tally, counted.schema.quasi_identifiers
    cells = cells_of(tally, counted.taxonomies, names)
    columns = [
        np.array(texts[name], object)[codes] for name, codes in zip(names, cells.T, strict=True)
    ]
    for name in counted.counts.attributes:
        codes, kinds = ALIKE(tally[name])
        columns.append(np.array(_texts(name, texts_apart(kinds)), object)[codes])
    found: dict[tuple[str, ...], int] = {}
    for row, size in zip(zip(*columns, strict=True), tally.sizes.tolist(), strict=True):
        found[row] = found.get(row, 0) + size
    file = StringIO(newline="")
    rows = writer(file, lineterminator="\n")
    rows.writerow([*names, *counted.counts.attributes, RECORDS])
    rows.writerows((*row, size) for row, size in sorted(found.items()))
    return file.getvalue()


def _about(problem: Problem, texts: dict[str, list[str]]) -> dict[str, Any]:
    """The claim as JSON has it: hierarchies, policy, objective and suppression."""
    attributes, objective, budget = {}, problem.objective, problem.suppression
    for name in problem.counts.names:
        each = problem.taxonomies[name]
        places = places_of(each) if objective.name == "loss" else None
        levels = [_labels(level.labels, level.groups.tolist()) for level in each.levels[1:]]
        attributes[name] = {
            "low": each.finest,
            "high": each.coarsest,
            "places": None if places is None else places.tolist(),
            "values": dict(zip(texts[name], map(list, zip(*levels, strict=True)), strict=True)),
        }
    given = objective.weights if isinstance(objective, AttributeWise) else {}
    weights = {name: given.get(name, 1.0) for name in problem.counts.names}
    if isinstance(objective, MutualInformation):
        weights = dict(objective.of(problem.counts.sensitive))
    about = {
        "attributes": attributes,
        "policy": [*_policy(problem.models, problem.counts.sensitive)],
        "suppression": {
            "share": budget.share,
            "suppress": budget.suppress,
            "remove": budget.remove,
        },
        "objective": {
            "name": objective.name,
            "weights": weights,
            "aggregate": getattr(objective, "aggregate", None),
        },
    }
    plain: dict[str, Any] = json.loads(json.dumps(about))  # as it is read again
    return plain


def _policy(
    models: Sequence[PrivacyModel], sensitive: Sequence[str]
) -> Iterator[dict[str, object]]:
    for model in models:
        for attribute in attributes_of(model, sensitive):
            yield {
                "model": model.name,
                "attribute": attribute,
                "parameters": {k: v for k, v in model.parameters.items() if k != "odds"},
            }


def _labels(labels: Sequence[object], groups: list[int]) -> list[str]:
    """The label of each value at a level; no two groups have one label."""
    texts = [str(label) for label in labels]
    if len({*texts}) < len(texts):
        texts = [f"{text} (group {place})" for place, text in enumerate(texts)]
    return [texts[group] for group in groups]


class _Cover:
    """The nodes of a lattice that are closed so far, and by what."""

    def __init__(self, claim: Claim, node: Node, score: float, watch: Watch) -> None:
        problem = claim.problem
        self.claim, self.node, self.watch = claim, node, watch
        self.lattice, self.evaluator = problem.lattice, problem.evaluator
        self.sets, self.witnesses = self.evaluator.sets(), Counter[Row]()
        informs = isinstance(problem.objective, MutualInformation)
        self.highest = score * ((1 - self.evaluator.budget.share) if informs else 1.0)
        self.bottom, self.top = self.lattice.bottom, self.lattice.heights
        self._known: dict[Node, tuple[bool, bool]] = {}

    def proof(self) -> dict[str, Any]:
        """The optimum, the nodes that are infeasible, bounded and counted, and the witnesses."""
        left = np.ones(self._shape, bool)
        regions = []
        while left.any():
            place = np.unravel_index(int(left.argmax()), left.shape)
            node = tuple(int(i) + low for i, low in zip(place, self.bottom, strict=True))
            regions.append(self._closing(node))
            left[self._within(*regions[-1])] = False
            self.watch("closing the nodes of the lattice", left.size - left.sum(), left.size)
        found = self._needed(regions)
        broken = [(node, self._witness(node)) for kind, node in found if kind == "infeasible"]
        rows = list(dict.fromkeys(row for _, row in broken))
        return {
            "optimum": self.node,
            "infeasible": [[node, rows.index(row)] for node, row in broken],
            "bounded": [node for kind, node in found if kind == "bounded"],
            "counted": [node for kind, node in found if kind == "counted"],
            "witnesses": rows,
        }

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    def _within(self, kind: str, node: Node) -> tuple[slice, ...]:
        """The nodes that a node closes, as a part of the lattice."""
        places = [level - low for level, low in zip(node, self.bottom, strict=True)]
        if kind == "infeasible":
            return tuple(slice(place + 1) for place in places)
        whole = None if kind == "bounded" else 1
        return tuple(slice(place, whole and place + 1) for place in places)

    def _closing(self, node: Node) -> tuple[str, Node]:
        """What closes a node, and as many others as it can."""
        infeasible, bounded = self._judged(node)
        if infeasible:
            return "infeasible", self._pushed(
                node, self.top, 1, lambda other: self._judged(other)[0]
            )
        if bounded:
            return "bounded", self._pushed(
                node, self.bottom, -1, lambda other: self._judged(other)[1]
            )
        return "counted", node

    def _pushed(self, node: Node, ends: Node, step: int, holds: Callable[[Node], bool]) -> Node:
        """The furthest node for which something holds, axis by axis, the longest first."""
        for axis in sorted(range(len(node)), key=lambda i: self.bottom[i] - self.top[i]):
            while node[axis] != ends[axis]:
                further = (*node[:axis], node[axis] + step, *node[axis + 1 :])
                if not holds(further):
                    break
                node = further
        return node

    def _judged(self, node: Node) -> tuple[bool, bool]:
        """Whether a node is infeasible as all below it, and bounded as all above it."""
        if node not in self._known:
            evaluator, classes = self.evaluator, self.sets.at(node)
            if evaluator.most:
                infeasible = evaluator.lost(classes) > evaluator.most
            else:
                infeasible = not evaluator.holds(classes)
            score = evaluator.objective.score(evaluator.plain(node, classes))
            self._known[node] = infeasible, score <= self.highest + optimum.EPS / 2
        return self._known[node]

    def _needed(self, regions: list[tuple[str, Node]]) -> list[tuple[str, Node]]:
        """Those regions that no others close together."""
        times = np.zeros(self._shape, np.int32)
        for region in regions:
            times[self._within(*region)] += 1
        kept = []
        for region in sorted(regions, key=lambda each: times[self._within(*each)].size):
            closed = times[self._within(*region)]
            if (closed > 1).all():
                closed -= 1
            else:
                kept.append(region)
        return kept

    def _witness(self, node: Node) -> Row:
        """A record whose class breaks the policy at a node: that of another node where it does."""
        if self.evaluator.most:
            return ()
        for row, _ in self.witnesses.most_common(MOST_TRIED):
            if self.claim.table.infeasible(node, row):
                self.witnesses[row] += 1
                return row
        classes = self.sets.at(node)
        broken = self.evaluator.bound_policy.broken(classes.histograms)[1]
        place = classes.members[np.flatnonzero(broken)[0]]
        counts = self.claim.problem.counts
        known = self.claim.table.known
        row = tuple(known[n][c] for n, c in zip(counts.names, counts.cells[place], strict=True))
        self.witnesses[row] += 1
        return row
