"""Synthetic values of an attribute, drawn for the symbols that a channel releases.

Problem 4 of Domingo-Ferrer and Rebollo-Monedero (2009) gives key attributes that say as much of the
confidential one as a rate allows; what they look like does not matter to it, since a symbol is only
a name. To release values of X again, one is drawn for each symbol from p(x|t).
"""

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.bottleneck.bottlenecks import Bottleneck
from anonymizer.channels.channel import Channel, drawn, require_stochastic
from anonymizer.channels.validation import numbers_of, require_generator
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes


def synthetic(
    channel: Bottleneck | Channel | ArrayLike,
    codes: ArrayLike,
    rng: np.random.Generator,
    *,
    decoder: ArrayLike | None = None,
) -> Codes:
    """Values x' for records of values x: t drawn from q(t|x), then x' from p(x'|t).

    X' is drawn knowing T alone: X' - T - X - W is a Markov chain, and data processing gives
    I(X';X) <= I(T;X) and I(X';W) <= I(T;W). The limit on the rate that the channel keeps is kept by
    X'; of the relevance some is lost, unless symbols distinguish all values. With the
    decoder of a bottleneck, which is Bayes' p(x|t), the margin of X' is that of X, and the joint
    law of X' and W is sum_t p(t) p(x'|t) p(w|t).

    Parameters
    ----------
    channel
        A bottleneck, or q(t|x), shape (n, k).
    codes
        Which row of the channel each record has, shape (records,).
    decoder
        p(x'|t), shape (k, values): needed where the channel is not a bottleneck, which has one.

    Returns
    -------
    array of shape (records,)
        Columns of the decoder: for a bottleneck's own, codes of X.

    Raises
    ------
    InputError
        When the codes are none of the channel's rows, or a matrix is not stochastic.
    """
    require_generator(rng)
    if isinstance(channel, Bottleneck):
        forward, backward = channel.channel, channel.decoder if decoder is None else decoder
    elif decoder is None:
        raise InputError("a channel that is no bottleneck needs a decoder p(x'|t) to draw values")
    else:
        given = channel.matrix if isinstance(channel, Channel) else channel
        forward, backward = require_stochastic(given), decoder
    back = require_stochastic(backward)
    if len(back) != forward.shape[1]:
        raise InputError(
            f"decoder has {len(back)} rows, but the channel has {forward.shape[1]} symbols"
        )
    rows = numbers_of("codes", codes)
    if rows.ndim != 1 or (rows != np.rint(rows)).any():
        raise InputError("codes must be a list of whole numbers: rows of the channel")
    if rows.size and not (rows.min() >= 0 and rows.max() < len(forward)):
        raise InputError(f"codes must be rows of the channel, from 0 to {len(forward) - 1}")
    return drawn(back, drawn(forward, rows.astype(np.intp), rng), rng)
