"""Sections 2 and 3: privacy models, distortion and risk, and the privacy-distortion function."""

from collections.abc import Callable
from itertools import product

import numpy as np

from anonymizer.channels import hamming, privacy_distortion, rate_distortion, squared
from anonymizer.counts.counts import Classes
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.rebollo2008.grid import SHARES, Grid, slope_of
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.privacy import DistinctLDiversity, KAnonymity, TCloseness

SAME = 1e-9
SMALL = Grid(5)
"""Of which all 3,125 deterministic quantizers can be tried."""
LAW = SMALL.joint
TRADEOFF = "anonymizer.channels.privacy_distortion"


def definitions() -> list[PublishedSection]:
    """Check what both sections define and say."""
    return [_models(), _problem(), _rates()]


def _models() -> PublishedSection:
    """The models by the classes that they are about."""
    alike = Classes(np.array([[3, 0], [1, 2]]), np.array([4, 2]))
    skewed = Classes(np.array([[5, 5], [0, 90]]), np.array([5, 95]))
    k, p, t = KAnonymity(3), DistinctLDiversity(2), TCloseness(0.5, distance="kl")
    rows = [
        Row.claim(
            "k-anonymity does not prevent that all k records share a confidential value",
            k.measure(alike).min() >= 3 and p.measure(alike).min() == 1,
            f"classes of {alike.sizes.tolist()} records, with "
            f"{p.measure(alike).astype(int).tolist()} confidential values",
            "it may fail to protect",
            "classes [3, 0] and [1, 2]",
            where="anonymizer.KAnonymity",
        ),
        Row.claim(
            "p-sensitive k-anonymity: p different values in each class",
            p.measure(alike).tolist() == [1, 2],
            f"{p.measure(alike).astype(int).tolist()} values: the first class breaks p = 2",
            "at least p different values",
            where="anonymizer.DistinctLDiversity",
        ),
        Row.claim(
            "skewness attack: p-sensitive classes may differ from the table",
            bool(p.measure(skewed)[0] == 2 and t.measure(skewed)[0] > 0.5),
            f"a class of two values whose law is {t.measure(skewed)[0]:.6f} bits from that of all",
            "an intruder may learn confidential information",
            "half of a class have what 5 of 100 have",
            where="anonymizer.EntropyLDiversity",
        ),
        Row.claim(
            "t-closeness thwarts skewness to the extent of t",
            bool(t.measure(skewed).max() > t.t),
            f"t = {t.t} is broken by {t.measure(skewed).max():.6f} bits",
            "no more than a threshold t",
            where="anonymizer.TCloseness",
        ),
        Row(
            "Figure 1: perturbation of key attributes",
            "a sketch without numbers",
            remark="key attributes are perturbed, confidential ones released as they are",
            place="Figure 1",
            where="anonymizer.Anonymizer",
        ),
    ]
    return PublishedSection("Section 2: privacy models", rows, place="Section 2")


