"""What is said of an attack: what comes of it, what it is compared with, and what to beware of."""

from collections.abc import Iterator, Sequence

from anonymizer.counts.multidimensional import Regions
from anonymizer.explorer.answers.attack import Exposure
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.feedback.words import listed, plural, share

BROKEN = "The chosen levels break the policy and are not released; this is what they would expose. "
"""What is said of levels of which there is no release."""


def comparison(
    outcome: StudyOutcome, best: StudyOutcome | None, method: str, knows_all: bool
) -> str:
    """What the chosen release is compared with, and what is to be known of its figures.

    ``best``: what the best levels come to, once that is known.
    """
    if outcome.counts is None or outcome.plan is None:
        return "There is no release to attack: the study cannot be carried out as it stands."
    said = " ".join(_cautions(outcome, knows_all))
    return f"{said} {_against(outcome, best, method)}".strip()


def _against(outcome: StudyOutcome, best: StudyOutcome | None, method: str) -> str:
    """What there is to compare with."""
    assert outcome.plan is not None
    if outcome.plan.random:
        return ""
    if method == "fixed":
        return BROKEN * (not outcome.holds) + _best_levels(best)
    if outcome.plan.search.proven:
        return f"The chosen recoding ({method}) is the best of its kind already."
    return f"The chosen recoding ({method}) is the best that was found of its kind."


def _best_levels(best: StudyOutcome | None) -> str:
    if best is not None and best.counts is None:
        return "No levels at all satisfy the policy, so there is no best."
    return "Best levels: the same policy, with the levels that are best by the study's objective."


def _cautions(outcome: StudyOutcome, knows_all: bool) -> Iterator[str]:
    """What is to be known of the figures of a release."""
    raw, counts, plan = outcome.raw, outcome.counts, outcome.plan
    if plan is not None and plan.random:
        yield "Released values are drawn at random: what is taken here for true need not be."
    if plan is not None and isinstance(plan.recoding, Regions) and not knows_all:
        yield (
            "Classes have labels of their own: who knows some attributes is taken to recognize the "
            "label that each of them has for the person."
        )
    if raw is not None and counts is not None and raw.records > counts.records:
        left = plural(raw.records - counts.records, "record is", "records are")
        yield f"{left} left out of the release."


def summary(known: Sequence[str], about: str | None, exposure: Exposure | None) -> str:
    """What comes of it, in a sentence."""
    if exposure is None:
        return ""
    who = f"Who knows {listed(known)}" if known else "Who knows nothing of a person"
    found = f"finds a person's record with a probability of at most {share(exposure.highest)}"
    if exposure.guessing is None or about is None:
        return f"{who} {found}."
    surest = share(exposure.guessing.surest)
    return f"{who} {found}, and nobody's “{about}” is guessed with more than {surest}."
