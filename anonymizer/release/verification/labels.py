"""Whether a released table holds only labels and drawn values that its manifest describes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.counts.multidimensional import CLASS
from anonymizer.feedback.words import plural
from anonymizer.hierarchy.calendar import Clock, span_of
from anonymizer.hierarchy.label import MASKS
from anonymizer.hierarchy.partition import MARKED, joint_label, members_of
from anonymizer.masking import DISTORTIONS, RandomRecoding
from anonymizer.release.manifest.groups import Group
from anonymizer.release.pseudonyms import is_pseudonym
from anonymizer.release.request import RECODINGS
from anonymizer.release.verification.check import (
    OFFSETS,
    FieldCheck,
    at,
    compared,
    compared_all,
    required,
)
from anonymizer.release.verification.stored import Facts
from anonymizer.tables import engine
from anonymizer.tables.files.format import missing_texts
from anonymizer.tables.values import is_missing, number_of, number_text, plain_text

if TYPE_CHECKING:
    from anonymizer.channels import Channel


METHODS = [name for name, kind in RECODINGS.items() if issubclass(kind, RandomRecoding)]

WEIGHTS_OF_CLASSES = "weights of classes"

WITHHELD = "the channels of the masking are withheld"


def labels(facts: Facts) -> Iterator[FieldCheck]:
    """Each quasi-identifier's labels; ``*`` of suppressed records counts as described."""
    exempt = facts.hidden & (facts.manifest["suppressed_class"] == "kept")
    for name in facts.recoded:
        if name in facts.masked:
            continue
        known = {plain_text(group.label) for group in facts.recoding[name]}
        codes, texts = _texts_in(facts, name)
        strange = np.array([text not in known for text in texts])
        records = strange[codes] & ~exempt
        number = len(np.unique(codes[records]))
        many = engine.records_in(facts.table, records)
        words = f"has {plural(number, 'other label')}, in {plural(many, 'record')}"
        field, described = f"recoding.{name}.labels", plural(len(known), "label")
        yield required(field, not records.any(), described, words, "recomputed")


def _texts_in(facts: Facts, name: str) -> tuple[np.ndarray, list[str | None]]:
    """The distinct values of a column as texts, None for a missing one, and which each record has.

    Records that read alike may have different codes.
    """
    codes, values = engine.distinct(facts.table[name])
    return codes, [plain_text(value) for value in values]


def ranges(facts: Facts) -> Iterator[FieldCheck]:
    """The ends of ranges are those that their labels read, and no two groups overlap."""
    levels = facts.manifest["levels"]
    possible = all(isinstance(level, int) and level >= 0 for level in levels.values())
    fits = possible and {*levels} <= {*facts.recoded}
    yield required("levels", fits, "", "has other quasi-identifiers or levels")
    for name, groups in facts.recoding.items():
        field = f"recoding.{name}"
        wrong = sum(not _reads(group) for group in groups if group.is_range)
        words = f"has other ends in {plural(wrong, 'label')}"
        yield required(f"{field}.ranges", not wrong, "", words)
        safe = bool(facts.manifest.get("spreadsheet", {}).get("safe"))
        other = sum(not _names_its_group(group, safe) for group in groups)
        words = f"names {plural(other, 'label')} in another way"
        yield required(f"{field}.group", not other, "", words)
        wrong = sum(not _reads_masked(group) for group in groups if group.masked)
        words = f"masks other characters in {plural(wrong, 'label')}"
        yield required(f"{field}.masked", not wrong, "", words)
        texts = [group.label for group in groups]
        twice = len(texts) - len(set(texts))
        torn = 0 if facts.manifest.get("regions") else _overlaps(groups) + _in_others(groups)
        words = f"repeats {twice} labels and has {torn} overlapping groups"
        yield required(f"{field}.groups", not twice + torn, plural(len(texts), "group"), words)


def _names_its_group(group: Group, safe: bool) -> bool:
    """Whether a label is that of its group, with a mark of its level or an apostrophe at the most.

    ``safe``: labels that a spreadsheet would run have an apostrophe before them.
    """
    label = group.label
    own = group.group if "group" in group.model_fields_set else label  # null is another name, too
    if own == label:
        return True
    if own is None or label is None:
        return False
    stem = MARKED.sub("", label)
    return own in (stem, stem.removeprefix("'")) if safe else own == stem


