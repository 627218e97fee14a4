"""The frontier: each point is what the estimator fits there, held out as the comparison has it."""

import os
from pathlib import Path

import pytest
from explorer.conftest import small_study

from anonymizer.explorer.answers.counted import CountedStudy, Counter
from anonymizer.explorer.answers.frontier import GrowingFrontier, retained_about
from anonymizer.explorer.answers.outcome import outcome_of
from anonymizer.explorer.answers.series import (
    key_of,
    model_of,
    options_of,
    recodings_of,
    swept_in,
)
from anonymizer.explorer.command import _demo_in
from anonymizer.explorer.session.session import Session
from anonymizer.explorer.views import frontier as view
from anonymizer.recoding import ignore
from anonymizer.recoding.levels import FullDomain
from anonymizer.utility.comparison import compare_study


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Session:
    return Session(_demo_in(tmp_path_factory.mktemp("demo")))


@pytest.fixture(scope="module")
def counter() -> Counter:
    return Counter()


@pytest.fixture(scope="module")
def swept(demo, counter) -> GrowingFrontier:
    """The points of the demonstration by two recodings, held out as well."""
    found = GrowingFrontier(counter.counted(demo.study()), "marital-status", "t-closeness")
    recodings = recodings_of(demo.study().recoding)
    chosen = [recodings[name] for name in ("full-domain", "variable-range")]
    found.compute(chosen, 0.55, True, ignore)
    return found


def taken(session: Session, threshold: float, name: str, about: str = "marital-status") -> str:
    """The text of the study once a point was taken in the view."""
    study = session.study()
    swept = swept_in(study, about, model_of(study, about))
    own = name == study.recoding.name
    recoding = None if own else recodings_of(study.recoding)[name]
    return session.after(lambda content: view.taken(content, swept, threshold, recoding))


