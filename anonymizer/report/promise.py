"""Against whom a policy holds, in sentences that report, ``verify`` and explorer have in common."""

from collections.abc import Sequence

from anonymizer.report.page.numbers import listed


def against(quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> str:
    """Whom conditions on equivalence classes hold against, and what they do not promise.

    A differentially private release does not depend on what is known, and needs no such sentences.
    k-anonymity does not prevent singling out: Cohen and Nissim, PNAS 117 (2020).

    >>> against(["age", "sex"], []).partition(".")[0]
    'The policy holds against somebody who knows age and sex of everybody'
    """
    also = f", and about {listed(sensitive)} only what the whole table shows" if sensitive else ""
    return (
        f"The policy holds against somebody who knows {listed(quasi_identifiers)} of "
        f"everybody{also}. It is no promise against somebody who knows more, who reasons from how "
        "the recoding was chosen, or who links other releases. It does not prevent singling out."
    )
