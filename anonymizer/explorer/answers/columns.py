"""The columns of a raw table: what they tell of a record, their roles, and those proposed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from anonymizer.errors import InputError
from anonymizer.explorer.answers.counted import CountedStudy
from anonymizer.feedback.words import count, share
from anonymizer.profiling.among import spellings_of_missing
from anonymizer.profiling.columns import share_alone
from anonymizer.profiling.ladders import Ladder, grounded_ladder, ladder_in_boxes, ladder_of
from anonymizer.profiling.policy import size_of
from anonymizer.profiling.profile import ColumnProfile, TableProfile
from anonymizer.recoding.classes import Boxes
from anonymizer.tables import engine

Role = Literal["quasi-identifier", "sensitive", "identifier", "person", "insensitive"]

MEANINGS: Mapping[Role, tuple[str, str]] = {
    "quasi-identifier": (
        "Quasi-identifiers",
        "Others may know it of a person: it is generalized until the policy holds.",
    ),
    "sensitive": ("Sensitive", "Nobody shall learn it of a person: it is released, and protected."),
    "identifier": (
        "Identifiers",
        "Left out of the release: what names a person, and what is better not released.",
    ),
    "person": (
        "Person",
        "Tells whose each record is where people have several: left out, and the policy is about "
        "people.",
    ),
    "insensitive": (
        "Insensitive",
        "Released as it is. Whoever knows it of a person can find the record by it.",
    ),
}
"""What each role is called, and what it means."""

MISSING: Mapping[str, str] = {
    "error": "Refuse: no record may miss a value",
    "drop": "Leave out every record that misses one",
    "gap": "Keep them; a missing sensitive value counts as nothing",
    "category": "Keep them; a missing value counts as one of its own",
}
"""What can be done with missing values."""

FIGURES = ("Kind", "Distinct values", "Missing", "Most common", "Distinction", "Separation")
"""What is said of each column."""


@dataclass(frozen=True)
class ColumnRole:
    """A column in figures, its role in a study, and the one that is proposed with its reason.

    ``missing`` are the records that miss a value as the study reads it, as far as that is known.
    """

    profile: ColumnProfile
    missing: int
    records: int
    role: Role
    proposed: Role

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.profile.name

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures in the order of ``FIGURES``, in their units."""
        found = self.profile
        gaps = count(self.missing)
        if self.missing:
            gaps += f" ({share(self.missing / self.records)})"
        shares = (found.most_common, found.distinction, found.separation)
        return (found.kind, count(found.values), gaps, *map(share, shares))

    @property
    def proposal(self) -> str:
        """The role that is proposed, and why."""
        agrees = "as proposed" if self.role == self.proposed else f"{self.proposed} is proposed"
        why = self.profile.why
        remedy = "" if why == why.alone else "; another role releases it"
        return f"{agrees[:1].upper()}{agrees[1:]}: {why.alone}{remedy}."


@dataclass(frozen=True)
class Together:
    """What the quasi-identifiers of a study tell together.

    ``gaps`` are the records that miss a value of each column with a role, where any do.
    ``spellings`` are texts that look like missing values and are taken for values.
    """

    records: int
    names: tuple[str, ...]
    combinations: int
    alone: float
    gaps: Mapping[str, int]
    spellings: tuple[str, ...]


def columns_of(
    found: TableProfile, roles: Mapping[str, Role], gaps: Mapping[str, int] | None = None
) -> list[ColumnRole]:
    """Each column of a table with its role; ``gaps``: of columns that the study has counted."""
    known = gaps or {}
    return [
        ColumnRole(
            column,
            known.get(column.name, column.missing),
            found.records,
            roles.get(column.name, "insensitive"),
            proposed_role(column),
        )
        for column in found.columns
    ]


def proposed_role(column: ColumnProfile) -> Role:
    """The role that a column is proposed in a study; what is left out stands with identifiers."""
    role = column.role
    if role == "weight":
        return "identifier"
    return "identifier" if role == "left out" else role


def size_in(policy: Sequence[Mapping[str, object]]) -> int | None:
    """The k of a policy's models as a study has them; None where none has one.

    >>> size_in([{"model": "t-closeness", "t": 0.2}, {"model": "k-anonymity", "k": 5}])
    5
    """
    sizes = (each.get("k") for each in policy)
    return next((size for size in sizes if isinstance(size, int)), None)


def proposed_rule(found: TableProfile, name: str, k: int | None, method: str) -> Ladder:
    """The hierarchy that is proposed for a column, and why, as ``init`` proposes it.

    ``k`` None is by the records; ``method`` is that of the recoding.

    Raises InputError when its values cannot be told apart.
    """
    if name not in found.counted:
        raise InputError(
            f"the values of column {name!r} cannot be told apart, as those of lists, so that "
            "nothing can generalize them; leave the column out"
        )
    column = found.counted[name]
    ladder = ladder_of(column, k or size_of(found.records), found.order_of(name))
    if method == Boxes.name:
        ladder = ladder_in_boxes(column, ladder)
    return grounded_ladder(column, ladder, found.combinations)


def together_of(counted: CountedStudy) -> Together:
    """What the quasi-identifiers of a counted study tell together; a missing value is a value."""
    schema, tally = counted.study.schema, counted.tally
    names = schema.quasi_identifiers
    sizes = engine.tally(tally, names).sizes
    gaps = dict(engine.missing_values(tally, schema.columns))
    spellings = spellings_of_missing(tally.combinations[list(schema.columns)])
    return Together(int(tally.sizes.sum()), names, len(sizes), share_alone(sizes), gaps, spellings)


def summary_of(found: TableProfile, together: Together | None) -> str:
    """Records, columns, and what the quasi-identifiers tell together, in sentences."""
    begin = f"{count(found.records)} records, {count(len(found.columns))} columns."
    if together is None:
        return begin
    one = len(together.names) == 1
    names = "quasi-identifier has" if one else "quasi-identifiers together have"
    return (
        f"{begin} The {len(together.names)} {names} {count(together.combinations)} combinations of "
        f"values; {share(together.alone)} of the records are alone with theirs, so that whoever "
        "knows them of a person finds the record."
    )


def warnings_of(columns: list[ColumnRole], together: Together | None) -> list[str]:
    """What a person who gives roles should look at, in sentences."""
    found = []
    if released := [each.name for each in columns if each.role == "insensitive"]:
        shown = ", ".join(released[:10]) + (", ..." if len(released) > 10 else "")
        found.append(
            f"Released as they are: {shown}. Others may know them, too; give a role to each that "
            "they could know, or that nobody shall learn."
        )
    if not any(each.role == "sensitive" for each in columns):
        found.append(
            "No column is sensitive. If there is something that nobody shall learn of a person, "
            "make it sensitive, and add a model about it to the policy."
        )
    if together is not None and together.spellings:
        found.append(
            f"{' and '.join(map(repr, together.spellings))} in columns with a role looks like a "
            "missing value, and is taken for a value."
        )
    return found
