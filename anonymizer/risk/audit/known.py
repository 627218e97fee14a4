"""The policy of all releases, tested on people whose membership is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.privacy import TOLERANCE, Population, PrivacyModel, Verdict
from anonymizer.release.results import PolicyResult, Result
from anonymizer.risk.attacks import candidates, failing, intersect
from anonymizer.risk.audit.people import (
    People,
    Placed,
    classes_in,
    cross_counts,
    known_columns,
    split_by,
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


@dataclass(frozen=True, eq=False)
class Known:
    """The people, whose membership is known, and the policy that has to hold for them."""

    people: People
    tables: Sequence[Placed]
    models: Sequence[PrivacyModel]  # of all releases, each once
    others: Mapping[str, Codes]
    """By digest of a population: the class of each person there in each release, -1 for none."""

    @classmethod
    def of(cls, people: People, tables: Sequence[Placed]) -> "Known":
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
        """The risk of some people, where absence from a release is a class of its own.

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
                verdicts, fails = _tested(counts, models, priors)
                broken[known[mask]] |= fails[class_of]
                found += verdicts
        counts, _ = intersect(list(self.people.classes[mask].T))
        alone = int((counts.sizes == 1).sum())
        same = {name: self._homogeneous(name, mask) for name in self.people.kinds}
        return LinkedClasses(len(broken), len(counts), alone, same, int(broken.sum()), found)

    def _counts(
        self, known: Mask, among: Mask, name: str | None, digest: str | None
    ) -> tuple[Counts, Codes]:
        """Classes of some people by one attribute, with the values that any release has."""
        classes = self.people.classes[known]
        others = None if digest is None else list(_alike(self.others[digest], classes).T)
        counts, class_of = intersect(list(classes.T), population=others)
        if counts.population is not None:  # people whom a population lacks are added to it
            counts = replace(counts, population=np.maximum(counts.population, counts.sizes))
        if name is not None:
            single = np.zeros(int(among.sum()), np.intp)
            counts = replace(
                counts,
                joint={name: self.joint(name, known, class_of, len(counts))},
                margins={name: self.joint(name, among, single, 1)[0]},
                values={name: tuple(self.people.kinds[name])},
            )
        return counts, class_of

    def joint(self, name: str, mask: Mask, class_of: Codes, classes: int) -> Ints:
        """Records by class and value of an attribute, shape (classes, values)."""
        shape = classes, len(self.people.kinds[name])
        return cross_counts(class_of, self.people.values[name][mask], shape)

    def _homogeneous(self, name: str, mask: Mask) -> int:
        """The number of people in classes of one value."""
        known = mask & (self.people.values[name] >= 0)
        if not known.any():
            return 0
        counts, class_of = intersect(list(self.people.classes[known].T))
        joint = self.joint(name, known, class_of, len(counts))
        return int(counts.sizes[joint.max(axis=1) == counts.sizes].sum())

    def priors(self) -> Priors:
        """The distribution of each sensitive attribute in each release that shows it."""
        return [
            {name: self._aligned(table, name) for name in table.values} for table in self.tables
        ]

    def _aligned(self, table: Placed, name: str) -> Ints:
        """The margin of a release in the order of all values, shape (values,)."""
        places = {kind: place for place, kind in enumerate(self.people.kinds[name])}
        place = [places[text_as_read(value)] for value in table.counts.values[name]]
        wide = np.zeros(len(places), np.int64)
        wide[place] = table.counts.margins[name]
        return wide

    def candidates(self, name: str, cells: Codes, sizes: Ints) -> Candidates:
        """The values of an attribute that people are left with where records are not linked."""
        values, kinds = self.people.values[name], len(self.people.kinds[name])
        supports = [
            cross_counts(classes, values, (int(classes.max()) + 1, kinds)) > 0
            if table.release.shown([name])
            else None
            for table, classes in zip(self.tables, self.people.classes.T, strict=True)
        ]
        number = candidates(cells, supports)
        required = [getattr(m, "l", None) for m in self.models if m.attribute == name]
        least = max((ceil(l - TOLERANCE) for l in required if l is not None), default=None)  # noqa: E741
        return Candidates(
            int(number.min()),
            int(sizes[number == 1].sum()),
            least,
            None if least is None else int(sizes[number < least].sum()),
        )


def _others(people: Population, tables: Sequence[Placed]) -> Codes:
    """The class in each release of everybody in a population, shape (others, releases)."""
    found = []
    for table in tables:
        known = known_columns(table, tables)
        others = table.release.everybody(people, known)
        try:
            class_of = classes_in(table.release, others)[1]
        except InputError:
            raise InputError(
                f"people of {people.name} fit several classes of merged cells of "
                f"{table.release.path}, so that a model about them cannot be held against both"
            ) from None
        found.append(split_by(table, known, class_of, others))
    return np.column_stack(found)


def _about(model: PrivacyModel) -> tuple[str | None, str | None]:
    """The sensitive attribute and the digest of the population that a model is about, if any."""
    digest = model.people.digest if isinstance(model.people, Population) else None
    return (model.attribute if model.sensitive else None), digest


def _tested(
    counts: Counts, models: Sequence[PrivacyModel], priors: Priors
) -> tuple[list[Verdict], Mask]:
    """See ``failing``; a policy may lack the values that only another release shows."""
    try:
        return failing(counts, models, priors)
    except InputError as error:
        raise InputError(
            f"the policy of a release cannot be held against what another one shows: {error}"
        ) from None


def _alike(others: Codes, classes: Codes) -> Codes:
    """Those of others who are in all releases, or in some only, as some people are."""
    inside = others >= 0
    everywhere = inside.all(axis=1)
    return others[everywhere if (classes >= 0).all() else inside.any(axis=1) & ~everywhere]
