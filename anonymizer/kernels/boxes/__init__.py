"""Cutting boxes of cells in two, in machine code: what the beam search of boxes spends its time in.

In go cells on axes and what a box must satisfy; out come the best cuts of a box, and what the
trees are worth that grow from cuts. It may import the other kernels. Of its functions Python calls
those of ``Ground`` alone, so that numba is not loaded before boxes are searched for.
"""
