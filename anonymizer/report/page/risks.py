"""The risk of being found: the section about it, and the risk by adversary."""

from anonymizer.feedback.document import Block, ReportSection, Table
from anonymizer.feedback.words import count, listed, share
from anonymizer.report.page.evidence import Evidence


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
    ]
    if evidence.manifest.masking:
        blocks.append(
            "Some values were drawn at random, so that records need not match the people "
            "they are of. The risk here is that of records as they stand: one that fits a "
            "person may be somebody else's."
        )
    return ReportSection("risk", "Risk of being found", blocks)


def _of_several(evidence: Evidence) -> str:
    """What the risk is of where people have several records."""
    if evidence.of_people:
        return ""
    why = "" if evidence.persons else " (see the warnings)"
    higher = "higher" if evidence.persons else "much higher"
    return f" It is that of records: some people have several{why}, and theirs may be {higher}."