def _reads(group: Group) -> bool:
    """Whether a label is the half-open range of its group: ``[20, 40)``, ``(-inf, 5)``.

    Of dates it may be the name of a unit of the calendar, ``2024-Q1``; of whole numbers the one
    that it has.
    """
    label = str(group.own)
    if group.unit:
        return label == str(group.interval)
    if group.calendar is None and number_of(label) is not None:
        own = group.interval
        return own.low is not None and own.high == own.low + 1 and label == number_text(own.low)
    named = span_of(label) if group.calendar else None
    if named is not None:
        return named[:2] == (_place(group.low), _place(group.high))
    low, comma, high = label[1:-1].partition(", ")
    if not comma or label[0] not in "[(" or label[-1] != ")":
        return False
    return all(_end(text, given) for text, given in ((low, group.low), (high, group.high)))


def _reads_masked(group: Group) -> bool:
    """Whether a label has the same character at all places that are said to be masked."""
    hidden = {*str(group.own)[slice(*(group.masked or ()))]}
    return len(hidden) == 1 and hidden <= {*MASKS}


def _in_others(groups: Sequence[Group]) -> int:
    """How many values of groups are also in the group of all values but some."""
    lacking = [{*group.excluded} for group in groups if group.excluded is not None]
    values = [value for group in groups for value in group.values or () if value is not None]
    return sum(value not in each for each in lacking for value in values)


def _end(text: str, given: int | float | str | None) -> bool:
    if given is None or text.endswith("inf"):
        return given is None and text.endswith("inf")
    if isinstance(given, str):
        return text == given and _date(given) is not None
    number = int(text) if text.lstrip("-").isdigit() else float(text)
    return bool(number == given)


def _overlaps(groups: Sequence[Group]) -> int:
    """How many ranges begin before the one before them ends, or end before they begin."""
    given = [(_place(group.low), _place(group.high)) for group in groups if group.is_range]
    ends: list[tuple[float | Decimal, float | Decimal]] = sorted(
        (-inf if low is None else low, inf if high is None else high) for low, high in given
    )
    empty = sum(low >= high for low, high in ends)
    return empty + sum(first[1] > second[0] for first, second in pairwise(ends))


def _place(end: int | float | str | None) -> float | Decimal | None:
    """Where an end lies: a number itself, a date in seconds."""
    return _date(end) if isinstance(end, str) else end


def _date(text: str) -> Decimal | None:
    moment = Clock().moment(text)
    return None if moment is None or moment.text != text else moment.place


def regions(facts: Facts) -> Iterator[FieldCheck]:
    """Where classes have groups of their own, each record's labels are those of one of them.

    Of merged cells they are those of the class whose number the record has.
    """
    listed = facts.manifest.get("regions")
    names = facts.recoded
    if not listed:
        none = CLASS not in facts.schema.quasi_identifiers[len(names) :]
        yield required("regions", none, "", "needs some")
        return
    known = [tuple(plain_text(region[name]) for name in names) for region in listed]
    described = [{plain_text(group.label) for group in facts.recoding[name]} for name in names]
    used = [set(column) for column in zip(*known, strict=True)]
    yield required("regions.labels", used == described, "", "describes other labels")
    classes = facts.counts.occupied
    applied = bool(facts.manifest.get("applies"))  # some classes may be of the first table alone
    agrees = classes <= len(known) if applied else classes == len(known)
    yield required("regions", agrees, f"{len(known)} classes", f"has {classes}")
    wrong = _outside(facts, known)
    combinations = plural(len(known), "combination") + " of labels"
    words = f"has others in {plural(wrong, 'record')}"
    yield required("regions.records", not wrong, combinations, words, "recomputed")


