"""TODO problem."""
