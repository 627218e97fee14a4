"""What several releases disclose together, of those in all of them and of those in some."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from anonymizer.counts.counts import Codes
from anonymizer.privacy import Mask
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.risk.attacks import Guesses, Linkage, crossed, guesses, linkage, membership_bounds
from anonymizer.risk.audit.known import Apart, Candidates, Known, policy_of_all
from anonymizer.risk.audit.people import People, Placed

__all__ = ["Intersection", "intersection"]


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
    known = Known.of(people, tables, models)
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
