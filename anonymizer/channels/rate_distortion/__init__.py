"""The least rate I(X;Y) at a distortion: Blahut's problem, and closed forms for normal laws.

In: p(x) or moments, and d(x, y). Out: channels with proven bounds, noise, and bounds in closed
form. It may import what is next to it in ``channels`` and the searches of ``tradeoff``.
"""
