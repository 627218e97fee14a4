"""Information bottlenecks: least rate I(T;X) for the relevance I(T;W); local optima.

In: a joint law. Out: a ``Bottleneck`` with its decoder. It may import what is next to it in
``channels``.
"""
