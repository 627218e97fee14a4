"""Risk of small tables, given column by column as papers print them."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from anonymizer.privacy.query_loss import together
from anonymizer.risk import Inference, Reidentification

Values = Sequence[Hashable]


def reidentification(*known: Values) -> Reidentification:
    """The records at risk, for an attacker who knows columns of shape (records,)."""
    return Reidentification.of(np.bincount(together(*known)))


def inference(at_risk: Values, *known: Values) -> Inference:
    """A column at risk, for an attacker who knows others; all of shape (records,)."""
    return Inference.tallied(together(*known), pd.factorize(pd.Series(list(at_risk)))[0])
