"""An audit: every attack on every release, and on all of them together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.errors import InputError, did_you_mean
from anonymizer.hierarchy import Hierarchy
from anonymizer.privacy import TCloseness, Verdict
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.apply import matched
from anonymizer.release.placement import place
from anonymizer.release.proof import verify
from anonymizer.release.study import Study
from anonymizer.risk.attacks.inference import Guesses, Similar, guessed_right, guesses, similarity
from anonymizer.risk.attacks.linkage import Linkage, linkage
from anonymizer.risk.attacks.minimality import DRAWS, Minimality
from anonymizer.risk.audit.minimality import minimality_of
from anonymizer.risk.audit.people import Placed, everybody, identified, placed, read_original
from anonymizer.risk.audit.releases import Published, read_release, require_compatible
from anonymizer.risk.audit.together import Intersection, intersection
from anonymizer.risk.results import PolicyResult, Result


@dataclass(frozen=True)
class ReleaseAudit(PolicyResult):
    """What one release discloses to an attacker.

    Parameters
    ----------
    release
        The path of the release, as given.
    records, classes
        Of the released table.
    people
        People of the original who are in a class of it.
    people_beyond_records
        How many more they are than its records: unless 0, it is not known who is in the release.
    privacy
        The verdicts of the policy on the release, recounted.
    linkage
        Linkage with the original quasi-identifiers.
    query_loss
        The loss of the query "which class?" about a record.
    inference
        Homogeneity, skewness and Bayes-optimal inference, by sensitive attribute.
    guessed
        Of how many people of the original the best guess is right, and of how many it was tried, by
        sensitive attribute that the original has.
    similarity
        The levels of the hierarchy of each sensitive attribute that has one.
    minimality
        What knowing the policy and that the search is exact reveals.
    """

    release: str
    records: int
    classes: int
    people: int
    people_beyond_records: int
    privacy: Sequence[Verdict]
    linkage: Linkage
    query_loss: QueryLoss
    inference: Mapping[str, Guesses]
    guessed: Mapping[str, tuple[int, int]]
    similarity: Mapping[str, Sequence[Similar]]
    minimality: Minimality

    def to_dict(self) -> dict[str, Any]:
        """The audit as JSON has it: the guesses that were tried are part of the inference."""
        found = super().to_dict()
        guessed = found.pop("guessed")
        for name, inference in found["inference"].items():
            right, tried = guessed.get(name, (None, None))
            inference |= {"guessed_right": right, "guessed": tried}
        return found


@dataclass(frozen=True)
class Audit(Result):
    """What releases disclose to an attacker, each and together.

    Parameters
    ----------
    releases
        Each by itself.
    intersection
        All together; None of a single one.
    """

    releases: Sequence[ReleaseAudit]
    intersection: Intersection | None
    derived = ("satisfied",)

    @property
    def satisfied(self) -> bool:
        """Whether the policy holds in every release, and for everybody in their intersection."""
        together = self.intersection is None or self.intersection.satisfied
        return together and all(release.satisfied for release in self.releases)


def audit_files(
    paths: Sequence[Path],
    against: Sequence[Path],
    *,
    identifier: str | None = None,
    studies: Sequence[Study] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    watch: Watch = ignore,
) -> Audit:
    """Attack releases with the tables they were made of.

    Parameters
    ----------
    paths
        The releases: directories that ``anonymizer run`` wrote, or the tables there.
    against
        The original table, or that of each release in their order.
    identifier
        The column that identifies people in several originals.
    studies
        The study of all releases, or of each in their order; needed where a model is about a
        population or a hierarchy of sensitive values.
    hierarchies
        Of sensitive attributes, for similarity attacks.
    draws, seed
        The most worlds that the minimality attack draws, and the seed of these draws.
    watch
        Receives the progress.

    Raises
    ------
    InputError
        When something cannot be read, or a release was not made of its original.
    PolicyBrokenError
        When an identifier is in a release.
    """
    _require_fitting(paths, against, identifier, studies)
    releases = []
    for number, path in enumerate(paths):
        watch("reading the releases", number, len(paths))
        study = studies[number % len(studies)] if studies else None
        releases.append(read_release(path, study))
    require_compatible(releases, of_one=len(against) == 1)
    known = {name for release in releases for name in release.schema.sensitive}
    for name in hierarchies or {}:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"no release has a sensitive attribute {name!r}{hint}")
    tables, persons = _people(releases, against, identifier, watch)
    found = []
    for number, table in enumerate(tables):
        watch("attacking the releases", number, len(tables))
        minimal = minimality_of(table, draws, np.random.default_rng(seed))
        found.append(_audited(table, hierarchies or {}, minimal))
    if len(tables) == 1:
        return Audit(found, None)
    watch("intersecting the releases", 0, None)
    return Audit(found, intersection(everybody(tables, persons), tables))


def _require_fitting(
    paths: Sequence[Path], against: Sequence[Path], identifier: str | None, studies: Sequence[Study]
) -> None:
    """Require as many originals and studies as releases, or one, and identifiers if need be."""
    for what, given in [("--against", against), ("--study", studies)]:
        if len(given) not in (1, len(paths)) and (given or what == "--against"):
            raise InputError(
                f"{len(paths)} releases, but {what} {len(given)} times; give it once for all, or "
                "once for each in their order"
            )
    if len(against) > 1 and identifier is None:
        raise InputError(
            "several originals need --identifier, the column that identifies people in all of them"
        )
    if len(against) == 1 and identifier is not None:
        raise InputError(
            "--identifier is for several originals; in a single one every record is a person"
        )


def _people(
    releases: Sequence[Published], against: Sequence[Path], identifier: str | None, watch: Watch
) -> tuple[list[Placed], list[np.ndarray]]:
    """The people of the originals in the classes of the releases, and who each of them is."""
    tables = []
    complete = len(releases) > 1
    roles = dict.fromkeys(name for r in releases for name in (*r.raw, *r.schema.sensitive))
    for number, release in enumerate(releases):
        watch("placing the people of the originals", number, len(releases))
        path = against[number % len(against)]
        extra = [*(release.shown(roles) if complete else ()), *([identifier] if identifier else ())]
        original = read_original(path, release, extra, complete=complete)
        tables.append(placed(release, original, path))
    if identifier is not None:
        return tables, identified([table.original for table in tables], identifier)
    return tables, [np.arange(len(table.original)) for table in tables]


def _audited(
    table: Placed, hierarchies: Mapping[str, Hierarchy], minimal: Minimality
) -> ReleaseAudit:
    """Every attack on one release."""
    release, counts, class_of = table.release, table.counts, table.class_of
    sensitive = release.schema.sensitive
    alike = {**_hierarchies_of(release), **hierarchies}
    return ReleaseAudit(
        release=str(release.path),
        records=counts.records,
        classes=len(counts),
        people=int(table.people.sum()),
        people_beyond_records=table.beyond,
        privacy=_verified(release),
        linkage=linkage(counts.sizes, table.people),
        query_loss=loss_of_sizes(counts.sizes),
        inference={name: guesses(counts.joint[name]) for name in sensitive},
        guessed={
            name: (guessed_right(counts.joint[name], class_of, own), int(table.joint(name).sum()))
            for name, own in table.values.items()
        },
        similarity={
            name: similarity(counts.joint[name], counts.values[name], alike[name], name)
            for name in sensitive
            if name in alike
        },
        minimality=minimal,
    )


def _verified(release: Published) -> list[Verdict]:
    """The verdicts of the policy on the release as it is."""
    people = release.population(release.models)
    if people is None:
        return verify(release.table, release.schema, release.models)
    names = list(release.schema.quasi_identifiers)
    labels, _ = place(people, release.manifest)
    recoded = matched(release.table, labels[names], release.schema)
    return verify(release.table, release.schema, release.models, recoded)


def _hierarchies_of(release: Published) -> dict[str, Hierarchy]:
    """The hierarchies of sensitive attributes in the policy."""
    return {
        model.attribute: model.hierarchy
        for model in release.models
        if isinstance(model, TCloseness)
        and model.attribute is not None
        and isinstance(model.hierarchy, Hierarchy)
    }
