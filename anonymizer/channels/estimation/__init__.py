"""True counts, estimated from a release and the channel that it was drawn by."""
