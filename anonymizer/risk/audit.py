"""Audits of release directories: every attack on every release, and on all of them together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.errors import InputError, did_you_mean
from anonymizer.feedback.document import in_a_line
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.hierarchy import Hierarchy
from anonymizer.objectives import OBJECTIVES
from anonymizer.privacy import (
    PrivacyModel,
    TCloseness,
    Verdict,
    over_persons,
    population_of,
)
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.recoding.apply import matched
from anonymizer.recoding.best import Best
from anonymizer.recoding.levels import FullDomain
from anonymizer.recoding.rehearsal import REHEARSAL
from anonymizer.release.files import home_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.placement import place
from anonymizer.release.proof import verify
from anonymizer.release.results import PolicyResult, Result
from anonymizer.release.study import Study
from anonymizer.release.verification.margins import fewest_of_release
from anonymizer.release.warnings import ReleaseWarning
from anonymizer.risk import attacks
from anonymizer.risk.downcoding import Downcoding, downcoding_of
from anonymizer.risk.intersection import Intersection, intersection
from anonymizer.risk.method import LACKING, simulation_of
from anonymizer.risk.minimality import BOUNDED, DRAWS, Minimality, minimality
from anonymizer.risk.person_audit import (
    HouseholdAudit,
    PersonAudit,
    household_audit,
    obstacle_to_keys,
    person_audit,
)
from anonymizer.risk.placement import (
    OriginalTable,
    PlacedPeople,
    PublishedRelease,
    everybody,
    identified,
    placed,
    read_original,
    read_release,
    repeated_in,
    require_compatible,
)
from anonymizer.tables import engine
from anonymizer.tables.population import Margins
from anonymizer.tables.values import is_missing

BY_MARGINS = "its policy is about a population of which only margins are known"
BY_WEIGHTS = (
    "its policy is about the people whom records stand for, by sampling weights; "
    "`anonymizer verify --original` examines it"
)


NO_HOUSEHOLDS = "no column tells which records are of one household; name it with --household"
OF_HOUSEHOLDS = "its policy is about households, which have several records"


@dataclass(frozen=True, repr=False)
class ReleaseAudit(PolicyResult):
    """Disclosure of one release to an attacker.

    Of ``persons`` who have several records the policy is judged. Where it is about persons, and it
    is not known who is in which class, ``hidden`` says why; its models of persons are not examined,
    and none that is about the people whom sampling weights tell.
    Unless ``people_beyond_records`` is 0, it is not known who is in the release. ``guessed`` is of
    how many people of the original the best guess is right, and of how many it was tried, by
    sensitive attribute that the original has. Where missing values count as nothing, only records
    with a value are inferred from, and known for sure; an attribute without any is left out.
    """

    release: str  # its path, as given
    records: int
    classes: int
    people: int  # of the original who are in a class of it
    people_beyond_records: int  # how many more they are than its records
    privacy: Sequence[Verdict]  # of the policy on the release, recounted
    linkage: attacks.Linkage  # with the original quasi-identifiers
    query_loss: QueryLoss  # of the query "which class?" about a record
    inference: Mapping[str, attacks.Guesses]  # by sensitive attribute
    guessed: Mapping[str, tuple[int, int]]
    similarity: Mapping[str, Sequence[attacks.Similar]]  # by level of its hierarchy, if any
    minimality: Minimality  # what knowing the method reveals
    random: bool = False  # whether people are found by values that were drawn for them
    figures: Sequence[str] = ()  # of the raw table, in its manifest
    warnings: Sequence[ReleaseWarning] = ()  # about people who have several records of it
    persons: PersonAudit | None = None  # who have several records; None where it is not said
    hidden: str | None = None
    households: HouseholdAudit | None = None  # likewise of who lives together
    downcoding: Downcoding | None = None  # what boxes have in common; None of other releases

    @property
    def satisfied(self) -> bool:
        """Whether every model of the policy was examined, and is satisfied."""
        return not (self.broken or self.hidden)

    def __repr__(self) -> str:
        policy = "policy holds" if self.satisfied else "policy does not hold"
        return in_a_line(self, f"{self.records:,} records", f"{self.classes:,} classes", policy)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON has it: guesses that were tried are part of the inference."""
        found = super().to_dict()
        guessed = found.pop("guessed")
        for name, inference in found["inference"].items():
            right, tried = guessed.get(name, (None, None))
            inference |= {"guessed_right": right, "guessed": tried}
        return found


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """Disclosure of releases to an attacker, each and together."""

    releases: Sequence[ReleaseAudit]
    intersection: Intersection | None  # None of a single release
    derived = ("satisfied", "holds", "beyond", "figures", "unexamined", "repeated", "hidden")

    def __repr__(self) -> str:
        policy = "policies hold" if self.holds else "a policy does not hold"
        if self.holds and self.figures:
            policy = "a policy does not hold against who reads the manifest"
        elif self.holds and self.beyond:
            policy = "a policy does not hold against who knows the search"
        elif self.holds and self.hidden:
            policy = "policies not examined"
        elif self.holds and (self.unexamined or self.repeated):
            policy = "policies hold, not all attacks examined"
        return in_a_line(self, f"{len(self.releases):,} releases", policy)

    @property
    def satisfied(self) -> bool:
        """True where the policies hold, and no attack that was run finds anybody beyond them.

        Attacks that were not run are ``unexamined``.
        """
        return not (self.broken or self.hidden)

    @property
    def broken(self) -> bool:
        """True where a policy does not hold, or an attack finds somebody beyond it."""
        return bool(not self.holds or self.beyond or self.figures)

    @property
    def holds(self) -> bool:
        """True where the policy holds in every release, and for everybody in their intersection.

        As far as it was examined: see ``hidden``.
        """
        together = self.intersection is None or self.intersection.satisfied
        return together and not any(release.broken for release in self.releases)

    @property
    def hidden(self) -> Sequence[str]:
        """Reasons why models of persons were not examined, each once."""
        return [*dict.fromkeys(each.hidden for each in self.releases if each.hidden)]

    @property
    def beyond(self) -> int:
        """The most records of a release about which an attacker learns more than its policy allows.

        He knows the study, and simulates its search.
        """
        return max(release.minimality.records_breached or 0 for release in self.releases)

    @property
    def figures(self) -> Sequence[str]:
        """The fields of manifests that follow from raw tables, each once.

        Whoever holds a register of quasi-identifiers keeps the raw tables that have these figures,
        and learns sensitive values that the release hides.
        """
        return [*dict.fromkeys(name for release in self.releases for name in release.figures)]

    @property
    def unexamined(self) -> Sequence[str]:
        """Reasons why this attacker was not examined, each once; empty where he was throughout."""
        every = [each.minimality for each in self.releases]
        found = [each for each in every if each.method != BOUNDED]
        reasons = [each.unsimulated or each.why for each in found]
        return [*dict.fromkeys(filter(None, reasons))]

    @property
    def repeated(self) -> Sequence[str]:
        """The columns by which people have several records: every attack takes each for a person.

        What the releases disclose of such people is not examined.
        """
        found = (each.column for release in self.releases for each in release.warnings)
        return [*dict.fromkeys(name for name in found if name is not None)]


