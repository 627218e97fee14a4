"""The searches of a lattice in machine code: which node next, its classes, its verdict.

What a search does between two roll-ups takes about as long in Python as the roll-ups themselves.
Here all of it runs without the interpreter and its lock. Python is asked only for verdicts that
need it (``ASK``), and between lots of nodes (``PAUSE``), when it may interrupt and show progress.
The searches in ``recoding.full_domain`` that are written in Python are the readable definition:
nodes are looked at in the same order, and known by the same rules. Imports the kernels alone.
"""
