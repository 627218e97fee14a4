"""Roles of columns that do not go together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anonymizer.counts.persons import PER_PERSON
from anonymizer.errors import InputError, did_you_mean, shown, suggestion

NOTHING_WITHHELD: Mapping[str, Any] = {
    "person": (),
    "weight": None,
    "per_person": "share",
    "household": (),
    "releases_weight": False,
    "person_numbers": False,
}
"""The roles of columns that no release has, as they are in one: together, as they go together."""

SEVERAL = "person"
"""The column of the numbers of persons whom several columns tell apart."""


def number_column(person: Sequence[str]) -> str:
    """Return the column of a release that has the numbers of persons.

    >>> number_column(["patient_id"]), number_column(["site", "patient"])
    ('patient_id', 'person')
    """
    return person[0] if len(person) == 1 else SEVERAL


def require_free(number: str | None, columns: Iterable[str], left_out: Iterable[str]) -> None:
    """Refuse a released column of the name that the one of the numbers of persons has."""
    if number is not None and number in {*columns} - {*left_out}:
        raise InputError(
            f"the table has a column {number!r}, which is the name of the column of the numbers of "
            "persons; rename it, or list it among the identifiers"
        )


WORST = "worst"
"""A way of counting that people may expect next to ``each``, and which is refused by its name."""

INSTEAD_OF_WORST = (
    f'= "{WORST}" would hold a policy against the worst choice of one record of each person, and '
    'is not offered: where a model bounds the largest share of a value, per-person = "each" does '
    'the same, and for other models finding that choice takes too long; choose "each"'
)
"""What is said of it, after the name of the option."""


NOISE = "noise"
"""A way to release weights that people may expect next to ``class``, refused by its name."""

INSTEAD_OF_NOISE = (
    "by noise is not offered: noise that hides the stratum of a record is as large as the gaps "
    "between the weights of strata, and estimates by such weights are of few records; choose "
    '"class", the mean of each class, which keeps the totals of classes'
)
"""What is said of it, after the name of the option."""


def is_noise(given: object) -> bool:
    """Return whether weights are to be released with noise: by its name, or with its options."""
    return given == NOISE or (isinstance(given, Mapping) and NOISE in given)


def require_fitting(
    person: Sequence[str],
    household: Sequence[str],
    per_person: str,
    person_numbers: bool,
) -> None:
    """Refuse columns of persons, weights and households that do not go together."""
    if per_person == WORST:
        raise InputError(f"per-person {INSTEAD_OF_WORST}")
    if per_person not in PER_PERSON:
        raise InputError(
            f"per-person = {per_person!r} is none of {', '.join(PER_PERSON)}"
            + did_you_mean(str(per_person), PER_PERSON)
        )
    if per_person != PER_PERSON[0] and not person:
        raise InputError(
            f'per-person = "{per_person}" is about persons who have several records; name '
            "the column that tells whose each record is, as person, or leave it out"
        )
    if not isinstance(person_numbers, bool):
        raise InputError(
            f"person_numbers = {shown(person_numbers)} must be True, False or a PseudonymKey"
        )
    if person_numbers and not person:
        raise InputError(
            "a release can have numbers of persons where a column tells whose each record is; name "
            'that column as person, such as person = "patient_id" (below [data] in a study), or '
            "leave the numbers out (person below [output])"
        )
    if person_numbers and household:
        raise InputError(
            "numbers of persons show which rows are of one person, and how surely somebody then "
            "finds a household by all rows of its members is not defined here; leave out household "
            f"(column {household[0]!r}), or the numbers (person below [output] in a study)"
        )


def require_joint(
    joint: Sequence[Sequence[str]],
    sensitive: Sequence[str],
    items: Sequence[tuple[str, str]],
    missing: str,
) -> None:
    """Refuse models of attributes together where a value of one of them is none, or is several."""
    for names in joint:
        about = " and ".join(names)
        for name in names:
            if name not in sensitive:
                hint = suggestion(name, sensitive, "sensitive are")
                raise InputError(
                    f"a model is about {about} together, and {name!r} is no sensitive "
                    f"attribute{hint}"
                )
        if missing == "gap":
            raise InputError(
                f'with missing = "gap" a value that is missing counts as nothing, and what {about} '
                "then are together is not defined; choose missing = "
                '"category" or "drop", or a model of each attribute alone'
            )
        for name, _ in items:
            if name in names:
                raise InputError(
                    f"cells of {name!r} list several items, and what {about} then are together is "
                    f"not defined; choose a model of each attribute alone, or leave {name} out of "
                    "items"
                )


def require_listed(
    items: Sequence[tuple[str, str]],
    sensitive: Sequence[str],
    quasi_identifiers: Sequence[str],
    keys: Sequence[str],
) -> None:
    """Refuse items of columns that are not sensitive, and where a person has several records."""
    for name, mark in items:
        if not isinstance(mark, str) or not mark:
            raise InputError(
                f"items of {name!r} must be the text that stands between two of them, such as "
                f'items = {{ {name} = ";" }}'
            )
        if name in quasi_identifiers:
            raise InputError(
                f"items are for sensitive attributes, and {name!r} is a quasi-identifier: "
                "k^m-anonymity of sets of items is not offered; write a line for each item, name "
                "the column of the person and choose the model km-anonymity, or leave items out "
                "and group whole lists by a hierarchy"
            )
        if name not in sensitive:
            raise InputError(
                f"items names {name!r}, which is no sensitive attribute"
                + suggestion(name, sensitive, "sensitive are")
            )
        if keys:
            raise InputError(
                f"items of {name!r} are counted by record, and persons or households ({keys[0]!r}) "
                "have several; write all items of a person into one record, or leave items out"
            )


def require_releasable(weight: str | None, household: Sequence[str], person: Sequence[str]) -> None:
    """Refuse to release weights where there are none, or where they tell of households.

    Where persons have several records, too: means of records have no sums that are people.
    """
    if weight is None:
        raise InputError(
            "released weights need the column that has them: name it as weight, such as weight = "
            '"sampling_weight" (below [data] in a study)'
        )
    if person:
        raise InputError(
            f"column {weight!r} is the weight of a person, and a sum over the records of a class "
            "counts persons of several records as often as they have these; leave out person, or "
            "release no weight"
        )
    if household:
        raise InputError(
            f"column {weight!r} is mostly the same for all members of a household, so that sums of "
            "a class tell of its households; leave out household, or release no weight"
        )
