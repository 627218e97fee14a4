"""TODO estimation."""
