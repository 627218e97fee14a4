"""Sentences, spans and worst classes of a policy, held against pandas on released tables."""

import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.counts.schema import Schema
from anonymizer.explorer.answers.attack import exposure_of
from anonymizer.explorer.answers.classes import NamedClass, by_labels, named_class
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.policy.conditions import (
    conditions_of,
    left_open,
    limit_of,
    promise_of,
    unit_of,
)
from anonymizer.explorer.answers.policy.methods import (
    ELSEWHERE,
    GOALS,
    METHODS,
    methods_for,
    options_for,
    suppression_span,
)
from anonymizer.explorer.answers.policy.parameters import (
    FIRST,
    IN_FILE,
    offered,
    parameters_of,
    slid,
    span_of,
    spans_of,
)
from anonymizer.explorer.answers.policy.ways import needs_ways, ways_of
from anonymizer.explorer.answers.span import Span
from anonymizer.explorer.page.explorer import Explorer
from anonymizer.explorer.session.advised import (
    with_change,
    with_choice,
    with_goal,
    with_own_section,
)
from anonymizer.explorer.session.contents import with_suppression
from anonymizer.explorer.session.session import Session
from anonymizer.objectives import AUTOMATIC, OBJECTIVES
from anonymizer.privacy import (
    MODELS,
    DeltaPresence,
    DifferentialPrivacy,
    DistinctLDiversity,
    EntropyLDiversity,
    HighestReidentificationRisk,
    KAnonymity,
    KmAnonymity,
    LargestShare,
    PersonKAnonymity,
    RecursiveLDiversity,
    TCloseness,
)
from anonymizer.recoding import ignore
from anonymizer.release.request import RECODINGS

SCHEMA = Schema(("age", "city"), ("diagnosis",))

STUDY = """[data]
path = "people.csv"

[quasi-identifiers]
age = {{ widths = [10, 20] }}
city = "suppress"

[sensitive]
attributes = ["diagnosis"]

{models}
[recoding]
method = "{method}"
"""

MODELS_OF_ALL = """[[privacy]]
model = "k-anonymity"
k = 2
[[privacy]]
model = "t-closeness"
distance = "kl"
t = 1.5
[[privacy]]
model = "entropy-l-diversity"
l = 1.0
[[privacy]]
model = "average-reidentification-risk"
risk = 0.5
"""


def people(number: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, number),
            "city": rng.choice(["Rome", "Oslo", "Bern"], number),
            "diagnosis": rng.choice(["flu", "flu", "flu", "cold", "cold", "asthma"], number),
        }
    )


def explored(directory: Path, models: str = MODELS_OF_ALL, method: str = "full-domain") -> Explorer:
    people().to_csv(directory / "people.csv", index=False)
    path = directory / "study.toml"
    path.write_text(STUDY.format(models=models, method=method))
    return Explorer(Session(path))


def outcome_in(explorer: Explorer) -> StudyOutcome:
    return explorer.outcome(explorer.session.text, ignore)


def released(outcome: StudyOutcome) -> pd.DataFrame:
    """The released records, one by one."""
    return outcome.released.one_by_one().astype(str)


@pytest.mark.parametrize("method", ["full-domain", "variable-range", "boxes", "merged-cells"])
def test_classes_are_named_as_the_released_table_has_them(tmp_path, method):
    models = MODELS_OF_ALL.partition('[[privacy]]\nmodel = "average')[0]
    outcome = outcome_in(explored(tmp_path, models, method))
    counts = outcome.counts
    names = [*outcome.plan.published.quasi_identifiers]
    groups = released(outcome).groupby(names).size().to_dict()
    found = {}
    for place in range(len(counts)):
        named = named_class(outcome, place)
        found[tuple(named.labels[name] for name in names)] = named.records
        assert (named.number, named.of) == (place + 1, len(counts))
    assert found == groups


def test_the_worst_class_is_that_of_a_group_by(tmp_path):
    outcome = outcome_in(explored(tmp_path))
    table = released(outcome)
    prior = table["diagnosis"].value_counts(normalize=True)

    def bits(of: pd.Series) -> float:
        shares = of.value_counts(normalize=True)
        return float((shares * np.log2(shares / prior[shares.index])).sum())

    names = [*outcome.counts.names]
    size = table.groupby(names).size()
    divergence = table.groupby(names)["diagnosis"].agg(bits)
    smallest, closest, diverse, average = conditions_of(outcome)
    assert smallest.worst.records == size.min()
    assert closest.worst.labels == dict(zip(names, divergence.idxmax(), strict=True))
    assert f"gives {divergence.max():.4g} bits" in closest.measured
    assert diverse.attribute == "diagnosis"
    assert average.worst is None
    assert average.verdict == "✓ The table satisfies it."
    assert all(each.holds for each in (smallest, closest, diverse))
    share = table.groupby(names)["diagnosis"].agg(lambda of: of.value_counts(normalize=True).max())
    assert f"more than {100 * share.max():.4g}%" in closest.guess


