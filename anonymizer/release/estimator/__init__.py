"""What the estimator has of scikit-learn's conventions: parameters, kinds of tables, rows.

In go tables as users of scikit-learn give them; out come tables of the same kind, and rows that a
model learns from. May import what ``release`` may.
"""
