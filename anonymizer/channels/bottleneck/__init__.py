"""TODO bottleneck."""
