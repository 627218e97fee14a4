"""What notebooks, one line, logs and progress bars show: no value of a record, all escaped."""

import io
import logging
import sys

import pandas as pd
import pytest
from forked import carried_out
from waiting import until

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity, check, compare
from anonymizer.cli import main
from anonymizer.feedback import progress
from anonymizer.feedback.document import MOST_ROWS, Display, Table, html_of
from anonymizer.release.study import Study
from anonymizer.tables.datasets import shipped

SECRET = "s3cret<value>"
"""A sensitive value that no display may show."""

AGES = [20, 21, 22, 23, 40, 41, 42, 43] * 3


def table():
    return pd.DataFrame({"<age>": AGES, "city": [SECRET + "c"] * 24, "ill": [SECRET, "flu"] * 12})


def estimator(**changes):
    given = {"<age>": Hierarchy.ranges(widths=[20]), "city": "suppress"}
    city = Hierarchy.from_rows([[SECRET + "c", "town"], ["other", "town"]])
    options = {"sensitive": "ill", "privacy": [KAnonymity(3)], **changes}
    return Anonymizer({**given, "city": city.limited(min_level=1)}, **options)


@pytest.fixture(scope="module")
def fitted():
    return estimator().fit(table())


def things(fitted):
    release = fitted.release_
    return {
        "anonymizer": estimator(),
        "fitted": fitted,
        "release": release,
        "manifest": release.manifest,
        "plan": fitted.plan_,
        "lattice": fitted.lattice_,
        "comparison": compare(fitted, table(), recodings=["full-domain"]),
        "check": check(table(), ["<age>"], ["ill"], [KAnonymity(3)]),
        "study": Study(shipped("data", "demo.toml")),
        "hierarchy": Hierarchy.from_rows([[f"v{i}", f"g{i // 100}"] for i in range(40_000)]),
    }


def test_representations_are_a_line_without_a_value(fitted):
    for name, thing in things(fitted).items():
        line = repr(thing)
        assert "\n" not in line, name
        assert len(line) <= 160, name
        assert SECRET not in line, name
        assert "flu" not in line, name
    assert repr(fitted) == (
        "<Anonymizer: 2 quasi-identifiers, k-anonymity >= 3, full-domain, fitted>"
    )


def test_notebooks_show_results_escaped_and_without_scripts(fitted):
    for name, thing in things(fitted).items():
        if not hasattr(thing, "_repr_html_"):
            continue
        text = thing._repr_html_()
        assert SECRET not in text, name
        assert "s3cret" not in text, name
        assert "<age>" not in text, name
        assert "<script" not in text, name
        assert len(text) < 20_000, name
    shown = fitted._repr_html_()
    for part in ["Anonymizer, fitted", "&lt;age&gt;", "k-anonymity", "town", "retained", "holds"]:
        assert part in shown
    assert "not fitted" in estimator()._repr_html_()
    assert "8 of 40,000 values" in things(fitted)["hierarchy"]._repr_html_()


