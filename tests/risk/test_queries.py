"""What queries cost: their language against SQL, their losses by plain sums, the command."""

import json
import math
from collections import Counter

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.privacy.query_loss import query_loss
from anonymizer.risk.queries import CodedColumn, answered, query_losses, query_losses_of
from anonymizer.risk.query_language import DEEPEST, Both, Condition, conditions, parse

PEOPLE = pd.DataFrame(
    {
        "age": [25, 31, 47, 47, 60, None, 38, 52],
        "sex": ["f", "m", "f", None, "m", "m", "it's", "f"],
        "in-come": [0.5, 2, 2.5, 10, -1, 3, 3, None],
        "diagnosis": ["flu", "flu", "flu", "flu", "flu", "cold", "gout", "burn"],
    }
)

numbers = st.sampled_from(["31", "47", "47.0", "-1", "2.5", "100"])
texts = st.sampled_from(["'f'", "'m'", "'it''s'", "'x'"])
simple = st.one_of(
    st.builds(
        lambda column, sign, number: f"{column} {sign} {number}",
        st.sampled_from(['"age"', '"in-come"']),
        st.sampled_from(["=", "!=", "<>", "<", "<=", ">", ">="]),
        numbers,
    ),
    st.builds("sex {} {}".format, st.sampled_from(["=", "!="]), texts),
    st.builds("sex {} ({}, {})".format, st.sampled_from(["in", "not in"]), texts, texts),
    st.builds(
        "age {} {} and {}".format, st.sampled_from(["between", "NOT BETWEEN"]), numbers, numbers
    ),
    st.sampled_from(["age is missing", "sex is not missing"]),
)
queries = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds("not {}".format, inner),
        st.builds("({})".format, inner),
        st.builds("{} and {}".format, inner, inner),
        st.builds("{} OR {}".format, inner, inner),
    ),
    max_leaves=5,
)


@given(queries)
def test_a_query_means_what_it_means_in_sql(query):
    people = PEOPLE  # noqa: F841  # what DuckDB finds by its name
    sql = query.replace("missing", "null")
    expected = [row[0] for row in duckdb.sql(f"select ({sql}) from people").fetchall()]
    columns = {name: CodedColumn(PEOPLE[name]) for name in PEOPLE}
    found = [{0: False, 1: None, 2: True}[a] for a in answered(parse(query), columns, query)]
    assert found == expected


def test_what_a_query_is():
    found = parse('age >= 40 and not (sex = "f" or `in-come` is missing)')
    assert isinstance(found, Both)
    assert [each.column for each in conditions(found)] == ["age", "sex", "in-come"]
    assert [each.place for each in conditions(found)] == [1, 20, 33]
    assert parse("native-country=='x'") == Condition("native-country", "=", ("x",), 1)
    assert parse(" and ".join(["age > 1"] * 3000)).parts[0].column == "age"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (" ", "a query is empty"),
        ("age > ", "position 7: expected a number, or a text in quotes, not the end"),
        ("age 40", r"position 5: expected a comparison .*, not 40"),
        ("sex = f", r"position 7: expected a number, or a text in quotes \('f'\), not f"),
        ("sex = 'f", 'position 7: cannot read "\'f"; a quote is not closed'),
        ("age > 40 sex = 'f'", "position 10: expected and, or, or the end, not sex"),
        ("(age > 40", r"position 10: expected \), not the end"),
        ("age in 40", r"position 8: expected \(, not 40"),
        ("age between 1, 2", "position 14: expected and, not ,$"),
        ("age is 3", "position 8: expected missing, not 3"),
        ("not and", "position 5: expected the name of a column, not and"),
        ("age > 4; drop table x", "position 8: cannot read '; drop tab'"),
        ("__import__('os')", r"position 11: expected a comparison"),
        ("age > 2020-01-01", "position 7: cannot read"),
        ("(" * (DEEPEST + 1), f"nested deeper than {DEEPEST}"),
        ("agee > 4", "position 1: .*no column 'agee'; did you mean 'age'"),
        ("in > 4", "position 1: expected the name of a column, not in"),
        ("`in` > 4", "position 1: .*no column 'in'; did you mean 'in-come'"),
        ("age > 4 and sex > 4", "position 13: column 'sex' does not hold numbers only"),
        ("PLZ code = 3", "is\\); a name with blanks stands in double quotes, not code"),
        ("age > 4,5", "and, or, or the end, not ,; a number is written with a point: 4.5"),
        ("age between 4,5 and 6", "expected and, not ,; a number is .* with a point: 4.5"),
        ("sex < 'm'", "position 1: 'm' is no number and no day as 2020-12-31"),
        ("age < '40'", "position 1: '40' is a text, and the number is written without quotes"),
        ("age < '2020-13-45'", "position 1: '2020-13-45' is no number and no day"),
        ("age < '2020-01-31'", "column 'age' does not hold days as 2020-12-31 only"),
        ("age > 1e99999999999999999999", "position 7: a number has at most 300 digits"),
        ("age in (1, 1e301)", "position 12: a number has at most 300 digits"),
        ("age > 2020-01-01", "a day stands in quotes, as '2020-12-31'"),
        ("sex = \u2018m\u2019", "position 7: cannot read .*; quotes are ' or "),
        ("age > 4 && sex = 'm'", "position 9: .*; conditions are joined by and"),
        ("x" * 300 + " > 4 !", r"^query '…x{55} > 4 !', position 306: .* denied by not$"),
        ("age = " + "x" * 999, r"^query '…?age = x{54,60}…', position 7: .{140,170}…$"),
        ("not " * 99 + "age > 4", r"^query '…(not ){15}.*…', position 201: nested deeper"),
    ],
)
def test_a_query_that_is_none(query, message):
    with pytest.raises(InputError, match=message):
        query_losses(PEOPLE, query)


