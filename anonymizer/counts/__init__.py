"""Counts: how many records each class has of each sensitive value; all that the mathematics sees.

In goes a table and the roles of its columns (``Schema``); out come ``Counts``, which recodings
merge and from which privacy models and objectives are computed, and ``Regions``, the recodings by
whole combinations of values. Of very many values count matrices are sparse: ``pairs`` makes them.
The room may import ``hierarchy``, ``tables``, ``information`` and ``kernels``.
"""
