"""Relations of DuckDB, computed in the connection of whoever holds them."""

from typing import Any

import narwhals as nw
import pyarrow as pa

from anonymizer.tables.relations.dealing import runs_of, seed_of
from anonymizer.tables.relations.frames import AS_TEXTS, Frame
from anonymizer.tables.relations.relation import Moves


class DuckFrame(Frame):
    """A relation of DuckDB; as tables of a database, it has no order that is promised."""

    library = "DuckDB"
    as_texts = (*AS_TEXTS, nw.Duration)  # an INTERVAL has months, days and microseconds

    def beside(self, small: pa.Table) -> Any:
        """As ``Frame.beside``: DuckDB finds Arrow tables by the name of the variable."""
        return nw.from_native(self.native.query("anonymizer", "SELECT * FROM small"))

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """As ``Frame.dealt``, by a digest of each record and a seed: always the same order."""
        raise NotImplementedError

    def shuffled(self, table: Any) -> Any:
        """As ``Frame.shuffled``."""
        raise NotImplementedError
