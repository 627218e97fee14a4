"""Measures of the structure of a checkout, read from its sources; ``house.py`` prints them."""
