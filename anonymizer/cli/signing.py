"""Commands that make keys and sign releases."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonymizer.cli.options import PATH
from anonymizer.report.printing import printing

if TYPE_CHECKING:
    from anonymizer.release.signing import PrivateKey

sign_option = click.option(
    "--sign",
    "key",
    type=PATH,
    metavar="KEY",
    help="Sign the release by the private key in this PEM file.",
)


def signer_of(key: Path | None) -> "PrivateKey | None":
    """The private key that an option names."""
    if key is None:
        return None
    from anonymizer.release.signing import PrivateKey

    return PrivateKey.read(key)


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
