"""The statements of section 4 by number."""

import math

import numpy as np

from anonymizer.channels import gaussian_rate, mutual_information_bound, quadratic_gaussian_bound
from anonymizer.papers.rebollo2008.definitions import quotient, shape, slope_rows
from anonymizer.papers.rebollo2008.grid import RHO, SHARES, Grid, closed, slope_of
from anonymizer.papers.row import PublishedSection, Row

NORMAL = 0.5 * float(np.log(2 * np.pi * math.e))
"""h of a standard normal law, nats."""
FINE = Grid(101, 6.0)


def statements() -> PublishedSection:
    """The statements one by one."""
    rows = [*shape(), *_convexity(), *slope_rows(), *_multipliers(), *_closed_form(), _no_bound()]
    note = "Information in nats; sigma_X = 1."
    where = "anonymizer.channels.privacy_distortion"
    return PublishedSection("Section 4: theory, by number", rows, note, "Section 4", where)


def _convexity() -> list[Row]:
    """R is convex in p(x^|x), the unknowns of section 5."""
    grid, rng = Grid(9), np.random.default_rng(0)
    worst = -np.inf
    for _ in range(300):
        one, other = (rng.dirichlet(np.full(9, 0.3), 9) for _ in range(2))
        middle = grid.risk((one + other) / 2) - (grid.risk(one) + grid.risk(other)) / 2
        worst = max(worst, middle)
    channel = rng.dirichlet(np.full(9, 2.0), 9)
    towards = rng.normal(size=(9, 9))
    towards -= towards.mean(axis=1, keepdims=True)
    slope = quotient(grid.risk, channel, towards)
    off = abs(slope - float((grid.gradient(channel) * towards).sum()))
    return [
        Row.claim(
            "Eq. 1 is convex with p(x^|x) as unknown",
            worst <= 1e-12,
            f"risk half way above the mean of both ends: {worst:.1e} at the most, of 300 pairs",
            "convex",
            "the text says p(x^|W), which does not decide the distortion: read p(x^|x), as in "
            "section 5",
        ),
        Row.claim(
            "the gradient of R",
            off < 1e-7,
            f"off by {off:.0e} from a difference quotient",
            "exact, after simplification",
            "along directions whose rows sum to 0",
        ),
    ]


def _multipliers() -> list[Row]:
    """Lambda = 2 sigma^2 (1 / rho^2 - 1 + d)."""
    printed = dict(zip(SHARES, ("0.72", "1.22", "1.72"), strict=True))
    rows = [
        Row.number(f"lambda of d = {share}", slope_of(share), printed[share], form=".6f")
        for share in SHARES
    ]
    step, worst = 1e-5, 0.0
    for share in SHARES:
        low, high = gaussian_rate([share - step, share + step], 1.0, RHO, "nats")
        formula = 2 * (1 / RHO**2 - 1 + share)
        worst = max(worst, abs(2 * step / (low - high) - formula), abs(slope_of(share) - formula))
    relation = Row.claim(
        "lambda = 2 sigma_X^2 (1/rho^2 - 1 + d)",
        worst < 1e-5,
        f"off by {worst:.0e} from -dD/dR of Eq. 5",
        "can be shown",
    )
    return [*rows, relation]


def _closed_form() -> list[Row]:
    """Eq. 5: the bound is tight, and the rule of Fig. 5 gets there."""
    d = np.linspace(0, 1, 21)
    bound = quadratic_gaussian_bound(
        d, entropy=NORMAL, correlation=RHO, deviation=1, variance=1, linear=True, unit="nats"
    )
    rate = gaussian_rate(d, 1.0, RHO, "nats")
    off = float(np.abs(bound - rate).max())
    reached = [FINE.performance(FINE.rule(share), share) for share in SHARES]
    excess = max(abs(p.cost - closed(s).cost) for s, p in zip(SHARES, reached, strict=True))
    above = mutual_information_bound(d, information=float(rate[0]), variance=1) - rate
    return [
        Row.claim("QGLB (3) is tight for a normal law", off < 1e-12, f"off by {off:.0e}", "tight"),
        Row.claim(
            "the rule of Fig. 5 reaches Eq. 5",
            excess < 5e-3,
            f"D + lambda R off by {excess:.1e}, on 101 samples of [-6, 6]",
            "optimal",
            "rounding to cells adds a 12th of their width squared to D",
        ),
        Row.claim(
            "MIUB (4) is above R(D)",
            float(above.min()) >= -1e-12,
            f"by {above.min():.6f} to {above.max():.6f}",
            "R(D) <= I(W;X) (1 - d)",
        ),
    ]


def _no_bound() -> Row:
    """QGLB without a linear regression: X = A + B, W = B + N(0, 1), released as Y = A."""
    w = np.linspace(-9, 9, 6001)
    b = np.linspace(-1, 1, 402)
    b = (b[1:] + b[:-1]) / 2
    density = np.exp(-((w[:, None] - b) ** 2) / 2).mean(axis=1) / np.sqrt(2 * np.pi)
    entropy = float(-(density * np.log(density)).sum() * (w[1] - w[0]))
    variance, spread = 9 + 1 / 3, 1 + 1 / 3
    formula = quadratic_gaussian_bound(
        1 / 3,
        entropy=entropy,
        correlation=(1 / 3) / np.sqrt(variance * spread),
        deviation=np.sqrt(spread),
        variance=variance,
        linear=True,
        unit="nats",
    )
    return Row.claim(
        "QGLB (3) for any real-valued W and X",
        float(formula[0]) <= 0,
        f"R = 0, and QGLB = {formula[0]:.6f}",
        "R(D) >= QGLB(D)",
        "X = A + B, A = 3 or -3, B uniform on (-1, 1), W = B + N(0, 1), and A released",
        why="it takes a linear regression E[W|X], which the paper does not ask for",
    )
