"""An audit: every attack on every release, and on all of them together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from anonymizer.errors import InputError, did_you_mean
from anonymizer.hierarchy import Hierarchy
from anonymizer.privacy import TCloseness, Verdict
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.apply import matched
from anonymizer.release.placement import place
from anonymizer.release.release import verify
from anonymizer.release.study import Study
from anonymizer.risk.attacks import (
    DRAWS,
    Guesses,
    Linkage,
    Minimality,
    Similar,
    guessed_right,
    guesses,
    linkage,
    similarity,
)
from anonymizer.risk.audit.minimal import minimality_of
from anonymizer.risk.audit.people import Placed, everybody, identified, placed, read_original
from anonymizer.risk.audit.releases import (
    Published,
    read_release,
    require_agreed,
    require_different,
)
from anonymizer.risk.audit.together import Intersection, intersection

__all__ = ["Audit", "ReleaseAudit", "audit_files"]


@dataclass(frozen=True)
class ReleaseAudit:
    """What one release tells an attacker.

    Parameters
    ----------
    path
        What the release was called.
    records, classes
        Of the released table.
    people
        People of the original who are in a class of it.
    beyond
        Those of them that are more than its records: it is not known who is in it then, unless 0.
    privacy
        The policy held against the release, recounted.
    linkage
        Linkage with the original quasi-identifiers.
    query_loss
        What the release costs as an answer to whose record is where.
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

    path: str
    records: int
    classes: int
    people: int
    beyond: int
    privacy: Sequence[Verdict]
    linkage: Linkage
    query_loss: QueryLoss
    inference: Mapping[str, Guesses]
    guessed: Mapping[str, tuple[int, int]]
    similarity: Mapping[str, Sequence[Similar]]
    minimality: Minimality

    @property
    def satisfied(self) -> bool:
        """Whether the release satisfies its policy."""
        return all(verdict.satisfied for verdict in self.privacy)

    def to_dict(self) -> dict[str, object]:
        """The same as JSON has it."""
        return {
            "release": self.path,
            "records": self.records,
            "classes": self.classes,
            "people": self.people,
            "people_beyond_records": self.beyond,
            "privacy": [verdict.to_dict() for verdict in self.privacy],
            "linkage": self.linkage.to_dict(),
            "query_loss": self.query_loss.to_dict(),
            "inference": {
                name: {
                    **found.to_dict(),
                    "guessed_right": self.guessed[name][0] if name in self.guessed else None,
                    "guessed": self.guessed[name][1] if name in self.guessed else None,
                }
                for name, found in self.inference.items()
            },
            "similarity": {
                name: [level.to_dict() for level in levels]
                for name, levels in self.similarity.items()
            },
            "minimality": self.minimality.to_dict(),
            "satisfied": self.satisfied,
        }


