"""The risk of a table as it stands: from Python, and from the command line."""

import json
from functools import partial
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risky import STUDY, frame_of

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity, risk
from anonymizer.cli import main

SECRETS = ("Nemo", "Morbus")
TABLE = """\
name,age,sex,state,pay
Nemo0,20,f,flu,1
Nemo1,20,f,flu,1
Nemo2,20,f,flu,2
Nemo3,20,f,Morbus,3
Nemo4,30,f,flu,3
Nemo5,30,f,Morbus,3
Nemo6,30,m,Morbus,3
"""
CONTRACT = {
    "discrimination_rate",
    "mutual_information",
    "conditional_privacy",
    "maximum_information_leakage",
    "entropy_l_diversity_risk",
    "itpr",
}


def the_table() -> pd.DataFrame:
    return frame_of(TABLE)


@pytest.fixture
def study(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


@pytest.fixture
def run(run):
    return partial(run, "risk")


def measured(run, study, *options) -> dict:
    code, out, err = run(study / "table.csv", "--study", study / "study.toml", "--json", *options)
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_table_by_hand():
    """Classes of 4, 2 and 1 records; states 3 + 1, 1 + 1, 0 + 1 of 4 + 3."""
    found = risk.assess(the_table(), ["age", "sex"], "state").to_dict()
    assert (found["records"], found["classes"]) == (7, 3)
    identity = found["reidentification"]
    average = -sum(n / 7 * log2(n / 7) for n in (4, 2, 1))
    assert identity["mutual_information"] == pytest.approx(average)
    assert identity["maximum_information_leakage"] == pytest.approx(log2(7))
    assert identity["entropy_l_diversity_risk"] == identity["itpr"] == 1
    assert (identity["average"], identity["alone"]) == (pytest.approx(3 / 7), 1)
    state = found["inference"]["state"]
    h = -sum(n / 7 * log2(n / 7) for n in (4, 3))
    within = 4 / 7 * (2 - 0.75 * log2(3)) + 2 / 7
    assert state["mutual_information"] == pytest.approx(h - within)
    assert state["discrimination_rate"] == pytest.approx(1 - within / h)
    assert state["conditional_privacy"] == pytest.approx(1 - 2 ** (within - h))
    assert state["i1_max"] == pytest.approx(log2(7 / 3))
    assert state["i2_max"] == state["maximum_information_leakage"] == pytest.approx(h)
    assert (state["guessed"], state["guessed_without"]) == pytest.approx((5 / 7, 4 / 7))
    loss = found["query_loss"]
    assert loss["average"] == pytest.approx(average)
    assert loss["maximum"] == pytest.approx(log2(7))


def test_record_by_record():
    table = the_table().set_index("name")
    found = risk.assess(table, ["age", "sex"], "state").by_record()
    assert list(found.index) == list(table.index)
    assert list(found["records"]) == [4, 4, 4, 4, 2, 2, 1]
    assert list(found["posterior"]) == [0.25] * 4 + [0.5] * 2 + [1]
    assert list(found["posterior(state)"]) == [0.75] * 3 + [0.25] + [0.5] * 2 + [1]
    assert list(found["max_posterior(state)"]) == [0.75] * 4 + [0.5] * 2 + [1]
    assert found["i1"].iloc[6] == found["i2"].iloc[6] == pytest.approx(log2(7))
    assert found["i1(state)"].iloc[6] == pytest.approx(log2(7 / 3))
    assert found["itpr(state)"].iloc[6] == found["itpr"].iloc[6] == 1


def test_class_by_class():
    found = risk.assess(the_table(), ["age", "sex"], "state").by_class()
    assert sorted(found["records"]) == [1, 2, 4]
    alone = found[found["records"] == 1].iloc[0]
    assert (alone["posterior"], alone["uncertainty"], alone["uncertainty(state)"]) == (1, 0, 0)
    assert found["itpr"].max() == found["itpr(state)"].max() == 1
    assert not set(found.columns) & {"age", "sex"}


tables = st.lists(
    st.tuples(*[st.sampled_from("abc")] * 2, st.sampled_from(["x", "y", None])), min_size=1
).map(lambda rows: pd.DataFrame(rows, columns=["a", "b", "w"]))


@given(tables)
def test_records_and_classes_as_pandas_counts_them(table):
    found = risk.assess(table, ["a", "b"], "w", missing="category")
    keys = [table["a"], table["b"]]
    known = table["w"].fillna("none")
    size = table.groupby(keys)["a"].transform("size")
    own = known.groupby([*keys, known]).transform("size")
    most = own.groupby(keys).transform("max")
    records = found.by_record()
    assert list(records["records"]) == list(size)
    assert records["posterior(w)"].to_numpy() == pytest.approx((own / size).to_numpy())
    assert records["max_posterior(w)"].to_numpy() == pytest.approx((most / size).to_numpy())
    joint = pd.crosstab(keys, known)
    assert found.inference["w"].measures.to_dict() == pytest.approx(risk.measures(joint).to_dict())
    classes = found.by_class()
    assert classes.loc[records["class"], "records"].tolist() == list(size)
    assert (classes["records"] / len(table)) @ classes["i1(w)"] == pytest.approx(
        found.inference["w"].measures.mutual_information, abs=1e-9
    )


def test_missing_values():
    table = pd.DataFrame({"a": ["x", None, "x"], "w": ["1", "2", None]})
    with pytest.raises(InputError, match="column 'a' misses the value of 1 of 3 records"):
        risk.assess(table, "a", "w")
    assert risk.assess(table, "a", "w", missing="category").to_dict()["classes"] == 2
    dropped = risk.assess(table, "a", "w", missing="drop")
    assert dropped.to_dict()["records"] == 1
    assert list(dropped.by_record().index) == [0]


def test_values_that_read_alike_are_one():
    mixed = pd.DataFrame({"a": ["x"] * 4, "w": [1, "1", " 1", 2]})
    assert risk.assess(mixed, "a", "w").inference["w"].measures.max_posterior == 0.75


def test_categories_that_nobody_has_are_ignored():
    table = pd.DataFrame({"a": list("xxyy"), "w": list("1212")})
    declared = table.astype(
        {"a": pd.CategoricalDtype(list("uvxy")), "w": pd.CategoricalDtype(list("0123"))}
    )
    found = [risk.assess(each, "a", "w").to_dict() for each in (table, declared)]
    assert found[0] == found[1]
    assert found[0]["classes"] == 2


def test_a_table_of_one_record():
    found = risk.assess(the_table().head(1), ["age", "sex"], "state").to_dict()
    assert found["inference"]["state"]["degenerate"] is True
    assert found["reidentification"]["itpr"] == found["query_loss"]["average"] == 0
    assert found["reidentification"]["entropy_l_diversity_risk"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ages",), "no column 'ages'; did you mean 'age'"),
        ((["age", "age"],), "column 'age' has more than one role"),
        (("age", "age"), "column 'age' has more than one role"),
        (([],), "at least one quasi-identifier"),
    ],
)
def test_what_cannot_be_assessed(arguments, message):
    with pytest.raises(InputError, match=message):
        risk.assess(the_table(), *arguments)
    with pytest.raises(InputError, match="no records"):
        risk.assess(the_table().head(0), "age")


