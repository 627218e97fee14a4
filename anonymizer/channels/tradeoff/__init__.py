"""The privacy-distortion function: the least leakage I(W;Y) at a distortion, with proven bounds.

In: a joint law and a distortion. Out: an ``OptimalChannel`` of a slope, of a limit, or of each
point of a curve. ``answers`` and ``limits`` serve rate-distortion, too. It may import what is next
to it in ``channels``.
"""
