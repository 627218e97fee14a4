"""The risk of being found: the section about it, and initial and residual risk by adversary."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anonymizer.feedback.document import Block, ReportSection, Table
from anonymizer.feedback.words import count, listed, number, share
from anonymizer.privacy import (
    MODELS,
    AverageReidentificationRisk,
    HighestReidentificationRisk,
    IndividualRisk,
    KMap,
    LargestShare,
    PersonKAnonymity,
    PrivacyModel,
)
from anonymizer.release.manifest.parts import ReportedVerdict
from anonymizer.report.page.evidence import Evidence
from anonymizer.report.release import as_they_were


def risk_section(evidence: Evidence) -> ReportSection:
    """The risk of people to be found."""
    risk = evidence.risk
    rows = [
        (
            "Highest: of the person who is easiest to find",
            f"{share(risk.highest)}, 1 in {count(evidence.sizes[0])}",
        ),
        ("Average over all people", share(risk.average)),
        ("People who are alone in their class", count(evidence.uniques)),
        ("Share of people who are alone in their class", share(evidence.unique_share)),
        ("People in classes of the smallest size", count(evidence.least_protected)),
    ]
    rows = [(evidence.said(measure), value) for measure, value in rows]
    blocks: list[Block] = [
        (
            evidence.said(
                "The risk that somebody who knows "
                f"{listed(evidence.quasi_identifiers)} of a person, and that the person is in the "
                "table, picks that person's record among those that look alike."
            )
            + " It was computed from this release alone: the risk of several releases together "
            f"may be higher.{_of_several(evidence)}"
        ),
        Table("Risk of re-identification", ("Measure", "Value"), rows, numeric=(1,)),
        *_of_masked(evidence),
    ]
    return ReportSection("risk", "Risk of being found", blocks)


def _of_masked(evidence: Evidence) -> Iterator[str]:
    """What the risk is of where values were drawn at random."""
    if evidence.manifest.masking:
        yield (
            "Some values were drawn at random, so that records need not match the people "
            "they are of. The risk here is that of records as they stand: one that fits a "
            "person may be somebody else's."
        )


def _of_several(evidence: Evidence) -> str:
    """What the risk is of where people have several records."""
    if evidence.of_people:
        return ""
    why = "" if evidence.persons else " (see the warnings)"
    higher = "higher" if evidence.persons else "much higher"
    return f" It is that of records: some people have several{why}, and theirs may be {higher}."


@dataclass(frozen=True)
class ShownRisk:
    """A probability; ``counted``, or else the most that it can be by what the policy promises."""

    value: float
    counted: bool = True

    def __str__(self) -> str:
        whole = round(1 / self.value)
        exact = whole > 1 and abs(1 / self.value - whole) < WHOLE
        alike = f" (1 in {count(whole)})" if exact else ""
        return f"{'' if self.counted else 'at most '}{number(self.value)}{alike}"


WHOLE = 1e-9
"""How far one over a risk may lie from a whole number to be written as 1 in that many."""

STEWARDS = "The initial risk is known to the steward of the release alone."
UNMEASURED = (
    "The initial risk was not measured: that needs the study of the release, and the original "
    "table that it names."
)
OF_PRIVATE = "The initial risk is not reported, as the guarantee of the release requires."


def largest_risk(evidence: Evidence) -> ShownRisk | None:
    """The risk of the person who is easiest to find; None where nothing bounds that of a person.

    Of persons who have several records it is the larger one of a person of a class picked at
    random, a record of it picked at random, and one by several records that are known.
    """
    if not evidence.persons:
        return ShownRisk(evidence.risk.highest) if evidence.of_people else None
    verdicts = [each for each in evidence.manifest.privacy if _finds_persons(each)]
    if {PersonKAnonymity.name, LargestShare.name} - {each.model for each in verdicts}:
        return None
    counted = all(each.worst is not None for each in verdicts)
    return ShownRisk(max(map(_probability, verdicts)), counted)


def _finds_persons(verdict: ReportedVerdict) -> bool:
    """Whether it bounds how surely a person is found who has several records."""
    kind = MODELS[verdict.model]
    return kind is LargestShare or (kind.of_persons and "k" in verdict.parameters)


def _probability(verdict: ReportedVerdict) -> float:
    """The worst class of a model as a probability, or the one that the model allows."""
    kind = MODELS[verdict.model]
    limit = verdict.parameters[kind.bounded_by]
    found = float(limit if verdict.worst is None else verdict.worst)
    return 1 / found if kind.at_least else found


def initial_risk(evidence: Evidence) -> Iterator[Block]:
    """The risk of the original table: how surely people were found before."""
    before = _original(evidence)
    if not before:
        yield OF_PRIVATE if evidence.private else UNMEASURED if evidence.steward else STEWARDS
        return
    yield _table("Risk of the original table, by adversary", before)
    yield (
        "It was measured for this paper on the table that the study names, by the "
        f"quasi-identifiers as they were.{'' if evidence.persons else _of_several(evidence)}"
    )


def residual_risk(evidence: Evidence) -> Iterator[Block]:
    """The risk that is left, by adversary, next to what it was."""
    columns = _original(evidence) | {"Residual risk": _released(evidence)}
    yield _table("Risk that is left, by adversary", columns)
    yield (
        "A risk is the probability that a record is taken for that of the right person, by "
        f"somebody who knows {_known(evidence)}: of the person who is easiest "
        f"to find (largest), and on average over all. {_counted(evidence)} It is that of this "
        "release alone: several releases together may have a higher one."
    )
    yield from _of_others(evidence)
    yield from _of_masked(evidence)
    if evidence.manifest.household:
        yield (
            "Whoever knows all members of a household may find it with a higher probability. What "
            "the policy promises of households is with its models."
        )


def _known(evidence: Evidence) -> str:
    """What an adversary is taken to know of a person."""
    one = " of one record of theirs" if evidence.persons else ""
    return f"{listed(evidence.quasi_identifiers)}{one}"


def _of_others(evidence: Evidence) -> Iterator[str]:
    """What the risk does not count: what somebody may know as well."""
    names = as_they_were(evidence.manifest)
    more = ", or more records of theirs than the policy says," if evidence.persons else ""
    yield (
        f"Whoever knows another column of a person{more} may find a record with a higher "
        f"probability.{f' Released as they were: {listed(names)}.' if names else ''}"
    )


def _counted(evidence: Evidence) -> str:
    """Where the residual risk is from, and whose it is where people have several records."""
    if not evidence.persons:
        return f"It was counted again in the released table.{_of_several(evidence)}"
    return (
        "Some people have several records. The largest risk is that of a person, whether a person "
        "or a record of a class is picked, as it was when the release was made, or as the policy "
        "bounds it; an average cannot be higher."
    )


ADVERSARIES = (
    ("Prosecutor: knows that the person is in the table", "largest"),
    ("Journalist: does not know it, and looks in the population", "largest"),
    ("Marketer: wants as many records as possible", "average"),
    ("Any of them", "people alone in their class"),
)
"""Adversaries, and the measure of each. El Emam, Guide to the De-Identification (2013)."""


def _table(title: str, columns: Mapping[str, tuple[str, ...]]) -> Table:
    """Risks by adversary."""
    rows = [
        (who, measure, *(column[place] for column in columns.values()))
        for place, (who, measure) in enumerate(ADVERSARIES)
    ]
    return Table(title, ("Adversary", "Measure", *columns), rows)


def _original(evidence: Evidence) -> dict[str, tuple[str, ...]]:
    """The risks of the original table, in the order of the adversaries, where it was measured."""
    found = evidence.original
    if found is None:
        return {}
    persons, sizes = found.persons, found.reidentification.sizes
    if persons is not None:
        largest = max(1 / persons.k, persons.largest_share)
        average, alone = persons.average, persons.alone
    else:
        largest, average = 1 / int(sizes.min()), len(sizes) / int(sizes.sum())
        alone = int((sizes == 1).sum())
    bound = ShownRisk(largest, False)
    shown = (*map(str, (ShownRisk(largest), bound, ShownRisk(average))), count(alone))
    of_records = not (evidence.of_people or evidence.persons)
    return {"Initial risk": tuple(f"of records {each}" if of_records else each for each in shown)}


def _released(evidence: Evidence) -> tuple[str, ...]:
    """The risks of the release, in the order of the adversaries."""
    largest = largest_risk(evidence)
    average = largest and ShownRisk(largest.value, False)
    if evidence.of_people:
        average = ShownRisk(evidence.risk.average)
    unknown = "not bounded: some people have several records"
    if evidence.persons:
        unknown = "not bounded: the policy promises no number of persons in a class"
    sought = _in_population(evidence, KMap, HighestReidentificationRisk, IndividualRisk)
    if sought is None and largest is not None:
        sought = f"{ShownRisk(largest.value, False)}, as no population was given"
    matched = _in_population(evidence, AverageReidentificationRisk)
    return (
        str(largest or unknown),
        sought or unknown,
        matched or str(average or unknown),
        _alone(evidence, largest),
    )


def _alone(evidence: Evidence, largest: ShownRisk | None) -> str:
    """How many people are alone: of persons none where each class has several."""
    if evidence.of_people:
        return count(evidence.uniques)
    if not evidence.persons:
        return f"of records {count(evidence.uniques)}, of people not known"
    return "0" if largest is not None and largest.value < 1 else "not shown by the release"


def _in_population(evidence: Evidence, *kinds: type[PrivacyModel]) -> str | None:
    """The risk by a population that the policy is about; None where it is about none."""
    about = [
        each
        for each in evidence.manifest.privacy
        if MODELS[each.model] in kinds and each.parameters.get("population") is not None
    ]
    if not about:
        return None
    worst = max(about, key=_probability)
    population = worst.parameters["population"]
    bounded = isinstance(population, Mapping) and "margins" in population
    risk = ShownRisk(_probability(worst), worst.worst is not None and not bounded)
    of_records = "" if evidence.of_people or evidence.persons else "of records "
    by = "by sampling weights" if worst.by_weights else "in the population"
    return f"{of_records}{risk}, {by}"


def held_against(threshold: float, evidence: Evidence) -> Iterator[Block]:
    """The largest residual risk against a threshold, read strictly and rounded."""
    risk = largest_risk(evidence)
    if risk is None:
        yield (
            f"The threshold is {threshold}. Whether it is met cannot be said from this release: "
            "some people have several records, and the policy does not bound the risk of a person."
        )
        return
    is_ = "is" if risk.counted else "is by the policy"
    yield f"The threshold is {threshold}. The largest risk {is_} {risk}. {_met(risk, threshold)}"
    yield (
        "The threshold is held against the largest risk: that of the person who is easiest to find "
        f"for a prosecutor who knows {_known(evidence)}. Held against an average, or against a "
        "population, it promises less."
    )
    yield from _of_others(evidence)
    yield from _of_masked(evidence)


def _met(risk: ShownRisk, threshold: float) -> str:
    """Whether a risk is within a threshold, and by which reading."""
    if risk.value <= threshold:
        return "It does not exceed the threshold, without rounding."
    if not risk.counted:
        return (
            "That exceeds the threshold: the policy does not promise that it is met. The risk that "
            "was found may be lower, and its steward knows it."
        )
    if round(risk.value, 2) <= threshold:
        return (
            f"It exceeds the threshold. Rounded to two decimals it is {risk.value:.2f}, the "
            "customary reading: the threshold is met by that reading alone. Say in this paper "
            f"which reading is used. {least_people(threshold)} people in the smallest class would "
            "meet it without rounding."
        )
    return (
        f"It exceeds the threshold, rounded to two decimals as well ({risk.value:.2f}): the "
        "threshold is not met."
    )


def least_people(threshold: float) -> int:
    """The fewest people of a class whose risk does not exceed a threshold.

    >>> least_people(0.09), least_people(0.2)
    (12, 5)
    """
    least = int(1 / threshold)
    return least if 1 / least <= threshold else least + 1
