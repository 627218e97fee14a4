"""What a redesign may not change, as digests of texts: ``make frozen``, or from the repository::

    python -m tests.frozen                       # compare: "equal", or the names that differ
    python -m tests.frozen --only studies        # one part
    python -m tests.frozen --show "study:4711"   # the text of a name; diff those of two checkouts
    python -m tests.frozen --record              # after a change of behaviour that is meant

Each part makes a text for each of its names, and ``<part>.json`` has the first 16 digits of the
SHA-256 of each. A text follows from the code alone: not from the time, the place, the process or
the order. ``texts`` says what had to be left out for that, and why.

- ``interface``: public names with their parameters, every help, keys of studies, manifest schema.
- ``mistakes``: wrong calls and wrong studies with exit code and messages.
- ``edits``: changed releases, and what ``verify`` says of them.
- ``studies``: random studies of ``tests.fuzz`` with all that is released; some of them followed by
  other commands, and some as tables of each engine.
- ``papers``: the figures of the papers.
- ``optima``: what is best in the random problems of ``tests.problems``.

To add a part: a module with ``names()`` and ``text(name)``, and a word in ``PARTS``.
"""

import sys
from pathlib import Path

# pytest puts the directory of the tests on the path; ``python -m tests.frozen`` does not.
TESTS = str(Path(__file__).parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)
