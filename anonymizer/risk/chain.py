"""The chain rule: what attributes tell one after the other, and each in addition to all others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import pandas as pd

from anonymizer.recoding import Watch, ignore
from anonymizer.release.results import Result
from anonymizer.risk.refinement import Columnar, Refinement
from anonymizer.risk.subsets import column_of, refined

ROUND = 9
"""Digits of bits beyond which two sums may differ by the order of their terms alone."""


@dataclass(frozen=True)
class Link(Result):
    """A step of the greedy chain, in bits; no information is ever negative.

    ``adds_to_others`` is I(X;Y_i | all the others) = I(X; all) - I(X; all but Y_i). About a
    sensitive attribute it may be more than ``alone`` as well as less.
    """

    name: str  # the attribute Y_i that adds most to those before it
    alone: float  # I(X;Y_i)
    adds: float  # I(X;Y_i | those before it)
    total: float  # I(X; it and those before it)
    adds_to_others: float


@dataclass(frozen=True)
class InformationChain(Result):
    """I(X; Y_1 ... Y_n) = sum of I(X; Y_i | Y_1 ... Y_i-1), and the part of each attribute.

    The ``links`` are in greedy order: the attribute that tells most, the one that adds most to it,
    and so on; ties by name. Their ``adds`` sum to ``total``. In general no order tells most at
    every length.
    """

    total: float  # I(X; all the attributes), in bits: H(Y) where X is the record itself
    links: tuple[Link, ...]


def chains(
    table: Columnar,
    alone: Mapping[str, Sequence[float]],
    abouts: Sequence[pd.Series | None],
    watch: Watch = ignore,
) -> list[InformationChain]:
    """The chain of some attributes about each X: the record itself (None) or a column.

    ``alone`` is I(X;Y_i) about each X, for every attribute. Leaving out each takes n log n
    refinements for all X together. The greedy order takes up to n^2 / 2 for a sensitive attribute,
    and few more than n for the record itself, where I(X;Y) = H(Y) is submodular: an attribute adds
    the less the more are known.
    """
    whole = refined(Refinement.whole(table), table, alone)
    classes = whole.classes
    totals = [whole.measures(about).mutual_information for about in abouts]
    adds: dict[str, list[float]] = {}
    for name, others in _all_but_one(table, list(alone), Refinement.whole(table)):
        # As many classes are the same classes: the attribute adds exactly nothing.
        same = others.classes == classes
        adds[name] = [
            0.0 if same else max(total - others.measures(about).mutual_information, 0.0)
            for about, total in zip(abouts, totals, strict=True)
        ]
        watch("leaving out one attribute", len(adds), len(alone))
    found = []
    for at, (about, total) in enumerate(zip(abouts, totals, strict=True)):
        first = {name: alone[name][at] for name in alone}
        order = _greedy(table, first, about, (classes, total), watch)
        links = [Link(name, first[name], *bits, adds[name][at]) for name, bits in order]
        found.append(InformationChain(total, tuple(links)))
    return found


def _all_but_one(
    table: Columnar, names: Sequence[str], classes: Refinement
) -> Iterator[tuple[str, Refinement]]:
    """Classes split by all columns but one, for each: by halves, so that none is split twice."""
    if len(names) == 1:
        yield names[0], classes
        return
    left, right = names[: len(names) // 2], names[len(names) // 2 :]
    yield from _all_but_one(table, left, refined(classes, table, right))
    yield from _all_but_one(table, right, refined(classes, table, left))


def _greedy(
    table: Columnar,
    alone: Mapping[str, float],
    about: pd.Series | None,
    end: tuple[int, float],
    watch: Watch,
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The attribute that adds most, what it adds, and the sum; those that add nothing come last.

    ``end``: the number of classes by all attributes, and their information about X.
    """
    bounds = dict(alone)  # what each can add at most; those that split no class are removed
    left, classes, total = set(alone), Refinement.whole(table), 0.0
    while classes.classes < end[0] and total < end[1]:
        name, classes, adds = _next(table, classes, total, bounds, about)
        total += adds
        yield name, (adds, total)
        left.remove(name)
        watch("chaining attributes", len(alone) - len(left), len(alone))
        # About the record itself attributes are submodular; about another they may work together.
        bounds = {other: bounds[other] if about is None else inf for other in bounds}
    yield from ((name, (0.0, total)) for name in sorted(left))


def _next(
    table: Columnar,
    classes: Refinement,
    total: float,
    bounds: dict[str, float],
    about: pd.Series | None,
) -> tuple[str, Refinement, float]:
    """The attribute that adds most, the classes with it, what it adds; sharpens the bounds.

    At least one attribute still splits a class.
    """
    best, found, most = "", classes, -inf
    for name in sorted(bounds, key=lambda name: (-bounds[name], name)):
        if bounds[name] < most - 10**-ROUND:
            break
        split = classes.by(column_of(table, name))
        if split.classes == classes.classes:
            del bounds[name]
            continue
        bounds[name] = adds = max(split.measures(about).mutual_information - total, 0.0)
        if (-round(adds, ROUND), name) < (-round(most, ROUND), best):
            best, found, most = name, split, adds
    del bounds[best]
    return best, found, most
