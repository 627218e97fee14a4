"""What a masked release says of the values that were drawn."""

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from rich.console import Console

from anonymizer.report.console import table_of

if TYPE_CHECKING:  # only a masked release needs what these need
    from anonymizer.masking.disclosure import ChannelReport, Disclosure, RandomizationReport
    from anonymizer.masking.preserved import Preserved

__all__ = ["print_masking"]

METHODS = {
    "pram": "from the channel that distorts least for the policy",
    "noise": "with Gaussian noise, rounded to a grid",
    "bottleneck": "from an information bottleneck",
}


def print_masking(out: Console, masked: "RandomizationReport") -> None:
    """Print what was drawn, what it distorts, what it tells, and what analysts have to know."""
    for line in _lines(masked):
        out.print(line, soft_wrap=True)
    rows = [_row("realised", name, told) for name, told in masked.realised.items()]
    for part in masked.channels:
        rows += [_row("expected", name, told) for name, told in part.expected.items()]
    if rows:
        columns = ["", "sensitive attribute", "I(W;Y)", "largest I1", "largest I2"]
        out.print(table_of("What released values tell, in bits", columns, rows))


def _lines(masked: "RandomizationReport") -> Iterator[str]:
    names = ", ".join(masked.attributes)
    yield (
        f"Values of {names} were drawn at random {METHODS[masked.method]}: a released record need "
        "not be true."
    )
    for part in masked.channels:
        yield _distorted(part, masked)
    if masked.preserved:
        yield from _preserved(masked.preserved)
    if isfinite(masked.epsilon):
        yield f"Local differential privacy of these values: epsilon = {masked.epsilon:.4g}."
    else:
        yield (
            "No local differential privacy (epsilon is infinite): some released values rule true "
            "ones out."
        )
    if masked.withheld:
        yield "The channel is withheld: analysts cannot correct their estimates for it."
    else:
        yield (
            "The channel stands in release.json, for analysts: `anonymizer estimate` corrects for "
            "it. It tells which values occur in the table."
        )


def _distorted(part: "ChannelReport", masked: "RandomizationReport") -> str:
    kinds = {masked.distortion[name] for name in part.attributes if name in masked.distortion}
    least = (
        ""
        if part.least_distortion is None
        else f"; no channel under the policy is expected to have less than "
        f"{part.least_distortion:.6g}"
    )
    return (
        f"Distortion ({' and '.join(sorted(kinds))}) of {', '.join(part.attributes)}: "
        f"{part.realised_distortion:.6g}, expected {part.expected_distortion:.6g}{least}."
    )


def _preserved(kept: "Preserved") -> Iterator[str]:
    """How unlikely a sample of the table would miss its statistics by less."""
    losses = zip(kept.columns, kept.mean, kept.variance, strict=True)
    of_each = "; ".join(f"{name} {mean:.3f} and {spread:.3f}" for name, mean, spread in losses)
    yield f"Probabilistic information loss of mean and variance, 0 to 1: {of_each}."
    told = {True: "are kept", False: "are not kept"}
    yield f"Means {told[kept.mean_kept]}; variances and covariances {told[kept.covariance_kept]}."


def _row(what: str, name: str, told: "Disclosure") -> list[str]:
    return [what, name, *(f"{bits:.6f}" for bits in (told.mean, told.largest_i1, told.largest_i2))]
