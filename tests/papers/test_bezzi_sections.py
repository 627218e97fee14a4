"""Sections 2 to 4 of Bezzi (2010) against plain Python: dictionaries of records, and logarithms."""

from collections import Counter
from functools import partial
from itertools import product
from math import log2

import numpy as np
import pytest

from anonymizer import load_adult
from anonymizer.papers.bezzi2010.adult import Experiment, attributes
from anonymizer.papers.bezzi2010.chains import MEASURES, chain_x, chain_y, random_laws
from anonymizer.papers.bezzi2010.figures import figures, range_label
from anonymizer.papers.bezzi2010.mechanism import mechanisms
from anonymizer.papers.bezzi2010.section2 import section2
from anonymizer.papers.bezzi2010.section3 import section3
from anonymizer.papers.bezzi2010.section4 import refusal, sufficient

T, L = 0.55, 2.7


def entropy(counts):
    total = sum(counts)
    return -sum(n / total * log2(n / total) for n in counts if n)


def kept(classes):
    """I(X~;W), from {class: {value: records}}."""
    records = sum(sum(values.values()) for values in classes.values())
    whole = sum((Counter(values) for values in classes.values()), Counter())
    inside = sum(sum(v.values()) / records * entropy(v.values()) for v in classes.values())
    return entropy(whole.values()) - inside


def merged(cells, key):
    classes = {}
    for (cell, value), records in cells.items():
        classes.setdefault(key(cell), Counter())[value] += records
    return classes


def at(node, cell):
    """A cell with age in ranges of so many years, and the others kept or not."""
    years, *others = node
    kept_values = (v if keep else "*" for v, keep in zip(cell[1:], others, strict=True))
    return cell[0] // years, *kept_values


def informations(values, whole):
    """I1 and I2 of a class."""
    size, records = sum(values.values()), sum(whole.values())
    i1 = sum(
        n / size * log2(n / size / (whole[value] / records)) for value, n in values.items() if n
    )
    return i1, entropy(whole.values()) - entropy(values.values())


@pytest.fixture(scope="module")
def experiment(adult):
    return Experiment.on(adult)


@pytest.fixture(scope="module")
def cells(adult):
    """How many records each (age, sex, race, education) and marital status has."""
    columns = (adult[name] for name in ("age", "sex", "race", "education", "marital-status"))
    return Counter(((int(age), *rest), w) for age, *rest, w in zip(*columns, strict=True))


# Section 2 and 3


def test_every_statement_of_sections_2_and_3():
    rows = [row for section in (*section2(), section3()) for row in section.rows]
    wrong = [row for row in rows if row.published and row.status != "as published"]
    assert [row.quantity for row in wrong] == [
        "I({X1,X2};Y) = I(X1;Y) + I(X2;Y) for independent X1, X2"
    ]
    places = {row.place for row in rows}
    assert {f"Eq. {n}" for n in (1, 2, 3, 5, 7, 8, 9, 10, 11, 13, 15)} <= places


def test_averages_of_table_3():
    found = {row.place: row for row in section3().rows}
    bits = entropy([11, 1])
    mean = bits - 2 / 12
    assert found["Eq. 9"].computed.startswith(f"{mean:.6f} <= 0.500000 for t = 0.5")
    assert f"<= {bits - log2(1.1):.6f} for l = 1.1" in found["Eq. 11"].computed
    identity = entropy([4, 4, 2, 2])
    assert found["Eq. 6, averaged"].computed.startswith(f"{identity:.6f} <= 2.000000 for k = 3")


def i1(own, whole):
    """Surprise of records by value."""
    return sum(
        p / sum(own) * log2(p / sum(own) / (q / sum(whole)))
        for p, q in zip(own, whole, strict=True)
        if p
    )


def i2(own, whole):
    return entropy(whole) - entropy(own)


def i3(x, table):
    """Of row x: the mean over y of how far the entropy of x falls."""
    uncertainty = entropy([sum(row) for row in table])
    return sum(
        n / sum(table[x]) * (uncertainty - entropy([row[y] for row in table]))
        for y, n in enumerate(table[x])
    )


def i4(x, table):
    others = [sum(row[y] for row in table) - n for y, n in enumerate(table[x])]
    records = sum(map(sum, table))
    return sum(
        sum(part) / records * i1(part, [sum(c) for c in zip(*table, strict=True)])
        for part in (table[x], others)
        if sum(part) > 0
    )


ONE = {
    "I1": lambda x, table: i1(table[x], [sum(c) for c in zip(*table, strict=True)]),
    "I2": lambda x, table: i2(table[x], [sum(c) for c in zip(*table, strict=True)]),
    "I3": i3,
    "I4": i4,
}


@pytest.mark.parametrize("name", MEASURES)
def test_both_sides_of_chain_x(name):
    law = random_laws()[5]
    whole, parts = chain_x(name, law)
    pairs = [law[x1, x2].tolist() for x1, x2 in np.ndindex(law.shape[:2])]
    first = [np.array(law[x1]).sum(axis=0).tolist() for x1 in range(len(law))]
    for n, (x1, x2) in enumerate(np.ndindex(law.shape[:2])):
        assert whole[x1, x2] == pytest.approx(ONE[name](n, pairs))
        assert parts[x1, x2] == pytest.approx(
            ONE[name](x1, first) + ONE[name](x2, law[x1].tolist())
        )


