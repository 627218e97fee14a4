"""What a table is weak in although its policy may hold, line by line."""

from collections.abc import Iterable

from rich.console import Console

from anonymizer.release.warnings.warnings import ReleaseWarning

__all__ = ["print_warnings"]


def print_warnings(out: Console, warnings: Iterable[ReleaseWarning]) -> None:
    """Print what is the matter and how to mend it, each with the code that it goes by."""
    for warning in warnings:
        out.print(f"WARNING ({warning.code}): {warning.message}.", soft_wrap=True)