@pytest.mark.parametrize("name", ["full-domain", "variable-range"])
def test_every_point_is_what_the_study_comes_to_there(demo, counter, swept, name):
    marks = swept.marks(recodings_of(demo.study().recoding)[name])
    assert len(marks) > 10
    assert 0.55 in [mark.threshold for mark in marks]
    some = [*marks[:2], marks[len(marks) // 2], marks[-1]]
    for mark in some:
        outcome = outcome_of(counter.counted(demo.study(taken(demo, mark.threshold, name))))
        assert outcome.holds
        assert mark.point.classes == outcome.classes
        assert mark.point.retained == pytest.approx(retained_about(outcome, "marital-status"))
        assert mark.point.smallest == outcome.counts.sizes.min()
        assert mark.point.disclosure == outcome.disclosures["marital-status"]


def test_held_out_points_are_those_of_the_comparison(demo, swept):
    study = demo.study()
    names, values = ["full-domain", "variable-range"], [0.3, 0.05]
    found = compare_study(study, recodings=names, sweep={"t": values})
    known = {(fit.recoding, fit.parameters["t"]): fit.held_out for fit in found.fits}
    recodings = recodings_of(study.recoding)
    compared = [
        (mark.held_out, known[name, mark.threshold])
        for name in names
        for mark in swept.marks(recodings[name])
        if mark.threshold in values
    ]
    assert len(compared) == 4
    for mine, half in compared:
        assert mine == half


def small(directory: Path, more: str = "", k: int = 3) -> Session:
    path = small_study(directory, k)
    path.write_text(path.read_text() + more)
    return Session(path)


def test_a_frontier_by_hand(tmp_path, counter):
    """Ages 21 to 44 of 12 people in ranges of 10: flu 5, cold 4, asthma 3 of them."""
    session = small(tmp_path)
    counted = counter.counted(session.study())
    frontier = GrowingFrontier(counted, "diagnosis", "entropy-l-diversity")
    recoding = recodings_of(session.study().recoding)["full-domain"]
    frontier.compute([recoding], None, False, ignore)
    # Of 4 people each: 2 flu, 1 cold, 1 asthma; 2 flu, 2 cold; 1 flu, 1 cold, 2 asthma.
    kept = 1.5545851693377997 - (1.5 + 1.0 + 1.5) / 3
    assert frontier.loosest(recoding).retained == pytest.approx(kept)
    marks = frontier.marks(recoding)
    # 2 ^ 1 bit = 2 values are what [30, 40) is worth; beyond, cities or nothing can be told apart.
    assert all(mark.threshold > 2 for mark in marks)
    assert marks[0].point.retained < kept
    assert frontier.marks(recoding) == marks
    assert [mark.threshold for mark in marks] == sorted(mark.threshold for mark in marks)


def test_taking_a_point_adds_the_model_where_there_is_none(tmp_path):
    session = small(tmp_path)
    swept = swept_in(session.study(), "diagnosis", "t-closeness")
    assert swept.place is None
    content = view.taken(session.content, swept, 0.5, None)
    assert content["privacy"][-1] == {"model": "t-closeness", "distance": "kl", "t": 0.5}
    text = session.after(lambda content: view.taken(content, swept, 0.5, None))
    study = session.study(text)
    assert swept_in(study, "diagnosis", "t-closeness").threshold == 0.5


def test_what_points_depend_on_is_the_study_without_threshold_and_recoding(tmp_path):
    session = small(tmp_path)
    keys = set()
    for threshold in (None, 0.5, 0.3):
        for recoding in ("full-domain", "boxes"):
            text = session.text
            if threshold is not None:
                swept = swept_in(session.study(), "diagnosis", "t-closeness")
                one = recodings_of(session.study().recoding)[recoding]
                text = session.after(
                    lambda content, s=swept, t=threshold, o=one: view.taken(content, s, t, o)
                )
            own = swept_in(session.study(text), "diagnosis", "t-closeness")
            keys.add(view.key_of(session.content_of(text), own))
    assert len(keys) == 1
    swept = swept_in(session.study(), "diagnosis", "t-closeness")
    content = session.content
    content["privacy"][0]["k"] = 4
    assert view.key_of(content, swept) not in keys


def test_a_model_about_several_attributes_is_moved_for_one(tmp_path):
    more = '\n[[privacy]]\nmodel = "entropy-l-diversity"\nl = 1.5\n'
    session = small(tmp_path, more)
    path = session.path
    path.write_text(path.read_text().replace('["diagnosis"]', '["diagnosis", "city"]'))
    path.write_text(path.read_text().replace('city = "suppress"\n', ""))
    (session.folder / "log.jsonl").unlink()
    session = Session(path)
    swept = swept_in(session.study(), "city", "entropy-l-diversity")
    assert swept.place == 1
    content = view.taken(session.content, swept, 1.8, None)
    assert content["privacy"][1:] == [
        {"model": "entropy-l-diversity", "l": 1.5, "attribute": "diagnosis"},
        {"model": "entropy-l-diversity", "l": 1.8, "attribute": "city"},
    ]


def test_an_interrupted_frontier_keeps_its_points_and_goes_on(demo, counter):
    study = demo.study()
    frontier = GrowingFrontier(counter.counted(study), "marital-status", "t-closeness")
    recoding = recodings_of(study.recoding)["full-domain"]
    calls = []

    def impatient(doing: str, done: int, of: int | None) -> None:
        calls.append(doing)
        if done == 4 and doing.startswith("sweeping"):
            raise KeyboardInterrupt

    frontier.compute([recoding], None, False, impatient)
    assert frontier.stopped
    few = frontier.marks(recoding)
    assert len(few) == 3  # and the one without the model
    frontier.compute([recoding], None, False, ignore)
    assert not frontier.stopped
    assert [mark.point for mark in frontier.marks(recoding)][:3] == [m.point for m in few]
    assert len(frontier.marks(recoding)) > 10


def test_recodings_take_over_options_and_those_that_cannot_are_left_out():
    own = FullDomain(suppression=0.02)
    found = recodings_of(own)
    assert found["full-domain"] is own
    assert found["boxes"].refinement == "heuristic"
    assert options_of(found["boxes"]) == {"refinement": "heuristic"}
    assert options_of(own) == {"suppression": 0.02}
    assert key_of(own) != key_of(FullDomain())
    bounded = recodings_of(FullDomain(min_records=10))
    assert {one.min_records for one in bounded.values()} == {10}
    assert options_of(bounded["cut"]) == {"min-records": 10}


def test_a_recoding_that_does_not_suit_says_why(tmp_path, counter):
    more = '\n[objective]\nname = "loss"\n'
    session = small(tmp_path, more)
    counted: CountedStudy = counter.counted(session.study())
    frontier = GrowingFrontier(counted, "diagnosis", "t-closeness")
    recodings = recodings_of(session.study().recoding)
    frontier.compute([recodings["boxes"]], None, True, ignore)
    assert frontier.marks(recodings["boxes"]) == []
    assert "loss" in frontier.reasons[key_of(recodings["boxes"])]
    assert os.sep not in frontier.reasons[key_of(recodings["boxes"])]