def test_attributes_together_are_named_as_one(tmp_path):
    people().assign(drug=[*"abc"] * 40).to_csv(tmp_path / "people.csv", index=False)
    path, both = tmp_path / "study.toml", '["diagnosis", "drug"]'
    model = f'[[privacy]]\nmodel = "t-closeness"\ndistance = "kl"\nt = 1.5\nattribute = {both}\n'
    text = STUDY.format(models=model, method="full-domain")
    path.write_text(text.replace('["diagnosis"]', both))
    outcome = outcome_in(Explorer(Session(path)))
    [found] = conditions_of(outcome)
    assert (found.attribute, found.guess, found.holds) == ("diagnosis and drug", "", True)
    [own] = outcome.plan.models
    said = [promise_of(own, outcome.plan.published), left_open(own, outcome.plan.published)]
    assert all("“diagnosis and drug”" in each for each in said)


def test_broken_classes_and_their_records_are_counted(tmp_path):
    explorer = explored(tmp_path, MODELS_OF_ALL.replace("k = 2", "k = 12"))
    explorer.session.take("levels", lambda content: _fixed(content, {"age": 1, "city": 0}))
    outcome = outcome_in(explorer)
    assert not outcome.holds
    assert outcome.refusal
    sizes = released(outcome).groupby([*outcome.counts.names]).size()
    broken = sizes[sizes < 12]
    smallest = conditions_of(outcome)[0]
    assert smallest.broken_classes == len(broken) > 0
    assert smallest.broken_records == broken.sum()
    assert re.match(rf"✗ {len(broken)} class(es)? breaks? it, of {len(sizes)}", smallest.verdict)


def _fixed(content: dict, levels: dict[str, int]) -> dict:
    content["recoding"] = {"method": "fixed", "levels": levels}
    return content


def test_a_population_has_its_own_classes(tmp_path):
    everybody = pd.concat([people(), people(200)])
    everybody.to_csv(tmp_path / "everybody.csv", index=False)
    models = '[[privacy]]\nmodel = "k-map"\nk = 3\npopulation = "everybody.csv"\n'
    models += MODELS_OF_ALL.replace("k = 2", "k = 1")
    outcome = outcome_in(explored(tmp_path, models))
    table = released(outcome)
    names = [*outcome.counts.names]
    mapped, smallest, *_ = conditions_of(outcome)
    assert mapped.holds
    assert smallest.worst.records == table.groupby(names).size().min()
    at = tuple(smallest.worst.labels[name] for name in names)
    assert table.groupby(names).size()[at] == smallest.worst.records


def test_margins_of_a_population_have_classes_of_the_table_alone(tmp_path):
    everybody = pd.concat([people(), people(200)])
    tables = []
    for names in (["age"], ["city"]):
        counts = everybody.groupby(names).size().rename("n").reset_index()
        counts.to_csv(tmp_path / f"{names[0]}.csv", index=False)
        tables.append(f'{{ path = "{names[0]}.csv", count = "n" }}')
    models = '[[privacy]]\nmodel = "k-map"\nk = 3\n'
    models += f"population = {{ margins = [{', '.join(tables)}] }}\n"
    models += MODELS_OF_ALL.replace("k = 2", "k = 1")
    outcome = outcome_in(explored(tmp_path, models))
    mapped, smallest, *_ = conditions_of(outcome)
    assert mapped.holds
    assert smallest.worst.records == released(outcome).groupby([*outcome.counts.names]).size().min()


def test_labels_are_hidden_where_they_have_to_be():
    named = NamedClass(3, 26, 12, {"age": "[20, 30)", "city": "Rome"})
    assert named.text() == "age [20, 30), city Rome (12 records)"
    assert named.text(shows_labels=False) == "class 3 of 26, 12 records"
    hidden = NamedClass(1, 2, 1, {"age": "*", "city": "*"})
    assert hidden.text() == "the class in which everything is *, 1 record"


def test_no_outcome_has_no_conditions():
    assert conditions_of(StudyOutcome(refusal="no table")) == []


