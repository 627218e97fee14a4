"""TODO partitions."""
