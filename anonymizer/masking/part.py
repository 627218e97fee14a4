"""Attributes that one channel draws together, block by block of the kept ones, and candidates.

A part has the values of each attribute, the symbols that may be released for them and their costs;
a candidate is a channel that a release might be drawn from, with its expected effects.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import product
from math import nan, prod

import numpy as np

from anonymizer.channels import absolute, hamming, require_room, squared
from anonymizer.counts.columns import by_text
from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Interval, Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.privacy import PrivacyModel, acceptable
from anonymizer.tables import engine
from anonymizer.tables.values import is_missing, number_of, text_of

Key = tuple[str | None, ...]
"""A combination of values, as texts; None is a missing one."""


@dataclass(frozen=True, eq=False)
class Contingency:
    """The records of a table, by combination of quasi-identifiers and of sensitive values.

    ``records``, shape (n, strata): by combination of quasi-identifiers, a row, and of sensitive
    values, a stratum. ``values``: what each row is, a value per quasi-identifier. ``codes``: of
    each sensitive attribute the code of its value in each stratum, shape (strata,); ``known``: its
    values. ``row_of``, ``stratum_of``: where each row of the table is, shape (rows,), and
    ``row_sizes`` the records that it stands for; None where it is one.
    """

    schema: Schema
    records: Ints = field(repr=False)
    values: tuple[tuple[Hashable, ...], ...] = field(repr=False)
    codes: Mapping[str, Codes] = field(repr=False)
    known: Mapping[str, tuple[object, ...]] = field(repr=False)
    row_of: Codes = field(repr=False)
    stratum_of: Codes = field(repr=False)
    row_sizes: Ints | None = field(default=None, repr=False)

    @classmethod
    def of(cls, table: engine.Table, schema: Schema) -> "Contingency":
        """Count a table as it stands, its combinations in the order of their texts.

        So nothing depends on the order of the records but which of them gets what.
        """
        row_of, first = _numbered(table, schema.quasi_identifiers)
        stratum_of, at = _numbered(table, schema.sensitive)
        sensitive = {name: by_text(table[name]) for name in schema.sensitive}
        for name, (_, values) in sensitive.items() if schema.missing == "gap" else ():
            if any(map(is_missing, values)):
                raise InputError(
                    f"column {name!r} misses values, which a random recoding cannot take for gaps; "
                    'choose missing = "drop" or "category", or another recoding'
                )
        n, strata = len(first), len(at)
        require_room(
            f"the {n:,} combinations of quasi-identifiers by the {strata:,} of sensitive values",
            (n, strata),
        )
        records = engine.sized(table, row_of * strata + stratum_of, n * strata)
        return cls(
            schema,
            records.reshape(n, strata),
            tuple(_rows(table, schema.quasi_identifiers, first)),
            {name: codes[at] for name, (codes, _) in sensitive.items()},
            {name: values for name, (_, values) in sensitive.items()},
            row_of,
            stratum_of,
            engine.sizes_of(table),
        )

    @property
    def forgetting(self) -> "Contingency":
        """The combinations of quasi-identifiers alone."""
        none = np.zeros(0, np.intp)
        records = np.zeros((len(self.values), 0), np.int64)
        return Contingency(self.schema, records, self.values, {}, {}, none, none)

    @cached_property
    def keys(self) -> list[Key]:
        """The combinations as texts, one per row."""
        return [key_of(value) for value in self.values]

    def rows_of(self, keys: Iterable[Key]) -> Codes:
        """The row of each combination, -1 where there is none, shape (keys,)."""
        known = {key: row for row, key in enumerate(self.keys)}
        return np.array([known.get(key, -1) for key in keys], np.intp)

    @cached_property
    def sizes(self) -> Ints:
        """Records by row, shape (n,)."""
        return np.asarray(self.records.sum(axis=1))

    def joint(self, name: str, records: Ints | None = None) -> Ints:
        """Records by row and value of an attribute, shape (rows, values).

        Of these rows, or of others that are counted by the same strata.
        """
        records = self.records if records is None else records
        found = np.zeros((len(records), len(self.known[name])), np.int64)
        np.add.at(found.T, self.codes[name], records.T)
        return found

    @cached_property
    def margins(self) -> dict[str, Ints]:
        """Records of the whole table by value, shape (values,), of each sensitive attribute."""
        return {name: self.joint(name).sum(axis=0) for name in self.codes}

    def counts(self, by_symbol: Ints) -> Counts:
        """The classes that symbols make, from records by symbol and stratum.

        They are measured against the whole table, whether they are all of it or not.
        """
        return Counts(
            ("released",),
            np.arange(len(by_symbol), dtype=np.intp)[:, None],
            by_symbol.sum(axis=1),
            {name: self.joint(name, by_symbol) for name in self.codes},
            self.margins,
            int(self.sizes.sum()),
            self.known,
        )

    def acceptable(self, by_symbol: Ints, models: Sequence[PrivacyModel]) -> Mask:
        """Mark symbols that satisfy every model as classes, shape (symbols,)."""
        mask = np.ones(len(by_symbol), bool)
        occupied = by_symbol.sum(axis=1) > 0
        mask[occupied] = acceptable(self.counts(by_symbol[occupied]), models)
        return mask


def key_of(values: Sequence[Hashable]) -> Key:
    """A combination of values as texts, equal for values that read alike."""
    return tuple(None if is_missing(value) else text_of(value) for value in values)


def distinct(values: Sequence[Hashable]) -> tuple[list[Hashable], Codes]:
    """The distinct values, by their texts, and which one each is, shape (values,)."""
    keys = [key_of((value,)) for value in values]
    first = dict(reversed(list(zip(keys, values, strict=True))))
    number = {key: place for place, key in enumerate(first)}
    return list(first.values()), np.array([number[key] for key in keys], np.intp)


def _numbered(table: engine.Table, names: Sequence[str]) -> tuple[Codes, Codes]:
    """Number combinations in the order of their texts: numbers by row, and their first rows.

    Combinations that read alike are one. A single number where there are no columns.
    """
    if not names:
        return np.zeros(len(table.index), np.intp), np.zeros(1, np.intp)
    number_of, first = engine.grouped(table, names)
    # None does not compare with texts: missing values come last.
    keys = [
        tuple((text is None, text or "") for text in key_of(row))
        for row in _rows(table, names, first)
    ]
    earliest = dict(zip(reversed(keys), reversed(first.tolist()), strict=True))
    place = {key: number for number, key in enumerate(sorted(earliest))}
    number = np.array([place[key] for key in keys], np.intp)
    return number[number_of], np.array([earliest[key] for key in place], np.intp)


def _rows(
    table: engine.Table, names: Sequence[str], records: Codes
) -> Iterable[tuple[Hashable, ...]]:
    columns = [table[name].iloc[records].astype(object) for name in names]
    return zip(*columns, strict=True)


LEAST = 1e-50
"""How far apart numbers are at least and, inversely, at most: so that powers of them are floats."""

OF_NUMBERS = {"squared": squared, "absolute": absolute}
"""The distortions that are distances of numbers."""


@dataclass(frozen=True, eq=False)
class MaskedAttribute:
    """An attribute at the level that it was recoded to, and the kind of its distortion."""

    name: str
    taxonomy: Taxonomy
    partition: Partition
    kind: str

    @classmethod
    def of(
        cls,
        name: str,
        taxonomy: Taxonomy,
        partition: Partition,
        requested: str | None,
        noisy: bool = False,
    ) -> "MaskedAttribute":
        """An attribute with the distortion that was requested, or the one that suits its values.

        ``noisy``: numbers are meant as such whatever their hierarchy, since noise is added to them.
        """
        raw = partition is taxonomy.levels[0]
        places = taxonomy.numbers if raw and taxonomy.scale.numeric else None
        numbers = places is not None and None not in places
        measurable = numbers and _measurable(places or ())
        suits = "squared" if measurable and (taxonomy.ordered or noisy) else "hamming"
        kind = requested or suits
        if kind in OF_NUMBERS and not numbers:
            raise InputError(
                f"random recoding: distortion {kind!r} of {name!r} is for columns of numbers at "
                "level 0, without missing values; choose 'hamming' or 'hierarchy'"
            )
        if kind in OF_NUMBERS and not measurable:
            raise InputError(
                f"random recoding: the numbers of {name!r} are too large, too small or too near to "
                "each other for distances to tell them apart; choose distortion 'hamming' or "
                "'hierarchy'"
            )
        return cls(name, taxonomy, partition, kind)

    @property
    def numeric(self) -> bool:
        """Whether the distortion is a distance of numbers."""
        return self.kind in OF_NUMBERS

    def distances(self, values: Sequence[Hashable], symbols: Sequence[Hashable]) -> Floats:
        """Cost of each symbol for each value, shape (values, symbols)."""
        if self.kind == "hamming":
            return hamming(key_of(values), key_of(symbols))
        if self.kind == "hierarchy":
            return self._levels_apart(self._codes(values), self._codes(symbols))
        return OF_NUMBERS[self.kind](self.numbers(values), self.numbers(symbols))

    def numbers(self, values: Sequence[Hashable]) -> Floats:
        """Values as numbers, shape (values,)."""
        found = [number_of(value) for value in values]
        strange = sum(number is None or abs(number) > 1 / LEAST for number in found)
        self._require_none(strange, "are no numbers of a sensible size")
        return np.array(found, float)

    def _codes(self, labels: Sequence[Hashable]) -> Codes:
        found = [self._first.get(text, -1) for text in key_of(labels)]
        self._require_none(found.count(-1), "are not among the values of its hierarchy")
        return np.array(found, np.intp)

    def _require_none(self, strange: int, fault: str) -> None:
        if strange:
            raise InputError(
                f"random recoding: {plural(strange, 'symbol')} of the alphabet of {self.name!r} "
                f"{fault}, which its distortion is about"
            )

    def _levels_apart(self, left: Codes, right: Codes) -> Floats:
        """Levels, from the attribute's own, at which two values are in different groups."""
        apart = np.zeros((len(left), len(right)))
        for level in self.taxonomy.levels:
            apart += level.groups[left][:, None] != level.groups[right][None]
        below = [level is self.partition for level in self.taxonomy.levels].index(True)
        # Values of different groups are apart at every level below the attribute's own as well.
        return np.where(apart > 0, apart - below, 0)

    @cached_property
    def _first(self) -> Mapping[str | None, int]:
        """The first value code of each label."""
        if self.partition is self.taxonomy.levels[0]:
            return {text: code for code, text in enumerate(self.taxonomy.texts)}
        labels = [
            str(label) if isinstance(label, Interval) else label for label in self.partition.labels
        ]
        return dict(zip(key_of(labels), self.partition.first.tolist(), strict=True))


