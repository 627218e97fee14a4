"""Kinds of warnings of a release, each with a lasting code and a way out.

A warning counts records, classes or values; it never shows one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.errors import WarningsError
from anonymizer.feedback.words import plural
from anonymizer.profiling.distinction import IDENTIFYING

NEARLY = 0.8
"""Share of a class from which on one value is as good as known: four guesses of five are right."""

MISSING = 0.5
"""Share of missing values above which a column says more about gaps than about people."""

TELLING = 0.1
"""Wrong guesses, by records, that a sensitive attribute may leave of one that it tells."""

TOGETHER = 0.5
"""Share of records with a combination of their own from which on two columns identify people."""

NARROW = 0.05
"""Part of the spread of a table's numbers within which those of a class are as good as one.

A convention: of salaries that spread over 60,000 a year it is 250 a month.
"""

ENOUGH = 7
"""Wrong guesses that chance would make at least, for none of them to mean something.

A column that has nothing to do with a quasi-identifier whose likeliest value is wrong for a share
e of the records makes none in a group of n with probability sum p^n <= (1 - e)^(n - 1), in all
groups together with at most exp(-ENOUGH) = 0.0009 where e sum (n - 1) >= ENOUGH.
"""

UNORDERED = 0.02
"""Pairs of neighbours that may break an order, by those that do in a random order.

Half of the pairs of a random order do where all values differ: so 99 % of the pairs keep it.
"""


OF_RAW = (
    "column-gives-away",
    "telling-order",
    "spellings-alike",
    "suppression-tells",
    "repeated-identifier",
    "identifying-values",
)
"""Warnings whose figures are of the raw table or of some records, so that none can be checked."""

OF_STEWARD = ("column-gives-away", "telling-order", "spellings-alike")
"""Those that are the steward's alone.

Whoever knows the quasi-identifiers of all counts what ``suppression-tells`` does: which classes are
missing, and how large they are. Readers have to know that it is so.
"""

UNCOUNTED = {
    "repeated-identifier": "class sizes count records, not people, and by column {column} some "
    "people have several; no model promises anything about them"
}
"""What readers have to know as well, in words without the figures, which are the steward's."""


def uncounted(code: str, column: str | None) -> str | None:
    """The message of a warning as ``release.json`` has it without figures; None: it has them."""
    words = UNCOUNTED.get(code)
    return None if words is None else words.format(column=repr(column))


@dataclass(frozen=True)
class Caution:
    """A kind of warning: when it is given, what its figures count, its message.

    ``text`` says what is wrong and how to mend it, with places for the figures.
    """

    when: str
    counts: str
    text: str


@dataclass(frozen=True)
class ReleaseWarning:
    """Something that a release or a table is weak in, although its policy holds.

    ``count`` of ``of`` are what ``WARNINGS`` says for the ``code``; ``records`` are concerned where
    these are classes. It is about a ``column``, or none, and may be ``about`` another one. Its
    message has further words that were ``found``.
    """

    code: str
    column: str | None
    count: int
    of: int
    records: int = 0
    about: str | None = None
    found: str = ""

    @property
    def message(self) -> str:
        """What is the matter and how to mend it, in one sentence; no value of any record."""
        return WARNINGS[self.code].text.format(
            column=repr(self.column),
            count=self.count,
            of=self.of,
            records=plural(self.records, "record"),
            about=repr(self.about),
            found=self.found,
        )

    def __str__(self) -> str:
        return f"WARNING ({self.code}): {self.message}."

    def to_dict(self) -> dict[str, object]:
        """The warning as JSON has it."""
        names = ("code", "column", "count", "of", "message")
        return {name: getattr(self, name) for name in names}


def require_no_warnings(warnings: Sequence[ReleaseWarning]) -> None:
    """Refuse a release that has warnings; they are the notes of the error."""
    if not warnings:
        return
    error = WarningsError(
        f"nothing was released: there would be {plural(len(warnings), 'warning')}, and strict "
        "allows none; mend what they say, or leave strict out"
    )
    for warning in warnings:
        error.add_note(str(warning))
    raise error


