"""One problem after the other: drawn, solved, and where it fails made smaller and written down."""

import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from cases import Case

from . import complaints, interrupts
from .complaints import Complaint, Ways
from .drawing import drawn
from .limits import small_limits
from .shrinking import smallest
from .ways import WAYS

WIDEST = 30
"""Records up to which a problem is written down record by record."""


@dataclass(frozen=True)
class Tried:
    """What came of a problem: what it is about, and what is wrong."""

    number: int
    about: Counter
    complaints: list[Complaint]


def tried(number: int, ways: Ways = WAYS) -> Tried:
    """Draw a problem and hold its answers against brute force."""
    try:
        case = drawn(number)
    except Exception:
        return Tried(number, Counter(), [Complaint("not drawn", traceback.format_exc())])
    return Tried(number, about(case), wrong(case, number, ways))


def wrong(case: Case, number: int, ways: Ways = WAYS) -> list[Complaint]:
    """All that is wrong with a problem's answers, an error that nobody foresaw included."""
    try:
        problem = case.problem()
        with small_limits(number):
            found = complaints.complaints(case, problem, number, ways)
            return [*found, *interrupts.complaints(case, problem, number, ways)]
    except Exception as error:
        return [Complaint(f"error {type(error).__name__}: {error}"[:60], traceback.format_exc())]


def about(case: Case) -> Counter:
    """What a problem is about: models, objective, budget, and whether it has an answer."""
    brute = case.brute
    names = {model.name for model in brute.models}
    budget = "suppression" if brute.most else "no suppression"
    solved = "feasible" if brute.outcomes else "infeasible"
    ties = {"ties"} if len(brute.tied) > 1 else set()
    return Counter([*names, f"objective {brute.objective}", budget, solved, *ties])


def explained(found: Tried, ways: Ways = WAYS) -> str:
    """A failure with the smallest problem that fails alike."""
    kind = found.complaints[0].kind

    def fails(case: Case) -> bool:
        return kind in {each.kind for each in wrong(case, found.number, ways)}

    if kind == "not drawn":
        return found.complaints[0].words
    case = smallest(drawn(found.number), fails)
    told = [f"  {each.kind}: {each.words}" for each in wrong(case, found.number, ways)]
    again = f"python -m tests.problems --one {found.number}"
    return "\n".join([again, *told, *(f"    {line}" for line in written(case))])


def written(case: Case) -> Iterator[str]:
    """A problem in words."""
    brute = case.brute
    yield f"objective {brute.objective} {brute.aggregate or ''} {dict(brute.weights)}"
    yield f"targets {dict(brute.targets)}"
    yield f"suppression {brute.share} of {brute.suppress}, remove {brute.remove}"
    yield f"exempt {brute.exempt}"
    yield from (f"model {model}" for model in brute.models)
    for name, chain in brute.chains.items():
        yield f"{name}, levels {brute.limits.get(name, 'all')}: {[*chain.labels.values()]}"
    yield f"{len(brute.rows)} records, {len(brute.people)} people, {len(brute.nodes)} nodes"
    yield from (str(row) for row in brute.rows[:WIDEST])
    yield f"best {brute.best}, feasible {[*brute.outcomes]}"