def test_texts_are_told_apart_where_the_column_does():
    table = pd.DataFrame({"code": ["1", "1.0", "1.0", "2"], "gaps": ["1.0", "2.0", "1.0", None]})
    found = query_losses(
        table, ["code = '1'", "code = '1.0'", "code = 1", "code = '1.00'", "gaps = '1'"]
    )
    assert [each.least for each in found.questions] == [1, 2, 1, 4, 1]
    assert [each.most for each in found.questions] == [3, 2, 3, 4, 2]
    assert found.notes == ("no record has '1.00' in column 'code'",)


def test_infinite_numbers_have_no_order_until_they_are_missing(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"v": [1.0, 2.0, 3.0, math.inf, -math.inf, None]}).to_parquet(path)
    with pytest.raises(InputError, match=r"numbers only.*--missing-values=inf"):
        query_losses_of(path, "v > 1")
    found = query_losses_of(path, "v > 1", missing_values=["inf", "-inf"])
    assert (found.jointly.answers, found.jointly.least, found.jointly.most) == (3, 1, 3)


def test_a_long_list_that_no_record_has_is_noted_in_a_few_lines():
    listed = ", ".join(f"'{name}'" for name in ["f", *range(1000), "z" * 201])
    notes = query_losses(PEOPLE, f"sex in ({listed})").notes
    assert len(notes) == 9
    assert notes[0] == "no record has '0' in column 'sex'"
    assert notes[-1] == "993 more of the kind"


TIMES = ["2020-12-31T23:59:00", "2021-01-01 00:00:00", "2021-01-01T10:00:00", "2021-01-02"]


@pytest.mark.parametrize("times", [TIMES, pd.to_datetime(TIMES, format="ISO8601")])
@pytest.mark.parametrize(
    ("query", "yes"),
    [
        ("t > '2021-01-01'", 1),
        ("t <= '2021-01-01'", 3),
        ("t = '2021-01-01'", 2),
        ("t between '2021-01-01' and '2021-01-01'", 2),
        ("t > '2021-01-01 09:00:00'", 2),
        ("t >= '2021-01-01T10:00:00'", 2),
        ("t = '2021-01-01 10:00'", 1),
    ],
)
def test_days_and_times_however_a_table_writes_them(times, query, yes):
    found = answered(parse(query), {"t": CodedColumn(pd.Series(times))}, query)
    assert (found == 2).sum() == yes
    assert (found == 0).sum() == len(TIMES) - yes


def test_times_with_and_without_a_zone():
    table = pd.DataFrame({"t": pd.to_datetime(TIMES, format="ISO8601", utc=True)})
    assert query_losses(table, "t > '2021-01-01'").jointly.least == 1
    with pytest.raises(InputError, match="some times have a time zone and others have none"):
        query_losses(table, "t > '2021-01-01 09:00:00'")


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ("age between 50 and 40", ("nothing is between 50 and 40; the lower bound comes first",)),
        ("age not between 40 and 40", ()),
    ],
)
def test_bounds_the_wrong_way_round_are_noted(query, notes):
    assert query_losses(PEOPLE, query).notes == notes


def entropy(counts):
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c)


def plain(answers, values):
    """Average, largest, smallest loss and the chance of a negative one, by plain sums."""
    n, before = len(answers), entropy(Counter(values).values())
    losses = {
        a: before
        - entropy(Counter(v for b, v in zip(answers, values, strict=True) if b == a).values())
        for a in set(answers)
    }
    share = Counter(answers)
    return (
        sum(share[a] / n * loss for a, loss in losses.items()),
        max(losses.values()),
        min(losses.values()),
        sum(share[a] / n for a, loss in losses.items() if loss < -1e-9),
    )


pairs = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz")), min_size=1, max_size=12)


