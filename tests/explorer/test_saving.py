"""Studies and hierarchies that are saved: whole, next to each other, and over nothing else."""

import re
from pathlib import Path

import pytest
from releases import alike

from anonymizer.errors import InputError
from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.outcome import outcome_of
from anonymizer.explorer.session.contents import with_parameter, with_rule
from anonymizer.explorer.session.saving import save_hierarchies, save_study
from anonymizer.explorer.session.session import Session, opened
from anonymizer.explorer.writing import (
    is_of,
    previewed,
    written_release,
    written_report,
)
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release

DIGEST = re.compile("[0-9a-f]{64}")
"""What says which order the records are in; each release has its own."""

CITIES = "Rome;south;*\nOslo;north;*\n"


@pytest.fixture
def session(study):
    with opened(study) as found:
        yield found


def choose_k(session: Session, k: int) -> None:
    session.take(f"k = {k}", lambda content: with_parameter(content, 0, "k", k))


def with_cities(session: Session, file: str = "city-3f2a9c.csv", text: str = CITIES) -> None:
    """Another hierarchy of cities, in a file of the session."""
    session.folder.mkdir(exist_ok=True)
    (session.folder / file).write_text(text)
    rule = f"{session.folder.name}/{file}"
    session.take("cities", lambda content: with_rule(content, "city", rule))


def test_the_study_is_saved_with_its_comments(session):
    session.path.write_text("# Mine.\n" + session.path.read_text())
    again = Session(session.path)
    choose_k(again, 5)
    assert not again.saved
    found = save_study(again, "study.toml")
    assert (found.study, found.hierarchies) == (session.path, [])
    assert session.path.read_text() == again.text
    assert again.text.startswith("# Mine.\n")
    assert again.saved
    assert Session(session.path).history.undoes == "k = 5"


def test_hierarchies_of_the_session_are_copied_next_to_the_study(session, tmp_path):
    with_cities(session)
    before = session.study().fingerprint
    found = save_study(session, "study.toml")
    assert found.hierarchies == [tmp_path / "hierarchies" / "city-3f2a9c.csv"]
    assert found.hierarchies[0].read_text() == CITIES
    assert session.content["quasi-identifiers"]["city"] == "hierarchies/city-3f2a9c.csv"
    assert Study(session.path).fingerprint == session.study().fingerprint == before
    assert session.saved
    session.undo()
    assert session.content["quasi-identifiers"]["city"] == "study.session/city-3f2a9c.csv"


def test_another_file_of_that_name_is_left_alone(session, tmp_path):
    other = tmp_path / "hierarchies" / "city.csv"
    other.parent.mkdir()
    other.write_text("Rome;*\nOslo;*\n")
    with_cities(session, "city.csv")
    save_study(session, "study.toml")
    assert other.read_text() == "Rome;*\nOslo;*\n"
    assert session.content["quasi-identifiers"]["city"] == "hierarchies/city-2.csv"
    assert save_study(session, "study.toml").hierarchies == []


def test_a_rule_of_the_session_brings_its_table_along(session, tmp_path):
    session.folder.mkdir(exist_ok=True)
    (session.folder / "labels.csv").write_text(CITIES)
    with_cities(session, "city.toml", 'file = "labels.csv"  # of the map\nmin-level = 1\n')
    save_study(session, "study.toml")
    kept = tmp_path / "hierarchies"
    assert sorted(path.name for path in kept.iterdir()) == ["city.toml", "labels.csv"]
    assert "of the map" in (kept / "city.toml").read_text()
    assert (
        Study(session.path).hierarchies["city"].height == session.study().hierarchies["city"].height
    )


def test_a_rule_of_the_session_brings_its_census_along(session, tmp_path):
    session.folder.mkdir(exist_ok=True)
    (session.folder / "zcta.csv").write_text("zip,people\n02139,36434\n")
    with_cities(session, "city.toml", 'census = "zcta.csv"\n')
    save_study(session, "study.toml")
    assert {path.name for path in (tmp_path / "hierarchies").iterdir()} == {"city.toml", "zcta.csv"}
    assert Study(session.path).hierarchies["city"].labels("02139") == ("021**", "*")