@pytest.mark.parametrize("name", MEASURES)
def test_both_sides_of_chain_y(name):
    law = random_laws()[5]
    whole, parts = chain_y(name, law)
    of_all = law.sum(axis=(0, 2)) / law.sum()
    for x in range(len(law)):
        of_x = law[x].sum(axis=1) / law[x].sum()
        assert whole[x] == pytest.approx(ONE[name](x, law.reshape(len(law), -1).tolist()))
        if name == "I2":
            given = sum(p * entropy(law[:, y].sum(axis=0)) for y, p in enumerate(of_all))
            given -= sum(p * entropy(law[x, y]) for y, p in enumerate(of_x))
        else:
            weights = of_all if name == "I4" else of_x
            given = sum(p * ONE[name](x, law[:, y].tolist()) for y, p in enumerate(weights))
        assert parts[x] == pytest.approx(ONE[name](x, law.sum(axis=2).tolist()) + given)


# Section 4


def test_the_attributes_of_adult(adult):
    table = load_adult()
    found = {row.quantity: row for row in attributes(table).rows}
    for name, of in {"records without a missing value": adult, "all records": table}.items():
        bits = entropy(Counter(of["salary-class"]).values())
        assert found[f"H(salary), {name}"].value == pytest.approx(bits)
    for name, values in {"age": 72, "education": 16, "marital-status": 7, "race": 5}.items():
        assert found[f"values of {name}"].value == values == len(set(adult[name]))
    assert len(set(table["age"])) == 73
    assert found["values of age"].remark == "73 in all records"
    assert found["values of age"].status.startswith("cannot be")


def test_the_nodes_that_satisfy_eq_14(experiment, cells):
    whole = merged(cells, lambda cell: ())[()]
    ceiling = entropy(whole.values()) - log2(L)
    holding = []
    for years, *others in product((1, 25, 50, 100), *[(True, False)] * 3):
        classes = merged(cells, partial(at, (years, *others)))
        each = [informations(values, whole) for values in classes.values()]
        if all(a <= T and b <= ceiling for a, b in each):
            holding.append((years, *others))
    assert len(holding) == 4
    assert (50, False, False, False) in holding
    row = sufficient(experiment)
    assert row.computed == "4 of 32 nodes satisfy it, 0 other than the models"


def best_ranges(ages, whole, ceiling):
    """The most information of ranges of age that satisfy t and l, whatever their number."""
    order, records = sorted(ages), sum(whole.values())
    best = [0.0] + [-1e9] * len(order)
    for start in range(len(order)):
        inside = Counter()
        for end in range(start, len(order)):
            inside += ages[order[end]]
            a, b = informations(inside, whole)
            if a <= T and b <= ceiling:
                gained = best[start] + sum(inside.values()) / records * a
                best[end + 1] = max(best[end + 1], gained)
    return best[-1]


def test_what_l_may_be(experiment, cells):
    most = 2 ** entropy(merged(cells, lambda cell: ())[()].values())
    row = refusal(experiment.problem.counts)
    assert row.remark == f"l_max = {most:.6f}"
    assert row.computed == (
        f"accepted: l = 1, 2.7, {most:.6g}; refused: l = 0.99, {most + 0.01:.6g}"
    )


def test_the_panels_of_figures_2_to_4(experiment, cells):
    found = {row.quantity: row for row in figures(experiment)}
    whole = merged(cells, lambda cell: ())[()]
    ceiling = entropy(whole.values()) - log2(L)
    raw = kept(merged(cells, lambda cell: cell))
    recodings = {
        (2, "A2"): lambda age: age // 50,
        (3, "A1"): lambda age: age // 25,
        (4, "A1*"): lambda age: sum(age >= low for low in (35, 45, 60)),
    }
    for (number, name), recode in recodings.items():
        classes = merged(cells, lambda cell, recode=recode: recode(cell[0]))
        left = found[f"Figure {number}, left: information of {name}"].series
        assert left["bits"].values == pytest.approx([raw, T, ceiling, kept(classes)])
        right = found[f"Figure {number}, right: I1 and I2 of the classes of {name}"].series
        each = [informations(classes[group], whole) for group in sorted(classes)]
        assert right["I1"].values == pytest.approx([a for a, _ in each])
        assert right["I2"].values == pytest.approx([b for _, b in each])
        assert right.limits == pytest.approx({"I1": T, "I2": ceiling})
    ages = merged(cells, lambda cell: cell[0])
    note = found["Figure 4, left: information of A1*"].remark
    assert f"keep {best_ranges(ages, whole, ceiling):.6f} at most" in note
    assert note.endswith(f"I(age;W) = {kept(ages):.6f}")
    assert found["Figure 4, right: I1 and I2 of the classes of A1*"].series["age"].values == [
        "below 35",
        "[35, 45)",
        "[45, 60)",
        "from 60",
    ]


def test_a_label_that_is_no_range():
    assert range_label("*") == "*"


# Section 5


def test_two_answers_at_once():
    row = next(row for row in mechanisms().rows if row.place == "Footnote 4")
    noise = [
        [
            (1 if s in (0, 12) else 1 - np.exp(-1)) / (1 + np.exp(-1)) * np.exp(-abs(s - count))
            for s in range(13)
        ]
        for count in (1, 0, 2)
    ]
    both = [[p * q for p in row for q in row] for row in noise]
    mean = [sum(column) / 3 for column in zip(*both, strict=True)]
    assert row.computed.startswith(f"epsilon = 2.000000, I1 = {i1(both[0], mean):.6f} <= ")
