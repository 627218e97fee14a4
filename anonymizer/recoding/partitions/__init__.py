"""Partitions of single attributes: ranges, cuts through a hierarchy, levels and free groupings.

In goes a problem (counts, taxonomies, models, objective) and which attributes get ranges; out comes
one partition per quasi-identifier that satisfies the policy, with a bound on what any other can
score. ``families`` has what all kinds of ``groups`` share, and their scores; ``refine`` cuts one
attribute, ``pair`` two together, ``joint`` all, ``bounded`` with few classes. The room may import
``recoding.problem``, ``recoding.lattice`` and ``recoding.full_domain``.
"""
