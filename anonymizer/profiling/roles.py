"""Proposed roles: what each column is to a study, and why, in one sentence."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.errors import InputError, did_you_mean, require_whole
from anonymizer.profiling.columns import (
    FEW,
    IDENTIFYING,
    MANY,
    ProfiledColumn,
)
from anonymizer.profiling.dependence import (
    Determined,
    determined,
    is_named_key,
    is_of_codes,
    is_personal,
    tells,
)
from anonymizer.profiling.hints import (
    COORDINATE,
    PERSONAL,
    WEIGHT,
    Role,
    hint_of,
    weight_of,
    words_of,
)
from anonymizer.profiling.identifying import makes_identifier
from anonymizer.profiling.ladders import is_midnight_elsewhere, measured_in
from anonymizer.profiling.persons import key_of_persons, together
from anonymizer.profiling.weights import weights_in

MOST_QUASI_IDENTIFIERS = 8
"""Quasi-identifiers that are proposed: with more of them little is left of each."""

MOST_COMPARED = 100
"""Candidates of which every pair is compared: those that are proposed are the first of them."""

MANY_ALIKE = 20
"""Columns whose names differ by a number alone, from which on they are decided on as a group."""

NUMBER_OF_QUESTION = re.compile(r"[_.-]?\d+[a-z]?(_\w)?$", re.IGNORECASE)
"""The end of the name of a question: Q12, q7a, v_103, item4_b."""

AS_GROUP = (
    "decide on all of them: --insensitive releases them as they are, such as --insensitive 'Q*', "
    "where nobody knows the answers of anybody"
)

MOST_SENSITIVE = 2
"""Sensitive attributes that are proposed: every class has to protect all of them."""

MOST_GUESSED = 50
"""Values of an attribute that is taken for sensitive although its name does not say so."""

LARGE = 1000
"""Records from which on numbers of which half are different are rare by nature, not by chance."""

COMMON = 0.95
"""Share of the commonest value up to which such an attribute has something to tell."""

TARGETS = frozenset("class target label outcome result status response y".split())  # noqa: SIM905
"""Words for what a table is about."""


class RoleReason(str):
    """Sentence on why a column has a role; what follows from it is typed, not read from it.

    ``alone``: the sentence without its ``remedy``, which is where a study changes the role.
    ``guess``: whether the column is only the likeliest to have the role. ``beyond``: whether it is
    released as it is because the user wanted fewer quasi-identifiers.
    """

    alone: str
    guess: bool
    beyond: bool

    def __new__(
        cls, alone: str, remedy: str = "", *, guess: bool = False, beyond: bool = False
    ) -> "RoleReason":
        """Join the sentence and its remedy."""
        reason = super().__new__(cls, f"{alone}; {remedy}" if remedy else alone)
        reason.alone, reason.guess, reason.beyond = alone, guess, beyond
        return reason


GIVEN = RoleReason("you chose it")
MIDNIGHT = 'a line with the zone releases it: { calendar = ["year"], zone = "Europe/Berlin" }'
AS_IT_IS = "you wanted fewer quasi-identifiers, and its name says nothing: released as it is"
A_LINE = "a line there releases it"
"""Remedy of a column that a study leaves out: its list of columns that are."""


@dataclass(frozen=True)
class GivenRoles:
    """Roles that the user chose; None leaves the choice to the profile.

    ``most`` are the quasi-identifiers at the most.
    """

    quasi_identifiers: Sequence[str] | None = None
    sensitive: Sequence[str] | None = None
    identifiers: Sequence[str] | None = None
    person: Sequence[str] | None = None
    insensitive: Sequence[str] | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is None:
            return
        require_whole("profile", "max_quasi_identifiers", self.most)
        if self.quasi_identifiers is not None:
            raise InputError(
                "the quasi-identifiers are chosen already, and need no number; leave "
                "max-quasi-identifiers out"
            )

    @property
    def roles(self) -> dict[str, Role]:
        """The role of each column that was named; InputError where one has two.

        What tells persons apart is left out like an identifier, and may be named as one, too.
        """
        found: dict[str, Role] = {}
        for role, names in self._lists():
            for name in names or ():
                if {role, found.get(name, role)} not in ({role}, {"identifier", "person"}):
                    raise InputError(f"column {name!r} has more than one role; give it one")
                found[name] = role
        return found

    def _lists(self) -> tuple[tuple[Role, Sequence[str] | None], ...]:
        return (
            ("quasi-identifier", self.quasi_identifiers),
            ("sensitive", self.sensitive),
            ("identifier", self.identifiers),
            ("person", self.person),
            ("insensitive", self.insensitive),
        )

    def require_known(self, columns: Iterable[str]) -> None:
        """Require that the columns that were named are there."""
        known = list(columns)
        for name in self.roles:
            if name not in known:
                raise InputError(f"the table has no column {name!r}{did_you_mean(name, known)}")


@dataclass
class Proposal:
    """Roles found so far; candidates for quasi-identifiers are left to be chosen from.

    ``orders``: of two columns that say the same, the one that stays and the numbers that go.
    """

    roles: dict[str, tuple[Role, RoleReason]] = field(default_factory=dict)
    candidates: list[ProfiledColumn] = field(default_factory=list)
    sensitive: list[ProfiledColumn] = field(default_factory=list)
    orders: dict[str, str] = field(default_factory=dict)

    def propose(
        self, name: str, role: Role, why: str, remedy: str = "", *, guess: bool = False
    ) -> None:
        """Propose the role of a column, with its reason."""
        self.roles[name] = role, RoleReason(why, remedy, guess=guess)


def proposed(
    columns: Mapping[str, ProfiledColumn | None], given: GivenRoles = GivenRoles()
) -> Proposal:
    """Propose the role of every column and the reason, in the order of the columns.

    ``columns`` that cannot be counted are None. At least one column is a quasi-identifier.
    """
    proposal = Proposal()
    chosen = given.roles
    _groups_of_like(proposal, columns)
    for name, column in columns.items():
        if name in chosen:
            proposal.roles[name] = (chosen[name], GIVEN)
        elif name not in proposal.roles:
            _sort(proposal, name, column)
    weights = _weight(proposal, columns, chosen)
    _keys_of_persons(proposal, columns)
    if given.person is None:
        taken = [n for n, role in chosen.items() if role != "identifier"]
        _person(proposal, columns, [*taken, *weights])
    _weight_of_persons(proposal, weights)
    _one_of_equals(proposal, columns)
    _sensitive(proposal, chosen_already=given.sensitive is not None)
    _quasi_identifiers(proposal, given)
    _at_least_one(proposal, columns)
    proposal.roles = {name: proposal.roles[name] for name in columns}
    return proposal


def _groups_of_like(proposal: Proposal, columns: Mapping[str, ProfiledColumn | None]) -> None:
    """Leave out columns of a questionnaire as a group: a few of them would be no choice.

    Their names say nothing, and are alike but for a number.
    """
    alike: dict[str, list[str]] = {}
    for name, column in columns.items():
        silent = column is not None and column.hint is None and not is_named_key(column)
        stem = NUMBER_OF_QUESTION.sub("", name).casefold()
        if silent and stem != name.casefold():
            alike.setdefault(stem, []).append(name)
    for names in alike.values():
        if len(names) >= MANY_ALIKE and hint_of(NUMBER_OF_QUESTION.sub("", names[0])) is None:
            why = f"one of {len(names)} columns that are alike by name, {names[0]} to {names[-1]}"
            for name in names:
                if columns[name].values and columns[name].identifying is None:  # type: ignore[union-attr]
                    proposal.propose(name, "left out", why, AS_GROUP)


def _sort(proposal: Proposal, name: str, column: ProfiledColumn | None) -> None:
    """Give a column the role that it has by itself, or make it a candidate."""
    if column is None or not column.values or not name:
        proposal.propose(name, "left out", _unusable(name, column))
        return
    why = _identifies(column)
    hint = column.hint
    if len(column.all_sizes) <= 1:
        why = "all records have one value, which tells nobody apart"
        proposal.propose(name, "insensitive", why)
    elif is_midnight_elsewhere(column):
        why = "its instants are dates that begin at midnight in another time zone"
        proposal.propose(name, "left out", why, MIDNIGHT)
    elif not is_named_key(column) and (written := measured_in(column)) is not None:
        why = f"its values are numbers written with {written}, which no rule reads"
        proposal.propose(name, "left out", why, "write plain numbers to release ranges of them")
    elif why:
        # What may only be rare is left out like an identifier, but not called one.
        sure = column.kind == "identifier" or is_named_key(column) or column.identifying is not None
        role: Role = "identifier" if sure else "left out"
        proposal.propose(name, role, why)
    elif (
        hint is not None
        and hint.role == "left out"
        and (column.numbers is not None or column.kind == "code")  # as weights and units are
    ):
        proposal.propose(
            name, "left out", f"by its name it is {hint.about}, which gives the sample away"
        )
    elif is_of_codes(column):
        proposal.propose(name, "left out", "its values are codes, which may be those of persons")
    elif hint is not None and hint.role == "sensitive" and column.kind != "code":
        proposal.sensitive.append(column)
    else:
        proposal.candidates.append(column)


def _unusable(name: str, column: ProfiledColumn | None) -> str:
    """Explain why no study can release a column."""
    if column is None:
        return "its values cannot be told apart, as those of lists"
    if not column.values:
        return "every record misses it, and what it will hold nobody knows"
    return "it has no name; name it in the table to release it"


def _identifies(column: ProfiledColumn) -> str:
    """Explain why a column identifies by itself; nothing where it does not."""
    hint, found = column.hint, column.identifying
    apart = f"{len(column.values):,} values in {column.records:,} records"
    if is_named_key(column):
        return f"by its name it is {hint.about}" if hint else ""
    if found is not None and (makes_identifier(found) or hint is None):
        return f"its values are {found.kind} ({found.count:,} of {found.of:,} looked at)"
    if column.kind == "identifier":
        return f"nearly every record has its own value ({apart})"
    if column.kind == "text" and not (hint and column.distinction < IDENTIFYING):
        return f"its texts are nearly all different ({apart})"
    number = column.numbers is not None and column.kind != "code"
    most = MANY if column.records >= LARGE else IDENTIFYING
    if hint is None and number and column.distinction > most and column.records >= FEW:
        return f"whoever knows its value finds the record ({apart}), and no name says what it is"
    return ""


def _keys_of_persons(proposal: Proposal, columns: Mapping[str, ProfiledColumn | None]) -> None:
    """Make identifiers of candidates that repeat and tell an age, a sex or a date of birth."""
    known = [column for column in columns.values() if column is not None and is_personal(column)]
    known_otherwise = PERSONAL | {COORDINATE}  # where somebody lives tells an age, and is no key
    others = [
        c for c in proposal.candidates if c.hint is None or c.hint.about not in known_otherwise
    ]
    for column in others:
        about = [each.name for each in known if tells(column, each)]
        if about:
            why = f"it repeats and tells {about[0]!r}, as the key of a person does"
            proposal.propose(column.name, "identifier", why)
            proposal.candidates.remove(column)


def _person(
    proposal: Proposal, columns: Mapping[str, ProfiledColumn | None], taken: Sequence[str]
) -> None:
    """Find the columns that tell whose each record is; those that are ``taken`` are none of them.

    One that is named as an identifier may be: it is left out as well.
    """
    key = key_of_persons((column for column in columns.values() if column is not None), taken)
    if key is None:
        return
    for name in key.names:
        proposal.propose(name, "person", key.why)
    proposal.candidates = [each for each in proposal.candidates if each.name not in key.names]


def _weight(
    proposal: Proposal, columns: Mapping[str, ProfiledColumn | None], taken: Container[str]
) -> Sequence[str]:
    """Find the column of sampling weights, of several the first; none that is ``taken``."""
    found = weights_in(column for column in columns.values() if column is not None)
    for name, why in [each for each in found if each[0] not in taken][:1]:
        proposal.propose(name, "weight", why)
        for others in (proposal.candidates, proposal.sensitive):
            others[:] = [each for each in others if each.name != name]
        return (name,)
    return ()


def _weight_of_persons(proposal: Proposal, weights: Sequence[str]) -> None:
    """Leave out weights where persons have several records: a person has no weight then."""
    if any(role == "person" for role, _ in proposal.roles.values()):
        for name in weights:
            why = f"by its name it is {WEIGHT}, which gives the sample away"
            proposal.propose(name, "left out", why)


def _one_of_equals(proposal: Proposal, columns: Mapping[str, ProfiledColumn | None]) -> None:
    """Leave out candidates that another one determines, none for one whose name says less.

    Where persons have several records, one of each is looked at: an exact age repeats with them,
    and would determine all that they have.
    """
    keys = [columns[name] for name, (role, _) in proposal.roles.items() if role == "person"]
    persons = [column for column in keys if column is not None]
    records = np.unique(together(persons), return_index=True)[1] if persons else None
    # A coordinate tells the other one and all that goes with a place, and is none without it.
    compared = [each for each in proposal.candidates if not _is_coordinate(each)]
    ranked = sorted(compared, key=lambda column: weight_of(column.hint))
    # By weight, so that what is compared is what would be proposed.
    found = determined(ranked[:MOST_COMPARED], records)
    of = {column.name: column for column in proposal.candidates}
    gone: dict[str, Determined] = {}
    for each in sorted(found, key=lambda one: not one.mutual):
        if each.mutual and not _lighter(of[each.name], of[each.by]):
            continue
        if _known_by_name(of[each.name]) and not _known_by_name(of[each.by]):
            continue
        gone[each.name] = each
        if each.mutual and of[each.name].numbers is not None:
            proposal.orders[each.by] = each.name
    for name, each in gone.items():
        mutual = " and the other way round" if each.mutual else ""
        why = f"{each.by!r} determines it{mutual}, so that one of them is enough"
        proposal.propose(name, "left out", why)
    proposal.candidates = [column for column in proposal.candidates if column.name not in gone]


def _is_coordinate(column: ProfiledColumn) -> bool:
    return column.hint is not None and column.hint.about == COORDINATE


def _known_by_name(column: ProfiledColumn) -> bool:
    return column.hint is not None and column.hint.role == "quasi-identifier"


def _lighter(one: ProfiledColumn, other: ProfiledColumn) -> bool:
    def place(column: ProfiledColumn) -> tuple[int, bool]:
        return weight_of(column.hint), column.numbers is not None

    return place(one) > place(other) or (place(one) == place(other) and one.name > other.name)


def _sensitive(proposal: Proposal, *, chosen_already: bool) -> None:
    """Choose what is sensitive: by name, else the likeliest category without another role."""
    ranked = _one_of_each_kind(proposal.sensitive)
    most = 0 if chosen_already else MOST_SENSITIVE
    for column in ranked[:most]:
        about = column.hint.about if column.hint else "sensitive"
        proposal.propose(column.name, "sensitive", f"by its name it is {about}")
    for column in ranked[most:]:
        about = column.hint.about if column.hint else "sensitive"
        why = f"by its name it is {about}; list it as sensitive to release it"
        proposal.propose(column.name, "left out", why)
    if ranked or chosen_already or len(proposal.candidates) < 2:
        return
    likely = [column for column in proposal.candidates if _guessable(column)]
    if likely:
        guess = max(likely, key=lambda column: not TARGETS.isdisjoint(words_of(column.name)))
        named = not TARGETS.isdisjoint(words_of(guess.name))
        last = likely[-1] if not named else guess
        why = "no name says what is sensitive, and this is the likeliest column: a guess to confirm"
        proposal.propose(last.name, "sensitive", why, guess=True)
        proposal.candidates.remove(last)


def _one_of_each_kind(sensitive: Sequence[ProfiledColumn]) -> list[ProfiledColumn]:
    """Sensitive attributes by weight, of those of one kind that of the fewest values first.

    The others of a kind follow after all kinds, so that an income is not left out for a second
    illness.
    """
    ranked = sorted(sensitive, key=lambda column: (weight_of(column.hint), len(column.values)))
    first: dict[int, ProfiledColumn] = {}
    for column in ranked:
        first.setdefault(weight_of(column.hint), column)
    others = [column for column in ranked if column is not first[weight_of(column.hint)]]
    return [*first.values(), *others]


def _guessable(column: ProfiledColumn) -> bool:
    """Return whether an attribute may be what the table is about although no name says so."""
    kinds = ("boolean", "category", "ordered category")
    several = 2 <= len(column.values) <= MOST_GUESSED
    unnamed = not _known_by_name(column) and not is_named_key(column)
    return (
        unnamed
        and several
        and column.kind in kinds
        and bool(column.sizes[0] <= COMMON * column.records)
    )


def _quasi_identifiers(proposal: Proposal, given: GivenRoles) -> None:
    """Choose the quasi-identifiers: those whose names say so first, not too many of them.

    Where the user wants fewer, a column whose name says nothing is released as it is; one that
    others may know by its name never is.
    """
    ranked = sorted(proposal.candidates, key=_tells_little)
    chosen_already = given.quasi_identifiers is not None
    most = 0 if chosen_already else given.most or MOST_QUASI_IDENTIFIERS
    pair = [place for place, column in enumerate(ranked) if _is_coordinate(column)]
    if pair and pair[0] < most <= pair[-1]:  # both, or none
        ranked += [ranked.pop(place) for place in pair[::-1]]
    for column in ranked[:most]:
        hint = column.hint
        why = (
            f"by its name it is {hint.about}, which others may know"
            if hint and _known_by_name(column)
            else "its name says nothing, so that others may know it"
        )
        proposal.propose(column.name, "quasi-identifier", why)
    why = (
        "you chose other quasi-identifiers"
        if chosen_already
        else f"left out after {most} other quasi-identifiers, as each one more leaves less of all"
    )
    for column in ranked[most:]:
        if given.most is None or _known_by_name(column):
            proposal.propose(column.name, "left out", why, A_LINE)
        else:
            proposal.roles[column.name] = "insensitive", RoleReason(AS_IT_IS, beyond=True)


def _tells_little(column: ProfiledColumn) -> tuple[int, bool]:
    """Rank a candidate: by its name, and those last of which nearly all records have one value."""
    rare = column.sizes.max(initial=0) > COMMON * column.records
    return weight_of(column.hint), column.hint is None and bool(rare)


def _at_least_one(proposal: Proposal, columns: Mapping[str, ProfiledColumn | None]) -> None:
    """Make a quasi-identifier of some column where no other one is: a study needs one."""
    if any(role == "quasi-identifier" for role, _ in proposal.roles.values()):
        return
    order: dict[Role, int] = {
        "insensitive": 0,
        "left out": 1,
        "identifier": 2,
        "sensitive": 3,
        "weight": 4,
        "person": 5,
    }
    able = [name for name, column in columns.items() if column is not None]
    free = [name for name in able if proposal.roles[name][1] != GIVEN]
    if not free:
        raise InputError("name at least one quasi-identifier: every column has another role")

    def place(name: str) -> tuple[int, float]:
        column = columns[name]
        return order[proposal.roles[name][0]], column.distinction if column else 1.0

    best = min(free, key=place)
    if proposal.roles[best][0] == "person":  # nothing but the key is there
        for name in free:
            proposal.propose(name, "identifier", "it tells who a record is of, and nothing else")
    proposal.propose(best, "quasi-identifier", "a study needs one, and no other column can be it")
