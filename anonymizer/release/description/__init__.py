"""What a study file describes: its sections, read and checked, and the objects that they stand for.

What goes in: TOML. What comes out: a `Document`, section by section as it was written, and a
`Description`: roles, hierarchies, policy, recoding and objective, and the `Place` where the table
lies with how it is read. Nothing is fitted. Imports no other package of ``release`` but
``manifest``.
"""
