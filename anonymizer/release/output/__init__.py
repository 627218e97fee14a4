"""TODO output."""