@pytest.mark.parametrize("column", [the_table()["name"], the_table()[["name"]], {"name"}, 1])
def test_a_column_instead_of_its_name_is_not_quoted(column):
    with pytest.raises(InputError, match="must name a column or a list of columns") as error:
        risk.assess(the_table(), column)
    assert "Nemo" not in str(error.value)


# The command


def test_the_contract(run, study):
    found = measured(run, study)
    assert (found["records"], found["classes"]) == (7, 3)
    assert set(found["inference"]) == {"state", "pay"}
    for about in (found["reidentification"], *found["inference"].values()):
        assert about.keys() >= CONTRACT
    for about in found["inference"].values():
        assert about.keys() >= {"i1_max", "i2_max"}
    assert found["query_loss"].keys() >= {"average", "standard_deviation", "maximum"}
    expected = risk.assess(the_table(), ["age", "sex"], ["state", "pay"]).to_dict()
    assert {key: found[key] for key in expected} == expected


def test_the_report(run, study):
    code, out, err = run(study / "table.csv", "--study", study / "study.toml")
    assert (code, err) == (0, "")
    assert (
        "7 records in 3 equivalence classes, the smallest of 1; records alone in theirs: 1." in out
    )
    assert "right for 71.43% of the records, who guesses that of the whole table for 57.14%" in out


