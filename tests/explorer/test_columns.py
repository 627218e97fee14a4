"""The columns of a table, worked by hand and by pandas; the rules proposed are those of init."""

import pandas as pd
import pytest
from explorer.conftest import small_study

from anonymizer import load_census
from anonymizer.errors import InputError
from anonymizer.explorer.answers.columns import (
    columns_of,
    proposed_role,
    proposed_rule,
    summary_of,
    together_of,
    warnings_of,
)
from anonymizer.explorer.answers.counted import Counter
from anonymizer.profiling import profile
from anonymizer.release.drafting import DraftOptions
from anonymizer.release.study import Study, draft


@pytest.fixture(scope="module")
def census():
    table = load_census()
    return table, profile(table)


def test_columns_by_hand():
    table = pd.DataFrame({"age": [1, 1, 2, 3], "sick": ["no", "no", "no", "yes"]})
    age, sick = columns_of(profile(table), {"age": "quasi-identifier"})
    assert age.figures == ("whole number", "3", "0", "50%", "75%", "83.33%")
    assert (age.role, sick.role) == ("quasi-identifier", "insensitive")
    assert sick.figures[1:4] == ("2", "0", "75%")


def test_missing_values_are_those_that_the_study_has_counted():
    table = pd.DataFrame({"age": [1, None, 2, 3]})
    found = profile(table)
    assert columns_of(found, {})[0].figures[2] == "1 (25%)"
    assert columns_of(found, {}, {"age": 2})[0].figures[2] == "2 (50%)"


@pytest.mark.parametrize("known", [None, ["age"]])
def test_proposed_rules_are_those_of_init(census, known):
    found = draft(census[0], DraftOptions(quasi_identifiers=known))
    method = found.document.recoding.method
    assert method == ("full-domain" if known else "boxes")
    for name, ladder in found.ladders.items():
        assert proposed_rule(found.profile, name, found.k, method) == ladder


def test_what_is_left_out_stands_with_the_identifiers(census):
    roles = {column.name: proposed_role(column) for column in census[1].columns}
    assert roles["fnlwgt"] == "identifier"
    assert roles["age"] == "quasi-identifier"


def test_a_column_of_lists_gets_no_rule():
    found = profile(pd.DataFrame({"age": [1, 2], "tags": [["a"], ["b"]]}))
    with pytest.raises(InputError, match="leave the column out"):
        proposed_rule(found, "tags", None, "full-domain")


def test_combinations_as_pandas_counts_them(tmp_path):
    study = Study(small_study(tmp_path))
    found = together_of(Counter().counted(study))
    sizes = pd.read_csv(tmp_path / "people.csv").value_counts(["age", "city"])
    assert (found.records, found.combinations) == (12, len(sizes))
    assert found.alone == (sizes == 1).sum() / 12
    assert found.gaps == {}


def test_gaps_and_spellings_of_columns_with_a_role(tmp_path):
    path = small_study(tmp_path)
    table = (
        (tmp_path / "people.csv").read_text().replace("21,Rome", "21,?").replace("22,Rome", "22,")
    )
    (tmp_path / "people.csv").write_text(table)
    found = together_of(Counter().counted(Study(path)))
    assert found.gaps == {"city": 1}
    assert found.spellings == ("?",)
    found_columns = columns_of(profile(pd.read_csv(tmp_path / "people.csv")), {})
    assert "'?' in columns with a role" in " ".join(warnings_of(found_columns, found))


def test_summary_and_warnings_say_what_to_look_at(census):
    found = census[1]
    columns = columns_of(found, {"age": "quasi-identifier"})
    assert "30,000 records, 15 columns." in summary_of(found, None)
    released, unprotected = warnings_of(columns, None)
    assert released.startswith("Released as they are: workclass")
    assert "No column is sensitive" in unprotected
