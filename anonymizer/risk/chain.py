"""What attributes tell one after the other, and each beside all the others: the chain rule."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf

import pandas as pd

from anonymizer.recoding import Watch, ignore
from anonymizer.risk.measures import Measures
from anonymizer.risk.refinement import Columns, Refinement
from anonymizer.risk.subsets import column_of, refined

__all__ = ["Chain", "Contribution", "Link", "chains", "profiled"]

ROUND = 9
"""Digits of bits beyond which two sums may differ by the order of their terms alone."""


@dataclass(frozen=True)
class Contribution:
    """What one attribute tells about X at risk, in bits.

    Parameters
    ----------
    name
        The attribute Y_i.
    alone
        I(X;Y_i).
    adds
        I(X;Y_i | all the others) = I(X; all) - I(X; all but Y_i), never negative. It may be more
        than ``alone`` (about a sensitive attribute) as well as less.
    """

    name: str
    alone: float
    adds: float


@dataclass(frozen=True)
class Link:
    """A step of the greedy chain, in bits.

    Parameters
    ----------
    name
        The attribute that adds most to those before it.
    adds
        I(X;Y_i | those before it), never negative.
    told
        I(X; it and those before it).
    """

    name: str
    adds: float
    told: float


@dataclass(frozen=True)
class Chain:
    """I(X; Y_1 ... Y_n) = sum of I(X; Y_i | Y_1 ... Y_i-1), and what each attribute has of it.

    Parameters
    ----------
    told
        I(X; all the attributes), in bits: H(Y) where X is the record itself.
    attributes
        Alone and beside all the others, in the order they were named in.
    links
        The greedy order: which tells most, which adds most to that one, and so on; ties by name.
        Their ``adds`` sum to ``told``. No order tells most at every length in general.
    """

    told: float
    attributes: tuple[Contribution, ...]
    links: tuple[Link, ...]

    def to_dict(self) -> dict[str, object]:
        """The chain as JSON has it."""
        return {
            "told": self.told,
            "attributes": [asdict(part) for part in self.attributes],
            "chain": [asdict(link) for link in self.links],
        }


def profiled(classes: Refinement, about: pd.Series | None) -> Measures:
    """What classes tell about a sensitive attribute, or about who a record is of."""
    profile = classes.reidentification() if about is None else classes.inference(about)
    return profile.measures


def chains(
    table: Columns,
    alone: Mapping[str, Sequence[float]],
    abouts: Sequence[pd.Series | None],
    watch: Watch = ignore,
) -> list[Chain]:
    """The chain of some attributes about each X: the record itself (None) or a column.

    ``alone`` has I(X;Y_i) about each X, for every attribute. To leave out each takes n log n
    refinements for all X together. The greedy order takes up to n^2 / 2 for a sensitive attribute,
    and few more than n for the record itself, about which attributes only ever add less the more
    are known already.
    """
    classes, told = _together(table, alone, abouts)
    adds: dict[str, list[float]] = {}
    for name, others in _all_but_one(table, list(alone), Refinement.trivial(len(table))):
        # As many classes are the same classes, which leave nothing to be told, exactly.
        same = others.classes == classes
        adds[name] = [
            0.0 if same else max(most - profiled(others, about).mutual_information, 0.0)
            for about, most in zip(abouts, told, strict=True)
        ]
        watch("leaving out one attribute", len(adds), len(alone))
    found = []
    for at, (about, most) in enumerate(zip(abouts, told, strict=True)):
        first = {name: alone[name][at] for name in alone}
        parts = [Contribution(name, first[name], adds[name][at]) for name in alone]
        links = _greedy(table, first, about, (classes, most), watch)
        found.append(Chain(most, tuple(parts), tuple(links)))
    return found


def _together(
    table: Columns, names: Iterable[str], abouts: Iterable[pd.Series | None]
) -> tuple[int, list[float]]:
    """The number of classes by all columns, and what these tell about each X."""
    whole = refined(Refinement.trivial(len(table)), table, names)
    return whole.classes, [profiled(whole, about).mutual_information for about in abouts]


def _all_but_one(
    table: Columns, names: Sequence[str], classes: Refinement
) -> Iterator[tuple[str, Refinement]]:
    """Classes split by all columns but one, for each: halves beside halves, none split twice."""
    if len(names) == 1:
        yield names[0], classes
        return
    left, right = names[: len(names) // 2], names[len(names) // 2 :]
    yield from _all_but_one(table, left, refined(classes, table, right))
    yield from _all_but_one(table, right, refined(classes, table, left))


def _greedy(
    table: Columns,
    alone: Mapping[str, float],
    about: pd.Series | None,
    end: tuple[int, float],
    watch: Watch,
) -> Iterator[Link]:
    """The attribute that adds most, time and again; those that add nothing more come last.

    ``end``: the classes by all attributes, and what these tell.
    """
    bounds = dict(alone)
    """What each can add at most; one that splits no class any more is not among them."""
    left, classes, told = set(alone), Refinement.trivial(len(table)), 0.0
    while classes.classes < end[0] and told < end[1]:
        name, classes, adds = _next(table, classes, told, bounds, about)
        told += adds
        yield Link(name, adds, told)
        left.remove(name)
        watch("chaining attributes", len(alone) - len(left), len(alone))
        # About the record itself attributes are submodular; about another they may work together.
        bounds = {other: bounds[other] if about is None else inf for other in bounds}
    yield from (Link(name, 0.0, told) for name in sorted(left))


def _next(
    table: Columns,
    classes: Refinement,
    told: float,
    bounds: dict[str, float],
    about: pd.Series | None,
) -> tuple[str, Refinement, float]:
    """The attribute that adds most, the classes with it, what it adds; sharpens the bounds.

    Some attribute splits a class: it is asked for only then.
    """
    best, found, most = "", classes, -inf
    for name in sorted(bounds, key=lambda name: (-bounds[name], name)):
        if bounds[name] < most - 10**-ROUND:
            break
        split = classes.by(column_of(table, name))
        if split.classes == classes.classes:
            del bounds[name]
            continue
        bounds[name] = adds = max(profiled(split, about).mutual_information - told, 0.0)
        if (-round(adds, ROUND), name) < (-round(most, ROUND), best):
            best, found, most = name, split, adds
    del bounds[best]
    return best, found, most
