"""Figures of papers, drawn: in one scale (``curves``) or as two panels of metrics (``figures``).

What goes in: the sections of a paper and a path. What comes out: a PNG, SVG or PDF file. Matplotlib
is imported here and in ``report.plots`` alone.
"""