@pytest.mark.parametrize(
    ("hierarchy", "labels"),
    [
        (Hierarchy.ranges(widths=[5]), ["[0, 5)"]),
        (Hierarchy.ranges(cuts=[[10, 20]]), ["(-inf, 10)", "[20, inf)"]),
        (Hierarchy.prefixes([4, 2]), ["1234**", "12****"]),
        (Hierarchy.calendar(["month", "year"]), ["2024-02", "2025"]),
        (Hierarchy.order(["S", "M", "L"]), ["S", "L"]),
        (Hierarchy.keep(["a"]), ["other", "a"][1:]),
        (Hierarchy.suppression(), ["any value"]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_hierarchy_shows_values_by_level(hierarchy, labels):
    text = hierarchy._repr_html_()
    assert all(f">{label}<" in text for label in labels)


def test_an_estimator_that_cannot_be_used_is_displayed_all_the_same():
    text = Anonymizer({"age": "no such file.csv"}, 3, None)._repr_html_()
    assert "not usable: InputError" in text
    assert "<Anonymizer" in repr(Anonymizer(None))


def test_large_tables_are_cut():
    rows = [[number] * 20 for number in range(100)]
    text = html_of(Display("d", [Table("t", [str(n) for n in range(20)], rows)]))
    assert text.count("<tr>") == 1 + MOST_ROWS + 1
    assert "… and 88 more" in text


# Logs


def test_every_phase_is_logged_without_a_value(caplog):
    with caplog.at_level(logging.DEBUG, "anonymizer"):
        estimator().fit(table())
    text = "\n".join(record.getMessage() for record in caplog.records)
    for phase in ["counting: 24 records", "recoding: 24 records", "search: ", "verification: 24"]:
        assert phase in text
    assert all(record.name.startswith("anonymizer.") for record in caplog.records)
    assert "s3cret" not in text
    assert "flu" not in text


def test_what_fails_is_logged_by_its_kind_alone(caplog):
    broken = table().assign(**{"<age>": [SECRET] * 24})
    with (
        caplog.at_level(logging.INFO, "anonymizer"),
        pytest.raises(InputError, match="where ranges need numbers"),
    ):
        estimator().fit(broken)
    assert "counting: InputError after" in caplog.text
    assert "s3cret" not in caplog.text


def test_verbose_logs_to_standard_error(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["--verbose", "demo", "--output", str(tmp_path / "d")])
    assert stop.value.code == 0
    shown = capsys.readouterr().err
    for phase in ["reading", "counting", "search", "recoding", "verification", "writing"]:
        assert f"INFO {phase}" in shown
    assert "DEBUG" not in shown
    assert len(logging.getLogger("anonymizer").handlers) == 1


# Progress


class Screen:
    """A bar that remembers what it showed."""

    def __init__(self):
        self.shown, self.closed = [], False

    def show(self, *what):
        self.shown.append(what)

    def close(self):
        self.closed = True


def test_a_bar_shows_what_takes_long_and_goes_away(monkeypatch):
    monkeypatch.setattr(progress, "PACED", 0.0)
    screen = Screen()
    following = progress.FollowingWatch(lambda: screen, after=0.01)
    following("searching", 1, 4)
    until(lambda: screen.shown and screen.shown[-1][0] == "searching")  # not what was before
    following.end()
    doing, done, of, left = screen.shown[-1]
    assert (doing, done, of) == ("searching", 1, 4)
    assert left > 0
    assert screen.closed


def test_a_bar_is_not_made_of_what_is_quick():
    following = progress.FollowingWatch(lambda: pytest.fail("a bar"), after=60)
    following.end()


def test_a_fit_follows_only_where_somebody_watches(monkeypatch):
    screens = []

    def bar():
        screens.append(Screen())
        return screens[-1]

    monkeypatch.setattr(progress, "bar_here", lambda: bar)
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress.FollowingWatch.__init__, "__defaults__", (0.0,))
    end = progress.FollowingWatch.end

    def late(following):
        until(lambda: screens)
        end(following)

    monkeypatch.setattr(progress.FollowingWatch, "end", late)
    estimator().fit(table())
    assert len(screens) == 1
    assert screens[0].closed
    assert progress.current is None
    estimator(progress=False).fit(table())
    estimator(progress=lambda *_: None).fit(table())
    assert len(screens) == 1


def test_tests_scripts_and_pipes_have_no_bar(monkeypatch):
    assert progress.bar_here() is None
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress.bar_here() is None
    sys.stderr.isatty = lambda: True
    assert progress.bar_here() is progress.TerminalBar


def test_a_notebook_has_a_bar_in_its_cell(monkeypatch):
    class Handle:
        def __init__(self):
            self.shown = []

        def update(self, html):
            self.shown.append(html)

    handle = Handle()

    class IPython:
        class display:  # noqa: N801
            HTML = staticmethod(lambda text: text)
            display = staticmethod(lambda html, display_id: handle)

        @staticmethod
        def get_ipython():
            return type("Shell", (), {"kernel": object()})()

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert progress.bar_here() is progress.NotebookBar
    bar = progress.NotebookBar()
    bar.show("searching <x>", 1, 4, 30.0)
    bar.close()
    first, last = handle.shown
    assert first == '<progress value="0.2500"></progress> searching &lt;x&gt;: 1 of 4, 0:30 left'
    assert last == ""


def test_a_quick_fit_loads_no_bar():
    code = (
        "import sys; sys.ps1 = ''; sys.stderr.isatty = lambda: True\n"
        "import pandas as pd; from anonymizer import *\n"
        "Anonymizer({'a': 'suppress'}, privacy=[KAnonymity(2)]).fit(pd.DataFrame({'a': [1, 1]}))\n"
        "print('rich' in sys.modules)"
    )
    assert carried_out("-c", code) == (0, "False\n", "")
