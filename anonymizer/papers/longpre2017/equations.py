"""Eq. 1 to 16, each side by itself, on random laws and partitions; and why the spread matters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.papers.longpre2017.house import BELOW_1000, LOSS
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.privacy.query_loss import losses_by_answer, query_loss, together

TRIALS, ALTERNATIVES, ANSWERS = 50, 12, 4
ROUNDED = 1e-12


@dataclass(frozen=True)
class RandomTrial:
    """A random law p(a_i), and two random queries: the answer for each alternative."""

    law: Floats
    answer: Codes
    other: Codes

    def parts(self, answer: Codes) -> list[Floats]:
        """The probabilities in each E_j."""
        return [self.law[answer == j] for j in np.unique(answer)]


def equations() -> PublishedSection:
    """Both sides of each equation, by their own sums, and what the library gives for them."""
    rng = np.random.default_rng(0)
    trials = [
        RandomTrial(
            rng.dirichlet(np.ones(ALTERNATIVES)), *rng.integers(0, ANSWERS, (2, ALTERNATIVES))
        )
        for _ in range(TRIALS)
    ]
    rows = [
        _uncertainty(trials),
        _partition(trials),
        _conditional(trials),
        _inside(trials),
        *_left(trials),
        *_averages(trials),
        _mean_left(trials),
        _entropy_of_answers(trials),
        _two_queries(trials),
        _independent(trials),
        *_spread(trials),
    ]
    note = (
        f"{TRIALS} random laws of {ALTERNATIVES} alternatives, each with two random queries of up "
        f"to {ANSWERS} answers. Eq. 6 to 14 are the steps of the proof."
    )
    return PublishedSection(
        "Sections 2 to 4: every equation", rows, note, place="Section 2", where=LOSS
    )


def _bits(p: Floats) -> float:
    return -sum(float(each * np.log2(each)) for each in p)


def _same(what: str, pairs: Sequence[tuple[float, float]], says: str, place: str) -> Row:
    off = max(abs(one - other) for one, other in pairs)
    return Row.claim(what, off < ROUNDED * 100, f"off by {off:.0e}", says, place=place)


def _uncertainty(trials: Sequence[RandomTrial]) -> Row:
    pairs = [(_bits(t.law), query_loss(t.answer, t.law).uncertainty) for t in trials]
    return _same("S_0", pairs, "-sum p(a_i) log2 p(a_i)", "Eq. 1")


def _partition(trials: Sequence[RandomTrial]) -> Row:
    """Every alternative is in one E_j and only one; those of two queries are intersections."""
    alike = True
    for t in trials:
        pairs = [*zip(t.answer.tolist(), t.other.tolist(), strict=True)]
        both = together(t.answer, t.other).tolist()
        # As many pairs as codes, and as couples of them: each pair has one code of its own.
        alike &= len({*pairs}) == len({*both}) == len({*zip(pairs, both, strict=True)})
    return Row.claim(
        "answers to two queries",
        alike,
        "the pairs of answers that occur",
        "the partition into E_j and E'_j' in common",
        place="Section 2, two queries",
        where="anonymizer.privacy.query_loss.together",
    )


def _conditional(trials: Sequence[RandomTrial]) -> Row:
    pairs = [
        (float(part.sum()), float(chance))
        for t in trials
        for part, chance in zip(
            [t.law[t.answer == j] for j in dict.fromkeys(t.answer.tolist())],
            losses_by_answer(t.answer, t.law)[0],
            strict=True,
        )
    ]
    return _same("p(E_j)", pairs, "the sum of p(a_k) in E_j", "Eq. 2")


def _inside(trials: Sequence[RandomTrial]) -> Row:
    """Bayes' rule: what an answer leaves of the law adds up to 1, and is 0 outside its set."""
    pairs = []
    for t in trials:
        before, answers = _bits(t.law), [*dict.fromkeys(t.answer.tolist())]
        _, lost = losses_by_answer(t.answer, t.law)
        for j, loss in zip(answers, lost, strict=True):
            left = np.where(t.answer == j, t.law, 0) / t.law[t.answer == j].sum()
            pairs += [(float(left.sum()), 1.0), (before - _bits(left[left > 0]), float(loss))]
    says = "p(a_i) / p(E_j) in E_j, zero outside"
    return _same("p(a_i | E_j)", pairs, says, "Section 2, before Eq. 2")