@pytest.mark.parametrize(
    ("states", "posterior", "risk_of_class"),
    [(["A", "B", "C"], "0.3333", "0.333333"), (["A", "B", "C", "B", "B"], "0.6", "0.386636")],
)
def test_the_report_tells_apart_what_itpr_does_not(run, study, states, posterior, risk_of_class):
    """Tables 1b and 2b of Bkakria et al.: k, l and t say that the second is no riskier."""
    rows = [f"n,{age},f,{state},1" for age in (20, 30, 40) for state in states]
    (study / "table.csv").write_text("\n".join(["name,age,sex,state,pay", *rows]))
    _, out, _ = run(study / "table.csv", "--study", study / "study.toml")
    assert "ITPR, DR, MI and CP are 0, and do not tell how guessable a value is" in out
    assert f"ELD and the surest guess do: state {posterior}." in out
    assert risk_of_class in out
    assert "All records have the same value of pay" in out


def test_classes_are_told_by_number(run, study):
    found = measured(run, study, "--by", "class")
    assert sorted(row["records"] for row in found["by_class"]) == [1, 2, 4]
    assert {row["class"] for row in found["by_class"]} == {1, 2, 3}
    code, out, _ = run(study / "table.csv", "-s", study / "study.toml", "--by", "class")
    assert (code, out.count("Classes that tell most")) == (0, 3)


def test_the_surest_classes_come_first_and_the_largest_of_these(run, study):
    """Age 20, f, tells the state of 3 of 4; of 30, f, of one of 2, and of 30, m, the only one."""
    _, out, _ = run(study / "table.csv", "-s", study / "study.toml", "--by", "class")
    by = found_by_class(out)
    assert [(row[0], row[1]) for row in by[0]] == [("3", "1"), ("2", "2"), ("1", "4")]
    assert [(row[0], row[1]) for row in by[1]] == [("3", "1"), ("1", "4"), ("2", "2")]
    assert [(row[0], row[2]) for row in by[2]] == [("2", "1"), ("3", "1"), ("1", "0.5")]


def found_by_class(out: str) -> list[list[list[str]]]:
    """The cells of each table of classes that a report has."""
    tables = out.split("Classes that tell most")[1:]
    rows = [[line for line in table.splitlines() if line.startswith("│")] for table in tables]
    return [[[cell.strip() for cell in row.split("│")[1:-1]] for row in some[:3]] for some in rows]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_classes_with_their_values_in_a_file(run, study, suffix):
    measured(run, study, "--by", "class", "--output", study / f"classes{suffix}")
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    found = read(study / f"classes{suffix}")
    assert found.groupby(found["value(age)"].astype(int))["records"].sum().to_dict() == {
        20: 4,
        30: 3,
    }


def test_records_in_a_file(run, study):
    (study / "table.csv").write_text(TABLE.replace("Nemo1,20", "Nemo1,"))
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace("[data]", '[data]\nmissing = "drop"'))
    measured(run, study, "--by", "record", "--output", study / "risks.csv")
    assert (study / "risks.csv").stat().st_mode & 0o077 == 0  # it has raw values
    found = pd.read_csv(study / "risks.csv")
    assert list(found["record"]) == [1, 3, 4, 5, 6, 7]
    assert list(found["records"]) == [3, 3, 3, 2, 2, 1]
    assert "name" not in found.columns


def test_files_are_only_made_where_asked_and_free(run, study):
    table, file = study / "table.csv", study / "risks.csv"
    asked = (table, "--study", study / "study.toml", "--by", "record")
    code, _, err = run(*asked)
    assert (code, err.strip()) == (
        2,
        "anonymizer: --by record writes to a file only: name it with --output",
    )
    file.write_text("mine")
    code, _, err = run(*asked, "--output", file)
    assert (code, file.read_text()) == (2, "mine")
    assert "risks.csv is there already; --force replaces it" in err
    assert run(*asked, "--output", file, "--force")[0] == 0
    assert file.read_text().startswith("record,")
    code, _, err = run(*asked, "--output", table, "--force")
    assert (code, table.read_text()) == (2, TABLE)
    assert "is a table of the study; choose another file" in err
    code, _, err = run(*asked, "--output", study / "risks.xlsx")
    assert code == 2
    assert "no table has suffix '.xlsx'; known are .csv, .parquet" in err
    code, _, err = run(table, "-s", study / "study.toml", "--output", file)
    assert code == 2
    assert "--output is for --by record or --by class" in err


