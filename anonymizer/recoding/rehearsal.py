"""A recoding chosen in rehearsals: safe against readers who know the method.

Whoever knows the quasi-identifiers of everybody, the policy and the search knows which recodings
would have been preferred, and that each of them broke the policy (Wong et al. 2007). So here the
search never sees the sensitive values. It sees tables with the same quasi-identifiers and invented
values, and everything that these follow from is noise added to a few counts.

The counts. Records are counted by the groups of two quasi-identifiers and by sensitive value, for
any two of them; by those of one where that is all the records allow. What the groups are follows
from quasi-identifiers, and from how many values there are. These are t tables for each of m
sensitive attributes. To each number noise z is added with the probability proportional to
exp(-|z| / T), T = ceil(4 t m / ln(odds)). How often everybody together has each value is known by
the release, which has all records: these numbers have no noise.

Theorem. Let the attacker know all quasi-identifiers, the policy, the method and the release, and
take all ways to deal the released values of each class to its records for equally likely before
they think of how the recoding was chosen. Then for each record r of a class with the shares p, and
all values v and w,

    P(r has v) / P(r has w) <= odds p(v) / p(w).

Proof. Let S be the ways to deal in which r has v, S' those in which r has w. Exchange the values of
r and of a record of its class that has w: that takes each element of S to n(w) elements of S', and
each of S' comes from n(v) of S. Both have the same release. The exchange changes each of the t
tables by at most 4 in all, in four numbers by one, and that of everybody by nothing. So any outcome
of the noise is at most exp(4 t m / T) <= odds times as likely in one as in the other, and so is the
recoding, which follows from noisy counts and quasi-identifiers alone (and from randomness of its
own). That the policy holds of the release follows from the release. Sum over all exchanges.

This is differential privacy of the choice (Dwork et al. 2006; for the noise in whole numbers,
Ghosh et al. 2009), and it is the choice alone that needs it: the released classes are as they are.
The policy is held against all such beliefs: see ``anonymizer.privacy.beliefs``. What remains is a
refusal, where the recoding that was chosen breaks the policy. Who tries until there is a release,
at most n times, may raise the odds by the factor n: the chance of a release is that of its recoding
times the expected number of tries, at most n. Who makes several and picks one may raise them more.

The rehearsals. p(w|x) is taken for proportional to p(w) times a factor for each quasi-identifier,
by which it makes w likelier, and one for any two of them, by which both together do beyond that:
all by noisy counts. Values are drawn by it several times; after the first, from counts with more
noise of the same kind, as nobody knows which numbers are nearer the true ones. A recoding is
feasible where the policy holds in all of these tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, log, prod, sqrt
from secrets import randbelow
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.matrices import dense, too_large
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy import PrivacyModel, require_of_one
from anonymizer.privacy.beliefs import MOST_ODDS
from anonymizer.recoding.problem import Problem
from anonymizer.recoding.recoding import SearchResult

AGAINST = 'against = "method"'
"""What is requested, as messages say it."""

REHEARSAL = "rehearsal"
"""The strategy of a search that never saw sensitive values."""

TABLES = 10
"""Tables with invented values that a recoding has to satisfy the policy in."""

MOST_NUMBERS = 1 << 25
"""Numbers of all these tables together, a quarter of a gigabyte: of large ones there are fewer."""

FEWEST = 2
"""The fewest tables."""

ENOUGH = 1.5
"""Records that a group has on average for each value, as a multiple of the noise."""

GROUPS = 20
"""The fewest groups for which two quasi-identifiers are counted together."""

MARGIN = 1.05
"""How much larger the odds are in rehearsals, so that the table itself holds more often."""

SMOOTHED = 2
"""What is added to noisy counts, as a multiple of the noise."""

FEW_VALUES = 20
"""Values for each of which a class is measured in rehearsals: of more, bounds stand for beliefs."""

RAKED = 20
"""Times that the shares of values are brought to those of all records."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """Whole numbers z with a probability proportional to exp(-|z| / scale), drawn exactly.

    By the source of randomness of the operating system, and without floating point: Canonne,
    Kamath, Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020), Algorithm 2.
    """

    scale: int

    def draw(self) -> int:
        """Return a number."""
        while True:
            rest = randbelow(self.scale)
            if not _happens(rest, self.scale):
                continue
            whole = 0
            while _happens(1, 1):
                whole += 1
            size, negative = rest + self.scale * whole, randbelow(2)
            if size or not negative:
                return -size if negative else size

    def to(self, counts: Ints) -> Ints:
        """Return counts with noise on each, of the same shape."""
        drawn = [self.draw() for _ in range(counts.size)]
        return counts + np.array(drawn, np.int64).reshape(counts.shape)


def _like(noise: DiscreteLaplace, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
    """Numbers of the same law, quick and nearly exact: for what has its noise already."""
    ends = -np.expm1(-1 / noise.scale)
    return np.asarray(rng.geometric(ends, shape) - rng.geometric(ends, shape), np.int64)


def _happens(part: int, whole: int) -> bool:
    """Return True with the probability exp(-part / whole), for part <= whole."""
    terms = 1
    while randbelow(whole * terms) < part:
        terms += 1
    return terms % 2 == 1


class Groups(NamedTuple):
    """Groups of the combinations of values by some quasi-identifiers: what records are counted by.

    ``axes`` are the places of the quasi-identifiers, ``group`` (combinations, axes) the group by
    each.
    """

    axes: tuple[int, ...]
    group: Codes

    @property
    def shape(self) -> tuple[int, ...]:
        """How many groups there are by each quasi-identifier."""
        return tuple(int(most) + 1 for most in self.group.max(axis=0, initial=0))

    def counted(self, numbers: Ints) -> Ints:
        """Add up numbers of combinations, (combinations, ...), by group, (*shape, ...)."""
        place = np.zeros(len(self.group), np.intp)
        for size, group in zip(self.shape, self.group.T, strict=True):
            place = place * size + group
        found = np.zeros((prod(self.shape), *numbers.shape[1:]), np.int64)
        np.add.at(found, place, numbers)
        return found.reshape(*self.shape, *numbers.shape[1:])


def rehearsed(
    problem: Problem,
    odds: float,
    *,
    by_bounds: bool,
    noise: type[DiscreteLaplace] = DiscreteLaplace,
) -> Problem:
    """Return the problem with invented sensitive values in place of the true ones.

    ``odds``: see above. ``by_bounds``: whether the search reads models by their bounds alone, of
    which those with odds have none. InputError where there are too many different values.
    """
    counts = problem.counts
    if not counts.sensitive:
        return problem
    if any(map(too_large, counts.joint.values())):
        raise InputError(
            f"{AGAINST} invents values for every combination of quasi-identifiers, and there are "
            "too many of both; coarsen the quasi-identifiers, or leave it out"
        )
    require_of_one(problem.models, AGAINST, "leave it out, or choose a model of each alone")
    joint: dict[str, Ints] = {}
    values: dict[str, tuple[object, ...]] = {}
    copies: dict[str, list[str]] = {}
    for attribute in counts.sensitive:
        found = _invented(problem, attribute, odds, noise)
        copies[attribute] = [f"{attribute} ({place})" for place in range(1, len(found) + 1)]
        joint |= dict(zip(copies[attribute], found, strict=True))
        if attribute in counts.values:
            values |= dict.fromkeys(copies[attribute], counts.values[attribute])
    invented = replace(
        counts,
        joint=joint,
        values=values,
        margins={name: np.asarray(each.sum(axis=0)) for name, each in joint.items()},
        gaps=tuple(name for attribute in counts.gaps for name in copies[attribute]),
    )
    models = [about for model in problem.models for about in _about(model, copies)]
    if by_bounds or max(each.shape[1] for each in joint.values()) > FEW_VALUES:
        models = [_bounded(model, invented, by_bounds) for model in models]
    return replace(problem, counts=invented, models=models)


def after(search: SearchResult) -> SearchResult:
    """Return what may be said of a search in rehearsals: no figure of these is one of the table."""
    explained = (
        "Chosen in rehearsals, on tables with the same quasi-identifiers and invented sensitive "
        "values, so that the choice tells next to nothing of the true ones"
    )
    return replace(
        search,
        strategy=REHEARSAL,
        value=None,
        gap=None,
        bound=None,
        feasible=None,
        minimal=None,
        proven=False,
        trace=None,
        explained=". ".join(filter(None, [search.explained, explained])),
    )


def _about(model: PrivacyModel, copies: Mapping[str, Sequence[str]]) -> Sequence[PrivacyModel]:
    """A model of the policy as one of the invented tables; none where beliefs have it anyway."""
    if not model.sensitive:
        return [model]
    odds = model.odds
    if odds is None:
        return [each for each in model.lasting() if not each.sensitive]
    attribute = model.attribute
    wider = min(odds * MARGIN, MOST_ODDS)
    about = copies[attribute] if isinstance(attribute, str) else [None]
    return [replace(model, attribute=name, odds=wider) for name in about]  # type: ignore[type-var]


def _bounded(model: PrivacyModel, invented: Counts, needed: bool) -> PrivacyModel:
    """A model without odds that implies one about an invented table; itself where none is known.

    InputError where it is ``needed``.
    """
    if model.odds is None:
        return model
    name = model.attribute or invented.sensitive[0]
    found = model.without_odds(invented.about(name).known)
    if found is None and needed:
        raise InputError(
            f"{AGAINST} is not made for {model.name} with boxes and merged cells, whose searches "
            "read bounds alone; choose full-domain, variable-range or cut, or another model"
        )
    return found or model


def _invented(
    problem: Problem, attribute: str, odds: float, noise: type[DiscreteLaplace]
) -> list[Ints]:
    """Several tables (combinations, values) of an attribute with values that no record has."""
    joint, sizes = dense(problem.counts.joint[attribute], attribute), problem.counts.sizes
    cells, values = joint.shape
    tables, added = chosen_groups(problem, values, odds, noise)
    noisy = noisy_counts(joint, tables, added)
    number = max(FEWEST, min(TABLES, MOST_NUMBERS // max(cells * values, 1)))
    rng = np.random.default_rng()
    found = []
    for table in range(number):
        more = [_like(added, rng, each.shape) if table else 0 for each in noisy[1:]]
        known = [noisy[0], *(each + z for each, z in zip(noisy[1:], more, strict=True))]
        shares = _likelihoods(known, tables, sizes, SMOOTHED * added.scale)
        found.append(np.asarray(rng.multinomial(sizes, shares), np.int64))
    return found


def chosen_groups(
    problem: Problem, values: int, odds: float, noise: type[DiscreteLaplace]
) -> tuple[list[Groups], DiscreteLaplace]:
    """Choose what records are counted by, and the noise, by quasi-identifiers alone.

    ``values``: how many the sensitive attribute has. The first are the groups of everybody.
    """
    counts, axes = problem.counts, range(len(problem.counts.names))

    def needed(tables: int) -> tuple[DiscreteLaplace, float]:
        added = noise(ceil(4 * max(tables, 1) * len(counts.sensitive) / log(odds)))
        return added, ENOUGH * values * added.scale

    def by(axis: int, least: float) -> Codes:
        taxonomy = problem.taxonomies[counts.names[axis]]
        return groups_of(taxonomy, counts.cells[:, axis], counts.sizes, least)

    everybody = Groups((), np.zeros((len(counts), 0), np.intp))
    pairs = list(combinations(axes, 2))
    added, least = needed(len(pairs))
    groups = counts.records / least
    if not pairs or groups < GROUPS:
        added, least = needed(len(axes))
        return [everybody, *(Groups((axis,), by(axis, least)[:, None]) for axis in axes)], added
    some = [by(axis, counts.records / sqrt(groups)) for axis in axes]
    found = [everybody]
    for pair in pairs:
        few, many = sorted(pair, key=lambda axis: int(some[axis].max(initial=0)))
        more = by(many, least * (int(some[few].max(initial=0)) + 1))
        found.append(Groups((few, many), np.column_stack([some[few], more])))
    return found, added


def groups_of(taxonomy: Taxonomy, codes: Codes, sizes: Ints, least: float) -> Codes:
    """Put the values of a quasi-identifier into groups, most records being in one of ``least``.

    The group of each combination, (combinations,), by ``sizes`` and the ``codes`` of its value: of
    the finest level that has such groups, or of neighbours where values have an order and that
    makes more of them. All alike where there are no two such groups.
    """
    best = np.zeros(len(codes), np.intp)
    for level in taxonomy.levels:
        group = level.groups[codes]
        records = np.bincount(group, sizes)
        if sizes[records[group] >= least].sum() * 2 >= sizes.sum():
            best = np.unique(group, return_inverse=True)[1]
            break
    ordered, _ = taxonomy.placed
    if taxonomy.ordered and len(ordered):
        place = np.zeros(len(taxonomy.codes), np.intp)  # 0 of values that have none
        place[ordered] = np.arange(1, len(ordered) + 1)
        records = np.bincount(place[codes], sizes, len(ordered) + 1)
        before = records.cumsum() - records
        neighbours = np.unique((before // least)[place[codes]], return_inverse=True)[1]
        if neighbours.max(initial=0) > best.max(initial=0):
            best = neighbours
    return best


def noisy_counts(joint: Ints, tables: Sequence[Groups], noise: DiscreteLaplace) -> list[Ints]:
    """Count the records of each group with each value, (*groups, values), and add noise to each.

    But for the first, which are those of everybody. This is all that a choice in rehearsals knows
    of sensitive values.
    """
    everybody, *others = (groups.counted(joint) for groups in tables)
    return [everybody, *map(noise.to, others)]


def _likelihoods(
    noisy: Sequence[Ints], tables: Sequence[Groups], sizes: Ints, much: float
) -> Floats:
    """p(w|x) of each combination, (combinations, values), by noisy counts of everybody and groups.

    Counts that are less than the noise say little: ``much`` is added to each, and to what is
    expected of it. The shares of the values in all records are brought to those of the counts
    again, as a product of factors has others.
    """
    prior = np.maximum(noisy[0], 0.5) / np.maximum(noisy[0], 0.5).sum()
    alone: dict[int, Floats] = {}  # of each quasi-identifier by the finest of its groups
    finest: dict[int, int] = {}
    shares = np.tile(prior, (len(sizes), 1))
    for counts, groups in zip(noisy[1:], tables[1:], strict=True):
        expected = groups.counted(sizes)[..., None] * prior
        for place, axis in enumerate(groups.axes):
            others = tuple({*range(len(groups.axes))} - {place})
            factor = _factor(counts.sum(axis=others), expected.sum(axis=others), much)
            expected = expected * np.expand_dims(factor, others)
            if len(factor) > finest.get(axis, 0):
                finest[axis], alone[axis] = len(factor), factor[groups.group[:, place]]
        if len(groups.axes) > 1:
            shares *= _factor(counts, expected, much)[tuple(groups.group.T)]
    for each in alone.values():
        shares *= each
    for _ in range(RAKED):
        shares /= shares.sum(axis=1, keepdims=True)
        shares *= prior / np.maximum(sizes @ shares / sizes.sum(), np.finfo(float).tiny)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _factor(counts: Ints, expected: Floats, much: float) -> Floats:
    return np.asarray(np.maximum(counts + much, 1.0) / (expected + much))
