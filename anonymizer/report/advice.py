"""Advice as text: counts, names of columns and thresholds alone, no value of anybody."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from anonymizer.errors import printable
from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.objectives import MutualInformation

if TYPE_CHECKING:  # a release that needs no advice is printed without it
    from anonymizer.advice import Advice, Change, Disclosure, Obstacle, Sweep

UNFINISHED = "The time for advice was up before all was computed"
LOOSER = "`anonymizer advise` computes what a looser policy and suppressing records would buy, too."


def advice_report(advice: "Advice") -> Iterator[Block]:
    """Yield what the policy discloses, the frontiers, and what stands in the way."""
    yield from _summary(advice)
    for sweep in advice.sweeps:
        yield _frontier(sweep)
        yield from sweep_lines(sweep)
    yield from change_lines(advice)
    if not advice.complete:
        yield f"{UNFINISHED}; --time-limit gives it more."


def advice_lines(advice: "Advice") -> list[str]:
    """What a run says of a policy out of reach, or of a result that is drastic or gives away.

    Control characters in names of columns are spelled out.
    """
    lines = [line for sweep in advice.sweeps for line in sweep_lines(sweep)]
    lines += change_lines(advice)
    if not advice.complete:
        lines.append(f"{UNFINISHED}; `anonymizer advise` takes longer.")
    elif advice.reachable and advice.drastic:
        lines.append(LOOSER)
    return [printable(line) for line in lines]


def sweep_lines(sweep: "Sweep") -> Iterator[str]:
    """The suggested point, what it means, and the lines of a study for it."""
    point = sweep.suggestion
    if point is None:
        yield f"No suggestion: {sweep.meaning}."
        return
    yield f"Suggested: {sweep.meaning}."
    yield (
        f"There {_disclosed(point.disclosure)}. In the study: [[privacy]], "
        f'model = "{sweep.model}", {sweep.setting}, attribute = "{sweep.attribute}".'
    )


def change_lines(advice: "Advice") -> Iterator[str]:
    """What stands in the way, and what changes would buy."""
    if not advice.reachable:
        yield from map(in_the_way, advice.obstacles)
        yield from _ways_out(advice)
        return
    if not advice.drastic:
        return
    yield f"The result is drastic: {'; '.join(advice.drastic)}."
    yield from map(in_the_way, largest_of_each(advice.obstacles))
    if advice.improving:
        yield f"What would improve it, each carried out by {advice.recoding}:"
        yield from (f"  - {_improved(advice, change)}" for change in advice.improving)
    elif advice.complete:
        yield "No change that was tried would improve it."


def _summary(advice: "Advice") -> Iterator[str]:
    if not advice.reachable:
        yield f"The policy is out of reach for these {plural(advice.records, 'record')}."
        return
    kept = ""
    if advice.retained is not None:
        kept = f"; {advice.retained:.6g} of {advice.original:.6g} bits of information are kept"
    yield (
        f"{plural(advice.records, 'record')} in {advice.classes:,} classes under the policy "
        f"({advice.recoding}, {advice.suppressed:,} suppressed){kept}."
    )
    for disclosure in advice.disclosures:
        yield f"{disclosure.attribute}: {_disclosed(disclosure)}."


def _disclosed(found: "Disclosure") -> str:
    by = "by who knows all rows of their person" if found.joined else "from their class"
    return (
        f"the value of {found.sure:,} of {plural(found.records, 'record')} is known for sure "
        f"{by}, that of {found.guessed:,} can be guessed with 80 % or more, and "
        f"nobody's with more than {found.worst:.4g} ({found.prior:.4g} without any class)"
    )


def _frontier(sweep: "Sweep") -> Table:
    """A row per threshold."""
    rows = [
        [
            ("none" if point.threshold is None else f"{point.threshold:g}")
            + (" <" if place == sweep.suggested else ""),
            point.retained,
            point.kept,
            point.value,
            point.classes,
            point.smallest,
            point.disclosure.worst,
            point.disclosure.guessed,
            point.disclosure.sure,
        ]
        for place, point in enumerate(sweep.points)
    ]
    distance = f" ({sweep.distance})" if sweep.distance else ""
    title = f"{sweep.model}{distance} about {sweep.attribute}, by {sweep.recoding}"
    columns = [
        *(sweep.parameter, "I(X~;W), bits", "kept", "objective", "classes", "smallest"),
        *("best guess", "guessed", "for sure"),
    ]
    return Table(title, columns, rows, "s .6f .1% .6g , , .4f , ,")


def in_the_way(found: "Obstacle") -> str:
    """Which records stand in the way of which model, in a sentence."""
    about = f" about {found.about}" if found.about else ""
    where = (
        f"with {found.finer} one level finer"
        if found.finer
        else "at the most general levels that may be released"
    )
    worst = "no finite value" if found.worst is None else f"{found.worst:.6g}"
    return (
        f"{found.model}{about}: {where}, {plural(found.records, 'record')} in "
        f"{plural(found.classes, 'class')} "
        f"{'stands' if found.records == 1 else 'stand'} in the way "
        f"({worst} against {found.threshold:.6g})."
    )


def largest_of_each(obstacles: "Sequence[Obstacle]") -> "list[Obstacle]":
    """For each attribute that would be finer the model that most records break."""
    most: dict[str | None, Obstacle] = {}
    for each in obstacles:
        if each.finer not in most or each.records > most[each.finer].records:
            most[each.finer] = each
    return list(most.values())


def _ways_out(advice: "Advice") -> Iterator[str]:
    ways = [change for change in advice.changes if change.reachable]
    if not ways:
        yield "No single change was found that would do; relax several models."
        return
    yield "Ways out, each computed by full-domain recoding:"
    for change in sorted(ways, key=lambda each: -(each.retained or 0.0)):
        yield f"  - {change.text}: {_buys(advice, change)}."


def _buys(advice: "Advice", change: "Change") -> str:
    parts = [f"{advice.objective} {change.value:.6g}"]
    if change.retained is not None and advice.objective != MutualInformation.name:
        parts.append(f"{change.retained:.6g} bits of information kept")
    parts.append(f"{len(change.hidden)} of {len(change.levels)} quasi-identifiers *")
    if change.suppressed:
        parts.append(f"{plural(change.suppressed, 'record')} suppressed")
    return ", ".join(parts)


def _improved(advice: "Advice", change: "Change") -> str:
    of = "" if change.before == advice.value else " of the other quasi-identifiers"
    return (
        f"{change.text}: {advice.objective}{of} {change.after:.6g} in place of {change.before:.6g}."
    )