def _measurable(numbers: Sequence[Decimal | None]) -> bool:
    """Return whether squared distances of numbers are right to a thousandth.

    Floats have 53 bits: numbers of more digits, such as those of accounts, would seem the same, and
    to release one for the other would seem to cost nothing.
    """
    exact = sorted({number for number in numbers if number is not None})
    if len(exact) < 2:
        return True
    found = np.array([float(number) for number in exact])
    if not LEAST < found[-1] - found[0] < 1 / LEAST:
        return False
    if all(Decimal(near) == number for near, number in zip(found.tolist(), exact, strict=True)):
        return True
    return bool(np.diff(found).min() > 1000 * np.spacing(np.abs(found).max()))


def plain(number: float) -> int | float:
    """A number as it is released: whole ones without a point."""
    return int(number) if number == int(number) else float(number)


Symbol = tuple[Hashable, ...]

MOST_SYMBOLS = 1000
"""Combinations of values that one channel is sought for at once, in one block."""


@dataclass(frozen=True, eq=False)
class Block:
    """The records that agree on the attributes which are kept; each block has its own channel.

    That loses nothing: a symbol of one block can stand for records of no other. ``rows`` are those
    of the part's contingency table, shape (n,).
    """

    part: "Part"
    rows: Codes

    @property
    def values(self) -> list[Symbol]:
        """The combinations of values, one per row."""
        return [self.part.contingency.values[row] for row in self.rows]

    @property
    def records(self) -> Ints:
        """Records by row and stratum, shape (n, strata)."""
        return np.asarray(self.part.contingency.records[self.rows])

    @property
    def sizes(self) -> Ints:
        """Records by row, shape (n,)."""
        return np.asarray(self.part.contingency.sizes[self.rows])

    def joint(self, name: str) -> Ints:
        """Records by row and value of a sensitive attribute, shape (n, m)."""
        return self.part.contingency.joint(name, self.records)

    def with_kept(self, drawn: Sequence[Symbol]) -> list[Symbol]:
        """Combinations of drawn values, completed by what this block keeps."""
        names, kept = self.part.names, dict(zip(self.part.names, self.values[0], strict=True))
        chosen = [attribute.name for attribute in self.part.attributes]
        completed = (kept | dict(zip(chosen, values, strict=True)) for values in drawn)
        return [tuple(row[name] for name in names) for row in completed]

    def distances(
        self, symbols: Sequence[Symbol], values: Sequence[Symbol] | None = None
    ) -> Floats:
        """Cost of each symbol for each value (of the block unless given), shape (n, k)."""
        values = self.values if values is None else values
        total = np.zeros((len(values), len(symbols)))
        for attribute in self.part.attributes:
            place = self.part.names.index(attribute.name)
            left, of_row = distinct([row[place] for row in values])
            right, of_symbol = distinct([row[place] for row in symbols])
            cost = attribute.distances(left, right) / self.part.scale[attribute.name]
            total += cost[np.ix_(of_row, of_symbol)]
        return total


