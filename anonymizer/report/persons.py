"""Reports of persons who have several records: how well classes of records hide them."""

from collections.abc import Iterator

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import people, plural
from anonymizer.risk.check import Check
from anonymizer.risk.person_audit import PersonAudit
from anonymizer.risk.persons import PersonRisk

OF_RECORDS = (
    "The policy is about persons, and the released table does not show whose its records are: all "
    "figures here count records. `anonymizer audit` measures persons, with the original table."
)


def smallest_class(check: Check) -> str:
    """Say how small classes are, by persons where some have several records."""
    classes = plural(check.classes, "equivalence class")
    if check.persons is None:
        records = plural(check.records, "record")
        return f"{records} in {classes}, the smallest of {check.k:,}: k = {check.k}."
    k = plural(check.k, "person")
    return (
        f"{plural(check.records, 'record')} of {plural(check.persons, 'person')} in {classes}, the "
        f"smallest of {k}: k = {k}. One person has up to {check.largest_share:.2%} of the records "
        "of a class."
    )


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
        [str(each.known), each.fewest, each.share_alone, each.share_below_k][: len(columns)]
        for each in risk.events
    ]
    title = "Who knows the classes of some records of a person, whichever tell most"
    yield Table(title, columns, rows, "s , .2%")
    if risk.unexamined is not None:
        yield (
            f"Not examined is who knows {risk.unexamined} or more of them: persons have too many "
            "choices of records."
        )


def audited_persons_report(found: PersonAudit) -> Iterator[Block]:
    """Linkage and inference of persons who have several records."""
    yield f"{people(found.risk.persons)} of the original have records in these classes."
    yield from persons_report(found.risk)
    for name, certain in found.certain.items():
        yield f"A value of {name} is known for sure of {people(certain)}."
