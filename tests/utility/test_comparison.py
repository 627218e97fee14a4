"""Recodings compared: what is fitted to one half is worth on the other, by hand and by release."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import (
    Anonymizer,
    DifferentialPrivacy,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    KMap,
    MergedCells,
    PolicyBrokenError,
    PolicyUnreachableError,
    Population,
    TCloseness,
    VariableRange,
    compare,
)
from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Partition
from anonymizer.information.entropy import mutual_information_miller_madow
from anonymizer.recoding.apply import covered
from anonymizer.tables import engine
from anonymizer.utility.comparison import COMPARED, policy_at, sweep_of
from anonymizer.utility.comparison import fit_of as fitted

AGES = Hierarchy.from_rows([[str(age), f"{age // 2 * 2}+", f"{age // 4 * 4}+"] for age in range(8)])
CORRECTION = 1 / (8 * math.log(2))
"""Bits that one value, or class, adds to the correction of four records: 1 / (2 n ln 2)."""


def people(*records: str) -> pd.DataFrame:
    """Records written as sex and disease, ``"f flu"``."""
    return pd.DataFrame([record.split() for record in records], columns=["sex", "disease"])


def asking(**options) -> Anonymizer:
    stated = {
        "quasi_identifiers": {"sex": Hierarchy.suppression()},
        "sensitive": "disease",
        "privacy": [KAnonymity(2)],
    }
    return Anonymizer(**{**stated, **options})


def fit_of(anonymizer, first, second):
    task = anonymizer.task(pd.concat([first, second], ignore_index=True))
    counted, recoding = task.counted, anonymizer.chosen_recoding
    halves = [
        counted.schema.counts(engine.tally(half, counted.schema.columns), counted.taxonomies)
        for half in (first, second)
    ]
    problem = recoding.problem(halves[0], counted.taxonomies, task.models, task.objective)
    return fitted(recoding, {}, problem, halves[1], ["disease"], task.seed, task.run)


# By hand


def test_what_one_half_tells_may_be_nothing_on_the_other():
    first = people("f flu", "f flu", "m cold", "m cold")
    second = people("f flu", "f cold", "m flu", "m cold")
    fit = fit_of(asking(), first, second)
    assert (fit.recoding, fit.proven, fit.fitted.ceiling) == ("full-domain", True, 1.0)
    assert (fit.fitted.records, fit.fitted.classes) == (4, 2)
    assert (fit.fitted.original, fit.fitted.retained, fit.fitted.loss) == (1.0, 1.0, 0.0)
    assert fit.fitted.miller_madow == pytest.approx(1 + CORRECTION)  # H(W) alone is corrected
    assert (fit.held_out.original, fit.held_out.retained, fit.held_out.loss) == (0.0, 0.0, None)
    assert fit.held_out.miller_madow == pytest.approx(-CORRECTION)  # one for W, two for classes
    assert fit.fitted.satisfied
    assert fit.held_out.satisfied
    assert fit.held_out.uncovered == 0


def test_the_policy_is_held_against_the_other_half():
    first = people("f flu", "f flu", "m cold", "m cold")
    second = people("f flu", "f flu", "f cold", "m cold")
    fit = fit_of(asking(), first, second)
    assert not fit.held_out.satisfied  # a single man
    # H(W) = 1, H(W|f) = H(2/3): I = 1 - 3/4 (log 3 - 2/3)
    assert fit.held_out.retained == pytest.approx(1 - 0.75 * (math.log2(3) - 2 / 3))


def test_records_are_suppressed_as_in_a_release():
    first = people("f flu", "f flu", "m cold", "m cold")
    second = people("f flu", "f flu", "f cold", "m cold")
    fit = fit_of(asking(recoding=FullDomain(suppression=0.3)), first, second)
    assert (fit.held_out.satisfied, fit.held_out.classes) == (True, 1)  # the man is left out
    assert (fit.held_out.original, fit.held_out.retained) == (0.0, 0.0)
    assert fit.held_out.records == 4


class Listed:
    """Ages 0 and 1 in one class, 2 in another; no other one is covered."""

    def class_of(self, cells):
        return np.array([0, 0, 1, -1, -1])[cells[:, 0]]


def test_what_a_recoding_does_not_cover_is_one_class():
    joint = {"disease": np.array([[3, 0], [0, 2], [1, 1], [0, 4], [1, 0]])}
    counts = Counts.of(("age",), np.arange(5)[:, None], joint["disease"].sum(axis=1), joint)
    classes, uncovered = covered(Listed(), counts)
    assert uncovered == 5
    assert classes.joint["disease"].tolist() == [[3, 2], [1, 1], [1, 4]]
    assert classes.records == 12
    classes, uncovered = covered(Listed(), counts.select(counts.cells[:, 0] < 3))
    assert (classes.sizes.tolist(), uncovered) == ([5, 2], 0)
    classes, uncovered = covered({"age": Partition(np.zeros(5, int), ("*",))}, counts)
    assert (classes.sizes.tolist(), uncovered) == ([12], 0)


def test_information_corrected_by_hand():
    joint = [[2, 2, 0], [0, 0, 4]]
    # 1 bit, plus (3 - 1) - (2 - 1) - 0 times 1 / (2 * 8 ln 2)
    assert mutual_information_miller_madow(joint) == pytest.approx(1 + 1 / (16 * math.log(2)))
    assert mutual_information_miller_madow([[0, 0]]) == 0.0


def test_ranges_of_a_sweep_are_exact():
    sweep = sweep_of(["t=0.3:0.9:0.1", "k=2:10:3", "l = 1.5 : 2.4 : 0.5"])
    assert sweep == {
        "t": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        "k": (2, 5, 8),
        "l": (1.5, 2, 2.5)[:2],
    }


def test_a_swept_parameter_changes_in_every_model_that_has_it():
    models = [KAnonymity(5), TCloseness(0.5, distance="kl"), EntropyLDiversity(2)]
    assert policy_at(models, {"t": 0.25, "k": 3}) == (
        KAnonymity(3),
        TCloseness(0.25, distance="kl"),
        EntropyLDiversity(2),
    )
    assert policy_at(models, {}) == tuple(models)


def test_the_best_of_every_policy():
    table = pd.concat([people("f flu", "m cold")] * 40, ignore_index=True)
    some = ["full-domain", "variable-range", Fixed({"sex": 1})]
    found = compare(asking(), table, recodings=some, sweep={"k": [1, 30, 40]})
    names = [(fit.recoding, fit.parameters["k"]) for fit in found.fits]
    # Ties at 0 bits stand as they are listed; 15 to 25 of each sex are in a half.
    assert names == [
        ("full-domain", 1),
        ("fixed", 1),
        ("full-domain", 30),
        ("fixed", 30),
        ("full-domain", 40),
        ("fixed", 40),
    ]
    assert [fit.held_out.classes for fit in found.fits] == [2, 1, 1, 1, 1, 1]
    assert [(fit.recoding, fit.parameters["k"]) for fit in found.best] == names[::2]
    assert [row["best"] for row in found.to_dict()["fits"]] == [True, False] * 3
    (row, *_) = found.unfit
    assert (row.recoding, row.parameters) == ("variable-range", {"k": 1})
    assert "needs an ordered attribute" in row.reason


def test_every_fit_is_told_of():
    told = []
    table = pd.concat([people("f flu", "m cold")] * 4, ignore_index=True)
    asked = asking(progress=lambda *what: told.append(what))
    compare(asked, table, recodings="full-domain", sweep={"k": [1, 2, 3]})
    assert told == [("fitting recodings", done, 3) for done in range(4)]


# Laws

records = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from("fm"), st.sampled_from("abc")),
    min_size=2,
    max_size=40,
)


def framed(rows):
    return pd.DataFrame(rows, columns=["age", "sex", "disease"])


def over_ages(**options):
    ages = {"age": AGES, "sex": Hierarchy.from_rows([["f"], ["m"]])}
    return asking(quasi_identifiers=ages, **options)


def outcome(anonymizer, table, **options):
    """What a comparison comes to, or why there is none."""
    try:
        return compare(anonymizer, table, **options).to_dict()
    except InputError as error:
        return str(error)


@settings(max_examples=10)
@given(records, st.randoms(use_true_random=False), st.integers(0, 5))
def test_the_order_of_records_and_the_number_of_jobs_do_not_matter(rows, random, seed):
    asked = over_ages(seed=seed, recoding=FullDomain(suppression=0.1))
    fixed = Fixed({"age": 1, "sex": 1}, suppression=0.1)
    options = {"sweep": {"k": [1, 2]}, "recodings": ["full-domain", "variable-range", fixed]}
    expected = outcome(asked, framed(rows), **options)
    mixed = random.sample(rows, len(rows))
    assert outcome(asked, framed(mixed), **options) == expected
    asked.set_params(n_jobs=2)
    assert outcome(asked, framed(mixed), **options) == expected


def test_nor_do_they_to_recodings_of_whole_combinations():
    rng = np.random.default_rng(0)
    rows = [(int(age), "fm"[age % 2], "abc"[age // 3]) for age in rng.integers(0, 8, 60)]
    asked = over_ages(privacy=[KAnonymity(3)])
    options = {"recodings": ["cut", "boxes", "merged-cells"]}
    expected = outcome(asked, framed(rows), **options)
    assert {row["recoding"] for row in expected["fits"]} == set(options["recodings"])
    asked.set_params(n_jobs=2)
    assert outcome(asked, framed(rows[::-1]), **options) == expected


@settings(max_examples=at_length(15, 30))
@given(records, st.integers(0, 5))
def test_two_halves_are_the_table(rows, seed):
    counted = over_ages(sensitive=["disease"]).task(framed(rows)).counted
    first, second = counted.halves(seed)
    assert (first.records, second.records) == (len(rows) - len(rows) // 2, len(rows) // 2)
    assert sorted(written(first, counted) + written(second, counted)) == sorted(rows)


def written(counts, counted):
    """Counts as the records that were counted."""
    ages, sexes = (counted.taxonomies[name].levels[0].labels for name in counts.names)
    return [
        (int(str(ages[age])), sexes[sex], disease)
        for (age, sex), row in zip(counts.cells, counts.joint["disease"], strict=True)
        for disease, size in zip(counts.values["disease"], row, strict=True)
        for _ in range(size)
    ]


# Against releases of the halves


@settings(max_examples=at_length(12, 25))
@given(records, st.integers(1, 3), st.sampled_from([0, 0.2, 0.5]), st.booleans(), st.integers(0, 3))
def test_a_fit_is_what_a_release_of_the_half_would_be(rows, k, share, remove, seed):
    recoding = FullDomain(suppression=share, remove=remove and share > 0)
    asked = over_ages(privacy=[KAnonymity(k)], recoding=recoding, seed=seed)
    counted = asked.task(framed(rows)).counted
    first, second = (framed(written(half, counted)) for half in counted.halves(seed))
    found = fits_of(asked, framed(rows))
    release = proof(asked, asked.fit, first)
    assert (release is None) == (not found)
    if release is None:
        return
    (fit,) = found
    assert fit.fitted.satisfied
    assert_same(fit.fitted, release)
    release = proof(asked, asked.transform, second)
    assert fit.held_out.satisfied == (release is not None)
    if release is not None:
        assert_same(fit.held_out, release)


def fits_of(asked, table):
    try:
        return compare(asked, table, recodings="full-domain").fits
    except InputError:
        return ()


def proof(asked, releasing, table):
    """The proof of a release; None where there is none."""
    try:
        releasing(table)
    except (InputError, PolicyUnreachableError, PolicyBrokenError):
        return None
    return asked.release_


def assert_same(half, release):
    assert half.classes == release.classes
    assert half.retained == pytest.approx(release.information.retained, abs=1e-9)
    assert half.original == pytest.approx(release.information.original, abs=1e-9)
    assert half.ceiling == pytest.approx(release.information.ceiling, abs=1e-9)


# Errors

TABLE = pd.concat([people("f flu", "m cold")] * 4, ignore_index=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t", "sweep 't' must be NAME=from:to:step, such as t=0.3:0.9:0.1"),
        ("=1:2:1", "must be NAME=from:to:step"),
        ("k=1:2", "must be NAME=from:to:step"),
        ("k=1:2:3:4", "must be NAME=from:to:step"),
        ("k=1:two:1", "must be NAME=from:to:step"),
        ("k=nan:2:1", "must be NAME=from:to:step"),
        ("k=1:inf:1", "must be NAME=from:to:step"),
        ("k=1:2:0", "must go up: from low to high by a step above 0"),
        ("k=1:2:-1", "must go up"),
        ("k=2:1:1", "must go up"),
        ("k=1:1e99999:1", "has more than 200 values; take larger steps"),
        ("k=0:1:1e-99999", "has more than 200 values"),
    ],
)
def test_a_sweep_that_is_none(text, message):
    with pytest.raises(InputError, match=message):
        sweep_of([text])


def test_a_parameter_is_swept_once():
    with pytest.raises(InputError, match="sweep names 'k' twice; state it once"):
        sweep_of(["k=1:2:1", "k=3:4:1"])


@pytest.mark.parametrize(
    ("options", "asked", "message"),
    [
        ({}, {"sweep": {"t": [0.5]}}, "no model of the policy has a parameter 't'; known are k"),
        (
            {"privacy": [DifferentialPrivacy(1.0, 1e-3)]},
            {},
            "needs levels that were chosen without looking at the table",
        ),
        (
            {"privacy": [TCloseness(1, "kl", attribute="disease")]},
            {"sweep": {"attribute": [1]}},
            "no model of the policy has a parameter 'attribute'; known are t",
        ),
        ({}, {"sweep": {"k": [0]}}, "sweep: k-anonymity: k = 0 must be a whole number"),
        ({}, {"sweep": {"k": []}}, "sweep: 'k' needs a list of values"),
        (
            {},
            {"sweep": {"k": range(1, 150)}, "recodings": ["full-domain", "cut"]},
            "the sweep asks for 298 fits, and at most 200",
        ),
        ({}, {"recodings": "full-domian"}, "'full-domian' is unknown; did you mean 'full-domain'"),
        ({}, {"recodings": []}, "recodings is empty"),
        ({}, {"recodings": "fixed"}, "starts from it: give its levels"),
        ({"sensitive": ()}, {}, "about information: name a sensitive attribute, or a target"),
        ({"seed": -1}, {}, "seed = -1 must be a whole number of at least 0"),
        ({"n_jobs": 0}, {}, "n_jobs = 0 must be a whole number but 0"),
        ({"progress": 1}, {}, "progress = 1 must be a function"),
        ({"sensitive": "diseas"}, {}, "has no column 'diseas'; did you mean 'disease'"),
    ],
)
def test_what_cannot_be_compared(options, asked, message):
    with pytest.raises(InputError, match=message):
        compare(asking(**options), TABLE, **asked)


def test_a_policy_that_no_half_can_reach_fits_nothing():
    found = compare(asking(privacy=[KAnonymity(5)]), TABLE)
    assert found.fits == ()
    assert all("k = 5 exceeds the 4 records" in each.reason for each in found.unfit)
    assert found.unfit


@pytest.mark.parametrize("records", [1, 0])
def test_no_halves(records):
    with pytest.raises(InputError, match=r"of one record has no halves|has no records"):
        compare(asking(), TABLE[:records])


def test_a_table_of_identical_records_tells_nothing():
    table = pd.concat([people("f flu")] * 8)
    found = compare(asking(), table, recodings=["full-domain", Fixed({"sex": 0})])
    assert [(fit.held_out.retained, fit.held_out.satisfied) for fit in found.fits] == [
        (0, True)
    ] * 2


@pytest.mark.parametrize(
    "recoding",
    [
        FullDomain(suppression=0.2, search="branch-and-bound"),
        VariableRange(min_gain=0.001, max_ranges=3, search="top-down"),
        Fixed({"age": 1}, suppression=0.2),
        MergedCells(max_classes=9),
    ],
    ids=lambda recoding: recoding.name,
)
def test_another_recoding_takes_over_the_options_that_it_has(recoding):
    ages = {"age": Hierarchy.ranges(widths=[10])}
    asked = asking(quasi_identifiers=ages, time_limit=60, recoding=recoding)
    table = pd.DataFrame({"age": range(20), "disease": ["flu", "cold"] * 10})
    found = compare(asked, table)
    others = set(COMPARED) - {"fixed"}
    assert {fit.recoding for fit in found.fits} == others | {recoding.name}, found.unfit


def test_what_stands_in_the_way_of_one_recoding_is_said():
    population = Population(pd.concat([TABLE] * 2), "people.csv")
    found = compare(asking(privacy=[KMap(2, population)], recoding=Fixed({"sex": 1})), TABLE)
    assert [fit.recoding for fit in found.fits] == ["full-domain", "fixed"]
    assert all(fit.held_out.satisfied for fit in found.fits)
    reasons = {row.recoding: row.reason for row in found.unfit}
    assert set(reasons) == set(COMPARED) - {"full-domain", "fixed"}
    assert "k-map is about a population" in reasons["boxes"]
    table = people("f flu", "m flu", "m cold", "f cold", "f flu", "m flu")
    asked = asking(privacy=[TCloseness(0, "kl")], seed=1)
    found = compare(asked, table, recodings=["full-domain", Fixed({"sex": 0})])
    assert [fit.recoding for fit in found.fits] == ["full-domain"]
    assert "the levels given do not satisfy all of t-closeness" in found.unfit[-1].reason


def test_a_column_in_the_way_of_the_classes_is_refused_as_in_a_release():
    table = people(*["f flu", "f cold", "m flu", "m cold"] * 2).assign(**{"class": "x"})
    found = compare(asking(), table, recodings=["full-domain", "merged-cells"])
    assert [fit.recoding for fit in found.fits] == ["full-domain"]
    assert "the table has a column 'class'" in found.unfit[0].reason
    found = compare(asking(identifiers=["class"]), table, recodings="merged-cells")
    assert [fit.recoding for fit in found.fits] == ["merged-cells"]
