"""How work and results show themselves: in notebooks, in one line, in logs, by progress bars.

In: texts, counts and fractions done. Out: HTML, log records, bars on a terminal or in a notebook.
It sees no tables and imports nothing of the package, so that classes of any floor can use it; what
is shown of them is the business of their own rooms.
"""
