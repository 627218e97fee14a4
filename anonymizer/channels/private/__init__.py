"""TODO private."""
