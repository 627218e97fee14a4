"""TODO tradeoff."""
