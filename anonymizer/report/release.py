"""What a release says, as tables of text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from anonymizer.masking import DISTORTION
from anonymizer.objectives import MutualInformation
from anonymizer.recoding.result import SearchResult
from anonymizer.release.information import Information
from anonymizer.release.release import Release
from anonymizer.report.console import console, table_of
from anonymizer.report.masking import print_masking
from anonymizer.report.verdicts import verdict_table
from anonymizer.report.warnings import print_warnings

if TYPE_CHECKING:
    from anonymizer.masking.disclosure import RandomizationReport

__all__ = ["print_ladder", "print_release"]

SHOWN = 8
"""How many groups of an attribute a report lists."""


BEYOND = {
    "dynamic programming": "Every box of the grid was judged",
    "beam": "Boxes were cut where following the cut to its end was best",
    "greedy": "Boxes were cut where a cut gained most",
    "merging": "Cells were merged and moved between classes",
}
"""What is said of searches that do not go over levels."""

CHANCE = "Some of what merged cells keep may be chance: `anonymizer compare` tells what lasts."


def print_release(release: Release, directory: Path) -> None:
    """Print what to beware of, what was searched, what is kept, and where the release lies."""
    out = console()
    print_warnings(out, release.warnings)
    for line in _summary(release):
        out.print(line)
    if release.masking is not None:
        print_masking(out, cast("RandomizationReport", release.masking))
    out.print(table_of("Recoding", ["quasi-identifier", "level", "groups"], _recoding(release)))
    if release.information:
        kept = _information(release.information)
        out.print(table_of("Information about the sensitive attribute", ["", ""], kept))
    for name, about in release.targets.items():
        out.print(table_of(f"Information about {name}", ["", ""], _information(about)))
    out.print(verdict_table(release.privacy))
    if release.other_columns:
        out.print(
            "Released as they were, and not covered by the policy if an attacker knows them: "
            + ", ".join(name or "a column without a name" for name in release.other_columns),
            soft_wrap=True,
        )
    if release.spreadsheet is not None and not release.spreadsheet.safe:
        cells = release.spreadsheet.cells
        out.print(
            f"A spreadsheet would run {sum(cells.values()):,} cells of {', '.join(cells)} as "
            "formulas; csv-safe = true under [output] disarms them.",
            soft_wrap=True,
        )
    out.print(f"The release lies in {directory}.", soft_wrap=True)


def print_ladder(releases: Mapping[str, Release]) -> None:
    """Print what several recodings of one table keep about its sensitive attribute."""
    rows = [
        [name, f"{kept.retained:.6f}", f"{kept.loss:.2%}", f"{release.classes:,}"]
        for name, release in releases.items()
        if (kept := release.information)
    ]
    titles = ["recoding", "I(X~;W), bits", "loss", "classes"]
    console().print(table_of("What each recoding keeps", titles, rows))


def _summary(release: Release) -> list[str]:
    search = release.search
    lines = [*_search(search), _released(release), _loss(release)]
    drawn = search.objective == DISTORTION
    if search.objective != MutualInformation.name and search.value is not None and not drawn:
        lines.append(f"The objective, {search.objective}, comes to {search.value:.6g}.")
    return lines


def _search(search: SearchResult) -> list[str]:
    """What was searched, and how sure the result is."""
    if search.strategy == "fixed":
        return ["Recoded at the levels given."]
    if search.objective == DISTORTION:
        return []
    if search.strategy in BEYOND:
        caution = [CHANCE] if search.strategy == "merging" else []
        return [BEYOND[search.strategy] + _sure(search), *caution]
    lines = [
        f"Searched {search.nodes:,} nodes ({search.strategy}, {search.checked:,} checked)"
        + _feasible(search)
    ]
    gap = "" if search.gap is None else f"; another may be better by {search.gap:.6g}"
    if search.refinements:
        proven = "the proven optimum" if search.proven else f"not proven to be the best{gap}"
        lines.append(f"Attributes were cut {search.refinements:,} times; the result is {proven}.")
    elif not search.proven:
        lines.append(f"The search was not finished: this is the best node found{gap}.")
    return lines


def _sure(search: SearchResult) -> str:
    """How sure the result is of a search that does not go over levels."""
    if search.proven:
        return "; the result is the proven optimum."
    if search.gap is None:
        return "; the best found, not proven."
    return f"; another may be better by {search.gap:.6g}."


def _released(release: Release) -> str:
    """How many records are released, of how many where that may be told."""
    if release.records is None:
        return (
            f"Released {release.released:,} records, drawn at random, in {release.classes:,} "
            "equivalence classes; how many there were may not be told."
        )
    return (
        f"Released {release.released:,} of {release.records:,} records in {release.classes:,} "
        f"equivalence classes ({release.dropped:,} dropped, {_suppressed(release)})."
    )


def _feasible(search: SearchResult) -> str:
    if search.feasible is None or search.minimal is None:
        return "."
    return f": {search.feasible:,} satisfy the policy, {len(search.minimal):,} of them minimal."


def _loss(release: Release) -> str:
    """What a class tells about whose record it is."""
    loss = release.query_loss
    return (
        f"A record's class costs its owner {loss.average:.4f} bits of {loss.uncertainty:.4f} on "
        f"average (standard deviation {loss.standard_deviation:.4f}), {loss.maximum:.4f} at most."
    )


def _suppressed(release: Release) -> str:
    fates = {"none": "", "kept": ", kept as one class", "removed": " and left out"}
    return f"{release.suppressed:,} suppressed{fates[release.suppressed_class]}"


def _recoding(release: Release) -> list[list[str]]:
    return [
        [name, str(release.levels.get(name, _kind(release, groups))), _groups(groups) or "drawn"]
        for name, groups in release.recoding.items()
    ]


def _kind(release: Release, groups: Sequence[dict[str, object]]) -> str:
    """What the groups of an attribute are that has no level."""
    if release.regions:
        return "by class"
    if any("level" in group for group in groups):
        return "cut"
    return "ranges" if any("from" in group for group in groups) else "groups"


def _groups(groups: Sequence[dict[str, object]]) -> str:
    labels = " ".join(str(group["label"]) for group in groups[:SHOWN])
    return labels + (f" ... ({len(groups)} in all)" if len(groups) > SHOWN else "")


def _information(information: Information) -> list[list[str]]:
    return [
        ["I(X;W), raw quasi-identifiers", f"{information.original:.6f} bits"],
        ["I(X~;W), released", f"{information.retained:.6f} bits"],
        ["    by Miller and Madow's estimate", f"{information.miller_madow:.6f} bits"],
        ["    above W shuffled", f"{information.retained_above_shuffled:.6f} bits"],
        ["ceiling: no recoding can keep more", f"{information.ceiling:.6f} bits"],
        ["gap to the ceiling", f"{information.gap:.6f} bits"],
        ["I(X;W) with W shuffled: chance alone", f"{information.shuffled:.6f} bits"],
        ["loss", f"{information.loss:.2%}"],
        ["loss, chance taken off", f"{information.loss_above_shuffled:.2%}"],
    ]
