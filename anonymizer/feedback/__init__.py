"""How work and results show themselves: words, documents, notebooks, one line, logs, progress bars.

In: texts, counts and fractions done. Out: the one model of a document (``document``), numbers in
words (``words``), HTML of a notebook, log records, bars on a terminal or in a notebook.
It sees no tables and imports nothing of the package, so that classes of any floor can use it; what
is shown of them is the business of their own rooms.
"""
