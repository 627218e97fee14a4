"""Signatures next to manifests: written with a release, or put to one that stands."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from anonymizer.errors import InputError, shown
from anonymizer.release.files import FILES, MANIFEST, SIGNATURE, manifest_bytes
from anonymizer.release.manifest import Manifest, home_of
from anonymizer.release.manifest.parts import LONGEST, Series
from anonymizer.release.output import Writer, reserved
from anonymizer.release.signing.keys import PrivateKey, signature_at, writes


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
