"""The policy of a release in sentences, and what it does not protect from."""

from collections.abc import Iterator, Mapping
from typing import Any

from anonymizer.feedback.words import listed, sentence, share
from anonymizer.privacy import MODELS, Wording
from anonymizer.release.manifest.figures import ReportedVerdict
from anonymizer.report.page.document import (
    Block,
    Heading,
    Paragraph,
    ReportSection,
    ReportTable,
    TermList,
)
from anonymizer.report.page.evidence import Evidence
from anonymizer.report.verdicts import against

Point = tuple[str, str]
"""What is left open: a topic, and sentences about it."""


def policy_section(evidence: Evidence) -> ReportSection:
    """Each model with what it promises and what was found, then what is left open."""
    models = evidence.manifest.privacy
    blocks: list[Block] = [
        ReportTable(
            evidence.said("What the policy promises every person in the table, and what was found"),
            ("Model", "Promise", "Found in this table"),
            [_row(evidence, verdict) for verdict in models],
        ),
        Paragraph(
            "A class is the group of all records that have the same released values of "
            f"{listed(evidence.quasi_identifiers)}. {_whose(evidence)}"
        ),
        *_against(evidence),
        Heading("What this does not protect from"),
        TermList([*open_points(evidence)]),
    ]
    return ReportSection("policy", "What the policy promises", blocks)


def _against(evidence: Evidence) -> Iterator[Block]:
    """Whom the policy holds against; differential privacy does not depend on what is known."""
    if not evidence.private:
        about = ", ".join(evidence.schema.sensitive)
        yield Paragraph(against(listed(evidence.quasi_identifiers), about))


def _whose(evidence: Evidence) -> str:
    """What a record stands for."""
    if evidence.of_people:
        return (
            "Each record counts as one person: where a person has several records, fewer people "
            "share a class than is said here."
        )
    return (
        "The conditions count records. Some people have several of them (see the warnings), so "
        "that fewer people than records share a class, perhaps only one: of people, nothing is "
        "promised."
    )


def _row(evidence: Evidence, verdict: ReportedVerdict) -> tuple[str, ...]:
    """A model in three cells."""
    wording = _wording(verdict)
    places = _places(evidence, verdict)
    name = verdict.model if verdict.attribute is None else f"{verdict.model}, {verdict.attribute}"
    cells = (sentence(each, places) for each in (wording.promise, wording.measured))
    return name, *map(evidence.said, cells)


def _wording(verdict: ReportedVerdict) -> Wording:
    """The sentences of a model; those of any other, which has none, are its condition."""
    model = MODELS[verdict.model]
    plain = f"{model.condition} holds for every class.".replace("{", "{{").replace("}", "}}")
    return model.wording_of(verdict.parameters) or Wording(plain, "{worst:number}.", "")


def _places(evidence: Evidence, verdict: ReportedVerdict) -> Mapping[str, Any]:
    """What the places of a sentence are filled with."""
    worst = float("nan") if verdict.worst is None else verdict.worst
    shared = listed(evidence.quasi_identifiers)
    return {
        **verdict.parameters,
        "worst": worst,
        "shared": shared,
        "attribute": verdict.attribute or "",
    }


def open_points(evidence: Evidence) -> Iterator[Point]:
    """What the policy leaves open here, the most direct way first."""
    yield from _columns(evidence)
    yield from _unprotected(evidence)
    yield from _missing(evidence)
    yield from _models(evidence)
    yield from _masked(evidence)
    yield from _knowledge(evidence)
    yield from _membership(evidence)
    yield from _method(evidence)


def _columns(evidence: Evidence) -> Iterator[Point]:
    """Columns that anybody may link."""
    if others := evidence.manifest.other_columns:
        yield (
            "Columns released as they were",
            f"Whoever knows a person's {listed(others, 'or')} can "
            "narrow down whose record it is. No condition above covers that.",
        )


def _unprotected(evidence: Evidence) -> Iterator[Point]:
    """Sensitive attributes that no model is about, with how sure a class makes of them."""
    about = {verdict.attribute for verdict in evidence.manifest.privacy}
    for each in evidence.disclosures:
        if each.attribute in evidence.schema.sensitive and each.attribute not in about:
            yield (
                "Classes of one value",
                evidence.said(
                    f"No condition is about “{each.attribute}”. In one class "
                    f"{share(each.likeliest)} of the people have the same value of it, so that "
                    "whoever finds the class knows it that surely."
                ),
            )


def _missing(evidence: Evidence) -> Iterator[Point]:
    """Sensitive values that are missing and count as nothing."""
    if gaps := evidence.counts.gaps:
        yield (
            "Missing values",
            f"What is promised of {listed(gaps)} is about people whose value is in the table. "
            "Whose value is missing is shown, and no condition bounds how many they are.",
        )


def _point(text: str) -> Point:
    """The topic and the sentences of a wording."""
    topic, _, said = text.partition(": ")
    return topic, said


def _models(evidence: Evidence) -> Iterator[Point]:
    """What each model leaves open, each once."""
    found = {
        _point(evidence.said(sentence(wording.leaves_open, _places(evidence, verdict)))): None
        for verdict in evidence.manifest.privacy
        if (wording := _wording(verdict)).leaves_open
    }
    yield from found


def _masked(evidence: Evidence) -> Iterator[Point]:
    """Values drawn at random."""
    masking = evidence.manifest.masking
    if not masking:
        return
    names = listed(masking["attributes"])
    yield (
        "Values drawn at random",
        f"What a record has for {names} need not be true of its person, "
        "and is often true all the same. Drawing anew from the same records, and comparing, would "
        "undo the protection.",
    )


def _knowledge(evidence: Evidence) -> Iterator[Point]:
    """Knowledge that the policy takes nobody to have."""
    if evidence.schema.sensitive:
        yield (
            "Other knowledge",
            "Whoever can rule out values for a person, or knows those of some people in the class, "
            "learns more.",
        )
        yield (
            "What holds of groups",
            "The table is meant to show how columns go together. What it "
            "shows of a group can be concluded of its members, also of those who are not in it.",
        )


def _membership(evidence: Evidence) -> Iterator[Point]:
    """Who is in the table, and in other tables."""
    names = {verdict.model for verdict in evidence.manifest.privacy}
    if "delta-presence" not in names and not evidence.private:
        yield (
            "Who is in the table",
            "Whether a person's record is in it is not hidden, where a class "
            "has all the people with its values.",
        )
    if not evidence.private:
        yield (
            "Several releases",
            "Another release about the same people, of other months or columns, "
            "can be linked with this one. Each may hold its policy, and both together not. "
            "The command anonymizer audit attacks releases together.",
        )


def _method(evidence: Evidence) -> Iterator[Point]:
    """What knowing how the recoding was chosen gives away."""
    search = evidence.manifest.search
    if evidence.schema.sensitive and not evidence.manifest.masking and search.proven:
        yield (
            "The choice of the recoding",
            "It is the best under this policy, and whoever knows that, "
            "and the original quasi-identifiers of everybody, may conclude why a finer one was not "
            "taken. The command anonymizer audit measures that, with the study.",
        )
