"""What all pages of one session share: the session, the counts, and answers that were computed."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.counted import Counter, stamp_of
from anonymizer.explorer.answers.frontier import GrowingFrontier
from anonymizer.explorer.answers.kept import KeptAnswers
from anonymizer.explorer.answers.nodes import SearchedLattice
from anonymizer.explorer.answers.outcome import StudyOutcome, outcome_of
from anonymizer.explorer.answers.quoted import unquoted
from anonymizer.explorer.session.session import Session
from anonymizer.explorer.work import Works
from anonymizer.explorer.writing import Preview
from anonymizer.recoding import Watch
from anonymizer.release.study import Study

OUTCOMES, STUDIES, FRONTIERS = 16, 64, 8
"""How many are kept. An outcome holds a table as counts, which may be large."""

PATIENCE = 0.5
"""Seconds that a computation gets to notice that nobody waits for it any more."""


@dataclass(eq=False)
class Explorer:
    """A session with its counts. ``aggregate_only``: no label of a class is shown on the page.

    ``preview``: the report that was looked at last. ``works``: what is, or was, computed for
    its pages.
    """

    session: Session
    aggregate_only: bool = False
    counter: Counter = field(default_factory=Counter)
    preview: Preview | None = None
    works: set[Works] = field(default_factory=set)
    frontiers: KeptAnswers[GrowingFrontier] = field(default_factory=lambda: KeptAnswers(FRONTIERS))
    lattices: KeptAnswers[SearchedLattice] = field(default_factory=lambda: KeptAnswers(FRONTIERS))
    _studies: KeptAnswers[Study] = field(default_factory=lambda: KeptAnswers(STUDIES))
    _outcomes: KeptAnswers[StudyOutcome] = field(default_factory=lambda: KeptAnswers(OUTCOMES))

    def __post_init__(self) -> None:
        """Hide what earlier steps were called, where no labels are shown."""
        if self.aggregate_only:
            self.session.history.unname()

    def study(self, text: str) -> Study:
        """The study of a text, with the hierarchies that its files had when it was needed first."""
        return self._studies.get(text, lambda: self.session.study(text))

    def outcome(self, text: str, watch: Watch) -> StudyOutcome:
        """Return the outcome of a study's text, with its table as it is now."""
        return self._outcomes.get((text, self.stamp(text)), lambda: self._computed(text, watch))

    def stamp(self, text: str) -> Hashable:
        """Return a stamp that changes when a study's table does, or when it can be found again."""
        try:
            return stamp_of(self.study(text).data_path)
        except AnonymizerError:  # the outcome says it
            return None

    def close(self) -> bool:
        """End all that is computed; whether it did end within a moment."""
        works = [*self.works]
        for each in works:
            each.close()
        return all(each.ended(PATIENCE) for each in works)

    def forget(self) -> None:
        """Read studies and compute outcomes anew: a file that they refer to was replaced."""
        self._studies.clear()
        self._outcomes.clear()
        self.frontiers.clear()
        self.lattices.clear()

    def _computed(self, text: str, watch: Watch) -> StudyOutcome:
        try:
            counted = self.counter.counted(self.study(text), watch)
        except AnonymizerError as error:
            return StudyOutcome(refusal=self.said(str(error)))
        found = outcome_of(counted, watch)
        return replace(found, refusal=self.said(found.refusal))

    def said(self, message: str) -> str:
        """A message as the page may show it: without values of the table where none is shown."""
        if not self.aggregate_only:
            return message
        content = self.session.content
        sensitive = content.get("sensitive", {}).get("attributes", [])
        return unquoted(message, {*content.get("quasi-identifiers", {}), *sensitive})