def test_a_study_that_was_changed_elsewhere_is_not_written_over(session):
    choose_k(session, 5)
    session.path.write_text(session.path.read_text() + "\n# by somebody else\n")
    with pytest.raises(InputError, match="was changed elsewhere since it was read here; tick"):
        save_study(session, "study.toml")
    assert "somebody else" in session.path.read_text()
    save_study(session, "study.toml", replace=True)
    assert session.path.read_text() == session.text


def test_a_study_that_is_gone_is_written_again(session):
    session.path.unlink()
    save_study(session, "study.toml")
    assert session.path.read_text() == session.text


def test_another_name_leaves_the_study_as_it_was(session, tmp_path):
    before = session.path.read_text()
    choose_k(session, 5)
    with_cities(session)
    found = save_study(session, " mine ")
    assert found.study == tmp_path / "mine.toml"
    assert session.path.read_text() == before
    assert not session.saved
    assert Study(found.study).fingerprint == session.study().fingerprint
    with pytest.raises(InputError, match=re.escape("mine.toml is there already; tick Replace")):
        save_study(session, "mine.toml")
    save_study(session, "mine.toml", replace=True)


@pytest.mark.parametrize("name", ["", "  ", ".", "..", "a/b.toml", "/etc/x.toml", "../x.toml"])
def test_what_is_no_name_of_a_file_is_refused(session, name):
    with pytest.raises(InputError, match="give the name of a file in the directory of the study"):
        save_study(session, name)


def test_a_study_saved_in_another_home_still_finds_its_files(study, tmp_path):
    home = tmp_path / "elsewhere"
    home.mkdir()
    session = Session(study, home)
    with_cities(session)
    found = save_study(session, "study.toml")
    assert found.study == home / "study.toml"
    assert Study(found.study).fingerprint == session.study().fingerprint
    assert Study(found.study).data_path.resolve() == tmp_path / "people.csv"
    assert "hierarchies" not in [path.name for path in tmp_path.iterdir()]
    assert not session.saved or session.path.read_text() == session.text


def test_margins_of_a_population_are_found_from_another_home(study, tmp_path):
    home, table = tmp_path / "elsewhere", Study(study).data_path
    home.mkdir()
    margins = f'[{{ path = "{table.name}" }}, {{ path = "{table.name}", count = "n" }}]'
    policy = f'[[privacy]]\nmodel = "k-map"\nk = 3\npopulation = {{ margins = {margins} }}\n'
    study.write_text(f"{study.read_text()}\n{policy}")
    found = save_study(Session(study, home), "study.toml")
    places = Study(found.study).document.privacy[-1]["population"]["margins"]
    assert places == [{"path": "../people.csv"}, {"path": "../people.csv", "count": "n"}]


def test_the_key_of_pseudonyms_is_found_from_another_home(study, tmp_path):
    home = tmp_path / "elsewhere"
    home.mkdir()
    text = study.read_text().replace("[data]", '[data]\nperson = "name"')
    study.write_text(text + '\n[output]\nperson = { pseudonym = "persons.key" }\n')
    found = save_study(Session(study, home), "study.toml")
    assert Study(found.study).document.output.person == {"pseudonym": "../persons.key"}


def test_a_link_to_a_study_stays_one(study, tmp_path):
    link = tmp_path / "link.toml"
    link.symlink_to(study)
    session = Session(link)
    choose_k(session, 4)
    save_study(session, "link.toml")
    assert link.is_symlink()
    assert study.read_text() == session.text


def test_what_cannot_be_written_changes_nothing(session, monkeypatch):
    before = session.path.read_text()
    choose_k(session, 5)

    def full(*_, **__):
        raise InputError("cannot write to it: No space left on device; nothing was written")

    monkeypatch.setattr("anonymizer.explorer.session.saving.write_file", full)
    with pytest.raises(InputError, match="No space left"):
        save_study(session, "study.toml")
    assert session.path.read_text() == before
    assert not session.saved


