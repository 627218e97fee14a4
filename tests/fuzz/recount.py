"""Whether a release as a reader sees it satisfies a policy: plain Python, nothing of the library.

The policy is what the study file states; quantities are those of ``literature``. A comparison
forgives 1e-9 as the library does, of bits where the quantity is an entropy.

Readers that take different texts for the same value (``1`` and ``1.0``, ``NA`` and nothing) see
fewer classes and fewer sensitive values. Most quantities have to stay within their bounds then,
too, and are held against every view. Some may leave them with nothing disclosed, and are held
against the texts alone:

- the ordered distance divides by the number of values less one, so that it grows when two
  neighbours become one value; and the hierarchical one, like a stated order, is about values by
  their texts, which a reader's number or instant no longer has;
- the uncertainty about who is in a population's class: the population is recoded by the texts.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log2

import literature

from .hierarchies import number_in
from .readers import View

__all__ = ["FORGIVEN", "Judged", "broken", "key_of", "smallest_class"]

FORGIVEN = 1e-9
Stated = Mapping[str, object]

GAP = object()
"""What stands for a text without a character, where it counts as nothing."""


@dataclass(frozen=True)
class Judged:
    """A view of a release, and what of the study matters to it.

    ``texts``: the columns as texts. ``people``: the population's label of each person, or None.
    ``chains``: the labels of each sensitive value, by hierarchy file. ``gap``: missing values of a
    sensitive attribute that has others count as nothing.
    """

    view: View
    texts: Mapping[str, Sequence[str | None]]
    names: Sequence[str]
    sensitive: Sequence[str]
    people: Sequence[tuple] | None
    chains: Mapping[str, Mapping[str, tuple]]
    as_texts: bool
    gap: bool = False

    @property
    def records(self) -> int:
        return len(next(iter(self.view.values())))

    def labels(self) -> list[tuple]:
        """The values of the quasi-identifiers of each record."""
        return list(zip(*(self.view[name] for name in self.names), strict=True))

    def counts(self, attribute: str) -> list[Counter]:
        """The values of an attribute in each class; the missing ones are one."""
        classes: dict[tuple, Counter] = {}
        columns = self.labels(), self.view[attribute], self.texts[attribute]
        for label, value, text in zip(*columns, strict=True):
            missing = self.gap and (text is None or not text.strip())
            classes.setdefault(label, Counter())[GAP if missing else value] += 1
        return self.known(classes.values())

    def spelled(self, attribute: str) -> list[Counter]:
        """The same by texts."""
        classes: dict[tuple, Counter] = {}
        for label, text in zip(self.labels(), self.texts[attribute], strict=True):
            missing = self.gap and (text is None or not text.strip())
            classes.setdefault(label, Counter())[GAP if missing else text] += 1
        return self.known(classes.values())

    def known(self, classes: Iterable[Counter]) -> list[Counter]:
        """The values that count, in each class."""
        found = list(classes)
        values = [Counter({v: n for v, n in group.items() if v is not GAP}) for group in found]
        return values if self.gap and any(values) else found


def broken(
    judged: Judged, policy: Sequence[Stated], odds: float | None = None
) -> Iterator[tuple[str, str | None, float]]:
    """The models that a view of a release breaks: name, attribute, and what it comes to.

    With ``odds`` models of sensitive values hold for beliefs that go so far from the shares, too.
    """
    further = [{**stated, "odds": odds} for stated in policy if stated["model"] not in SIZES]
    for stated in [*policy, *(further if odds else [])]:
        name = str(stated["model"])
        if not judged.as_texts and _text_alone(stated):
            continue
        if name in SIZES:
            worst = SIZES[name](stated, judged)
            if worst is not None:
                yield name, None, worst
            continue
        for attribute in _about(stated, judged.sensitive):
            worst = _worst(stated, judged, attribute)
            if worst is not None:
                yield name, attribute, worst


def _text_alone(stated: Stated) -> bool:
    return stated.get("distance") in ("ordered", "hierarchical") or "population" in stated


def _about(stated: Stated, sensitive: Sequence[str]) -> Sequence[str]:
    return [str(stated["attribute"])] if "attribute" in stated else sensitive


# Models of sensitive values: what a class comes to, None where it satisfies the model


def _worst(stated: Stated, judged: Judged, attribute: str) -> float | None:
    spelled = stated.get("distance") in ("ordered", "hierarchical")
    classes = judged.spelled(attribute) if spelled else judged.counts(attribute)
    table, valued = sum(classes, Counter()), [group for group in classes if group]
    if stated["model"] == "mean-information":
        bits = literature.mean_information(valued)
        return None if bits <= _bound(stated, "bits") else bits
    if stated["model"] == "itpr":
        risk = literature.itpr(valued)
        return None if risk <= _bound(stated, "risk") else risk
    chains = judged.chains.get(str(stated.get("hierarchy")), {})
    if len(valued) < len(classes):
        return inf
    for group in believed(classes, stated.get("odds")):
        worst = VALUES[str(stated["model"])](stated, group, table, chains)
        if worst is not None:
            return worst
    return None


def believed(classes: Iterable[Counter], odds: object) -> Iterator[Counter]:
    """The classes, or what may be believed of them: 1 / odds of each, and one value of the rest."""
    for group in classes:
        if odds is None:
            yield group
            continue
        kept = 1 / Fraction(str(odds))
        for value in group:
            held = Counter({other: kept * number for other, number in group.items()})
            held[value] += (1 - kept) * group.total()
            yield held


def _bound(stated: Stated, name: str) -> float:
    return float(stated[name]) + FORGIVEN  # type: ignore[arg-type]


def _at_most(name: str, measure: Callable[[Counter, Counter], float]):
    def check(stated: Stated, group: Counter, table: Counter, chains: object) -> float | None:
        found = measure(group, table)
        return None if found <= _bound(stated, name) else found

    return check


def _distinct(stated: Stated, group: Counter, table: Counter, chains: object) -> float | None:
    found = literature.distinct(group)
    return None if found >= stated["l"] else found


def _entropy(stated: Stated, group: Counter, table: Counter, chains: object) -> float | None:
    found = max(literature.entropy_l(group, str(stated.get("estimator", "plug-in"))), 1.0)
    return None if log2(found) >= log2(float(stated["l"])) - FORGIVEN else found


def _recursive(stated: Stated, group: Counter, table: Counter, chains: object) -> float | None:
    found = literature.recursive_c(group, int(stated["l"]))
    return None if found < stated["c"] else found


def _alpha(stated: Stated, group: Counter, table: Counter, chains: object) -> float | None:
    found = literature.alpha(group) if group.total() >= stated["k"] else inf
    return None if found <= _bound(stated, "alpha") else found


def _enhanced(stated: Stated, group: Counter, table: Counter, chains: object) -> float | None:
    fine = literature.satisfies_enhanced(group, table, _bound(stated, "beta"))
    return None if fine or _barely(group, table) else literature.basic_beta(group, table)


def _barely(group: Counter, table: Counter) -> bool:
    """Whether gains are at most 1e-9 above -ln p, which the library forgives."""
    q, p = literature.shares(group), literature.shares(table)
    return all(float((q[w] - p[w]) / p[w]) <= -log2(p[w]) / log2(exp(1)) + FORGIVEN for w in q)


def _closeness(stated: Stated, group: Counter, table: Counter, chains: Mapping) -> float | None:
    match stated["distance"], stated.get("order"):
        case "kl", _:
            found = literature.divergence(group, table)
        case "equal", _:
            found = literature.equal(group, table)
        case "hierarchical", _:
            found = _along(chains, group, table)
        case _, None:
            numbers = _by_key(table)
            found = literature.ordered(_by_key(group), numbers, sorted(numbers))
        case _, order:
            found = _in_order([key_of(str(text)) for text in order], group, table)  # type: ignore[union-attr]
    return None if found <= _bound(stated, "t") else found


def _along(chains: Mapping[str, tuple], group: Counter, table: Counter) -> float:
    """The hierarchical distance; 0 where a value cannot be found, or not for sure."""
    keys = {key_of(text): (key_of(text), *labels) for text, *labels in chains.values()}
    height = len(next(iter(chains.values()))) - 1
    top = next(iter(chains.values()))[-1]
    keys[""] = ("", *[None] * (height - 1), top)
    known = set(_by_key(table)) <= set(keys) and len(keys) > len(chains)
    return literature.hierarchical(_by_key(group), _by_key(table), keys) if known else 0.0


def _in_order(places: list[object], group: Counter, table: Counter) -> float:
    """The distance along a stated order; 0 where a value stands there twice, or not at all."""
    known = len(set(places)) == len(places) and set(_by_key(table)) <= set(places)
    return literature.ordered(_by_key(group), _by_key(table), places) if known else 0.0


def _by_key(counts: Counter) -> Counter:
    found: Counter = Counter()
    for text, count in counts.items():
        found[key_of(text)] += count
    return found


INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))


def key_of(text: str | None) -> object:
    """What a text is read as: a number, or a text without what cannot be seen; empty: missing."""
    seen = unicodedata.normalize("NFC", (text or "").translate(INVISIBLE)).strip()
    number = number_in(seen)
    return seen if number is None else number


VALUES: dict[str, Callable[[Stated, Counter, Counter, Mapping], float | None]] = {
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-l-diversity": _recursive,
    "t-closeness": _closeness,
    "alpha-k-anonymity": _alpha,
    "basic-beta-likeness": _at_most("beta", literature.basic_beta),
    "enhanced-beta-likeness": _enhanced,
    "delta-disclosure": _at_most("delta", literature.delta_disclosure),
    "pointwise-maximal-leakage": _at_most("epsilon", literature.pointwise_maximal_leakage),
    "bayesian-gain": _at_most("gain", literature.bayesian_gain),
    "value-gain": _at_most("gain", literature.value_gain),
    "mean-information": lambda *_: None,  # of the table as a whole, see above
    "itpr": lambda *_: None,
}


# Models of class sizes


def _smallest(stated: Stated, judged: Judged) -> float | None:
    least = min(Counter(judged.labels()).values())
    return None if least >= stated["k"] else least


def _private(stated: Stated, judged: Judged) -> float | None:
    least = min(Counter(judged.labels()).values())
    k = smallest_class(float(stated["epsilon"]), float(stated["delta"]))  # type: ignore[arg-type]
    return None if least >= k else least


def _map(stated: Stated, judged: Judged) -> float | None:
    if judged.people is None:
        return None
    people = Counter(judged.people)
    least = min(people[label] for label in _spelled_labels(judged))
    return None if least >= stated["k"] else least


def _presence(stated: Stated, judged: Judged) -> float | None:
    if judged.people is None:
        return None
    people, records = Counter(judged.people), Counter(_spelled_labels(judged))
    shares = [literature.presence(label, records, people) for label in people]
    low, high = float(stated["lower"]) - FORGIVEN, _bound(stated, "upper")  # type: ignore[arg-type]
    return next((share for share in shares if not low <= share <= high), None)


def _risks(judged: Judged, stated: Stated) -> list[tuple[int, float]] | None:
    """The records of each class and the risk of one of them; None where nothing is known."""
    records = Counter(_spelled_labels(judged) if judged.as_texts else judged.labels())
    if "population" not in stated:
        return [(size, 1 / size) for size in records.values()]
    if judged.people is None:
        return None
    people = Counter(judged.people)
    return [(size, 1 / people[label]) for label, size in records.items()]


def _average(stated: Stated, judged: Judged) -> float | None:
    risks = _risks(judged, stated)
    if risks is None:
        return None
    mean = sum(size * risk for size, risk in risks) / judged.records
    return None if mean <= _bound(stated, "risk") else mean


def _highest(stated: Stated, judged: Judged) -> float | None:
    risks = _risks(judged, stated)
    worst = 0.0 if risks is None else max(risk for _, risk in risks)
    return None if worst <= _bound(stated, "risk") else worst


def _smallest_itpr(stated: Stated, judged: Judged) -> float | None:
    risk = literature.reidentification_itpr(Counter(judged.labels()).values())
    return None if risk <= _bound(stated, "risk") else risk


def _uniqueness(stated: Stated, judged: Judged) -> float | None:
    sizes = [*Counter(judged.labels()).values()]
    share = _unique(sizes, float(stated["fraction"]), str(stated.get("estimator", "dankar")))  # type: ignore[arg-type]
    return None if share is None or share <= _bound(stated, "uniqueness") else share


def _unique(sizes: Sequence[int], fraction: float, estimator: str) -> float | None:
    """The share of the population that is unique; None where it is not estimated here.

    Zayatz (1991) in closed form. Pitman's and the negative binomial model are fitted by iterations
    that ``test_population.py`` holds against others; here only what they can never exceed, the
    sample's uniques over its records, where the table is the population.
    """
    known = estimator == "zayatz" or 1 not in sizes or fraction == 1
    return literature.zayatz(sizes, fraction) if known else None


def _spelled_labels(judged: Judged) -> list[tuple]:
    return list(zip(*(judged.texts[name] for name in judged.names), strict=True))


@lru_cache
def smallest_class(epsilon: float, delta: float) -> int:
    """k of SafePub: Li et al. (2012), Theorem 1, by summing binomial tails.

    delta(k) = max over n >= ceil(k / gamma - 1) of P(Binomial(n, beta) > gamma n). A little too
    small rather than too large: n goes up to a few hundred, where tails are long since smaller.
    """
    from scipy.stats import binom

    beta = 1 - exp(-epsilon)
    gamma = (exp(epsilon) - 1 + beta) / exp(epsilon)
    tails = [float(binom.sf(int(gamma * n), n, beta)) for n in range(400)]
    k = 1
    while max(tails[max(0, ceil(k / gamma - 1)) :]) > delta + FORGIVEN:
        k += 1
    return k


SIZES: dict[str, Callable[[Stated, Judged], float | None]] = {
    "k-anonymity": _smallest,
    "differential-privacy": _private,
    "k-map": _map,
    "delta-presence": _presence,
    "average-reidentification-risk": _average,
    "highest-reidentification-risk": _highest,
    "reidentification-itpr": _smallest_itpr,
    "population-uniqueness": _uniqueness,
}
