"""What a release answers of the questions of reviewers: identifiers, techniques, WP216, utility.

Each function answers a field of a paper by blocks, from what is known of a release. A sentence
never claims more than was counted or proven: what is left is the steward's to write.
"""

from collections.abc import Iterator
from dataclasses import replace

from anonymizer.feedback.document import Block, Heading, Points, Table, TermList
from anonymizer.feedback.words import bits, count, listed, plural, share
from anonymizer.report.console import texts_in
from anonymizer.report.page.changes import (
    changes_section,
    found_section,
    how_changed,
    kept_section,
    records_of,
)
from anonymizer.report.page.evidence import Evidence, Pictures
from anonymizer.report.page.policy import (
    against_whom,
    facts,
    open_points,
    policy_section,
    promise_row,
    verify_section,
    warnings_section,
)
from anonymizer.report.page.risks import largest_risk
from anonymizer.report.release import as_they_were, joined_releases, moved_dates
from anonymizer.report.risk import audit_report


def described(evidence: Evidence) -> Iterator[Block]:
    """What was released, of which roles."""
    yield TermList([*facts(evidence)])


def size(evidence: Evidence) -> Iterator[Block]:
    """How many records there are, and how many were left out."""
    yield from records_of(evidence)
    yield (
        f"They are in {plural(len(evidence.sizes), 'class')} of records with the same released "
        f"values of {listed(evidence.quasi_identifiers)}."
    )


def subjects(evidence: Evidence) -> Iterator[Block]:
    """Whom records are about, and how many each person has."""
    manifest = evidence.manifest
    if evidence.persons:
        shown = (
            "The release does not show which records are of one person."
            if evidence.hides_persons
            else f"{manifest.person_numbers} joins the records of a person in the release."
        )
        yield (
            f"A person may have several records. {listed(manifest.person)} tells in the original "
            f"whose each is. {shown}"
        )
    elif evidence.of_people:
        yield "Each record counts as one person; none is known to have several."
    else:
        yield "Records are counted. Some people have several of them, as the warnings say."
    if manifest.household:
        yield (
            f"People live in households, which {listed(manifest.household)} tells in the original."
        )
    if manifest.weight is not None:
        yield f"The table is a sample: {manifest.weight} tells how many people a record stands for."


def identifiers(evidence: Evidence) -> Iterator[Block]:
    """Every column: what it is to an attacker, and what was done to it."""
    yield Table(
        "Variables, and the technique that was applied to each",
        ("Variable", "Kind", "Technique"),
        [*_variables(evidence)],
    )


LEFT_OUT = "removed: the release has no such column"