def _outside(facts: Facts, known: Sequence[tuple[str | None, ...]]) -> int:
    """The records whose combination of labels is none of those that are listed."""
    names, allowed = facts.recoded, {*known}
    if CLASS in facts.schema.quasi_identifiers[len(names) :]:
        names = (*names, CLASS)
        allowed = {(*labels, str(place)) for place, labels in enumerate(known, 1)}
    group, first = engine.grouped(facts.table, names)
    rows = zip(*(facts.table[name].iloc[first] for name in names), strict=True)
    strange = np.array([tuple(map(plain_text, row)) not in allowed for row in rows])
    return engine.records_in(facts.table, strange[group])


def weighed(facts: Facts) -> Iterator[FieldCheck]:
    """Released weights are numbers above 0, one for each class."""
    weight = str(facts.manifest.get("weight"))
    if not facts.manifest.get("released_weight"):
        return
    if weight not in facts.stored.columns:
        yield required(WEIGHTS_OF_CLASSES, False, "", "lacks the column of weights", "recomputed")
        return
    table = facts.stored.tally([*facts.schema.quasi_identifiers, weight])
    numbers = [number_of(value) for value in table[weight].tolist()]
    one_each = len(table.index) == facts.counts.occupied
    agrees = one_each and all(number is not None and number > 0 for number in numbers)
    words = "has several weights in a class, or weights that are no numbers above 0"
    yield required(WEIGHTS_OF_CLASSES, agrees, "", words, "recomputed")


def joined(facts: Facts) -> Iterator[FieldCheck]:
    """The column that joins the rows of a person has numbers, or pseudonyms, as is reported."""
    name = facts.schema.number
    if name is None:
        return
    keyed = bool(facts.manifest.get("person_key"))
    values = map(plain_text, engine.distinct(facts.table[name])[1])
    agrees = all((is_pseudonym if keyed else str.isdecimal)(text or "") for text in values)
    words = f"has other values in the column of persons than {'pseudonyms' if keyed else 'numbers'}"
    yield required("person_numbers", agrees, "", words, "recomputed")


def shifted(facts: Facts) -> Iterator[FieldCheck]:
    """Columns of shifted dates are released, have no role, and hold nothing but dates."""
    reported = facts.manifest.get("shift")
    if not reported:
        return
    names, clock = at(reported, "columns"), Clock(format=reported.get("format"))
    for name in names:
        others = name in at(facts.manifest, "other_columns")
        wrong = _records_of_no_date(facts, name, clock) if others else 0
        words = f"has {plural(wrong, 'record')} without a date in it" if wrong else "has none"
        yield required(f"shift.{name}", others and not wrong, "", words, "recomputed")
    yield FieldCheck("dates that were shifted", "unchecked", None, reason=OFFSETS)


def _records_of_no_date(facts: Facts, name: str, clock: Clock) -> int:
    table = facts.stored.tally([name])
    codes, values = engine.distinct(table[name])
    # What counts as missing stays as the raw table has it.
    absent = missing_texts(facts.manifest["columns"]["missing_values"], name)
    dates = [is_missing(v) or v in absent or clock.moment(v) is not None for v in values]
    wrong = ~np.array(dates, bool)
    return engine.records_in(table, wrong[codes])


def masking(facts: Facts) -> Iterator[FieldCheck]:
    """What the drawn table discloses, the channels, and that it shows nothing they cannot."""
    reported = facts.manifest.get("masking")
    if not reported:
        return
    yield from _realised(facts, reported)
    yield from _names(facts, reported)
    epsilons = [channel["epsilon"] for channel in reported["channels"]]
    listed = all("rows" in channel for channel in reported["channels"])
    found = {"epsilon": None if None in epsilons else sum(epsilons), "withheld": not listed}
    yield from compared_all("masking", reported, found, "consistent")
    if listed:
        yield from _channels(facts, reported)
    else:
        yield FieldCheck("masking.channels", "unchecked", None, reason=WITHHELD)


def _realised(facts: Facts, reported: Mapping[str, Any]) -> Iterator[FieldCheck]:
    from anonymizer.masking.disclosure import disclosed  # loads the solvers

    yield compared("masking.realised", sorted(reported["realised"]), sorted(facts.schema.sensitive))
    for name in facts.schema.sensitive:
        found = asdict(disclosed(facts.counts.joint[name]))
        yield from compared_all(f"masking.realised.{name}", at(reported, "realised", name), found)


