"""What several releases disclose together, of people in all of them and of people in some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import ceil

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.information.matrices import CountMatrix, largest
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.privacy import TOLERANCE, Population, PrivacyModel, Verdict
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.release.results import PolicyResult, Result
from anonymizer.risk import attacks
from anonymizer.risk.placement import (
    AllPeople,
    PlacedPeople,
    classes_in,
    cross_counts,
    text_as_read,
)

Priors = Sequence[Mapping[str, Ints]]


@dataclass(frozen=True)
class LinkedClasses(PolicyResult):
    """The risk of people whose records an attacker links over several releases."""

    records: int  # the people
    classes: int  # theirs in the intersection of the releases
    singled_out: int  # people alone in their class
    homogeneous_records: Mapping[str, int]  # in classes of one value, by sensitive attribute
    failing_records: int  # in classes that break a model of the policy
    privacy: Sequence[Verdict]  # of every model of every release on these classes


@dataclass(frozen=True)
class Candidates(Result):
    """The values in all classes of a person, for an attacker who cannot link records.

    ``l`` is the largest one of the policy, as a whole number of values; None where no model has it.
    """

    fewest: int  # values that anybody is left with
    one: int  # people left with one, which is their value with certainty
    l: int | None  # noqa: E741 (the models' own letter)
    fewer: int | None  # people left with fewer than l values


@dataclass(frozen=True)
class Losses(Result):
    """The query loss of people in all releases, of each release and of all of them together.

    The average of all is at most the sum of theirs, but the largest loss has no such bound.
    """

    releases: Sequence[QueryLoss] = ()
    together: QueryLoss | None = None


@dataclass(frozen=True)
class Intersection(Result):
    """Disclosure of several releases together.

    ``in_all`` is the risk of the people who are in all releases, ``in_some`` that of people in some
    of them only, whose absence from the others is known: adding or leaving out a few people between
    two releases singles them out. Either is None where it is not known who they are, or there is
    nobody.
    """

    membership_known: bool  # whether it is known who is in each release; if not, only bounds are
    records_at_least: int = 0  # people who are in all releases
    records_at_most: int = 0
    in_all: LinkedClasses | None = None
    in_some: LinkedClasses | None = None
    linkage: attacks.Linkage | None = None  # to the classes of the intersection
    inference: Mapping[str, attacks.Guesses] = field(default_factory=dict)  # from these classes
    candidates: Mapping[str, Candidates] = field(default_factory=dict)  # records not linked
    query_loss: Losses = field(default_factory=Losses)  # of people in all releases
    derived = ("satisfied",)

    @property
    def satisfied(self) -> bool:
        """True where the policy is proven for everybody, in all releases or in some."""
        parts = [part for part in (self.in_all, self.in_some) if part is not None]
        return self.membership_known and all(part.satisfied for part in parts)


@dataclass(frozen=True, eq=False)
class KnownPeople:
    """The people, whose membership is known, and the policy that has to hold for them."""

    people: AllPeople
    tables: Sequence[PlacedPeople]
    models: Sequence[PrivacyModel]  # of all releases, each once
    others: Mapping[str, Codes]  # by digest of a population: everybody's class per release, or -1

    @classmethod
    def of(cls, people: AllPeople, tables: Sequence[PlacedPeople]) -> "KnownPeople":
        """Collect the models, and place the populations that they are about."""
        models = {
            (model.name, model.attribute, repr(model.parameters)): model
            for table in tables
            for model in table.release.models
        }.values()
        about = {m.people.digest: m.people for m in models if isinstance(m.people, Population)}
        others = {digest: _others(population, tables) for digest, population in about.items()}
        return cls(people, tables, list(models), others)

    def linked(self, mask: Mask, among: Mask, priors: Priors) -> LinkedClasses | None:
        """Measure the risk of some people, absence from a release being a class of its own.

        ``among``: the people whose distribution of values the attacker knows, besides ``priors``.
        """
        if not mask.any():
            return None
        broken = np.zeros(int(mask.sum()), bool)
        found: list[Verdict] = []
        for name, digest in dict.fromkeys(map(_about, self.models)):
            known = mask if name is None else mask & (self.people.values[name] >= 0)
            models = [m for m in self.models if _about(m) == (name, digest)]
            if known.any():
                counts, class_of = self._counts(known, among, name, digest)
                try:
                    verdicts, fails = attacks.failing(counts, models, priors)
                except InputError as error:  # values that only another release shows
                    raise InputError(
                        "the policy of a release cannot be held against what another one shows: "
                        f"{error}"
                    ) from None
                broken[known[mask]] |= fails[class_of]
                found += verdicts
        counts, _ = attacks.intersect(list(self.people.classes[mask].T))
        alone = int((counts.sizes == 1).sum())
        same = {name: self._homogeneous(name, mask) for name in self.people.kinds}
        return LinkedClasses(len(broken), len(counts), alone, same, int(broken.sum()), found)

    def _counts(
        self, known: Mask, among: Mask, name: str | None, digest: str | None
    ) -> tuple[Counts, Codes]:
        """Count classes of some people by one attribute, with the values that any release has."""
        classes = self.people.classes[known]
        others = None if digest is None else list(_alike(self.others[digest], classes).T)
        counts, class_of = attacks.intersect(list(classes.T), population=others)
        if counts.population is not None:  # people who are missing from a population are added
            counts = replace(counts, population=np.maximum(counts.population, counts.sizes))
        if name is not None:
            kinds = self.people.kinds[name]
            gap = self._has_gaps and len(kinds) > 1 and kinds[-1] is None
            single = np.zeros(int(among.sum()), np.intp)
            counts = replace(
                counts,
                joint={name: self.joint(name, known, class_of, len(counts))},
                margins={name: self.joint(name, among, single, 1).sum(axis=0)},
                values={name: tuple(kinds)},
                gaps=(name,) if gap else (),
            )
        return counts, class_of

    @property
    def _has_gaps(self) -> bool:
        return any(table.release.schema.missing == "gap" for table in self.tables)

    def joint(self, name: str, mask: Mask, class_of: Codes, classes: int) -> CountMatrix:
        """Records by class and value of an attribute, shape (classes, values)."""
        shape = classes, len(self.people.kinds[name])
        return cross_counts(class_of, self.people.values[name][mask], shape)

    def there(self, name: str) -> Codes:
        """Everybody's value of an attribute; -1 where it is missing and that counts as nothing."""
        values, kinds = self.people.values[name], self.people.kinds[name]
        nothing = self._has_gaps and kinds[-1] is None
        return np.where(values == len(kinds) - 1, -1, values) if nothing else values

    def _homogeneous(self, name: str, mask: Mask) -> int:
        """The number of people in classes of one value, who have it."""
        known = mask & (self.there(name) >= 0)
        if not known.any():
            return 0
        counts, class_of = attacks.intersect(list(self.people.classes[known].T))
        joint = self.joint(name, known, class_of, len(counts))
        return int(counts.sizes[largest(joint) == counts.sizes].sum())

    def priors(self) -> Priors:
        """The distribution of each sensitive attribute in each release that shows it."""
        found: list[dict[str, Ints]] = []
        for table in self.tables:
            found.append({})
            for name in table.values:
                places = {kind: place for place, kind in enumerate(self.people.kinds[name])}
                place = [places[text_as_read(value)] for value in table.counts.values[name]]
                found[-1][name] = np.zeros(len(places), np.int64)
                found[-1][name][place] = table.counts.margins[name]
        return found

    def candidates(self, name: str, cells: Codes, sizes: Ints) -> Candidates:
        """Count the values that people are left with where records are not linked.

        ``sizes``: how many people of each of the ``cells``, classes by release, have a value.
        """
        cells, sizes = cells[sizes > 0], sizes[sizes > 0]
        values, kinds = self.there(name), len(self.people.kinds[name])
        supports = [
            cross_counts(classes, values, (int(classes.max()) + 1, kinds)) > 0
            if table.release.shown([name])
            else None
            for table, classes in zip(self.tables, self.people.classes.T, strict=True)
        ]
        number = attacks.candidates(cells, supports)
        required = [getattr(m, "l", None) for m in self.models if m.attribute == name]
        least = max((ceil(l - TOLERANCE) for l in required if l is not None), default=None)  # noqa: E741
        return Candidates(
            int(number.min()),
            int(sizes[number == 1].sum()),
            least,
            None if least is None else int(sizes[number < least].sum()),
        )


