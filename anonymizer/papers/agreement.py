"""Whether a computed number is the published one, as far as that was printed."""

import re

import numpy as np

AS_PUBLISHED = "as published"
TRUNCATED = "truncated"
NOT_REPRODUCED = "cannot be reproduced"

NUMBER = re.compile(r"(-?\d+)(?:[.,](\d+))?( ?%)?")
SLACK = 1e-9
"""Numbers that lie on the edge of a printed digit to the last bits lie on it."""


def agreement(value: float, published: str, why: str = "") -> str:
    """``AS_PUBLISHED``, ``TRUNCATED``, or ``NOT_REPRODUCED`` and why; empty if it is no number.

    >>> agreement(0.363636, "0,36"), agreement(0.548795, "0,54"), agreement(0.8784, "88 %")
    ('as published', 'truncated', 'as published')
    >>> agreement(1.25, "1,0", "a slip")
    'cannot be reproduced: a slip'
    """
    if not NUMBER.fullmatch(published):
        return ""
    return agrees(value, published) or (f"{NOT_REPRODUCED}: {why}" if why else NOT_REPRODUCED)


def agrees(value: float, published: str) -> str:
    """``AS_PUBLISHED`` when rounding gives the published digits, ``TRUNCATED`` when cutting does.

    Decimal points and commas are the same. Empty when neither does.
    """
    match = NUMBER.fullmatch(published)
    if not match:
        return ""
    whole, decimals, percent = match.groups(default="")
    printed = float(f"{whole}.{decimals}")
    shown, unit = value * (100 if percent else 1), 10.0 ** -len(decimals)
    if abs(shown - printed) <= unit / 2 + SLACK:
        return AS_PUBLISHED
    cut = np.trunc(shown / unit + np.copysign(SLACK, shown)) * unit
    return TRUNCATED if abs(cut - printed) <= SLACK else ""
