"""The policy of a study: what it promises, how its classes come off, what can be changed.

In go models, counts and an outcome, out come sentences and numbers for cards and sliders.
"""
