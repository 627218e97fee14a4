"""A population, given as a table of its own."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from anonymizer.errors import InputError


@dataclass(frozen=True, eq=False)
class Population:
    """A table of everybody that the records of another one may be taken for.

    ``table`` has one record per person and the quasi-identifiers among its columns, ``name`` is
    what a manifest calls it.
    """

    table: pd.DataFrame = field(repr=False)
    name: str = "population"

    @classmethod
    def of(cls, model: str, given: object) -> "Population":
        """A population, or a DataFrame made one."""
        if isinstance(given, Population):
            return given
        if isinstance(given, pd.DataFrame):
            return cls(given)
        raise InputError(
            f"{model}: population must be a DataFrame with the quasi-identifiers of everybody, "
            f"not a {type(given).__name__}"
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its values."""
        rows = pd.util.hash_pandas_object(self.table.astype(str), index=False)
        return "sha256:" + hashlib.sha256(rows.to_numpy().tobytes()).hexdigest()

    def describe(self) -> dict[str, object]:
        """What a manifest reports of it."""
        return {"name": self.name, "records": len(self.table), "digest": self.digest}


class Withheld(Population):
    """A population without its records: only what a manifest reports of it."""

    def __init__(self, people: Population) -> None:
        object.__setattr__(self, "name", people.name)
        object.__setattr__(self, "_described", people.describe())

    @property
    def table(self) -> pd.DataFrame:
        """Raise InputError: it is not there any more."""
        raise InputError(
            f"the population {self.name!r} was left out when this was fitted and pickled; state "
            "the models about it anew, such as set_params(privacy=[...])"
        )

    def describe(self) -> dict[str, object]:
        """The same as with its records."""
        return dict(vars(self)["_described"])
