"""Why a file cannot be read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from anonymizer.errors import InputError, require_columns
from anonymizer.tables.reading import IrregularError, open_regular

__all__ = ["readable", "require_named"]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say in our own words why a file cannot be read: the parsers' messages quote the data.

    What a damaged file makes a parser raise is anybody's guess, hence the broad net.
    """
    try:
        open_regular(path).close()
        yield
    except (InputError, MemoryError):
        raise
    except IrregularError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}: it is not UTF-8 text") from None
    except PermissionError:
        raise InputError(f"cannot read {path}: permission denied") from None
    except Exception as error:
        empty = "it is empty" if "Empty CSV" in str(error) else ""
        reason = empty or "it is damaged, cut short, or not what its name says"
        raise InputError(f"cannot read {path}: {reason}") from None


def require_named(path: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    """Require that a file has some columns, and none twice.

    Raises
    ------
    InputError
        Naming the file, the column and the nearest one that exists.
    """
    try:
        require_columns(names, columns, "; does its first line name the columns?")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
