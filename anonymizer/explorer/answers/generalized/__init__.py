"""Hierarchies as they are shown and edited: groups, levels, and the rules that are proposed."""
