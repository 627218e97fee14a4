"""The end of a page: risk, how to verify, and the words that are used."""

from collections.abc import Iterator
from shlex import quote

from anonymizer.feedback.words import count, listed, plural, share
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest import digest_of_file
from anonymizer.report.page.document import (
    Block,
    Heading,
    Paragraph,
    Points,
    ReportSection,
    ReportTable,
    TermList,
    TypedCommands,
)
from anonymizer.report.page.evidence import Evidence

WAYS = {
    "recomputed": "computed again from the table",
    "consistent": "compared with the rest of the manifest",
    "study": "compared with the study",
}

WORDS = (
    ("Quasi-identifier", "A column that others may know of a person, such as age."),
    ("Sensitive attribute", "A column whose value nobody shall learn of a person."),
    ("Class", "All records that have the same released values of all quasi-identifiers."),
    ("Policy", "The privacy models that every class has to satisfy."),
    ("Recoding", "A rule that replaces the values of quasi-identifiers by coarser or random ones."),
    ("Level", "How coarse a value is: level 0 is as it was, each further one is coarser."),
    ("Suppressed", "Of a value: replaced by *. Of a record: all its quasi-identifiers are, or it "
     "is left out."),
    ("Bit", "The unit of information: one answer to a question of two equally likely answers."),
    ("H(W)", "The doubt about the sensitive attribute W of a person of the table, in bits."),
    ("I(X;W)", "How much the quasi-identifiers X of a person say about W, in bits; I(X~;W) is the "
     "same of the released ones."),
    ("I1, I2", "Two measures of what a single class says about W, in bits."),
    ("Ceiling", "The most information that any release under the policy can keep."),
    ("Lattice", "All combinations of levels; its frontier are those that satisfy the policy while "
     "nothing finer does."),
    ("Manifest", f"The file {MANIFEST}, in which a release reports itself."),
    ("Verify", "To count the released table again, and to compare it with its manifest."),
)  # fmt: skip
"""The words of a page, in the order in which it uses them."""


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
        Paragraph(
            evidence.said(
                "The risk that somebody who knows "
                f"{listed(evidence.quasi_identifiers)} of a person, and that the person is in the "
                "table, picks that person's record among those that look alike."
            )
            + " It was computed from this release alone: the risk of several releases together "
            f"may be higher.{_several(evidence)}"
        ),
        ReportTable("Risk of re-identification", ("Measure", "Value"), rows, numeric=(1,)),
    ]
    if evidence.manifest.masking:
        blocks.append(
            Paragraph(
                "Some values were drawn at random, so that records need not match the people "
                "they are of. The risk here is that of records as they stand: one that fits a "
                "person may be somebody else's."
            )
        )
    return ReportSection("risk", "Risk of being found", blocks)


def _several(evidence: Evidence) -> str:
    """What the risk is of where people have several records."""
    several = (
        " It is that of records: some people have several (see the warnings), and theirs may be "
        "much higher."
    )
    return "" if evidence.of_people else several


def verify_section(evidence: Evidence) -> ReportSection:
    """How a recipient checks the release, what was checked for this page, what cannot be."""
    about = evidence.manifest.file[0]
    blocks: list[Block] = [
        Paragraph("Whoever has the release can count it again; the original is not needed."),
        TypedCommands([*_commands(evidence)]),
        Heading("Checksums"),
        TermList([*_checksums(evidence)]),
        Heading("What was checked for this report"),
        Paragraph(_checked(evidence)),
    ]
    if evidence.verification.unchecked:
        blocks += [
            Paragraph("What cannot be checked, and why:"),
            Points([*_unchecked(evidence)]),
        ]
    blocks.append(
        Paragraph(
            "Nor can anybody see from the release whether the columns have the right roles, the "
            f"policy in {about.file}'s manifest is the one that was required, or the original was "
            "true."
        )
    )
    return ReportSection("verify", "How to verify this release", blocks)


def _commands(evidence: Evidence) -> Iterator[str]:
    """What to type."""
    about = evidence.manifest.file[0]
    folder = evidence.folder.resolve().name
    yield f"anonymizer verify {quote(folder)}"
    yield _sums(f"{folder}/{about.file}", about.parts is not None)
    if evidence.signed:
        yield f"anonymizer verify {quote(folder)} --key public.pem"


def _sums(table: str, parts: bool) -> str:
    """What prints the checksum of a table, which of several files is that of theirs."""
    return (
        f"(cd {quote(table)} && sha256sum * | sha256sum)" if parts else f"sha256sum {quote(table)}"
    )


def _checksums(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The checksums of the files, and what else a release is known by."""
    about = evidence.manifest.file[0]
    yield f"SHA-256 of {about.file}", about.sha256
    yield f"SHA-256 of {MANIFEST}", digest_of_file(evidence.folder / MANIFEST)
    yield "Fingerprint of the study", evidence.manifest.study.fingerprint
    if evidence.manifest.input is not None:
        yield "Keyed fingerprint of the original", evidence.manifest.input.fingerprint
    yield "Signature", _signature(evidence)


def _signature(evidence: Evidence) -> str:
    """Whether the release is signed, and whether that was checked."""
    if evidence.verification.signer is not None:
        return (
            f"in {MANIFEST}.sig; it was checked for this report, and is by the key "
            f"{evidence.verification.signer}"
        )
    if evidence.signed:
        return f"in {MANIFEST}.sig; it was not checked here, for which the public key is needed"
    return "none"


def _checked(evidence: Evidence) -> str:
    """How many fields of the manifest were compared with what."""
    done = evidence.checks
    parts = [f"{count(done[how])} {words}" for how, words in WAYS.items() if done[how]]
    total = plural(done.total(), "figure")
    return f"The release was verified: {total} of the manifest agree ({listed(parts)})."


def _unchecked(evidence: Evidence) -> Iterator[str]:
    """The reasons why fields cannot be checked, each with its fields."""
    fields: dict[str, list[str]] = {}
    for check in evidence.verification.unchecked:
        fields.setdefault(check.reason, []).append(check.field)
    for reason, names in fields.items():
        yield f"{', '.join(names)}: {reason}."


def glossary_section() -> ReportSection:
    """The words of a page."""
    return ReportSection("glossary", "Words", [TermList(WORDS)])
