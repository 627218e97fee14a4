"""What a key and the original table prove of a release: who made it, and of what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from anonymizer.errors import InputError, shown
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.reading import of_rule, settled_as
from anonymizer.release.files import MANIFEST, SIGNATURE
from anonymizer.release.manifest import Manifest
from anonymizer.release.place import Place, as_study
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.relations import CountedTable
from anonymizer.release.signing import LENGTH, PrivateKey, PublicKey, fingerprint_of, signature_at
from anonymizer.release.study import Study
from anonymizer.release.verification.check import (
    ABSENT,
    OF_KEY,
    OF_PERSON_KEY,
    FieldCheck,
    required,
    said,
)
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import GivenFormat, describe_file
from anonymizer.tables.files.format import MissingValues, missing_values_of

GROUND = (
    "the table was counted between cut points that follow from it, which are in the steward's file "
    "next to the release"
)
NOT_SIGNED = "the key did not sign this release"


class RawEvidence(NamedTuple):
    """What only the steward of a release has: its original and the key of its pseudonyms.

    ``original``: the place of the table, or its counts.
    """

    original: Path | Tally | None = None
    person_key: PseudonymKey | None = None

    def key_check(self, manifest: Manifest) -> Iterator[FieldCheck]:
        """Whether the key of the pseudonyms of persons is that of the release."""
        key, reported = self.person_key, manifest.person_key
        if key is None:
            if reported is not None:
                yield FieldCheck("person_key", "unchecked", None, reason=OF_PERSON_KEY)
            return
        if reported is None:
            raise InputError(
                f"{key.path} is given as a key of pseudonyms of persons, and the release has "
                "none; leave out --person-key"
            )
        alike = key.check_of_releases == reported
        words = "of persons is another one: a person has other pseudonyms by it"
        yield required("person_key", alike, "", words, "key")


@dataclass(frozen=True)
class RequiredEvidence:
    """A public key that a release must be signed by, as which one, and what it must be made of.

    ``secret`` is what fingerprints of counts are made with, ``series`` what the signature has to
    say: the name of the series, the period, the digest of the release before.
    """

    key: PublicKey | None = None
    original: Path | None = None
    secret: bytes = b""
    series: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls, key: str | Path | None, original: str | Path | None, series: Mapping[str, str]
    ) -> "RequiredEvidence":
        """The evidence in files.

        Raises InputError when a key cannot be read, or a series is given without any.
        """
        if key is None and series:
            raise InputError("only a signature says which release it is: give the key with --key")
        if original is None:
            return cls(None if key is None else PublicKey.read(key), series=series)
        if key is None:
            return cls(original=Path(original))
        private = PrivateKey.read(key)
        return cls(private.public, Path(original), private.of_counts, series)

    def require_none(self, manifest: Path) -> None:
        """Refuse evidence where there is no manifest that it could be about."""
        if self.key is not None:
            raise InputError(f"there is no {manifest}, which a signature would be about")

    def require_use(self, manifest: Manifest) -> None:
        """Refuse an original that shows nothing: without the private key it shows persons alone."""
        shows = manifest.hides_policy or bool(manifest.person)
        needless = not shows and manifest.released_weight is None
        if self.original is not None and self.key is None and needless:
            raise InputError(
                "--original needs the private key of who released the table; give it with --key"
            )

    def checks(
        self, directory: Path, content: bytes, manifest: Manifest, study: Study | None
    ) -> Iterator[FieldCheck]:
        """The signature of a manifest with some content, and the fingerprint of its input."""
        signature = signature_at(directory / SIGNATURE)
        if self.key is None:
            if signature is not None:
                yield FieldCheck("signature", "unchecked", None, reason=OF_KEY)
            if manifest.series is not None:
                yield FieldCheck("series.*", "unchecked", None, reason=OF_KEY)
            return
        wrong = _wrong(self.key, content, signature)
        yield required("signature", not wrong, "", f"({self.key.fingerprint}) {wrong}", "key")
        if not wrong:
            yield from self._series(manifest)
        if self.original is not None:
            if wrong:
                yield FieldCheck("input.fingerprint", "unchecked", None, reason=NOT_SIGNED)
            else:
                yield self._input(manifest, study)

    def _series(self, manifest: Manifest) -> Iterator[FieldCheck]:
        """Whether the signature is of the release that was expected."""
        if manifest.series is not None:
            yield FieldCheck("series.*", "key", True)
        for name, wanted in self.series.items():
            found = getattr(manifest.series, name, ABSENT)
            words = f"has to be that of {shown(wanted)}"
            yield required(f"series.{name}", found == wanted, said(found), words, "key")

    def signer(self, checks: Sequence[FieldCheck]) -> str | None:
        """The fingerprint of the key, where the check of the signature agrees."""
        held = any(check.field == "signature" and check.agrees for check in checks)
        return self.key.fingerprint if held and self.key is not None else None

    def _input(self, manifest: Manifest, study: Study | None) -> FieldCheck:
        """Whether the original has the counts that the manifest has the fingerprint of."""
        assert self.original is not None
        if manifest.settled and not manifest.whole:
            return FieldCheck("input.fingerprint", "unchecked", None, reason=GROUND)
        if manifest.input is None:
            raise InputError(
                f"{MANIFEST} has no fingerprint of its original, which run --sign gives it; "
                "differentially private releases have none"
            )
        roles = manifest.file[1]
        names = {*manifest.recoding, *roles.sensitive, *roles.targets}
        with as_study(study, _as_table):
            place = place_of(self.original, roles.missing_values, study, [*names])
            with place.opened([*names]) as stored:
                hierarchies = _hierarchies(manifest, study)
                table = CountedTable.of(stored, [*names], hierarchies, place.form).at_ground
        alike = manifest.input.fingerprint == fingerprint_of(table, names, self.secret)
        words = "is another table: its counts are not those that were released from"
        return required("input.fingerprint", alike, "", words, "original")


def _as_table(error: InputError) -> str | None:
    """Say which key names the table of a database that the original lies in."""
    return "name one of them as table in [data]" if error.key == "table" else None


def place_of(
    path: Path, missing_values: MissingValues, study: Study | None, names: Sequence[str]
) -> Place:
    """Where the original lies, and how: as the study says, or as it looks."""
    if study is not None:
        return study.place_of(path, study.format_of(path))
    given = GivenFormat(missing_values=missing_values_of(missing_values))
    return Place(path, describe_file(path, given, names))


def _hierarchies(manifest: Manifest, study: Study | None) -> Mapping[str, Hierarchy]:
    """The hierarchies by whose grounds a table was counted: of rules alone where no study is."""
    if study is not None:
        return settled_as(study.hierarchies, manifest.hierarchies)
    return {name: of_rule(rule) for name, rule in manifest.hierarchies.items()}


def _wrong(key: PublicKey, content: bytes, signature: bytes | None) -> str:
    """What is wrong with a signature, in words that go on after "the key"; empty if nothing is."""
    if signature is None:
        return f"signed nothing here: there is no {SIGNATURE}"
    if len(signature) != LENGTH:
        size = f"{len(signature)}" if len(signature) < LENGTH else f"more than {LENGTH}"
        return f"made no such signature: {SIGNATURE} is damaged, {size} bytes of {LENGTH}"
    if not key.signed(content, signature):
        return f"did not sign this {MANIFEST}: it was changed, or somebody else signed it"
    return ""