def audit_files(
    paths: Sequence[Path],
    against: Sequence[Path],
    *,
    identifier: str | None = None,
    studies: Sequence[Study] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    table: str | None = None,
    person: Sequence[str] = (),
    household: Sequence[str] = (),
    watch: Watch = ignore,
) -> Audit:
    """Attack releases with the tables they were made of.

    ``paths`` are directories that ``anonymizer run`` wrote, or the tables there. ``against`` is the
    original table, or that of each release in their order; of several ``identifier`` is the column
    that identifies people in all. ``studies`` are likewise one or several, and needed where a model
    is about a population or a hierarchy of sensitive values. ``hierarchies`` of sensitive
    attributes are for similarity attacks, ``draws`` and ``seed`` for the minimality attack.
    ``person`` are the columns of the original that tell whose each record is, where persons have
    several; by default those of the release. The policy is about persons then. ``household`` are
    likewise those that tell who lives together.

    Raises InputError when something cannot be read, or a release was not made of its original.
    Raises PolicyBrokenError when an identifier is in a release.
    """
    _require_fitting(paths, against, identifier, studies)
    releases = []
    for number, path in enumerate(paths):
        watch("reading the releases", number, len(paths))
        study = studies[number % len(studies)] if studies else None
        releases.append(read_release(path, study))
    require_compatible(releases, of_one=len(against) == 1)
    if len(releases) > 1 and (person or any(release.person for release in releases)):
        raise InputError(
            "persons who have several records are audited in one release at a time: who is who in "
            "several is known of records alone; name each release by itself"
        )
    if len(releases) > 1 and any(model.by_weights for each in releases for model in each.models):
        raise InputError(
            "a release whose policy is about the people whom its records stand for, by sampling "
            "weights, is audited by itself; name each by itself"
        )
    if len(releases) > 1 and any(isinstance(m.people, Margins) for r in releases for m in r.models):
        raise InputError(
            "a release whose policy is about margins of a population is audited by itself: who of "
            "the population has the classes of several releases is not known; name each by itself"
        )
    if len(releases) > 1 and (household or any(release.household for release in releases)):
        raise InputError(
            "households are audited in one release at a time; name each release by itself"
        )
    known = {name for release in releases for name in release.schema.sensitive}
    for name in hierarchies or {}:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"no release has a sensitive attribute {name!r}{hint}")
    originals = [OriginalTable(path, table) for path in against]
    tables, persons = _people(releases, originals, identifier, person, household, watch)
    found = []
    for number, each in enumerate(tables):
        watch("attacking the releases", number, len(tables))
        minimal = minimality_of(each, draws, np.random.default_rng(seed), watch)
        found.append(_audited(each, hierarchies or {}, minimal))
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
    releases: Sequence[PublishedRelease],
    against: Sequence[OriginalTable],
    identifier: str | None,
    person: Sequence[str],
    household: Sequence[str],
    watch: Watch,
) -> tuple[list[PlacedPeople], list[np.ndarray]]:
    """The people of the originals in the classes of the releases, and who each of them is."""
    tables, complete = [], len(releases) > 1
    roles = dict.fromkeys(name for r in releases for name in (*r.raw, *r.schema.sensitive))
    for number, release in enumerate(releases):
        watch("placing the people of the originals", number, len(releases))
        given = against[number % len(against)]
        extra = [*(release.shown(roles) if complete else ()), *([identifier] if identifier else ())]
        extra += [*person, *household]
        original = read_original(given, release, extra, complete=complete)
        of, homes = person or release.person, household or release.household
        alone = not complete
        tables.append(
            placed(release, original, given.path, alone=alone, person=of, household=homes)
        )
    if identifier is not None:
        return tables, identified([table.original for table in tables], identifier)
    return tables, [np.arange(len(table.original)) for table in tables]


