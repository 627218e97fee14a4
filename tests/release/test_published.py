"""What was fitted in Python as a folder that verifies, and a study of another table."""

import json
from pathlib import Path

import pandas as pd
import pytest

from anonymizer import (
    Anonymizer,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    MutualInformation,
    NotFittedError,
    PolicyBrokenError,
    Pram,
    Study,
    TCloseness,
    load_census,
    verify_release,
)
from anonymizer.release.publish import publish


def people() -> pd.DataFrame:
    return load_census()[["age", "sex", "fnlwgt", "marital-status"]].head(600)


def anonymizer(**more: object) -> Anonymizer:
    return Anonymizer(
        quasi_identifiers={"age": Hierarchy.ranges(widths=[5, 10, 50]), "sex": "suppress"},
        sensitive="marital-status",
        identifiers=["fnlwgt"],
        privacy=[KAnonymity(5), EntropyLDiversity(1.5)],
        **more,
    )


@pytest.mark.parametrize("recoding", ["full-domain", "boxes", "cut", "merged-cells"])
def test_what_was_fitted_becomes_a_folder_that_verifies(tmp_path: Path, recoding: str) -> None:
    table, kept = people(), anonymizer(recoding=recoding)
    released = kept.fit_transform(table)
    found = kept.publish(table, tmp_path / "out", order="kept")
    assert verify_release(tmp_path / "out").satisfied
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        "release.json",
        "released.parquet",
    }
    written = pd.read_parquet(tmp_path / "out" / "released.parquet")
    assert written.astype(str).to_numpy().tolist() == released.astype(str).to_numpy().tolist()
    assert found.classes == kept.release_.classes


def test_a_release_is_that_of_a_study(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "people.csv"\n[quasi-identifiers]\nage = { widths = [5, 10, 50] }\n'
        'sex = "suppress"\n[sensitive]\nattributes = ["marital-status"]\n[identifiers]\n'
        'attributes = ["fnlwgt"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n[[privacy]]\n'
        'model = "entropy-l-diversity"\nl = 1.5\n[output]\norder = "kept"\n'
    )
    study = Study(tmp_path / "study.toml")
    publish(study, tmp_path / "a")
    kept = study.anonymizer().fit(study.read())
    kept.publish(study.read(), tmp_path / "b", file="released.csv", order="kept")
    one, other = ((tmp_path / each / "released.csv").read_text() for each in "ab")
    assert one == other
    first, second = (json.loads((tmp_path / each / "release.json").read_text()) for each in "ab")
    assert first["study"] == second["study"]
    assert first["recoding"] == second["recoding"]
    assert verify_release(tmp_path / "b", study).satisfied


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_tables_of_other_libraries(tmp_path: Path, kind: str) -> None:
    table = people()
    given = pytest.importorskip("polars").from_pandas(table) if kind == "polars" else None
    if given is None:
        given = pytest.importorskip("pyarrow").Table.from_pandas(table)
    kept = anonymizer(objective=MutualInformation(weights={"marital-status": 2})).fit(given)
    kept.publish(given, tmp_path / "out")
    assert verify_release(tmp_path / "out").satisfied


def test_another_table_is_refused_and_a_release_replaced_by_force_alone(tmp_path: Path) -> None:
    more, kept = people(), anonymizer().fit(people())
    other = load_census()[["age", "sex", "fnlwgt", "marital-status"]].tail(900)
    kept.transform(other)
    with pytest.raises(InputError, match=r"another one than was fitted, .* by `anonymizer apply`"):
        kept.publish(other, tmp_path / "other")
    with pytest.raises(PolicyBrokenError):
        kept.publish(other.head(3), tmp_path / "few")
    assert [*tmp_path.iterdir()] == []
    kept.publish(more.sample(frac=1, random_state=1), tmp_path / "more")
    assert verify_release(tmp_path / "more").satisfied
    with pytest.raises(InputError, match=r"already holds a release, .*; --force replaces it"):
        kept.publish(more, tmp_path / "more")
    kept.publish(more, tmp_path / "more", force=True)


def test_what_cannot_be_published_is_said(tmp_path: Path) -> None:
    table = people()
    with pytest.raises(NotFittedError):
        anonymizer().publish(table, tmp_path / "out")
    kept = anonymizer().fit(table)
    policy = [TCloseness(0.5, distance="kl")]
    pram = Pram(levels={"age": 4, "sex": 0}, attributes=["sex"])
    drawn = anonymizer(recoding=pram).set_params(privacy=policy).fit(table)
    with pytest.raises(InputError, match="a second draw would tell more than one"):
        drawn.publish(table, tmp_path / "out")
    with pytest.raises(InputError, match=r"file = 'released.txt'"):
        kept.publish(table, tmp_path / "out", file="released.txt")
    mixed = table.assign(note=[{1}, "y"] * 300)
    with pytest.raises(InputError, match="give each column values of one type"):
        kept.publish(mixed, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_study_of_another_table(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study").mkdir()
    people().to_csv("study/january.csv", index=False)
    people().tail(300).to_csv("february.csv", index=False)
    (tmp_path / "study" / "study.toml").write_text(
        '[data]\npath = "january.csv"\n[quasi-identifiers]\nage = { widths = [5, 10, 50] }\n'
        'sex = "suppress"\n[sensitive]\nattributes = ["marital-status"]\n[identifiers]\n'
        'attributes = ["fnlwgt"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    )
    assert run("run", "study/study.toml", "--table", "february.csv", "-o", "out")[0] == 0
    assert len(pd.read_csv("out/released.csv")) == 300
    assert run("verify", "out", "--study", "study/study.toml")[0] == 0
    code, _, err = run("run", "study/study.toml", "--table", "march.csv", "-o", "march")
    assert (code, "there is no file" in err) == (2, True)
    counts = ("--table", "february.csv", "--counts", "a.counts")
    code, _, err = run("run", "study/study.toml", *counts, "-o", "march")
    assert (code, "leave out --table" in err) == (2, True)


def test_a_column_that_is_gone_is_said_without_the_place_of_a_copy(tmp_path: Path) -> None:
    kept = anonymizer().fit(people())
    with pytest.raises(InputError) as error:
        kept.publish(people().drop(columns="marital-status"), tmp_path / "out")
    assert str(error.value) == "the table has no column 'marital-status'"
    assert not (tmp_path / "out").exists()
