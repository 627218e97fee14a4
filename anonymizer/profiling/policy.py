"""A first policy and a first recoding, their parameters computed from the counts of a table."""

from collections.abc import Mapping
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np

from anonymizer.counts.columns import item_sets, ways_of_items
from anonymizer.feedback.words import plural
from anonymizer.information.entropy import entropy
from anonymizer.kernels.arrays import Floats
from anonymizer.profiling.among import answers_in, marks_within, separators_said
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.ladders import Ladder
from anonymizer.profiling.profile import TableProfile
from anonymizer.tables.spelling import alike_keys, one_text_each
from anonymizer.tables.values import texts_of

SIZES = ((15, 2), (200, 3), (100_000, 5))
"""Numbers of records, or persons, with the k below each; a table of more gets ``LARGEST``."""

LARGEST = 10

SKEWED = 0.9
"""Share of the commonest value from which on diversity asks for what hardly anybody has."""

CLOSE = 0.2
"""t of closeness: no value gets likelier by more than 20 points, of numbers as far as ordered."""

ORDERED = 20
"""Distinct numbers from which on it matters how near they are to each other."""

SUPPRESSION = 0.05
"""Share of the records that may be suppressed where attributes have a level each."""

DIVIDED = frozenset(("widths", "cuts", "calendar", "order", "prefixes"))
"""Rules whose values boxes divide into ranges, or into groups of few."""

MOST_BOXED = 1_000_000
"""Combinations of quasi-identifiers up to which boxes are searched for."""

MOST_COUNTED = 200
"""Sensitive values up to which boxes are searched for whatever the table: 140 take 2 s."""

MOST_JOINT = 3_000_000
"""Combinations times sensitive values up to which boxes are searched for where values are more.

2,643 by 1,017 take 3 s, 1,022 by 2,887 take 4 s; 4,000 by 3,984 take minutes.
"""

MOST_OF_PERSONS = 50_000_000
"""Combinations times persons up to which boxes are searched for.

7,550 by 12,344 take 20 s and 2.5 GB, 4,110 by 545 take 9 s.
"""

MOST_LISTED = 100
"""Values without an order or a prefix that boxes can list in a label."""


class Proposed(NamedTuple):
    """A section of a study: its keys and values, and the reason for them."""

    keys: dict[str, Any]
    why: str


class PolicyPreset(NamedTuple):
    """A bound on classes that a guidance names: records of each at least, and the model of it.

    ``source``: who wants it, and where that is written.
    """

    k: int
    keys: dict[str, Any]
    why: str
    source: str


NINE_PERCENT = {"model": "highest-reidentification-risk", "risk": 0.09}
TWELVE = "nobody is found with a probability above .09: 12 of a class, for 1/11 = .0909 is above"

POLICY_PRESETS: Mapping[str, PolicyPreset] = {
    "ema": PolicyPreset(
        12,
        NINE_PERCENT,
        TWELVE,
        "European Medicines Agency, External guidance on the implementation of Policy 0070, "
        "EMA/90915/2016",
    ),
    "health-canada": PolicyPreset(
        12,
        NINE_PERCENT,
        TWELVE,
        "Health Canada, Public Release of Clinical Information: guidance document",
    ),
    "cms": PolicyPreset(
        11,
        {"model": "k-anonymity", "k": 11},
        "no class has 1 to 10",
        "Centers for Medicare and Medicaid Services, Cell Size Suppression Policy",
    ),
    "statistics-office": PolicyPreset(
        3,
        {"model": "k-anonymity", "k": 3},
        "the same values of what others may know are those of at least 3",
        "Templ, Meindl, Kowarik, Chen (2014), Introduction to Statistical Disclosure Control, "
        "IHSN Working Paper 007",
    ),
}
"""What a study is drafted with by a name, for reviewers who want it."""


def size_of(records: int) -> int:
    """Return the k to propose for a number of records, or of persons: 2, 3, 5 or 10.

    >>> size_of(3), size_of(100), size_of(30_000), size_of(1_000_000)
    (2, 3, 5, 10)
    """
    return next((k for below, k in SIZES if records < below), LARGEST)