@dataclass(frozen=True)
class Audit:
    """What releases tell an attacker, each and together.

    Parameters
    ----------
    releases
        Each by itself.
    intersection
        All together; None of a single one.
    """

    releases: Sequence[ReleaseAudit]
    intersection: Intersection | None

    @property
    def satisfied(self) -> bool:
        """Whether the policy holds in every release, and for everybody in their intersection."""
        together = self.intersection is None or self.intersection.satisfied
        return together and all(release.satisfied for release in self.releases)

    def to_dict(self) -> dict[str, object]:
        """The audit as JSON has it."""
        return {
            "releases": [release.to_dict() for release in self.releases],
            "intersection": self.intersection and self.intersection.to_dict(),
            "satisfied": self.satisfied,
        }


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
        Where the releases lie: directories that ``anonymizer run`` wrote, or the tables there.
    against
        The original table, or that of each release in their order.
    identifier
        The column that tells in several originals who is who.
    studies
        The study of all releases, or of each in their order; needed where a model is about a
        population or a hierarchy of sensitive values.
    hierarchies
        Of sensitive attributes, for similarity attacks.
    draws, seed
        Worlds that the minimality attack draws at the most, and what they are drawn from.
    watch
        Told what is being done.

    Raises
    ------
    InputError
        When something cannot be read, or a release was not made of its original.
    PolicyBrokenError
        When an identifier stands in a release.
    """
    _require_fitting(paths, against, identifier, studies)
    releases = []
    for number, path in enumerate(paths):
        watch("reading the releases", number, len(paths))
        study = studies[number % len(studies)] if studies else None
        releases.append(read_release(path, study))
    require_different(releases, of_one=len(against) == 1)
    require_agreed(releases)
    _require_sensitive(releases, hierarchies or {})
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
    paths: Sequence[Path],
    against: Sequence[Path],
    identifier: str | None,
    studies: Sequence[Study],
) -> None:
    for what, given in [("--against", against), ("--study", studies)]:
        if len(given) not in (1, len(paths)) and (given or what == "--against"):
            raise InputError(
                f"{len(paths)} releases, but {what} {len(given)} times; state it once for all, or "
                "once for each in their order"
            )
    if len(against) > 1 and identifier is None:
        raise InputError(
            "several originals need --identifier, the column that tells who is in which of them"
        )
    if len(against) == 1 and identifier is not None:
        raise InputError(
            "--identifier is for several originals; in a single one every record is somebody else"
        )


def _require_sensitive(releases: Sequence[Published], hierarchies: Mapping[str, Hierarchy]) -> None:
    known = {name for release in releases for name in release.schema.sensitive}
    for name in hierarchies:
        if name not in known:
            raise InputError(
                f"no release has a sensitive attribute {name!r}" + did_you_mean(name, known)
            )


def _people(
    releases: Sequence[Published], against: Sequence[Path], identifier: str | None, watch: Watch
) -> tuple[list[Placed], list[np.ndarray]]:
    """The people of the originals in the classes of the releases, and who each of them is."""
    originals, tables = [], []
    complete = len(releases) > 1
    told = dict.fromkeys(name for r in releases for name in (*r.raw, *r.schema.sensitive))
    paths = against if len(against) > 1 else list(repeat(against[0], len(releases)))
    for number, (release, path) in enumerate(zip(releases, paths, strict=True)):
        watch("placing the people of the originals", number, len(releases))
        extra = [*(release.shown(told) if complete else ()), *([identifier] if identifier else ())]
        original = read_original(path, release, extra, complete=complete)
        tables.append(placed(release, original, path))
        originals.append(original)
    if identifier is not None:
        return tables, identified(originals, identifier)
    return tables, [np.arange(len(original)) for original in originals]


def _audited(
    table: Placed, hierarchies: Mapping[str, Hierarchy], minimal: Minimality
) -> ReleaseAudit:
    """Every attack on one release."""
    release, counts = table.release, table.counts
    sensitive = release.schema.sensitive
    alike = {**_stated_hierarchies(release), **hierarchies}
    return ReleaseAudit(
        path=str(release.path),
        records=counts.records,
        classes=len(counts),
        people=int(table.people.sum()),
        beyond=table.beyond,
        privacy=_verified(release),
        linkage=linkage(counts.sizes, table.people),
        query_loss=loss_of_sizes(counts.sizes),
        inference={name: guesses(counts.joint[name]) for name in sensitive},
        guessed={name: _guessed(table, name) for name in table.values},
        similarity={
            name: similarity(counts.joint[name], counts.values[name], alike[name], name)
            for name in sensitive
            if name in alike
        },
        minimality=minimal,
    )


def _verified(release: Published) -> list[Verdict]:
    """The policy, held against the release as it stands."""
    people = release.population(release.models)
    if people is None:
        return verify(release.table, release.schema, release.models)
    names = list(release.schema.names)
    labels, _ = place(people, release.manifest)
    recoded = matched(release.table, labels[names], release.schema)
    return verify(release.table, release.schema, release.models, recoded)


def _guessed(table: Placed, name: str) -> tuple[int, int]:
    tried = (table.class_of >= 0) & (table.values[name] >= 0)
    right = guessed_right(table.counts.joint[name], table.class_of, table.values[name])
    return right, int(tried.sum())


def _stated_hierarchies(release: Published) -> dict[str, Hierarchy]:
    """Hierarchies of sensitive attributes that the policy is about."""
    return {
        model.attribute: model.hierarchy
        for model in release.models
        if isinstance(model, TCloseness)
        and model.attribute is not None
        and isinstance(model.hierarchy, Hierarchy)
    }
