"""Warnings: what a policy that holds does not promise, about classes, columns and record order.

What goes in: counts and a policy, or a table with its columns without a role. What comes out:
``ReleaseWarning`` objects, which count records, classes or values and never show one. The room may
import every room below ``release``, and of that only itself.
"""
