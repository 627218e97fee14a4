"""Signatures: who released a table, and that nothing was changed since.

Keys are PEM files, as OpenSSL makes them, a signature is the 64 bytes of RFC 8032, so that OpenSSL
checks it too: Ed25519. The manifest has the checksum of the table: who signs one signs both.
A keyed fingerprint of the counts says whether another table has the same. It is keyed, since a
plain digest would confirm guesses: who knows all records of a table but one could try every value
of that one until the digest is the same. Without the key there is nothing to try.
"""

import hashlib
import hmac
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from anonymizer.errors import InputError, installing, require_columns, shown
from anonymizer.release.files import FILES, MANIFEST, SIGNATURE, home_of, manifest_bytes
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import LONGEST, Series
from anonymizer.release.output import Writer, reserved, write_file
from anonymizer.tables import engine
from anonymizer.tables.reading import Cap, open_regular, read_whole
from anonymizer.tables.values import plain_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ed25519


PASSPHRASE = "ANONYMIZER_KEY_PASSPHRASE"  # noqa: S105 (the name of a variable)
"""The variable of the environment that has the passphrase of a private key."""

KEY_SIZE = Cap("ANONYMIZER_MAX_KEY", 2**16)
"""Bytes of a key file; one of Ed25519 has some hundred."""

LENGTH = 64
"""Bytes of a signature."""

COUNTS = b"anonymizer: fingerprint of the counts of a table, 1"
"""What the key of fingerprints is derived for: it is of no other use."""


@dataclass(frozen=True)
class PublicKey:
    """What checks signatures."""

    key: "ed25519.Ed25519PublicKey" = field(repr=False)

    @classmethod
    def read(cls, path: str | Path) -> "PublicKey":
        """The public key in a PEM file, or that of the private one in it.

        Raises InputError when the file cannot be read or has no Ed25519 key.
        """
        text = _pem(Path(path))
        if "PRIVATE KEY" in text:
            return _private(text, Path(path)).public
        return cls(_loaded(text, Path(path)))

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the key in its DER form, by which people compare keys."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        form = self.key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return "sha256:" + hashlib.sha256(form).hexdigest()

    def signed(self, content: bytes, signature: bytes) -> bool:
        """Whether a signature is that of its private key for a content."""
        from cryptography.exceptions import InvalidSignature

        try:
            self.key.verify(signature, content)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class PrivateKey:
    """What signs releases; who has it is believed to be who released them.

    ``series``: which release of a series the manifest says that it is, None for none.
    """

    key: "ed25519.Ed25519PrivateKey" = field(repr=False)
    series: Series | None = None

    @classmethod
    def read(cls, path: str | Path) -> "PrivateKey":
        """The private key in a PEM file.

        The passphrase of one that is encrypted is in the environment, as ``PASSPHRASE``.

        Raises InputError when the file cannot be read, has no private Ed25519 key, or the
        passphrase is missing or wrong.
        """
        text = _pem(Path(path))
        if "PRIVATE KEY" not in text:
            raise InputError(f"{path} holds no private key; signing needs that of the pair")
        return _private(text, Path(path))

    @property
    def public(self) -> PublicKey:
        """The public key of the pair."""
        return PublicKey(self.key.public_key())

    def sign(self, content: bytes) -> bytes:
        """The signature of a content, 64 bytes: the same for the same content."""
        return self.key.sign(content)

    @property
    def of_counts(self) -> bytes:
        """The key of fingerprints of counts, 32 bytes, by HKDF-SHA256 (RFC 5869)."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        return HKDF(SHA256(), 32, salt=None, info=COUNTS).derive(self.key.private_bytes_raw())


def make_keys(private: Path, public: Path) -> PublicKey:
    """Write a new pair of keys to files that are not there yet, the private one for its owner.

    It is encrypted where the environment has a passphrase, as ``PASSPHRASE``.

    Raises InputError when one is there already or cannot be written.
    """
    kind = _cryptography()
    from cryptography.hazmat.primitives import serialization as form

    key = kind.Ed25519PrivateKey.generate()
    word = _passphrase()
    locked = form.BestAvailableEncryption(word) if word else form.NoEncryption()
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, locked)
    open_ = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    for path in (private, public):
        if os.path.lexists(path):
            raise InputError(f"{path} is there already, and keys are never replaced")
    write_file(private, writes(secret), private=True)
    write_file(public, writes(open_))
    return PublicKey(key.public_key())


def signature_at(path: Path) -> bytes | None:
    """The signature in a file, of which no more than its length and a byte is read; None: none.

    Raises InputError when there is something that cannot be read.
    """
    try:
        with open_regular(path) as file:
            return file.read(LENGTH + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def writes(content: bytes) -> Callable[[Path], None]:
    """What writes a file of some content."""

    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def _pem(path: Path) -> str:
    _cryptography()
    text = read_whole(path, KEY_SIZE, "the key ")
    if "-----BEGIN " not in text:
        raise InputError(f"{path} holds no key: it is no PEM file, which anonymizer keys makes")
    return text


def _private(text: str, path: Path) -> PrivateKey:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    kind, word = _cryptography(), None
    if "ENCRYPTED" in text:
        word = _passphrase()
        if word is None:
            raise InputError(
                f"the key {path} is encrypted: put its passphrase into the environment as "
                f"{PASSPHRASE}"
            )
    try:
        key = load_pem_private_key(text.encode(), word)
    except Exception:  # of many kinds, and some repeat what they read
        wrong = f", or {PASSPHRASE} is not its passphrase" if word else ""
        raise InputError(f"{path} holds no key that can be read: it is damaged{wrong}") from None
    if not isinstance(key, kind.Ed25519PrivateKey):
        raise _another(path)
    return PrivateKey(key)


def _loaded(text: str, path: Path) -> "ed25519.Ed25519PublicKey":
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(text.encode())
    except Exception:  # of many kinds
        raise InputError(f"{path} holds no key that can be read: it is damaged") from None
    if not isinstance(key, _cryptography().Ed25519PublicKey):
        raise _another(path)
    return cast("ed25519.Ed25519PublicKey", key)


def _another(path: Path) -> InputError:
    return InputError(
        f"{path} holds a key of another kind: releases are signed by Ed25519; anonymizer keys "
        "makes a pair"
    )


def _passphrase() -> bytes | None:
    return os.environ.get(PASSPHRASE, "").encode() or None


def _cryptography() -> Any:
    """The module of Ed25519; InputError where it is not installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError(
            f"signatures need cryptography, which is not installed: {installing('signing')}"
        ) from None
    return ed25519


