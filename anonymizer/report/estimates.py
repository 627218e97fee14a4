"""Tables of the estimates that a masked release allows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.report.console import console, table_of

if TYPE_CHECKING:  # a report of anything else need not wait for what these need
    from anonymizer.channels import Estimate
    from anonymizer.utility.estimate import FileEstimate


def print_estimates(found: "FileEstimate") -> None:
    """Print estimated counts and shares with their standard errors, and how to read them."""
    out, estimate = console(), found.estimate
    about = found.of if found.by is None else f"{found.of} x {found.by}"
    title = f"{about}: {estimate.records:,} records before they were masked ({estimate.method})"
    if estimate.others is None:
        columns = [found.of, "records", "share", "standard error of the share"]
        errors = [None] * len(estimate.values)
        if estimate.standard_errors is not None:
            errors = estimate.standard_errors.tolist()
        texts = map(_text, estimate.values)
        rows = zip(texts, estimate.counts, estimate.shares, errors, strict=True)
        out.print(table_of(title, columns, rows, "s ,.1f .6f"))
    else:
        columns = [found.of, *map(_text, estimate.others)]
        title += "" if estimate.standard_errors is None else ", +- standard error"
        out.print(table_of(title, columns, _table(estimate), "s ,.1f"))
    if found.mean:
        most = " at the most" if found.mean.upper else ""
        out.print(
            f"Mean of {found.of}: {found.mean.value:.6g} +- {found.mean.standard_error:.3g}{most}."
        )
    for line in _cautions(estimate):
        out.print(line)


def _table(estimate: "Estimate") -> Iterator[list[object]]:
    errors = estimate.standard_errors
    for place, value in enumerate(estimate.values):
        cells = [*estimate.counts[place]]
        if errors is not None:
            deviations = errors[place] * estimate.records
            pairs = zip(cells, deviations, strict=True)
            cells = [f"{count:,.1f} +- {deviation:,.1f}" for count, deviation in pairs]
        yield [_text(value), *cells]


def _text(value: object) -> str:
    """A value as it is shown; a missing one is nothing in a table."""
    return "(missing)" if value is None else str(value)


def _cautions(estimate: "Estimate") -> Iterator[str]:
    """What has to be known to read the estimates."""
    if estimate.negative:
        yield (
            f"{estimate.negative} of {estimate.shares.size} estimates are negative: left as they "
            "are, since cut off they would be biased; their standard errors say how little they "
            "tell."
        )
    if estimate.standard_errors is not None:
        upper = ", and upper bounds" if estimate.upper else ""
        yield (
            f"Standard errors are of records masked independently of each other{upper}; they are "
            "about these records, not about a population."
        )
    fit = estimate.likelihood
    if fit is not None:
        state = "within" if fit.converged else "NOT CONVERGED: only known to be within"
        yield f"Log-likelihood {state} {fit.gap:.2g} of the largest possible."
    if not estimate.identified:
        rest = "only what is requested here can be estimated."
        if fit is not None:
            rest = "this is one of many tables that the release speaks for equally."
        yield f"The channel does not tell all values apart: {rest}"
