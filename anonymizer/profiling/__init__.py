"""Profiles of raw tables: columns, the roles and hierarchies that they suggest, a first policy.

In goes a table; out comes a :class:`TableProfile`, frozen, with a role and a reason for each
column, and proposals that a study is drafted of. Everything follows from counts of values. No
proposal shows a value that fewer than five records have. May import ``privacy`` and what is below
it.
"""

from anonymizer.profiling.columns import distinction, separation, share_alone
from anonymizer.profiling.profile import ColumnProfile, TableProfile, profile

__all__ = [
    "ColumnProfile",
    "TableProfile",
    "distinction",
    "profile",
    "separation",
    "share_alone",
]
