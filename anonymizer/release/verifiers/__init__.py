"""Files that examine a release where this package is not installed.

In comes a manifest, out come ``verify.py`` for Python alone, ``verify.sql`` for a database and
``verify.html`` for a browser. They are written from the definitions in the literature and import
nothing of this package; here they are copied, and statements are made. Imports as the room does.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.release.files import RELEASED, VERIFIERS, digest_of_file
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import ReleasedPart
from anonymizer.release.output import Writer, reserved
from anonymizer.release.signing import writes
from anonymizer.release.verifiers.statements import statements_of

HERE = Path(__file__).parent


def verifier(kind: str, manifest: Manifest) -> bytes:
    """What the verifier of a kind holds, for the release of a manifest.

    Raises InputError where there can be no statements for it.
    """
    if kind == "sql":
        return statements_of(manifest).encode()
    return _page() if kind == "html" else (HERE / VERIFIERS[kind]).read_bytes()


def _page() -> bytes:
    """The page with its script; its policy allows this script and this style, and nothing else."""
    page = (HERE / VERIFIERS["html"]).read_text(encoding="utf-8")
    code = (HERE / "verify.js").read_text(encoding="utf-8")
    style = page.partition("<style>")[2].partition("</style>")[0]
    for name, text in (("style", style), ("script", code)):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        page = page.replace(f"{{{name}}}", digest)
    return page.replace("{code}", code).encode()


def verifier_writers(
    described: Callable[[Path], Manifest], kinds: Sequence[str]
) -> dict[str, Writer]:
    """What writes verifiers into the directory of a release, once its table lies there.

    ``described`` gives the manifest then, as it is without them.
    """

    def writer(kind: str) -> Writer:
        return lambda path: writes(verifier(kind, described(path.parent).public))(path)

    return {VERIFIERS[kind]: writer(kind) for kind in kinds}


def with_verifiers(manifest: Manifest, directory: Path, kinds: Sequence[str]) -> Manifest:
    """The manifest with the digests of the verifiers that lie in a directory."""
    names = [VERIFIERS[kind] for kind in kinds]
    listed = [ReleasedPart(file=name, sha256=digest_of_file(directory / name)) for name in names]
    table = manifest.file[0].model_copy(update={"verifiers": listed})
    return manifest.model_copy(update={"table": table})


def verifiers_of(manifest: Manifest, suffix: str) -> tuple[str, ...]:
    """The verifiers of a release that one of the same recoding has, too; its file has a suffix."""
    there = {each.file for each in manifest.file[0].verifiers}
    kinds = [kind for kind, name in VERIFIERS.items() if name in there]
    return tuple(kind for kind in kinds if kind != "sql" or suffix == ".csv")


def write_bundle(manifest: Manifest, directory: Path) -> list[Path]:
    """Write all verifiers into a directory, or none; without statements where there can be none.

    Raises InputError where one of them is there already, or the directory cannot be written.
    """
    kinds = [kind for kind in VERIFIERS if kind != "sql" or manifest.file[0].file == RELEASED[0]]
    writers: dict[str, Writer] = {
        VERIFIERS[kind]: writes(verifier(kind, manifest)) for kind in kinds
    }
    for name in writers:
        if (directory / name).exists():
            raise InputError(f"{directory / name} is there already: choose another directory")
    with reserved(directory, [*writers], "bundle") as output:
        output.write(writers)
    return [directory / name for name in writers]
