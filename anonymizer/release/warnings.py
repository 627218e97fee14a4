"""Warnings: what a policy that holds does not promise, each with a lasting code and a way out.

A warning counts records, classes or values; it never shows one. Those about classes are here, those
about columns and persons in modules of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from anonymizer.counts.columns import by_text, item_sets
from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.pairs import chosen
from anonymizer.counts.persons import of_items
from anonymizer.counts.schema import Schema
from anonymizer.errors import WarningsError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY
from anonymizer.information.matrices import CountMatrix, having, largest, pairs_of, without
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.privacy import (
    TOLERANCE,
    DistinctLDiversity,
    EntropyLDiversity,
    PrivacyModel,
    RecursiveLDiversity,
    measures_of,
)
from anonymizer.profiling.among import answers_in, marks_within, separators_said
from anonymizer.profiling.columns import IDENTIFYING, SINGLED_OUT
from anonymizer.tables import engine
from anonymizer.tables.spelling import alike_keys
from anonymizer.tables.values import is_missing, number_of, text_of

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

TELLING_ORDER = "telling-order"
"""The code of what a random order of the records mends."""

TAIL = 0.05
"""Share of the records at either end that does not make a spread: one director of many clerks."""

DIVERSITIES = DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
"""Models that count values, whatever these are."""

OF_RAW = (
    "column-gives-away",
    "telling-order",
    "spellings-alike",
    "suppression-tells",
    "repeated-identifier",
    "shared-identifier",
    "identifying-values",
    "weight-tells",
    "dates-find-persons",
    "midnight-elsewhere",
)
"""Warnings whose figures are of the raw table or of some records, so that none can be checked."""

OF_STEWARD = (
    "column-gives-away",
    "telling-order",
    "spellings-alike",
    "weight-tells",
    "dates-find-persons",
    "midnight-elsewhere",
)
"""Those that are the steward's alone.

Whoever knows the quasi-identifiers of all counts what ``suppression-tells`` does: which classes are
missing, and how large they are. Readers have to know that it is so.
"""

UNCOUNTED = {
    "repeated-identifier": "class sizes count records, not people, and by column {column} some "
    "people have several; no model promises anything about them, unless the column is given as "
    "person in [data] (Python: person=), or one record of each is kept",
    "shared-identifier": "classes count those whom person tells apart, and by column {column} "
    "several of them are one person, or of one household; no model promises anything about these, "
    "unless the column is given as person in [data] (Python: person=) instead",
}
"""What readers have to know as well, in words without the figures, which are the steward's."""


def uncounted(code: str, column: str | None) -> str | None:
    """The message of a warning as ``release.json`` has it without figures; None: it has them."""
    words = UNCOUNTED.get(code)
    return None if words is None else words.format(column=repr(column))


ONE_EACH = "keep one record of each"
AS_PERSON = (
    "give the column as person in [data] (Python: person=), so that the policy is about persons, "
    f"or {ONE_EACH}"
)
"""Ways out where people have several records; models of records alone have but the first."""

