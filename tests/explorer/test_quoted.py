"""Messages that are shown where no value of the table may be."""

from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.quoted import unquoted
from anonymizer.explorer.page.explorer import Explorer
from anonymizer.explorer.session.session import Session
from anonymizer.recoding import ignore


def test_names_of_columns_stay_and_all_else_in_quotes_goes():
    message = "column 'a' lacks 'b', \"it's\" and 'q\\'x' of all records' values"
    assert (
        unquoted(message, ["a"]) == "column 'a' lacks '...', '...' and '...' of all records' values"
    )


def test_a_refusal_names_no_value_under_aggregate_only(study):
    (study.parent / "cities.csv").write_text("Rome;south\n")
    text = study.read_text().replace('city = "suppress"', 'city = "cities.csv"')
    study.write_text(text)
    session = Session(study)
    shown = Explorer(session, counter=Counter()).outcome(session.text, ignore).refusal
    hidden = Explorer(session, True, Counter()).outcome(session.text, ignore).refusal
    assert "'Oslo'" in shown
    assert "Oslo" not in hidden
    assert "'city'" in hidden
