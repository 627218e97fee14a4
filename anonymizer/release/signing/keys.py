"""Signatures of releases: Ed25519 keys, and what they say of the bytes of a manifest.

Keys are PEM files, as OpenSSL makes them, a signature is the 64 bytes of RFC 8032, so that OpenSSL
checks it too. The manifest has the checksum of the table: who signs one signs both.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anonymizer.errors import InputError, installing
from anonymizer.release.manifest.parts import Series
from anonymizer.release.output import write_file
from anonymizer.tables.reading import Cap, open_regular, read_whole

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
    """The passphrase that the environment has, None for none."""
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