def test_models_are_sentences():
    assert promise_of(KAnonymity(5), SCHEMA) == (
        "Every record shares the released values of age and city with at least 4 others in this "
        "table."
    )
    assert "0.55 bits about “diagnosis”" in promise_of(TCloseness(0.55, "kl"), SCHEMA)
    assert "k-anonymity allows that" in left_open(KAnonymity(5), SCHEMA)
    assert limit_of(TCloseness(0.55, "kl")) == "at most 0.55 bits"
    assert limit_of(TCloseness(0.2, "equal")) == "at most 20%"
    assert unit_of(TCloseness(0.2, "equal")) == "share from 0 to 1"
    assert limit_of(EntropyLDiversity(2.7)) == "at least 2.7 values"
    assert limit_of(RecursiveLDiversity(3.0, 2)) == "less than 3"
    presence = DeltaPresence(0.1, 0.5, pd.DataFrame({"age": [1]}))
    assert limit_of(presence) == "10% to 50%"


@pytest.mark.parametrize("name", FIRST)
def test_a_model_that_is_added_is_one_that_the_library_makes(name):
    model = MODELS[name](**FIRST[name])
    assert slid(model) == model.bounded_by
    assert promise_of(model, SCHEMA)
    span = span_of(model)
    assert span.low <= model.threshold <= span.high
    assert all(each.kind != "file" for each in parameters_of(model))


def test_every_model_can_be_added_or_is_said_to_be_set_in_the_file():
    assert {*FIRST, *IN_FILE} == {*MODELS}
    assert span_of(DifferentialPrivacy(1.0, 1e-5)) is None
    assert [each.name for each in parameters_of(DifferentialPrivacy(1.0, 1e-5))] == [
        "epsilon",
        "delta",
    ]


OF_PERSONS = Schema(("age", "city"), ("diagnosis",), person=("who",))


def test_models_of_persons_are_offered_where_a_column_tells_them():
    known = {"person-k-anonymity", "largest-share", "km-anonymity", "composition-k-anonymity"}
    assert not known & {*offered(SCHEMA)}
    assert known <= {*offered(OF_PERSONS)}
    of_homes = Schema(("age", "city"), ("diagnosis",), household=("home",))
    together = {*offered(of_homes)} - {*offered(SCHEMA)}
    assert together == {
        "household-k-anonymity",
        "household-composition-k-anonymity",
        "household-risk",
    }
    assert {*FIRST} - {*offered(SCHEMA)} == known | together
    of_records = {*offered(SCHEMA)} - {*offered(OF_PERSONS)}
    assert {"average-reidentification-risk", "alpha-k-anonymity"} <= of_records
    assert "t-closeness" not in offered(Schema(("age",), (), person=("who",)))


def test_sentences_are_about_people_where_a_column_tells_them():
    assert promise_of(PersonKAnonymity(5), OF_PERSONS).startswith("Every person shares the rel")
    assert "The people who share a class" in promise_of(DistinctLDiversity(2), OF_PERSONS)
    assert "The records that share a class" in promise_of(DistinctLDiversity(2), SCHEMA)
    assert limit_of(PersonKAnonymity(5)) == "at least 5 persons"
    assert limit_of(LargestShare(0.2)) == "at most 20%"
    assert promise_of(KmAnonymity(5, 2), OF_PERSONS) == (
        "Whoever knows the released values of age and city of up to 2 records of a person is left "
        "with at least 5 people who have such records."
    )
    assert limit_of(KmAnonymity(5, 2)) == "at least 5 persons"


OF_TWENTY = """[[privacy]]
model = "k-anonymity"
k = 3
[[privacy]]
model = "distinct-l-diversity"
l = 2
"""


def of_twenty(directory: Path, models: str = OF_TWENTY) -> Explorer:
    """The people above as the records of twenty."""
    explored(directory, models)
    rng = np.random.default_rng(8)
    people().assign(who=rng.integers(0, 20, 120)).to_csv(directory / "people.csv", index=False)
    path = directory / "study.toml"
    path.write_text(path.read_text().replace('"people.csv"', '"people.csv"\nperson = "who"'))
    return Explorer(Session(path))


def test_the_worst_classes_are_those_of_persons(tmp_path):
    explorer = of_twenty(tmp_path)
    outcome = outcome_in(explorer)
    assert [model.name for model in outcome.plan.models] == [
        "person-k-anonymity",
        "distinct-l-diversity",
        "largest-share",
    ]
    table = released(outcome)  # before whose its records are is left out
    groups = table.groupby(["age", "city"])
    most = groups["who"].agg(lambda of: of.value_counts(normalize=True).max())
    persons, values, share = conditions_of(outcome)
    assert persons.measured == f"The smallest class has {groups['who'].nunique().min()} people."
    assert share.worst.labels == dict(zip(["age", "city"], most.idxmax(), strict=True))
    assert values.worst.records == groups.size()[tuple(values.worst.labels.values())]
    assert all(each.holds for each in (persons, values, share))
    assert spans_of(outcome.plan.models, outcome)[2].high == 1


