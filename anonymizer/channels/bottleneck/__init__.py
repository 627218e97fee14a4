"""Information bottlenecks: least rate I(T;X) for the relevance I(T;W); local optima."""
