"""Verification of a release: the file, its manifest and, where there is one, its study."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anonymizer.counts.counting import recount
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.feedback.document import in_a_line
from anonymizer.feedback.words import plural
from anonymizer.privacy import PrivacyModel, Verdict, population_of
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.apply import matched, relabelled
from anonymizer.release.files import MANIFEST, home_of, manifest_bytes, sound
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import ReportedWarning, Series, steward_file
from anonymizer.release.person_warnings import person_warnings
from anonymizer.release.proof import judged, verify
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.relations import counted_in
from anonymizer.release.study import Study
from anonymizer.release.verification import figures, labels
from anonymizer.release.verification.check import FieldCheck, leaves, required, treatment_of
from anonymizer.release.verification.evidence import RawEvidence, RequiredEvidence
from anonymizer.release.verification.margins import fewest_of_release
from anonymizer.release.verification.persons import judged_by_table, of_original
from anonymizer.release.verification.policies import models_of, policy_of_study, rules
from anonymizer.release.verification.stored import (
    Facts,
    StoredTable,
    column_checks,
    file_checks,
    released_at,
)
from anonymizer.release.verification.studied import studied
from anonymizer.release.warnings import ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, release_format
from anonymizer.tables.population import WEIGHTS, Margins
from anonymizer.tables.spreadsheet import disarmed

FIGURES = "figures of the original table"
"""What is said of them where there is no steward's file."""


@dataclass(frozen=True, repr=False)
class Verification:
    """What was found when a release was held against its manifest and its policy.

    Parameters
    ----------
    table
        The released table.
    checks
        Every field that was checked, or cannot be, and why; empty for a table without a manifest.
    verdicts
        The policy, recounted: that of the study where there is one, else the manifest's.
    signer
        The fingerprint of the key that signed the release, where a key was given that did.
    series
        Which release of a series the signature says that it is.
    warnings
        Those that the manifest reports, and those about people who have several records, or values
        that find one, that the released table shows; they are no differences.
    unexamined
        Models about persons: the released table does not show whose its records are.
    numbers
        Whether it has a number for each person, by which they were counted.
    """

    table: Path
    checks: tuple[FieldCheck, ...]
    verdicts: tuple[Verdict, ...]
    signer: str | None = None
    series: Series | None = None
    warnings: tuple[ReportedWarning | ReleaseWarning, ...] = ()
    unexamined: tuple[PrivacyModel, ...] = ()
    numbers: bool = False

    @property
    def by_study(self) -> bool:
        """Whether the verdicts are on the policy of a study."""
        return not self.checks or any(check.how == "study" for check in self.checks)

    def __repr__(self) -> str:
        different = f"{len(self.differences):,} of {len(self.checks):,} checks differ"
        holds = all(verdict.satisfied for verdict in self.verdicts)
        policy = "policy holds" if holds else "policy does not hold"
        policy = "policy not examined" if holds and self.unexamined else policy
        return in_a_line(self, self.table.name, different, policy)

    @property
    def differences(self) -> tuple[FieldCheck, ...]:
        """The checks that do not agree."""
        return tuple(check for check in self.checks if check.agrees is False)

    @property
    def unchecked(self) -> tuple[FieldCheck, ...]:
        """What cannot be checked."""
        return tuple(check for check in self.checks if check.agrees is None)

    @property
    def broken(self) -> bool:
        """Whether something does not agree, or a model that was examined does not hold."""
        return bool(self.differences) or not all(each.satisfied for each in self.verdicts)

    @property
    def satisfied(self) -> bool:
        """Whether everything agrees and every model holds for every class; none is unexamined."""
        return not (self.broken or self.unexamined)

    def to_dict(self) -> dict[str, object]:
        """Differences, checks and verdicts as JSON has them; no value of any record."""
        return {
            "satisfied": self.satisfied,
            "signer": self.signer,
            "series": None if self.series is None else self.series.model_dump(),
            "warnings": [str(each) for each in self.warnings],
            "differences": [str(check) for check in self.differences],
            "checks": [check.to_dict() for check in self.checks],
            "privacy": [verdict.to_dict() for verdict in self.verdicts],
            **({"unexamined": [each.name for each in self.unexamined]} if self.unexamined else {}),
        }


