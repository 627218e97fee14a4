"""What a report says of the attacker who knows the method: policy, search and options."""

from collections.abc import Iterator

from anonymizer.feedback.words import plural
from anonymizer.risk.method import EVERY
from anonymizer.risk.minimality import BOUNDED, FINER, Minimality

NOT_PREFERRED = {
    FINER: "no finer release satisfied the policy",
    EVERY: "no other recoding was preferred",
}
"""What the attacker knows, by what was attacked."""


def minimality_report(found: Minimality) -> Iterator[str]:
    """Yield what the method reveals, from what that is known, and what was not attacked."""
    if found.reason:
        yield f"Minimality, {found.method}: {found.why}."
    if found.probability_below is not None:
        yield (
            f"That {NOT_PREFERRED[found.attacked]} has a probability below "
            f"{found.probability_below:.4g}."
        )
    if found.examined and found.method != BOUNDED:
        yield from _learnt(found)
    if found.unsimulated:
        yield f"Of other recodings it is not known what they reveal: {found.unsimulated}."


def _learnt(found: Minimality) -> Iterator[str]:
    known = NOT_PREFERRED[found.attacked]
    if not found.reveals and not found.draws:
        yield f"Minimality: that {known} reveals nothing."
        return
    share = (
        ""
        if found.probability is None
        else f", which leaves a share of {found.probability:.4g} of all ways to deal out the "
        "values of the classes"
    )
    sampled = f", give or take {found.standard_error:.4f}" if found.draws else ""
    yield (
        f"Minimality: {known}{share}. The largest posterior is {found.largest_posterior:.4f}"
        f"{sampled}, not {found.largest_share:.4f}; a value gets {found.factor:.4g} times likelier "
        f"at the most. Raised: {found.records_raised:,} records; beyond the policy: "
        f"{found.records_breached:,}."
    )
    if found.attacked == EVERY:
        ways = f"all {plural(found.worlds, 'way')}" if found.worlds else plural(found.draws, "way")
        yield f"The search was run again on {ways} to deal them out."
