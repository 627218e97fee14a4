"""Folders of Parquet read and written by Spark or Dask: on this machine, or on a cluster of many.

Every machine of a cluster has to see the folders by the same path, as this one does.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from anonymizer.errors import InputError, installing
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.opening import require_named
from anonymizer.tables.files.parquet import UNNAMED_INDEX
from anonymizer.tables.files.places import files_of, is_database
from anonymizer.tables.relations.frames import Frame, relation_of

ClusterEngine = Literal["spark", "dask"]

Reader = Callable[[list[str]], Any]

LIBRARIES = {"spark": "pyspark", "dask": "dask"}


@contextmanager
def opened_on(
    engine: ClusterEngine,
    path: Path,
    form: Format,
    master: str | None,
    columns: Sequence[str] = (),
) -> Iterator[Frame]:
    """A table of Parquet files that Spark or Dask reads, counts, recodes and writes.

    Parameters
    ----------
    engine, master
        Which of them, and the address of its cluster: a master URL of Spark, such as ``local[2]``
        or ``spark://host:7077``, or that of a scheduler of Dask, such as ``tcp://host:8786``. None
        is what Spark is configured for, and the threads of this process for Dask.
    path, form
        One file, a pattern or a folder; Parquet.
    columns
        That it must have.

    Raises InputError when the table is none of Parquet, the library is not installed, or there is
    no cluster at that address.
    """
    if is_database(path) or not form.parquet:
        raise InputError(
            f'{path} is not Parquet, which is what engine = "{engine}" reads; leave engine out, or '
            "write the table as Parquet"
        )
    files = [str(each.absolute()) for each in files_of(path)]
    with _session(engine)(master) as read:
        table = relation_of(read(files))
        found = table.chosen([n for n in table.columns if not UNNAMED_INDEX.fullmatch(n)])
        require_named(path, found.columns, columns, form)
        yield found


def _session(engine: ClusterEngine) -> Callable[[str | None], AbstractContextManager[Reader]]:
    """What opens a session of a library; InputError where that is not installed."""
    try:
        module = import_module(f"anonymizer.tables.relations.libraries.{engine}")
    except ModuleNotFoundError:
        raise not_installed(engine) from None
    return cast(Callable[[str | None], AbstractContextManager[Reader]], module.session)


def not_installed(engine: ClusterEngine) -> InputError:
    """What is said where the library of an engine is missing."""
    return InputError(
        f'engine = "{engine}" needs {LIBRARIES[engine]}, which is not installed: '
        f"{installing(engine)}"
    )


def named_parts(written: Sequence[Path], path: Path, parts: int | None) -> None:
    """Give the files that a library wrote the names of a release, in their order."""
    if parts is None:
        (alone,) = written
        alone.rename(path)
        return
    path.mkdir(exist_ok=True)
    for number, file in enumerate(sorted(written)):
        file.rename(path / f"part-{number:0{len(str(parts - 1))}}.parquet")


def require_parquet(form: Format, library: str) -> None:
    """Require that a table is written as Parquet."""
    if not form.parquet:
        raise InputError(
            f'{library} writes Parquet alone; set file = "released.parquet" in [output]'
        )