def models_of(found: TableProfile, k: int, preset: PolicyPreset | None = None) -> list[Proposed]:
    """Propose models of a first policy: k-anonymity, and one about each sensitive attribute.

    A ``preset`` has a model of its own in place of k-anonymity.

    The whole table as one class satisfies all of them, so that some recoding does. All of them are
    defined of persons, too: what ``over_persons`` refuses is never proposed.
    """
    attributes = [found.counted[name] for name in found.of_role("sensitive")]
    several = len(attributes) > 1
    models = [
        _about(column, sizes, several, k)
        for column in attributes
        for sizes in [_as_counted(found, column)]
        if len(sizes) > 1
    ]
    return [*_sizes(found, k, preset), *models]


def _sizes(found: TableProfile, k: int, preset: PolicyPreset | None) -> list[Proposed]:
    """Propose k-anonymity, and the largest share of a class that may be one person's.

    By default it is 1 / k, which the whole table does not reach where one person has more of it.
    """
    keys = {"model": "k-anonymity", "k": k} if preset is None else preset.keys
    wanted = "" if preset is None else f" ({preset.why}; {preset.source})"
    if not found.person:
        records = plural(found.records, "record")
        return [Proposed(keys, f"every class has at least {k} of the {records}{wanted}")]
    why = f"every class has records of at least {k} of the {plural(found.units, 'person')}{wanted}"
    most = found.most_records / found.records
    if most <= 1 / k:
        return [Proposed(keys, f"{why}, and of nobody more than 1/{k} of its own")]
    share = ceil((1 + most) / 2 * 100) / 100
    of_all = (
        f"one person has {most:.0%} of all records, so that classes in which nobody has more than "
        f"1/{k} are out of reach; half of what is above that is kept"
    )
    return [Proposed(keys, why), Proposed({"model": "largest-share", "share": share}, of_all)]


def _about(column: ProfiledColumn, sizes: Floats, several: bool, k: int) -> Proposed:
    """Propose the model about a sensitive attribute: closeness of numbers, else diversity.

    ``sizes``: how often each of its values counts.
    """
    about = {"attribute": column.name} if several else {}
    measured = column.among is not None and column.among.unit  # a text to who computes distances
    if column.numbers is not None and not measured and len(column.values) > ORDERED:
        keys = {"model": "t-closeness", **about, "distance": "ordered", "t": CLOSE}
        why = "the numbers of a class spread nearly as those of the table (0 is alike, 1 is far)"
        return Proposed(keys, why)
    common = float(sizes.max() / sizes.sum())
    if common > SKEWED:
        keys = {"model": "t-closeness", **about, "distance": "equal", "t": CLOSE}
        why = (
            f"{common:.0%} have one value, so that a class of it alone says little; no value "
            f"becomes likelier in a class by more than {CLOSE:.0%} points"
        )
        return Proposed(keys, why.replace("% points", " points of 100"))
    whole = float(2 ** entropy(sizes))
    half = floor((1 + (whole - 1) / 2) * 100) / 100
    least = min(half, float(k))
    rule = "half of that above 1 is kept" if least == half else f"classes of {k} can keep {k}"
    why = (
        f"the value is as uncertain in a class as among {least:g} equally likely ones; in the "
        f"whole table it is as among {whole:.2f}, and {rule}"
    )
    return Proposed({"model": "entropy-l-diversity", **about, "l": least}, why)


