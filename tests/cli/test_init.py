import csv
import json
import os
import sys
import tomllib
from collections import Counter
from contextlib import suppress
from math import log2

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from forked import start
from lengths import at_length

from anonymizer import load_adult, load_census
from anonymizer.cli import init as command
from anonymizer.cli import main
from anonymizer.cli.authoring import init

TABLE = "name;age;town;disease\n" + "".join(
    f"Nemo{number};{20 + number % 40},5;{'UB'[number % 3 == 0]};{['flu', 'cold'][number % 2]}\n"
    for number in range(120)
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert "Nemo" not in out + err
    return stop.value.code, out, err


def answered(monkeypatch, answers, *arguments):
    monkeypatch.setattr(command, "interactive", lambda: True)
    return CliRunner().invoke(init, list(arguments), input=answers)


def test_init_then_run_then_verify(here, capsys):
    code, out, _ = call(capsys, "init", "people.csv")
    assert code == 0
    assert "anonymizer run people-study/study.toml --output people-study/release" in out
    text = (here / "people-study" / "study.toml").read_text()
    assert 'path = "../people.csv"\nseparator = ";"\ndecimal = ","' in text
    assert call(capsys, "run", "people-study/study.toml", "-o", "people-study/release")[0] == 0
    assert call(capsys, "verify", "people-study/release")[0] == 0
    released = pd.read_csv("people-study/release/released.csv", sep=";")
    assert list(released.columns) == ["age", "town", "disease"]


def test_fewer_quasi_identifiers_and_the_others_in_one_line(here, capsys):
    rng = np.random.default_rng(2)
    values = (["20", "30", "40"], [*"fm"], [*"abc"], [*"rgb"])
    rows = [",".join(row) for row in zip(*(rng.choice(v, 120) for v in values), strict=True)]
    (here / "work.csv").write_text("\n".join(["age,sex,ill,hue", *rows, ""]))
    code, out, _ = call(
        capsys, "init", "work.csv", "--max-quasi-identifiers", "2", "--sensitive", "ill"
    )
    assert code == 0
    line = "WARNING: 'hue' is released as in the table, beyond --max-quasi-identifiers; leave out"
    assert line in " ".join(out.split())
    study = tomllib.loads((here / "work-study" / "study.toml").read_text())
    assert [*study["quasi-identifiers"]] == ["age", "sex"]
    assert study["insensitive"] == {"attributes": ["hue"]}
    assert call(capsys, "run", "work-study/study.toml", "-o", "release")[0] == 0
    assert call(capsys, "verify", "release", "--study", "work-study/study.toml")[0] == 0


def test_who_names_quasi_identifiers_says_how_many(here, monkeypatch):
    found = answered(
        monkeypatch, "\nage,town\n\n\n\n", "people.csv", "--max-quasi-identifiers", "1"
    )
    assert found.exit_code == 0, found.output
    study = tomllib.loads((here / "people-study" / "study.toml").read_text())
    assert {*study["quasi-identifiers"]} == {"age", "town"}


@pytest.mark.usefixtures("adult")
@pytest.mark.parametrize("named", [True, False])
def test_adult_as_it_is_downloaded(here, capsys, named):
    adult = load_adult().iloc[:: at_length(4, 1)]
    columns = list(adult.columns)
    adult.fillna("?").to_csv("adult.data", index=False, header=False, lineterminator="\n")
    more = ["--columns", ",".join(columns)] if named else []
    assert call(capsys, "init", "adult.data", *more)[0] == 0
    assert call(capsys, "run", "adult-study/study.toml", "-o", "release")[0] == 0
    released = pd.read_csv("release/released.csv")
    quasi = [name for name in released if name not in ("salary-class", "column-15")]
    assert len(quasi) == 8
    mostly_lost = [name for name in quasi if (released[name] == "*").mean() > 0.95]
    assert len(mostly_lost) <= 1
    assert released.groupby(quasi, dropna=False).ngroups > at_length(300, 1000)


def test_the_census_of_invented_people(here, capsys):
    load_census().to_parquet("census.parquet")
    assert call(capsys, "init", "census.parquet", "-o", ".", "--sensitive", "salary-class")[0] == 0
    assert call(capsys, "run", "study.toml", "-o", "release")[0] == 0


def test_a_study_that_is_there_is_not_replaced(here, capsys):
    call(capsys, "init", "people.csv")
    before = (here / "people-study" / "study.toml").read_text()
    code, _, err = call(capsys, "init", "people.csv", "--k", "9")
    assert (code, err) == (
        2,
        "anonymizer: people-study already holds a study, study.toml; --force replaces it\n",
    )
    assert (here / "people-study" / "study.toml").read_text() == before
    assert call(capsys, "init", "people.csv", "--k", "9", "--force")[0] == 0
    assert "k = 9" in (here / "people-study" / "study.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "there is no file nothing.csv"),
        (["people.csv", "--sensitive", "desease"], "did you mean 'disease'?"),
        (["people.csv", "--k", "500"], "k = 500 is more than the 120 records of the table"),
        (["people.csv", "--sensitive", "age", "--identifiers", "age"], "more than one role"),
        (["twice.csv"], "column 'a' stands more than once"),
        (["latin.csv"], "here that is an option, such as --encoding"),
        (["people.csv", "-o", "st.toml"], "st.toml would be a directory, in which study.toml"),
    ],
)
def test_mistakes_say_what_to_do_and_write_nothing(here, capsys, arguments, message):
    (here / "twice.csv").write_text("a,a\n1,2\n")
    (here / "latin.csv").write_bytes("größe,sex\n170,m\n".encode("latin-1") * 20)
    before = sorted(here.iterdir())
    code, _, err = call(capsys, "init", *arguments)
    assert code == 2
    assert message in err
    assert sorted(here.iterdir()) == before