def _left(trials: Sequence[RandomTrial]) -> list[Row]:
    """S_j as it is rewritten from Eq. 3 to Eq. 9."""
    parts = [part for t in trials for part in t.parts(t.answer)]
    direct = [_bits(part / part.sum()) for part in parts]
    logs = [np.log2(part) for part in parts]
    whole = [float(part.sum()) for part in parts]
    six = [-sum(part / e * np.log2(part / e)) for part, e in zip(parts, whole, strict=True)]
    seven = [-sum(part * np.log2(part / e)) / e for part, e in zip(parts, whole, strict=True)]
    both = [*zip(parts, logs, whole, strict=True)]
    eight = [-(sum(part * log) - sum(part * np.log2(e))) / e for part, log, e in both]
    nine = [-(sum(part * log) - e * np.log2(e)) / e for part, log, e in both]
    library = [query_loss(range(len(part)), part).uncertainty for part in parts]
    return [
        _same("S_j", [*zip(direct, library, strict=True)], "entropy of p(a_i | E_j)", "Eq. 3"),
        *(
            _same("S_j, rewritten", [*zip(direct, form, strict=True)], says, place)
            for form, says, place in (
                (six, "with p(a_i) / p(E_j)", "Eq. 6"),
                (seven, "1 / p(E_j) outside the sum", "Eq. 7"),
                (eight, "the logarithm as a difference", "Eq. 8"),
                (nine, "p(E_j) log2 p(E_j) apart", "Eq. 9"),
            )
        ),
    ]


def _steps(t: RandomTrial) -> tuple[float, Floats, Floats]:
    parts = t.parts(t.answer)
    chance = np.array([part.sum() for part in parts])
    return _bits(t.law), chance, np.array([_bits(part / part.sum()) for part in parts])


def _averages(trials: Sequence[RandomTrial]) -> list[Row]:
    """Delta S as Eq. 4 defines it, and as the proof rewrites it."""
    steps = [_steps(t) for t in trials]
    found = [query_loss(t.answer, t.law).average for t in trials]
    four = [float(chance @ (s - left)) for s, chance, left in steps]
    eleven = [float((chance * s).sum() - chance @ left) for s, chance, left in steps]
    twelve = [float(s - chance @ left) for s, chance, left in steps]
    return [
        _same(what, [*zip(form, found, strict=True)], says, place)
        for what, form, says, place in (
            ("average loss", four, "sum p(E_j) (S_0 - S_j)", "Eq. 4 and 10"),
            ("average loss, rewritten", eleven, "a difference of two sums", "Eq. 11"),
            ("average loss, rewritten", twelve, "S_0 - sum p(E_j) S_j", "Eq. 12"),
        )
    ]


def _mean_left(trials: Sequence[RandomTrial]) -> Row:
    """Sum p(E_j) S_j, of which Eq. 13 and 14 are two forms."""
    pairs = []
    for t in trials:
        s, chance, left = _steps(t)
        thirteen = sum(_bits(part) for part in t.parts(t.answer)) - _bits(chance)
        pairs += [(float(chance @ left), thirteen), (float(chance @ left), s - _bits(chance))]
    return _same("sum p(E_j) S_j", pairs, "S_0 + sum p(E_j) log2 p(E_j)", "Eq. 13 and 14")


def _entropy_of_answers(trials: Sequence[RandomTrial]) -> Row:
    pairs = [(_bits(_steps(t)[1]), query_loss(t.answer, t.law).average) for t in trials]
    return _same("average loss", pairs, "the entropy of the answer", "Eq. 15")


def _two_queries(trials: Sequence[RandomTrial]) -> Row:
    gaps = [
        query_loss(t.answer, t.law).average
        + query_loss(t.other, t.law).average
        - query_loss(together(t.answer, t.other), t.law).average
        for t in trials
    ]
    return Row.claim(
        "both queries cost no more than the sum",
        min(gaps) > -ROUNDED,
        f"less by {min(gaps):.6f} to {max(gaps):.6f} bits",
        "Delta S(both) <= Delta S + Delta S'",
        "of averages; the largest loss of both may be more than the sum of the largest",
        place="Eq. 5",
        where="anonymizer.privacy.query_loss.together",
    )


