"""Advice about a policy of persons who have several records: all of it is of persons."""

import numpy as np
import pandas as pd
import pytest

from anonymizer import (
    Anonymizer,
    EntropyLDiversity,
    FullDomain,
    Hierarchy,
    KAnonymity,
    LargestShare,
    PersonKAnonymity,
    PolicyUnreachableError,
    VariableRange,
    advise,
)
from anonymizer.advice.changes import at_worst, obstacles_at
from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.tables import engine

HIDDEN = {"a": Hierarchy.suppression()}


def counted(table: pd.DataFrame) -> Counts:
    schema = Schema(("a",), ("w",), person=("who",))
    tally = engine.tally(table, schema.columns)
    return schema.counts(tally, taxonomies_of(tally, HIDDEN))


VISITS = pd.DataFrame(
    {
        "a": list("xxxx" + "yyyyyy"),
        "w": list("1111" + "111123"),
        "who": list("aaaa" + "bbbbcd"),
    }
)
"""A class of one person, and one of 3 of whom one has 4 of 6 records, all of them 1."""


@pytest.mark.parametrize(
    ("model", "worst", "records"),
    [
        (PersonKAnonymity(2), 1, 4),
        (LargestShare(0.7), 1, 4),
        (LargestShare(0.5), 1, 10),
        # In y each of 3 values counts a person, and one of them 4 of 6 records: 2^H is 3 and 2.38.
        (EntropyLDiversity(2.3, attribute="w"), 1, 4),
        (EntropyLDiversity(2.5, attribute="w"), 1, 10),
    ],
)
def test_the_records_that_stand_in_the_way_are_those_of_few_persons(model, worst, records):
    (found,) = obstacles_at(counted(VISITS), [model])
    assert (found.worst, found.records) == (worst, records)


@pytest.mark.parametrize(
    ("model", "spare", "relaxed"),
    [
        (PersonKAnonymity(4), 0, PersonKAnonymity(1)),
        (PersonKAnonymity(4), 4, PersonKAnonymity(3)),  # without the 4 records of x
        (LargestShare(0.1), 3, LargestShare(1.0)),
        (LargestShare(0.1), 4, LargestShare(0.667)),
        (EntropyLDiversity(9, attribute="w"), 4, EntropyLDiversity(2.38, attribute="w")),
    ],
)
def test_a_model_is_relaxed_to_what_persons_reach(model, spare, relaxed):
    counts = counted(VISITS)
    assert at_worst(model, counts, np.ones(2, bool), spare) == relaxed


def people(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    who = rng.integers(0, 40, 120)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 40, 40)[who],
            "sex": rng.choice(list("fm"), 40)[who],
            "w": rng.choice(list("uuuuvvx"), 120),
            "who": who,
        }
    )


def anonymizer(recoding, privacy) -> Anonymizer:
    return Anonymizer(
        {"age": Hierarchy.ranges(widths=[5, 10, 20]), "sex": "suppress"},
        sensitive="w",
        privacy=list(privacy),
        person="who",
        recoding=recoding,
    )


def test_a_way_out_of_a_policy_of_persons_is_one():
    """By suppression, and with what each model is relaxed to."""
    table = people(1)
    table.loc[:40, "who"] = 0
    policy = KAnonymity(3), EntropyLDiversity(1.5)
    with pytest.raises(PolicyUnreachableError, match=r"share = 0\.333333 is below 0\.341667, the"):
        anonymizer("full-domain", policy).fit(table)
    advice = advise(anonymizer("full-domain", policy), table)
    tried = 0
    for change in advice.changes:
        if change.kind == "suppress":
            other = anonymizer(FullDomain(suppression=change.suppression), policy)
        elif change.kind == "relax":
            after = {each.model: each.after for each in change.settings}
            kinds = {"person-k-anonymity": 3, "largest-share": 1 / 3, "entropy-l-diversity": 1.5}
            k, share, l = (after.get(name, value) for name, value in kinds.items())  # noqa: E741
            models = PersonKAnonymity(int(k)), LargestShare(share), EntropyLDiversity(l)
            other = anonymizer("full-domain", models)
        else:
            continue
        assert change.reachable
        release = other.fit(table).release_
        assert release.suppressed == change.suppressed
        tried += 1
    assert tried > 0


@pytest.mark.parametrize("recoding", ["full-domain", VariableRange()])
def test_the_frontier_of_l_is_that_of_persons(recoding):
    """At each point the l that was asked for holds of persons, and the next one is not given."""
    table = people(2)
    advice = advise(anonymizer(recoding, (KAnonymity(2), EntropyLDiversity(1.2))), table)
    (sweep,) = advice.sweeps
    assert len(sweep.points) > 2
    for point in sweep.points[1:]:
        models = KAnonymity(2), EntropyLDiversity(point.threshold)
        release = anonymizer(recoding, models).fit(table).release_
        assert release.classes == point.classes
        assert all(each.satisfied for each in release.privacy)
