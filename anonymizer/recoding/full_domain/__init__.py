"""TODO full_domain."""
