"""What a privacy model means for a person in the table: the sentences of a report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """A model in sentences for readers who are no statisticians; each with its full stop.

    Places in braces are parameters of the model by their names, ``{worst}`` (the measure of the
    class that comes off worst), ``{shared}`` (the quasi-identifiers) and ``{attribute}`` (the
    sensitive attribute). A number may have a form after a colon: ``{k:others}`` is "4 others" for
    k = 5. The forms are those of ``anonymizer.feedback.words``.

    Parameters
    ----------
    promise
        What holds of every person in the table.
    measured
        What the class that comes off worst has.
    leaves_open
        What the model does not protect from: a topic, a colon, a sentence or more.
    """

    promise: str
    measured: str
    leaves_open: str
