"""Information of count arrays, in bits: entropy, divergence, what a class tells, what chance tells.

In: counts as NumPy arrays, or as sparse matrices of scipy, which it does not import. Out: bits. It
knows no labels and no tables, and imports ``kernels`` and ``errors`` alone.
"""
