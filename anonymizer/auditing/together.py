"""What several releases disclose together, of those in all of them and of those in some."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks import (
    Guesses,
    Linkage,
    candidates,
    crossed,
    failing,
    guesses,
    linkage,
    membership_bounds,
)
from anonymizer.auditing.people import People, Placed, classes_in, spelled
from anonymizer.counts import Codes, Counts, Ints
from anonymizer.privacy import TOLERANCE, Mask, Population, PrivacyModel, Verdict
from anonymizer.risk import QueryLoss, loss_of_sizes

__all__ = ["Apart", "Candidates", "Intersection", "intersection", "policy_of_all"]

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


@dataclass(frozen=True)
class Intersection:
    """What several releases disclose together.

    Parameters
    ----------
    at_least, at_most
        Records of people who are in all releases: one number where that is known.
    everywhere
        How these do; None where it is not known who they are, or there is nobody.
    somewhere
        How those do who are in some of the releases only, being absent from the others told apart;
        None likewise. Adding or leaving out a few people between two releases singles them out.
    linkage
        Linkage to the classes of the intersection.
    inference
        Inference from them, by sensitive attribute.
    candidates
        The same without linking records.
    query_loss
        Of each release about the people in all of them; together they cost at most the sum on
        average, but not at the most.
    query_loss_together
        Of all of them.
    """

    at_least: int
    at_most: int
    everywhere: Apart | None = None
    somewhere: Apart | None = None
    linkage: Linkage | None = None
    inference: Mapping[str, Guesses] | None = None
    candidates: Mapping[str, Candidates] | None = None
    query_loss: Sequence[QueryLoss] = ()
    query_loss_together: QueryLoss | None = None
    known: bool = True

    @property
    def satisfied(self) -> bool:
        """Whether the policy is proven for everybody, in all releases or in some."""
        parts = [part for part in (self.everywhere, self.somewhere) if part is not None]
        return self.known and all(part.satisfied for part in parts)

    def to_dict(self) -> dict[str, object]:
        """The intersection as JSON has it."""
        together = self.query_loss_together
        inference, left = self.inference or {}, self.candidates or {}
        return {
            "membership_known": self.known,
            "records_at_least": self.at_least,
            "records_at_most": self.at_most,
            "in_all": self.everywhere and self.everywhere.to_dict(),
            "in_some": self.somewhere and self.somewhere.to_dict(),
            "linkage": self.linkage and self.linkage.to_dict(),
            "inference": {name: found.to_dict() for name, found in inference.items()},
            "candidates": {name: asdict(found) for name, found in left.items()},
            "query_loss": {
                "releases": [loss.to_dict() for loss in self.query_loss],
                "together": together and together.to_dict(),
            },
            "satisfied": self.satisfied,
        }


def policy_of_all(tables: Sequence[Placed]) -> list[PrivacyModel]:
    """The models of all releases, each once."""
    stated = {
        (model.name, model.attribute, repr(model.parameters)): model
        for table in tables
        for model in table.release.models
    }
    return list(stated.values())


def intersection(people: People, tables: Sequence[Placed]) -> Intersection:
    """What releases disclose together of the people who are in all of them, and in some.

    An attacker who links records is given the classes' common refinement and, where the policy
    compares with a prior, whichever is worst of those of the releases and of the intersection. For
    those in some releases only it is the distribution among everybody: a release tells nothing of
    the values of who is not in it.
    """
    inside = people.classes >= 0
    everywhere: Mask = np.asarray(inside.all(axis=1))
    anywhere: Mask = np.asarray(inside.any(axis=1))
    if not all(table.exact for table in tables):
        return _unknown(people.classes[everywhere], tables)
    models = policy_of_all(tables)
    known = _Known.of(people, tables, models)
    rest = known.apart(anywhere & ~everywhere, known.margins_of(anywhere), ())
    if not everywhere.any():
        return Intersection(0, 0, somewhere=rest)
    number = int(everywhere.sum())
    classes = people.classes[everywhere]
    counts, class_of = crossed(list(classes.T), {})
    cells = classes[np.unique(class_of, return_index=True)[1]]
    joints = {name: known.joint(name, everywhere, class_of, len(counts)) for name in known.names}
    return Intersection(
        number,
        number,
        known.apart(everywhere, known.margins_of(everywhere), known.priors()),
        rest,
        linkage(counts.sizes),
        {name: guesses(joint) for name, joint in joints.items()},
        {name: known.left(name, cells, counts.sizes) for name in known.names},
        [loss_of_sizes(np.bincount(of)) for of in classes.T],
        loss_of_sizes(counts.sizes),
    )


def _unknown(classes: Codes, tables: Sequence[Placed]) -> Intersection:
    """Where some table holds more people than records: bounds alone, and nothing is proven."""
    if not len(classes):
        return Intersection(0, 0, known=False)
    counts, class_of = crossed(list(classes.T), {})
    cells = classes[np.unique(class_of, return_index=True)[1]]
    released, placed = [t.counts.sizes for t in tables], [t.people for t in tables]
    least, most = membership_bounds(counts.sizes, cells, released, placed)
    return Intersection(int(least.sum()), int(most.sum()), known=False)


def _others(people: Population, tables: Sequence[Placed]) -> Codes:
    """The class in each release of everybody in a population, shape (others, releases)."""
    return np.column_stack(
        [classes_in(table.release, table.release.everybody(people))[1] for table in tables]
    )


def _about(model: PrivacyModel) -> tuple[str | None, str | None]:
    """The sensitive attribute and the digest of the population that a model is about, if any."""
    people = model.people
    return (
        model.attribute if model.sensitive else None,
        people.digest if isinstance(people, Population) else None,
    )


def _alike(others: Codes, classes: Codes) -> Codes:
    """Those of others who are in all releases, or in some only, as some people are."""
    inside = others >= 0
    everywhere = inside.all(axis=1)
    return others[everywhere if (classes >= 0).all() else inside.any(axis=1) & ~everywhere]


@dataclass(frozen=True, eq=False)
class _Known:
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
    ) -> "_Known":
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
                verdicts, fails = failing(counts, models, priors)
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
            {name: self._aligned(table, name, table.counts.margins[name]) for name in table.values}
            for table in self.tables
        ]

    def _aligned(self, table: Placed, name: str, columns: NDArray[np.int64]) -> Ints:
        """Columns by value of a release in the order of all values, shape (..., values)."""
        places = {kind: place for place, kind in enumerate(self.people.kinds[name])}
        place = [places[spelled(value)] for value in table.counts.values[name]]
        wide = np.zeros((*columns.shape[:-1], len(places)), np.int64)
        wide[..., place] = columns
        return wide

    def left(self, name: str, cells: Codes, sizes: Ints) -> Candidates:
        """The values of an attribute that people are left with where records are not linked."""
        supports = [
            self._aligned(table, name, table.counts.joint[name]) > 0
            if name in table.values
            else None
            for table in self.tables
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