def verify_release(
    path: str | Path,
    study: Study | str | Path | None = None,
    *,
    key: str | Path | None = None,
    original: str | Path | None = None,
    series: Mapping[str, str] = MappingProxyType({}),
    steward: bool = True,
    counted: Tally | None = None,
    person_key: PseudonymKey | None = None,
    watch: Watch = ignore,
) -> Verification:
    """Hold a released table against the manifest next to it and, where given, against its study.

    The checksum is one of many checks: columns, labels, counts and every figure that the table
    alone can show are computed again, whatever the checksum says. The figures of the original
    table are checked where the steward's file is next to the release.

    Parameters
    ----------
    path
        The released table, or the directory it lies in.
    study
        The study of the release, or its path. It is needed where there is no manifest, and where
        the policy is about a population or a hierarchy of sensitive values.
    key
        A PEM file with the public key of who released it, or with the private one: the release must
        be signed by it.
    original
        The table that the release is said to be made of, whose counts must have the fingerprint of
        the manifest. This needs the private key; without it the original shows whose the records
        of a release are, where the policy is about persons.
    series
        What the signature has to say of the release: its ``name``, its ``period``, the digest of
        the manifest of the release ``after`` which it comes. This needs a key.
    steward
        Whether the steward's file is read, where there is one.
    counted
        The counts of the original in its place, where the policy is about persons.
    person_key
        The key of the pseudonyms of persons, where the release has them: with it and the original
        the pseudonyms are compared, too.
    watch
        Is told of the progress on large tables: what is done, how much of it, and of how much.

    Raises
    ------
    InputError
        When table, manifest, study or key cannot be read, or one is needed and not given.
    PolicyBrokenError
        When there is no manifest and an identifier stands in the table.
    """
    path = Path(path)
    study = study if study is None or isinstance(study, Study) else Study(study)
    directory = home_of(path)
    place = directory / MANIFEST
    evidence = RequiredEvidence.read(key, original, series)
    if directory is not path and not place.exists():
        evidence.require_none(place)
        return _bare(path, study)
    content = manifest_bytes(place)
    manifest = Manifest.of_bytes(content, place)
    whole, wrong = _of_steward(directory) if steward else (None, [])
    manifest = whole or manifest
    evidence.require_use(manifest)
    with sound(place):
        table = directory / manifest.file[0].file
        if directory is not path and path.name != table.name:
            if table.exists():
                evidence.require_none(place)
                return _bare(path, study)
            table = path
        signed = [*evidence.checks(directory, content, manifest, study), *wrong]
        raw = RawEvidence(evidence.original if counted is None else counted, person_key)
        signed += raw.key_check(manifest)
        found = _verified(table, manifest, study, watch, raw)
        known = {check.field for check in signed}
        others = [check for check in found.checks if check.field not in known]
        if not manifest.whole and not wrong:
            why = f"they are in {steward_file(directory).name}, for its steward next to the release"
            others.append(FieldCheck(FIGURES, "unchecked", None, reason=why))
        signer = evidence.signer(signed)
        return replace(
            found,
            checks=(*signed, *others),
            signer=signer,
            series=manifest.series if signer else None,
            warnings=found.warnings or tuple(manifest.warnings),
        )


def _of_steward(directory: Path) -> tuple[Manifest | None, list[FieldCheck]]:
    """The manifest with the figures of the original table; a check that fails where none fits."""
    try:
        return Manifest.of_steward(directory), []
    except InputError:
        name = steward_file(directory).name
        words = f"is not what {name} belongs to: one of them was changed, or is of another release"
        return None, [required(name, False, "", words)]


def _bare(path: Path, study: Study | None) -> Verification:
    """A table that no manifest is about, recounted under the policy of a study.

    A released table does not show whose its records are, so that models about persons are left
    unexamined.
    """
    if study is None:
        release_format(path)
        raise InputError(
            f"there is no {MANIFEST} next to {path} that is about it; give the study with --study "
            "to recount the table under its policy"
        )
    form, schema = study.released_format_of(path), study.published
    with study.place_of(path, form)._replace(once=True).opened(schema.columns) as relation:
        schema.require_unnamed(relation.columns)
        schema.require_pinned(relation.columns)
        table = counted_in(relation, schema.columns, form)[1]
        found = [*person_warnings(relation, table, schema, study.privacy)]
    people, policy = recoded_people(study, path, table), study.privacy
    judge = partial(verify, table, schema, population=people)
    hidden = bool(study.schema.person) and not schema.person_numbers
    verdicts = judged_by_table(judge, policy, hidden)
    unexamined = [model for model, each in zip(policy, verdicts, strict=True) if each is None]
    return Verification(
        path,
        (),
        tuple(each for each in verdicts if each is not None),
        warnings=tuple(found),
        unexamined=tuple(unexamined),
        numbers=schema.person_numbers,
    )


