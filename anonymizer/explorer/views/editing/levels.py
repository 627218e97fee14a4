"""The levels of a hierarchy: their groups, and the classes under each."""

from typing import TYPE_CHECKING

from anonymizer.explorer.answers.generalized.hierarchies import Generalized, LevelClasses, level_now
from anonymizer.explorer.page.controls import fill, heading, listing, note
from anonymizer.explorer.page.toolkit import Text
from anonymizer.feedback.words import count, plural

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

LEVELS = ("Level", "Groups", "Largest group", "Smallest group", "Classes then", "Smallest class")

EXPLAINED = (
    "Level 0 keeps the values, the highest level is one group of all. Classes then: the "
    "equivalence classes if this attribute were released at that level, all others as they are "
    "now, before anything is suppressed."
)

WHOLE = (
    "Classes then are not known here: the recoding has groups of its own for each class, and no "
    "level for an attribute."
)


class LevelRows:
    """A row for each level."""

    def __init__(self, page: "ExplorerPage") -> None:
        self._page = page
        heading("Levels")
        note(EXPLAINED)
        self._listing = listing("Levels", LEVELS)
        self._whole = Text("p").classes("note")

    def show(self, found: Generalized, classes: list[LevelClasses] | None) -> None:
        """Fill in what each level comes to."""
        outcome = self._page.outcome if self._page.fresh else None
        now = None if outcome is None else level_now(outcome, found.name)
        unknown = "-" if self._page.fresh else "…"
        fill(self._listing, level_rows(found, classes, now, unknown))
        together = outcome is not None and outcome.plan is not None and classes is None
        self._whole.set_text(WHOLE if together else "")


def level_rows(
    found: Generalized, classes: list[LevelClasses] | None, now: int | None, unknown: str
) -> list[list[str]]:
    """What each level comes to; ``unknown`` stands for classes that are not known."""
    rows = []
    for use in found.levels:
        known = classes is not None and use.level < len(classes)
        then = classes[use.level] if known and classes is not None else None
        rows.append(
            [
                f"{use.level} (released now)" if use.level == now else str(use.level),
                count(use.groups),
                plural(use.largest, "record"),
                plural(use.smallest, "record"),
                unknown if then is None else count(then.classes),
                unknown if then is None else plural(then.smallest, "record"),
            ]
        )
    return rows
