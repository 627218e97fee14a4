"""What a hierarchy is, whichever way it is stated."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.hierarchy.partition import ANY, Interval, Partition, Taxonomy
from anonymizer.hierarchy.values import exact, is_missing, named, numbers_of, rank, text_of

__all__ = ["NO_KEY", "Hierarchy", "Label"]

Label = str | Interval


class NO_KEY:  # noqa: N801 (a constant: the key of no value)
    """The key of a value that a hierarchy cannot take."""


class Hierarchy(ABC):
    """How the values of one attribute generalize, stated before any table is seen.

    Make one with :meth:`read` (an ARX-style CSV file or a TOML rule), :meth:`from_rows`,
    :meth:`ranges`, :meth:`prefixes` or :meth:`suppression`. Level 0 is the raw value, the
    highest level a single group. (The makers import their kinds when called: the kinds are built
    on this class.)
    """

    source: str = "its hierarchy"

    @staticmethod
    def read(path: str | Path) -> "Hierarchy":
        """Read a hierarchy file: ``.toml`` holds a rule, anything else a table (CSV).

        Raises
        ------
        InputError
            When the file cannot be read or is not a hierarchy; the message names the place.
        """
        from anonymizer.hierarchy.files import read

        return read(Path(path))

    @staticmethod
    def from_rows(rows: Iterable[Sequence[object]]) -> "Hierarchy":
        """Build from rows ``value, label at level 1, label at level 2, ...``, finest first.

        A last column of more than one group gets ``*`` above it.
        """
        from anonymizer.hierarchy.table import Table

        return Table.of([[text_of(field) for field in row] for row in rows])

    @staticmethod
    def ranges(
        widths: Sequence[float] = (),
        *,
        cuts: Sequence[Sequence[float]] = (),
        origin: float = 0,
    ) -> "Hierarchy":
        """Half-open ranges of numbers, one level per width (or list of cut points), then ``*``.

        >>> [str(label) for label in Hierarchy.ranges(widths=[25, 50]).labels(Decimal(25))]
        ['[25, 50)', '[0, 50)', '*']
        """
        from anonymizer.hierarchy.ranges import Ranges

        return Ranges(
            tuple(map(_stated, widths)),
            tuple(tuple(map(_stated, level)) for level in cuts),
            _stated(origin),
        )

    @staticmethod
    def prefixes(lengths: Sequence[int]) -> "Hierarchy":
        """Keep the first characters of a code and mask the rest, one level per length, then ``*``.

        >>> Hierarchy.prefixes([4, 2]).labels("47906")
        ('4790*', '47***', '*')
        """
        from anonymizer.hierarchy.codes import Prefixes

        return Prefixes(tuple(lengths))

    @staticmethod
    def suppression() -> "Hierarchy":
        """Keep every value (level 0) or none of them (level 1)."""
        from anonymizer.hierarchy.codes import Suppression

        return Suppression()

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers that were meant as such, so that ranges may be refined."""
        return False

    @property
    @abstractmethod
    def height(self) -> int:
        """The highest level."""

    @abstractmethod
    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """The labels of a value at levels 1, 2, ..., height."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """What was stated, as JSON has it: the hierarchy's part of a study's fingerprint."""

    def key(self, value: object) -> Hashable:
        """What identifies a raw value: its text, blanks around it stripped.

        None for a missing value, ``NO_KEY`` for one that is not of the kind that generalizes.
        """
        return None if is_missing(value) else text_of(value)

    def over(self, attribute: str, values: Iterable[object]) -> Taxonomy:
        """Hold the hierarchy against the values of a column.

        Parameters
        ----------
        attribute
            The column's name, for messages.
        values
            The distinct raw values. A missing one is a value of its own, generalized to ``*``.

        Raises
        ------
        InputError
            When the hierarchy lacks values of the column; the message names some and the file.
        """
        raw = self._keyed(attribute, values)
        keys = sorted({*raw, *self._listed()}, key=rank)
        rows = [self._all_labels(key) for key in keys]
        levels = (
            Partition.of([raw.get(key, key) for key in keys]),
            *(Partition.of([row[level] for row in rows]) for level in range(self.height)),
        )
        numbers = numbers_of(keys)
        return Taxonomy(
            attribute,
            {key: code for code, key in enumerate(keys)},
            levels,
            self.key,
            numbers,
            ordered=self.ordered and numbers is not None,
            listed=bool(self._listed()),
        )

    def _listed(self) -> Iterable[Hashable]:
        """The values the steward listed."""
        return ()

    @property
    def _top(self) -> Label:
        """The label of the single group at the top."""
        return ANY

    def _all_labels(self, key: Hashable) -> tuple[Label, ...]:
        """The labels of a value; a missing one is ``*`` until it joins the others at the top."""
        missing = (*(ANY,) * (self.height - 1), self._top)
        return missing if key is None else self.labels(key)

    def _keyed(self, attribute: str, values: Iterable[object]) -> dict[Hashable, object]:
        """The raw values by key, the first to come standing for its equals."""
        raw: dict[Hashable, object] = {}
        strangers = []
        for value in values:
            key = self.key(value)
            if key is not None and not self._covers(key):
                strangers.append(text_of(value))
            raw.setdefault(key, None if key is None else value)
        if strangers:
            raise InputError(self._lacking(attribute, strangers))
        return raw

    def _covers(self, key: Hashable) -> bool:
        return key is not NO_KEY

    def _lacking(self, attribute: str, strangers: list[str]) -> str:
        return (
            f"column {attribute!r} holds {named(strangers)} that {self.source} lacks; "
            f"add them to {self.source}, clean the column, or declare them as missing values"
        )


def _stated(value: object) -> Decimal:
    """A number that a rule states."""
    stated = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    number = exact(value) if stated else None
    if number is None:
        raise InputError(f"widths, cuts and origin must be numbers, not {value!r}")
    return number