def test_attributes_are_ranked_and_the_forgotten_warned_of(run, study):
    found = measured(run, study, "--by", "attribute", "--size", "1")
    ranked = [subset["names"] for subset in found["by_attribute"]["subsets"]]
    assert ranked == [["age"], ["sex"]]
    told = found["by_attribute"]["chain_rule"]["reidentification"]["total"]
    assert told == pytest.approx(found["reidentification"]["mutual_information"])
    assert found["detected"] == []
    assert found["undeclared"]["attributes"] == []  # each has a role
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace('attributes = ["name"]', "attributes = []"))
    found = measured(run, study)
    assert found["undeclared"]["flagged"] == ["name"]
    assert "by_attribute" not in found
    _, out, _ = run(study / "table.csv", "-s", study / "study.toml", "--by", "attribute")
    assert "WARNING: not declared, but identifying" in out
    assert "every record has its own value" in out
    assert [each["names"] for each in measured(run, study, "--by", "attribute")["detected"]] == [
        ["name"]
    ]


def test_a_target_has_a_role(run, study):
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text + '[objective]\ntarget = "note"\n')
    rows = TABLE.split()
    marked = [rows[0] + ",note", *(f"{row},{i}" for i, row in enumerate(rows[1:]))]
    (study / "table.csv").write_text("\n".join(marked))
    assert measured(run, study)["undeclared"]["attributes"] == []


def test_too_many_subsets(run, study):
    names = "".join(f'q{i} = "suppress"\n' for i in range(60))
    (study / "study.toml").write_text(STUDY.replace("[sensitive]", f"{names}[sensitive]"))
    rows = [line + ",0" * 60 for line in TABLE.split()[1:]]
    header = TABLE.split()[0] + "".join(f",q{i}" for i in range(60))
    (study / "table.csv").write_text("\n".join([header, *rows]))
    asked = (study / "table.csv", "-s", study / "study.toml", "--by", "attribute", "--size", "5")
    code, _, err = run(*asked)
    assert (code, err.count("\n")) == (2, 1)
    assert "more than 100,000 subsets of up to 5; request at most size = 3" in err


def test_more_columns_than_all_pairs_of_are_looked_at(run, study, monkeypatch):
    """The quasi-identifiers are few, and are ranked whatever else stands in the table."""
    monkeypatch.setattr("anonymizer.risk.refinement.MOST_SUBSETS", 100)
    others = [f"c{i}" for i in range(20)]
    rows = [f"{line},{','.join('0' * 20)}" for line in TABLE.split()[1:]]
    (study / "table.csv").write_text("\n".join([f"{TABLE.split()[0]},{','.join(others)}", *rows]))
    found = measured(run, study, "--by", "attribute")
    assert len(found["by_attribute"]["subsets"]) == 3
    assert (found["detected"], found["detected_size"]) == ([], 1)


def test_too_many_columns_to_look_at_each(run, study, monkeypatch):
    monkeypatch.setattr("anonymizer.risk.refinement.MOST_SUBSETS", 2)
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace('attributes = ["name"]', "attributes = []"))
    asked = ("--by", "attribute", "--size", "1")
    code, _, err = run(study / "table.csv", "-s", study / "study.toml", *asked)
    assert code == 2
    assert "3 attributes have more than 2 subsets of up to 1; request fewer attributes" in err


def test_sizes_beyond_the_attributes_are_all_of_them(run, study):
    found = measured(run, study, "--by", "attribute", "--size", str(10**30))
    assert (found["by_attribute"]["size"], found["detected_size"]) == (2, 2)


