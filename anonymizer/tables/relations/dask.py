"""DataFrames of Dask, computed a partition at a time."""

from typing import Any

import dask.dataframe
import narwhals as nw
import pyarrow as pa

from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.frames import Frame


class DaskFrame(Frame):
    """A DataFrame of Dask."""

    library = "Dask"

    def beside(self, small: pa.Table) -> Any:
        """As ``Frame.beside``: one partition, which each of the table is joined to."""
        return nw.from_native(dask.dataframe.from_pandas(exact_frame(small), npartitions=1))
