"""Channels that see the sensitive value: a bound on what any recoding can reach.

Rebollo-Monedero, Forne and Domingo-Ferrer (2008), section 3.2, leave p(y|w,x) aside for simplicity.
"""

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.source import require_distortion
from anonymizer.channels.validation import matrix_of, require_room
from anonymizer.kernels.arrays import Floats


def seeing(joint: ArrayLike, distortion: ArrayLike) -> tuple[Floats, Floats]:
    """The joint law and distortion of channels q(y|x,w), for :func:`privacy_distortion`.

    What is recoded is the pair (x, w), which is known to hold w, and costs what x does. No recoding
    of X alone, deterministic or random, leaks less at the same distortion: its channel is one of
    these, which does not look at w. They are for measuring. Y may depend on W given X, so that
    I(W;Y) may exceed I(W;X), and who fits one to a table of few records fits it to single people.

    Parameters
    ----------
    joint, distortion
        p(x, w) or counts, shape (n, m), and d(x, y) of at least 0, shape (n, k).

    Returns
    -------
    pairs, costs
        Shapes (n m, m) and (n m, k): the pairs of the first x, then of the second.

    Raises
    ------
    InputError
        As :func:`privacy_distortion` does.

    Examples
    --------
    >>> from anonymizer.channels import privacy_distortion
    >>> law, flips = [[4, 1], [1, 4]], [[0, 1], [1, 0]]
    >>> round(privacy_distortion(law, flips, distortion_limit=0.25).leakage, 6)
    0.065932
    >>> round(privacy_distortion(*seeing(law, flips), distortion_limit=0.25).leakage, 6)
    0.007226
    """
    law = matrix_of("joint", joint)
    costs = require_distortion(distortion, "joint", len(law))
    n, m = law.shape
    require_room(f"pairs of {n} values and {m} sensitive ones", (n * m, m), (n * m, costs.shape[1]))
    pairs = np.zeros((n, m, m))
    pairs[:, np.arange(m), np.arange(m)] = law
    return pairs.reshape(n * m, m), np.repeat(costs, m, axis=0)
