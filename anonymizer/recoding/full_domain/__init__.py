"""Full-domain generalization: searches of the lattice for the best node, one level an attribute.

In goes a problem; out comes the best feasible node with its bound, or the frontier of all feasible
ones. Imports the problem and the lattice, and no other kind of recoding.
"""
