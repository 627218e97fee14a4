"""Reports of how well classes hide persons: of several records, of households, special uniques."""

from collections.abc import Iterator

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import people, plural
from anonymizer.risk.assessment import Assessment
from anonymizer.risk.check import Check
from anonymizer.risk.person_audit import HouseholdAudit, PersonAudit
from anonymizer.risk.persons import PersonRisk
from anonymizer.risk.sample import HIGH, SampleRisk
from anonymizer.risk.special_uniques import SpecialUniques

OF_RECORDS = (
    "The policy is about persons, and the released table does not show whose its records are: all "
    "figures here count records. `anonymizer audit` measures persons, with the original table."
)


def smallest_class(check: Check) -> str:
    """Say how small classes are, by persons where some have several records."""
    classes = plural(check.classes, "equivalence class")
    if check.persons is None:
        records = plural(check.records, "record")
        smallest = f"{records} in {classes}, the smallest of {check.k:,}: k = {check.k}."
        return smallest + _fewest_people(check)
    k = plural(check.k, "person")
    return (
        f"{plural(check.records, 'record')} of {plural(check.persons, 'person')} in {classes}, the "
        f"smallest of {k}: k = {k}. One person has up to {check.largest_share:.2%} of the records "
        f"of a class.{_fewest_people(check)}"
    )


def _fewest_people(check: Check) -> str:
    if check.fewest_people is None:
        return ""
    fewest = people(check.fewest_people)
    return f" By their sampling weights the records of a class stand for at least {fewest}."


def classes_report(assessment: Assessment) -> Iterator[Block]:
    """Yield how small classes are, by persons or a sample's weights and households where known.

    And the special uniques, where these were looked for.
    """
    sizes, persons = assessment.reidentification.sizes, assessment.persons
    if persons is None:
        yield (
            f"{sizes.sum():,} records in {len(sizes):,} equivalence classes, the smallest of "
            f"{sizes.min():,}; records alone in theirs: {(sizes == 1).sum():,}."
        )
    else:
        yield (
            f"{sizes.sum():,} records of {people(persons.persons)} in "
            f"{plural(len(sizes), 'equivalence class')}."
        )
        yield from persons_report(persons)
    if assessment.sample is not None:
        yield from sample_report(assessment.sample)
    if assessment.special is not None:
        yield from special_report(assessment.special)


def special_report(found: SpecialUniques) -> Iterator[Block]:
    """Yield how many records few of their values set apart, and which attributes do."""
    yield (
        f"Special uniques (SUDA2): {plural(found.records, 'record')} alone in their values of up "
        f"to {plural(found.size, 'attribute')}. In a sample of {found.fraction:.4g} of the "
        f"population their DIS-SUDA scores are at most {found.highest:.4g}, and add up to "
        f"{found.expected:.4g}."
    )
    if not found.records:
        return
    sizes = [[size, number] for size, number in found.by_size.items() if number]
    yield Table("Minimal sets that set a record apart", ["attributes", "sets"], sizes, ", ,")
    shares = sorted(found.by_attribute.items(), key=lambda each: -each[1])
    rows = [[name, share] for name, share in shares]
    yield Table("Share of all scores that sets with it have", ["attribute", "share"], rows, "s .2%")
    sets = [[", ".join(each.attributes), each.records] for each in found.sets]
    yield Table("Sets that set most records apart", ["attributes", "records"], sets, "s ,")


def persons_report(risk: PersonRisk) -> Iterator[Block]:
    """Yield how well persons who have several records are hidden in their classes."""
    yield (
        f"The smallest class has {people(risk.k)}: k = {risk.k}. One person has up to "
        f"{risk.largest_share:.2%} of the records of a class, and {people(risk.alone)} "
        f"{'has' if risk.alone == 1 else 'have'} a class to themselves."
    )
    columns = ["records known", "fewest persons left", "persons found"]
    if risk.wanted is not None:
        columns.append(f"fewer than k = {risk.wanted} left")
    rows = [
        [each.known or "all", each.fewest, each.share_alone, each.share_below_k][: len(columns)]
        for each in (*risk.events, risk.composition)
        if each is not None
    ]
    title = "Who knows the classes of some records of a person, whichever tell most"
    yield Table(title, columns, rows, "s , .2%")
    if risk.unexamined is not None:
        yield (
            f"Not examined is who knows {risk.unexamined} or more of them: persons have too many "
            "choices of records."
        )


def sample_report(risk: SampleRisk) -> Iterator[Block]:
    """Yield how surely records of a sample are found, by their weights, and their households."""
    if risk.people is not None:
        yield (
            f"By their sampling weights the records stand for {risk.people:,.10g} people, those of "
            f"a class for {risk.fewest_people:,.10g} at least."
        )
    rows = [("the record", risk.of_record), ("anybody of its household", risk.of_household)]
    yield Table(
        "Chance that a record is found by who knows its class",
        ["found", "highest", "average", "expected records", f"records above {HIGH:g}"],
        [
            [who, found.highest, found.average, found.expected, found.above]
            for who, found in rows
            if found is not None
        ],
        "s .6g .6g .6g ,",
    )
    if risk.riskiest:
        yield Table(
            "Classes whose records are found most surely",
            ["class", "records", "people", "risk"],
            [[each.number, each.records, each.people, each.risk] for each in risk.riskiest],
            ", , ,.10g .6g",
        )
    if risk.households is not None:
        yield (
            f"Households alone with the classes of their members: {risk.households_alone:,} of "
            f"{risk.households:,}. Who knows all members of one finds their records, where it "
            "shows which belong together."
        )


def audited_households_report(found: HouseholdAudit) -> Iterator[Block]:
    """Yield how well households are hidden in the classes of a release."""
    yield (
        f"{plural(found.households, 'household')} of the original have records in these classes, "
        f"{found.alone:,} of them alone with the classes of their members. "
        f"Any record of one is found with a probability of up to {found.highest:.6g}."
    )


def audited_persons_report(found: PersonAudit) -> Iterator[Block]:
    """Linkage and inference of persons who have several records."""
    yield f"{people(found.risk.persons)} of the original have records in these classes."
    yield from persons_report(found.risk)
    for name, certain in found.certain.items():
        yield f"A value of {name} is known for sure of {people(certain)}."
