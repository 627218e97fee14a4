"""The people whose membership is known, held against the policy of all releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts.counts import Codes, Counts, Ints
from anonymizer.errors import InputError
from anonymizer.privacy import TOLERANCE, Mask, Population, PrivacyModel, Verdict
from anonymizer.risk.attacks import candidates, crossed, failing
from anonymizer.risk.audit.people import (
    People,
    Placed,
    classes_in,
    known_beside,
    spelled,
    told_apart,
)

__all__ = ["Apart", "Candidates", "Known", "policy_of_all"]

Priors = Sequence[Mapping[str, Ints]]


@dataclass(frozen=True)
class Apart:
    """How people do whom an attacker tells apart who links several releases.

    Parameters
    ----------
    records, classes
        The people, and the classes that they are told apart by.
    singled_out
        Those alone in their class.
    homogeneous
        Those in classes of a single value, by sensitive attribute.
    failing
        Those in classes that break a model of the policy.
    privacy
        Every model of every release held against these classes.
    """

    records: int
    classes: int
    singled_out: int
    homogeneous: Mapping[str, int]
    failing: int
    privacy: Sequence[Verdict]

    @property
    def satisfied(self) -> bool:
        """Whether every class satisfies every model."""
        return all(verdict.satisfied for verdict in self.privacy)

    def to_dict(self) -> dict[str, object]:
        """The same as JSON has it."""
        return {
            "records": self.records,
            "classes": self.classes,
            "singled_out": self.singled_out,
            "homogeneous_records": dict(self.homogeneous),
            "failing_records": self.failing,
            "privacy": [verdict.to_dict() for verdict in self.privacy],
            "satisfied": self.satisfied,
        }


@dataclass(frozen=True)
class Candidates:
    """What an attacker is left with who cannot link records: values in all classes of a person.

    Parameters
    ----------
    fewest
        The fewest values that anybody is left with.
    one
        The people left with one: their value is known for sure.
    l, fewer
        The largest l of the policy, as a whole number of values, and the people left with fewer;
        None where no model states one.
    """

    fewest: int
    one: int
    l: int | None  # noqa: E741 (the models' own letter)
    fewer: int | None


def policy_of_all(tables: Sequence[Placed]) -> list[PrivacyModel]:
    """The models of all releases, each once."""
    stated = {
        (model.name, model.attribute, repr(model.parameters)): model
        for table in tables
        for model in table.release.models
    }
    return list(stated.values())


def _others(people: Population, tables: Sequence[Placed]) -> Codes:
    """The class in each release of everybody in a population, shape (others, releases)."""
    found = []
    for table in tables:
        known = known_beside(table, tables)
        others = table.release.everybody(people, known)
        try:
            class_of = classes_in(table.release, others)[1]
        except InputError:
            raise InputError(
                f"people of {people.name} fit several classes of merged cells of "
                f"{table.release.path}, so that a model about them cannot be held against both"
            ) from None
        found.append(told_apart(table, known, class_of, others))
    return np.column_stack(found)


def _about(model: PrivacyModel) -> tuple[str | None, str | None]:
    """The sensitive attribute and the digest of the population that a model is about, if any."""
    people = model.people
    return (
        model.attribute if model.sensitive else None,
        people.digest if isinstance(people, Population) else None,
    )


def _held(
    counts: Counts, models: Sequence[PrivacyModel], priors: Priors
) -> tuple[list[Verdict], Mask]:
    """See ``failing``; a policy need not know the values that only another release shows."""
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


@dataclass(frozen=True, eq=False)
class Known:
    """The people, whose membership is known, beside the policy that has to hold for them.

    Parameters
    ----------
    people, tables, models
        The people, where they are, and the policy of all releases.
    names
        The sensitive attributes.
    others
        The class in each release of everybody in the populations that models are about, -1 for
        none, by the digest of the population, shape (others, releases) each.
    """

    people: People
    tables: Sequence[Placed]
    models: Sequence[PrivacyModel]
    names: Sequence[str]
    others: Mapping[str, Codes]

    @classmethod
    def of(
        cls, people: People, tables: Sequence[Placed], models: Sequence[PrivacyModel]
    ) -> "Known":
        """Place the populations that models are about beside the people."""
        about = {m.people.digest: m.people for m in models if isinstance(m.people, Population)}
        others = {digest: _others(population, tables) for digest, population in about.items()}
        return cls(people, tables, models, tuple(people.kinds), others)

    def apart(self, mask: Mask, margins: Mapping[str, Ints], priors: Priors) -> Apart | None:
        """How some of the people do, absence from a release being a class of its own."""
        if not mask.any():
            return None
        broken = np.zeros(int(mask.sum()), bool)
        found: list[Verdict] = []
        for name, digest in dict.fromkeys(map(_about, self.models)):
            known = mask if name is None else mask & (self.people.values[name] >= 0)
            models = [m for m in self.models if _about(m) == (name, digest)]
            if known.any():
                counts, class_of = self._counts(known, name, margins, digest)
                verdicts, fails = _held(counts, models, priors)
                broken[known[mask]] |= fails[class_of]
                found += verdicts
        counts, class_of = crossed(list(self.people.classes[mask].T), {})
        same = {name: self._homogeneous(name, mask) for name in self.names}
        alone = int((counts.sizes == 1).sum())
        return Apart(int(mask.sum()), len(counts), alone, same, int(broken.sum()), found)

    def _counts(
        self, known: Mask, name: str | None, margins: Mapping[str, Ints], digest: str | None
    ) -> tuple[Counts, Codes]:
        """Classes of some people by one attribute, its values being all that any release has."""
        classes = self.people.classes[known]
        others = None if digest is None else list(_alike(self.others[digest], classes).T)
        counts, class_of = crossed(list(classes.T), {}, others)
        if counts.population is not None:  # whom a population lacks may be taken for each other
            counts = replace(counts, population=np.maximum(counts.population, counts.sizes))
        if name is None:
            return counts, class_of
        return replace(
            counts,
            joint={name: self.joint(name, known, class_of, len(counts))},
            margins={name: margins[name]},
            values={name: tuple(self.people.kinds[name])},
        ), class_of

    def joint(self, name: str, mask: Mask, class_of: Codes, classes: int) -> Ints:
        """Records by class and value of an attribute, shape (classes, values)."""
        values, kinds = self.people.values[name][mask], len(self.people.kinds[name])
        known = values >= 0
        cells = np.bincount(class_of[known] * kinds + values[known], minlength=classes * kinds)
        return cells.astype(np.int64).reshape(classes, kinds)

    def _homogeneous(self, name: str, mask: Mask) -> int:
        """People in classes of one value."""
        known = mask & (self.people.values[name] >= 0)
        if not known.any():
            return 0
        counts, class_of = crossed(list(self.people.classes[known].T), {})
        joint = self.joint(name, known, class_of, len(counts))
        return int(counts.sizes[joint.max(axis=1) == counts.sizes].sum())

    def margins_of(self, mask: Mask) -> dict[str, Ints]:
        """How many of some people have each value, by attribute."""
        found = {}
        for name in self.names:
            values = self.people.values[name][mask]
            number = len(self.people.kinds[name])
            found[name] = np.bincount(values[values >= 0], minlength=number).astype(np.int64)
        return found

    def priors(self) -> list[Mapping[str, Ints]]:
        """The distribution of each sensitive attribute in each release that shows it."""
        return [
            {name: self._aligned(table, name) for name in table.values} for table in self.tables
        ]

    def _aligned(self, table: Placed, name: str) -> Ints:
        """The margin of a release in the order of all values, shape (values,)."""
        places = {kind: place for place, kind in enumerate(self.people.kinds[name])}
        place = [places[spelled(value)] for value in table.counts.values[name]]
        wide = np.zeros(len(places), np.int64)
        wide[place] = table.counts.margins[name]
        return wide

    def _support(self, release: int, name: str) -> NDArray[np.bool_]:
        """Which values occur in each class of a release, shape (classes, values)."""
        classes, values = self.people.classes[:, release], self.people.values[name]
        inside = classes >= 0
        seen = np.zeros((int(classes.max()) + 1, len(self.people.kinds[name])), bool)
        seen[classes[inside], values[inside]] = True
        return seen

    def left(self, name: str, cells: Codes, sizes: Ints) -> Candidates:
        """The values of an attribute that people are left with where records are not linked."""
        supports = [
            self._support(place, name) if table.release.shown([name]) else None
            for place, table in enumerate(self.tables)
        ]
        number = candidates(cells, supports)
        stated = [getattr(m, "l", None) for m in self.models if m.attribute == name]
        least = max((ceil(l - TOLERANCE) for l in stated if l is not None), default=None)  # noqa: E741
        return Candidates(
            int(number.min()),
            int(sizes[number == 1].sum()),
            least,
            None if least is None else int(sizes[number < least].sum()),
        )
