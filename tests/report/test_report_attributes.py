"""What a person reads of attributes that give people away."""

import pandas as pd
import pytest

from anonymizer.report.printing import print_report
from anonymizer.report.risk import detected_report, ranking_report, undeclared_report
from anonymizer.risk import detect, rank, undeclared

PEOPLE = pd.DataFrame(
    {
        **{f"q{place}": [n >> place & 1 for n in range(16)] for place in range(6)},
        "file": [f"Nemo {n}" for n in range(16)],
        "note": [["flu"]] * 16,
        "w": ["flu", "cold"] * 8,
    }
)
NAMES = [f"q{place}" for place in range(6)]


@pytest.fixture
def printed(capsys):
    """What is printed of a report, without a record's value in it."""

    def call(function, *arguments, **options):
        print_report(function(*arguments, **options))
        out, err = capsys.readouterr()
        assert err == ""
        assert not any(secret in out for secret in ("Nemo", "flu", "cold"))
        return out

    return call


def test_a_ranking(printed):
    out = printed(ranking_report, rank(PEOPLE, NAMES, ["w"]))
    assert "21 subsets of up to 2 quasi-identifiers of 16 records, by mutual information" in out
    assert "Re-identification: 4.000000 bits by all together" in out
    assert "Inference of w: 1.000000 bits by all together" in out
    assert out.count("... 1 more; --json has all") == 2
    assert out.count("ITPR") == 3
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert len(rows) == 2 * (20 + 6)
    assert rows[0].split("│")[1].strip() == "q0, q1"


def test_a_ranking_by_another_metric_without_a_chain(printed):
    ranking = rank(PEOPLE, NAMES[:2], size=1, chain=False)
    out = printed(ranking_report, ranking, "max_posterior")
    assert "by max posterior" in out
    assert "max posterior ┃ MI (bits)" in out
    assert "together" not in out
    assert "more" not in out


def test_few_rows(printed):
    out = printed(ranking_report, rank(PEOPLE, NAMES, size=1), shown=4)
    assert out.count("... 2 more; --json has all") == 2  # subsets and the chain


def test_detected(printed):
    out = printed(detected_report, detect(PEOPLE, [*NAMES, "file"], size=4, distinction=0.5), 4)
    assert out.index("│ file") < out.index("│ q0, q1, q2")
    assert "1.000000" in out
    some = detect(PEOPLE, NAMES, distinction=0.5)
    assert f"... {len(some) - 1} more" in printed(detected_report, some, 3, shown=1)
    out = printed(detected_report, [], 1)
    assert out == "No set of up to 1 column tells 80% of the records apart.\n"


def test_warnings(printed):
    out = printed(undeclared_report, undeclared(PEOPLE, list(PEOPLE.columns), NAMES[:3], ["w"]))
    assert "WARNING: not declared, but identifying" in out
    assert "file" in out
    assert "nearly every record has its own value" in out
    assert "q3" in out
    assert "leaves 100.00% of the records alone, not 0.00%" in out
    assert "Not counted, as their values cannot be distinguished: note" in out


def test_no_warning(printed):
    out = printed(undeclared_report, undeclared(PEOPLE, NAMES, NAMES[:4]))
    assert out == "No column without a role identifies.\n"
    assert printed(undeclared_report, undeclared(PEOPLE, NAMES, NAMES)) == ""


def test_names_do_not_steer_a_terminal(printed):
    names = ["a\x1b[31mb", "c\nd", ":smile:", "[bold]e"]
    table = pd.DataFrame(dict.fromkeys(names, range(8)))
    out = printed(ranking_report, rank(table, names[:2], names[2:3]))
    assert "│ a\\x1b[31mb " in out
    assert "│ c\\nd " in out
    assert "Inference of :smile:" in out
    assert "\x1b" not in out
    assert "[bold]e" in printed(undeclared_report, undeclared(table, names[3:], names[:1]))
