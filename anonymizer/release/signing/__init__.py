"""Signatures: who released a table, and that nothing was changed since.

What goes in: a manifest and a private key. What comes out: ``release.json.sig`` next to it, and
whether a public key holds for it. ``keys`` alone knows ``cryptography``, an optional package.
"""

from anonymizer.release.signing.keys import PASSPHRASE, PrivateKey, PublicKey, make_keys
from anonymizer.release.signing.releases import manifest_writers, series_of, sign_release

__all__ = [
    "PASSPHRASE",
    "PrivateKey",
    "PublicKey",
    "make_keys",
    "manifest_writers",
    "series_of",
    "sign_release",
]
