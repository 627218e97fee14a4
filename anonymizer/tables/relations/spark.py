"""DataFrames of Spark."""

from typing import Any

import narwhals as nw
import pyarrow as pa

from anonymizer.tables.relations.frames import Frame


class SparkFrame(Frame):
    """A DataFrame of Spark."""

    library = "Spark"

    def beside(self, small: pa.Table) -> Any:
        """As ``Frame.beside``."""
        return nw.from_native(self.native.sparkSession.createDataFrame(small))
