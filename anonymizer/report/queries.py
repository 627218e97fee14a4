"""What queries cost the people of a table: a table of losses, and how to read it."""

from collections.abc import Iterator
from pathlib import Path

from anonymizer.feedback.words import plural
from anonymizer.report.console import console, table_of
from anonymizer.risk.queries import QueriesLoss, Question

COLUMNS = [
    "query",
    "answers",
    "average loss",
    "standard deviation",
    "largest loss",
    "leaves",
    "smallest loss",
    "leaves",
]
FORMS = "s , .4f .4f .4f , .4f ,"
NOTHING = 5e-5
"""Bits below are 0 with four digits."""


def print_queries(found: QueriesLoss, picture: Path | None = None) -> None:
    """Print the loss of each query and of all together; no value of a record."""
    out = console()
    alternatives = (
        f"the values of {', '.join(found.about)}" if found.about else "which record is theirs"
    )
    out.print(
        f"{plural(found.records, 'record')}. Uncertain about a person: {alternatives}, "
        f"{found.uncertainty:.4f} bits before any answer."
    )
    several = len(found.questions) > 1
    rows = [_row(question) for question in found.questions]
    rows += [_row(found.jointly)] if several else []
    out.print(table_of("Loss of privacy by the answer, in bits", COLUMNS, rows, FORMS))
    for line in _lines(found):
        out.print(line)
    if picture:
        out.print(f"Drawn in {picture}.")


def _row(question: Question) -> list[object]:
    loss = question.loss
    extremes = [_zero(loss.maximum), question.least, _zero(loss.minimum), question.most]
    figures = [loss.average, loss.standard_deviation, *extremes]
    return [question.text, question.answers, *figures]


def _zero(value: float) -> float:
    return value if abs(value) > NOTHING else 0.0


def _lines(found: QueriesLoss) -> Iterator[str]:
    """How to read the losses of this table."""
    worst = found.jointly
    left = f"{plural(worst.least, 'record')} {'is' if worst.least == 1 else 'are'} left"
    yield "Leaves: how many records the answer fits. " + (
        f"The average of {worst.loss.average:.4f} bits hides the largest loss of "
        f"{worst.loss.maximum:.4f}, after which {left}."
        if worst.loss.maximum - worst.loss.average > NOTHING
        else f"Every answer costs the same, and at least {left}."
    )
    if len(found.questions) > 1:
        yield _sum(found)
    gaining = [q for q in (*found.questions, found.jointly) if q.gaining]
    if gaining:
        most = max(gaining, key=lambda question: question.gaining)
        yield (
            "A negative loss: the answer excludes what was likely, and what is left is spread more "
            "evenly. It then takes more questions than before to find the truth. Such answers come "
            f"with a probability of up to {most.gaining:.4f} ({most.text}). They still disclose "
            "that the likely is not the case."
        )
    for note in found.notes:
        yield f"Note: {note}."


def _sum(found: QueriesLoss) -> str:
    """All together compared with the sum, by Eq. 5, which is about functions of the uncertain."""
    average, most = found.jointly.loss.average, found.sum_of_averages
    if average <= most + NOTHING:
        return (
            f"All together cost {average:.4f} bits on average, no more than the sum of the "
            f"averages, {most:.4f}. Their largest loss may exceed the sum of the largest losses."
        )
    return (
        f"All together cost {average:.4f} bits on average, more than the sum of the averages, "
        f"{most:.4f}: answers that are no function of {', '.join(found.about)} may tell more "
        "together."
    )
