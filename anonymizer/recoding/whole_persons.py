"""Suppression of whole persons: all records of a person are left out, or none.

A person whose record is in a class that is too small leaves all classes in which they have records,
and these get smaller. So it is the table that is left which has to satisfy what sizes decide: the
rule leaves out those who are in no set of persons that, released alone, satisfies k-anonymity of
persons and the largest share in every class.

The union of two such sets is another one: a class has the persons of both, and nobody has a larger
share of more records. So there is a largest, and it is what remains if persons who break a model
among those who are left go, in any order, until nobody does. Who goes depends on nothing but
quasi-identifiers and on whose a record is, no sensitive value among them. Merging classes preserves
such a set, so that at a generalization of a node nobody goes who stays at the node.

Where a release numbers persons, as many as a policy says have to have each composition, too: how
many records somebody has in each class does not depend on who else is there, so that of two such
sets the union is one, and what merges compositions preserves it.

Models of sensitive attributes, and of the table as a whole, have to hold of the records that are
left, as of any table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np

from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts
from anonymizer.counts.linked import compositions
from anonymizer.counts.pairs import csr_of, row_keys
from anonymizer.counts.persons import HIDDEN
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import NATIVE, FrequencySet
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.objectives import Objective
from anonymizer.objectives.candidate import Candidate, Layout, histograms_of
from anonymizer.privacy import (
    CompositionKAnonymity,
    KAnonymity,
    LargestShare,
    PersonKAnonymity,
    PrivacyModel,
    acceptable,
)
from anonymizer.recoding.full_domain.frontier import minimal_nodes, require_searchable
from anonymizer.recoding.lattice import Lattice, Node, Trace
from anonymizer.recoding.policy import Suppression
from anonymizer.recoding.problem import Found, Run, Scored, winner
from anonymizer.tables import engine

GONE = f"{HIDDEN}gone"
"""The column, of no table, that tells records of suppressed persons from the others."""

WHOLE = "suppress-persons"
"""What a study calls the option."""


SizeModel = KAnonymity | LargestShare | CompositionKAnonymity
"""What quasi-identifiers, and whose a record is, decide of a person."""


def size_models(models: Sequence[PrivacyModel], numbers: bool) -> tuple[SizeModel, ...]:
    """Return what quasi-identifiers, and whose a record is, decide of each class.

    ``numbers``: of each composition, too. InputError where a model is about a population.
    """
    found: list[SizeModel] = []
    for part in (part for model in models for part in (model, *model.lasting())):
        if numbers and isinstance(part, CompositionKAnonymity):
            found.append(part)
        if part.sensitive or not part.per_class:
            continue
        if not isinstance(part, KAnonymity | LargestShare):
            raise InputError(
                f"{part.name} is not about the persons of the table alone, so that nobody knows "
                f"by it which persons to suppress; leave out {WHOLE}, or the model"
            )
        found.append(part)
    return tuple(dict.fromkeys(found))


def suppressed_persons(
    class_of: Codes,
    person_of: Codes,
    records: Ints,
    models: Sequence[SizeModel],
    gone: Mask,
) -> Mask:
    """Mark the persons that are in no set which satisfies the models, shape (persons,).

    ``class_of``, ``person_of`` and ``records`` are of pairs of a class and a person, each pair
    once; those who are ``gone`` already stay so.

    >>> a, b, c = 0, 1, 2  # a and b in one class, b and c in another, where c has two records
    >>> models = [PersonKAnonymity(2), LargestShare(0.5)]
    >>> of = np.array([0, 0, 1, 1]), np.array([a, b, b, c]), np.array([1, 1, 1, 2])
    >>> suppressed_persons(*of, models, np.zeros(3, bool)).tolist()
    [True, True, True]
    """
    gone, composition = gone.copy(), np.zeros(len(gone), np.intp)
    if any(isinstance(model, CompositionKAnonymity) for model in models):
        shape = int(class_of.max(initial=-1)) + 1, len(gone)
        composition = compositions(csr_of(class_of, person_of, records, shape))
    while True:
        there = ~gone[person_of]
        class_of, person_of, records = class_of[there], person_of[there], records[there]
        broken = np.zeros(len(records), bool)
        for model in models:
            if isinstance(model, CompositionKAnonymity):
                broken |= _alone(model, composition, person_of)
            else:
                broken |= _breaking(model, class_of, records)
        if not broken.any():
            return gone
        gone[person_of[broken]] = True


def _breaking(model: KAnonymity | LargestShare, class_of: Codes, records: Ints) -> Mask:
    """Mark the pairs of a class and a person where the person breaks a model, shape (pairs,)."""
    sizes = np.bincount(class_of, records)
    if isinstance(model, LargestShare):  # others of the class may stay
        return ~model.accepts(records / sizes[class_of])
    many = np.bincount(class_of) if isinstance(model, PersonKAnonymity) else sizes
    return ~model.accepts(many.astype(float))[class_of]


def _alone(model: CompositionKAnonymity, composition: Codes, person_of: Codes) -> Mask:
    """Mark the pairs of a class and a person whose composition too few have, shape (pairs,)."""
    many = np.bincount(composition[np.unique(person_of)], minlength=1)
    return ~model.accepts(many.astype(float))[composition[person_of]]


def left_out(
    recoded: engine.Table,
    schema: Schema,
    models: Sequence[PrivacyModel],
    suppression: Suppression,
    forced: Mask,
) -> Mask:
    """Mark the rows of a recoded table whose persons are suppressed, shape (rows,).

    ``forced``: rows whose persons are in any case. PolicyBrokenError where they are more than the
    budget, or everybody.
    """
    persons = schema.persons_of(recoded)
    if persons is None:
        raise _without_persons()
    class_of, _ = engine.grouped(recoded, schema.quasi_identifiers)
    pair, first = _paired(class_of, persons.person_of)
    records = engine.sized(recoded, pair, len(first))
    gone = np.zeros(len(persons), bool)
    gone[persons.person_of[forced]] = True
    own, of = class_of[first], persons.person_of[first]
    sized = size_models(models, schema.person_numbers)
    gone = suppressed_persons(own, of, records, sized, gone)
    number, most = int(gone.sum()), suppression.most(len(persons))
    if number > most or number == len(persons):
        raise PolicyBrokenError(
            f"nothing was released: {number:,} of {len(persons):,} persons would have to be left "
            f"out under this recoding, and suppression = {suppression.share:.3g} allows {most:,}; "
            "search another recoding, or allow more",
            section="recoding",
            key="suppression",
        )
    return np.asarray(gone[persons.person_of])


def _paired(class_of: Codes, person_of: Codes) -> tuple[Codes, Codes]:
    """Number the pairs of a class and a person, and give the first row of each."""
    keys = row_keys(np.column_stack([class_of, person_of]))
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    return pair, first


def _without_persons() -> InputError:
    return InputError(
        f"{WHOLE} is for tables of which persons have several records; name the column that tells "
        'whose each record is, such as person = "patient_id" (below [data] in a study), or leave '
        f"out {WHOLE}"
    )


@dataclass(frozen=True, eq=False)
class PersonProblem:
    """A table's records by person, a policy, an objective and a budget of persons.

    ``pairs`` are the counts of each raw cell and person, ``person_of`` (pairs,) says whose;
    ``numbers``: whether the release has numbers of them. See ``Problem`` for the others.
    """

    pairs: Counts = field(repr=False)
    person_of: Codes = field(repr=False)
    taxonomies: Mapping[str, Taxonomy] = field(repr=False)
    models: Sequence[PrivacyModel]
    objective: Objective
    suppression: Suppression
    numbers: bool = False

    @classmethod
    def of(
        cls,
        counted: Counted,
        models: Sequence[PrivacyModel],
        objective: Objective,
        suppression: Suppression,
    ) -> "PersonProblem":
        """Count the records of a table by person; InputError where that has no persons."""
        if not counted.schema.person:
            raise _without_persons()
        pairs, person_of = counted.schema.counts_by_person(counted.tally, counted.taxonomies)
        objective = objective.prepared(pairs, counted.taxonomies)
        known = pairs, person_of, counted.taxonomies
        numbers = counted.schema.person_numbers
        return cls(*known, models, objective, suppression, numbers)

    @property
    def persons(self) -> int:
        """The persons of the table."""
        return int(self.person_of.max()) + 1

    @property
    def most(self) -> int:
        """The persons who may be suppressed."""
        return min(self.suppression.most(self.persons), self.persons - 1)

    def gone_at(self, node: Node, gone: Mask) -> Mask:
        """Mark the persons who are suppressed at a node; ``gone``: some who are."""
        pair, first = _paired(row_keys(self._cells(node)), self.person_of)
        records = np.bincount(pair, self.pairs.sizes).astype(np.int64)
        class_of = np.unique(row_keys(self._cells(node)[first]), return_inverse=True)[1]
        models = size_models(self.models, self.numbers)
        return suppressed_persons(class_of, self.person_of[first], records, models, gone)

    def scored(self, node: Node, gone: Mask) -> Scored | None:
        """Score a node without the persons who are ``gone``; None where the rest breaks a model."""
        cells = np.column_stack([self._cells(node), gone[self.person_of]])
        order = np.argsort(row_keys(cells), kind="stable")
        first = order[np.flatnonzero(np.diff(row_keys(cells)[order], prepend=-1))]
        classes = replace(self.pairs, names=(*self.pairs.names, GONE)).at(cells)
        marks = classes.cells[:, -1] == 1
        rest = classes.without(marks) if marks.any() else classes
        if not acceptable(rest, self.models).all():
            return None
        found = self._candidate(node, classes, first, marks, rest)
        return self.objective.score(found), found.released_classes, node

    def _cells(self, node: Node) -> Codes:
        """The codes of the groups of each pair at a node, shape (pairs, quasi-identifiers)."""
        names, cells = self.pairs.names, self.pairs.cells
        levels = [self.taxonomies[name].levels[at] for name, at in zip(names, node, strict=True)]
        columns = zip(levels, cells.T, strict=True)
        return np.column_stack([level.representatives[codes] for level, codes in columns])

    def _candidate(
        self, node: Node, classes: Counts, members: Codes, marks: Mask, rest: Counts
    ) -> Candidate:
        """Return what is released at a node, suppressed records being classes of their own."""
        layout = Layout.of(_of_values(classes))
        histograms = histograms_of(_of_values(classes))
        keys = np.arange(len(classes), dtype=np.uint64)[:, None]
        return Candidate(
            node,
            FrequencySet.of(keys, histograms, members.astype(np.int32)),
            marks if marks.any() else None,
            bool(marks.any()),
            Layout.of(_of_values(rest)).margins,
            layout,
            NATIVE,
        )


def _of_values(counts: Counts) -> Counts:
    """Return the counts without those of persons, which no objective is about."""
    joint = {name: counts.joint[name] for name in counts.attributes}
    margins = {name: counts.margins[name] for name in joint}
    return replace(counts, joint=joint, margins=margins, of_persons={})


def best_node(problem: PersonProblem, nodes: Lattice | Sequence[Node], run: Run) -> Found | None:
    """Find the best of some nodes, each scored as it would be released; None where none holds.

    The most general ones first: below a node at which too many persons are suppressed there is no
    other, and who is suppressed at a node is at all below.
    """
    lattice = nodes if isinstance(nodes, Lattice) else None
    if lattice is not None:
        require_searchable(lattice)
    deadline, ended = run.deadline(), False
    order = sorted(nodes, key=lambda node: (-sum(node), node))
    nobody = np.zeros(problem.persons, bool)
    gone: dict[Node, Mask | None] = {}
    scored: list[Scored] = []
    for done, node in enumerate(order):
        if monotonic() > deadline:
            ended = True
            break
        run.watch("checking the nodes", done, len(order))
        above = [gone[each] for each in (lattice.above(node) if lattice else ())]
        known = [each for each in above if each is not None]
        if len(known) < len(above):
            gone[node] = None
            continue
        found = problem.gone_at(node, np.any([nobody, *known], axis=0))
        gone[node] = found if found.sum() <= problem.most else None
        if gone[node] is not None and (entry := problem.scored(node, found)) is not None:
            scored.append(entry)
    return None if not scored else _found(scored, lattice, gone, proven=not ended)


def _found(
    scored: Sequence[Scored], lattice: Lattice | None, gone: Mapping[Node, object], *, proven: bool
) -> Found:
    score, _, node = winner(scored)
    feasible = sorted(each for _, _, each in scored)
    if lattice is None:
        return Found("fixed", node, score, score, True, 1, 1)
    if not proven:
        return Found("exhaustive", node, score, nodes=lattice.size, checked=len(gone))
    minimal = tuple(minimal_nodes(lattice, feasible))
    trace = Trace.of(lattice, scored, (*minimal, node), lattice)
    size = lattice.size
    return Found("exhaustive", node, score, score, True, size, size, len(feasible), minimal, trace)
