"""Published experiments, computed anew and compared with the printed figures.

What goes in: the papers' own tables and parameters, and real UCI Adult. What comes out: rows of
figures, computed and published, as text, JSON or a picture. The room may import every other one;
nothing imports it. The command line finds its command by name.
"""