def _as_counted(found: TableProfile, column: ProfiledColumn) -> Floats:
    """How often each value of a column counts: once for each record, or in all for each person.

    Of the ways the one in which values are least uncertain: models have to hold in all. An item of
    lists is a value, too.
    """
    places = one_text_each(texts_of(column.values), alike_keys)
    ways = [np.asarray(np.bincount(places, column.sizes), float)]
    if found.person:
        codes, there = found.person_codes(found.person), column.codes < len(column.values)
        weights = 1 / np.bincount(codes)[codes]
        values = np.asarray(places)[column.codes[there]]
        ways.append(np.asarray(np.bincount(values, weights[there]), float))
    if mark := items_of(found, column):
        for kinds in ways_of_items(column.name, column.values, mark).values():
            place = np.unique([str(kind) for kind in kinds], return_inverse=True)[1]
            ways.append(np.bincount(place, column.sizes))
    return min((sizes[sizes > 0] for sizes in ways), key=entropy)


def items_of(found: TableProfile, column: ProfiledColumn) -> str | None:
    """Propose what stands between the items that a sensitive column lists; None where none are.

    Lists of persons who have several records are not counted by item.
    """
    if found.person or column.name not in found.of_role("sensitive"):
        return None
    lists = answers_in([text or "" for text in texts_of(column.values)])
    return lists and lists[0]


def separators_of(found: TableProfile, column: ProfiledColumn) -> str:
    """Say which other separators items of a column have, that it lists; nothing where none have."""
    mark = items_of(found, column)
    sets = [] if mark is None else item_sets(column.values, mark)
    marks = marks_within({item for each in sets for item in each or ()})
    return separators_said(marks, mark) if mark and marks else ""


def recoding_of(found: TableProfile, ladders: Mapping[str, Ladder]) -> Proposed:
    """Propose boxes where they can be searched for, else levels with suppression.

    The greedy tree of boxes: of UCI Adult with 8 attributes it is found in 1.2 s and has 1,648
    classes, where the beam has 1,802 in 21 s, and levels with 5 % suppressed have 53. Where numbers
    or dates have gaps it is the beam: gaps are in no range, and cutting them off gains so little
    that the greedy tree divides all else first. Then the gaps of a box are too few to be cut off,
    and nothing of that attribute can be divided.
    """
    sensitive = found.of_role("sensitive")
    whole = [name for name, ladder in ladders.items() if DIVIDED.isdisjoint(ladder.rule)]
    listed = max((found[name].values for name in whole), default=0)
    counted = max((len(found.counted[name].all_sizes) for name in sensitive), default=1)
    few = counted <= MOST_COUNTED or found.combinations * counted <= MOST_JOINT
    few &= not found.person or found.combinations * found.units <= MOST_OF_PERSONS
    quick = few and found.combinations <= MOST_BOXED
    if quick and listed < MOST_LISTED and len(ladders) > 1:
        why = (
            "every class has its own ranges and values, which keeps far more of several "
            'attributes than one level for each (method = "full-domain")'
        )
        gaps = [name for name in ladders if name not in whole and found[name].missing]
        if gaps:
            named = " and ".join(map(repr, gaps))
            why += (
                f"; where {named} has gaps, cuts are followed to the end: the greedy tree loses it"
            )
            return Proposed({"method": "boxes"}, why)
        why += "; without refinement the search takes longer and keeps somewhat more"
        return Proposed({"method": "boxes", "refinement": "heuristic"}, why)
    why = (
        "one level for each attribute, the same for all records; the rarest combinations, at most "
        f"{SUPPRESSION:.0%} of the records, are suppressed"
    )
    return Proposed({"method": "full-domain", "suppression": SUPPRESSION}, why)


def missing_of(found: TableProfile, more: Mapping[str, int]) -> Proposed:
    """Propose the treatment of records that miss a value; ``more`` of them by their column."""
    names = (*found.of_role("quasi-identifier"), *found.of_role("sensitive"))
    gaps = [each for name in names if (each := found[name].missing + more.get(name, 0))]
    if not gaps:
        return Proposed({"missing": "error"}, "no record misses a value that is counted")
    most = max(gaps) / found.records
    why = (
        f"{plural(len(gaps), 'column')} with a role have gaps, up to {most:.1%} of the records; "
        "such a record is kept, and a sensitive value that is missing counts as nothing"
    )
    return Proposed({"missing": "gap"}, why)
