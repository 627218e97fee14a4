"""Releases made, recoded as another one, counted at their sites, verified and signed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from anonymizer.cli.advise import explain, improve, weak_points
from anonymizer.cli.options import UNEXAMINED, show, warn
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.feedback.progress import progress
from anonymizer.feedback.words import plural
from anonymizer.recoding.recoding import Task
from anonymizer.release.apply import ApplyOptions, Means, publish_applied
from anonymizer.release.files import MANIFEST, digest_of_file, home_of
from anonymizer.release.fitting import fitted
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import Order
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.publish import publish
from anonymizer.release.release import Release
from anonymizer.release.request import Unseen
from anonymizer.release.signing import PrivateKey, make_keys, series_of, sign_release
from anonymizer.release.sites import count_part, publish_counts, publish_part, verify_parts
from anonymizer.release.sites.parts import require_release
from anonymizer.release.study import Study
from anonymizer.release.system import never_lost
from anonymizer.release.verification.verification import Verification, verify_release
from anonymizer.release.verifiers import write_bundle
from anonymizer.report.printing import print_json, print_report, printing
from anonymizer.report.release import (
    found_report,
    ladder_report,
    release_report,
    verification_report,
)
from anonymizer.tables.datasets import shipped


def run(
    study: Path,
    table: Path | None,
    counts: tuple[Path, ...],
    output: Path,
    force: bool,
    n_jobs: int | None,
    strict: bool,
    as_json: bool,
    **signing: Any,
) -> None:
    """Carry out ``run``."""
    if counts and table is not None:
        raise click.UsageError("--counts stand in place of a table; leave out --table")
    described = Study(study) if table is None else Study(study).of_table(table)
    signer = signer_of(**signing)
    counted: list[Task] = []
    with progress() as shown, never_lost(shown) as watch:
        try:
            release, manifest = publishing(counts)(
                described,
                output,
                force=force,
                n_jobs=n_jobs,
                watch=watch,
                on_counted=counted.append,
                key=signer,
                strict=strict,
            )
        except PolicyUnreachableError as error:
            if counted:
                explain(error, described, counted[0])
            raise
    with printing(f"the release is in {output}"):
        warn(release.warnings)
        if as_json:
            print_json(manifest.public.to_dict())
        else:
            read = () if counts else found_report(described.data_path, described.found)
            weak = weak_points(described, release, counted[0])
            print_report([*read, *release_report(release, output, weak)])
            if weak:
                improve(described, release, counted[0])


def verify(
    release: Path,
    parts: tuple[Path, ...],
    study: Path | None,
    key: Path | None,
    original: Path | None,
    counts: tuple[Path, ...],
    strict: bool,
    as_json: bool,
    person_key: Path | None,
    bundle: Path | None,
    **signed_as: Any,
) -> int:
    """Carry out ``verify``."""
    if counts and original is not None:
        raise click.UsageError("--counts stand in place of the --original; give one of them")
    if person_key is not None and (parts or counts):
        raise click.UsageError("--person-key is for a release of one table, not of counts")
    given = {} if person_key is None else {"person_key": PseudonymKey.read(person_key)}
    with progress() as watch:
        found = verifying(parts, counts)(
            *(release, study),
            **given,
            key=key,
            original=original,
            series=expected(**signed_as),
            watch=watch,
        )
    if bundle is not None:
        write_bundle(Manifest.read(home_of(release) / MANIFEST), bundle)
    warn(found.warnings)
    show("the release was verified", as_json, found, verification_report)
    if found.broken or (strict and found.warnings):
        return 1
    return UNEXAMINED if found.unexamined else 0


def demo(output: Path, force: bool) -> None:
    """Carry out ``demo``."""
    with progress() as watch:
        study = Study(shipped("data", "demo.toml"))
        release, _ = publish(study, output, force=force, watch=watch)
        with study.opened() as table:
            estimator = study.anonymizer().set_params(recoding="full-domain")
            levels = fitted(estimator, table, study.data_format).release
    with printing(f"the release is in {output}"):
        warn(release.warnings)
        ladder = ladder_report({"best levels": levels, "ranges of their own (A1*)": release})
        print_report([*ladder, *release_report(release, output)])


def apply(
    release: Path,
    table: Path,
    output: Path,
    study: Path | None,
    unseen: str,
    suppression: float | None,
    counts: Path | None,
    drop: tuple[str, ...],
    database_table: str | None,
    memory: str | None,
    file: str | None,
    parts: int | None,
    order: str,
    signed_by: Path | None,
    strict: bool,
    force: bool,
    as_json: bool,
    person_key: Path | None,
    **signing: Any,
) -> None:
    """Carry out ``apply``."""
    known = None if study is None else Study(study)
    if counts is not None:
        others = {"--unseen": unseen != "error", "--suppression": suppression is not None}
        others |= {"--drop": bool(drop), "--sign": any(signing.values()), "--strict": strict}
        of_file = {"table": database_table, "memory": memory, "file": file, "parts": parts}
        others |= {f"--{name}": value is not None for name, value in of_file.items()}
        others |= {"--order": order != "random"}
        keys = signed_by, person_key
        apply_part(release, table, counts, output, known, others, force, keys, as_json)
        return
    signer = signer_of(**signing)
    wishes = ApplyOptions(cast(Unseen, unseen), suppression, drop)
    with progress() as shown, never_lost(shown) as watch:
        proof, manifest = publish_applied(
            release,
            table,
            output,
            wishes,
            means=Means(database_table, memory, file, parts, cast(Order, order)),
            study=known,
            force=force,
            watch=watch,
            key=signer,
            signed_by=signed_by,
            strict=strict,
            person_key=None if person_key is None else PseudonymKey.read(person_key),
        )
    with printing(f"the release is in {output}"):
        warn(proof.warnings)
        if as_json:
            print_json(manifest.public.to_dict())
        else:
            print_report(release_report(proof, output))


def count(part: Path, study: Path, output: Path, force: bool, person_key: Path | None) -> None:
    """Carry out ``count``."""
    with progress() as watch:
        found = count_part(
            Study(study), part, output, force=force, watch=watch, person_key=person_key
        )
    with printing(f"{output} was written"):
        combinations = plural(len(found.tally.sizes), "combination")
        click.echo(
            f"{output}: {plural(found.records, 'record')} in {combinations} of values.\n"
            "These counts are as sensitive as the table: give them to the steward alone."
        )
        if found.person_key is not None:
            click.echo(
                "They link all records of a person by a pseudonym: who knows some of them finds "
                "the others. Never give the key to the steward."
            )


def publishing(counts: Sequence[Path]) -> Callable[..., tuple[Release, Manifest]]:
    """What releases the table of a study: that of some counts, or the one that it names."""
    if not counts:
        return publish

    def of_counts(study: Study, directory: Path, **options: object) -> tuple[Release, Manifest]:
        return publish_counts(study, counts, directory, **options)  # type: ignore[arg-type]

    return of_counts


def verifying(parts: Sequence[Path], counts: Sequence[Path] = ()) -> Callable[..., Verification]:
    """What verifies a release: alone, with some parts of it, or the counts that it was made of."""

    def alone(release: Path, study: Path | None, **options: Any) -> Verification:
        require_release(release)
        return verify_release(release, study, **options)

    def with_parts(release: Path, study: Path | None, **options: Any) -> Verification:
        return verify_parts(release, parts, study, counts=counts, **options)

    return with_parts if parts or counts else alone


def apply_part(
    release: Path,
    table: Path,
    counts: Path,
    output: Path,
    study: Study | None,
    others: Mapping[str, bool],
    force: bool,
    keys: tuple[Path | None, Path | None],
    as_json: bool,
) -> None:
    """Recode a part by the release of its counts; ``others``: which other options were given.

    ``keys``: of who released it, and the one that hides persons.
    """
    given = [name for name, is_given in others.items() if is_given]
    if given:
        raise click.UsageError(f"{given[0]} is not for a part, which is recoded as the steward did")
    if study is None:
        raise click.UsageError("--counts needs the study that the part was counted by: --study")
    with progress() as watch:
        found = publish_part(
            release,
            table,
            counts,
            output,
            study=study,
            force=force,
            watch=watch,
            signed_by=keys[0],
            person_key=keys[1],
        )
    with printing(f"the part is in {output}"):
        if as_json:
            print_json(found.model_dump(exclude_unset=True))
        else:
            click.echo(
                f"The part is in {output}. It is no release: the policy is about all parts "
                "together.\n`anonymizer verify RELEASE --parts` proves it on all of them."
            )


def signer_of(
    key: Path | None, name: str | None, period: str | None, after: Path | None
) -> PrivateKey | None:
    """The private key that options name, with what it says of the release."""
    if key is None:
        if name is not None or period is not None or after is not None:
            raise InputError("which release it is only a signature says: give a key with --sign")
        return None
    signer = PrivateKey.read(key)
    return replace(signer, series=series_of(signer, name, period, after))


def expected(name: str | None, period: str | None, after: Path | None) -> dict[str, str]:
    """What the signature of a release has to say, by the options that were given."""
    found = {"name": name, "period": period, "after": None if after is None else digest_at(after)}
    return {field: value for field, value in found.items() if value is not None}


def digest_at(release: Path) -> str:
    """The SHA-256 of the manifest of a release."""
    place = home_of(release) / MANIFEST
    try:
        return digest_of_file(place)
    except OSError as error:
        raise InputError(f"cannot read {place}: {error.strerror}") from None


def keys(name: Path) -> None:
    """Carry out ``keys``."""
    private, public = (name.with_name(f"{name.name}.{kind}.pem") for kind in ("private", "public"))
    made = make_keys(private, public)
    with printing("the keys were made"):
        click.echo(f"{private} signs, and stays with you.")
        click.echo(f"{public} is for who receives releases: {made.fingerprint}")


def sign(release: Path, key: Path, force: bool) -> None:
    """Carry out ``sign``."""
    signer = PrivateKey.read(key)
    path = sign_release(release, signer, force=force)
    with printing("the release was signed"):
        click.echo(f"{path} is the signature by {signer.public.fingerprint}.")
