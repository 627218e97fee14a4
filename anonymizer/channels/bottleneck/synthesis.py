"""Synthetic key attributes of a limited rate: the values themselves."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.channels.bottleneck.bottlenecks import information_bottleneck, synthetic
from anonymizer.errors import InputError

Values = Sequence[Hashable] | NDArray[np.generic] | pd.Series


def synthetic_values(
    values: Values,
    sensitive: Values,
    *,
    rate_limit: float,
    rng: np.random.Generator,
    unit: str = "bits",
) -> pd.Series:
    """Synthetic values X' of a category X that tell of W, with I(X';X) limited.

    Model 4 of Domingo-Ferrer and Rebollo-Monedero (2009), section 5. Its symbol T has the most
    I(T;W) at the rate, by the bottleneck of the records' own counts. A value is drawn for each
    record through T alone (:func:`synthetic`): I(X';X) and I(X';W) are at most those of T, and
    mostly less. The margin of X is kept on average, and only values that occur are drawn. For
    numbers of normal law see :func:`gaussian_bottleneck`.

    Parameters
    ----------
    values, sensitive
        X and W of each record, shape (records,). A missing value is a value of its own.
    rate_limit
        The most I(T;X), and so I(X';X), of the law that values are drawn from, in ``unit``; those
        of a sample of few records may be more.
    rng
        Where values are drawn from.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    Series of shape (records,)
        With the index of ``values``, if it has one, and its name and type.

    Raises
    ------
    InputError
        When the columns differ in length or are empty, or the limit is no number of at least 0.
    """
    x, w = pd.Series(values), pd.Series(sensitive)
    if len(x) != len(w) or not len(x):
        raise InputError(f"{len(x)} values and {len(w)} sensitive ones: as many, and some")
    codes, names = pd.factorize(x, use_na_sentinel=False)
    about = pd.factorize(w, use_na_sentinel=False)[0]
    counts = np.zeros((len(names), int(about.max()) + 1))
    np.add.at(counts, (codes, about), 1)
    found = information_bottleneck(counts, rate_limit=rate_limit, unit=unit)
    drawn = synthetic(found, codes, rng)
    first = np.unique(codes, return_index=True)[1]
    return x.iloc[first[drawn]].set_axis(x.index)
