"""Releases and reports that are written, or written for a look at them, as the commands do it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.preview import sentence
from anonymizer.recoding import Watch, ignore
from anonymizer.release.manifest import Manifest
from anonymizer.release.output import require_place, write_file
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.report.page import report_of

_drawing = Lock()  # pictures have their style from settings of the whole process


@dataclass(frozen=True)
class Preview:
    """The report of a release that was written to be looked at.

    ``text`` is the study that it is of, ``warnings`` are all that the release has.
    """

    text: str
    html: str = field(repr=False)
    warnings: Sequence[str] = ()


def previewed(study: Study, text: str, scratch: Path, name: str, watch: Watch = ignore) -> Preview:
    """The report of the release of a study, as ``anonymizer report`` writes it.

    It needs a release on disk, which lies in a directory of its own within ``scratch`` for as long.

    Raises what ``publish`` raises.
    """
    with TemporaryDirectory(prefix="preview-", dir=scratch) as directory:
        release = Path(directory) / name
        _, manifest = publish(study, release, watch=watch)
        html = _report(release, watch).decode()
    return Preview(text, html, warnings_in(manifest))


def warnings_in(manifest: Manifest) -> list[str]:
    """What a release is weak in, in the words of its report."""
    return [sentence(each.message) for each in manifest.warnings]


def written_release(study: Study, directory: Path, force: bool, watch: Watch = ignore) -> Manifest:
    """Write the release of a study, as ``anonymizer run`` does.

    Raises what ``publish`` raises.
    """
    return publish(study, directory, force=force, watch=watch)[1]


def is_of(manifest: Manifest, outcome: StudyOutcome) -> bool:
    """Whether a release that was written has the recoding that was shown.

    It may have another one where the search was ended early, and a random one is drawn anew.
    """
    plan, carried = outcome.plan, outcome.carried
    if plan is None or carried is None or plan.random:
        return True
    shown = plan.describe(carried.shown)
    return all(
        [str(group.label) for group in groups] == [str(group["label"]) for group in shown[name]]
        for name, groups in manifest.recoding.items()
    )


def written_report(release: Path, force: bool, watch: Watch = ignore) -> Path:
    """Write the report of a release next to it, as ``anonymizer report`` does.

    Raises InputError when there is no release, or the report cannot be written.
    """
    place = release.parent / f"{release.resolve().name}-report.html"
    require_place(place, "cannot write to", force=force)
    page = _report(release, watch)
    write_file(place, partial(_write, page), force=force)
    return place


def _report(release: Path, watch: Watch) -> bytes:
    with _drawing:
        return report_of(release, watch=watch)


def _write(page: bytes, path: Path) -> None:
    path.write_bytes(page)
