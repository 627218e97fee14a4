"""The problem that a search solves: counts, their encoding, the policy and the objective.

In go counts, taxonomies, models, an objective and a suppression budget; out come answers about
nodes and classes: feasible or not, suppressed or not, and their score. Imports kernels, counts,
privacy and objectives, and no search.
"""