def test_what_follows_from_another_model_gets_a_section_once_it_is_changed():
    given = [{"model": "k-anonymity", "k": 5}]
    assert with_own_section({"privacy": [*given]}, 0, PersonKAnonymity(5))["privacy"] == given
    share = {"model": "largest-share", "share": 0.2}
    added = with_own_section({"privacy": [*given]}, 1, LargestShare(0.2))
    assert added["privacy"] == [*given, share]
    both = [{"model": "km-anonymity", "k": 5, "m": 2}]  # of two that follow the second
    assert with_own_section({"privacy": [*both]}, 2, LargestShare(0.2))["privacy"] == [*both, share]
    risk = [{"model": HighestReidentificationRisk.name, "risk": 0.2}]
    own = with_own_section({"privacy": risk}, 0, PersonKAnonymity(5))
    assert own["privacy"] == [{"model": "person-k-anonymity", "k": 5}]


OF_KNOWN = '[[privacy]]\nmodel = "km-anonymity"\nk = {}\nm = 2\n'


def test_who_is_left_to_who_knows_several_records_is_a_condition(tmp_path):
    outcome = outcome_in(of_twenty(tmp_path, OF_KNOWN.format(3)))
    left, persons, _ = conditions_of(outcome)
    assert left.holds
    assert persons.holds
    assert left.worst is None
    assert left.limit == "at least 3 persons"
    table = released(outcome)
    label = table["age"].astype(str) + table["city"].astype(str)
    held = {who: Counter(of) for who, of in label.groupby(table["who"])}
    fewest = min(
        sum(Counter(pair) <= other for other in held.values())
        for own in held.values()
        for pair in combinations(own.elements(), 2)
    )
    assert left.measured == f"Of the person who is hidden worst {fewest} people are left."
    assert all(span is not None for span in spans_of(outcome.plan.models, outcome))
    assert [each.name for each in parameters_of(outcome.plan.models[0])] == ["m"]


@pytest.mark.parametrize(
    "models",
    [
        *(OF_TWENTY.replace("k = 3", k) for k in ("k = 500", "k = 7")),
        *(OF_KNOWN.format(k) for k in (500, 21, 7)),
    ],
)
def test_ways_out_of_a_policy_of_persons_hold(tmp_path, models):
    explorer = of_twenty(tmp_path, models)
    path = tmp_path / "people.csv"
    table = pd.read_csv(path)
    table.loc[:40, "who"] = 1  # a third of the records are one's: no share of 1 / 7 is reached
    table.to_csv(path, index=False)
    outcome = outcome_in(explorer)
    assert outcome.unreachable
    found = ways_of(outcome, ignore)
    assert found.ways
    for way in found.ways:
        text = explorer.session.after(lambda content, way=way: with_change(content, way.change))
        assert explorer.outcome(text, ignore).holds, way.words


def test_spans_follow_the_table(tmp_path):
    explorer = explored(tmp_path)
    outcome = outcome_in(explorer)
    raw = people()
    prior = raw["diagnosis"].value_counts(normalize=True)
    sizes, bits, values, risk = spans_of(explorer.session.study().privacy, outcome)
    assert sizes == Span(2, 50, 1)
    finest = max(
        float((shares * np.log2(shares / prior[shares.index])).sum())
        for _, of in raw.groupby(["age", "city"])["diagnosis"]
        for shares in [of.value_counts(normalize=True)]
    )
    assert bits.low == 0
    assert 0 <= bits.high - finest < bits.step
    effective = 2 ** float(-(prior * np.log2(prior)).sum())
    assert values.low == 1
    assert 0 <= effective - values.high < values.step
    assert risk.high == 1
    assert span_of(DistinctLDiversity(2), outcome.raw) == Span(1, 3, 1)
    assert span_of(KAnonymity(60)) == Span(2, 500, 1)
    assert span_of(TCloseness(0.2, "equal"), outcome.raw).high == pytest.approx(1 - prior.min())


