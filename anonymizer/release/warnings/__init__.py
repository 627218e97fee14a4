"""TODO warnings."""
