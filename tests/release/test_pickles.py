"""What a fitted Anonymizer holds once it is pickled, and what is printed of it: groups, no rows."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from anonymizer import (
    Anonymizer,
    DeltaPresence,
    DifferentialPrivacy,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    KMap,
    Population,
    Pram,
    SafePub,
    TCloseness,
)
from anonymizer.counts.counting import Counted
from anonymizer.recoding.recoding import seen_in
from anonymizer.tables.engine import tally

ZIP = Hierarchy.prefixes([2, 1])
AGE = Hierarchy.ranges(widths=[10])


def table_of(*lonely: tuple[str, object, str]) -> pd.DataFrame:
    rest = [("11a", 21, "x"), ("11b", 22, "y"), ("12c", 31, "x"), ("12d", 32, "y")] * 3
    return pd.DataFrame([*rest, *lonely], columns=["zip", "age", "s"])


PLANTED = [("MARKERa", 20231, "SECRETa"), ("MARKERb", 20277, "SECRETb")]


def anonymizer_of(**options) -> Anonymizer:
    stated = {"quasi_identifiers": {"zip": ZIP, "age": AGE}, "sensitive": "s"}
    return Anonymizer(**{**stated, "privacy": [KAnonymity(2)], **options})


def holds(pickled: bytes, *texts: str) -> bool:
    return any(text.encode() in pickled for text in texts)


@pytest.mark.parametrize("remove", [True, False])
def test_values_of_records_that_were_not_released_are_in_no_pickle(remove):
    table = table_of(*PLANTED)
    levels = {"zip": 1, "age": 1}
    policy = [KAnonymity(2), TCloseness(3, distance="equal")]
    anonymizer = anonymizer_of(
        privacy=policy, recoding=Fixed(levels, suppression=0.2, remove=remove)
    )
    released = anonymizer.fit_transform(table)
    assert anonymizer.release_.suppressed == 2
    for kept in (anonymizer, anonymizer.plan_, anonymizer.taxonomies_, anonymizer.recoding_):
        if kept in (anonymizer, anonymizer.plan_):
            assert not holds(pickle.dumps(kept), "MARKER", "SECRET", "20231", "2023", "2027")
    again = pickle.loads(pickle.dumps(anonymizer))
    assert again.plan_.recoding is again.recoding_
    assert again.release_.levels == {"zip": 1, "age": 1}
    rest = table_of()
    assert again.transform(rest).equals(anonymizer.transform(rest))
    assert anonymizer.transform(table).equals(released)
    # The first round only parts texts: names of fields, which are one object with keys of mappings
    # such as {"widths": ...}, are read back as one of their own.
    once = pickle.dumps(pickle.loads(pickle.dumps(again)))
    assert once == pickle.dumps(pickle.loads(once))
    assert again.transform(table).equals(released)  # by the rules of the hierarchies
    assert not holds(pickle.dumps(again), "MARKER", "SECRET", "20231", "2023", "2027")


def test_a_value_that_the_hierarchy_lists_is_kept():
    rows = [[value, value[:1]] for value in ("a1", "a2", "b1", "b2", "listed")]
    table = pd.DataFrame({"q": [*["a1", "a2"] * 3, "listed"]})
    anonymizer = Anonymizer(
        {"q": Hierarchy.from_rows(rows)},
        privacy=[KAnonymity(2)],
        objective="discernibility",
        recoding=Fixed({"q": 1}, suppression=0.2, remove=True),
    )
    anonymizer.fit(table)
    again = pickle.loads(pickle.dumps(anonymizer))
    other = pd.DataFrame({"q": ["listed", "listed", "b1", "b2"]})
    assert again.transform(other).equals(anonymizer.transform(other))


def population_of(table: pd.DataFrame) -> pd.DataFrame:
    """Everybody twice, with a name; and people whom the table has no record of."""
    people = pd.concat([table[["zip", "age"]]] * 2, ignore_index=True)
    others = pd.DataFrame({"zip": ["11MARKERp", "19MARKERq"], "age": [24, 20277]})
    everybody = pd.concat([people, others], ignore_index=True)
    return everybody.assign(name=[f"NAME{place}" for place in range(len(everybody))])


@pytest.mark.parametrize("model", [KMap, lambda k, p: DeltaPresence(0, 0.9, p)])
def test_nobody_of_a_population_is_in_a_pickle(model):
    table = table_of(("11e", 23, "x"))
    people = Population(population_of(table), "everybody")
    anonymizer = anonymizer_of(
        privacy=[KAnonymity(2), model(3, people)],
        recoding=Fixed({"zip": 1, "age": 1}, suppression=0.2),
    )
    released = anonymizer.fit_transform(table)
    pickled = pickle.dumps(anonymizer)
    assert not holds(pickled, "MARKER", "NAME", "20277", "2027")
    again = pickle.loads(pickled)
    assert again.transform(table).equals(released)
    assert again.release_.to_dict() == anonymizer.release_.to_dict()
    with pytest.raises(InputError, match="'everybody' was left out when this was fitted and pick"):
        again.fit(table)
    assert again.set_params(privacy=[KAnonymity(2)]).fit(table).columns_ == list(table.columns)


def test_an_estimator_that_is_not_fitted_keeps_its_population():
    table = table_of()
    anonymizer = anonymizer_of(privacy=[KMap(3, population_of(table))])
    for copy in (pickle.loads(pickle.dumps(anonymizer)), clone(anonymizer.fit(table))):
        assert copy.fit_transform(table).equals(anonymizer.fit_transform(table))


def test_who_was_not_drawn_is_in_no_pickle():
    # Of 2 000 alike some are drawn; one who is alone is never released.
    table = pd.DataFrame({"zip": ["11a"] * 2000 + ["MARKERz"]})
    anonymizer = Anonymizer(
        {"zip": ZIP}, privacy=[DifferentialPrivacy(1.0, 1e-3)], recoding=SafePub(levels={"zip": 1})
    )
    anonymizer.fit(table)
    pickled = pickle.dumps(anonymizer)
    assert not holds(pickled, "MARKER")
    assert set(pickle.loads(pickled).transform(table[:-1])["zip"]) == {"11*"}


@pytest.mark.parametrize("seed", [3, None])
def test_a_pickled_masking_has_its_channels_and_no_record(seed):
    table = pd.DataFrame(
        {"zip": ["11a", "11b"] * 40, "s": [*"xxyy"] * 19 + ["x", "y", "x", "SECRET"]}
    )
    anonymizer = Anonymizer({"zip": ZIP}, "s", [KAnonymity(2)], recoding=Pram(seed=seed))
    anonymizer.fit(table)
    pickled = pickle.dumps(anonymizer)
    assert not holds(pickled, "SECRET")
    again = pickle.loads(pickled)
    assert [
        len(candidate.part.contingency.row_of) for candidate in again.plan_.fitted.candidates
    ] == [0]
    states = [plan.fitted.rng.bit_generator.state for plan in (again.plan_, anonymizer.plan_)]
    assert (states[0] == states[1]) == (seed is not None)
    assert len(again.transform(table)) == 80


def test_what_is_printed_shows_no_value():
    table = table_of(*PLANTED)
    people = population_of(table)
    anonymizer = anonymizer_of(
        privacy=[KAnonymity(2), KMap(2, people)], recoding=FullDomain(suppression=0.2)
    )
    anonymizer.fit(table)
    schema, hierarchies = anonymizer.schema, {"zip": ZIP, "age": AGE}
    counted = Counted.of(table, schema, hierarchies, anonymizer.privacy[1].population)
    masked = Anonymizer({"zip": ZIP}, "s", [KAnonymity(2)], recoding=Pram()).fit(table)
    merged = anonymizer_of(recoding="merged-cells").fit(table_of())
    plans = [each.plan_.fitted for each in (anonymizer, masked, merged)]
    parts = [counted, counted.tally, counted.counts, *anonymizer.taxonomies_.values()]
    parts += [*anonymizer.recoding_.values(), anonymizer.privacy[1].population, merged.recoding_]
    parts += [tally(table, ["zip"]), anonymizer.task(table)]
    for thing in (anonymizer, masked, merged, *plans, *parts):
        shown = repr(thing)
        found = [value for value in ("MARKER", "SECRET", "NAME", "11a", "2023") if value in shown]
        assert not found, type(thing)


def test_codes_of_values_that_are_forgotten_stay():
    table = table_of(*PLANTED)
    taxonomy = anonymizer_of().task(table).counted.taxonomies["zip"]
    plan = anonymizer_of(recoding=Fixed({"zip": 2, "age": 1}, suppression=0.2)).fit(table)
    known = plan.plan_.forgetting.taxonomies["zip"]
    values = ["11a", "12d", "MARKERa"]
    assert known.encode(values[:2]).tolist() == taxonomy.encode(values[:2]).tolist()
    assert taxonomy.encode(values)[2] >= 0 > known.encode(values)[2]
    for old, new in zip(taxonomy.levels, known.levels, strict=True):
        assert np.array_equal(old.groups, new.groups)
    assert replace(known).texts[: len(values)] == known.texts[: len(values)]


def test_what_was_seen_is_the_same_by_counts_and_by_records():
    table = pd.DataFrame(
        {"q": ["a", "b", "a", "c"] * 5, "r": [1, 2, 1, 2] * 5, "s": list("xy") * 10}
    )
    anonymizer = Anonymizer(
        {"q": "suppress", "r": "suppress"}, sensitive="s", privacy=[KAnonymity(2)]
    ).fit(table)
    plan = anonymizer.plan_
    expected = seen_in(table, plan.taxonomies)
    assert {name: mask.tolist() for name, mask in plan.fitted.seen.items()} == {
        name: mask.tolist() for name, mask in expected.items()
    }
