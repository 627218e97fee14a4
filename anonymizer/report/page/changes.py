"""Sections on the data: what was changed, what is kept, and how the recoding was found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log2
from typing import Any

import numpy as np

from anonymizer.feedback.document import Block, Heading, Note, ReportSection, Table, TermList
from anonymizer.feedback.words import UNKNOWN, bits, count, listed, number, people, plural, share
from anonymizer.hierarchy import shown_label
from anonymizer.objectives import OBJECTIVES
from anonymizer.recoding.policy import WHOLE_PERSONS
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest.groups import Group, kind_of
from anonymizer.release.manifest.parts import ReportedInformation, ReportedTrial, ReportedVerdict
from anonymizer.report.page.evidence import (
    Evidence,
    InformationDisclosed,
    Pictures,
    ReleasedAttribute,
)
from anonymizer.utility.comparison import Comparison, Fit

EXAMPLES = 6
"""Labels that are shown of an attribute."""

QUANTILES = (0, 0.25, 0.5, 0.75, 1)
"""Places in the order of classes whose sizes are shown."""


def changes_section(evidence: Evidence, pictures: Pictures) -> ReportSection:
    """Attributes, records, classes."""
    blocks: list[Block] = [
        *followed_by(evidence),
        Table(
            "Each quasi-identifier as it is released",
            ("Attribute", "How it was changed", "Labels", "Examples", "Records at *"),
            [_row(evidence, each) for each in evidence.attributes],
            numeric=(2, 4),
        ),
        (
            "The label * hides a value altogether. [a, b) is from a up to, and not with, b; -inf "
            "and inf are open ends."
        ),
    ]
    for each in evidence.attributes:
        blocks += pictures.attribute(each.name)
    blocks += _drawn(evidence.manifest.masking)
    blocks += [Heading("Records"), *records_of(evidence)]
    blocks += _classes(evidence, pictures)
    return ReportSection("changes", "What was changed", blocks)


def _row(evidence: Evidence, attribute: ReleasedAttribute) -> tuple[str, ...]:
    """An attribute in five cells."""
    groups = evidence.manifest.recoding[attribute.name]
    return (
        attribute.name,
        how_changed(evidence, attribute.name, groups),
        count(attribute.labels),
        _examples(groups),
        share(attribute.hidden / evidence.released),
    )


def how_changed(evidence: Evidence, name: str, groups: Sequence[Group]) -> str:
    """What was done to an attribute."""
    manifest = evidence.manifest
    if manifest.masking and name in manifest.masking["attributes"]:
        return "drawn at random"
    if name in manifest.levels:
        return _at_level(manifest.levels[name], groups)
    if manifest.regions:
        return "groups of its own in every class"
    return {
        "cut": "groups of different levels of its hierarchy",
        "ranges": "ranges of its own",
        "groups": "groups of values of its own",
    }[kind_of(groups)]


def _at_level(level: int, groups: Sequence[Group]) -> str:
    """The level of an attribute that is released at one."""
    if level == 0:
        return "as it was"
    if [group.label for group in groups] == ["*"]:
        return "suppressed: every record has *"
    return f"level {level} of its hierarchy"


def _examples(groups: Sequence[Group]) -> str:
    """Some labels, evenly spread over the groups."""
    if not groups:
        return "-"
    places = np.unique(np.linspace(0, len(groups) - 1, min(EXAMPLES, len(groups))).astype(int))
    shown = [shown_label(groups[place].label) for place in places]
    return "; ".join(shown) + ("; ..." if len(groups) > len(places) else "")


def _drawn(masking: Mapping[str, Any] | None) -> Iterator[Block]:
    """What drawing values at random changed, and how much a single one gives away."""
    if not masking:
        return
    yield Heading("Values drawn at random")
    yield (
        f"Values of {listed(masking['attributes'])} were replaced by values drawn at random "
        f"({masking['method']}). A released one need not be true of its record."
    )
    for channel in masking["channels"]:
        kinds = {masking["distortion"].get(name) for name in channel["attributes"]} - {None}
        distortion = f"The distortion of {listed(channel['attributes'])} ({listed(sorted(kinds))})"
        yield (
            f"{distortion} is {number(channel['realised_distortion'])} on average, where "
            f"{number(channel['expected_distortion'])} was expected."
            if "realised_distortion" in channel
            else f"{distortion} is known to its steward alone."
        )
    epsilon = masking["epsilon"]
    yield (
        "Some released values rule original ones out."
        if epsilon is None
        else f"No value is more than {number(exp(epsilon))} times likelier to be released for one "
        "original value than for another (local differential privacy)."
    )
    if masking["withheld"]:
        yield "The probabilities are withheld, so that nobody can correct for them."
    else:
        yield (
            "The probabilities are in the manifest, so that analysts can correct counts for them "
            "with anonymizer estimate."
        )


def followed_by(evidence: Evidence) -> Iterator[str]:
    """Where the recoding is that of another release: of which, and what it did not cover."""
    manifest = evidence.manifest
    if manifest.applies is not None:
        yield (
            "The recoding is that of another release: it was not chosen for this table. The "
            f"{MANIFEST} of that release has the SHA-256 {manifest.applies.sha256}."
        )
    if manifest.unseen is not None:
        treated = {
            "any": "the label * replaced these values",
            "suppress": "these records were suppressed",
        }[manifest.unseen.treated]
        covered = (
            f"values that the recoding does not cover, {count(manifest.unseen.values)} different "
            "ones in all"
            if manifest.unseen.values
            else "a combination of values that the recoding does not cover"
        )
        yield f"{plural(manifest.unseen.records, 'record')} had {covered}; {treated}."


def records_of(evidence: Evidence) -> Iterator[str]:
    """What became of the records of the original."""
    manifest = evidence.manifest
    if manifest.records is None and not evidence.private:
        yield (
            f"{count(evidence.released)} records are released. How many there were, and how many "
            "were left out, is known to its steward alone: with the population it would tell who "
            "is in the table."
        )
        return
    if manifest.records is None:
        yield (
            f"{count(evidence.released)} records are released. They were drawn at random; how many "
            "there were, and how many were left out, is not reported, as the guarantee requires."
        )
        return
    yield (
        f"The original has {plural(manifest.records, 'record')}; {count(evidence.released)} are "
        "released."
    )
    if manifest.dropped:
        yield f"{plural(manifest.dropped, 'record')} with a missing value were left out."
    if manifest.suppressed:
        fate = {
            "kept": "are released as one class, with * in every quasi-identifier",
            "removed": "were left out",
        }[manifest.suppressed_class]
        part = share(manifest.suppressed / manifest.records)
        yield (
            f"{plural(manifest.suppressed, 'record')} ({part}) were suppressed to save the policy "
            f"for the others; they {fate}. People with unusual values are suppressed first, so "
            "that figures about them are the least reliable."
        )
    if manifest.suppressed and manifest.method.get(WHOLE_PERSONS):
        yield "Who was left out, was so with all of their records: nobody is in the table in part."
    if not manifest.dropped and not manifest.suppressed:
        yield "None was left out or suppressed."


def _classes(evidence: Evidence, pictures: Pictures) -> Iterator[Block]:
    """How large classes are."""
    sizes = evidence.sizes
    number_of = plural(len(sizes), "class")
    yield Heading("Classes")
    smallest, largest = (evidence.said(people(sizes[place])) for place in (0, -1))
    yield (
        f"The table has {number_of}. The smallest has {smallest}, the largest "
        f"{largest}, the average {number(evidence.average_size)}."
    )
    chosen = np.quantile(sizes, QUANTILES, method="lower")
    names = ("Smallest", "Lower quarter", "Middle", "Upper quarter", "Largest")
    yield Table(
        "Sizes of classes, in records",
        ("Class", "Records"),
        [*zip(names, map(count, chosen), strict=True)],
        numeric=(1,),
    )
    yield from pictures.sizes()


ROWS = (
    ("retained", "Retained by the release, I(X~;W)"),
    ("miller_madow", "Retained, corrected for small classes (Miller and Madow)"),
)
"""The measures of information that a release has, in words."""

OF_STEWARD = (
    ("original", "In the original: what the quasi-identifiers say of it, I(X;W)"),
    ("ceiling", "Ceiling: the most that any release under this policy can keep"),
    ("gap", "Between what is retained and the ceiling"),
    ("shuffled", "In the original by chance alone, with W dealt out anew"),
    ("retained_above_shuffled", "Retained above what chance alone would show"),
)
"""Those that are about the original table."""

LOSSES = (
    ("loss", "Lost of the original"),
    ("loss_above_shuffled", "Lost, chance taken off on both sides"),
)


def kept_section(evidence: Evidence, pictures: Pictures) -> ReportSection:
    """Information about sensitive attributes and targets, in sentences and figures."""
    blocks: list[Block] = []
    manifest = evidence.manifest
    if manifest.information:
        about = listed(evidence.schema.sensitive)
        blocks += _about(manifest.information, about)
        blocks += pictures.information()
    for name, information in manifest.targets.items():
        blocks += _about(information, name)
    if not blocks:
        blocks.append(
            "The release has no sensitive attribute and no target, so that no information "
            "about one was measured."
        )
    blocks += _disclosed(evidence, pictures)
    blocks += _uses(evidence)
    return ReportSection("kept", "What is kept", blocks)


def _about(information: ReportedInformation, about: str) -> list[Block]:
    """What is kept of the information about some attributes."""
    rows = [(words, bits(getattr(information, name))) for name, words in ROWS]
    if information.original is not None:
        rows += [(words, bits(getattr(information, name))) for name, words in OF_STEWARD]
        rows += [(words, share(getattr(information, name))) for name, words in LOSSES]
    return [
        Heading(f"Information about {about}"),
        *_information_sentences(information, about),
        Table(f"Information about {about}", ("Measure", "Value"), rows, numeric=(1,)),
    ]


def _information_sentences(information: ReportedInformation, about: str) -> Iterator[str]:
    """The same for readers who are no statisticians."""
    if information.original is None or information.ceiling is None:
        yield (
            f"In the release the quasi-identifiers of a person give {bits(information.retained)} "
            f"about {about}. What they gave before is known to its steward alone, since an exact "
            "figure of the original table would tell values of people."
        )
        return
    yield (
        f"Before, the quasi-identifiers of a person gave {bits(information.original)} about "
        f"{about}. In the release they give {bits(information.retained)}. No release under this "
        f"policy can give more than {bits(information.ceiling)}."
    )
    if information.loss is None:
        yield "There was no information to lose."
    else:
        yield (
            f"So {share(information.loss)} of it is lost. Small classes seem to say more than "
            "they do, which inflates what there was before: with chance taken off on both sides "
            f"the loss is {_shown_share(information.loss_above_shuffled)}."
        )


def _shown_share(value: float | None) -> str:
    within = f"{UNKNOWN}, since what was there is within what chance alone would show"
    return within if value is None else share(value)


def _disclosed(evidence: Evidence, pictures: Pictures) -> Iterator[Block]:
    """I1 and I2 of the classes against t and l."""
    if not evidence.disclosures:
        return
    yield Heading("Class by class")
    yield (
        "I1 is how far the values in a class are from those of the whole table, which t-closeness "
        "bounds. I2 is how much less doubt a class leaves than the whole table, which entropy "
        "l-diversity bounds by H(W) - log l; it is negative where a class leaves more doubt. Both "
        "have the same mean over all records. They were computed from the released table."
    )
    columns = ("Attribute", "Largest I1", "t", "Largest I2", "H(W) - log l", "Mean", "H(W)")
    # Where persons have several records the policy bounds what persons tell, not their records.
    policy = [] if evidence.persons else evidence.manifest.privacy
    rows = [_bounds(each, policy) for each in evidence.disclosures]
    caption = "What the class that gives most away gives, in bits, against the policy"
    yield Table(caption, columns, rows, numeric=range(1, len(columns)))
    yield from pictures.classes()


def _bounds(disclosure: InformationDisclosed, policy: Sequence[ReportedVerdict]) -> tuple[str, ...]:
    """An attribute in seven cells."""
    about = [verdict for verdict in policy if verdict.attribute == disclosure.attribute]
    closest = min(_parameters(about, "t-closeness", "t", "distance", "kl"), default=None)
    most = max(_parameters(about, "entropy-l-diversity", "l", "estimator", "plug-in"), default=None)
    return (
        disclosure.attribute,
        number(disclosure.largest_i1),
        "-" if closest is None else number(closest),
        number(disclosure.largest_i2),
        "-" if most is None else number(disclosure.uncertainty - log2(most)),
        number(disclosure.mean),
        number(disclosure.uncertainty),
    )


def _parameters(
    policy: Iterable[ReportedVerdict], model: str, name: str, option: str, value: str
) -> list[float]:
    """A parameter of the models of a policy that have a name, and an option."""
    alike = [each for each in policy if each.model == model]
    return [each.parameters[name] for each in alike if each.parameters.get(option) == value]


def _uses(evidence: Evidence) -> Iterator[Block]:
    """What can be measured of the use of a release from it alone."""
    search, loss = evidence.manifest.search, evidence.manifest.query_loss
    yield Heading("Other measures of use")
    items = [
        ("Average class size, records", number(evidence.average_size)),
        ("Discernibility: the sum of squared class sizes", count(evidence.discernibility)),
        (
            "What the class of a record tells about which record it is, on average",
            f"{bits(loss.average)} of {bits(loss.uncertainty)}",
        ),
    ]
    if search.value is not None and search.objective in OBJECTIVES:
        items.append((f"The objective, {search.objective}", number(search.value)))
    yield TermList(items)


MOST_NODES = 12
"""Nodes of a frontier that a table lists."""


def found_section(
    evidence: Evidence, pictures: Pictures, comparison: Comparison | str | None
) -> ReportSection:
    """The search in sentences, the frontier, the trials, and the comparison if there is one."""
    blocks: list[Block] = [" ".join(_search(evidence))]
    blocks += _frontier(evidence)
    blocks += pictures.lattice()
    blocks += _tried(evidence.manifest.search.tried)
    if isinstance(comparison, str):
        blocks.append(Note(f"Other recodings cannot be compared: {comparison}."))
    elif comparison is not None:
        blocks += _compared(comparison, pictures)
    return ReportSection("search", "How the recoding was found", blocks)


def _search(evidence: Evidence) -> Iterator[str]:
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
    yield Table(
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
    yield Table(caption, columns, rows, numeric=(2, 4))


def _compared(comparison: Comparison, pictures: Pictures) -> Iterator[Block]:
    """Recodings side by side, measured on the original table."""
    yield Heading("Other recodings under the same policy")
    yield Note(
        f"Measured on the original table of {plural(comparison.records, 'record')}, which the "
        "study names, and not on the release: each recoding was fitted on a random half and judged "
        "by the other half. Whoever has the release alone cannot count this again."
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
    yield Table(caption, columns, rows, numeric=(1, 2, 3))
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