@given(pairs, st.booleans())
def test_losses_are_those_of_plain_sums(records, about):
    table = pd.DataFrame(records, columns=["group", "value"])
    found = query_losses(table, group_by=["group"], about="value" if about else ())
    (question,) = found.questions
    values = table["value"].tolist() if about else list(range(len(table)))
    average, largest, smallest, gaining = plain(table["group"].tolist(), values)
    loss = question.loss
    assert (loss.average, loss.maximum, loss.minimum, question.gaining) == pytest.approx(
        (average, largest, smallest, gaining), abs=1e-9
    )
    assert about or smallest > -1e-9  # about the record no answer makes it less certain


def test_several_queries_by_hand():
    found = query_losses(PEOPLE, ["age > 40", "age is missing"], ["sex", ("sex", "age")])
    assert [q.text for q in found.questions] == [
        "age > 40", "age is missing", "by sex", "by sex, age",
    ]  # fmt: skip
    # age > 40: four of eight yes, three no, one unknown.
    first = found.questions[0]
    assert (first.answers, first.least, first.most) == (3, 1, 4)
    assert first.loss.average == pytest.approx(0.5 + 3 / 8 * math.log2(8 / 3) + 3 / 8)
    assert (first.loss.maximum, first.loss.minimum) == pytest.approx((3, 1))
    assert found.jointly.answers == found.questions[3].answers == 8
    assert found.jointly.loss.average == pytest.approx(3) == found.uncertainty
    assert found.sum_of_averages > 3
    dropped = query_losses(PEOPLE, "age > 40", missing="drop")
    assert (dropped.records, dropped.jointly.answers) == (7, 2)
    with pytest.raises(InputError, match="misses the value of 1 of 8 records"):
        query_losses(PEOPLE, "age > 40", missing="error")


def test_answers_that_are_no_function_may_tell_more_together():
    table = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "w": [0, 1, 1, 0]})
    found = query_losses(table, group_by=["a", "b"], about="w")
    assert [q.loss.average for q in found.questions] == [0, 0]
    assert found.jointly.loss.average == pytest.approx(1)


def test_about_the_alternative_itself_is_the_loss_without():
    weights = [4, 2, 1, 1]
    assert query_loss("aabb", weights, "wxyz") == query_loss("aabb", weights)
    with pytest.raises(InputError, match="4 alternatives, but 3 values that they are about"):
        query_loss("aabb", about="xyz")


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False, na_rep="?")
    return path


def test_the_command(run, people, tmp_path):
    code, out, err = run(
        "query-loss", str(people), "--query", "diagnosis = 'flu'", "--group-by", "sex", "--about",
        "diagnosis", "--plot", str(tmp_path / "p.svg"),
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert out.startswith(
        "8 records. Uncertain about a person: the values of diagnosis, 1.5488 bits"
    )
    for words in ("by sex", "all together", "A negative loss: the answer excludes"):
        assert words in out
    for value in ("gout", "it's", "burn", "cold"):
        assert value not in out
    text = (tmp_path / "p.svg").read_text()
    assert "average" in text


def test_a_study_is_no_table(run, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text("[data]\n")
    code, out, err = run("query-loss", str(study), "-q", "age > 4")
    assert (code, out) == (2, "")
    assert "is a study, not a table; name the table" in err


def test_the_command_as_json(run, people):
    code, out, _ = run("query-loss", str(people), "-q", "sex = 'g'", "--json")
    found = json.loads(out)
    assert (code, found["records"], found["uncertainty"]) == (0, 8, 3)
    assert found["notes"] == ["no record has 'g' in column 'sex'"]
    assert (
        found["together"]["average"] == found["queries"][0]["average"] == found["sum_of_averages"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], 'name a query: --query "age > 40", or --group-by sex'),
        (["--query", "sexe = 'f'"], "query \"sexe = 'f'\", position 1: "),
        (["--group-by", ""], "a group-by names no column: give a condition"),
        (["--group-by", "sexe"], "no column 'sexe'; did you mean 'sex'?"),
        (["--group-by", "zip"], "here that is an option, such as --columns"),
        (["--query", "age > 40", "--separator", ";"], "an option, such as --separator"),
        (["--query", "age > 40", "--plot", "p.txt"], "no format of a picture has suffix '.txt'"),
    ],
)
def test_mistakes_at_the_command_line(run, people, arguments, message):
    code, out, err = run("query-loss", str(people), *arguments)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("content", "table", "option"),
    [('a\n"x\n', None, "--quote"), ("a\n1\n", "people", "--table")],
)
def test_messages_name_the_option_that_mends_them(tmp_path, content, table, option):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=f"here that is an option, such as {option}$"):
        query_losses_of(path, "a = 1", table=table)


def test_a_folder_with_what_cannot_be_read_is_refused(tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text("a\n1\n")

    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(tmp_path), "is_file", refused)
    with pytest.raises(InputError, match=r"cannot read .*: Permission denied .*folder of its own"):
        query_losses_of(tmp_path, "a = 1")
