"""What a security review found: each is tried here as it was found."""

import json

import pytest
from explorer.conftest import small_study
from explorer.driving import SECONDS, explored, visit
from playwright.sync_api import expect

from anonymizer.errors import InputError
from anonymizer.explorer.page.explorer import Explorer
from anonymizer.explorer.session.saving import save_study
from anonymizer.explorer.session.session import Session, folder_of
from anonymizer.recoding import ignore


def test_a_table_that_changes_is_counted_again(tmp_path):
    path = small_study(tmp_path)
    explorer = Explorer(Session(path))
    before = explorer.outcome(explorer.session.text, ignore)
    assert before is explorer.outcome(explorer.session.text, ignore)
    table = tmp_path / "people.csv"
    table.write_text(table.read_text() + "44,Rome,asthma\n" * 3)
    after = explorer.outcome(explorer.session.text, ignore)
    assert (before.counts.records, after.counts.records) == (12, 15)
    study = explorer.study(explorer.session.text)
    place = study.data_path, study.document.data.table, study.given
    assert explorer.counter.profile(*place).records == 15


def test_without_labels_no_error_and_no_earlier_step_shows_one(browser, tmp_path):
    path = small_study(tmp_path)
    path.write_text(path.read_text().replace('city = "suppress"', 'city = "city.csv"'))
    (tmp_path / "city.csv").write_text("Rome;*\nOslo;*\n")
    words = "cut of age at 73205861 moved to 73205862"
    Session(path).take(words, lambda content: {**content, "search": {"seed": 4}})
    frames = []
    with explored(path, "--aggregate-only") as served:
        context = browser.new_context()
        page = context.new_page()
        page.on("websocket", lambda ws: ws.on("framereceived", lambda got: frames.append(str(got))))
        page.goto(served.link)
        visit(page, "Release")
        table = tmp_path / "people.csv"
        table.write_text(table.read_text() + "44,ZZNEW,flu\n" * 6)
        page.get_by_role("button", name="Write the release").click()
        release = page.get_by_role("region", name="The release")
        expect(release).to_contain_text("in 6 records ('...')", timeout=SECONDS)
        expect(page.get_by_role("button", name="Undo: a step")).to_be_enabled()
        assert "ZZNEW" not in page.content() + "".join(frames)
        assert "7320586" not in page.content() + "".join(frames)
        context.close()


def test_the_editor_is_that_of_the_attribute_that_is_chosen(small):
    page = small
    visit(page, "Hierarchies")
    widths = page.get_by_label("Widths, the finest first")
    expect(widths).to_have_value("10, 20")
    page.get_by_label("Quasi-identifier", exact=True).click()
    page.get_by_role("option", name="city", exact=True).click()
    expect(widths).to_have_count(0)


def test_where_no_step_can_be_kept_the_study_file_stays(tmp_path, monkeypatch):
    path = small_study(tmp_path)
    session = Session(path)
    kept = folder_of(path) / "city.csv"
    kept.write_text("value;level 1\nRome;*\nOslo;*\n")
    place = kept.relative_to(tmp_path).as_posix()

    def with_file(content):
        content["quasi-identifiers"]["city"] = place
        return content

    session.take("a file", with_file)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anonymizer.explorer.session.history._write", full)
    with pytest.raises(InputError, match="nothing was changed"):
        save_study(session, path.name)
    assert path.read_bytes() == before
    assert json.loads((folder_of(path) / "log.jsonl").read_text().splitlines()[-1])["did"] == "take"


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "..", "a/b"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="give the name of a file"):
        save_study(Session(small_study(tmp_path)), name)


def test_a_log_of_nested_lists_is_no_crash(tmp_path):
    path = small_study(tmp_path)
    Session(path).take("seed", lambda content: {**content, "search": {"seed": 4}})
    log = folder_of(path) / "log.jsonl"
    log.write_text(log.read_text() + "[" * 100_000 + "\n")
    assert Session(path).content["search"] == {"seed": 4}
