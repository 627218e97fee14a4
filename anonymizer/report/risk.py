"""Reports of risk: what a table and answers to queries tell, and what attacks on releases find."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.release.files import MANIFEST
from anonymizer.report.minimality import minimality_report
from anonymizer.report.persons import (
    OF_RECORDS,
    audited_households_report,
    audited_persons_report,
    classes_report,
    smallest_class,
)
from anonymizer.report.release import verdict_table, why_unexamined
from anonymizer.risk import (
    DISTINCT,
    METRICS,
    Assessment,
    Detected,
    InformationChain,
    Profile,
    RankedSubset,
    Ranking,
    Undeclared,
)
from anonymizer.risk.attacks import Guesses, Linkage
from anonymizer.risk.audit import Audit, ReleaseAudit
from anonymizer.risk.check import Check
from anonymizer.risk.file import FileRisk
from anonymizer.risk.intersection import Intersection, LinkedClasses
from anonymizer.risk.queries import QueriesLoss, Question

MOST_ROWS = 20
"""How many rows of a table are printed."""

NAMES = {
    "uncertainty": ("H(X) (bits)", "how uncertain X is to who does not know the class"),
    "mutual_information": ("mutual information, MI (bits)", "what is lost of H(X), on average"),
    "discrimination_rate": ("discrimination rate, DR", "the same, as a share of H(X)"),
    "conditional_privacy": ("conditional privacy, CP", "1 - 2^-MI"),
    "maximum_information_leakage": (
        "maximum information leakage, MIL = max I2 (bits)",
        "what is lost in the class that tells most",
    ),
    "i1_max": (
        "max I1, the t of t-closeness (bits)",
        "the farthest a class is from the whole table",
    ),
    "max_posterior": ("surest guess, max posterior", "chance of the easiest guess"),
    "entropy_l_diversity_risk": (
        "entropy l-diversity risk, ELD = 1 / l",
        "1 where a class has one value, or record, only",
    ),
    "itpr": ("ITPR", "1 where a class leaves nothing of H(X)"),
    "unscaled_itpr": ("ITPR, unscaled", "the same, whatever the number of classes"),
}

NOTHING = 5e-10
"""Bits, or shares, below are rounding."""


def risk_report(
    risk: FileRisk, written: Path | None = None, *, classes: bool = False
) -> Iterator[Block]:
    """Yield the metrics of re-identification and each sensitive attribute, and how to read them.

    Classes, where they are requested, go by number: their values would tell of records.
    """
    assessment = risk.assessment
    loss = assessment.query_loss
    yield from classes_report(assessment)
    if risk.hides_persons:
        yield OF_RECORDS
    yield (
        f"Query loss: a record's class costs its owner {loss.average:.4f} bits of "
        f"{loss.uncertainty:.4f} on average (standard deviation {loss.standard_deviation:.4f}), "
        f"{loss.maximum:.4f} at most."
    )
    profiles = {
        "re-identification": assessment.reidentification,
        **{f"inference of {name}": found for name, found in assessment.inference.items()},
    }
    yield _metrics(profiles)
    counted = "records" if assessment.persons is None else "persons"
    for name, about in assessment.inference.items():
        yield (
            f"{name}: who guesses the likeliest value of the class is right for {about.guessed:.2%}"
            f" of the {counted}, who guesses that of the whole table for "
            f"{about.guessed_without:.2%}; in the surest class for {about.posterior.max():.2%}."
        )
    for name, about in assessment.joined.items():
        yield (
            f"{name}: numbers of persons join their rows. Who knows all of a person's, and guesses "
            "by the persons who have equally many in each class, is right for "
            f"{about.guessed:.2%} of the records; in the surest of these groups for "
            f"{about.posterior.max():.2%}."
        )
    yield from _caution(assessment)
    for what, profile in profiles.items() if classes else ():
        yield _classes(what, profile)
    if risk.ranking:
        yield from ranking_report(risk.ranking)
        if assessment.persons is not None:
            yield "Subsets of attributes are ranked by what they tell of records, not of persons."
    if risk.detected is not None:
        yield from detected_report(risk.detected, risk.detected_size)
    yield from undeclared_report(risk.undeclared)
    if written:
        yield f"In detail in {written}, which tells what an attacker would learn."


def _classes(what: str, profile: Profile) -> Table:
    """The classes whose likeliest value is surest, the largest of these first."""
    order = np.lexsort([-profile.sizes, -profile.posterior])[:MOST_ROWS]
    informations = [profile.i1, profile.i2, profile.i3, profile.i4]
    measured = [profile.posterior, profile.uncertainties, *informations, profile.itpr_terms]
    rows = [
        [f"{number + 1}", f"{profile.sizes[number]:,}", *map(_number, row)]
        for number, row in zip(order, np.column_stack(measured)[order], strict=True)
    ]
    more = f", {MOST_ROWS} of {len(profile.sizes):,}" if len(profile.sizes) > MOST_ROWS else ""
    names = ["surest guess", "H(X|y)", "I1", "I2", "I3", "I4", "ITPR term"]
    title = f"Classes that tell most{more}: {what}; H and I in bits"
    return Table(title, ["class", "records", *names], rows)


def _metrics(profiles: Mapping[str, Profile]) -> Table:
    found = [profile.measures for profile in profiles.values()]
    rows = [
        [title, *(_number(measures[name]) for measures in found), meaning]
        for name, (title, meaning) in NAMES.items()
    ]
    title = "Risk: what a record's class tells about X, whose record it is or which value it has"
    return Table(title, ["", *profiles, "says"], rows)


def _caution(assessment: Assessment) -> list[str]:
    """What the metrics do not tell of this table."""
    measures = {name: found.measures for name, found in assessment.inference.items()}
    certain = [name for name, found in measures.items() if found.degenerate]
    silent = {
        name: found.max_posterior
        for name, found in measures.items()
        if found.itpr < NOTHING and name not in certain
    }
    lines = []
    if certain:
        lines.append(
            f"All records have the same value of {', '.join(certain)}: nothing is left to be "
            "learnt, and DR and ITPR are 0 by convention."
        )
    if silent:
        guesses = ", ".join(f"{name} {posterior:.4g}" for name, posterior in silent.items())
        lines.append(
            "Where every class is like the whole table ITPR, DR, MI and CP are 0, and do not tell "
            f"how guessable a value is; ELD and the surest guess do: {guesses}."
        )
    lines.append(
        "ITPR weighs a class by its size and by how many there are: it may fall where classes are "
        "split. The other metrics never do."
    )
    return lines


def _number(value: float) -> str:
    """Six digits; what is only rounding is 0."""
    return f"{value if abs(value) > NOTHING else 0.0:.6g}"


USUAL = {"mutual_information": "MI (bits)", "discrimination_rate": "DR", "itpr": "ITPR"}
"""Measures that every table of subsets shows."""

CAUTION = "ITPR may fall when an attribute joins others."


def ranking_report(
    ranking: Ranking, metric: str = METRICS[0], shown: int = MOST_ROWS
) -> Iterator[Block]:
    """Yield the riskiest subsets about each attribute at risk, and what each adds to the others."""
    yield (
        f"{len(ranking.subsets):,} subsets of up to {plural(ranking.size, 'quasi-identifier')} of "
        f"{plural(ranking.records, 'record')}, by {metric.replace('_', ' ')}. {CAUTION}"
    )
    for about in (None, *ranking.sensitive):
        subsets = ranking.by(metric, about)
        yield _subsets(subsets[:shown], metric, about)
        yield from _more(len(subsets) - shown)
        chain = ranking.reidentification if about is None else ranking.inference.get(about)
        if chain:
            yield _chain(chain, about, shown)
            yield from _more(len(chain.links) - shown)


def detected_report(
    detected: Sequence[Detected], size: int, shown: int = MOST_ROWS
) -> Iterator[Block]:
    """Yield the minimal sets of up to so many columns that distinguish most records."""
    sets = f"up to {plural(size, 'column')}"
    most = f"{DISTINCT:.0%} of the records apart"
    if not detected:
        yield f"No set of {sets} tells {most}."
        return
    columns = ["columns", "distinction", "separation", "records alone"]
    rows = [
        [", ".join(one.names), one.distinction, one.separation, one.share_alone]
        for one in detected[:shown]
    ]
    title = f"Minimal sets of {sets} that tell {most}"
    yield Table(title, columns, rows, "s .4f .6f .2%")
    yield from _more(len(detected) - shown)


def undeclared_report(found: Undeclared, shown: int = MOST_ROWS) -> Iterator[Block]:
    """Yield a warning of each column that nobody declared but that identifies."""
    if found.flagged:
        rows = [[one.name, one.kind or "", one.reason] for one in found.flagged[:shown]]
        yield Table("WARNING: not declared, but identifying", ["column", "as", "why"], rows)
        yield from _more(len(found.flagged) - shown)
    elif found.attributes:
        yield "No column without a role identifies."
    if found.skipped:
        names = ", ".join(found.skipped)
        yield f"Not counted, as their values cannot be distinguished: {names}"


def _subsets(subsets: Iterable[RankedSubset], metric: str, about: str | None) -> Table:
    usual = USUAL if metric in USUAL else {metric: metric.replace("_", " "), **USUAL}
    known, forms = (["records alone", "k"], "s ,") if about is None else (["surest guess"], ".4f")
    rows = []
    for subset in subsets:
        found = subset.about(about)
        alone = f"{subset.alone:,} ({subset.share_alone:.2%})"
        cells = [alone, subset.k] if about is None else [found.max_posterior]
        rows.append([subset.names, subset.classes, *cells, *(found[name] for name in usual)])
    columns = ["attributes", "classes", *known, *usual.values()]
    return Table(_title(about), columns, rows, f"s , {forms} .6f")


def _chain(chain: InformationChain, about: str | None, shown: int) -> Table:
    """The greedy order, with what each attribute reveals alone and adds to the others."""
    rows = [
        [link.name, link.alone, link.adds, link.total, link.adds_to_others]
        for link in chain.links[:shown]
    ]
    title = f"{_title(about)}: {chain.total:.6f} bits by all together"
    columns = ["attribute", "alone", "adds to those above", "with those", "adds to all others"]
    return Table(title, columns, rows, "s .6f")


def _title(about: str | None) -> str:
    return "Re-identification" if about is None else f"Inference of {about}"


def _more(rest: int) -> Iterator[Block]:
    if rest > 0:
        yield f"... {rest:,} more; --json has all"


MEANINGS = {
    "distinct_l": ("distinct l-diversity: l", "every class has at least l values"),
    "entropy_l": ("entropy l-diversity: l", "as varied as l values of equal share"),
    "t_kl": ("t-closeness, kl: t (bits)", "bits that a class tells about the value"),
    "t_equal": (
        "t-closeness, equal: t",
        "share of a class to change until it is like the table",
    ),
    "t_ordered": ("t-closeness, ordered: t", "the same, by how far values are apart"),
    "basic_beta": ("basic beta-likeness: beta", "a value is at most 1 + beta times likelier"),
    "enhanced_beta": ("enhanced beta-likeness: beta", "the same, stricter for frequent values"),
    "delta_disclosure": (
        "delta-disclosure: delta (bits)",
        "no value is 2^delta times likelier or less likely; inf: one is absent from a class",
    ),
    "alpha": ("alpha-k-anonymity: alpha", "chance of the surest guess of a value"),
    "sample_uniqueness": ("records alone in their class", "share of all records"),
    "prosecutor_highest": ("highest risk, prosecutor", "1 / records of the smallest class"),
    "prosecutor_average": ("average risk, prosecutor", "classes / records"),
    "journalist_highest": ("highest risk, journalist", "the same among the population's people"),
    "journalist_average": ("average risk, journalist", "the same, on average"),
    "marketer": ("marketer risk", "share of the records that are found by chance"),
}
"""What each figure of a check is, and what it says."""

OF_PERSONS = {
    "sample_uniqueness": ("persons alone in a class", "share of all persons"),
    "prosecutor_highest": ("highest risk, prosecutor", "largest share of a class that is one's"),
    "prosecutor_average": ("average risk, prosecutor", "over persons and their classes"),
}
"""What those are that differ where persons have several records."""


def check_report(check: Check) -> Iterator[Block]:
    """Yield what a table satisfies as it stands, and how it does under a policy."""
    yield smallest_class(check)
    known = ", ".join(check.quasi_identifiers)
    yield f"A class is all records that are alike in what others may know: {known}."
    columns = ["figure", "value", "says"]
    for name, found in check.sensitive.items():
        title = f"The strictest that holds about {name} in every class"
        yield Table(title, columns, _explained(found), "s .6g s")
    title = "Risk that the record of a person who is known to be in the table is found"
    others = {} if check.persons is None else OF_PERSONS
    yield Table(title, columns, _explained(check.risk, MEANINGS | others), "s .6g s")
    if check.privacy:
        yield verdict_table(check.privacy, records=check.violating_records)
    if check.unexamined:
        names = ", ".join(dict.fromkeys(model.name for model in check.unexamined))
        yield f"Not examined: {names}. {why_unexamined(check.unexamined, OF_RECORDS)}"
    elif not check.privacy:
        yield "No policy was given: --require, or a study, says what has to hold."


def _explained(
    figures: Mapping[str, float], meanings: Mapping[str, tuple[str, str]] = MEANINGS
) -> list[list[object]]:
    return [[meanings[name][0], value, meanings[name][1]] for name, value in figures.items()]


LOSSES = [
    "query",
    "answers",
    "average loss",
    "standard deviation",
    "largest loss",
    "leaves",
    "smallest loss",
    "leaves",
]
LOSS_FORMS = "s , .4f .4f .4f , .4f ,"
ROUNDED = 5e-5
"""Bits below are 0 with four digits."""


def queries_report(found: QueriesLoss, picture: Path | None = None) -> Iterator[Block]:
    """Yield the loss of each query and of all together; no value of a record."""
    alternatives = (
        f"the values of {', '.join(found.about)}" if found.about else "which record is theirs"
    )
    yield (
        f"{plural(found.records, 'record')}. Uncertain about a person: {alternatives}, "
        f"{found.uncertainty:.4f} bits before any answer."
    )
    several = len(found.questions) > 1
    rows = [_loss(question) for question in found.questions]
    rows += [_loss(found.jointly)] if several else []
    yield Table("Loss of privacy by the answer, in bits", LOSSES, rows, LOSS_FORMS)
    yield from _readings(found)
    if picture:
        yield f"Drawn in {picture}."


def _loss(question: Question) -> list[object]:
    loss = question.loss
    extremes = [_zero(loss.maximum), question.least, _zero(loss.minimum), question.most]
    figures = [loss.average, loss.standard_deviation, *extremes]
    return [question.text, question.answers, *figures]


def _zero(value: float) -> float:
    return value if abs(value) > ROUNDED else 0.0


def _readings(found: QueriesLoss) -> Iterator[str]:
    """How to read the losses of this table."""
    worst = found.jointly
    left = f"{plural(worst.least, 'record')} {'is' if worst.least == 1 else 'are'} left"
    yield "Leaves: how many records the answer fits. " + (
        f"The average of {worst.loss.average:.4f} bits hides the largest loss of "
        f"{worst.loss.maximum:.4f}, after which {left}."
        if worst.loss.maximum - worst.loss.average > ROUNDED
        else f"Every answer costs the same, and at least {left}."
    )
    if len(found.questions) > 1:
        yield _jointly(found)
    gaining = [q for q in (*found.questions, found.jointly) if q.gaining]
    if gaining:
        most = max(gaining, key=lambda question: question.gaining)
        yield (
            "A negative loss: the answer excludes what was likely, and what is left is spread more "
            "evenly. It then takes more questions than before to find the truth. Such answers come "
            f"with a probability of up to {most.gaining:.4f} ({most.text}). They still disclose "
            "that the likely is not the case."
        )
    for note in found.notes:
        yield f"Note: {note}."


def _jointly(found: QueriesLoss) -> str:
    """All together compared with the sum, by Eq. 5, which is about functions of the uncertain."""
    average, most = found.jointly.loss.average, found.sum_of_averages
    if average <= most + ROUNDED:
        return (
            f"All together cost {average:.4f} bits on average, no more than the sum of the "
            f"averages, {most:.4f}. Their largest loss may exceed the sum of the largest losses."
        )
    return (
        f"All together cost {average:.4f} bits on average, more than the sum of the averages, "
        f"{most:.4f}: answers that are no function of {', '.join(found.about)} may tell more "
        "together."
    )


MOST_FIELDS = 4
"""Fields of a manifest that are named."""


def audit_report(audit: Audit) -> Iterator[Block]:
    """Yield every attack on every release and on all together, and whether the policy holds."""
    for release in audit.releases:
        yield from _audited(release)
    if audit.intersection is not None:
        yield from _intersection(audit.intersection, audit.releases)
    yield from _conclusion(audit)


def _conclusion(audit: Audit) -> Iterator[str]:
    """Whether the policy holds, against whom, and what is not known."""
    if not audit.holds:
        yield "The policy does NOT hold."
        return
    if audit.hidden:
        yield f"Not examined is whether the whole policy holds: {'; '.join(audit.hidden)}."
        if audit.figures:
            yield f"It does NOT hold against {_reader(audit.figures)}"
        return
    where = "in every release" + (" and in their intersection" if audit.intersection else "")
    who = "somebody who knows the study and simulates its search"
    if audit.repeated:
        yield (
            "It is a policy about records: not examined is what is disclosed of people who have "
            f"several of them, by {', '.join(map(repr, audit.repeated))}; --person examines it."
        )
    if audit.figures:
        yield f"The policy holds {where}, but does NOT hold against {_reader(audit.figures)}"
    if audit.beyond:
        yield (
            f"The policy holds {where}, but does NOT hold against {who}: what he can infer "
            f"about {plural(audit.beyond, 'record')} is beyond it."
        )
    elif audit.unexamined:
        if not audit.figures:
            yield f"The policy holds {where} against readers of what is released."
        yield f"Not examined is what {who} can infer: {'; '.join(audit.unexamined)}."
    elif not audit.figures:
        yield f"The policy holds {where}, also against {who}."


def _reader(figures: Sequence[str]) -> str:
    """Who reads a manifest that has figures of the raw table, and how that is mended."""
    shown = ", ".join([*figures[:MOST_FIELDS], *(["..."] if len(figures) > MOST_FIELDS else [])])
    return (
        f"somebody who reads {plural(len(figures), 'figure')} of the original table in {MANIFEST} "
        f"({shown}): with a register of quasi-identifiers they tell values of people. Make the "
        "release again: these figures then go to its steward's file."
    )


def _audited(release: ReleaseAudit) -> Iterator[Block]:
    yield (
        f"{release.release}: {release.records:,} records in {release.classes:,} equivalence "
        f"classes; {plural(release.people, 'record')} of the original fit them."
    )
    if release.random:
        yield (
            "Values were drawn at random: a person is found by what was drawn for them. Who knows "
            "true values and the channel may infer more of a group: see `anonymizer estimate`."
        )
    if release.privacy:
        yield verdict_table(release.privacy)
    if release.persons is None:
        yield _linkage(release.linkage)
    else:
        yield from audited_persons_report(release.persons)
    if release.households is not None:
        yield from audited_households_report(release.households)
    if release.inference:
        tried = {name: f"{right:,} of {of:,}" for name, (right, of) in release.guessed.items()}
        yield _guesses(release.inference, tried)
    yield from minimality_report(release.minimality)
    if release.downcoding is not None:
        found = release.downcoding
        yield (
            f"Downcoding: of {found.generalized:,} generalized numbers {found.alike:,} at least "
            f"are one of their class: no cut could divide it into classes of {found.k:,}."
        )
    loss = release.query_loss
    yield (
        f"As an answer to whose record is where it costs {loss.average:.6f} bits on average, at "
        f"the most {loss.maximum:.6f} of {loss.uncertainty:.6f}."
    )
    levels = [
        [name, found.level, found.groups, found.homogeneous_records, found.max_posterior]
        for name, similar in release.similarity.items()
        for found in similar
    ]
    if levels:
        columns = ["about", "level", "groups", "records known for sure", "max posterior"]
        yield Table("Similarity: alike values as one", columns, levels, "s s s , .4f")


def _linkage(linkage: Linkage) -> Table:
    attackers = {"prosecutor": linkage.prosecutor, "journalist": linkage.journalist}
    rows: list[list[object]] = [
        [name, success.highest, success.average, success.expected, success.certain]
        for name, success in attackers.items()
        if success is not None
    ]
    rows.append(["marketer", "", linkage.marketer, "", ""])
    columns = ["attacker", "highest", "average", "records on average", "records for sure"]
    title = "Linkage with the original quasi-identifiers"
    return Table(title, columns, rows, "s .4f .4% ,.1f ,")


def _guesses(found: Mapping[str, Guesses], tried: Mapping[str, str]) -> Table:
    rows = []
    for name, each in found.items():
        gain = f"{each.max_gain:.4g} times"
        skewed = f"{each.skewed_records:,} ({each.skew:g} times)"
        guesses = [each.accuracy, each.baseline, tried.get(name)]
        rows.append([name, each.homogeneous_records, each.max_posterior, gain, skewed, *guesses])
    title = "Inference: homogeneity, skewness, Bayes-optimal guesses"
    known = ["known for sure", "max posterior", "likelier by", "records skewed"]
    columns = ["about", *known, "guessed right", "without", "tried"]
    return Table(title, columns, rows, "s , .4f s s .2% .2% s")


def _intersection(found: Intersection, releases: Sequence[ReleaseAudit]) -> Iterator[Block]:
    if not found.membership_known:
        reach = f"{found.records_at_least:,} to {found.records_at_most:,}"
        yield (
            "Intersection: an original holds more people than its release has records, so that it "
            f"is not known which of them are in all ({reach}), and the policy cannot be proven; "
            "give each release its own table with --against and --identifier."
        )
        return
    if found.in_all is None:
        yield "Intersection: nobody is in all releases."
    else:
        yield from _linked("in all releases", found.in_all)
        yield from _attacks(found, releases)
    if found.in_some is not None:
        yield from _linked("in some releases only", found.in_some)


def _linked(who: str, linked: LinkedClasses) -> Iterator[Block]:
    same = "".join(
        f", {number:,} known for sure about {name}"
        for name, number in linked.homogeneous_records.items()
    )
    yield (
        f"Intersection, {plural(linked.records, 'record')} {who}: in {linked.classes:,} classes; "
        f"{linked.singled_out:,} singled out{same}; the policy breaks for "
        f"{linked.failing_records:,}."
    )
    yield verdict_table(linked.privacy, f"Policy of all releases, held against records {who}")


def _attacks(found: Intersection, releases: Sequence[ReleaseAudit]) -> Iterator[Block]:
    if found.linkage is not None:
        yield _linkage(found.linkage)
    if found.inference:
        yield _guesses(found.inference, {})
    rows = [
        [name, left.fewest, left.one, None if left.l is None else left.fewer]
        for name, left in found.candidates.items()
    ]
    if rows:
        columns = ["about", "fewest values left", "left with one", "left with fewer than l"]
        yield Table("Composition, records not linked", columns, rows, "s s ,")
    together = found.query_loss.together
    if together is not None:
        names = [*(str(release.release) for release in releases), "together"]
        losses = zip(names, [*found.query_loss.releases, together], strict=True)
        bits = [
            [name, loss.average, loss.standard_deviation, loss.maximum] for name, loss in losses
        ]
        columns = ["release", "average", "standard deviation", "maximum"]
        title = "Query loss of those in all releases, in bits"
        yield Table(title, columns, bits, "s .6f")
