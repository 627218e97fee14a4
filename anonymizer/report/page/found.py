"""How a recoding was found: the search, its lattice, what was tried, and other recodings."""

from collections.abc import Iterator, Sequence

from anonymizer.feedback.words import bits, count, listed, number, plural, share
from anonymizer.release.manifest.figures import ReportedTrial
from anonymizer.report.page.document import Block, Heading, Paragraph, ReportSection, ReportTable
from anonymizer.report.page.evidence import Evidence
from anonymizer.report.page.pictures import Pictures
from anonymizer.utility.comparison import Comparison, Fit

MOST_NODES = 12
"""Nodes of a frontier that a table lists."""


def found_section(
    evidence: Evidence, pictures: Pictures, comparison: Comparison | str | None
) -> ReportSection:
    """The search in sentences, the frontier, the trials, and the comparison if there is one."""
    blocks: list[Block] = [Paragraph(" ".join(_sentences(evidence)))]
    blocks += _frontier(evidence)
    blocks += pictures.lattice()
    blocks += _tried(evidence.manifest.search.tried)
    if isinstance(comparison, str):
        blocks.append(Paragraph(f"Other recodings cannot be compared: {comparison}.", "note"))
    elif comparison is not None:
        blocks += _compared(comparison, pictures)
    return ReportSection("search", "How the recoding was found", blocks)


def _sentences(evidence: Evidence) -> Iterator[str]:
    """What was searched for what, and how sure the result is."""
    search = evidence.manifest.search
    if evidence.manifest.masking:
        yield "Values were drawn at random, and the others are at levels that were given."
        return
    if search.strategy in ("fixed", "applied"):
        yield "Nothing was searched: the levels were given before the table was looked at."
        return
    because = f", since {search.because}" if search.because else ""
    yield f"The search was for the best value of one objective: {search.objective}{because}."
    if search.nodes is None or search.checked is None:
        yield f"How it went ({search.strategy}) is known to its steward alone."
    elif search.nodes:
        yield (
            f"It was over a lattice of {plural(search.nodes, 'combination')} of levels "
            f"({search.strategy}); {count(search.checked)} were counted."
        )
    else:
        yield f"It was done by {search.strategy}."
    if search.feasible is not None and search.minimal is not None:
        yield (
            f"{count(search.feasible)} of them satisfy the policy. {count(len(search.minimal))} of "
            "these are the frontier: everything finer breaks the policy."
        )
    if search.refinements:
        times = "once" if search.refinements == 1 else f"{count(search.refinements)} times"
        yield f"Then attributes were cut into ranges of their own, {times}."
    yield _sure(evidence)
    for name, points in search.grids.items():
        yield f"Ranges of {name} begin at the {plural(points, 'cut point')} of a grid."


def _sure(evidence: Evidence) -> str:
    """Whether another recoding of the kind could be better."""
    search = evidence.manifest.search
    if search.proven:
        return "The result is proven: no other recoding of the kind that was searched is better."
    if search.gap is not None:
        return (
            "The result is not proven to be the best. Another recoding of the kind that was "
            f"searched may be better by {number(search.gap)} at the most."
        )
    return "The result is the best that was found; it is not proven that none is better."


def _frontier(evidence: Evidence) -> Iterator[Block]:
    """The nodes of the frontier, by the levels of each attribute."""
    minimal, names = evidence.manifest.search.minimal, evidence.quasi_identifiers
    if not minimal or any(len(node) != len(names) for node in minimal):
        return
    shown = minimal[:MOST_NODES]
    more = "" if len(minimal) <= len(shown) else f", the first {count(len(shown))}"
    yield ReportTable(
        f"The frontier{more}: levels that satisfy the policy while nothing finer does",
        ("Node", *names),
        [(count(place), *map(str, node)) for place, node in enumerate(shown, 1)],
        numeric=range(1, len(names) + 1),
    )


def _tried(trials: Sequence[ReportedTrial]) -> Iterator[Block]:
    """Recodings that were fitted on a half of the records and judged by the other half."""
    if not trials:
        return
    yield Heading("Recodings that were tried")
    rows = [
        (
            trial.recoding + (" (taken)" if trial.taken else ""),
            trial.reason or f"{number(trial.kept)} ({trial.measure})",
            "-" if trial.classes is None else count(trial.classes),
            "-" if trial.holds is None else "yes" if trial.holds else "no",
            "-" if trial.records_broken is None else count(trial.records_broken),
        )
        for trial in trials
    ]
    columns = ("Recoding", "Kept on the other half", "Classes", "Policy holds", "Records that fail")
    caption = "Fitted on a random half of the records, judged by the other half"
    yield ReportTable(caption, columns, rows, numeric=(2, 4))


def _compared(comparison: Comparison, pictures: Pictures) -> Iterator[Block]:
    """Recodings side by side, measured on the original table."""
    yield Heading("Other recodings under the same policy")
    yield Paragraph(
        f"Measured on the original table of {plural(comparison.records, 'record')}, which the "
        "study names, and not on the release: each recoding was fitted on a random half and judged "
        "by the other half. Whoever has the release alone cannot count this again.",
        "note",
    )
    ceiling = bits(comparison.points[0].ceiling)
    rows = [
        *(_fit(fit, comparison) for fit in comparison.fits),
        *((each.recoding, "cannot be fitted", "-", "-", each.reason) for each in comparison.unfit),
    ]
    columns = ("Recoding", "Kept on the other half", "Lost", "Classes", "Policy on the other half")
    caption = (
        f"What each recoding keeps about {listed(comparison.about)}; the ceiling of the other "
        f"half is {ceiling}"
    )
    yield ReportTable(caption, columns, rows, numeric=(1, 2, 3))
    yield from pictures.comparison(comparison)


def _fit(fit: Fit, comparison: Comparison) -> tuple[str, ...]:
    """A recoding in five cells."""
    half = fit.held_out
    best = " (best)" if comparison.is_best(fit) else ""
    classes = plural(half.broken, "class")
    fails = f"fails in {classes}: {listed(half.failing)}"
    return (
        fit.recoding + best,
        bits(half.retained),
        share(half.loss),
        count(half.classes),
        "holds" if half.satisfied else fails,
    )
