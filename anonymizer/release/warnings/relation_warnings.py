"""Warnings about other columns, and the order, of a table that is counted where it lies."""

from collections.abc import Iterable, Iterator, Sequence

from anonymizer.counts.counts import Counts
from anonymizer.recoding.recoding import Outcome
from anonymizer.release.warnings.column_warnings import order_warnings
from anonymizer.release.warnings.warnings import ReleaseWarning
from anonymizer.tables.engine import Tally
from anonymizer.tables.relations.relation import Relation

LOOKED_AT = 1 << 14
"""Records that are looked at for their order, at the most, evenly spread."""


def relation_warnings(
    relation: Relation,
    left: Tally,
    outcome: Outcome,
    raw: Counts,
    others: Sequence[str],
    ordered: Iterable[str],
) -> Iterator[ReleaseWarning]:
    """The warnings of ``column_warnings`` and ``order_warnings``.

    ``left``: the tally of the records that are released, as the table has them; ``outcome``: what
    is released of them; ``raw``: their counts. ``others``: columns without a role. ``ordered``:
    columns that the release does not show as they are.
    """
    names = [name for name in ordered if name in relation.columns]
    records = relation.spread(names, LOOKED_AT)
    if records is not None:
        yield from order_warnings(records, names)
