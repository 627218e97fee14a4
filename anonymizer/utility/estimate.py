"""Estimates from a release on disk: its table, and the channels that its manifest describes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from anonymizer.channels import (
    Channel,
    Estimate,
    Mean,
    estimate_margin,
    estimate_mean,
    estimate_table,
    require_room,
)
from anonymizer.errors import InputError, did_you_mean
from anonymizer.hierarchy import Partition
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.release.files import MANIFEST, home_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.place import Place
from anonymizer.release.relations import counted_in
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import release_format
from anonymizer.tables.values import number_of, rank, texts_of


@dataclass(frozen=True, eq=False)
class FileEstimate:
    """What a release reveals of its records before some of their attributes were masked.

    ``mean`` is that of the attribute, without bias, where its values are numbers and it is
    estimable; None elsewhere.
    """

    of: str  # the attribute that the rows are about
    by: str | None  # that of the columns, None for a margin
    estimate: Estimate  # values are texts, None for a missing one
    mean: Mean | None

    def to_dict(self) -> dict[str, object]:
        """The estimate as JSON holds it: a row for every value, or pair of values."""
        found = self.estimate
        fit, errors = found.likelihood, None
        if found.standard_errors is not None:
            errors = "independent draws" + (", upper bounds" if found.upper else "")
        return {
            "of": self.of,
            "with": self.by,
            "records": found.records,
            "method": found.method,
            "identified": found.identified,
            "negative": found.negative,
            "standard_errors": errors,
            "log_likelihood_gap": fit and fit.gap,
            "converged": fit and fit.converged,
            "mean": self.mean
            and {"estimate": self.mean.value, "standard_error": self.mean.standard_error},
            "estimates": [self._row(place) for place in np.ndindex(found.shares.shape)],
        }

    def _row(self, place: tuple[int, ...]) -> dict[str, object]:
        found, share = self.estimate, float(self.estimate.shares[place])
        errors = found.standard_errors
        return {
            "value": found.values[place[0]],
            **({} if found.others is None else {"with": found.others[place[1]]}),
            "count": share * found.records,
            "share": share,
            "standard_error": None if errors is None else float(errors[place]),
        }


def estimate_file(
    release: Path, of: str, by: str | None = None, method: str = "unbiased"
) -> FileEstimate:
    """Estimate the margin of an attribute of a release, or its table with another one.

    ``release`` is where the released table and ``release.json`` lie, or that table. The attribute
    ``of`` was masked, alone or together with others; ``by`` may be masked or not. The ``method`` is
    as of :func:`anonymizer.channels.estimate_margin`.

    Raises InputError when the release cannot be read, the channels are withheld or damaged, the
    attribute was not masked, or the channel does not identify what is requested.
    """
    if by == of:
        raise InputError(f"the estimate is of {of!r} already; name another attribute for the table")
    masked = _Masked.at(release, (of,) if by is None else (of, by))
    home, other = masked.home(of), masked.home(by)
    if home is None:
        hint = did_you_mean(of, [name for names in masked.channels for name in names])
        raise InputError(
            f"column {of!r} was not masked at random, so that what was released of it needs no "
            f"estimate{hint}"
        )
    if by is None or other == home:
        return _margin(masked, home, of, by, method)
    return FileEstimate(of, by, _table(masked, home, of, by, method), None)


@dataclass(frozen=True, eq=False)
class _Masked:
    """A masked release on disk, counted, and its channels by the attributes they masked."""

    path: Path
    channels: Mapping[tuple[str, ...], Channel]
    table: Tally

    @classmethod
    def at(cls, release: Path, names: Sequence[str]) -> "_Masked":
        """Count a release by all attributes of the channels that some columns take part in."""
        manifest = Manifest.read(home_of(release) / MANIFEST)
        channels, path = manifest.channels, manifest.table_at(release)
        form = release_format(path, manifest.file[1].separator)
        together = [name for each in channels if {*each} & {*names} for name in each]
        needed = tuple(dict.fromkeys([*names, *together]))
        with Place(path, form).opened(needed) as stored:
            return cls(path, channels, counted_in(stored, needed, form)[1])

    def home(self, name: str | None) -> tuple[str, ...] | None:
        """The attributes that one was masked together with."""
        return next((names for names in self.channels if name in names), None)

    def labels(self, names: tuple[str, ...]) -> Codes:
        """Which label of a channel each row has, shape (rows,)."""
        channel = self.channels[names]
        place = {label: code for code, label in enumerate(channel.labels)}
        group, first = engine.grouped(self.table, names)
        texts = zip(*(texts_of(self.table[name].iloc[first]) for name in names), strict=True)
        codes = np.array([place.get(each, -1) for each in texts], np.intp)[group]
        if (codes < 0).any():
            raise InputError(
                f"{engine.records_in(self.table, codes < 0)} records of {self.path} hold values of "
                f"{', '.join(names)} that {MANIFEST} does not list as labels of their channel"
            )
        return codes


def _margin(
    masked: _Masked, home: tuple[str, ...], of: str, by: str | None, method: str
) -> FileEstimate:
    """Of one attribute, or of two that were masked together."""
    channel = masked.channels[home]
    counts = engine.sized(masked.table, masked.labels(home), len(channel.labels))
    if by is not None:
        pairs = _groups(channel, home, of, by)
        found = estimate_margin(channel, counts, groups=pairs, method=method)
        return FileEstimate(of, by, _as_table(found), None)
    groups = _groups(channel, home, of)
    found = estimate_margin(channel, counts, groups=groups, method=method)
    return FileEstimate(of, None, found, _mean(found, channel, groups, counts))


def _table(masked: _Masked, home: tuple[str, ...], of: str, by: str, method: str) -> Estimate:
    """Of two attributes, the second masked by itself or released as it was."""
    if method == "invariant":
        raise InputError(
            "an invariant channel leaves margins alone, but not the table of an attribute with "
            "another one; take the unbiased method, or maximum-likelihood"
        )
    channel, other = masked.channels[home], masked.home(by)
    rows, groups = masked.labels(home), _groups(masked.channels[home], home, of)
    if other is None:
        group, first = engine.grouped(masked.table, [by])
        texts = texts_of(masked.table[by].iloc[first])
        names = sorted(set(texts), key=rank)
        columns = np.array([names.index(text) for text in texts], np.intp)[group]
        counts = _crossed(masked, rows, len(channel.labels), columns, len(names))
        return estimate_table(channel, counts, groups=groups, method=method, columns=names)
    second = masked.channels[other]
    columns = masked.labels(other)
    counts = _crossed(masked, rows, len(channel.labels), columns, len(second.labels))
    others = _groups(second, other, by)
    return estimate_table(
        channel, counts, second, groups=groups, other_groups=others, method=method
    )


def _groups(channel: Channel, home: tuple[str, ...], *names: str) -> Partition:
    """The values of a channel, summed by some of its attributes."""
    places = [home.index(name) for name in names]
    keys = [tuple(value[place] for place in places) for value in channel.values]  # type: ignore[index]
    return Partition.of([key[0] for key in keys] if len(names) == 1 else keys)


def _as_table(found: Estimate) -> Estimate:
    """A margin of pairs as a table; pairs that no value of the channel is have no records."""
    rows, columns = (Partition.of([pair[end] for pair in found.values]) for end in (0, 1))  # type: ignore[index]
    where = rows.groups, columns.groups
    shares = np.zeros((len(rows), len(columns)))
    shares[where] = found.shares
    errors = None
    if found.standard_errors is not None:
        errors = np.zeros_like(shares)
        errors[where] = found.standard_errors
    named = replace(found, values=rows.labels, others=columns.labels, covariance=None)
    return replace(named, shares=shares, standard_errors=errors)


def _mean(found: Estimate, channel: Channel, groups: Partition, counts: Codes) -> Mean | None:
    """The unbiased mean of an attribute of numbers; None where there is none."""
    numbers = [number_of(value) for value in found.values]
    if any(number is None for number in numbers):
        return None
    f = np.array(numbers, float)
    if found.method == "invariant" and found.covariance is not None:
        variance = max(float(f @ found.covariance @ f), 0.0)
        return Mean(float(f @ found.shares), variance**0.5, found.upper)
    try:
        return estimate_mean(channel, f[groups.groups], counts)
    except InputError:
        return None


def _crossed(masked: _Masked, rows: Codes, labels: int, columns: Codes, others: int) -> Ints:
    """How many records have each pair of codes, shape (labels, others)."""
    require_room("the table of both attributes", (labels, others))
    return engine.sized(masked.table, rows * others + columns, labels * others).reshape(
        labels, others
    )
