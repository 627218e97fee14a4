"""What a release tells of its records before they were masked, as tables of text."""

from typing import TYPE_CHECKING

from anonymizer.report.console import console, table_of

if TYPE_CHECKING:  # a report of anything else need not wait for what these need
    from anonymizer.channels import Estimate
    from anonymizer.utility.estimate import FileEstimate

__all__ = ["print_estimates"]


def print_estimates(found: "FileEstimate") -> None:
    """Print estimated counts and shares with their standard errors, and how to read them."""
    out, estimate = console(), found.estimate
    about = found.of if found.by is None else f"{found.of} x {found.by}"
    title = f"{about}: {estimate.records:,} records before they were masked ({estimate.method})"
    if estimate.others is None:
        columns = [found.of, "records", "share", "standard error of the share"]
        out.print(table_of(title, columns, _margin(estimate)))
    else:
        columns = [found.of, *map(_text, estimate.others)]
        title += "" if estimate.standard_errors is None else ", +- standard error"
        out.print(table_of(title, columns, _table(estimate)))
    if found.mean:
        most = " at the most" if found.mean.upper else ""
        out.print(
            f"Mean of {found.of}: {found.mean.value:.6g} +- {found.mean.standard_error:.3g}{most}.",
            soft_wrap=True,
        )
    for line in _cautions(estimate):
        out.print(line, soft_wrap=True)


def _margin(estimate: "Estimate") -> list[list[str]]:
    errors = estimate.standard_errors
    return [
        [
            _text(value),
            f"{estimate.counts[place]:,.1f}",
            f"{estimate.shares[place]:.6f}",
            "-" if errors is None else f"{errors[place]:.6f}",
        ]
        for place, value in enumerate(estimate.values)
    ]


def _table(estimate: "Estimate") -> list[list[str]]:
    errors = estimate.standard_errors
    return [
        [
            _text(value),
            *(
                f"{count:,.1f}"
                + ("" if errors is None else f" +- {errors[place][column] * estimate.records:,.1f}")
                for column, count in enumerate(estimate.counts[place])
            ),
        ]
        for place, value in enumerate(estimate.values)
    ]


def _text(value: object) -> str:
    """A value as it is shown; a missing one is nothing in a table."""
    return "(missing)" if value is None else str(value)


def _cautions(estimate: "Estimate") -> list[str]:
    """What has to be known to read the estimates."""
    lines = []
    if estimate.negative:
        lines.append(
            f"{estimate.negative} of {estimate.shares.size} estimates are negative: left as they "
            "are, since cut off they would be biased; their standard errors say how little they "
            "tell."
        )
    if estimate.standard_errors is not None:
        upper = ", and upper bounds" if estimate.upper else ""
        lines.append(
            f"Standard errors are of records masked independently of each other{upper}; they are "
            "about these records, not about a population."
        )
    fit = estimate.likelihood
    if fit is not None:
        state = "within" if fit.converged else "NOT CONVERGED: only known to be within"
        lines.append(f"Log-likelihood {state} {fit.gap:.2g} of the largest possible.")
    if not estimate.identified:
        lines.append(
            "The channel does not tell all values apart: "
            + (
                "this is one of many tables that the release speaks for equally."
                if fit is not None
                else "only what is asked for here can be estimated."
            )
        )
    return lines
