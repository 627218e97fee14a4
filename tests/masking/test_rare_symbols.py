"""How rare a released value may be: worked out by hand, seen in what is released.

All but a few records have the value 0, the others 100, as far away as can be. Nothing is in the way
of releasing both as they are, but that few records have the second one: it is released when these
are as many as any symbol has to be expected for, and otherwise 0 is released for them.
"""

import pandas as pd
import pytest

from anonymizer import AlphaKAnonymity, Anonymizer, Hierarchy, KAnonymity, Noise, Pram, TCloseness

METHODS = {
    "pram": lambda least: Pram(min_records=least, seed=1),
    "noise": lambda least: Noise(min_records=least, grid={"x": 100}, seed=1),
}


def released(method, records, rare, policy, least) -> dict[int, int]:
    """How many records of each value are released where so many have the rare one."""
    ill = (["flu", "cold"] * records)[:records]
    table = pd.DataFrame({"x": [0] * (records - rare) + [100] * rare, "ill": ill})
    hierarchies = {"x": Hierarchy.ranges(widths=[200])}
    anonymizer = Anonymizer(hierarchies, "ill", policy, recoding=METHODS[method](least))
    return anonymizer.fit_transform(table)["x"].value_counts().to_dict()


ANY = [KAnonymity(1)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("records", "policy", "least", "enough"),
    [
        (400, ANY, None, 5),  # sqrt(400) / 4
        (401, ANY, None, 6),  # 5.006
        (399, ANY, None, 5),  # 4.994
        (100, ANY, None, 3),  # 2.5
        (4, ANY, None, 1),  # 0.5: one record will do
        (400, [TCloseness(5, "kl")], None, 5),  # of no model that is about sizes
        (400, [KAnonymity(4)], None, 5),
        (400, [KAnonymity(7)], None, 7),
        (400, [KAnonymity(9), AlphaKAnonymity(1, k=7)], None, 9),
        (400, [KAnonymity(7), AlphaKAnonymity(1, k=9)], None, 9),
        (400, ANY, 9, 12),  # 9 + sqrt(9)
        (400, ANY, 10, 14),  # 10 + 3.16
        (400, ANY, 8, 11),  # 8 + 2.83
        (400, ANY, 1, 2),  # fewer than when nothing is requested
        (400, [KAnonymity(7)], 4, 7),  # 4 + 2 would be too few for the policy
        (400, [KAnonymity(7)], 9, 12),
    ],
)
def test_a_value_is_released_when_enough_records_have_it(method, records, policy, least, enough):
    assert released(method, records, enough, policy, least) == {0: records - enough, 100: enough}
    if enough > 1:
        assert released(method, records, enough - 1, policy, least) == {0: records}