def _names(facts: Facts, reported: Mapping[str, Any]) -> Iterator[FieldCheck]:
    """Attributes are named alike wherever they are."""
    names = sorted(facts.masked)
    agrees = bool(names) and {*names} <= {*facts.recoded}
    yield required("masking.attributes", agrees, "", "has other quasi-identifiers")
    for part in ("distortion", "scale") if facts.whole else ("distortion",):
        yield compared(f"masking.{part}", sorted(reported[part]), names, "consistent")
    known = reported["method"] in METHODS and {*reported["distortion"].values()} <= {*DISTORTIONS}
    yield required("masking.method", known, "", "knows no such method or distortion")
    for each in reported["channels"]:
        alone = [name for name in each["attributes"] if name in names]
        if facts.whole and len(alone) == 1:  # what is not added to anything is not scaled
            (name,) = alone
            yield compared(f"masking.scale.{name}", reported["scale"][name], 1.0, "consistent")
    within = [name for each in reported["channels"] for name in each["attributes"]]
    covered = {*names} <= {*within} <= {*facts.recoded} and len({*within}) == len(within)
    yield required("masking.channels", covered, "", "has other attributes")
    kept = reported["preserved"] if facts.whole else None
    if kept:
        allowed = {*names, *facts.schema.sensitive}
        agrees = {*kept["columns"]} <= allowed
        yield required("masking.preserved.columns", agrees, "", "has no such numbers")


def _channels(facts: Facts, reported: Mapping[str, Any]) -> Iterator[FieldCheck]:
    from anonymizer.channels import channels_of  # loads the solvers

    found = channels_of(reported)
    for place, (attributes, channel) in enumerate(found.items()):
        field = f"masking.channels.{place}"
        epsilon = None if channel.epsilon == inf else channel.epsilon
        sizes = {"epsilon": epsilon, "rank": channel.rank}
        yield from compared_all(field, reported["channels"][place], sizes, "consistent")
        wrong = _undrawn(facts, attributes, channel)
        words = f"has others in {plural(wrong, 'record')}"
        drawn = plural(len(channel.labels), "symbol")
        yield required(f"{field}.labels", not wrong, drawn, words, "recomputed")


def _undrawn(facts: Facts, attributes: tuple[str, ...], channel: "Channel") -> int:
    """The records whose symbols the channel never releases."""
    released = channel.matrix.max(axis=0) > 0
    possible = {label for label, some in zip(channel.labels, released, strict=True) if some}
    group, first = engine.grouped(facts.table, attributes)
    columns = [_texts_in(facts, name) for name in attributes]
    rows = zip(*([texts[code] for code in codes[first]] for codes, texts in columns), strict=True)
    strange = np.array([row not in possible for row in rows])
    return engine.records_in(facts.table, strange[group])


def sets(facts: Facts) -> Iterator[FieldCheck]:
    """A label such as ``{nurse, vet}`` stands for just these values, or groups of a hierarchy.

    A label of a hierarchy may read alike: it is one where it has a level, or names nothing that is
    listed anywhere in its column.
    """
    for name, groups in facts.recoding.items():
        known = {*_values(groups)}
        at_level = name in facts.manifest["levels"]
        wrong = sum(not _spells(group, known) for group in groups if not at_level)
        words = f"lists other values for {plural(wrong, 'label')}"
        yield required(f"recoding.{name}.values", not wrong, "", words)


def _values(groups: Sequence[Group]) -> Iterator[str | None]:
    for group in groups:
        yield from group.values or ()
        yield from (each.label for each in group.members or ())


def _spells(group: Group, known: set[str | None]) -> bool:
    """Whether a label spells out the values or groups that are listed for it, if it spells any."""
    label = group.own and MARKED.sub("", group.own)
    if group.members is not None:
        return label == joint_label([each.label for each in group.members])
    items = None if label is None or group.level is not None else members_of(label)
    given = (group.excluded, group.masked, group.listed)
    if items is None or any(each is not None for each in given):
        return True
    if group.values is not None and known.isdisjoint(items):
        return True  # of a hierarchy
    return label == joint_label(group.values or [None])