def test_each_hierarchy_becomes_a_file_that_is_the_same(session, tmp_path):
    text = session.text
    found = save_hierarchies(session)
    assert [path.name for path in found] == ["age.toml", "city.toml"]
    assert session.text == text
    hierarchies = session.study().hierarchies
    content = session.content
    content["quasi-identifiers"] = {"age": "hierarchies/age.toml", "city": "hierarchies/city.toml"}
    session.take("files", lambda _: content)
    for name, each in session.study().hierarchies.items():
        assert str(each.describe()) == str(hierarchies[name].describe())
    assert save_hierarchies(session) == found


def test_names_of_columns_are_made_names_of_files(session):
    def renamed(content):
        rules = content["quasi-identifiers"]
        content["quasi-identifiers"] = {"../../etc": rules["age"], "…": rules["city"]}
        return content

    session.take("odd names", renamed)
    assert [path.name for path in save_hierarchies(session)] == ["etc.toml", "column.toml"]


def test_the_release_is_that_of_the_command(session, tmp_path):
    choose_k(session, 4)
    with_cities(session)
    manifest = written_release(session.study(), tmp_path / "page", False)
    assert is_of(manifest, outcome_of(Counter().counted(session.study())))
    other = Study.parsed(session.text.replace("k = 4", "k = 6"), session.path)
    assert not is_of(manifest, outcome_of(Counter().counted(other)))
    save_study(session, "study.toml")
    publish(Study(session.path), tmp_path / "command")
    assert alike(tmp_path / "page", tmp_path / "command")
    assert verify_release(tmp_path / "page", Study(session.path)).satisfied


def test_a_release_that_is_ended_leaves_nothing(session, tmp_path):
    class NobodyWaitsError(Exception):
        pass

    said = []

    def watch(doing, done, of):
        said.append(doing)
        if doing == "writing and verifying the release":
            raise NobodyWaitsError

    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(NobodyWaitsError):
        written_release(session.study(), tmp_path / "release", False, watch)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    written_release(session.study(), tmp_path / "release", False)
    kept = (tmp_path / "release" / "released.csv").read_bytes()
    with pytest.raises(InputError, match="already holds a release"):
        written_release(session.study(), tmp_path / "release", False)
    with pytest.raises(NobodyWaitsError):
        written_release(session.study(), tmp_path / "release", True, watch)
    assert (tmp_path / "release" / "released.csv").read_bytes() == kept


def test_the_preview_is_the_report_and_leaves_nothing(session, tmp_path):
    found = previewed(session.study(), session.text, session.folder, "release")
    assert [path.name for path in session.folder.iterdir()] == ["log.jsonl"]
    written_release(session.study(), tmp_path / "release", False)
    place = written_report(tmp_path / "release", False)
    assert place == tmp_path / "release-report.html"
    assert DIGEST.sub("", place.read_text()) == DIGEST.sub("", found.html)
    with pytest.raises(InputError, match="is there already"):
        written_report(tmp_path / "release", False)


def test_no_report_of_what_is_no_release(tmp_path):
    with pytest.raises(InputError):
        written_report(tmp_path / "nothing", False)
    assert list(tmp_path.iterdir()) == []


def test_two_sessions_of_one_study_are_refused(study: Path):
    with (
        opened(study),
        pytest.raises(InputError, match="is being explored already; use the page"),
        opened(study),
    ):
        pass
    with opened(study):
        assert any("lock" in path.name for path in study.parent.iterdir())
    assert not any("lock" in path.name for path in study.parent.iterdir())


def test_a_session_of_another_version_says_what_to_do(study):
    session = Session(study)
    session.history.take("a step of the future", session.text + '\n[unknown]\nkey = "value"\n')
    with pytest.raises(InputError, match=r"cannot go on where it was: .*unknown.*; move .*session"):
        Session(study)
