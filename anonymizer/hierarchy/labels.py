"""Labels that say more than their text: which values they stand for."""

from collections.abc import Mapping

from anonymizer.tables.values import is_missing

MISSING = "(missing)"
"""A missing value as reports and pages show it; a table has it as an empty cell."""


def shown_label(label: object) -> str:
    """A label as reports and pages show it; the text that a missing one goes by is in quotes.

    >>> shown_label(None), shown_label("(missing)"), shown_label("*")
    ('(missing)', '"(missing)"', '*')
    """
    if is_missing(label):
        return MISSING
    return f'"{label}"' if str(label) == MISSING else str(label)


class Meaning(str):
    """Label with the meaning that a manifest gives it.

    It is a text to everybody who compares or releases it. ``stands_for`` has one key: ``masked``,
    where the masked characters of a code begin and end; or ``except``, the values that a group of
    all others lacks. A marked label is next to another one that reads alike, and ``own`` is what
    it is without its mark.

    >>> label = Meaning("***06", {"masked": [0, 3]})
    >>> label == "***06", label.stands_for, label.marked(" (level 1)").own
    (True, {'masked': [0, 3]}, '***06')
    """

    stands_for: Mapping[str, object]
    own: str

    def __new__(cls, text: str, stands_for: Mapping[str, object] = {}) -> "Meaning":
        """A text, and what it stands for; a pickled one gets that from its state."""
        label = super().__new__(cls, text)
        label.stands_for, label.own = stands_for, text
        return label

    def marked(self, mark: str) -> "Meaning":
        """Append a mark to the text; the label stands for the same values."""
        label = Meaning(f"{self}{mark}", self.stands_for)
        label.own = self.own
        return label

    @property
    def described(self) -> dict[str, object]:
        """Entry of a manifest about the label, apart from its text."""
        return {**self.stands_for, **({"group": self.own} if self.own != self else {})}