def _variables(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    manifest = evidence.manifest
    roles = manifest.file[1]
    for name in _identifiers(evidence):
        yield name, "identifier", _removed(evidence, name)
    for name in evidence.quasi_identifiers:
        changed = how_changed(evidence, name, manifest.recoding[name])
        technique = TECHNIQUES.get(changed, f"generalization: {changed}")
        yield name, "indirect identifier (quasi-identifier)", technique
    for name in roles.sensitive:
        yield name, "sensitive attribute", "retained: as it was"
    others = [*as_they_were(manifest), *evidence.schema.targets]
    for name in dict.fromkeys(others):
        if name not in roles.sensitive and name not in evidence.quasi_identifiers:
            yield name, "no identifier by declaration", "retained: as it was"
    if manifest.shift is not None:
        for name in manifest.shift.columns:
            days = plural(manifest.shift.days, "day")
            yield name, "dates of a person", f"offset: moved by up to {days}, by person"


def _identifiers(evidence: Evidence) -> list[str]:
    """The identifiers of the original, with those that the policy needs."""
    manifest = evidence.manifest
    return [*dict.fromkeys([*manifest.file[1].identifiers, *manifest.withheld])]


TECHNIQUES = {
    "as it was": "retained: as it was",
    "drawn at random": "randomization: drawn at random",
    "suppressed: every record has *": "suppression: every record has *",
}
"""The technique of a change that is no generalization."""


def _removed(evidence: Evidence, name: str) -> str:
    """What became of an identifier: some are released in another form."""
    manifest = evidence.manifest
    if name == manifest.weight and manifest.released_weight is not None:
        return "aggregation: the mean of each class"
    if name in manifest.person and manifest.person_numbers is not None:
        kind = "a random number" if manifest.person_key is None else "a keyed pseudonym"
        return f"recoding: {kind} for each person, in {manifest.person_numbers}"
    return LEFT_OUT


def techniques(evidence: Evidence) -> Iterator[Block]:
    """What was done to the data, in detail."""
    yield from changes_section(evidence, Pictures(evidence, None)).blocks


def policy(evidence: Evidence) -> Iterator[Block]:
    """Each privacy model, what it promises and what was found."""
    promised, classes, *_ = policy_section(evidence).blocks
    yield from (promised, classes)


def adversaries(evidence: Evidence) -> Iterator[Block]:
    """Whom the policy holds against, and what it takes them to know."""
    if evidence.private:
        yield (
            "The guarantee of differential privacy does not depend on what an adversary knows. "
            "Its parameters are with the policy."
        )
    yield from against_whom(evidence)
    yield (
        "The prosecutor knows that a person is in the table, the journalist does not and looks "
        "in the population, the marketer wants as many records as possible (El Emam, 2013)."
    )


def left_open(evidence: Evidence) -> Iterator[Block]:
    """What an attacker may do that the policy does not cover."""
    yield TermList([*open_points(evidence)])


def warned(evidence: Evidence) -> Iterator[Block]:
    """What the release is weak in."""
    given = [each for each in warnings_section(evidence).blocks if isinstance(each, Points)]
    yield given[0] if given else "The release has no warnings."


def utility(evidence: Evidence) -> Iterator[Block]:
    """Information before and after, and other measures of use."""
    yield from kept_section(evidence, Pictures(evidence, None)).blocks


def search(evidence: Evidence) -> Iterator[Block]:
    """How the recoding was found, and whether a better one of its kind can exist."""
    yield from found_section(evidence, Pictures(evidence, None), None).blocks


def verified(evidence: Evidence) -> Iterator[Block]:
    """How the release was verified, and how a reviewer does it again."""
    yield from verify_section(evidence).blocks


def software(evidence: Evidence) -> Iterator[Block]:
    """What made the release."""
    versions = evidence.manifest.versions
    yield f"The release was made by anonymizer {versions.anonymizer} on Python {versions.python}."


def others(evidence: Evidence) -> Iterator[Block]:
    """Columns that were not anonymised."""
    names = as_they_were(evidence.manifest)
    if not names:
        yield "No column without a role was released."
        return
    yield (
        f"Released as they were, without a role: {listed(names)}. Whoever knows such a value of a "
        "person may link by it. No condition of the policy covers that."
    )


def minimised(evidence: Evidence) -> Iterator[Block]:
    """What was left out and what is coarser than it was."""
    columns = evidence.manifest.file[0].columns
    left = [name for name in _identifiers(evidence) if name not in columns]
    yield f"The release leaves out {listed(left or ['no column'])}. It has {listed(columns)}."


def noise(evidence: Evidence) -> Iterator[Block]:
    """Whether values, dates or records were drawn at random."""
    masking, shift = evidence.manifest.masking, evidence.manifest.shift
    if masking:
        yield (
            f"Values of {listed(masking['attributes'])} were drawn at random "
            f"({masking['method']}); what the techniques changed has the details."
        )
    if shift is not None:
        yield moved_dates(shift)
    if evidence.private:
        yield "Records were drawn at random, as differential privacy needs."
    elif not masking and shift is None:
        yield "No noise was added: no value was drawn at random."


def queries(evidence: Evidence) -> Iterator[Block]:
    """That a release answers no queries."""
    yield "The release is a table, and answers no queries."


def pseudonyms(evidence: Evidence) -> Iterator[Block]:
    """Whether the release has codes of persons."""
    manifest = evidence.manifest
    if manifest.person_key is not None:
        yield joined_releases(manifest.person_numbers)
    elif manifest.person_numbers is not None:
        yield (
            f"{manifest.person_numbers} has a number for each person. The numbers were drawn at "
            "random and follow from nothing in the original."
        )
    else:
        yield "No code of persons was made for the release."


def singling_out(evidence: Evidence) -> Iterator[Block]:
    """Facts about the first question of WP216, which k-anonymity alone does not answer."""
    risk = largest_risk(evidence)
    findings = []
    if evidence.of_people and evidence.uniques:
        findings.append(
            f"Yes: {plural(evidence.uniques, 'record')} "
            f"{'is' if evidence.uniques == 1 else 'are'} alone with the released values of "
            f"{listed(evidence.quasi_identifiers)}."
        )
    elif risk is not None and risk.value < 1:
        findings.append(
            f"The released values of {listed(evidence.quasi_identifiers)} alone single nobody "
            f"out: the largest probability is {risk}."
        )
    else:
        findings.append(
            "Whether the released values of a class single a person out is not bounded: some "
            "people have several records."
        )
    if evidence.private:
        findings.append("Differential privacy bounds what the record of one person changes.")
    else:
        findings.append(
            "That does not answer the question by no. k-anonymity does not prevent that released "
            "values, with other knowledge, single out one record (Cohen and Nissim, PNAS 117, "
            "2020)."
        )
    if names := as_they_were(evidence.manifest):
        findings.append(f"Columns released as they were may single people out: {listed(names)}.")
    yield Points(findings)


def linkability(evidence: Evidence) -> Iterator[Block]:
    """Facts about the second question of WP216."""
    manifest = evidence.manifest
    findings = []
    if manifest.person_numbers is not None:
        findings.append(
            f"Yes, within the release: {manifest.person_numbers} joins the records of a person."
        )
    elif evidence.of_people:
        findings.append("Each record was taken for one person: none is known to have several.")
    else:
        findings.append(
            "People may have several records. The release has no number that joins them; whether "
            "they can be joined by their values was not measured."
        )
    if manifest.person_key is not None:
        findings.append(joined_releases(manifest.person_numbers))
    risk = largest_risk(evidence)
    if risk is not None:
        findings.append(
            f"With another table that has {listed(evidence.quasi_identifiers)}, a record can be "
            f"linked to its class. The record of a given person is right with a probability of "
            f"{risk} at the largest."
        )
    if not evidence.private:
        findings.append(
            "Other releases about the same people were not looked at. The command anonymizer audit "
            "attacks releases together."
        )
    yield Points(findings)


def inference(evidence: Evidence) -> Iterator[Block]:
    """Facts about the third question of WP216, by sensitive attribute."""
    sensitive = evidence.schema.sensitive
    if not sensitive:
        yield (
            "No column was declared sensitive, and no condition bounds what can be deduced of any."
        )
        return
    yield Points([_deduced(evidence, name) for name in sensitive])
    about = [each for each in evidence.manifest.privacy if each.attribute is not None]
    if about:
        yield Table(
            "What the policy promises of what can be deduced",
            ("Model", "Promise", "Found in this table"),
            [promise_row(evidence, each) for each in about],
        )
    yield (
        "What can be deduced from knowledge that the policy does not take an attacker to have, or "
        "of a group, is left open."
    )


def _deduced(evidence: Evidence, name: str) -> str:
    """How surely a sensitive value can be deduced in the surest class."""
    found = next((each for each in evidence.disclosures if each.attribute == name), None)
    if found is None:
        return f"No record has a value of {name}."
    if found.likeliest >= 1:
        return evidence.said(
            f"Yes: in at least one class all people have the same value of {name}, so that "
            "whoever finds the class knows it."
        )
    return evidence.said(
        f"In the surest class {share(found.likeliest)} of the people have the same value of "
        f"{name}. Classes give away {bits(found.mean)} about it on average, of "
        f"{bits(found.uncertainty)}."
    )


def attacks(evidence: Evidence) -> Iterator[Block]:
    """What attacks on the release found, with the original table."""
    if evidence.audit is None:
        yield (
            "No attack was tried for this paper: that needs the original table, by which "
            "anonymizer audit attacks a release."
        )
        return
    for block in audit_report(evidence.audit):
        yield replace(block, rows=texts_in(block)) if isinstance(block, Table) else block


def confirmed(evidence: Evidence) -> Iterator[Block]:
    """The three questions of WP216 in one field."""
    for title, answer in THREE:
        yield Heading(title)
        yield from answer(evidence)


THREE = (
    ("Singling out", singling_out),
    ("Linkability", linkability),
    ("Inference", inference),
)
"""The three questions of WP216."""


def distinguished(evidence: Evidence) -> Iterator[Block]:
    """How far records differ by what others may know."""
    yield TermList([(f"Labels of {each.name}", count(each.labels)) for each in evidence.attributes])
    yield (
        f"Together they make {plural(len(evidence.sizes), 'class')}, the smallest of "
        f"{plural(evidence.sizes[0], 'record')}."
    )
