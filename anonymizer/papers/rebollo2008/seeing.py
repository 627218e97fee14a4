"""Channels p(x^|w,x), which section 3.2 leaves aside for simplicity: a bound on all recodings."""

from anonymizer.channels import OptimalChannel, gaussian_rate, privacy_distortion, seeing, squared
from anonymizer.papers.rebollo2008.grid import RHO, SHARES, Grid, slope_of
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.papers.series import Column, PlottedSeries

SAMPLES = 15
"""Pairs of so many samples are certified in a tenth of a second; of 31 in 2 seconds."""


def channels_that_see() -> PublishedSection:
    """The least C of channels of both kinds, certified, at the three multipliers."""
    grid = Grid(SAMPLES)
    found = [(share, grid.optimum(share), _seen(grid, share)) for share in SHARES]
    rows = [_row(*each) for each in found]
    rows.append(_closed())
    note = (
        f"rho = 0.95, {SAMPLES} samples of [-3, 3]; nats. No recoding of X leaks less at the same "
        "distortion: its channel is one of these. They are for measuring, and no release is made "
        "by one."
    )
    where = "anonymizer.channels.seeing"
    return PublishedSection("Section 3.2: channels that see W", rows, note, "Section 3.2", where)


def _seen(grid: Grid, share: float) -> OptimalChannel:
    slope = slope_of(share)
    return privacy_distortion(
        *seeing(grid.joint, squared(grid.x)), slope=slope, unit="nats", tolerance=1e-6
    )


def _row(share: float, alone: OptimalChannel, seen: OptimalChannel) -> Row:
    """Both optima, and the closed form where the second one is."""
    rate = float(gaussian_rate(seen.distortion, 1.0, RHO, "nats", sees_sensitive=True)[0])
    proven = "certified" if seen.certified else f"at most {seen.gap:.0e} above the least"
    return Row(
        f"p(x^|w,x) next to p(x^|x), lambda = {slope_of(share):.2f}",
        f"C = {seen.cost:.6f}, {proven}: {alone.cost - seen.cost:.6f} below {alone.cost:.6f}",
        remark=f"D = {seen.distortion:.6f}, R = {seen.leakage:.6f}, where the normal law has "
        f"{rate:.6f}",
        value=seen.cost,
    )


def _closed() -> Row:
    """Both closed forms along D."""
    d = [n / 40 for n in range(41)]
    alone = gaussian_rate(d, 1.0, RHO, "nats").tolist()
    seen = gaussian_rate(d, 1.0, RHO, "nats", sees_sensitive=True).tolist()
    series = PlottedSeries(
        [Column("distortion", "D", d)],
        [
            Column("alone", "p(x^|x), Eq. 5", alone, "nats"),
            Column("seen", "p(x^|w,x)", seen, "nats"),
        ],
        axis="distortion",
        what="R",
    )
    return Row(
        "R(D) of the normal law, with W seen",
        "-ln cos(asin rho - asin sqrt d), 0 from d = rho^2 on",
        remark="rho = 0.95; proof in the theory of channels",
        series=series,
        where="anonymizer.channels.gaussian_rate",
    )