def _verified(
    path: Path,
    manifest: Manifest,
    study: Study | None,
    watch: Watch,
    raw: RawEvidence,
) -> Verification:
    if not manifest.privacy:
        raise InputError(f"{path.parent / MANIFEST} states no policy that could hold")
    try:
        watch("reading the table", 0, None)
        with released_at(path, manifest, watch) as stored:
            watch("comparing checksums", 0, None)
            of_files = [*file_checks(path, manifest.to_dict())]
            watch("counting the table", 0, None)
            return _verified_in(stored, path, of_files, manifest, study, raw)
    except InputError as error:
        of_files = [*file_checks(path, manifest.to_dict())] if path.is_dir() else []
        if all(check.agrees for check in of_files):
            raise
        # Parts that were changed may fit together no more: which ones is said all the same.
        everything = FieldCheck("everything else", "unchecked", None, reason=str(error))
        return Verification(path, (*of_files, everything), ())


def _verified_in(
    stored: StoredTable,
    path: Path,
    of_files: Sequence[FieldCheck],
    manifest: Manifest,
    study: Study | None,
    raw: RawEvidence,
) -> Verification:
    models, hidden = models_of(manifest, study), manifest.hides_policy
    schema, reported = manifest.roles, manifest.to_dict()  # every field of it is checked
    identifiers = manifest.file[1].identifiers
    checks = [*of_files, *column_checks(stored.columns, reported, schema, identifiers)]
    checks += studied(manifest, study) if study else rules(manifest)
    if {*schema.columns} - {*stored.columns}:
        reason = "the table lacks columns that have a role"
        everything = FieldCheck("everything else", "unchecked", None, reason=reason)
        return Verification(path, (*checks, everything), ())
    of_study = () if study is None else study.published.columns
    table = stored.tally(stored.there((*schema.columns, *of_study)))
    if not engine.records(table):
        raise InputError("the table has no records")
    people = None if study is None else _people(study, manifest, stored.form, table)
    facts = _facts(manifest, stored, table, schema, models, people)
    shows = hidden or bool(manifest.person) or manifest.released_weight is not None
    if raw.original is not None and shows:
        verdicts, found = of_original(manifest, study, raw, stored, table, schema)
        facts = replace(facts, verdicts=verdicts or facts.verdicts)
        checks += found
    checks += chain.from_iterable(check(facts) for check in ON_TABLE)
    checks += _unchecked(reported, checks, study)
    warnings = _warned(manifest, facts)
    unexamined = [
        model
        for model, verdict in zip(models, facts.verdicts, strict=True)
        if model is not None and verdict is None
    ]
    return Verification(
        path,
        tuple(checks),
        _verdicts(facts, None if hidden else study, people),
        warnings=warnings,
        unexamined=tuple(unexamined) if hidden else (),
        numbers=schema.person_numbers,
    )


def _warned(manifest: Manifest, facts: Facts) -> tuple[ReportedWarning | ReleaseWarning, ...]:
    """What the manifest reports, and what else the table shows of people and their records."""
    known = {(each.code, each.column) for each in manifest.warnings}
    models = [model for model in facts.models if model is not None]
    relation, schema = facts.stored.relation, facts.schema
    seen = () if relation is None else person_warnings(relation, facts.table, schema, models)
    moved = () if manifest.shift is None else manifest.shift.columns  # nobody knows these dates
    more = (each for each in seen if (each.code, each.column) not in known)
    return (*manifest.warnings, *(each for each in more if each.column not in moved))


def _facts(
    manifest: Manifest,
    stored: StoredTable,
    table: Tally,
    schema: Schema,
    models: Sequence[PrivacyModel | None],
    people: engine.Table | None,
) -> Facts:
    """Count a table, and judge it by the policy of its manifest."""
    counts = recount(table, schema, people)
    judge = partial(judged, table, counts, schema, population=people)
    each = judged_by_table(judge, models, manifest.hides_persons)
    recoding = manifest.recoding
    return Facts(manifest.to_dict(), recoding, stored, table, schema, counts, models, each)