def test_distances_that_need_a_file_are_not_offered(tmp_path):
    raw = outcome_in(explored(tmp_path)).raw
    [distance] = parameters_of(TCloseness(0.2, "kl"), raw)
    assert [*distance.options] == ["kl", "equal"]
    ordered = TCloseness(0.2, "ordered", order=["flu", "cold", "asthma"])
    assert [*parameters_of(ordered, raw)[0].options] == ["kl", "equal", "ordered"]
    assert [each.kind for each in parameters_of(ordered, raw)] == ["choice", "file"]


def test_another_distance_leaves_out_what_was_for_the_old_one():
    section = {"model": "t-closeness", "t": 0.2, "distance": "ordered", "order": ["a", "b"]}
    changed = with_choice({"privacy": [section]}, 0, "distance", "kl")
    assert changed["privacy"] == [{"model": "t-closeness", "t": 0.2, "distance": "kl"}]
    changed = with_choice({"privacy": [{"attribute": "of"}]}, 0, "attribute", None)
    assert changed["privacy"] == [{}]


def test_every_recoding_and_objective_has_a_sentence():
    assert {*METHODS, *ELSEWHERE} == {*RECODINGS}
    assert {*GOALS} == {AUTOMATIC, *OBJECTIVES}
    assert "fixed" not in methods_for("boxes")
    assert "fixed" in methods_for("fixed")
    assert "pram" in methods_for("pram")
    assert options_for("boxes", {"suppression": 0.1, "min-records": 5}) == {"min-records": 5}
    assert suppression_span(0.5).high == 1


def test_an_objective_keeps_the_options_that_it_knows():
    weighted = {"name": "loss", "weights": {"age": 2}, "aggregate": "geometric-mean"}

    def under(goal: str, given: dict) -> dict | None:
        return with_goal({"objective": given}, goal).get("objective")

    assert under("non-uniform-entropy", weighted) == {
        "name": "non-uniform-entropy",
        "weights": {"age": 2},
    }
    assert under("mutual-information", weighted) == {"name": "mutual-information"}
    assert under(AUTOMATIC, weighted) is None
    assert under("miller-madow", {"targets": {"job": 1}})["targets"] == {"job": 1}


def test_a_policy_out_of_reach_has_ways_out_that_hold(tmp_path):
    models = MODELS_OF_ALL.replace("l = 1.0", "l = 2.9").replace("k = 2", "k = 200")
    explorer = explored(tmp_path, models)
    outcome = outcome_in(explorer)
    assert outcome.unreachable
    assert needs_ways(outcome) == "The policy is out of reach."
    found = ways_of(outcome, ignore)
    assert found.complete
    assert any("k-anonymity" in words for words in found.obstacles)
    assert found.ways
    for way in found.ways:
        text = explorer.session.after(lambda content, way=way: with_change(content, way.change))
        assert explorer.outcome(text, ignore).holds, way.words


def test_a_policy_that_costs_little_needs_no_ways_out(tmp_path):
    outcome = outcome_in(explored(tmp_path, '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'))
    assert outcome.holds
    assert ways_of(outcome, ignore) is None


@pytest.mark.parametrize("method", ["full-domain", "boxes", "merged-cells"])
def test_who_knows_one_attribute_is_shown_its_labels(tmp_path, method):
    outcome = outcome_in(explored(tmp_path, '[[privacy]]\nmodel = "k-anonymity"\nk = 4\n', method))
    counts, table = by_labels(outcome), released(outcome)
    assert len(counts) == outcome.classes
    for known in (["age"], ["city"]):
        groups = table.groupby(known)["diagnosis"]
        found = exposure_of(counts, known, "diagnosis")
        assert found.classes == groups.ngroups
        right = groups.agg(lambda of: of.value_counts().max()).sum() / len(table)
        assert found.guessing.right == pytest.approx(right)


def test_suppressed_records_are_named_as_they_are_released(tmp_path):
    explorer = explored(tmp_path, '[[privacy]]\nmodel = "k-anonymity"\nk = 12\n')
    explorer.session.take("levels", lambda content: _fixed(content, {"age": 1, "city": 0}))
    explorer.session.take("suppress", lambda content: with_suppression(content, 0.9))
    outcome = outcome_in(explorer)
    assert outcome.holds
    assert outcome.merged is not None
    named = named_class(outcome, outcome.merged)
    assert named.labels == {"age": "*", "city": "*"}
    table = released(outcome)
    assert named.records == outcome.suppressed == (table["age"] == "*").sum() > 0
    [smallest] = conditions_of(outcome)
    sizes = table.groupby(["age", "city"]).size()
    assert smallest.worst.records == sizes.min()
    assert tuple(smallest.worst.labels.values()) in sizes.index[sizes == sizes.min()]
