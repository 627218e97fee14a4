"""The chain rules of Table 1: which informations of a symbol add up, over three variables.

Plainly read, chain X is of x = (x1, x2), I(x; Y) = I(x1; Y) + I(x2; Y | x1), and chain Y of what x
tells about two variables, I(x; Y1, Y2) = I(x; Y1) + I(x; Y2 | Y1). A law is a table of records.
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.information.entropy import (
    entropy,
    partition_information,
    specific_information,
    surprise,
    weighted_uncertainty_reduction,
)
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import Row

LAWS, SEED = 300, 0
EVENNESS, LEAST = 0.4, 1e-12
"""The parameter of the Dirichlet distribution of laws, and the least record of a cell."""
ROUNDING = 1e-9
Rule = Literal["X", "Y"]
MEASURES: dict[str, Callable[[ArrayLike], Floats]] = {
    "I1": surprise,
    "I2": specific_information,
    "I3": weighted_uncertainty_reduction,
    "I4": partition_information,
}
PRINTED = {
    "X": {"I1": "Yes", "I2": "Yes", "I3": "Yes", "I4": "Yes"},
    "Y": {"I1": "No", "I2": "Yes", "I3": "No", "I4": "Yes/No"},
}
"""The two columns of Table 1."""
PROOFS = "proven in docs/theory/information.md"


def chain_rows(rule: Rule) -> list[Row]:
    """Return whether the rule holds for each information: over random laws, and small ones."""
    return [_row(name, rule) for name in MEASURES]


def _row(name: str, rule: Rule) -> Row:
    printed = PRINTED[rule][name]
    gap = max(furthest(name, rule, law) for law in random_laws())
    holds = gap < ROUNDING
    agrees = ("Yes" if holds else "No") in printed.split("/")
    reason = PROOFS if holds else f"of {_example(name, rule)}"
    exchanged = PRINTED["Y" if rule == "X" else "X"][name]
    remark = "" if agrees else f"the other column has {exchanged}"
    if not holds:
        remark += "; how far away depends on the laws, farther where they are less even"
    if "/" in printed:
        away = max(furthest(name, rule, law, by_symbol=True) for law in random_laws())
        remark = f"{PROOFS}; with Y2's information weighted by p(y1|x), {away:.6f} bits away"
    return Row.claim(
        f"{name}, chain rule {rule}",
        agrees,
        f"{'Yes' if holds else 'No'}: at most {gap:.6f} bits away over {LAWS} laws",
        printed,
        remark,
        cannot=reason,
        where=f"anonymizer.information.entropy.{MEASURES[name].__name__}",
    )


def _example(name: str, rule: Rule) -> str:
    law = smallest(name, rule)
    return f"{law.astype(int).tolist()}, {furthest(name, rule, law):.6f} bits away"


@cache
def random_laws() -> list[Floats]:
    """Laws of three variables with two or three values each, most of them far from even."""
    rng = np.random.default_rng(SEED)
    shapes = rng.integers(2, 4, (LAWS, 3))
    laws = (rng.dirichlet(np.full(shape.prod(), EVENNESS)).reshape(shape) for shape in shapes)
    return [np.maximum(law, LEAST) for law in laws]


def smallest(name: str, rule: Rule) -> Floats:
    """A law of fewest records, none more than one in a cell, that breaks the rule."""
    cells = (np.array(cell, float) for cell in product(range(2), repeat=8))
    laws = sorted((cell.reshape(2, 2, 2) for cell in cells), key=np.sum)
    whole = (law for law in laws if law.any((1, 2)).all() and law.any((0, 2)).all())
    return next(law for law in whole if furthest(name, rule, law) > ROUNDING)


def furthest(name: str, rule: Rule, law: Floats, by_symbol: bool = False) -> float:
    """Return the distance of the two sides of the rule, at the worst symbol, in bits."""
    occurring = law.sum(2) > 0 if rule == "X" else law.sum((1, 2)) > 0
    sides = chain_x(name, law) if rule == "X" else chain_y(name, law, by_symbol)
    return float(np.abs(sides[0] - sides[1])[occurring].max())


def chain_x(name: str, law: Floats) -> tuple[Floats, Floats]:
    """I(x; Y), and I(x1; Y) + I(x2; Y | x1), of a law of X1, X2, Y; shape (x1, x2)."""
    measure = MEASURES[name]
    whole = measure(law.reshape(-1, law.shape[2])).reshape(law.shape[:2])
    parts = [measure(law.sum(1))[x1] + measure(law[x1]) for x1 in range(len(law))]
    return whole, np.array(parts)


def chain_y(name: str, law: Floats, by_symbol: bool = False) -> tuple[Floats, Floats]:
    """I(x; Y1, Y2), and I(x; Y1) + I(x; Y2 | Y1), of a law of X, Y1, Y2; shape (x,)."""
    measure, given = MEASURES[name], _given(name, law, by_symbol)
    return measure(law.reshape(len(law), -1)), measure(law.sum(2)) + given


def _given(name: str, law: Floats, by_symbol: bool) -> Floats:
    """Return the information of x about Y2 when Y1 is known.

    I2 compares H(Y2|Y1) with H(Y2|Y1,x), each a mean over the Y1 of its own. I4 is of a variable,
    whether X is x, so that Y1 comes as it does for all, unless it is to be ``by_symbol``; I1 and
    I3 are of x, given x.
    """
    sizes = law.sum(2)
    of_x, of_all = _shares(sizes), sizes.sum(0) / sizes.sum()
    if name == "I2":
        return np.asarray(of_all @ entropy(law.sum(0)) - (of_x * entropy(law)).sum(1))
    known = np.stack([MEASURES[name](law[:, y1]) for y1 in range(law.shape[1])], axis=1)
    weights = of_all if name == "I4" and not by_symbol else of_x
    return np.asarray((weights * known).sum(1))


def _shares(sizes: Floats) -> Floats:
    total = sizes.sum(1, keepdims=True)
    return np.asarray(np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0))
