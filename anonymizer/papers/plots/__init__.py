"""Figures of papers, drawn."""