def _independent(trials: Sequence[RandomTrial]) -> Row:
    """Independent queries cost the sum: the most that two with these answers can."""
    pairs = []
    for t in trials:
        p, q = (np.bincount(answer, t.law, ANSWERS) for answer in (t.answer, t.other))
        row, column = np.indices((ANSWERS, ANSWERS)).reshape(2, -1)
        law = np.outer(p, q).ravel()
        both = query_loss(together(row, column), law).average
        pairs.append((both, query_loss(row, law).average + query_loss(column, law).average))
    return _same(
        "independent queries with the same answers",
        pairs,
        "the largest joint entropy, the sum of both",
        "Section 3",
    )


def _spread(trials: Sequence[RandomTrial]) -> list[Row]:
    """Eq. 16 as printed, and S-bar without its slip."""
    deviations, means, alike = [], [], []
    for t in trials:
        s, chance, left = _steps(t)
        mean = float(chance @ left)
        variance = max(float(chance @ left**2) - mean**2, 0.0)
        deviations.append((variance, query_loss(t.answer, t.law).standard_deviation ** 2))
        of_loss = s - left
        squares = float(chance @ (of_loss - chance @ of_loss) ** 2)
        alike.append((squares, variance))
        means.append((mean, s + float(chance @ np.log2(chance))))
    slip = query_loss(BELOW_1000)
    house = np.bincount(BELOW_1000) / len(BELOW_1000)
    printed = slip.uncertainty + float(house @ np.log2(house * len(BELOW_1000)))
    return [
        _same("sigma of S_0 - S_j", alike, "equal to that of S_j", "before Eq. 16"),
        _same("sigma^2 of the loss", deviations, "sum p(E_j) S_j^2 - S-bar^2", "Eq. 16"),
        _same("S-bar", means, "S_0 + sum p(E_j) log2 p(E_j)", "after Eq. 16"),
        Row.claim(
            "S-bar, as printed: S_0 + sum P(E_j) log2(E_j)",
            printed <= slip.uncertainty,
            f"{printed:.6f} of S_0 = {slip.uncertainty:.6f} for question A",
            "the mean of S_j",
            cannot="E_j is a set; its size for it would leave more uncertainty than there was, and "
            "p(E_j) is meant, by Eq. 14",
            place="after Eq. 16",
        ),
    ]


def risk() -> PublishedSection:
    """Section 4: two gains of the same mean, of which one may fail."""
    sure, lottery = np.array([1.0, 1.0]), np.array([0.0, 2.0])
    rows = [
        Row.claim(
            "a dollar, or nothing or two with probability 0.5",
            bool(sure.mean() == lottery.mean() and sure.std() < lottery.std()),
            f"mean {sure.mean():g} and {lottery.mean():g}, deviation {sure.std():g} and "
            f"{lottery.std():g}",
            "the same mean, a difference all the same",
        ),
        Row.claim(
            "sigma^2 = E (xi - mu)^2 = E xi^2 - mu^2",
            bool(lottery.var() == (lottery**2).mean() - lottery.mean() ** 2),
            f"{lottery.var():g} both ways",
            "equivalent",
            "of the lottery; of losses see Eq. 16",
        ),
        _alike(),
    ]
    return PublishedSection("Section 4: beyond the average", rows, place="Section 4", where=LOSS)


def _alike() -> Row:
    """Two queries of one average, whose losses differ in their spread."""
    halves, one = query_loss("aabb"), query_loss("abbbbbbb", [0.5, *[1 / 14] * 7])
    return Row.claim(
        "two queries of the same average loss",
        abs(halves.average - one.average) < ROUNDED
        and halves.standard_deviation < one.standard_deviation,
        f"average {halves.average:g} bit, deviation {halves.standard_deviation:g} and "
        f"{one.standard_deviation:.6f}",
        "the deviation shows what the average hides",
        "aa, bb of four alike; a of probability 0.5 against seven others",
    )