def _audited(
    table: PlacedPeople, hierarchies: Mapping[str, Hierarchy], minimal: Minimality
) -> ReleaseAudit:
    """Attack one release in every way, by the values that are there where a gap is nothing."""
    release, counts, class_of = table.release, table.counts, table.class_of
    about = {name: counts.about(name).known for name in release.schema.sensitive}
    if release.schema.missing == "gap":
        about = {
            name: each for name, each in about.items() if not all(map(is_missing, each.values))
        }
    own = {name: found for name in about if (found := table.there(name)) is not None}
    alike = {**_hierarchies_of(release), **hierarchies}
    models = release.models
    if table.person:
        models = over_persons(models, table.person, table.household)
    hidden = obstacle_to_keys(table, table.person) if table.person else None
    judging = [model for model in models if table.person and model.judges_persons]
    persons = person_audit(table, judging) if table.person and not hidden else None
    together = [model for model in models if model.of_households]
    keys = (*table.household, *table.person)
    apart = obstacle_to_keys(table, keys) if table.household else NO_HOUSEHOLDS
    households = None if apart else household_audit(table, together)
    if together:
        hidden = hidden or apart
    others = [model for model in models if model not in judging and not model.by_withheld]
    if any(model.by_weights for model in models):
        hidden = hidden or BY_WEIGHTS
    return ReleaseAudit(
        release=str(release.path),
        records=counts.records,
        classes=len(counts),
        people=int(table.people.sum()),
        people_beyond_records=table.beyond,
        privacy=[
            *_verified(release, others),
            *(() if persons is None else persons.privacy),
            *(() if households is None else households.privacy),
        ],
        linkage=attacks.linkage(counts.sizes, table.people),
        query_loss=loss_of_sizes(counts.sizes),
        inference={name: attacks.guesses(each.joint) for name, each in about.items()},
        guessed={
            name: (
                attacks.guessed_right(about[name].joint, class_of, values),
                int(((class_of >= 0) & (values >= 0)).sum()),
            )
            for name, values in own.items()
        },
        similarity={
            name: attacks.similarity(each.joint, each.values, alike[name], name)
            for name, each in about.items()
            if name in alike
        },
        minimality=minimal,
        random=release.random,
        figures=release.manifest.of_raw,
        warnings=tuple(repeated_in(table)),
        persons=persons,
        hidden=hidden,
        households=households,
        downcoding=downcoding_of(table),
    )


def _verified(release: PublishedRelease, models: Sequence[PrivacyModel]) -> list[Verdict]:
    """Return the verdicts of models on the release as it is."""
    people, known = release.population, population_of(release.models)
    if isinstance(known, Margins) and release.study is not None:
        file = home_of(release.path) / release.manifest.file[0].file
        form = release.study.released_format_of(file)
        fewest = fewest_of_release(release.study, release.manifest, form, release.table, known)
        return verify(release.table, release.schema, models, fewest)
    if people is None:
        return verify(release.table, release.schema, models)
    labels, _ = place(people, release.manifest)
    recoded = engine.chosen(labels, release.schema.quasi_identifiers)
    recoded = matched(release.table, recoded, release.schema)
    return verify(release.table, release.schema, models, recoded)


def _hierarchies_of(release: PublishedRelease) -> dict[str, Hierarchy]:
    """The hierarchies of sensitive attributes in the policy."""
    return {
        model.attribute: model.hierarchy
        for model in release.models
        if isinstance(model, TCloseness)
        and isinstance(model.attribute, str)
        and isinstance(model.hierarchy, Hierarchy)
    }