def test_an_encoding_that_is_given_goes_into_the_study(here, capsys):
    lines = "größe,sex\n" + "".join(f"{150 + number},{'mf'[number % 2]}\n" for number in range(40))
    (here / "latin.csv").write_bytes(lines.encode("latin-1"))
    assert call(capsys, "init", "latin.csv", "--encoding", "latin-1")[0] == 0
    assert "encoding" in (here / "latin-study" / "study.toml").read_text(encoding="utf-8")
    assert call(capsys, "run", "latin-study/study.toml", "-o", "release")[0] == 0


def test_json_is_the_profile(here, capsys):
    code, out, _ = call(capsys, "init", "people.csv", "--json")
    found = json.loads(out)
    assert code == 0
    assert [column["role"] for column in found["columns"]] == [
        "identifier",
        "quasi-identifier",
        "quasi-identifier",
        "sensitive",
    ]


def test_enter_takes_every_proposal(here, monkeypatch, capsys):
    call(capsys, "init", "people.csv", "-o", "silent")
    found = answered(monkeypatch, "\n\n\n\n", "people.csv", "-o", "asked")
    assert found.exit_code == 0
    for name in ("sensitive", "quasi-identifiers", "k:"):
        assert name in found.output.casefold()
    assert (here / "asked" / "study.toml").read_text() == (
        here / "silent" / "study.toml"
    ).read_text()


def test_answers_change_the_study_and_wrong_ones_are_asked_again(here, monkeypatch):
    answers = "towm\ntown\nage, disease\nmany\n4\ny\n"
    found = answered(monkeypatch, answers, "people.csv")
    assert found.exit_code == 0
    assert "did you mean 'town'?" in found.output
    assert "k = 'many' must be a whole number of at least 2" in found.output
    text = (here / "people-study" / "study.toml").read_text()
    assert 'attributes = ["town"]' in text
    assert "k = 4" in text


def test_none_is_sensitive_where_that_is_answered(here, monkeypatch):
    assert answered(monkeypatch, "-\n\n\n\n", "people.csv").exit_code == 0
    assert "attributes = []" in (here / "people-study" / "study.toml").read_text()


