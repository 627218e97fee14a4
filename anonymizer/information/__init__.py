"""TODO information."""
