"""Ways out of a policy that is out of reach or costs too much, each as a change of the study."""

from dataclasses import dataclass, replace

import numpy as np

from anonymizer.advice import Advice, Change, Parameter, advise_counted, is_drastic, mostly_lost
from anonymizer.advice.space import chance_of
from anonymizer.explorer.answers.classes import by_labels
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.feedback.words import bits, number, plural, share
from anonymizer.kernels.arrays import Codes
from anonymizer.objectives import MutualInformation
from anonymizer.recoding import Watch
from anonymizer.recoding.generalization import Generalization
from anonymizer.report.advice import in_the_way, largest_of_each

SECONDS = 15.0
"""How long ways out are searched for."""


@dataclass(frozen=True)
class Way:
    """A change to the study, in words, and what it would buy."""

    change: Change
    words: str
    buys: str


@dataclass(frozen=True)
class Ways:
    """What stands in the way of a policy, and the ways out; ``basis``: how these were computed."""

    why: str
    basis: str
    obstacles: tuple[str, ...]
    ways: tuple[Way, ...]
    complete: bool


def needs_ways(outcome: StudyOutcome) -> str:
    """Why ways out should be searched for; empty where they should not.

    Out of reach, most quasi-identifiers hidden, or most of the information lost.
    """
    if outcome.task is None or outcome.counted is None:
        return ""
    if not isinstance(outcome.counted.study.recoding, Generalization):
        return ""
    if outcome.unreachable:
        return "The policy is out of reach."
    if not outcome.holds or method_is_fixed(outcome):
        return ""
    hidden, of = _hidden(outcome)
    if is_drastic(hidden, of):
        return f"The result is drastic: it says nothing of {hidden} of {of} quasi-identifiers."
    if _mostly_lost(outcome):
        return "The result is drastic: most of the information is lost."
    return ""


def method_is_fixed(outcome: StudyOutcome) -> bool:
    """Whether the levels were chosen by the steward."""
    return outcome.counted is not None and outcome.counted.study.recoding.name == "fixed"


def _mostly_lost(outcome: StudyOutcome) -> bool:
    """Whether most of the information is lost, where that is what is maximised; without chance."""
    raw, counts, known = outcome.raw, outcome.counts, outcome.information
    if raw is None or counts is None or known is None or outcome.task is None:
        return False
    if not isinstance(outcome.task.objective, MutualInformation):
        return False
    chance, kept = (
        sum(chance_of(each.joint[name]) for name in raw.targets or raw.sensitive)
        for each in (raw, counts)
    )
    return mostly_lost(known[0], chance, known[1] - kept)


def _hidden(outcome: StudyOutcome) -> tuple[int, int]:
    """Quasi-identifiers of one label, of those that have several values."""
    raw, counts = outcome.raw, by_labels(outcome)
    assert raw is not None
    assert counts is not None
    cells = np.delete(counts.cells, [] if outcome.merged is None else outcome.merged, axis=0)
    varying = [n for n, codes in _columns(raw.names, raw.cells) if (codes != codes[0]).any()]
    one = {n for n, codes in _columns(counts.names, cells) if (codes == codes[:1]).all()}
    return len(one.intersection(varying)), len(varying)


def _columns(names: tuple[str, ...], cells: Codes) -> list[tuple[str, Codes]]:
    return list(zip(names, cells.T, strict=True))


def ways_of(outcome: StudyOutcome, watch: Watch, seconds: float = SECONDS) -> Ways | None:
    """The ways out, searched for on counts; None where none are needed."""
    why = needs_ways(outcome)
    if not why or outcome.counted is None or outcome.task is None:
        return None
    recoding = outcome.counted.study.recoding
    assert isinstance(recoding, Generalization)
    task = replace(outcome.task, run=replace(outcome.task.run, watch=watch))
    found = advise_counted(recoding, task, sweep=False, time_limit=seconds)
    if found.reachable:
        obstacles, changes = largest_of_each(found.obstacles), list(found.improving)
    else:
        obstacles, changes = list(found.obstacles), _satisfying(found)
    ways = [Way(each, _words(each, recoding), _buys(found, each)) for each in changes]
    basis = "" if found.reachable else _basis(recoding.name)
    return Ways(why, basis, tuple(map(in_the_way, obstacles)), tuple(ways), found.complete)


def _satisfying(advice: Advice) -> list[Change]:
    """Changes under which the policy can be satisfied: those first that leave it as it is."""
    ways = [change for change in advice.changes if change.reachable]
    return sorted(ways, key=lambda each: (each.kind == "relax", -(each.retained or 0.0)))


def _words(change: Change, recoding: Generalization) -> str:
    match change.kind:
        case "suppress":
            also = "" if hasattr(recoding, "suppression") else ", and recode by full-domain"
            return f"Let up to {share(change.suppression)} of the records be suppressed{also}"
        case "remove":
            return f"Leave {change.attribute} out of the release"
        case "coarsen":
            return f"Release {change.attribute} at level {change.level} or coarser"
        case "allow":
            return f"Let {change.attribute} be as coarse as level {change.level}"
    return " and ".join(map(_setting, change.settings))


def _setting(setting: Parameter) -> str:
    about = f" about {setting.about}" if setting.about else ""
    owner = "" if setting.parameter == setting.model else f"{setting.model}{about}: "
    return f"{owner}{setting.parameter} = {setting.after:g} instead of {setting.before:g}"


def _basis(method: str) -> str:
    """How ways are computed, where it is not as the study is recoded."""
    if method in ("full-domain", "fixed"):
        return ""
    return (
        f"What each would keep is computed by full-domain recoding; {method}, which the study has, "
        "may keep more."
    )


def _buys(advice: Advice, change: Change) -> str:
    """What there is under a change, or what it improves."""
    if change.after is not None:
        return f"{advice.objective} {number(change.after)} in place of {number(change.before)}."
    found = [f"{advice.objective} {number(change.value)}"]
    if change.retained is not None:
        found = [f"{bits(change.retained)} of information kept"]
    found.append(f"nothing said of {len(change.hidden)} of {len(change.levels)} quasi-identifiers")
    if change.suppressed:
        found.append(f"{plural(change.suppressed, 'record', 'records')} suppressed")
    return f"{', '.join(found)}."
