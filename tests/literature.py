"""What the literature says of one class, in plain Python: what privacy models are held against.

A class and the table it is part of are counts of sensitive values: ``group`` and ``table``. Nothing
of the package is used. Shares are exact fractions until a logarithm or the caller needs a float.
Where a distance is an optimum, it is there twice: in closed form, and as the linear program that
defines it (``..._transport``).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement

from scipy.optimize import linprog

Value = object
Order = Sequence[Value]
Chains = Mapping[Value, tuple[object, ...]]
"""The labels of each value, the value itself first, the last the same for all."""

EULER = 0.57721566490153286061


def added(counts: Iterable[Counter]) -> Counter:
    """The sum of some counts."""
    total: Counter = Counter()
    for each in counts:
        total.update(each)
    return total


def shifted(counts: Counter, value: Value, share: Fraction) -> Counter:
    """Shares of which one value has a given one, and the others as much of the rest as before."""
    rest = sum(count for other, count in counts.items() if other != value)
    found = {other: (1 - share) * count / rest for other, count in counts.items() if other != value}
    return +Counter({**found, value: share})


def shares(counts: Counter) -> dict[Value, Fraction]:
    """The share of each value that occurs."""
    total = sum(counts.values())
    return {value: Fraction(count, total) for value, count in counts.items() if count}


def _pairs(group: Counter, table: Counter) -> list[tuple[Fraction, Fraction]]:
    """The share in the class and in the table, of every value of the class.

    Of any other value the share falls from the table's to 0.
    """
    total = sum(table.values())
    return [(share, Fraction(table[value], total)) for value, share in shares(group).items()]


# Diversity: how many values a class has.


def distinct(group: Counter) -> int:
    """Distinct l: the number of different values. Machanavajjhala et al. (2007)."""
    return sum(count > 0 for count in group.values())


def entropy(group: Counter) -> float:
    """H in bits, each share estimated by itself (plug-in). Shannon (1948)."""
    return -math.fsum(float(q) * math.log2(q) for q in shares(group).values())


def entropy_miller_madow(group: Counter) -> float:
    """H + (m - 1) / (2 n), in bits, m values occurring. Miller (1955), the bias to first order."""
    n = sum(group.values())
    return entropy(group) + (distinct(group) - 1) / (2 * n * math.log(2))


def entropy_grassberger(group: Counter) -> float:
    """ln n - (1 / n) sum n_i G(n_i), in bits. Grassberger (2003).

    Below 0 for some classes: two records of one value have ln 2 - G(2) = -0.0365 nats.
    """
    n = sum(group.values())
    nats = math.log(n) - math.fsum(count * _g(count) for count in group.values() if count) / n
    return nats / math.log(2)


def _g(n: int) -> float:
    """G(n): G(1) = -gamma - ln 2, G(2) = 2 + G(1), G(2j + 1) = G(2j), G(2j + 2) = G(2j) + ..."""
    first = -EULER - math.log(2)
    return first + math.fsum(2 / (2 * j + 1) for j in range(n // 2))


ENTROPIES: dict[str, Callable[[Counter], float]] = {
    "plug-in": entropy,
    "miller-madow": entropy_miller_madow,
    "grassberger": entropy_grassberger,
}


def entropy_l(group: Counter, estimator: str = "plug-in") -> float:
    """2^H, the effective number of values; estimates no more than the values that occur.

    Entropy l-diversity holds when it is at least l. Machanavajjhala et al. (2007).
    """
    effective = 2 ** ENTROPIES[estimator](group)
    return effective if estimator == "plug-in" else min(effective, float(distinct(group)))


def recursive_c(group: Counter, l: int) -> float:  # noqa: E741 (the model's own letter)
    """r_1 / (r_l + ... + r_m), r the counts in falling order; infinite below l values.

    Recursive (c, l)-diversity holds when it is less than c. Machanavajjhala et al. (2007).
    """
    falling = sorted((count for count in group.values() if count), reverse=True)
    tail = sum(falling[l - 1 :])
    return float(Fraction(falling[0], tail)) if tail else math.inf


def alpha(group: Counter) -> float:
    """The largest share of a value; (alpha, k)-anonymity wants at most alpha. Wong et al. (2006).

    Every value is sensitive: their general model.
    """
    return float(max(shares(group).values()))


# Closeness: how far a class is from the table.


def divergence(group: Counter, table: Counter) -> float:
    """D(q || p) in bits. Kullback, Leibler (1951); as I1 in Bezzi (2010), Eq. 8."""
    return math.fsum(float(q) * math.log2(q / p) for q, p in _pairs(group, table))


def _differences(group: Counter, table: Counter, values: Iterable[Value]) -> tuple[list[int], int]:
    """q - p of each value as whole numbers, and what they are multiplied by."""
    size, records = sum(group.values()), sum(table.values())
    return [group[value] * records - table[value] * size for value in values], size * records


def equal(group: Counter, table: Counter) -> float:
    """EMD where all values are at distance 1: half the L1 distance. Li et al. (2007).

    The sum of q - p over the values with q > p.
    """
    differences, scale = _differences(group, table, group)
    return sum(each for each in differences if each > 0) / scale


def ordered(group: Counter, table: Counter, order: Order) -> float:
    """EMD where values are |difference of ranks| / (m - 1) apart. Li et al. (2007).

    The sum of |cumulative differences|, divided by m - 1, m the values of the order.
    """
    if len(order) < 2:
        return 0.0
    differences, scale = _differences(group, table, order)
    return sum(map(abs, accumulate(differences))) / (scale * (len(order) - 1))


def hierarchical(group: Counter, table: Counter, chains: Chains) -> float:
    """EMD where values are (height of the lowest common ancestor) / (height of the tree) apart.

    Li et al. (2007): the sum over inner nodes N of height(N) / height times
    min(excess, deficit) of its children.
    """
    height = _height(chains)
    differences, scale = _differences(group, table, chains)
    extra: dict[object, int] = {(v,): each for v, each in zip(chains, differences, strict=True)}
    above = {(v,): labels[1:] for v, labels in chains.items()}
    cost = 0
    for level in range(1, height + 1):
        children: dict[object, list[int]] = {}
        tails: dict[object, tuple[object, ...]] = {}
        for node, difference in extra.items():
            label, *rest = above[node]
            children.setdefault((level, label), []).append(difference)
            tails[level, label] = tuple(rest)
        for differences in children.values():
            excess = sum(d for d in differences if d > 0)
            deficit = -sum(d for d in differences if d < 0)
            cost += level * min(excess, deficit)
        extra = {node: sum(differences) for node, differences in children.items()}
        above = tails
    return cost / (scale * max(height, 1))


def equal_transport(group: Counter, table: Counter) -> float:
    """The linear program of which ``equal`` is the optimum."""
    return transport(group, table, list(table), lambda v, w: float(v != w))


def ordered_transport(group: Counter, table: Counter, order: Order) -> float:
    """The linear program of which ``ordered`` is the optimum."""
    rank = {value: i for i, value in enumerate(order)}
    most = max(len(order) - 1, 1)
    return transport(group, table, order, lambda v, w: abs(rank[v] - rank[w]) / most)


def hierarchical_transport(group: Counter, table: Counter, chains: Chains) -> float:
    """The linear program of which ``hierarchical`` is the optimum."""
    height = _height(chains)

    def distance(v: Value, w: Value) -> float:
        levels = zip(chains[v], chains[w], strict=True)
        common = next(level for level, (one, other) in enumerate(levels) if one == other)
        return common / height if height else 0.0

    return transport(group, table, list(chains), distance)


def transport(
    group: Counter, table: Counter, values: Order, distance: Callable[[Value, Value], float]
) -> float:
    """The least work that turns the distribution of the class into that of the table.

    min sum f_vw d(v, w) with f >= 0, sum_w f_vw = q_v, sum_v f_vw = p_w. Rubner et al. (2000);
    Li et al. (2007).
    """
    q, p = shares(group), shares(table)
    size = len(values)
    sent = [[float(i == v) for i in range(size) for _ in range(size)] for v in range(size)]
    received = [[float(j == w) for _ in range(size) for j in range(size)] for w in range(size)]
    found = linprog(
        [distance(v, w) for v in values for w in values],
        A_eq=sent + received,
        b_eq=[float(q.get(v, 0)) for v in values] + [float(p.get(w, 0)) for w in values],
        method="highs",
    )
    if not found.success:
        raise ArithmeticError(found.message)
    return float(found.fun)


def _height(chains: Chains) -> int:
    (length,) = {len(labels) for labels in chains.values()}
    return length - 1


# Likeness: how much likelier a class makes a value.


def basic_beta(group: Counter, table: Counter) -> float:
    """The largest (q - p) / p: basic beta-likeness wants at most beta. Cao, Karras (2012).

    At least 0, as some value has q >= p.
    """
    return float(max((q - p) / p for q, p in _pairs(group, table)))


def satisfies_enhanced(group: Counter, table: Counter, beta: float) -> bool:
    """Whether every w with q > p has (q - p) / p <= min(beta, -ln p). Cao, Karras (2012)."""
    gains = [((q - p) / p, -math.log(p)) for q, p in _pairs(group, table) if q > p]
    return all(gain <= min(beta, most) for gain, most in gains)


def enhanced_beta(group: Counter, table: Counter) -> float:
    """The smallest beta of an enhanced beta-likeness that holds; infinite where none does."""
    beta = basic_beta(group, table)
    return beta if satisfies_enhanced(group, table, math.inf) else math.inf


def pointwise_maximal_leakage(group: Counter, table: Counter) -> float:
    """log2 of the largest q / p, in bits, at most epsilon. Saeidian et al. (2022), Theorem 1."""
    return math.log2(max(q / p for q, p in _pairs(group, table)))


def delta_disclosure(group: Counter, table: Counter) -> float:
    """The largest |log2(q / p)| over the values of the table, in bits; infinite where q = 0.

    delta-disclosure privacy wants less than delta. Brickell, Shmatikov (2008).
    """
    if distinct(group) < distinct(table):
        return math.inf
    return max(abs(math.log2(q / p)) for q, p in _pairs(group, table))


def bayesian_gain(group: Counter, table: Counter) -> float:
    """How much likelier the best guess becomes: max q - max p; may be below 0.

    The gain in vulnerability given this class (Smith 2009); its mean over records, never below 0,
    is the additive leakage of Braun et al. (2009).
    """
    within, before = (Fraction(max(c.values()), sum(c.values())) for c in (group, table))
    return float(within - before)


def value_gain(group: Counter, table: Counter) -> float:
    """How much likelier some one value becomes: the largest q - p.

    The additive form of beta-likeness; the Bayesian gain is never above it.
    """
    return float(max(q - p for q, p in _pairs(group, table)))


# Whole tables, by their classes.


def mean_information(groups: Iterable[Counter]) -> float:
    """I(X~;W) in bits: the mean of D(q || p) over records. Bezzi (2010), Eq. 1, 2 and 8."""
    classes = list(groups)
    table = added(classes)
    records = sum(table.values())
    return math.fsum(sum(c.values()) / records * divergence(c, table) for c in classes)


def average_risk(sizes: Iterable[int]) -> float:
    """G / N: the mean over records of 1 / n_g. El Emam (2013), marketer risk."""
    counted = list(sizes)
    return float(Fraction(len(counted), sum(counted)))


def individual_risk(records: int, people: float) -> float:
    """E(1 / F | f) of Benedetti and Franconi (1998), in closed forms; 1 / f where p is 1."""
    p = records / float(people)
    if p == 1:
        return 1 / records
    if records == 1:
        return p / (1 - p) * math.log(1 / p)
    if records == 2:
        return p / (1 - p) - (p / (1 - p)) ** 2 * math.log(1 / p)
    return p / (records - (1 - p))


def highest_risk(sizes: Iterable[int]) -> float:
    """1 / (the smallest n_g). El Emam (2013), prosecutor risk."""
    return 1 / min(sizes)


# Classes and the population they were drawn from.


def k_map(label: object, population: Counter) -> int:
    """The records of the population with the label of the class. Sweeney (2002); at least k."""
    return population[label]


def presence(label: object, sample: Counter, population: Counter) -> float:
    """n / P: the share of those with this label that the table holds. Nergiz et al. (2007).

    delta-presence wants it between two bounds, for every label of the population.
    """
    return float(Fraction(sample[label], population[label]))


def zayatz(sizes: Iterable[int], fraction: float) -> float:
    """The share of the population that is unique, estimated from a sample of it. Zayatz (1991).

    Of the table itself where that is the population, and none where the sample has no uniques. At
    most the uniques of the sample and all people who are not in it.
    """
    counted = Counter(sizes)
    alone, records = counted[1], sum(size * n for size, n in counted.items())
    if not alone or fraction == 1:
        return alone / records
    weights = sum(n * size * (1 - fraction) ** (size - 1) for size, n in counted.items())
    uniques = min(alone * alone / weights / fraction, alone + records / fraction - records)
    return uniques * fraction / records


def itpr(groups: Iterable[Counter]) -> float:
    """Bkakria et al. (2021), Definition 2: the largest 1 - T p(y) H(X|y) / H(X)."""
    classes = list(groups)
    table = added(classes)
    records, whole = sum(table.values()), _bits(table)
    if whole == 0:
        return 0.0
    left = [sum(group.values()) / records * _bits(group) for group in classes]
    return max(1 - len(classes) * each / whole for each in left)


def reidentification_itpr(sizes: Iterable[int]) -> float:
    """The same of the record itself: every record has a value of its own."""
    each = iter(range(sum(counted := list(sizes))))
    return itpr(Counter({next(each): 1 for _ in range(size)}) for size in counted)


def _bits(counts: Counter) -> float:
    records = sum(counts.values())
    return -math.fsum(n / records * math.log2(n / records) for n in counts.values() if n)


# Several records of a person that somebody knows


def fewest_left(classes: Sequence[Counter], known: int) -> int:
    """The fewest persons who have what is known of one: so many records, or all where it has fewer.

    ``classes`` count records by person. Every choice of such records is tried: which classes they
    are of. Terrovitis et al. (2008), of items that somebody may have several times.
    """
    own: dict[Value, Counter] = {}
    having: dict[tuple[int, int], set[Value]] = {}
    for place, group in enumerate(classes):
        for person, records in group.items():
            own.setdefault(person, Counter())[place] = records
            for times in range(1, min(records, known) + 1):
                having.setdefault((place, times), set()).add(person)
    choices = {
        choice
        for held in own.values()
        for choice in combinations_with_replacement(sorted(held), min(known, held.total()))
        if Counter(choice) <= held
    }
    return min(
        len(set.intersection(*(having[each] for each in Counter(choice).items())))
        for choice in choices
    )


def fewest_alike(classes: Sequence[Counter]) -> int:
    """The fewest persons who have the same records: as many in each class, and no others.

    ``classes`` count records by person. Nergiz, Clifton, Nergiz (2009).
    """
    own: dict[Value, Counter] = {}
    for place, group in enumerate(classes):
        for person, records in group.items():
            own.setdefault(person, Counter())[place] = records
    return min(sum(held == other for other in own.values()) for held in own.values())


# People who live together


def household_risk(classes: Sequence[Counter]) -> Fraction:
    """The chance that any record of the household is found that is found most easily.

    ``classes`` count records by household: 1 - prod (1 - 1/n), over the records of a household.
    """
    missed: dict[Value, Fraction] = {}
    for group in classes:
        size = group.total()
        for home, records in group.items():
            missed[home] = missed.get(home, Fraction(1)) * Fraction(size - 1, size) ** records
    return 1 - min(missed.values())
