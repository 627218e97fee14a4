"""Sections on what holds: verdict, warnings, policy, how to verify; and the words used."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from anonymizer.feedback.document import (
    Block,
    Heading,
    Points,
    ReportSection,
    Table,
    TermList,
    TypedCommands,
)
from anonymizer.feedback.words import count, listed, plural, sentence, share
from anonymizer.privacy import MODELS, EventModel, Wording, records_known
from anonymizer.release.files import MANIFEST, digest_of_file
from anonymizer.release.manifest.parts import ReportedVerdict, ReportedWarning
from anonymizer.report.page.evidence import Evidence
from anonymizer.report.release import (
    STAND_FOR,
    TOGETHER,
    against,
    as_they_were,
    joined_releases,
    mean_weight,
    moved_dates,
)

STRONGEST = (
    "constant-sensitive",
    "suppression-tells",
    "repeated-identifier",
    "shared-identifier",
    "identifying-values",
    "nearly-unique-column",
    "unique-together",
    "nearly-unique-sensitive",
    "sensitive-tells-sensitive",
    "column-gives-away",
    "weak-policy",
    "homogeneous-classes",
    "several-answers",
    "several-separators",
    "no-sensitive-attribute",
    "suppressed-values",
    "missing-as-value",
    "similar-numbers",
    "weight-tells",
    "dates-find-persons",
    "telling-order",
    "missing-sensitive",
    "spellings-alike",
    "midnight-elsewhere",
)
"""Warnings in the order of what they cost people: who is found, what is known, what may be."""


def verdict(evidence: Evidence) -> str:
    """That the policy holds, and how that is known."""
    conditions = len(evidence.manifest.privacy)
    were = "was" if conditions == 1 else "were"
    number = len(evidence.sizes)
    over = "its only class" if number == 1 else f"all of its {count(number)} classes"
    if evidence.weighed:
        return (
            f"The policy held when the release was made: {plural(conditions, 'condition')} over "
            f"{over}. {STAND_FOR} Nobody can count these people in it again; its maker can, with "
            "the original table."
        )
    if evidence.households:
        return (
            f"The policy held when the release was made: {plural(conditions, 'condition')} over "
            f"{over}. {TOGETHER} Nobody can count households in it again; its maker can, with the "
            "original table."
        )
    if evidence.hides_persons:
        return (
            f"The policy held when the release was made: {plural(conditions, 'condition')} about "
            f"persons, over {over}. The released table does not show whose its records are, so "
            "that nobody can count persons in it again; its maker can, with the original table."
        )
    known = evidence.of_people or evidence.persons
    about = "" if known else " It is about records, of which some people have several."
    return (
        f"The policy holds: {plural(conditions, 'condition')} {were} counted again in the "
        f"released table for this report, over {over}."
        f"{about}"
    )


def facts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """What was released, in a few lines."""
    manifest = evidence.manifest
    about, roles = manifest.file
    yield "Released file", about.file
    yield "Date of its manifest", evidence.date
    of = f" of {count(manifest.records)}" if manifest.records is not None else ""
    yield "Records", f"{count(evidence.released)}{of}"
    yield "Columns", f"{count(len(about.columns))}: {listed(about.columns)}"
    yield "Known to others (quasi-identifiers)", listed(evidence.quasi_identifiers)
    if roles.sensitive:
        yield "To be protected (sensitive)", listed(roles.sensitive)
    if roles.targets:
        yield "Information kept about (targets)", listed(roles.targets)
    if others := as_they_were(manifest):
        yield "Released as they were", listed(others)
    if manifest.shift is not None:
        days = plural(manifest.shift.days, "day")
        yield "Dates moved by person", f"{listed(manifest.shift.columns)}, by up to {days}"
    if roles.identifiers:
        yield "Left out (identifiers)", listed(roles.identifiers)
    yield "Made by", f"anonymizer {manifest.versions.anonymizer}".strip()


def warnings_section(evidence: Evidence) -> ReportSection:
    """The warnings of the release, the strongest first: by kind, then by the share concerned."""

    def rank(each: ReportedWarning) -> tuple[int, float]:
        return STRONGEST.index(each.code), -each.count / max(each.of, 1)

    messages = [each.message for each in sorted(evidence.manifest.warnings, key=rank)]
    given = [*(f"{text[:1].upper()}{text[1:]}." for text in messages), *_cells(evidence)]
    if not given:
        none = "The release has no warnings. What its policy does not cover is listed below."
        return ReportSection("warnings", "Warnings", [none])
    return ReportSection("warnings", "Warnings", [Points(given, "warning")])


def _cells(evidence: Evidence) -> Iterator[str]:
    """Cells that a spreadsheet would run."""
    cells = evidence.manifest.spreadsheet
    if cells is not None and not cells.safe:
        yield (
            f"A spreadsheet would run cells of {listed(cells.cells)} as formulas; read the file "
            "as text there, or release it anew with csv-safe = true."
        )


Point = tuple[str, str]
"""What is left open: a topic, and sentences about it."""


def policy_section(evidence: Evidence) -> ReportSection:
    """Each model with what it promises and what was found, then what is left open."""
    models = evidence.manifest.privacy
    blocks: list[Block] = [
        Table(
            evidence.promised(
                "What the policy promises every person in the table, and what was found"
            ),
            ("Model", "Promise", "Found in this table"),
            [promise_row(evidence, verdict) for verdict in models],
        ),
        (
            "A class is the group of all records that have the same released values of "
            f"{listed(evidence.quasi_identifiers)}. {_whose(evidence)}"
        ),
        *against_whom(evidence),
        Heading("What this does not protect from"),
        TermList([*open_points(evidence)]),
    ]
    return ReportSection("policy", "What the policy promises", blocks)


def against_whom(evidence: Evidence) -> Iterator[Block]:
    """Whom the policy holds against; differential privacy does not depend on what is known."""
    if not evidence.private:
        about = ", ".join(evidence.schema.sensitive)
        verdicts = evidence.manifest.privacy
        known = records_known(
            each.privacy_model
            for each in verdicts
            if each.model in MODELS and issubclass(MODELS[each.model], EventModel)
        )
        numbers = evidence.manifest.person_numbers is not None
        names = listed(evidence.quasi_identifiers)
        held = any("odds" in each.parameters for each in verdicts)
        odds = evidence.manifest.method.get("odds") if held else None
        yield against(names, about, evidence.persons, known, numbers, odds)


def _whose(evidence: Evidence) -> str:
    """What a record stands for."""
    if evidence.of_people:
        return (
            "Each record counts as one person: where a person has several records, fewer people "
            "share a class than is said here."
        )
    if evidence.persons:
        each = "Those about sensitive values hold, too, where all who have a value in any record "
        counted = f"{each}are counted for it. " if evidence.manifest.per_person else ""
        if not evidence.hides_persons:
            joined = OF_NUMBERS.format("number" if evidence.manifest.person_key is None else KEYED)
            return f"{joined} {counted}All other figures here count records."
        return (
            "The conditions count persons, whose several records count as much together as the one "
            f"record of another. {counted}The released table does not show whose its records are, "
            "so that what was found of persons is as it was when the release was made. All other "
            "figures here count records."
        )
    return (
        "The conditions count records. Some people have several of them (see the warnings), so "
        "that fewer people than records share a class, perhaps only one: of people, nothing is "
        "promised."
    )


KEYED = "pseudonym"
OF_NUMBERS = (
    "Each person has a {} in the released table, which joins their rows. The conditions count "
    "persons, and hold of all rows of a person together: of the persons who have as many rows with "
    "the same released values."
)

EXCEPTED = (
    " Its {} are the exception: its maker counts them, with --original and the table that it was "
    "made of."
)

BY_WEIGHTS = (
    " For how many people its records stand is the exception: its maker knows it, with --original "
    "and the table that it was made of."
)

WITHHELD = "Its maker alone knows how near a class comes to that."
"""What is said of a figure of persons, or by weights, which the released table does not show."""


def promise_row(evidence: Evidence, verdict: ReportedVerdict) -> tuple[str, ...]:
    """A model in three cells."""
    wording = _wording(verdict)
    places = _places(evidence, verdict)
    name = verdict.model if verdict.about is None else f"{verdict.model}, {verdict.about}"
    if "odds" in verdict.parameters:
        name = f"{name}, for beliefs of odds up to {verdict.parameters['odds']:g}"
    withheld = verdict.hidden(evidence.hides_persons) and verdict.worst is None
    found = WITHHELD if withheld else sentence(wording.measured, places)
    return name, *map(evidence.promised, (sentence(wording.promise, places), found))


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
        "attribute": verdict.about or "",
    }


def open_points(evidence: Evidence) -> Iterator[Point]:
    """What the policy leaves open here, the most direct way first."""
    yield from _columns(evidence)
    yield from _shifted(evidence)
    yield from _weighted(evidence)
    yield from _joined(evidence)
    yield from _unprotected(evidence)
    yield from _missing(evidence)
    yield from _models(evidence)
    yield from _masked(evidence)
    yield from _knowledge(evidence)
    yield from _membership(evidence)
    yield from _method(evidence)


def _columns(evidence: Evidence) -> Iterator[Point]:
    """Columns that anybody may link."""
    if others := as_they_were(evidence.manifest):
        yield (
            "Columns released as they were",
            f"Whoever knows a person's {listed(others, 'or')} can "
            "narrow down whose record it is. No condition above covers that.",
        )


def _weighted(evidence: Evidence) -> Iterator[Point]:
    """What the mean weights of classes tell."""
    if evidence.manifest.released_weight is not None:
        yield (
            "Sampling weights",
            f"{mean_weight(evidence.manifest.weight)} It tells for how many people the records of "
            "a class stand together, and so the mix of strata that they were drawn from. Of a "
            "class whose records were all drawn from one, it tells the stratum of everybody in it.",
        )


def _joined(evidence: Evidence) -> Iterator[Point]:
    """What pseudonyms tell that are the same in other releases."""
    if evidence.manifest.person_key is not None:
        yield "Releases that can be joined", joined_releases(evidence.manifest.person_numbers)


def _shifted(evidence: Evidence) -> Iterator[Point]:
    """What dates that were moved tell all the same."""
    shift = evidence.manifest.shift
    if shift is None:
        return
    within = f"within {plural(shift.days, 'day')} of the one that is shown"
    yield (
        "Dates that were moved",
        f"{moved_dates(shift)} Each number of days has the same chance, and is kept nowhere. So a "
        f"true date is hidden {within}, and no closer. Whoever knows one true date of a person, or "
        "how far apart two of them are, may find the records, and knows all of their dates then. "
        "Dates that lie outside the time that the table is about tell how far they were moved at "
        "least. The time of the day is left, and that of the year, where the days are few.",
    )


def _unprotected(evidence: Evidence) -> Iterator[Point]:
    """Sensitive attributes that no model is about, with how sure a class makes of them."""
    about = {verdict.attribute for verdict in evidence.manifest.privacy}
    # A model about combinations of values may leave all of a class with one value of an attribute.
    together = {name for names in evidence.schema.joint for name in names}
    for each in evidence.disclosures:
        if each.attribute in evidence.schema.sensitive and each.attribute not in about:
            alone = " by itself" if each.attribute in together else ""
            yield (
                "Classes of one value",
                evidence.said(
                    f"No condition is about “{each.attribute}”{alone}. In one class "
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
    topic, _, said = text.partition(": ")
    return topic, said


def _models(evidence: Evidence) -> Iterator[Point]:
    """What each model leaves open, each once."""
    found = {
        _point(evidence.promised(sentence(wording.leaves_open, _places(evidence, verdict)))): None
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
        if evidence.persons and evidence.manifest.per_person is None:
            yield (
                "Whether somebody has a value at all",
                "A person has several records. All persons of a class may have the same value in "
                "one of theirs, which is then few of the records.",
            )
        if evidence.persons and not evidence.hides_persons:
            yield (
                "The other rows of a person",
                "Whoever knows a value of a person that others do not know, such as one of another "
                "column, may find a row by it, and by the number all rows of that person.",
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
    if evidence.undivided:
        yield "Boxes that were not divided", evidence.said(UNDIVIDED.format(evidence.undivided))


UNDIVIDED = (
    "The classes of {:,} people are large enough for two. Whoever knows that they were divided "
    "where they could be may conclude that as many people of each as are beyond twice the smallest "
    "size have one value of each number. The command anonymizer audit measures that."
)
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


def verify_section(evidence: Evidence) -> ReportSection:
    """How a recipient checks the release, what was checked for this page, what cannot be."""
    about = evidence.manifest.file[0]
    blocks: list[Block] = [
        "Whoever has the release can count it again; the original is not needed."
        + (EXCEPTED.format("persons") if evidence.hides_persons else "")
        + (EXCEPTED.format("households") if evidence.households else "")
        + (BY_WEIGHTS if evidence.weighed else ""),
        TypedCommands([*_commands(evidence)]),
        Heading("Checksums"),
        TermList([*_checksums(evidence)]),
        Heading("What was checked for this report"),
        _checked(evidence),
    ]
    if evidence.verification.unchecked:
        blocks += [
            "What cannot be checked, and why:",
            Points([*_unchecked(evidence)]),
        ]
    blocks.append(
        "Nor can anybody see from the release whether the columns have the right roles, the "
        f"policy in {about.file}'s manifest is the one that was required, or the original was "
        "true."
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
