"""How far the search is from its goals and from the limits of the machine, for bench_search.py.

A section measures in processes of its own (``python -m searching``, see ``processes``), and makes a
page of what they report.
"""
