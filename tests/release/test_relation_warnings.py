"""What is warned of a table that lies elsewhere is what is warned of it in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anonymizer import Anonymizer, Hierarchy, KAnonymity
from anonymizer.release import column_warnings
from anonymizer.release.fitting import fitted
from anonymizer.tables.relations.frames import relation_of

RECORDS = 600


def people(seed):
    """Columns without a role that name, give away, or say nothing; records sorted by one."""
    rng = np.random.default_rng(seed)
    age = np.sort(rng.integers(20, 60, RECORDS))
    return pd.DataFrame(
        {
            "name": [f"n{number}" for number in rng.permutation(RECORDS)],
            "age": age,
            "job": rng.choice(["a", "b", "c", None], RECORDS),
            "born": 2026 - age,
            "near": (age // 2) * 2 + (rng.random(RECORDS) < 0.02),
            "phone": [None if number % 3 else str(number) for number in range(RECORDS)],
            "noise": rng.integers(0, 40, RECORDS),
            "few": rng.choice(["x", "y"], RECORDS),
            "many": rng.integers(0, 300, RECORDS),
        }
    )


def estimator(recoding):
    return Anonymizer(
        quasi_identifiers={"age": Hierarchy.ranges(widths=[10, 40]), "job": "suppress"},
        identifiers=["name"],
        privacy=[KAnonymity(3)],
        missing="category",
        recoding=recoding,
    )


@pytest.mark.parametrize("recoding", ["full-domain", "boxes"])
@pytest.mark.parametrize("few", [RECORDS, 200])
def test_the_same_warnings_wherever_a_table_lies(monkeypatch, recoding, few):
    monkeypatch.setattr(column_warnings, "FEW", few)
    table = people(0)
    known = estimator(recoding).fit(table).release_.warnings
    relation = relation_of(pa.Table.from_pandas(table))
    found = fitted(estimator(recoding), relation).release.warnings
    about = {(each.code, each.column, each.about) for each in known}
    assert ("nearly-unique-column", "phone", None) in about
    assert ("column-gives-away", "born", "age") in about
    assert ("telling-order", "age", None) in about
    assert not {column for _, column, _ in about} & {"noise", "few", "many"}
    ordered = "telling-order"  # of few records fewer pairs are looked at
    assert [each for each in found if each.code != ordered or few == RECORDS] == [
        each for each in known if each.code != ordered or few == RECORDS
    ]
    assert {(each.code, each.column, each.about) for each in found} == about