def test_a_column_of_lists_that_has_no_role(run, study):
    table = the_table().assign(note=[["Morbus"]] * 7)
    table.to_parquet(study / "table.parquet")
    asked = (study / "table.parquet", "-s", study / "study.toml", "--by", "attribute")
    code, out, _ = run(*asked)
    assert code == 0
    assert "Not counted, as their values cannot be distinguished: note" in out


def test_the_table_of_the_study_is_not_written_over(run, study):
    other = study / "other.csv"
    other.write_text(TABLE)
    (study / "link.csv").symlink_to("table.csv")
    asked = (other, "-s", study / "study.toml", "--by", "record", "--force", "--output")
    for file in ("table.csv", "link.csv", "other.csv"):
        code, _, err = run(*asked, study / file)
        assert (code, err.count("\n")) == (2, 1)
        assert "is a table of the study; choose another file" in err
    assert (study / "table.csv").read_text() == other.read_text() == TABLE


def test_a_name_that_no_file_can_have(run, study):
    asked = (study / "table.csv", "-s", study / "study.toml", "--by", "record", "--output")
    code, _, err = run(*asked, study / ("x" * 300 + ".csv"))
    assert (code, err.count("\n")) == (2, 1)
    assert "no file can have such a name" in err


def test_risks_never_lie_in_a_release(run, study):
    anonymizer = Anonymizer({"age": Hierarchy.suppression()}, "state", [KAnonymity(2)])
    anonymizer.fit(the_table())
    (study / "release.json").write_text(json.dumps(anonymizer.release_.to_dict()))
    asked = (study / "table.csv", "-s", study / "study.toml", "--by", "record")
    code, _, err = run(*asked, "--output", study / "risks.csv")
    assert code == 2
    assert "would lie in the directory of a release" in err
    assert not (study / "risks.csv").exists()


def test_a_release_is_measured_as_it_stands(run, study, capsys):
    with pytest.raises(SystemExit):
        main(["run", str(study / "study.toml"), "--output", str(study / "out")])
    capsys.readouterr()
    released = study / "out" / "released.csv"
    code, out, _ = run(released, "--study", study / "study.toml", "--json")
    found = json.loads(out)
    assert (code, found["records"], found["classes"]) == (0, 7, 2)
    manifest = json.loads((study / "out" / "release.json").read_text())
    assert manifest["query_loss"] == found["query_loss"]


def test_a_wrong_column_is_one_line(run, study):
    (study / "table.csv").write_text(TABLE.replace("sex", "gender"))
    code, out, err = run(study / "table.csv", "--study", study / "study.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no column 'sex'" in err


def test_as_check_measures(adult):
    """Two roads to the same figures: k, entropy l, t and the average risk."""
    from anonymizer import check

    names, about = ["age", "sex", "race"], "marital-status"
    checked = check(adult, names, about)
    found = risk.assess(adult, names, about).to_dict()
    inferred = found["inference"][about]
    assert found["classes"] == checked.classes
    assert found["reidentification"]["max_posterior"] == 1 / checked.k
    assert 1 / inferred["entropy_l_diversity_risk"] == pytest.approx(
        checked.sensitive[about]["entropy_l"]
    )
    assert inferred["i1_max"] == pytest.approx(checked.sensitive[about]["t_kl"])
    assert found["reidentification"]["average"] == pytest.approx(checked.risk["prosecutor_average"])
    assert np.isclose(inferred["max_posterior"], checked.sensitive[about]["alpha"])


def test_adult_by_width_of_age(adult):
    """Figures of an independent implementation: ITPR hardly falls where k rises two hundredfold."""
    expected = {5: (7, 0.999299, 0.996241, 0.176613), 20: (91, 0.993403, 0.984898, 0.119865)}
    for width, (k, identity, inference, rate) in expected.items():
        table = adult.assign(age=adult["age"].astype(int) // width)
        found = risk.assess(table, "age", "marital-status").to_dict()
        assert found["reidentification"]["max_posterior"] == 1 / k
        assert found["reidentification"]["itpr"] == pytest.approx(identity, abs=5e-7)
        assert found["inference"]["marital-status"]["itpr"] == pytest.approx(inference, abs=5e-7)
        assert found["inference"]["marital-status"]["discrimination_rate"] == pytest.approx(
            rate, abs=5e-7
        )