def _problem() -> PublishedSection:
    """Risk and distortion, and what is minimised."""
    grid, rng = Grid(9), np.random.default_rng(1)
    channel = rng.dirichlet(np.full(9, 0.5), 9)
    law = grid.joint.T @ channel
    prior, released = law.sum(axis=1), law.sum(axis=0)
    posterior = law / released
    risk = float(released @ (posterior * np.log(posterior / prior[:, None])).sum(axis=0))
    other = law / prior[:, None]
    swapped = float(prior @ (other * np.log(other / released)).sum(axis=1))
    alone = np.outer(np.ones(9), released)
    distortion = float(grid.p @ (channel * squared(grid.x)).sum(axis=1))
    drawn = (grid.p[:, None] * channel * (grid.x[:, None] - grid.x) ** 2).sum()
    known = float(grid.risk(np.eye(9)))
    rows = [
        Row.claim(
            "D = E d(X, X^), the mean square error for squared differences",
            abs(distortion - drawn) < SAME,
            f"{distortion:.6f} both ways",
            "a measure of utility",
            "of a random channel on 9 samples",
            where="anonymizer.channels.squared",
        ),
        Row.claim(
            "R = D(p(W|X^) || p(W)) = I(W;X^)",
            abs(risk - grid.risk(channel)) < SAME,
            f"{risk:.6f} both ways",
            "coincides",
            where="anonymizer.information.entropy.mutual_information",
        ),
        Row.claim(
            "the same with W and X^ exchanged",
            abs(risk - swapped) < SAME,
            f"{swapped:.6f}",
            "equivalently",
            where="anonymizer.information.entropy.mutual_information",
        ),
        Row.claim(
            "R = 0 if, and only if, W and X^ are independent: 0-closeness",
            abs(grid.risk(alone)) < SAME < risk,
            f"0.000000 of a channel that ignores X, {risk:.6f} of the other",
            "if, and only if",
            where=TRADEOFF,
        ),
        Row.claim(
            "X^ = X: R = I(W;X)",
            known > risk,
            f"{known:.6f}, above the {risk:.6f} of the random channel",
            "compromises privacy",
            where=TRADEOFF,
        ),
        _deterministic(),
        _quantization_index(),
        Row(
            "Figure 2: the privacy-distortion problem",
            "a diagram without numbers: W - X - X^, Eq. 1",
            place="Figure 2",
            where=TRADEOFF,
        ),
    ]
    note = "Channels p(x^|w,x), which the paper leaves aside, are in a section of their own."
    return PublishedSection("Section 3.2: the problem, Eq. 1", rows, note, "Section 3.2")


def _deterministic() -> Row:
    """The best of all deterministic quantizers against the certified optimum."""
    share = SHARES[1]
    maps = product(range(SMALL.samples), repeat=SMALL.samples)
    costs = (SMALL.performance(np.eye(SMALL.samples)[list(each)], share).cost for each in maps)
    least = min(costs)
    best = SMALL.optimum(share)
    return Row.claim(
        "deterministic quantizers are a particular case: random ones attain more (section 6, too)",
        best.cost < least - SAME and best.certified,
        f"C = {best.cost:.6f}, certified; the best of all 3,125 quantizers {least:.6f}",
        "the optimal perturbation is randomized",
        "5 samples, lambda = 1.22",
        place="Eq. 1",
        where=TRADEOFF,
    )


def _quantization_index() -> Row:
    """The second form of Eq. 1: several q of the same x^(q) only tell more."""
    rng, grid = np.random.default_rng(2), Grid(9)
    least = np.inf
    for _ in range(200):
        quantizer = rng.dirichlet(np.full(18, 0.5), 9)
        merged = quantizer[:, :9] + quantizer[:, 9:]  # x^(q) is the same for q and q + 9
        least = min(least, grid.risk(quantizer) - grid.risk(merged))
    return Row.claim(
        "with an index Q and x^(q): both definitions lead to the same function",
        least >= -SAME,
        f"I(W;Q) - I(W;X^) at least {least:.6f}, of 200 quantizers with two q for each x^; 0 if "
        "they are related bijectively",
        "no loss of generality",
        "q of one x^ can be merged: the same distortion, no more risk",
        place="Eq. 1",
        where=TRADEOFF,
    )


def _rates() -> PublishedSection:
    """Eq. 2, the case of W = X, and the shape of the function."""
    p = np.array([0.3, 0.7])
    rate = rate_distortion(p, hamming([0, 1]), distortion_limit=0.1, unit="nats")
    found = privacy_distortion(np.diag(p), hamming([0, 1]), distortion_limit=0.1, unit="nats")
    formula = _binary(0.3) - _binary(0.1)
    rows = [
        Row.claim(
            "the rate-distortion function is that of W = X",
            max(abs(found.leakage - formula), abs(rate.leakage - formula)) < 1e-5,
            f"{found.leakage:.6f} and {rate.leakage:.6f}; h(0.3) - h(0.1) = {formula:.6f}",
            "almost identical to (1)",
            "a coin of chance 0.3, D = 0.1",
            place="Eq. 2",
            where="anonymizer.channels.rate_distortion",
        ),
        Row(
            "Figures 3 and 4: the rate-distortion problem",
            "diagrams without numbers: Eq. 2",
            place="Figures 3 and 4",
            where="anonymizer.channels.rate_distortion",
        ),
    ]
    return PublishedSection("Section 3.3: rate distortion, Eq. 2", rows)


