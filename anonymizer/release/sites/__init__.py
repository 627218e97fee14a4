"""Tables whose records may not leave their sites: counted there, added by a steward, recoded there.

Each site writes the counts of its part. The steward adds them and releases the counts of the union
as it will be (``counts.py``). Each site recodes its part by that release, and whoever has all
recoded parts counts them again, adds them up, and compares (``parts.py``).
"""

from anonymizer.release.sites.counts import PartCounts, count_part, publish_counts
from anonymizer.release.sites.parts import publish_part, verify_parts

__all__ = ["PartCounts", "count_part", "publish_counts", "publish_part", "verify_parts"]
