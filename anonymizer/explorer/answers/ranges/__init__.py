"""Ranges of an attribute: its values in order, what the ranges between cuts tell, cuts found."""
