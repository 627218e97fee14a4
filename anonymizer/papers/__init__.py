"""Published experiments, computed anew and compared with the printed figures.

What goes in: the papers' own tables and parameters, and real UCI Adult. What comes out: rows of
figures, computed and published, as text, JSON or a picture. It stands apart: it may import
every room but ``explorer`` and ``cli``, and nothing imports it. The command line finds its command
by name.
"""