AS_HOUSEHOLD = (
    "give the column as household in [data] (Python: household=), and a model of households, such "
    "as household-risk; or as person, so that the policy counts households"
)
"""The way out where people have a record each, and live together."""


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
    message has further words that were ``found``, and a ``remedy`` where it depends on the policy.
    """

    code: str
    column: str | None
    count: int
    of: int
    records: int = 0
    about: str | None = None
    found: str = ""
    remedy: str = AS_PERSON

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
            remedy=self.remedy,
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


WARNINGS: dict[str, Caution] = {
    "weak-policy": Caution(
        "a policy of averages (`mean-information`, say) and bounds of 1 (k = 1, t = 1) alone",
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
    "suppressed-values": Caution(
        "a sensitive attribute some of whose values are `*`, as a table has it that was released "
        "before",
        "records with `*`, records",
        "{count:,} of {of:,} records have * as their value of {column}, as in a table that was "
        "released before; it counts as one more value, though any may stand behind it: empty "
        "these cells of the table, so that they are missing",
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
    "several-answers": Caution(
        "a sensitive attribute whose values list several answers, as `asthma flu` does, and "
        f"classes in which one answer is that of {NEARLY:.0%} or more of the records, though "
        "values differ",
        "classes, classes",
        "values of {column} list several answers, and models take each list for one value; in "
        f"{{count:,}} of {{of:,}} classes one answer is in {NEARLY:.0%} or more of the lists and "
        "is that of {records} there, though these differ; say as items (below [data] in a study) "
        "what stands between two answers, and the policy is about each of them",
    ),
    "several-separators": Caution(
        "cells that list items (`items`), some of which have another separator, as `hiv,tb` does "
        "next to `flu;gout`",
        "records with such a cell, records",
        "cells of {column} have {found}, in {count:,} of {of:,} records; what it parts counts as "
        "one item, no part of which is protected by itself: write one separator in all cells",
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
        "{of:,} records); no model promises anything about who has several: {remedy}",
    ),
    "shared-identifier": Caution(
        "a column of the raw table that is such a key, and by which several of the persons whom "
        "`person` tells apart are one: as those of a household are",
        "people or households, persons",
        "classes count those whom person tells apart; by column {column} {found} ({count:,} in "
        "all, of {of:,} persons); no model promises anything about who is several of them: give "
        "the column as person in [data] (Python: person=) instead, if the policy shall be about "
        "these",
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
    "weight-tells": Caution(
        "sampling weights that are released as the mean of each class, where all records of a "
        "class have the same one",
        "classes of one weight, classes",
        "the weights of {count:,} of {of:,} classes are those of their records, of which all have "
        "the same {column}: it tells the stratum that everybody in them was drawn from; choose "
        "coarser levels, or leave the weight out",
    ),
    "dates-find-persons": Caution(
        "dates that are moved by person, in a release that has numbers of persons, where nobody "
        "else has dates as far apart",
        "persons whose dates nobody else has so far apart, persons",
        "{count:,} of {of:,} persons have dates as far apart as nobody else, in {column} and all "
        "columns that are shifted: moving them leaves that as it is, and their numbers show which "
        "dates are theirs, so that who knows the days between finds all their rows; leave out the "
        "numbers (person below [output]), or the dates",
    ),
    "midnight-elsewhere": Caution(
        "a quasi-identifier of dates that are written as instants, all of which are midnight in "
        "one other time zone, and a calendar without a `zone`",
        "different instants, different instants",
        "all {count:,} instants of {column} are dates that begin at midnight in another time zone, "
        "so that days and years may be one too early; add the zone to its calendar, such as "
        'zone = "Europe/Berlin"',
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


def class_warnings(
    counts: Counts,
    models: Sequence[PrivacyModel],
    others: int = 0,
    items: Sequence[tuple[str, str]] = (),
) -> tuple[ReleaseWarning, ...]:
    """Warn of a policy and of classes that promise less than they seem to.

    ``counts``: a table as it stands. ``models``: the policy that it is held against. ``others``:
    how many columns the table has besides the counted ones. ``items``: the attributes that list
    some, and what stands between them.
    """
    found = [*policy_warnings(models, counts.names, counts.sensitive, others)]
    for name in counts.sensitive:
        ways = [counts.about(each).occupied for each in (name, *of_items(name, counts.joint))]
        about = [model for model in models if model.sensitive and model.attribute in (None, name)]
        found += _of_attribute(ways[0], about, ways[1:])
    for name, mark in items:
        found += _separated(counts.about(name).occupied, mark)
    return tuple(found)


def policy_warnings(
    models: Sequence[PrivacyModel],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    others: int,
) -> Iterator[ReleaseWarning]:
    """Warn of a policy that promises little of any table; ``others`` as of ``class_warnings``."""
    if models and all(model.void or not model.per_class for model in models):
        yield ReleaseWarning("weak-policy", None, len(models), len(models))
    if models and others and not sensitive:
        of = len(quasi_identifiers) + others
        yield ReleaseWarning("no-sensitive-attribute", None, others, of)


def _of_attribute(
    classes: Classes, about: Sequence[PrivacyModel], by_item: Sequence[Classes]
) -> Iterator[ReleaseWarning]:
    """What to warn of about one sensitive attribute, under the models that are about it.

    ``by_item``: the same classes, counted by one item of its cells each.
    """
    missing = np.array([is_missing(value) for value in classes.values], bool)
    count, records = int(classes.margin[missing].sum()), int(classes.margin.sum())
    known = classes.known.select(classes.known.sizes > 0)
    if (classes.margin > 0).sum() == 1:
        yield ReleaseWarning("constant-sensitive", classes.attribute, records, records)
    else:
        yield from _homogeneous(known, about, [each.known.joint for each in by_item])
    if own := singled_out(*np.unique(classes.margin[classes.margin > 0], return_counts=True)):
        yield ReleaseWarning("nearly-unique-sensitive", classes.attribute, own, records)
    if count > MISSING * records and not classes.gap:
        yield ReleaseWarning("missing-sensitive", classes.attribute, count, records)
    stars = np.array([text_of(value) == ANY for value in classes.values], bool)
    if 0 < (hidden := int(classes.margin[stars].sum())) < records:
        yield ReleaseWarning("suppressed-values", classes.attribute, hidden, records)
    if not classes.gap:
        yield from _diverse_by_gaps(classes, about, missing)
    yield from _alike(known, missing[: len(known.values)])
    if not by_item:
        yield from _answered(known)


def _homogeneous(
    classes: Classes, about: Sequence[PrivacyModel], by_item: Sequence[CountMatrix]
) -> Iterator[ReleaseWarning]:
    """Classes of nearly one value, or item, where no model bounds how often it occurs in each."""
    # What any further records of one value leave acceptable says nothing of how often it occurs.
    loose = [model.strongly_monotone or model.void for model in about]
    if any(model.per_class and not free for model, free in zip(about, loose, strict=True)):
        return
    joints = [chosen(joint, joint.sum(axis=1) > 0) for joint in by_item]
    most = np.maximum.reduce([largest(joint) for joint in (classes.joint, *joints)])
    nearly = most >= NEARLY * classes.sizes - TOLERANCE
    yield from _of_some("homogeneous-classes", classes, nearly, int(most[nearly].sum()))


def _diverse_by_gaps(
    classes: Classes, about: Iterable[PrivacyModel], missing: Mask
) -> Iterator[ReleaseWarning]:
    """Classes that would break a model of diversity if only values counted."""
    if not missing.any():
        return
    gaps = having(classes.joint, missing)
    values = without(classes.joint[gaps], missing)
    known = replace(classes, joint=values, margin=np.where(missing, 0, classes.margin))
    broken = np.zeros(len(classes), bool)
    for model in about:
        if isinstance(model, DIVERSITIES) and not model.void:
            broken[gaps] |= ~model.accepts(measures_of(model, known))
    yield from _of_some("missing-as-value", classes, broken, int(classes.sizes[broken].sum()))


def _alike(classes: Classes, missing: Mask) -> Iterator[ReleaseWarning]:
    """Classes of different numbers that all lie close together."""
    numbers = _numbers(classes, missing)
    if numbers is None:
        return
    near = NARROW * _spread(numbers[~missing], classes.margin[~missing])
    rows, columns = pairs_of(classes.joint)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    # A missing value is NaN, and so is the width of a class that has one: nothing is near it.
    width = np.maximum.reduceat(numbers[columns], starts) - np.minimum.reduceat(
        numbers[columns], starts
    )
    alike = (width > 0) & (width <= near)
    yield from _of_some("similar-numbers", classes, alike, int(classes.sizes[alike].sum()))


def _answered(classes: Classes) -> Iterator[ReleaseWarning]:
    """Classes that have one answer in nearly all lists of answers, which differ."""
    texts = ["" if is_missing(each) else str(each) for each in classes.values]
    found = answers_in(texts)
    if found is None:
        return
    lists = found[1]
    answers = {answer: place for place, answer in enumerate(sorted(set().union(*lists)))}
    member = np.array([[answer in own for answer in answers] for own in lists], np.int64)
    most = (classes.joint @ member).max(axis=1)
    nearly = (most >= NEARLY * classes.sizes - TOLERANCE) & (
        largest(classes.joint) < NEARLY * classes.sizes - TOLERANCE
    )
    yield from _of_some("several-answers", classes, nearly, int(most[nearly].sum()))


def _separated(classes: Classes, mark: str) -> Iterator[ReleaseWarning]:
    """Cells in which something else stands between items, too."""
    sets = item_sets(classes.values, mark)
    found = marks_within({item for each in sets for item in each or ()})
    odd = [not set().union(*found.values()).isdisjoint(each or ()) for each in sets]
    if records := int(classes.margin[np.array(odd, bool)].sum()):
        of, said = int(classes.margin.sum()), separators_said(found, mark)
        yield ReleaseWarning("several-separators", classes.attribute, records, of, found=said)


def _numbers(classes: Classes, missing: Mask) -> Floats | None:
    """The number that each value is, NaN for a missing one; None where one is no number."""
    gaps = zip(classes.values, missing, strict=True)
    found = [np.nan if gap else number_of(value) for value, gap in gaps]
    if missing.all() or any(number is None for number in found):
        return None
    return np.array(found, float)


def _spread(numbers: Floats, records: np.ndarray) -> float:
    """How far most records' numbers lie apart: without either tail, or all of them if that is 0."""
    order = np.argsort(numbers)
    shares = np.cumsum(records[order]) / records.sum()
    low, high = (numbers[order[np.searchsorted(shares, end)]] for end in (TAIL, 1 - TAIL))
    return float(high - low or np.ptp(numbers))