ON_TABLE = (
    figures.sizes, figures.missing, labels.labels, labels.ranges, labels.sets, labels.regions,
    figures.policy, figures.informations, figures.search, figures.seeds, labels.masking,
    labels.shifted, labels.weighed, labels.joined, figures.warnings,
)  # fmt: skip
"""What is checked on the records, in this order."""


def _verdicts(
    facts: Facts, study: Study | None, people: engine.Table | None
) -> tuple[Verdict, ...]:
    """The policy of the study, under its roles of columns; without one, that of the manifest."""
    if study is None:
        return tuple(verdict for verdict in facts.verdicts if verdict is not None)
    roles = study.published
    if {*roles.columns} - {*facts.table.columns}:
        return ()
    alike = {*roles.joint} <= {*facts.schema.joint} and all(
        getattr(roles, each) == getattr(facts.schema, each)
        for each in ("quasi_identifiers", "counted", "missing", "items", "per_person")
    )
    counts = facts.counts if alike else recount(facts.table, roles, people)
    return tuple(judged(facts.table, counts, roles, policy_of_study(study), people))


def _unchecked(
    manifest: Mapping[str, Any], checks: Sequence[FieldCheck], study: Study | None
) -> Iterator[FieldCheck]:
    """What no check looked at, one line for all fields of a kind."""
    done = {check.field for check in checks}
    seen = dict.fromkeys(treatment_of(leaf) for leaf in leaves(manifest))
    for pattern, treatment in seen:
        alone = treatment.how == "original" or (treatment.how == "study" and study is None)
        if (alone or treatment.how == "unchecked") and pattern not in done:
            yield FieldCheck(pattern, "unchecked", None, reason=treatment.why)


def recoded_people(study: Study, path: Path, table: engine.Table) -> engine.Table | None:
    """The population of a study as the released table at a path was recoded, None without one.

    Raises InputError when there is no manifest next to the table, or it is of another study.
    """
    if population_of(study.privacy) in (None, WEIGHTS):
        return None
    manifest = Manifest.read(path.parent / MANIFEST)
    return _people(study, manifest, study.released_format_of(path), table)


def _people(
    study: Study, manifest: Manifest, form: Format, table: engine.Table
) -> engine.Table | None:
    """The same as a manifest describes it."""
    people = population_of(study.privacy)
    if people is None or people is WEIGHTS:  # which no released table shows
        return None
    if isinstance(people, Margins):
        return fewest_of_release(study, manifest, form, table, people)
    population: engine.Table = study.schema.admit_population(people.table)
    tally = engine.tally(population, study.schema.quasi_identifiers)
    taxonomies = taxonomies_of(tally, study.hierarchies)
    recoding = manifest.recoding_over(taxonomies)
    recoded = relabelled(population, recoding, taxonomies)
    written: engine.Table = disarmed(recoded) if study.disarms(form) else recoded
    return matched(table, written, study.schema)


def require_sound(path: Path, found: Verification, consequence: str) -> None:
    """Require that what was found of a release agrees, and that its policy holds as it shows.

    ``consequence``: what follows where it does not, for the message. Raises PolicyBrokenError.
    """
    if found.satisfied:
        return
    broken = sum(not verdict.satisfied for verdict in found.verdicts)
    if not broken and not found.differences:  # nothing but persons, whom no released table shows
        return
    reasons = [plural(len(found.differences), "difference")] * bool(found.differences)
    reasons += [f"{plural(broken, 'model')} of the policy that does not hold"] * bool(broken)
    raise PolicyBrokenError(
        f"the release in {path} does not hold ({' and '.join(reasons)}), so that {consequence}; "
        f"`anonymizer verify {path}` says what differs"
    )


def require_followable(
    release: Path, study: Study | None, *, key: Path | None = None, watch: Watch = ignore
) -> Verification:
    """Verify a release before its recoding is carried elsewhere, and give what was found.

    A ``study`` is for what the manifest leaves out: where it has changed since, the release is
    followed all the same. ``key``: of who has to have signed it.

    Raises PolicyBrokenError when the release does not hold, InputError when it cannot be read.
    """
    home = home_of(release)
    found = verify_release(home, study, key=key, steward=False, watch=watch)
    own = tuple(check for check in found.checks if check.how != "study")
    require_sound(home, replace(found, checks=own), "its recoding is not carried elsewhere")
    return found
