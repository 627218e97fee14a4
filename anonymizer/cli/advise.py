"""Advice on a policy, and what a run says where its policy needs advice."""

import sys
from contextlib import suppress
from pathlib import Path

from anonymizer.advice import Advice, advise_counted, advise_study, is_drastic, mostly_lost
from anonymizer.cli.options import show
from anonymizer.errors import AnonymizerError, Ended, PolicyUnreachableError
from anonymizer.feedback.progress import progress
from anonymizer.objectives import MutualInformation
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.recoding import Task
from anonymizer.release.release import Release
from anonymizer.release.study import Study
from anonymizer.release.system import never_lost
from anonymizer.report.advice import advice_lines, advice_report
from anonymizer.report.printing import picture_at, print_report

FRONTIER = "anonymizer.report.plots.disclosure.draw_frontier"

SECONDS = 5.0
"""What is spent on advice where no recoding satisfies the policy."""

BRIEFLY = 0.3
"""What is spent on it after a release was printed, for somebody who reads it in a terminal."""


def advise(
    study: Path,
    model: str | None,
    time_limit: float,
    plot: Path | None,
    force: bool,
    n_jobs: int | None,
    as_json: bool,
) -> int:
    """Carry out ``advise``."""
    draw = plot and picture_at(plot, FRONTIER, force=force)
    options = {"model": model, "n_jobs": n_jobs, "time_limit": time_limit}
    with progress() as shown, never_lost(shown) as watch:
        found = advise_study(Study(study), watch=watch, **options)  # type: ignore[arg-type]
    if draw and found.sweeps:
        draw(found)
    show("the policy was examined", as_json, found, advice_report, plot if found.sweeps else None)
    return 0 if found.reachable else 1


def explain(error: PolicyUnreachableError, study: Study, task: Task) -> None:
    """Add to an error what stands in the way and the ways out, computed within ``SECONDS``.

    ``task`` is the table, counted.
    """
    found = _found(study, task, False, SECONDS) if task.odds is None else None
    for line in advice_lines(found) if found else []:
        error.add_note(line)


def weak_points(study: Study, release: Release, task: Task) -> list[str]:
    """What is known without a search: that a release is drastic, and which command says more.

    Of classes that give sensitive values away there is a warning, which names models. Whoever
    follows advice chooses by sensitive values, so that against the method there is none.
    """
    found = _drastic(study, release)
    more = f"`anonymizer advise {study.path}` computes what would improve it."
    return [*found, more] if task.odds is None and (found or _gives_away(release)) else []


def improve(study: Study, release: Release, task: Task) -> None:
    """Say in a terminal, below a report, what to change, as far as ``BRIEFLY`` suffices."""
    if in_terminal():
        sys.stdout.flush()
        found = _found(study, task, _gives_away(release), BRIEFLY)
        print_report(advice_lines(found) if found else [])


def _gives_away(release: Release) -> bool:
    return any(each.code == "homogeneous-classes" for each in release.warnings)


def in_terminal() -> bool:
    """Whether somebody reads what is printed, as it is printed."""
    return sys.stdout.isatty()


def _drastic(study: Study, release: Release) -> list[str]:
    """That several quasi-identifiers became ``*``, or most of the information is lost.

    The latter where information is what the study maximises.
    """
    hidden = [
        name
        for name, groups in release.recoding.items()
        if groups and all(group.get("label") == "*" for group in groups)
    ]
    kept = release.information
    informs = isinstance(study.objective, MutualInformation)
    lost = (informs and kept is not None) and mostly_lost(
        kept.original, kept.shuffled, kept.retained_above_shuffled
    )
    if is_drastic(len(hidden), len(release.recoding)):
        of = len(release.recoding)
        return [f"The result is drastic: {len(hidden)} of {of} quasi-identifiers became *."]
    return ["The result is drastic: most of the information is lost."] if lost else []


def _found(study: Study, task: Task, sweep: bool, seconds: float) -> Advice | None:
    """The advice, as far as it is known within its time; none where it is interrupted.

    A recoding that is not searched for on counts has none.
    """
    recoding = study.recoding
    if not isinstance(recoding, Generalization):
        return None
    try:
        with suppress(AnonymizerError):
            return advise_counted(recoding, task, sweep=sweep, relax=False, time_limit=seconds)
    except Ended:
        raise
    except KeyboardInterrupt:
        pass
    return None
