"""Studies that number persons, where no release is made: what others say of the table."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import persons as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import (
    Anonymizer,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    KAnonymity,
    PolicyBrokenError,
    PolicyUnreachableError,
    TCloseness,
    advise,
    compare,
)
from anonymizer.advice.space import disclosure_in
from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.hierarchy import Hierarchy
from anonymizer.risk.assessment import assess_columns
from anonymizer.tables import engine
from tests.release.test_numbers import AGES, anonymizer_of, code_of, laid, table_of_few

KNOWN = {"age": Hierarchy.suppression(), "sex": Hierarchy.suppression()}


def tables(seed: int) -> pd.DataFrame:
    return table_of_few(np.random.default_rng(seed))


def counted(table: pd.DataFrame) -> Counts:
    schema = Schema(("age", "sex"), ("w",), person=("who",), person_numbers=True)
    tally = engine.tally(table, schema.columns)
    return schema.counts(tally, taxonomies_of(tally, KNOWN))


def cells_of(table: pd.DataFrame) -> list[list[oracle.Record]]:
    """The records of each class that are of persons of one composition."""
    rows = table[["age", "sex"]].itertuples(index=False, name=None)
    records = oracle.records_of([*rows], table["w"].tolist(), table["who"].tolist())
    return [group for group in oracle.linked(records) if len({each.labels for each in group}) == 1]


def surest(table: pd.DataFrame) -> float:
    """The largest share of a value in a cell."""
    groups = [Counter(each.value for each in group) for group in cells_of(table)]
    return max(max(values.values()) / values.total() for values in groups)


@given(st.integers(0, 2**32 - 1))
def test_guesses_by_all_rows_of_a_person_are_those_of_cells(seed):
    """The surest guess, the values known for sure, and how often the likeliest one is right."""
    table = tables(seed)
    found = disclosure_in(counted(table), "w")
    assert (found.joined, found.records) == (True, len(table))
    assert found.worst == pytest.approx(surest(table))
    schema = Schema(("age", "sex"), ("w",), person=("who",), person_numbers=True)
    joined = assess_columns(table, schema).joined["w"]
    assert joined.posterior.max() == pytest.approx(surest(table))


def test_by_hand():
    """a and b have hiv at 60 and were there at 20, too: whoever knows both guesses hiv."""
    visits = pd.DataFrame(
        {
            "who": [*"aabbcdef"],
            "age": [20, 60, 20, 60, 20, 20, 60, 60],
            "sex": "f",
            "w": ["flu", "hiv", "cold", "hiv", "flu", "cold", "flu", "cold"],
        }
    )
    found = disclosure_in(counted(visits), "w")
    assert (found.worst, found.sure, found.guessed) == (1, 2, 2)
    schema = Schema(("age", "sex"), ("w",), person=("who",), person_numbers=True)
    risk = assess_columns(visits, schema)
    assert risk.inference["w"].posterior.max() == 0.5
    # In cells of two rows of w one is right, and both are of hiv.
    known = risk.to_dict()["inference"]["w"]["all_records_known"]
    assert known == {"guessed": 5 / 8, "max_posterior": 1}
    plain = assess_columns(visits, Schema(("age", "sex"), ("w",), person=("who",)))
    assert "all_records_known" not in plain.to_dict()["inference"]["w"]


def holds(table: pd.DataFrame, node: tuple[int, int], privacy, **options: object) -> bool:
    levels = Fixed({"age": node[0], "sex": node[1]})
    try:
        anonymizer_of(privacy, levels, person_numbers=True, **options).fit(table)
    except (PolicyUnreachableError, PolicyBrokenError):
        return False
    return True


POLICIES = st.sampled_from(
    [
        [KAnonymity(2)],
        [EntropyLDiversity(1.5)],
        [KAnonymity(2), DistinctLDiversity(2)],
        [TCloseness(0.4, distance="equal")],
    ]
)
NODES = st.tuples(st.integers(0, 3), st.integers(0, 1))
EACH = st.sampled_from(["share", "each"])


@settings(max_examples=at_length(20, 40))
@given(st.integers(0, 2**32 - 1), POLICIES, NODES, st.integers(0, 1), EACH)
def test_merging_classes_breaks_nothing_that_held(seed, privacy, node, axis, each):
    table = tables(seed)
    higher = (node[0] + 1, node[1]) if axis == 0 or node[1] else (node[0], 1)
    if holds(table, node, privacy, per_person=each):
        assert holds(table, higher, privacy, per_person=each)


@settings(max_examples=at_length(20, 40))
@given(st.integers(0, 2**32 - 1), POLICIES, NODES, EACH)
def test_other_names_of_persons_and_another_order_change_nothing(seed, privacy, node, each):
    table = tables(seed)
    rng = np.random.default_rng(seed)
    names = table["who"].unique()
    other = dict(zip(names, rng.permutation(len(names)), strict=True))
    changed = table.assign(who=table["who"].map(other)).sample(frac=1, random_state=seed)
    held = holds(table, node, privacy, per_person=each)
    assert holds(changed.reset_index(drop=True), node, privacy, per_person=each) == held


@settings(max_examples=at_length(20, 40))
@given(st.integers(0, 2**32 - 1), POLICIES, NODES)
def test_persons_of_one_record_each_need_no_other_levels(seed, privacy, node):
    table = tables(seed)
    table["who"] = range(len(table))
    levels = Fixed({"age": node[0], "sex": node[1]})
    try:
        anonymizer_of(privacy, levels).fit(table)
    except (PolicyUnreachableError, PolicyBrokenError):
        assert not holds(table, node, privacy)
    else:
        assert holds(table, node, privacy)


def test_risk_says_what_all_rows_of_a_person_tell(tmp_path, capsys):
    study, out = laid(tmp_path), tmp_path / "out"
    table = tmp_path / "visits.csv"
    assert code_of("risk", table, "--study", study, "--json") == 0
    known = json.loads(capsys.readouterr().out)["inference"]["w"]["all_records_known"]
    share = surest(pd.read_csv(table))
    assert known["max_posterior"] == pytest.approx(share)
    assert code_of("run", study, "--output", out) == 0
    capsys.readouterr()
    for measured in ([table, "--study", study], [out]):
        assert code_of("risk", *measured) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert f"in the surest of these groups for {share:.2%}." in said


def test_advice_is_on_all_rows_of_a_person(tmp_path, capsys):
    study = laid(tmp_path)
    table = pd.read_csv(tmp_path / "visits.csv")
    assert code_of("advise", study, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    (disclosed,) = found["disclosures"]
    assert (disclosed["joined"], disclosed["worst"]) == (True, pytest.approx(surest(table)))
    points = found["sweeps"][0]["points"]
    assert points[0]["disclosure"] == disclosed
    # Stricter thresholds are those of cells, too: none leaves a surer guess.
    assert [each["disclosure"]["worst"] for each in points] == sorted(
        (each["disclosure"]["worst"] for each in points), reverse=True
    )
    assert code_of("advise", study) == 0
    assert "is known for sure by who knows all rows of their person" in capsys.readouterr().out


def test_advice_without_numbers_has_no_word_of_them():
    table = tables(3)
    for options, joined in (({}, False), ({"person_numbers": True}, True)):
        anonymizer = anonymizer_of([KAnonymity(2)], "full-domain", **options)
        found = advise(anonymizer, table, sweep=False)
        assert ["joined" in each.to_dict() for each in found.disclosures] == [joined]


@pytest.mark.parametrize("sensitive", ["w", ()])
@pytest.mark.parametrize("k", [40, 60])
def test_advised_changes_are_those_of_a_study(tmp_path, k, sensitive):
    """k of a class, of a composition and 1 / k of a class go together, and nothing is suppressed.

    At k = 40 one class is left, and no policy reaches k = 60.
    """
    laid(tmp_path)
    table = pd.read_csv(tmp_path / "visits.csv")

    def asked(k: float) -> Anonymizer:
        found = anonymizer_of([KAnonymity(int(k))], "full-domain", person_numbers=True)
        return found.set_params(sensitive=sensitive, objective="discernibility")

    found = advise(asked(k), table)
    changes = found.improving if found.reachable else found.changes
    assert {each.kind for each in changes} == {"relax"}
    for change in changes:
        models = [each.model for each in change.settings]
        assert models == ["person-k-anonymity", "largest-share", "composition-k-anonymity"]
        less = change.settings[0].after
        assert asked(less).fit(table).release_.levels == change.levels
        assert change.settings[2].after == less
        if not found.reachable:
            with pytest.raises(PolicyUnreachableError):
                asked(less + 1).fit(table)


def test_compare_says_that_the_table_as_a_whole_breaks_the_policy(tmp_path, capsys):
    """On the half held out too few have a composition: no option of classes mends that."""
    study = laid(tmp_path)
    assert code_of("compare", study) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Nearest is full-domain: composition-k-anonymity fails there, of the table as a whole; "
        "that half would need coarser levels." in said
    )
    assert "min-records" not in said.partition("cannot be fitted")[0]
    assert "variable-range cannot be fitted to the half: variable-range recoding judges" in said


def test_compare_fits_by_all_rows_of_a_person():
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(400), rng.integers(1, 3, 400))
    table = pd.DataFrame({"who": who, "age": 20 + who % 2 * 20, "w": rng.integers(0, 3, len(who))})
    asked = {"sensitive": "w", "privacy": [KAnonymity(5)], "person": "who", "person_numbers": True}
    found = compare(Anonymizer(AGES, **asked), table, recodings=[FullDomain()])
    (fit,) = found.fits
    assert fit.held_out.satisfied
    assert fit.needs == {}
