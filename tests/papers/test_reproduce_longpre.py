"""Longpré et al.: the equations and the pictures, each against sums that share no code."""

import math
import re
from collections import Counter, defaultdict

import pytest
from papers.computed import sections_of

from anonymizer.privacy.query_loss import query_loss

HOUSES = range(1, 2001)
EQUATIONS = re.compile(r"Eq\. (\d+(?: and \d+)?)")


@pytest.fixture(scope="module")
def rows():
    return [row for section in sections_of("longpre2017") for row in section.rows]


@pytest.fixture(scope="module")
def drawn(rows):
    return {row.quantity: row.series for row in rows if row.series}


def entropy(weights):
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w)


def losses(answer, weights):
    """The loss and the probability of each answer, by the definition (Eq. 1 to 3)."""
    sets = defaultdict(list)
    for truth, weight in weights.items():
        sets[answer(truth)].append(weight)
    before = entropy(weights.values())
    return {a: (before - entropy(inside), sum(inside)) for a, inside in sets.items()}


def summary(answer, weights):
    """Average, deviation, and largest loss (Eq. 4 and 16)."""
    found, total = losses(answer, weights).values(), sum(weights.values())
    mean = sum(p / total * loss for loss, p in found)
    square = sum(p / total * loss**2 for loss, p in found)
    return mean, math.sqrt(max(square - mean**2, 0)), max(loss for loss, _ in found)


ALIKE = dict.fromkeys(HOUSES, 1)


def test_every_equation_has_its_row(rows):
    places = " ".join(row.place for row in rows)
    numbered = {int(n) for found in EQUATIONS.findall(places) for n in found.split(" and ")}
    assert numbered == set(range(1, 17))
    for part in ("Section 1", "Section 2", "Section 3", "Section 4"):
        assert part in places
    verdicts = Counter(row.status.partition(":")[0] for row in rows if row.published)
    assert verdicts["cannot be"] == 1
    assert set(verdicts) == {"as published", "cannot be", "differs"}
    found = {row.quantity: row for row in rows}
    left = Counter(h < 1000 for h in range(1, 2001))
    assert [row.quantity for row in rows if row.status.startswith("differs")] == [
        "A, average loss",
        "houses left by A, whatever the answer",
    ]
    shown = found["houses left by A, whatever the answer"].computed
    assert shown == f"{left[False]:,} or {left[True]:,}"
    for name in ("p(a_i | E_j)", "sigma of S_0 - S_j"):
        assert found[name].status == "as published"
    assert found["alternatives that k questions tell apart, k = 1 to 11"].status == "as published"


def test_the_spread_of_the_loss_is_that_of_what_is_left():
    """S_0 is constant: Eq. 16, by plain sums over the law 9/10 and 8 of 1/80."""
    law = {0: 0.9, **dict.fromkeys(range(1, 9), 0.0125)}
    found = losses(lambda x: x == 0, law)
    before = entropy(law.values())
    left = [(before - loss, p) for loss, p in found.values()]
    mean = sum(p * s for s, p in left)
    spread = sum(p * (s - mean) ** 2 for s, p in left)
    told = query_loss("abbbbbbbb", [*law.values()]).standard_deviation
    assert told == pytest.approx(math.sqrt(spread), abs=1e-9)


def test_loss_by_house(drawn):
    series = drawn["loss by house"]
    answers = {
        "a": lambda h: h < 1000,
        "b": lambda h: h < 1001,
        "both": lambda h: (h < 1000, h < 1001),
    }
    for name, answer in answers.items():
        found = losses(answer, ALIKE)
        expected = [found[answer(h)][0] for h in series["house"].values]
        assert series[name].values == pytest.approx(expected, abs=1e-9)
    assert max(series["both"].values) == pytest.approx(math.log2(2000))


def test_one_question_by_its_place(drawn):
    series = drawn["one question, h < c"]
    for place, cut in enumerate(series["cut"].values):
        found = [series[name].values[place] for name in ("average", "deviation", "largest")]
        assert found == pytest.approx(summary(lambda h: h < cut, ALIKE), abs=1e-9)  # noqa: B023


SHAPES = {
    "halves": lambda h, n: format(h - 1, "011b")[:n],
    "spread": lambda h, n: sum(h <= 2000 * (i + 1) // (n + 1) for i in range(n)),
    "neighbours": lambda h, n: sum(h < 1000 + i for i in range(n)),
    "single": lambda h, n: h if 1000 <= h < 1000 + n else 0,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_number_and_shape_of_questions(drawn, shape):
    average = drawn["average loss by number and shape of questions"][shape].values
    largest = drawn["largest loss by number and shape of questions"][shape].values
    for number in (1, 2, 5, 11):
        mean, _, most = summary(lambda h: SHAPES[shape](h, number), ALIKE)  # noqa: B023
        assert (average[number - 1], largest[number - 1]) == pytest.approx((mean, most), abs=1e-9)


def test_an_answer_that_makes_less_certain(drawn):
    series = drawn["is it a? of nine alternatives"]
    for place in (0, 10, 45):
        p = series["chance"].values[place]
        found = losses(lambda x: x == 0, {0: p, **dict.fromkeys(range(1, 9), (1 - p) / 8)})
        assert series["yes"].values[place] == pytest.approx(found[True][0], abs=1e-9)
        assert series["no"].values[place] == pytest.approx(found[False][0], abs=1e-9)
    assert series["no"].values[0] > 0 > series["no"].values[45]