def fingerprint_of(table: engine.Table, columns: Iterable[str], key: bytes) -> str:
    """The HMAC-SHA256 of how many records have each combination of values of some columns.

    It depends neither on the order of records and columns nor on types: numbers go by their value,
    1.50 and 1.5 being one, everything else by its text. What is hashed is JSON in ASCII, a line for
    the names of the columns, sorted, and one for each combination and its number of records,
    sorted.

    Raises InputError when the table lacks a column.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [2, 1, 2]})
    >>> again = pd.DataFrame({"a": ["1", "2.0", "2"], "b": "x"})
    >>> fingerprint_of(table, ["a"], b"key") == fingerprint_of(again, ["a"], b"key")
    True
    """
    names = sorted({*columns})
    require_columns(table.columns, names)
    tally = engine.tally(table, names)
    texts = [[*map(plain_text, tally.combinations[name])] for name in names]
    records: Counter[tuple[str | None, ...]] = Counter()
    for row, size in zip(zip(*texts, strict=True), tally.sizes, strict=True):
        records[row] += int(size)
    lines = sorted(json.dumps([*row, size]) for row, size in records.items())
    content = "\n".join([json.dumps(names), *lines])
    return "hmac-sha256:" + hmac.new(key, content.encode(), sha256).hexdigest()


class ManifestWriters(NamedTuple):
    """What writes the manifest in a release, and its signature; and the steward's file."""

    of_release: Mapping[str, Writer]
    of_steward: Writer


def manifest_writers(
    manifest_in: Callable[[Path], Manifest], key: PrivateKey | None
) -> ManifestWriters:
    """What writes the manifest of a release, and before it its signature where there is a key.

    ``manifest_in`` gives it once the table lies in a directory, with the figures of the raw table,
    which go to the steward's file alone. The manifest comes last: it is the sign that a release is
    whole.
    """

    @cache
    def made(directory: Path) -> tuple[Manifest, bytes]:
        manifest = manifest_in(directory)
        return manifest, manifest.public.text.encode()

    def write(path: Path) -> None:
        path.write_bytes(made(path.parent)[1])

    def sign(path: Path) -> None:
        assert key is not None
        path.write_bytes(key.sign(made(path.parent)[1]))

    def write_steward(path: Path) -> None:
        manifest, content = made(path.parent)
        manifest.of_release(content).write(path)

    signed = {} if key is None else {SIGNATURE: sign}
    return ManifestWriters({**signed, MANIFEST: write}, write_steward)


def series_of(
    key: PrivateKey, name: str | None, period: str | None, after: Path | None
) -> Series | None:
    """Which release of a series a new one is: the first of a name, or the one after another.

    ``after``: the release before, which ``key`` has to have signed, as one of the same name. None
    where neither is given.

    Raises InputError when they do not go together.
    """
    for given in (name, period):
        if given is not None and not 0 < len(given) <= LONGEST:
            raise InputError(f"a series and its period are called by 1 to {LONGEST} characters")
    if after is None and name is None:
        if period is not None:
            raise InputError("a period is that of a series: give its name with --as")
        return None
    if after is None:
        assert name is not None
        return Series(name=name, period=period, number=1, after=None)
    home = home_of(after)
    place = home / MANIFEST
    content = manifest_bytes(place)
    before, signature = Manifest.of_bytes(content, place).series, signature_at(home / SIGNATURE)
    if signature is None or not key.public.signed(content, signature):
        raise InputError(f"{place} is not signed by this key: it cannot be the release before")
    if before is None:
        raise InputError(
            f"{place} is of no series; leave --after out, and a new series begins with this release"
        )
    if name not in (None, before.name):
        raise InputError(
            f"{place} is of the series {shown(before.name)}, not {shown(name)}: leave --as out"
        )
    digest = hashlib.sha256(content).hexdigest()
    return Series(name=before.name, period=period, number=before.number + 1, after=digest)


def sign_release(release: Path, key: PrivateKey, *, force: bool = False) -> Path:
    """Sign the manifest of a release that stands, and give the path of the signature.

    ``release``: its directory, its table or its manifest. A signature of another key is replaced by
    ``force`` alone.

    Raises InputError when there is no release, its table was changed since, or it is signed already
    by another key.
    """
    directory = home_of(release)
    path = directory / SIGNATURE
    if not (directory / MANIFEST).is_file():
        raise InputError(f"there is no {directory / MANIFEST}: only a release can be signed")
    with reserved(directory, FILES) as output:
        content = manifest_bytes(directory / MANIFEST)
        Manifest.of_bytes(content, directory / MANIFEST).table_at(directory)
        signature = key.sign(content)
        before = signature_at(path)
        if before not in (None, signature) and not force:
            raise InputError(
                f"{path} is there already, of another key or another manifest; --force replaces it"
            )
        if before != signature:
            output.add(SIGNATURE, writes(signature))
    return path
