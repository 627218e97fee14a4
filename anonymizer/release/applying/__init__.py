"""Recodings of other tables: by the plan that was fitted, or by the manifest of a release.

In go a plan, or a manifest, and a table with values that were not there when the recoding was
found. Out comes the recoding of that table: each value under the label whose definition holds of
it, or under none. ``reach.py`` places the values of one attribute, ``classes.py`` combinations of
them, ``applied.py`` is the plan for one table, ``scoring.py`` recodes rows for models by what is
``remembered.py``, and ``plans.py`` makes plans of manifests. The room imports nothing that fits.
"""
