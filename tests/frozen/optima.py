"""What is best in random problems: node, score, bound, and how many nodes were counted."""

from problems.drawing import drawn

from anonymizer import AnonymizerError
from anonymizer.recoding import solve

NUMBER = 10_000
EACH = 100


def names() -> list[str]:
    """Problems, a hundred a text."""
    return [f"problems {first} to {first + EACH - 1}" for first in range(1, NUMBER + 1, EACH)]


def text(name: str) -> str:
    """The optima of the problems of a name, a line each."""
    first = int(name.split()[1])
    return "".join(f"{number}: {_optimum(number)}\n" for number in range(first, first + EACH))


def _optimum(number: int) -> str:
    problem = drawn(number).problem()
    try:
        found = solve(problem, "automatic")
    except AnonymizerError as error:
        return str(error)
    if found is None:
        return "none"
    return f"{found.node} {found.score!r} {found.bound!r} {found.checked} {found.proven}"