def telling_warnings(table: engine.Table, schema: Schema) -> Iterator[ReleaseWarning]:
    """Warn of sensitive attributes that tell another one within the classes of a table.

    Each is held to the policy by itself, as if nobody knew the other. One whose values are nearly
    unique tells everything, and has a warning of its own.
    """
    if len(schema.sensitive) < 2:
        return
    class_of, _ = engine.grouped(table, schema.quasi_identifiers)
    values = {name: by_text(table[name], alike_keys) for name in schema.sensitive}
    alone = {name: _guessed(table, class_of, codes) for name, (codes, _) in values.items()}
    records = engine.records(table)
    for column, about in permutations(schema.sensitive, 2):
        codes, known = values[column]
        sizes = engine.sized(table, codes, len(known))
        if singled_out(*np.unique(sizes[sizes > 0], return_counts=True)):
            continue
        found = _guessed(table, class_of * len(known) + codes, values[about][0])
        if records - found <= TELLING * records < records - alone[about]:
            yield ReleaseWarning(
                "sensitive-tells-sensitive", column, found - alone[about], records, about=about
            )


def _guessed(table: engine.Table, groups: Codes, values: Codes) -> int:
    """Records whose value is the likeliest one of their group."""
    bound = int(values.max()) + 1
    pairs, place = np.unique(groups.astype(np.int64) * bound + values, return_inverse=True)
    sizes = engine.sized(table, place, len(pairs))
    starts = np.flatnonzero(np.diff(pairs // bound, prepend=-1))
    return int(np.maximum.reduceat(sizes, starts).sum())


def _of_some(code: str, classes: Classes, some: Mask, records: int) -> Iterator[ReleaseWarning]:
    if some.any():
        yield ReleaseWarning(code, classes.attribute, int(some.sum()), len(classes), records)


def singled_out(sizes: Ints, values: Ints) -> int:
    """Records with a value of their own, where nearly all have one but for the commonest value.

    That one is what stands for none: missing, an empty text, 0. ``sizes``: different numbers of
    records, and how many ``values`` have each, shape (numbers,). 0 where the column is not nearly
    unique.
    """
    own, distinct = int(values[sizes == 1].sum()), int(values.sum())
    records = int((sizes * values).sum())
    rarer = records - int(sizes.max(initial=0))
    differ = distinct - 1 >= IDENTIFYING * rarer and distinct >= ENOUGH
    return own if differ and own >= SINGLED_OUT * records else 0
