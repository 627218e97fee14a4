"""Reports of a release: what a run reports of it, its verdicts, and what of a manifest is true."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, cast

from anonymizer.errors import shown
from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import listed, plural, share_of
from anonymizer.hierarchy import shown_label
from anonymizer.objectives import MutualInformation
from anonymizer.privacy import DifferentialPrivacy, PrivacyModel, Verdict, records_known
from anonymizer.recoding.policy import WHOLE_PERSONS
from anonymizer.recoding.recoding import SearchResult, Trial
from anonymizer.release.files import COUNTS
from anonymizer.release.information import Information
from anonymizer.release.manifest.groups import kind_of
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.release import Release
from anonymizer.release.verification.check import NEEDED
from anonymizer.release.verification.verification import Verification

if TYPE_CHECKING:  # only a masked or a signed release needs what these need
    from anonymizer.masking import Shift
    from anonymizer.masking.disclosure import RandomizationReport
    from anonymizer.release.manifest import Manifest
    from anonymizer.release.manifest.parts import ReportedShift, Series


SHOWN = 8
"""How many groups of an attribute a report lists."""


def found_report(path: Path, found: Mapping[str, object]) -> Iterator[Block]:
    """Yield how a table was found to be written, if that is unusual."""
    if found:
        keys = ", ".join(f"{key} = {_as_key(value)}" for key, value in found.items())
        yield f"Read {path.name} with {keys}; set these in [data] where that is wrong."


def _as_key(value: object) -> str:
    """A text, or the first of several, as a study has it."""
    if isinstance(value, tuple):
        return f'["{value[0]}", ...]'
    return f'"{value}"'


def release_report(
    release: Release, directory: Path, advice: Sequence[str] = ()
) -> Iterator[Block]:
    """Yield what was searched, what is kept, and where the release lies.

    ``advice``: what to change, where the result is drastic or gives values away.
    """
    yield from _summary(release)
    if release.masking is not None:
        yield from _masking(cast("RandomizationReport", release.masking))
    if release.search.tried:
        yield from _tried(release.search.tried)
    yield Table("Recoding", ["quasi-identifier", "level", "groups"], _recoding(release))
    if release.information:
        kept = _information(release.information)
        yield Table("Information about the sensitive attribute", ["", ""], kept)
    for name, about in release.targets.items():
        yield Table(f"Information about {name}", ["", ""], _information(about))
    yield verdict_table(release.privacy)
    if names := as_they_were(release):
        yield (
            "Released as they were, and not covered by the policy if an attacker knows them: "
            + ", ".join(name or "a column without a name" for name in names)
        )
    if release.shift is not None:
        yield moved_dates(release.shift)
    if release.released_weight is not None:
        yield mean_weight(release.weight)
    if release.person_key is not None:
        yield joined_releases(release.person_numbers)
    if release.spreadsheet is not None and not release.spreadsheet.safe:
        cells = release.spreadsheet.cells
        yield (
            f"A spreadsheet would run {sum(cells.values()):,} cells of {', '.join(cells)} as "
            "formulas; csv-safe = true under [output] disarms them."
        )
    yield from advice
    yield (
        f"Figures of the original table are in {steward_file(directory).name}, next to the "
        "release: they are for you alone."
    )
    yield f"The release is in {directory}."


def as_they_were(release: "Release | Manifest") -> list[str]:
    """Columns that a release has as they were: those without a role whose dates were not moved."""
    changed = [] if release.shift is None else [*release.shift.columns]
    changed += [str(release.weight)] if release.released_weight else []
    return [name for name in release.other_columns if name not in changed]


def mean_weight(weight: str | None) -> str:
    """What a release has of sampling weights."""
    return (
        f"{weight} has in each record the mean weight of its class: the people of a class are "
        "those of the table, and a record of it tells no weight of its own."
    )


def joined_releases(column: str | None) -> str:
    """What pseudonyms of persons tell, which are the same in other releases."""
    return (
        f"{column} has a pseudonym of each person, made with a key. All releases by that key have "
        "the same ones, and can be joined: what protects in each of them does not protect in two "
        "together, and nothing here has looked at two. Whoever has the key finds every person "
        "whom they can name."
    )


def moved_dates(shift: "Shift | ReportedShift") -> str:
    """What was done to the dates of persons."""
    days = plural(shift.days, "day")
    return (
        f"All dates of a person in {listed(shift.columns)} were moved by one secret number of "
        f"days, up to {days} to either side: how far apart they are is as it was."
    )


def ladder_report(releases: Mapping[str, Release]) -> Iterator[Block]:
    """Yield what several recodings of one table keep about its sensitive attribute."""
    rows = [
        [name, kept.retained, share_of(kept.loss), release.classes]
        for name, release in releases.items()
        if (kept := release.information)
    ]
    columns = ["recoding", "I(X~;W), bits", "loss", "classes"]
    yield Table("What each recoding keeps", columns, rows, "s .6f s ,")


def _summary(release: Release) -> list[str]:
    search = release.search
    loss = release.query_loss
    whole = ", with all records of their persons" if release.method.get(WHOLE_PERSONS) else ""
    fates = {"none": "", "kept": ", kept as one class", "removed": f" and left out{whole}"}
    released = (
        f"Released {release.released:,} records, drawn at random, in {release.classes:,} "
        "equivalence classes; how many there were may not be reported."
        if release.records is None
        else f"Released {release.released:,} of {release.records:,} records in {release.classes:,} "
        f"equivalence classes ({release.dropped:,} dropped, {release.suppressed:,} suppressed"
        f"{fates[release.suppressed_class]})."
    )
    lines = [
        *([] if release.masking else _search(search)),
        released,
        f"A record's class costs its owner {loss.average:.4f} bits of {loss.uncertainty:.4f} on "
        f"average (standard deviation {loss.standard_deviation:.4f}), {loss.maximum:.4f} at most.",
    ]
    return lines if release.masking else [*lines, *_objective(search)]


def _tried(tried: Sequence[Trial]) -> Iterator[Block]:
    """Yield what each recoding kept on the half held out, and where none held its policy."""
    rows = [
        [
            trial.recoding + (" *" if trial.taken else ""),
            trial.reason or f"{trial.kept:.6g} ({trial.measure})",
            trial.classes,
            None if trial.holds is None else "yes" if trial.holds else "NO",
        ]
        for trial in tried
    ]
    columns = ["recoding", "held out", "classes there", "holds there"]
    yield Table("Tried on a half of the records; * fitted on all", columns, rows, "s s , s")
    if any(trial.taken and not trial.holds for trial in tried):
        yield (
            "No recoding that was tried holds the policy on the half held out: the one was taken "
            "that fewest records there are in breach of. The policy holds for this release; to "
            "have it hold for others like it, give a larger min-records or min-gain, or "
            "suppression."
        )


def _objective(search: SearchResult) -> list[str]:
    """What was maximised, what it comes to, and why it where none was given."""
    by_default = f"{search.objective}, by default: {search.because}." if search.because else ""
    if search.objective == MutualInformation.name or search.value is None:
        return [f"The objective is {by_default}"] if by_default else []
    comes_to = f"comes to {search.value:.6g}"
    if not by_default:
        return [f"The objective, {search.objective}, {comes_to}."]
    return [f"The objective is {by_default[:-1]}. It {comes_to}."]


def _search(search: SearchResult) -> list[str]:
    """What was searched, and how sure the result is."""
    if search.strategy == "applied":
        return ["Recoded as the release that it follows."]
    if not search.searched:
        return ["Recoded at the levels given."]
    over = " over the grid" if search.grids else ""
    gap = "" if search.gap is None else f"; another{over} may be better by {search.gap:.6g}"
    if search.explained:
        sure = f"; the result is the proven optimum{over}" if search.proven else gap
        explained = search.explained + (sure or "; the best found, not proven") + "."
        return [explained, *([search.caution] if search.caution else []), *_grids(search)]
    found = ""
    if search.feasible is not None and search.minimal is not None:
        minimal = f"{len(search.minimal):,} of them minimal"
        found = f": {search.feasible:,} satisfy the policy, {minimal}"
    lines = [
        f"Searched {search.nodes:,} nodes ({search.strategy}, {search.checked:,} checked){found}."
    ]
    if search.refinements:
        best = f"the proven optimum{over}"
        proven = best if search.proven else f"not proven to be the best{gap}"
        lines.append(f"Attributes were cut {search.refinements:,} times; the result is {proven}.")
    elif not search.proven:
        lines.append(
            f"The search was not finished: this is the best node found{gap}."
            if gap
            else "This is the best node found, not proven to be the best."
        )
    return [*lines, *([search.caution] if search.caution else []), *_grids(search)]


def _grids(search: SearchResult) -> list[str]:
    """What attributes have a grid of cut points, where not every value may be one."""
    return [
        f"Ranges of {name} begin at the cut points of a grid, {plural(points, 'point')}; grid = N "
        "with its hierarchy allows more or fewer."
        for name, points in search.grids.items()
    ]


def _recoding(release: Release) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, groups in release.manifest.recoding.items():
        labels = " ".join(shown_label(group.label) for group in groups[:SHOWN]) or "drawn"
        more = f" ... ({len(groups)} in all)" if len(groups) > SHOWN else ""
        kind = "by class" if release.regions else kind_of(groups)
        rows.append([name, release.levels.get(name, kind), labels + more])
    return rows


def _information(information: Information) -> list[list[str]]:
    return [
        ["I(X;W), raw quasi-identifiers", f"{information.original:.6f} bits"],
        ["I(X~;W), released", f"{information.retained:.6f} bits"],
        ["    by Miller and Madow's estimate", f"{information.miller_madow:.6f} bits"],
        ["    above W shuffled", f"{information.retained_above_shuffled:.6f} bits"],
        ["ceiling: no recoding can keep more", f"{information.ceiling:.6f} bits"],
        ["gap to the ceiling", f"{information.gap:.6f} bits"],
        ["I(X;W) with W shuffled: chance alone", f"{information.shuffled:.6f} bits"],
        ["loss", share_of(information.loss)],
        ["loss, chance taken off", share_of(information.loss_above_shuffled)],
    ]


def _masking(masked: "RandomizationReport") -> Iterator[Block]:
    """Yield what was drawn, what it distorts, what it tells, and what analysts have to know."""
    yield from _lines(masked)
    found = [
        ("realised", masked.realised),
        *(("expected", part.expected) for part in masked.channels),
    ]
    rows = [
        [kind, name, disclosed.mean, disclosed.largest_i1, disclosed.largest_i2]
        for kind, disclosures in found
        for name, disclosed in disclosures.items()
    ]
    if rows:
        columns = ["", "sensitive attribute", "I(W;Y)", "largest I1", "largest I2"]
        yield Table("What released values tell, in bits", columns, rows, "s s .6f")


def _lines(masked: "RandomizationReport") -> Iterator[str]:
    names = ", ".join(masked.attributes)
    yield (
        f"Values of {names} were drawn at random {masked.origin}: a released record need not be "
        "true."
    )
    for part in masked.channels:
        kinds = {masked.distortion[name] for name in part.attributes if name in masked.distortion}
        least = ""
        if part.least_distortion is not None:
            bound = f"{part.least_distortion:.6g}"
            least = f"; no channel under the policy is expected to have less than {bound}"
        yield (
            f"Distortion ({' and '.join(sorted(kinds))}) of {', '.join(part.attributes)}: "
            f"{part.realised_distortion:.6g}, expected {part.expected_distortion:.6g}{least}."
        )
    if kept := masked.preserved:
        # How unlikely a sample of the table would miss its statistics by less.
        losses = zip(kept.columns, kept.mean, kept.variance, strict=True)
        of_each = "; ".join(f"{name} {mean:.3f} and {spread:.3f}" for name, mean, spread in losses)
        yield f"Probabilistic information loss of mean and variance, 0 to 1: {of_each}."
        words = {True: "are kept", False: "are not kept"}
        means, others = words[kept.mean_kept], words[kept.covariance_kept]
        yield f"Means {means}; variances and covariances {others}."
    if isfinite(masked.epsilon):
        yield f"Local differential privacy of these values: epsilon = {masked.epsilon:.4g}."
    else:
        yield (
            "No local differential privacy (epsilon is infinite): some released values rule true "
            "ones out."
        )
    if masked.withheld:
        yield "The channel is withheld: analysts cannot correct their estimates for it."
    else:
        yield (
            "The channel stands in release.json, for analysts: `anonymizer estimate` corrects for "
            "it. It tells which values occur in the table."
        )


DIGEST = 15
"""Characters of a digest that are shown."""


def against(
    quasi_identifiers: str,
    sensitive: str = "",
    persons: bool = False,
    known: float = 1,
    numbers: bool = False,
    odds: float | None = None,
) -> str:
    """Whom conditions on equivalence classes hold against, and what they do not promise.

    Names of columns, as a sentence lists them; ``persons``: whether some have several records, of
    which a condition is about ``known`` at once, infinitely many where about all; ``numbers``:
    whether rows are joined, so that it is about all; ``odds``: by how much the choice of the
    recoding may change what is believed, None where that is not limited. A differentially private
    release does not depend on what is known, and needs no such sentences. k-anonymity does not
    prevent singling out: Cohen and Nissim, PNAS 117 (2020).

    >>> against("age and sex").partition(".")[0]
    'The policy holds against somebody who knows age and sex of everybody'
    """
    also = f", and about {sensitive} only what the whole table shows" if sensitive else ""
    first = f"{quasi_identifiers} of {'one record of ' if persons else ''}everybody"
    more = "who knows several records of a person or more" if persons else "who knows more"
    several = ""
    if numbers:
        several = (
            " Rows of a person are joined, and it holds against who knows the released values of "
            "all of them, too. Whoever knows one sensitive value can look up the others."
        )
        more = "who knows anything else"
    elif known == inf:
        several = " Against who knows all records of a person composition-k-anonymity alone holds."
        more = "who knows anything else"
    elif known > 1:
        several = f" Against who knows up to {known} records of a person km-anonymity alone holds."
        more = f"who knows more than {known} records of a person or anything else"
    choice = ", who reasons from how the recoding was chosen"
    if odds is not None:
        choice = ""
        several += (
            " It holds, too, against who knows the method, where the recoding was chosen as its "
            f"maker says: the choice makes no value more than {odds:g} times as likely against "
            "another than their shares in the class do."
        )
    return (
        f"The policy holds against somebody who knows {first}{also}.{several} It is no promise "
        f"against somebody {more}{choice}, or who links other releases. It does not prevent "
        "singling out."
    )


def verdict_table(
    verdicts: Iterable[Verdict],
    title: str = "Policy, recounted on the table",
    records: Sequence[int] = (),
) -> Table:
    """Each model with its threshold and the class that comes off worst.

    ``records``: how many are in the classes that fail, of each; shown where there are any.
    """
    columns = ["model", "about", "threshold", "worst class", "classes that fail", "holds"]
    rows = [*map(_verdict, verdicts)]
    if any(records):
        columns.insert(5, "records in them")
        rows = [[*row[:5], f"{of:,}", *row[5:]] for row, of in zip(rows, records, strict=True)]
    return Table(title, columns, rows, "s s s .6g s")


def _verdict(verdict: Verdict) -> list[object]:
    model = verdict.model
    parameters = [f"{name} = {_shown(value)}" for name, value in model.parameters.items()]
    failing = f"{verdict.violating} of {verdict.classes}" if model.per_class else "the whole table"
    return [
        f"{model.name} ({', '.join(parameters)})",
        verdict.about or counted_unit(model),
        model.range,
        verdict.worst,
        failing,
        "yes" if verdict.satisfied else "NO",
    ]


def _shown(value: object) -> str:
    """A parameter in few words: what is long is in the study."""
    if isinstance(value, Mapping):
        return str(value.get("name", "given"))
    if isinstance(value, list):
        return f"{len(value)} values"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text[:DIGEST] + "..." if text.startswith("sha256:") else text


SAID = {
    "recomputed": "recomputed from the table",
    "consistent": "held against other fields of the manifest",
    "study": "held against the study",
    "key": "held against the key",
    "original": "held against the original table",
}


OF_PERSONS = (
    "The policy is about persons, and the released table does not show whose its records are."
)


def counted_unit(model: PrivacyModel) -> str:
    """Return what a model counts that is about no sensitive attribute."""
    if model.of_households:
        return "households"
    return "persons" if model.of_persons else "class sizes"


STAND_FOR = "The released table does not show for how many people its records stand."
TOGETHER = "The released table does not show which records are of one household."


def why_unexamined(models: Sequence[PrivacyModel], persons: str) -> str:
    """Say why a released table does not show some models; ``persons``: of those about persons."""
    reasons = [persons] * any(not model.by_withheld for model in models)
    reasons += [STAND_FOR] * any(model.by_weights for model in models)
    reasons += [TOGETHER] * any(model.of_households for model in models)
    return " ".join(reasons)


def verification_report(found: Verification) -> Iterator[Block]:
    """Yield what differs, one line each, what was checked, what cannot be, and the verdicts."""
    yield from _verified(found)
    if found.unexamined:
        names = ", ".join(f"{model.name} {model.range}" for model in found.unexamined)
        why = why_unexamined(found.unexamined, OF_PERSONS)
        way = "the table that it was made of with --original"
        if found.table.name == COUNTS:
            way = "all files of counts that it was made of, each with --counts"
        yield f"Not examined: {names}. {why} Give {way}."
    if found.verdicts:
        yield verdict_table(found.verdicts)
        private = any(isinstance(each.model, DifferentialPrivacy) for each in found.verdicts)
        if found.satisfied and not private:
            persons = any(each.model.of_persons for each in found.verdicts)
            known = records_known(each.model for each in found.verdicts)
            about = "the quasi-identifiers", "sensitive attributes"
            yield against(*about, persons, known, found.numbers)


def _verified(found: Verification) -> Iterable[str]:
    if not found.checks:
        yield "No manifest is about this table: it was recounted under the policy of the study."
        return
    different = plural(len(found.differences), "difference")
    yield f"{different}:" if found.differences else "The release is what its manifest says."
    yield from (f"  {check}" for check in found.differences)
    if found.signer:
        yield f"Its manifest is signed by the key {found.signer}{_series(found.series)}."
    done = [check.how for check in found.checks if check.agrees is not None]
    ways = (f"{done.count(how)} {said}" for how, said in SAID.items() if how in done)
    yield f"Checked: {', '.join(ways)}."
    fields: dict[str, dict[str, None]] = {}
    for check in found.unchecked:
        needed = NEEDED.get(check.reason, check.reason)
        fields.setdefault(needed, {})[_plain(check.field)] = None
    yield from (f"Not checked: {', '.join(names)}: {reason}." for reason, names in fields.items())
    if found.verdicts and not found.by_study:
        yield (
            "The policy below is the one that the manifest names: compare it with the one that you "
            "expect, or give the study."
        )


def _series(series: "Series | None") -> str:
    """Which release of a series the signature says that it is."""
    if series is None:
        return ", which does not say which release it is"
    period = "" if series.period is None else f", {shown(series.period)}"
    return f" as {shown(series.name)}{period}, number {series.number:,} of the series"


def _plain(field: str) -> str:
    """A kind of fields in few words: ``recoding.values`` for ``recoding.*.*.values.*``."""
    return ".".join(part for part in field.split(".") if "*" not in part)