def _others(people: Population, tables: Sequence[PlacedPeople]) -> Codes:
    """The class in each release of everybody in a population, shape (others, releases)."""
    names = [(*table.release.raw, *table.known_columns(tables)) for table in tables]
    people = people.one_by_one([*dict.fromkeys(chain.from_iterable(names))])
    found = []
    for table in tables:
        known = table.known_columns(tables)
        others = table.release.everybody(people, known)
        try:
            class_of = classes_in(table.release, others)[1]
        except InputError:
            raise InputError(
                f"people of {people.name} fit several classes of merged cells of "
                f"{table.release.path}, so that a model about them cannot be held against both"
            ) from None
        found.append(table.split_by(known, class_of, others))
    return np.column_stack(found)


def _about(model: PrivacyModel) -> tuple[str | None, str | None]:
    digest = model.people.digest if isinstance(model.people, Population) else None
    return (model.about if model.sensitive else None), digest


def _alike(others: Codes, classes: Codes) -> Codes:
    inside = others >= 0
    everywhere = inside.all(axis=1)
    return others[everywhere if (classes >= 0).all() else inside.any(axis=1) & ~everywhere]


def intersection(people: AllPeople, tables: Sequence[PlacedPeople]) -> Intersection:
    """Attack releases together, for the people who are in all of them, and in some.

    An attacker who links records knows the classes' common refinement and, where the policy
    compares with a prior, the worst of those of the releases and of the intersection. For people in
    some releases only the prior is the distribution among everybody, as a release tells nothing
    about the values of people who are not in it.
    """
    inside = people.classes >= 0
    everywhere: Mask = np.asarray(inside.all(axis=1))
    anywhere: Mask = np.asarray(inside.any(axis=1))
    number, classes = int(everywhere.sum()), people.classes[everywhere]
    if not all(table.exact for table in tables):
        return _bounds(classes, tables)
    known = KnownPeople.of(people, tables)
    in_some = known.linked(anywhere & ~everywhere, anywhere, ())
    if not number:
        return Intersection(True, in_some=in_some)
    counts, class_of = attacks.intersect(list(classes.T))
    cells = classes[np.unique(class_of, return_index=True)[1]]
    joints = {}
    for name, kinds in people.kinds.items():
        joint = cross_counts(class_of, known.there(name)[everywhere], (len(counts), len(kinds)))
        if joint.sum():
            joints[name] = joint
    losses = [loss_of_sizes(np.bincount(of)) for of in classes.T]
    return Intersection(
        True,
        number,
        number,
        known.linked(everywhere, everywhere, known.priors()),
        in_some,
        attacks.linkage(counts.sizes),
        {name: attacks.guesses(joint) for name, joint in joints.items()},
        {
            name: known.candidates(name, cells, np.asarray(joint.sum(axis=1)))
            for name, joint in joints.items()
        },
        Losses(losses, loss_of_sizes(counts.sizes)),
    )


def _bounds(classes: Codes, tables: Sequence[PlacedPeople]) -> Intersection:
    """Return bounds, and no proof, where some table has more people than records."""
    if not len(classes):
        return Intersection(False)
    counts, class_of = attacks.intersect(list(classes.T))
    cells = classes[np.unique(class_of, return_index=True)[1]]
    released, placed = [t.counts.sizes for t in tables], [t.people for t in tables]
    least, most = attacks.membership_bounds(counts.sizes, cells, released, placed)
    return Intersection(False, int(least.sum()), int(most.sum()))