TELLS = (
    "classes were suppressed for their sensitive values, which whoever knows the quasi-identifiers "
    "of all sees and infers values from"
)


REHEARSED = (
    "its recoding was chosen in rehearsals, by counts with noise, and the policy holds of all that "
    "this may tell"
)

CUTS = "the search was not over levels alone, and whether it cut attributes its steward alone knows"


def minimality_of(
    table: PlacedPeople, draws: int, rng: np.random.Generator, watch: Watch = ignore
) -> Minimality:
    """Attack a release by the knowledge of the method: that a search did not prefer another one.

    By simulating the search, or where that says nothing, by no more than that the next finer
    releases broke the policy. ``draws``: worlds that ``rng`` draws where they are too many to
    enumerate.
    """
    if any(model.by_weights for model in table.release.models):
        return Minimality.not_applicable(BY_WEIGHTS)
    if any(isinstance(model.people, Margins) for model in table.release.models):
        return Minimality.not_applicable(BY_MARGINS)
    if any(model.of_households for model in table.release.models):
        return Minimality.not_applicable(OF_HOUSEHOLDS)
    if table.release.person:
        return Minimality.not_applicable("its policy is about persons, who have several records")
    if table.release.schema.items:
        return Minimality.not_applicable("its policy is about each item of lists")
    study = table.release.study
    warned = {each.code for each in table.release.manifest.warnings}
    tells = Minimality.not_applicable(TELLS) if "suppression-tells" in warned else None
    if study is None:
        unknown = Minimality.not_applicable("its hierarchies are known by --study alone")
        return tells or unknown
    if table.release.manifest.search.strategy == REHEARSAL:
        return Minimality(BOUNDED, f"{BOUNDED}: {REHEARSED}", records_breached=0)
    found = simulation_of(table, draws, rng, watch)
    if found.examined:
        return found
    finer = tells or _of_specializations(table, study, draws, rng)
    return replace(finer, unsimulated=found.why) if finer.examined else tells or found


def _of_specializations(
    table: PlacedPeople, study: Study, draws: int, rng: np.random.Generator
) -> Minimality:
    """Attack a release by the knowledge that no direct specialization satisfied the policy."""
    if reason := _obstacle(table, study):
        return Minimality.not_applicable(reason)
    roles = study.schema
    schema = Schema(roles.quasi_identifiers, roles.sensitive, missing=roles.missing)
    tally = engine.tally(schema.admit(table.original), schema.columns)
    population = table.release.population
    people = None if population is None else engine.tally(population, schema.quasi_identifiers)
    taxonomies = taxonomies_of(tally, study.hierarchies, people)
    counts, levels = schema.counts(tally, taxonomies, people), table.release.manifest.levels
    node = tuple(levels[name] for name in counts.names)
    return minimality(counts, taxonomies, node, table.release.models, rng, draws)


def _obstacle(table: PlacedPeople, study: Study) -> str | None:
    """Explain why the release is not known to be minimal."""
    recoding = study.recoding
    if isinstance(recoding, Best):
        return "the recoding was chosen among several by what they keep on a half of the records"
    if not isinstance(recoding, FullDomain):
        return obstacle(table.release.manifest, study.schema.quasi_identifiers) or CUTS
    if recoding.max_classes is not None or recoding.min_records is not None:
        return "the search kept to bounds in addition to the policy"
    if not table.exact:
        return "the original holds more people than the release"
    if set(table.values) != set(table.release.schema.sensitive):
        return LACKING
    return obstacle(
        table.release.manifest, study.schema.quasi_identifiers, float(recoding.suppression)
    )


def obstacle(manifest: Manifest, names: Sequence[str], suppression: float = 0.0) -> str | None:
    """Explain why a release is not known to be minimal, by its manifest; None where it is.

    ``names`` are the quasi-identifiers, ``suppression`` the share of records that the study allows
    to be suppressed.
    """
    search, objective = manifest.search, OBJECTIVES.get(str(manifest.search.objective))
    reasons = {
        "values were drawn at random": bool(manifest.masking),
        "every class has groups of its own, no level": bool(manifest.regions),
        "not every quasi-identifier was released at a level": (
            set(manifest.levels) != set(names) or bool(search.refinements)
        ),
        "the levels were given, not searched for": search.strategy == "fixed",
        "the search did not prove that its result is the best": not search.proven,
        "records may be suppressed, so that a finer node could have been within the budget": (
            suppression > 0 or manifest.suppressed != 0
        ),
        "the objective may rise under generalization, so that finer nodes need not break the "
        "policy": objective is None or not objective.falls,
    }
    return next((reason for reason, true in reasons.items() if true), None)