def warnings_markdown() -> str:
    """The table of all kinds of warnings as a README has it."""
    rows = [("code", "warns of", "`count` of `of`"), ("---",) * 3]
    rows += [(f"`{code}`", each.when, each.counts) for code, each in WARNINGS.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


TELLING_ORDER = "telling-order"
"""The code of what a random order of the records mends."""

WARNINGS: dict[str, Caution] = {
    "weak-policy": Caution(
        "a policy of averages (`mean-information`, say) and bounds of 1 (k = 1) alone",
        "models that promise nothing, models",
        "no model of the policy promises anything of a single class ({count:,} of {of:,} are "
        "averages or bounds of 1); add k-anonymity with k = 2 or more and a model about each "
        "sensitive attribute",
    ),
    "no-sensitive-attribute": Caution(
        "a policy of class sizes alone, no sensitive attribute, and columns without a role",
        "columns without a role, columns",
        "no attribute is declared sensitive, so that the policy says nothing on what a class "
        "tells of {count:,} of {of:,} columns, which are released as they are; declare those that "
        "are sensitive and add a model about them",
    ),
    "homogeneous-classes": Caution(
        f"one value in {NEARLY:.0%} or more of a class, where no model bounds how often values "
        "occur: under `k-anonymity` or `distinct-l-diversity` alone, say",
        "classes, classes",
        f"one value of {{column}} makes up {NEARLY:.0%} or more of {{count:,}} of {{of:,}} "
        "classes and is that of {records} there, which can be guessed; add a model that bounds "
        "how often a value occurs in a class, such as entropy-l-diversity or t-closeness",
    ),
    "constant-sensitive": Caution(
        "a sensitive attribute of one value",
        "records, records",
        "all {of:,} records have the same value of {column}, so that whoever knows that somebody "
        "is among them knows it; leave the column out",
    ),
    "missing-sensitive": Caution(
        f"a sensitive attribute that more than {MISSING:.0%} of the records miss",
        "records that miss it, records",
        "{count:,} of {of:,} records miss the value of {column}, so that the policy is about gaps "
        "more than about values; leave these records out, or the column",
    ),
    "missing-as-value": Caution(
        'classes that are diverse only since missing counts as a value (`missing = "category"`)',
        "classes, classes",
        "{count:,} of {of:,} classes, of {records}, have enough different values of {column} only "
        'because a missing one counts as a value; let it count as nothing (missing = "gap"), or '
        'leave records that miss it out (missing = "drop")',
    ),
    "nearly-unique-sensitive": Caution(
        f"a sensitive attribute in which {IDENTIFYING:.0%} or more of the records that have not "
        "the commonest value differ from each other",
        "records with a value of their own, records",
        "{count:,} of {of:,} records have a value of {column} that no other record has, so that "
        "whoever knows it finds the record; put its values into groups, or make it a "
        "quasi-identifier",
    ),
    "sensitive-tells-sensitive": Caution(
        f"a sensitive attribute that, within a class, tells another one of {1 - TELLING:.0%} or "
        "more of the records, which the class alone does not",
        "records of which the likeliest value is right only with the other attribute, records",
        "whoever knows {column} of somebody in a class guesses {about} right for {count:,} of "
        "{of:,} records more than from the class alone; make {column} a quasi-identifier, put its "
        "values into groups, or leave one of the two out",
    ),
    "similar-numbers": Caution(
        f"classes whose sensitive numbers differ, but by at most {NARROW:.0%} of what those of "
        "the table do (its 5th to its 95th percentile)",
        "classes, classes",
        f"in {{count:,}} of {{of:,}} classes, of {{records}}, the numbers of {{column}} lie "
        f"within {NARROW:.0%} of the table's spread, so that they are as good as known "
        'although they differ; add t-closeness with distance = "ordered", or round them',
    ),
    "suppression-tells": Caution(
        'classes that were suppressed though they are large enough (`suppress = "any"`)',
        "records in such classes, records that were suppressed",
        "{count:,} of {of:,} records that were suppressed were not too few but broke a model of "
        "sensitive values, which whoever knows the quasi-identifiers sees, and infers values from; "
        'leave suppress = "any" out',
    ),
    "spellings-alike": Caution(
        "spellings of sensitive values that read alike, as `1` and `1.0`, or `HIV` and `hiv.`",
        "spellings that read like another, spellings",
        "{count:,} of {of:,} spellings of {column} read like another one, so that they count as "
        "one value, and those that certainly are one are released in one spelling; write each "
        "value in one way",
    ),
    "repeated-identifier": Caution(
        "a column of the raw table that is the key of persons, by its name, its values or since it "
        "tells an age, a sex or a date of birth, and has several records of some",
        "people, records",
        "class sizes count records, not people; by column {column} {found} ({count:,} in all, of "
        "{of:,} records); no model promises anything about who has several: keep one record of "
        "each",
    ),
    "identifying-values": Caution(
        "e-mail addresses, telephone numbers, IBANs, social security numbers, addresses, IP "
        "addresses, URLs or UUIDs in a column that is released; a value of one record, as a city "
        "of one person, in a column without a role that has neither numbers nor dates",
        "such values, different values (at most 2,000 are looked at for addresses and the like)",
        "{count:,} of {of:,} values of {column} are {found}, which find a person by themselves; "
        "list the column among the identifiers",
    ),
    "nearly-unique-column": Caution(
        f"a column without a role in which {IDENTIFYING:.0%} or more of the records that have "
        "not the commonest value (missing, say) differ from each other",
        "records with a value of their own, records",
        "{count:,} of {of:,} records have a value of {column} that no other record has, and it is "
        "released as it is; list the column among the identifiers, or make it a quasi-identifier",
    ),
    "unique-together": Caution(
        f"two columns without a role of which {TOGETHER:.0%} or more of the records have a "
        "combination of their own (each column is named once, with the first that makes it so)",
        "records with a combination of their own, records",
        "{count:,} of {of:,} records have values of {column} and {about} that no other record has "
        "together, and both are released as they are; list one of them among the identifiers, or "
        "make both quasi-identifiers",
    ),
    "column-gives-away": Caution(
        "a column without a role that determines a generalized quasi-identifier, or is determined "
        "by it and says more than its label",
        "records of which the likeliest value is right only with the column, records",
        "{column} gives {about} away: with it the true value is guessed for {count:,} of {of:,} "
        "records more than from what is released; list it among the identifiers, or make it a "
        "quasi-identifier",
    ),
    TELLING_ORDER: Caution(
        "records that are kept in the order of an identifier or of a generalized quasi-identifier, "
        "or grouped by it (at most 16,384 records, evenly spread, are looked at)",
        "pairs of neighbours in that order, pairs",
        "{count:,} of {of:,} neighbouring records stand in the order of {column}, which the "
        'release does not show as it is; write the release in random order (order = "random" in '
        "[output]), or shuffle the table before it is anonymized",
    ),
}
"""The kinds of warnings by their codes, in the order in which they are reported."""
