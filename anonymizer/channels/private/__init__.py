"""Channels of least distortion of which every released symbol satisfies the privacy models."""