def _binary(p: float) -> float:
    return float(-p * np.log(p) - (1 - p) * np.log(1 - p))


def shape() -> list[Row]:
    """Decreasing, convex and continuous, by certified values at equal steps."""
    grid, limits = Grid(9), np.linspace(0.05, 0.9, 12)
    rates = np.array([_rate(grid, limit) for limit in limits])
    steps = np.diff(rates)
    near = max(abs(_rate(grid, d + 1e-4) - _rate(grid, d)) for d in (0.25, 0.5, 0.75))
    steepest = float(-steps.min() / (limits[1] - limits[0]))
    undistorted = _rate(grid, 0.0)
    return [
        Row.claim(
            "R(D) is decreasing",
            bool((steps < 0).all()),
            f"by {-steps.max():.6f} or more at each of 11 equal steps",
            "decreasing",
        ),
        Row.claim(
            "R(D) is convex",
            bool((np.diff(steps) > -1e-5).all()),
            f"steps become smaller by {np.diff(steps).min():.6f} or more",
            "convex",
        ),
        Row.claim(
            "R(D) is continuous in the interior of its domain",
            near <= 1.5e-4 * steepest,
            f"changes by {near:.6f} at the most where D does by 0.0001",
            "continuous",
            "as every convex function is; at three D",
        ),
        Row.claim(
            "d = 0 and d = 1, the trivial cases",
            abs(undistorted - grid.risk(np.eye(9))) < 1e-5 and _rate(grid, 1.1) < 1e-9,
            f"R = {undistorted:.6f} = I(W;X), and 0",
            "I(W;X), and 0",
        ),
        _mixture(grid),
    ]


def _rate(grid: Grid, limit: float) -> float:
    found = privacy_distortion(
        grid.joint, squared(grid.x), distortion_limit=limit, unit="nats", tolerance=1e-6
    )
    return float(found.leakage)


def _mixture(grid: Grid) -> Row:
    """X itself for a share 1 - d, its mean for the others."""
    d = np.linspace(0, 1, 11)
    above: Floats = np.array([grid.risk(grid.start(share)) for share in d])
    segment = grid.risk(np.eye(9)) * (1 - d)
    return Row.claim(
        "X^ = X with chance 1 - d, else its mean: not above the segment",
        bool((above <= segment + SAME).all()),
        f"below I(W;X)(1 - d) by up to {(segment - above).max():.6f}",
        "cannot lie above",
        "the mean may be a value of X itself, too",
        place="Eq. 4",
        where="anonymizer.channels.mutual_information_bound",
    )


def quotient(of: Callable[[Floats], float], channel: Floats, towards: Floats) -> float:
    """The slope of a function of channels at one, by a step to either side; shapes (x, x^)."""
    step = 1e-6
    sides = [of(channel + way * step * towards) for way in (1, -1)]
    return (sides[0] - sides[1]) / (2 * step)


def slope_rows() -> list[Row]:
    """The gradient of D, and of rows of C."""
    grid, rng = Grid(9), np.random.default_rng(3)
    channel, towards = rng.dirichlet(np.full(9, 2.0), 9), rng.normal(size=(9, 9))
    towards -= towards.mean(axis=1, keepdims=True)
    share = SHARES[1]
    slope = quotient(lambda near: grid.performance(near, share).cost, channel, towards)
    exact = grid.p[:, None] * squared(grid.x) + slope_of(share) * grid.gradient(channel)
    off = abs(slope - float((exact * towards).sum()))
    return [
        Row.claim(
            "the gradient of C: p(x) d(x, x^) + lambda dR",
            off < 1e-7,
            f"off by {off:.0e} from a difference quotient",
            "exact",
            place="Section 5",
            where=TRADEOFF,
        )
    ]