@dataclass(frozen=True, eq=False)
class Part:
    """Attributes that are drawn together.

    ``contingency``: the records by the values of these, and of the attributes kept with them.
    """

    contingency: Contingency = field(repr=False)
    attributes: tuple[MaskedAttribute, ...] = field(repr=False)

    @property
    def forgetting(self) -> "Part":
        """The part without records: what its rows are, and what its distances are divided by."""
        part = replace(self, contingency=self.contingency.forgetting)
        part.__dict__["scale"] = self.scale  # where cached_property looks first
        return part

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes of the channel."""
        return self.contingency.schema.quasi_identifiers

    @cached_property
    def blocks(self) -> list[Block]:
        """One for each combination of values that are kept."""
        drawn = {attribute.name for attribute in self.attributes}
        kept = [place for place, name in enumerate(self.names) if name not in drawn]
        rows = defaultdict(list)
        for row, key in enumerate(self.contingency.keys):
            rows[tuple(key[place] for place in kept)].append(row)
        return [Block(self, np.array(some, np.intp)) for some in rows.values()]

    def values_of(self, name: str) -> tuple[list[Hashable], Codes]:
        """The distinct values of an attribute, and which one each row has, shape (n,)."""
        place = self.names.index(name)
        return distinct([value[place] for value in self.contingency.values])

    @cached_property
    def scale(self) -> Mapping[str, float]:
        """Divisor of the distortion of each attribute.

        Of a single one nothing; of several the least cost of one value for everybody, so that
        losing an attribute costs 1.
        """
        if len(self.attributes) == 1:
            return {self.attributes[0].name: 1.0}
        lost = {}
        for attribute in self.attributes:
            values, of_row = self.values_of(attribute.name)
            sizes = np.bincount(of_row, weights=self.contingency.sizes)
            require_room(f"the distances of the values of {attribute.name!r}", (len(values),) * 2)
            least = float((sizes @ attribute.distances(values, values)).min() / sizes.sum())
            lost[attribute.name] = least or 1.0
        return lost

    def combinations(self, alphabets: Mapping[str, Sequence[Hashable]]) -> list[Symbol]:
        """All combinations of symbols of each drawn attribute."""
        each = [alphabets[attribute.name] for attribute in self.attributes]
        self.require_few(prod(len(symbols) for symbols in each))
        return list(product(*each))

    def require_few(self, symbols: int | None = None) -> None:
        """Require that a channel is sought for no more combinations than can be.

        Of the values of each block unless a number of symbols is given.
        """
        if symbols is None:
            symbols = max(len(block.rows) for block in self.blocks)
        if symbols > MOST_SYMBOLS:
            named = ", ".join(attribute.name for attribute in self.attributes)
            raise InputError(
                f"random recoding: {named} have {symbols:,} combinations of values, beyond the "
                f"{MOST_SYMBOLS:,} that one channel is sought for; choose coarser levels or fewer "
                "attributes, or set jointly = false"
            )


TRACE = 2.0**-36
"""Chances below are none: they are less than what draws resolve."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A channel of one block: q(y|x), shape (n, k), of k symbols, combinations of values.

    No channel that satisfies the same models has an expected distortion below ``lower_bound``; NaN
    where that is not known.
    """

    block: Block
    matrix: Floats
    symbols: list[Symbol]
    lower_bound: float = nan


@dataclass(frozen=True, eq=False)
class CandidateChannel:
    """A channel of all blocks of a part: q(y|x) and d(x, y), shape (rows, symbols).

    Both are 0 between blocks. ``lower_bound``: as of a piece, over all of them. ``margin``: the
    share of the way from the limits of the policy to no information at all that was kept free; None
    where there is no such thing.
    """

    part: Part = field(repr=False)
    matrix: Floats = field(repr=False)
    distances: Floats = field(repr=False)
    symbols: list[Symbol] = field(repr=False)
    lower_bound: float
    margin: float | None

    @property
    def expected(self) -> Floats:
        """Expected records by symbol and stratum, shape (symbols, strata)."""
        return np.asarray(self.matrix.T @ self.part.contingency.records)

    @property
    def distortion(self) -> float:
        """E d(X, Y) over the records."""
        sizes = self.part.contingency.sizes
        return float(sizes @ (self.matrix * self.distances).sum(axis=1) / sizes.sum())


def assembled(
    part: Part, pieces: Sequence[Piece], margin: float | None = None, exact: bool = False
) -> CandidateChannel:
    """The channel that the pieces of all blocks make.

    ``exact``: with all of its chances, however small, since an epsilon was promised of them.
    """
    rows = len(part.contingency.values)
    matrix = np.zeros((rows, sum(len(piece.symbols) for piece in pieces)))
    distances = np.zeros_like(matrix)
    symbols: list[Symbol] = []
    for piece in pieces:
        columns = np.arange(len(symbols), len(symbols) + len(piece.symbols))
        place = np.ix_(piece.block.rows, columns)
        # Chances that are never drawn would count for an epsilon.
        chances = piece.matrix if exact else np.where(piece.matrix < TRACE, 0.0, piece.matrix)
        matrix[place] = chances if exact else chances / chances.sum(axis=1, keepdims=True)
        distances[place] = piece.block.distances(piece.symbols)
        symbols += piece.symbols
    share = np.array([piece.block.sizes.sum() for piece in pieces]) / part.contingency.sizes.sum()
    bound = float(share @ [piece.lower_bound for piece in pieces])
    return CandidateChannel(part, matrix, distances, symbols, bound, margin)


def without_rare(piece: Piece, least: float) -> Piece:
    """A channel whose symbols are released too rarely for others instead: for the nearest ones.

    The rarest first, until each is expected at least so often, or one is left. Whatever is done to
    a released symbol knowing it alone discloses no more about who has it.
    """
    number: dict[Key, int] = {}  # symbols that read alike are one
    columns = [number.setdefault(key_of(symbol), len(number)) for symbol in piece.symbols]
    symbols = [piece.symbols[columns.index(column)] for column in number.values()]
    matrix = np.zeros((len(piece.matrix), len(number)))
    np.add.at(matrix.T, columns, piece.matrix.T)
    apart = piece.block.distances(symbols, symbols)
    expected = piece.block.sizes @ matrix
    left = np.ones(len(symbols), bool)
    while left.sum() > 1:
        rarest = int(np.where(left, expected, np.inf).argmin())
        if expected[rarest] >= least:
            break
        left[rarest] = False
        nearest = int(np.where(left, apart[rarest], np.inf).argmin())
        matrix[:, nearest] += matrix[:, rarest]
        expected[nearest] += expected[rarest]
    return Piece(piece.block, matrix[:, left], [symbols[place] for place in np.flatnonzero(left)])
