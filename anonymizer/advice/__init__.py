"""Advice on a policy: what is safe under it, what another threshold keeps, what stands in the way.

What goes in: an ``Anonymizer`` or a study, and a table, which is counted once. What comes out: an
``Advice`` of frozen dataclasses with ``to_dict``; nothing is released, and no value is shown. All
figures are searched for on counts, none is guessed. ``space`` has the nodes that a policy leaves,
and what they keep and disclose, ``sweep`` the thresholds of t or l, ``changes`` which records are
in the way, and what relaxing the policy, suppressing records and leaving out or coarsening
attributes would free. May import release and what lies below.
"""

from anonymizer.advice.advise import Advice, advise, advise_counted, advise_study
from anonymizer.advice.changes import Change, Obstacle, Parameter
from anonymizer.advice.space import Disclosure, is_drastic, mostly_lost
from anonymizer.advice.sweep import Sweep, ThresholdPoint

__all__ = [
    "Advice",
    "Change",
    "Disclosure",
    "Obstacle",
    "Parameter",
    "Sweep",
    "ThresholdPoint",
    "advise",
    "advise_counted",
    "advise_study",
    "is_drastic",
    "mostly_lost",
]
