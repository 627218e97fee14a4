"""Figures 1 to 4 of Bezzi (2010) as series of bars, in bits."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.papers.series import Column, PlottedSeries


def bars_of(
    axis: str,
    labels: Sequence[str],
    measures: Mapping[str, ArrayLike],
    limits: Mapping[str, float] | None = None,
) -> PlottedSeries:
    """One group of bars for each label, a bar for each measure, and the limits of measures."""
    columns = [
        Column(name, name, np.asarray(values, float).tolist(), "bits")
        for name, values in measures.items()
    ]
    return PlottedSeries(
        [Column(axis, axis, list(labels))], columns, axis, form="bars", limits=limits or {}
    )
