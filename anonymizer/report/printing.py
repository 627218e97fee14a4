"""Results printed to standard output: whole, or with one line that says why not."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from anonymizer.errors import InputError


@contextmanager
def printing(done: str) -> Iterator[None]:
    """Print what was done; a reader that went away is no error, a full disk one of printing."""
    try:
        yield
        if sys.stdout:  # None where standard output was closed before the start
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"{done}, but cannot be reported: {error.strerror}") from None


def print_json(content: object) -> None:
    """Print what JSON can hold, texts as they are."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
