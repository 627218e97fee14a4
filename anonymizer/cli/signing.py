"""Commands that make keys and sign releases."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonymizer.cli.options import PATH, Command
from anonymizer.errors import InputError
from anonymizer.report.printing import printing

if TYPE_CHECKING:
    from anonymizer.release.signing import PrivateKey

SIGNING = (
    click.option(
        "--sign",
        "key",
        type=PATH,
        metavar="KEY",
        help="Sign the release by the private key in this PEM file.",
    ),
    click.option("--as", "name", metavar="NAME", help="The series that a signed release is of."),
    click.option("--period", metavar="TEXT", help="The period that it is of, such as 2026-11."),
    click.option(
        "--after", type=PATH, metavar="RELEASE", help="The release of the series before this one."
    ),
)


def sign_options(command: Command) -> Command:
    """Options of who signs a release, and as which one."""
    for option in reversed(SIGNING):
        command = option(command)
    return command


def signer_of(
    key: Path | None, name: str | None, period: str | None, after: Path | None
) -> "PrivateKey | None":
    """The private key that options name, with what it says of the release."""
    if key is None:
        if name is not None or period is not None or after is not None:
            raise InputError("which release it is only a signature says: give a key with --sign")
        return None
    from anonymizer.release.signing import PrivateKey, series_of

    signer = PrivateKey.read(key)
    return replace(signer, series=series_of(signer, name, period, after))


def expected(name: str | None, period: str | None, after: Path | None) -> dict[str, str]:
    """What the signature of a release has to say, by the options that were given."""
    found = {"name": name, "period": period, "after": None if after is None else digest_at(after)}
    return {field: value for field, value in found.items() if value is not None}


def digest_at(release: Path) -> str:
    """The SHA-256 of the manifest of a release."""
    from anonymizer.release.files import MANIFEST, digest_of_file, home_of

    place = home_of(release) / MANIFEST
    try:
        return digest_of_file(place)
    except OSError as error:
        raise InputError(f"cannot read {place}: {error.strerror}") from None


@click.command(epilog="\b\nExample:\n  anonymizer keys steward")
@click.argument("name", type=PATH)
def keys(name: Path) -> None:
    """Make a pair of keys for signatures: NAME.private.pem and NAME.public.pem.

    Keep the private key to yourself, and give the public one to who receives releases, by another
    way than the releases. ANONYMIZER_KEY_PASSPHRASE in the environment encrypts the private key.
    Keys that are there already are never replaced.
    """
    from anonymizer.release.signing import make_keys

    private, public = (name.with_name(f"{name.name}.{kind}.pem") for kind in ("private", "public"))
    made = make_keys(private, public)
    with printing("the keys were made"):
        click.echo(f"{private} signs, and stays with you.")
        click.echo(f"{public} is for who receives releases: {made.fingerprint}")


@click.command(epilog="\b\nExample:\n  anonymizer sign release --key steward.private.pem")
@click.argument("release", type=PATH)
@click.option("--key", type=PATH, required=True, help="The private key, a PEM file.")
@click.option("--force", is_flag=True, help="Replace a signature by another key.")
def sign(release: Path, key: Path, force: bool) -> None:
    """Sign a RELEASE that stands: its release.json, which has the checksum of the table.

    The signature is release.json.sig, next to it. The passphrase of an encrypted key is in the
    environment, as ANONYMIZER_KEY_PASSPHRASE.
    """
    from anonymizer.release.signing import PrivateKey, sign_release

    signer = PrivateKey.read(key)
    path = sign_release(release, signer, force=force)
    with printing("the release was signed"):
        click.echo(f"{path} is the signature by {signer.public.fingerprint}.")
