"""Steps, undo and redo, and the log that keeps them: whatever happens, nothing is lost."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer.errors import InputError
from anonymizer.explorer.session.history import History

TEXTS = st.text(max_size=12)
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), TEXTS, TEXTS),
        st.tuples(st.sampled_from(["undo", "redo", "reopen", "crash"])),
        st.tuples(st.just("save")),
    ),
    max_size=at_length(12, 25),
)


@given(TEXTS, DEEDS)
@settings(deadline=None)
def test_steps_are_those_of_a_plain_list(first, deeds):
    with TemporaryDirectory() as directory:
        log = Path(directory) / "session" / "log.jsonl"
        history, model, place, saved = History.opened(first, log), [first], 0, first
        for deed, *rest in deeds:
            if deed == "take":
                words, text = rest
                history.take(words, text)
                model[place + 1 :] = [text]
                place += 1
            elif deed == "undo":
                history.undo()
                place = max(place - 1, 0)
            elif deed == "redo":
                history.redo()
                place = min(place + 1, len(model) - 1)
            elif deed == "save":
                history.save(history.current.text)
                saved = model[place]
            else:
                if deed == "crash":
                    with log.open("ab") as file:
                        file.write(b'{"did": "take", "wor')
                history = History.opened(saved, log)
            assert [step.text for step in history.steps] == model
            assert (history.current.text, history.place) == (model[place], place)
            assert history.saved == saved
            assert bool(history.undoes) == (place > 0)
            assert bool(history.redoes) == (place < len(model) - 1)


def test_what_undo_and_redo_would_do_is_said(tmp_path):
    history = History.opened("a", tmp_path / "log")
    assert (history.undoes, history.redoes) == ("", "")
    history.take("t = 0.2", "b")
    assert (history.undoes, history.redoes) == ("t = 0.2", "")
    history.undo()
    assert (history.undoes, history.redoes) == ("", "t = 0.2")
    history.take("t = 0.3", "c")
    assert [step.text for step in history.steps] == ["a", "c"]


def test_words_that_are_names_of_deeds_are_words(tmp_path):
    history = History.opened("a", tmp_path / "log")
    for words in ("undo", "redo", "save", ""):
        history.take(words, words + "!")
    again = History.opened("a", tmp_path / "log")
    assert [step.words for step in again.steps[1:]] == ["undo", "redo", "save", ""]
    assert again.undoes == "a step"


def test_a_study_that_was_changed_elsewhere_is_a_step(tmp_path):
    history = History.opened("a", tmp_path / "log")
    history.take("t = 0.2", "b")
    again = History.opened("mine", tmp_path / "log")
    assert again.current.text == again.saved == "mine"
    assert again.undoes == "the study file was changed elsewhere"
    again.undo()
    assert again.current.text == "b"
    assert History.opened("mine", tmp_path / "log").current.text == "b"


def test_a_line_that_was_cut_short_is_no_step_and_hides_none(tmp_path):
    log = tmp_path / "log"
    History.opened("a", log).take("one", "b")
    with log.open("ab") as file:
        file.write(b'{"did": "take", "words": "two", "stu')
    history = History.opened("a", log)
    assert history.current.text == "b"
    history.take("three", "c")
    assert History.opened("a", log).current.text == "c"


def test_the_log_can_be_read_by_its_owner_alone(tmp_path):
    log = tmp_path / "session" / "log"
    History.opened("a", log)
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "lines",
    [
        [{"did": "undo"}],
        [{"did": "open", "study": "a"}, {"did": "undo"}],
        [{"did": "open", "study": "a"}, {"did": "redo"}],
        [{"did": "open", "study": "a"}, {"did": "danced"}],
        [{"did": "open", "study": "a"}, {"did": "take", "words": "x", "study": 5}],
        [5],
        [[]],
    ],
)
def test_a_log_of_something_else_is_refused(tmp_path, lines):
    log = tmp_path / "log"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match=r"cannot be used: it is no log of steps; move .* away"):
        History.opened("a", log)


def test_a_step_that_cannot_be_kept_is_not_taken(tmp_path):
    log = tmp_path / "session" / "log"
    history = History.opened("a", log)
    log.unlink()
    log.mkdir()
    with pytest.raises(InputError, match=r"no step can be kept .*: Is a directory; nothing was"):
        history.take("t = 0.2", "b")
    assert (history.current.text, history.undoes) == ("a", "")


def test_a_log_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(InputError, match="cannot be used: Is a directory; move"):
        History.opened("a", tmp_path)
