"""Waiting for what happens elsewhere: for a state, never for a time."""

import time
from collections.abc import Callable


def until(happened: Callable[[], object]) -> None:
    """Wait for what another thread does, however late it comes to it on a busy machine."""
    end = time.monotonic() + 60
    while not happened() and time.monotonic() < end:
        time.sleep(0.01)
    assert happened()
