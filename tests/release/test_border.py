"""What arrives at the border of the channels and the classical methods: one clear line each."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from anonymizer import TCloseness
from anonymizer import channels as p
from anonymizer.channels import classical as c
from anonymizer.errors import InputError, shown

JOINT = np.array([[4.0, 1.0], [2.0, 3.0], [1.0, 4.0]])
COSTS = p.squared([1.0, 2.0, 3.0])
BLUR = p.Channel(np.array([[0.8, 0.2], [0.3, 0.7]]), ("a", "b"), ("a", "b"))
FRAME = pd.DataFrame({"age": [31.0, 47.0, 58.0, 62.0]})
HUGE = 10**400
TABLE = pd.DataFrame({"disease": [1234.5, 2.0]})
GAUSSIAN = p.GaussianModel.of_scalar(0.0, 1.0, 0.5).mechanism(distortion_limit=0.3)


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: p.privacy_distortion([[HUGE, 1]], [[0]], slope=1), "joint holds values that"),
        (lambda: p.privacy_distortion(JOINT * 1e200, COSTS, slope=1), "joint holds numbers above"),
        (lambda: p.privacy_distortion([["1", "2"]], [[0]], slope=1), "joint must be a matrix of n"),
        (lambda: p.privacy_distortion([[True, False]], [[0]], slope=1), "numbers, not bool"),
        (lambda: p.privacy_distortion([[1j, 2]], [[0]], slope=1), "numbers, not complex128"),
        (lambda: p.privacy_distortion([[1, 2], [3]], [[0]], slope=1), "as many in every row"),
        (lambda: p.privacy_distortion([[None, 2]], [[0]], slope=1), "numbers, not object"),
        (
            lambda: p.privacy_distortion(np.ma.masked_array(JOINT, JOINT == 4), COSTS, slope=1),
            "joint holds values that are no finite numbers",
        ),
        (lambda: p.privacy_distortion(JOINT, COSTS, slope=TABLE), "slope = DataFrame must be a"),
        (
            lambda: p.privacy_distortion(JOINT, COSTS, slope=HUGE),
            "slope = a number too l",
        ),
        (lambda: p.privacy_distortion(JOINT, COSTS, slope=1, unit=[]), "unit = list is none of"),
        (lambda: p.privacy_distortion(JOINT, COSTS, slope=1, method={}), "method = dict is unk"),
        (lambda: p.privacy_distortion_curve(JOINT, COSTS, slopes=3j), "slopes must hold numbers"),
        (lambda: p.privacy_distortion_curve(JOINT, COSTS, points=HUGE), "points = a number too l"),
        (
            lambda: p.private_channel(JOINT, COSTS * 1e200, [TCloseness(1, "kl")]),
            "numbers above 1e",
        ),
        (
            lambda: p.private_channel(JOINT, COSTS, [TCloseness(1, "kl")], invariant=2),
            "True or False",
        ),
        (
            lambda: p.private_channel(JOINT, COSTS, [TCloseness(1, "kl")], values=3),
            "values must be a l",
        ),
        (lambda: p.private_channel(JOINT, COSTS, [TCloseness(1, "kl")], tolerance=2), "at most 1"),
        (
            lambda: p.least_distortion([], COSTS, [TCloseness(1, "kl")]),
            "sensitive must be a list of Se",
        ),
        (
            lambda: p.least_distortion([p.Sensitive.of(JOINT)], COSTS, [TCloseness(1, "kl")], 3),
            "extras must be Extras",
        ),
        (lambda: p.information_bottleneck(JOINT, beta=1e308), "beta = 1e.308 must be .* at most"),
        (lambda: p.information_bottleneck(JOINT, beta=2, restarts=1, rng=1), "rng must be a gen"),
        (lambda: p.synthetic(BLUR, [0], None, decoder=np.eye(2)), "rng must be a generator"),
        (lambda: GAUSSIAN.apply([1.0], 3), "rng must be a generator"),
        (lambda: p.gaussian_rate(HUGE, 1.0), "distortion = a number too large must be a finite"),
        (lambda: p.estimate_margin(np.eye(2), [1, 2]), "channel must be a Channel"),
        (lambda: p.estimate_margin(BLUR, [1, 2], groups=3), "groups must be a Partition"),
        (lambda: p.estimate_margin(BLUR, [1e308, 1e308]), "counts must add up to"),
        (lambda: p.estimate_table(BLUR, [[1, 2], [3]]), "counts must be a list or a matrix"),
        (lambda: p.estimate_table(BLUR, [[1], [3]], columns=3), "columns must be a list of names"),
        (lambda: p.estimate_mean(BLUR, [1e200, 1], [1, 2]), "f holds numbers above"),
        (lambda: p.described(np.eye(2), ["a"]), "channel must be a Channel"),
        (lambda: p.channels_of([1]), "masking must be what release.json describes, not list"),
        (lambda: p.Channel(np.eye(2), None, ("a", "b")), "values of a channel must be a tuple"),
        (lambda: p.hamming(3), "hamming distortion needs lists"),
        (lambda: p.hierarchical([1]), "hierarchical distortion needs a Taxonomy, not list"),
        (lambda: p.best_ranges(JOINT, ["1", "2", "3"]), "ranges are of numbers"),
        (lambda: p.default_alphabet(JOINT, [1, 2, 3], slopes=object()), "slopes must hold numbers"),
        (lambda: p.probabilistic_loss([1, 2, 3, 4], [1, 2], quantiles=None), "quantiles must hold"),
        (lambda: p.probabilistic_loss([1, 2, 3, 4], [1, 2], population=[]), "True or False"),
        (lambda: c.microaggregation(FRAME["age"], 2), "a DataFrame of numbers is needed"),
        (lambda: c.rank_swapping(FRAME["age"], 50, rng()), "a DataFrame of numbers is needed"),
        (lambda: c.additive_noise(FRAME, HUGE, rng()), "share = a number too large must be"),
        (lambda: c.additive_noise(FRAME, TABLE, rng()), "share = DataFrame must be"),
        (lambda: c.rounding(FRAME["age"], 1e-320), "too small compared with the numbers"),
        (lambda: c.random_rounding(FRAME["age"], 5, rng(), controlled=[]), "controlled must be"),
        (lambda: c.correlated_noise(FRAME, 0.1, rng(), corrected=None), "corrected must be"),
        (lambda: c.pram(FRAME["age"], [[1, 2], [3]], rng()), "matrix must be a matrix of numbers"),
        (lambda: c.random_channel("ab", rng()), "there are no values to be randomized"),
        (lambda: c.invariant_channel(np.eye(2), [1, 2]), "channel must be a Channel"),
    ],
)
def test_is_refused_in_one_line(call, why):
    with pytest.raises(InputError, match=why) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert "1234" not in str(caught.value)


def test_numbers_of_any_kind_are_welcome():
    exact = [[Fraction(4), 1], [2, Fraction(6, 2)], [1, 4]]
    for joint in (exact, JOINT.astype(np.uint8), pd.DataFrame(JOINT), np.array(exact, object)):
        assert np.array_equal(p.JointLaw.of(joint).joint, JOINT / 15)


def test_no_tolerance_is_too_small():
    for found in p.privacy_distortion_curve(JOINT, COSTS, points=3, tolerance=1e-300):
        assert 0 <= found.gap <= 1e-12


def test_what_a_message_repeats():
    assert shown(None) == "None"
    assert shown(True) == "True"
    assert shown(FRAME) == "DataFrame"
    assert shown("x" * 1000) == "a text of 1000 letters"
    assert shown(10**5000) == shown(-(10**5000)) == "a number too large"