@pytest.mark.parametrize("answers", ["", "\n", "\n\n\n", "\n\n\nn\n"])
def test_who_leaves_early_finds_nothing_written(here, monkeypatch, answers):
    before = sorted(here.iterdir())
    assert answered(monkeypatch, answers, "people.csv").exit_code == 1
    assert sorted(here.iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_study_without_quasi_identifiers_is_not_taken_for_an_answer(here, monkeypatch):
    found = answered(monkeypatch, "\n-\nage\n\n\n", "people.csv")
    assert "a study needs at least one quasi-identifier; name one" in found.output
    text = (here / "people-study" / "study.toml").read_text()
    assert "age = {" in text
    assert "# town: you chose other quasi-identifiers; a line there releases it" in text


def test_a_file_without_a_header_line_asks_for_names(here, capsys, adult):
    adult.iloc[:300, :3].to_csv("adult.data", index=False, header=False)
    _, out, _ = call(capsys, "init", "adult.data", "-o", "one")
    assert "the file has no header line" in out
    _, out, _ = call(capsys, "init", "adult.data", "-o", "two", "--columns", "age,work,school")
    assert "the file has no header line" not in out


def test_numbers_with_gaps_are_protected_by_closeness(here, capsys):
    ages = [str(20 + place % 40) for place in range(200)]
    lines = [f"{age},{place * 7.5 if place % 9 else ''}" for place, age in enumerate(ages)]
    (here / "pay.csv").write_text("age,income\n" + "\n".join(lines) + "\n")
    code, _, _ = call(capsys, "init", "pay.csv")
    assert code == 0
    study = tomllib.loads((here / "pay-study" / "study.toml").read_text())
    assert study["data"]["missing"] == "gap"
    closeness = {"model": "t-closeness", "distance": "ordered", "t": 0.2}
    assert study["privacy"][1] == closeness


def test_a_first_study_passes_its_own_warning_of_gaps(here, capsys):
    """Every other record misses the sensitive value, which is no value to be different by."""
    answers = ["flu", "", "cold", "", "cough", "", "flu", ""]
    lines = [f"{20 + place % 17},{answers[place % 8]}" for place in range(400)]
    (here / "ill.csv").write_text("age,disease\n" + "\n".join(lines) + "\n")
    assert call(capsys, "init", "ill.csv", "--sensitive", "disease")[0] == 0
    code, _, _ = call(capsys, "run", "ill-study/study.toml", "--output", "ill")
    assert code == 0
    assert "missing" not in str(json.loads((here / "ill/release.json").read_text())["warnings"])
    assert call(capsys, "verify", "ill", "--study", "ill-study/study.toml")[0] == 0
    study = tomllib.loads((here / "ill-study" / "study.toml").read_text())
    (least,) = (each["l"] for each in study["privacy"] if each["model"].startswith("entropy"))
    classes: dict[str, Counter] = {}
    for row in csv.DictReader((here / "ill/released.csv").read_text().splitlines()):
        classes.setdefault(row["age"], Counter())[row["disease"]] += 1
    for values in classes.values():
        known = [count for value, count in values.items() if value]
        shares = [count / sum(known) for count in known]
        assert 2 ** -sum(share * log2(share) for share in shares) >= least - 1e-9


def test_columns_of_one_reason_share_a_comment(here, capsys):
    answers = np.random.default_rng(0).integers(1, 6, (90, 12))
    pd.DataFrame(answers, columns=[f"q{n}" for n in range(12)]).to_csv("q.csv", index=False)
    assert call(capsys, "init", "q.csv")[0] == 0
    text = (here / "q-study" / "study.toml").read_text()
    assert text.count("left out after 8 other quasi-identifiers") == 1


def test_it_asks_at_a_terminal(here):
    import pty

    terminal, own = pty.openpty()
    program = start("init", "people.csv", out=own, err=own, terminal=True)
    os.close(own)
    os.write(terminal, b"\n\n\n\n")
    shown = b""
    with suppress(OSError):  # its end on Linux
        while part := os.read(terminal, 4096):
            shown += part
    os.close(terminal)
    assert program.wait() == 0
    assert b"what nobody shall learn" in shown
    assert (here / "people-study" / "study.toml").exists()


def test_a_table_is_never_replaced_by_its_study(here, capsys):
    (here / "study.toml").write_text(TABLE)
    code, _, err = call(capsys, "init", "study.toml", "-o", ".", "--force")
    assert (code, err) == (
        2,
        "anonymizer: study.toml is the table itself; choose another directory\n",
    )
    assert (here / "study.toml").read_text() == TABLE


def test_a_sampling_weight_is_found_and_left_out(here, capsys):
    rows = (f"{20 + n % 9},{'fm'[n % 2]},{'abc'[n % 3]},{900 + 7 * n}.5" for n in range(120))
    (here / "survey.csv").write_text("age,sex,vote,fnlwgt\n" + "\n".join(rows) + "\n")
    code, out, err = call(capsys, "init", "survey.csv")
    assert (code, err) == (0, "")
    assert (
        "Weight: 'fnlwgt' seems to say for how many people each record stands. The release leaves "
        'it out, and the policy uses it where a model has population = "weights". If it is no such '
        "weight, give it another role, such as with --identifiers."
    ) in out
    study = data_of(here, "survey-study")
    assert study["data"]["weight"] == "fnlwgt"
    assert "identifiers" not in study
    assert call(capsys, "run", "survey-study/study.toml", "-o", "release")[0] == 0
    assert list(pd.read_csv("release/released.csv").columns) == ["age", "sex", "vote"]
    more = '\n[[privacy]]\nmodel = "k-map"\nk = 9000\npopulation = "weights"\n'
    with (here / "survey-study" / "study.toml").open("a") as file:
        file.write(more)
    assert call(capsys, "check", "survey.csv", "--study", "survey-study/study.toml")[0] == 1
    arguments = ("init", "survey.csv", "--identifiers", "fnlwgt", "--force")
    assert "Weight" not in call(capsys, *arguments)[1]
    assert "weight" not in data_of(here, "survey-study")["data"]


# Persons who have several records

VISITS = "patient,ref,age,sex,disease\n" + "".join(
    f"Nemo{number},{7919 * number % 10007},{20 + number % 7},{'fm'[number // 7 % 2]},{disease}\n"
    for number in range(40)
    for disease in ("flu", "cold", "asthma")
)


@pytest.fixture
def visits(here):
    (here / "visits.csv").write_text(VISITS)
    return here


def data_of(here, name="visits-study"):
    return tomllib.loads((here / name / "study.toml").read_text())


def test_whose_each_record_is_is_found_and_the_study_runs(visits, capsys):
    code, out, err = call(capsys, "init", "visits.csv")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "person │ by its name it is a key of a person" in said
    assert (
        "Person: 'patient'. There are 40 persons, with up to 3 records each, and the policy is "
        "about them. --person names another column; - is none."
    ) in said
    study = data_of(visits)
    assert study["data"]["person"] == "patient"
    assert study["identifiers"]["attributes"] == ["ref"]
    assert study["privacy"][0] == {"model": "k-anonymity", "k": 3}
    assert call(capsys, "run", "visits-study/study.toml", "-o", "release")[0] == 0
    released = pd.read_csv("release/released.csv")
    assert list(released.columns) == ["age", "sex", "disease"]
    assert released.groupby(["age", "sex"]).size().min() >= 3 * 3  # all three of each


@pytest.mark.parametrize(
    ("given", "person", "identifiers"),
    [
        ("ref", "ref", ["patient"]),
        ("patient,ref", ["patient", "ref"], []),
        ("-", None, ["patient", "ref"]),
    ],
)
def test_whose_each_record_is_can_be_said(visits, capsys, given, person, identifiers):
    assert call(capsys, "init", "visits.csv", "--person", given)[0] == 0
    study = data_of(visits)
    assert study["data"].get("person") == person
    assert study.get("identifiers", {}).get("attributes", []) == identifiers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--person", "patien"], "the table has no column 'patien'; did you mean 'patient'?"),
        (["--person", "-,patient"], "the table has no column '-'"),
        (["--person", "age", "--quasi-identifiers", "age"], "'age' has more than one role"),
        (["--k", "41"], "k = 41 is more than the 40 persons of the table"),
    ],
)
def test_keys_that_are_none_say_what_to_do_and_write_nothing(visits, capsys, arguments, message):
    code, _, err = call(capsys, "init", "visits.csv", *arguments)
    assert code == 2
    assert message in err
    assert not (visits / "visits-study").exists()


def test_json_says_who_has_several_records(visits, capsys):
    found = json.loads(call(capsys, "init", "visits.csv", "--json")[1])
    assert (found["person"], found["persons"], found["most_records"]) == (["patient"], 40, 3)
    patient = found["columns"][0]
    assert patient["role"] == "person"
    assert patient["why"] == "by its name it is a key of a person, and values repeat"


@pytest.mark.parametrize(
    ("answer", "person"), [("", "patient"), ("-", None), ("ref", "ref"), ("reff\nref", "ref")]
)
def test_at_a_terminal_it_asks_for_persons_where_some_have_several(
    visits, monkeypatch, answer, person
):
    found = answered(monkeypatch, f"\n\n{answer}\n\ny\n", "visits.csv")
    assert found.exit_code == 0
    assert "Person: what tells whose each record is" in found.output
    unit = "records of a class at least; 120 records" if person is None else "persons of a class"
    assert f"k: {unit}" in found.output
    assert data_of(visits)["data"].get("person") == person


def test_of_one_record_each_nobody_is_asked(here, monkeypatch):
    assert "Person:" not in answered(monkeypatch, "\n\n\ny\n", "people.csv").output
