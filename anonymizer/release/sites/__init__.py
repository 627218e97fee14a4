"""Tables whose records may not leave their sites: counted there, added by a steward, recoded there.

Each site writes the counts of its part (``counting.py``). The steward adds them and releases the
counts of the union as it will be (``steward.py``). Each site recodes its part by that release
(``following.py``, ``parts.py``). Whoever has all recoded parts counts them again, adds them up, and
compares (``union.py``). The room may import the other rooms of ``release``.
"""

from anonymizer.release.sites.counting import PartCounts as PartCounts
from anonymizer.release.sites.counting import count_part as count_part
from anonymizer.release.sites.parts import publish_part as publish_part
from anonymizer.release.sites.steward import publish_counts as publish_counts
from anonymizer.release.sites.union import verify_parts as verify_parts
