"""What several releases disclose together, of people in all of them and of people in some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.release.results import Result
from anonymizer.risk.attacks import Guesses, Linkage, guesses, intersect, linkage, membership_bounds
from anonymizer.risk.audit.known import Candidates, Known, LinkedClasses
from anonymizer.risk.audit.people import People, Placed


@dataclass(frozen=True)
class Losses(Result):
    """The query loss of people in all releases, of each release and of all of them together.

    The average of all is at most the sum of theirs, but the largest loss has no such bound.
    """

    releases: Sequence[QueryLoss] = ()
    together: QueryLoss | None = None


@dataclass(frozen=True)
class Intersection(Result):
    """What several releases disclose together.

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
    linkage: Linkage | None = None  # to the classes of the intersection
    inference: Mapping[str, Guesses] = field(default_factory=dict)  # from them, by attribute
    candidates: Mapping[str, Candidates] = field(default_factory=dict)  # records not linked
    query_loss: Losses = field(default_factory=Losses)  # of people in all releases
    derived = ("satisfied",)

    @property
    def satisfied(self) -> bool:
        """Whether the policy is proven for everybody, in all releases or in some."""
        parts = [part for part in (self.in_all, self.in_some) if part is not None]
        return self.membership_known and all(part.satisfied for part in parts)


def intersection(people: People, tables: Sequence[Placed]) -> Intersection:
    """What releases disclose together of the people who are in all of them, and in some.

    An attacker who links records knows the classes' common refinement and, where the policy
    compares with a prior, the worst of those of the releases and of the intersection. For people in
    some releases only the prior is the distribution among everybody, as a release tells nothing
    about the values of who is not in it.
    """
    inside = people.classes >= 0
    everywhere: Mask = np.asarray(inside.all(axis=1))
    anywhere: Mask = np.asarray(inside.any(axis=1))
    number, classes = int(everywhere.sum()), people.classes[everywhere]
    if not all(table.exact for table in tables):
        return _bounds(classes, tables)
    known = Known.of(people, tables)
    in_some = known.linked(anywhere & ~everywhere, anywhere, ())
    if not number:
        return Intersection(True, in_some=in_some)
    counts, class_of = intersect(list(classes.T))
    cells = classes[np.unique(class_of, return_index=True)[1]]
    joints = {name: known.joint(name, everywhere, class_of, len(counts)) for name in people.kinds}
    losses = [loss_of_sizes(np.bincount(of)) for of in classes.T]
    return Intersection(
        True,
        number,
        number,
        known.linked(everywhere, everywhere, known.priors()),
        in_some,
        linkage(counts.sizes),
        {name: guesses(joint) for name, joint in joints.items()},
        {name: known.candidates(name, cells, counts.sizes) for name in joints},
        Losses(losses, loss_of_sizes(counts.sizes)),
    )


def _bounds(classes: Codes, tables: Sequence[Placed]) -> Intersection:
    """The result where some table has more people than records: bounds, and no proof."""
    if not len(classes):
        return Intersection(False)
    counts, class_of = intersect(list(classes.T))
    cells = classes[np.unique(class_of, return_index=True)[1]]
    released, placed = [t.counts.sizes for t in tables], [t.people for t in tables]
    least, most = membership_bounds(counts.sizes, cells, released, placed)
    return Intersection(False, int(least.sum()), int(most.sum()))
