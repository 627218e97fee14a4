"""Plans of releases: what a manifest says, enough to recode another table alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anonymizer.counts.persons import joint_of
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.reading import of_rule, rule_alone, settled_as
from anonymizer.privacy import DifferentialPrivacy, PrivacyModel, population_of, without_people
from anonymizer.recoding.generalization import GeneralizationPlan, People
from anonymizer.recoding.policy import WHOLE_PERSONS, Suppression
from anonymizer.recoding.recoding import SearchResult
from anonymizer.release.applied import AppliedRecoding
from anonymizer.release.description import Description
from anonymizer.release.files import MANIFEST, digest_of_file, home_of, sound
from anonymizer.release.manifest import Manifest
from anonymizer.release.reach import Listed, Reach
from anonymizer.release.verification.policies import models_of
from anonymizer.release.verification.policies import rules as rules_of
from anonymizer.tables import engine
from anonymizer.tables.population import WEIGHTS, Margins
from anonymizer.tables.spreadsheet import rearmed_text


@dataclass(frozen=True, eq=False)
class AppliedRelease:
    """A release whose recoding is applied: its manifest, what this says, and its SHA-256."""

    manifest: Manifest
    source: AppliedRecoding
    sha256: str

    @classmethod
    def at(cls, path: Path, study: Description | None) -> "AppliedRelease":
        """The release at a path: its directory, its table or its manifest.

        ``study`` is that of the release: its hierarchies place values that the manifest does not
        list, and its policy has what the manifest only has the digest of.

        Raises InputError when the manifest, or a table next to it, is damaged, when values were
        drawn, and when the study is needed and not given, or is another one.
        """
        directory = home_of(path)
        place = directory / MANIFEST
        _require_release(path, place)
        manifest = Manifest.read(place)
        with sound(place):
            _require_generalized(manifest)
            table = directory / manifest.file[0].file
            if path.name != MANIFEST or table.exists():
                manifest.table_at(directory if path.name == MANIFEST else path)
            return cls.of(manifest, study, digest_of_file(place))

    @classmethod
    def of(
        cls, manifest: Manifest, study: Description | None, sha256: str = ""
    ) -> "AppliedRelease":
        """The release that a manifest describes; errors as of :meth:`at`."""
        return cls(manifest, _source(manifest, study), sha256)


def _require_release(path: Path, manifest: Path) -> None:
    """Refuse a path without a manifest, such as that of the table that is to be recoded."""
    if not path.exists():
        raise InputError(f"there is no {path}; give the directory of a release")
    if not manifest.exists():
        raise InputError(
            f"{path} is no release: there is no {MANIFEST} in {manifest.parent}; give the "
            "directory of a release, and the table after it"
        )


def _require_generalized(manifest: Manifest) -> None:
    """Refuse what was drawn: a manifest has no way to draw alike."""
    if manifest.masking:
        raise InputError(
            f"{MANIFEST} describes values that were drawn at random, which cannot be applied to "
            "another table; run the study of the release on that table"
        )
    if any(each.model == DifferentialPrivacy.name for each in manifest.privacy):
        raise InputError(
            f"{MANIFEST} describes a random sample under differential privacy, which cannot be "
            "applied to another table; run the study of the release on that table"
        )


def _source(manifest: Manifest, study: Description | None) -> AppliedRecoding:
    """The recoding that a manifest describes."""
    hierarchies = _hierarchies(manifest, study)
    safe = manifest.spreadsheet is not None and manifest.spreadsheet.safe
    whole = manifest.completed(None if study is None else study.hierarchies)
    whole = whole.with_texts(rearmed_text) if safe else whole
    reaches = {
        name: Reach(name, groups, hierarchies.get(name), whole.levels.get(name))
        for name, groups in whole.recoding.items()
    }
    schema = _schema(manifest)
    numbered = manifest.file[1].numbered(manifest.recoding)
    listed = Listed(whole.regions, numbered) if whole.regions else None
    policy = _policy(manifest, study)
    return AppliedRecoding(
        _plan(manifest, schema, policy, hierarchies), reaches, listed, public=True
    )


def _plan(
    manifest: Manifest,
    schema: Schema,
    policy: list[PrivacyModel],
    hierarchies: Mapping[str, Hierarchy],
) -> GeneralizationPlan:
    """The policy and the budget of a release, and the population that the policy is about."""
    known, people = population_of(policy), None
    taxonomies = {}
    margins = known if isinstance(known, Margins) else None
    # By weights, and by margins, every table has its own people.
    if known is not None and known is not WEIGHTS and margins is None:
        tally = engine.tally(schema.admit_population(known.table), schema.quasi_identifiers)
        taxonomies = taxonomies_of(tally, hierarchies)
        people = People.of(tally, taxonomies)
    method = manifest.method
    share = method.get("suppression", 0.0)
    rule = "any" if share else "small"  # the only way there was, before it could be chosen
    persons = method.get(WHOLE_PERSONS, False)
    rule = "small" if persons else rule
    options = method.get("remove", False), method.get("suppress", rule)
    budget = Suppression(share, *options, persons=persons)
    search = SearchResult("applied", str(manifest.search.objective), searched=False)
    return GeneralizationPlan(
        schema, without_people(policy), taxonomies, {}, search, budget, people, margins
    )


def _schema(manifest: Manifest) -> Schema:
    """The roles of the columns of the raw table."""
    roles = manifest.file[1]
    return Schema(
        tuple(manifest.recoding),
        tuple(roles.sensitive),
        tuple(name for name in roles.identifiers if name not in manifest.withheld),
        roles.missing,
        tuple(roles.targets),
        person=tuple(manifest.person),
        weight=manifest.weight,
        per_person=manifest.per_person or "share",
        household=tuple(manifest.household),
        releases_weight=manifest.released_weight is not None,
        person_numbers=manifest.person_numbers is not None,
        joint=joint_of(each.attribute for each in manifest.privacy),
        items=tuple(sorted(manifest.items.items())),
    )


def _policy(manifest: Manifest, study: Description | None) -> list[PrivacyModel]:
    """The policy of a release; InputError where neither manifest nor study has all of a model."""
    if not manifest.privacy:
        raise InputError(f"{MANIFEST} states no policy that could hold")
    models = models_of(manifest, study)
    found = [model for model in models if model is not None]
    if len(found) < len(models):
        raise InputError(
            f"{MANIFEST} only has the digest of what a model is about, and the study has another "
            "one; name the study of the release"
        )
    return found


def _hierarchies(manifest: Manifest, study: Description | None) -> dict[str, Hierarchy]:
    """The hierarchies that are known: those of the study, else those that are rules.

    Raises InputError where the study has others than the release.
    """
    rules = manifest.hierarchies
    if study is None:
        wrong = [check.field for check in rules_of(manifest) if not check.agrees]
        if wrong:
            raise InputError(
                f"{MANIFEST} is damaged: rules of hierarchies and labels do not fit ({wrong[0]})"
            )
        return {name: of_rule(rule) for name, rule in rules.items()}
    given = settled_as(study.hierarchies, rules)
    for name, groups in manifest.recoding.items():
        alike = name in given and (rule_alone(given[name]) or None) == rules.get(name)
        level = manifest.levels.get(name)
        if not alike or not all(_agrees(given[name], g.values, g.own, level) for g in groups):
            raise InputError(
                f"the study has another hierarchy of column {name!r} than {MANIFEST}; name the "
                "study of the release"
            )
    return dict(given)


def _agrees(
    hierarchy: Hierarchy, values: list[str | None] | None, label: str | None, level: int | None
) -> bool:
    """Whether a hierarchy has the values of a group of a level under its label."""
    if not level or values is None:
        return True
    keys = [hierarchy.key(value) for value in values if value is not None]
    rows = [hierarchy.labels_of(key) for key in keys if hierarchy.covers(key)]
    return all(len(row) >= level and str(row[level - 1]) == label for row in rows)
