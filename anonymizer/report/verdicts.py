"""What a table satisfies: models, thresholds, worst classes."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.table import Table

from anonymizer.privacy import Verdict
from anonymizer.report.console import console, table_of
from anonymizer.report.warnings import print_warnings

if TYPE_CHECKING:  # a release prints verdicts without anything of risk
    from anonymizer.risk.check import Check

__all__ = ["print_check", "verdict_table"]

DIGEST = 15
"""Characters of a digest that are shown."""


def print_check(check: "Check") -> None:
    """Print what a table satisfies as it stands, and how it does under a policy."""
    out = console()
    print_warnings(out, check.warnings)
    out.print(
        f"{check.records:,} records in {check.classes:,} equivalence classes, the smallest of "
        f"{check.k:,}: k = {check.k}."
    )
    for name, found in check.sensitive.items():
        rows = [[measure, f"{value:.6g}"] for measure, value in found.items()]
        out.print(table_of(f"The strictest that holds about {name}", ["parameter", "value"], rows))
    risks = [[name, f"{value:.6g}"] for name, value in check.risk.items()]
    out.print(table_of("Risk of re-identification", ["", ""], risks))
    out.print(verdict_table(check.privacy))


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """Each model with its threshold and the class that comes off worst."""
    columns = ["model", "about", "threshold", "worst class", "classes that fail", "holds"]
    return table_of("Policy, recounted on the table", columns, [_verdict(v) for v in verdicts])


def _verdict(verdict: Verdict) -> list[str]:
    model = verdict.model
    parameters = [f"{name} = {_shown(value)}" for name, value in model.parameters.items()]
    failing = f"{verdict.violating} of {verdict.classes}" if model.per_class else "the whole table"
    return [
        f"{model.name} ({', '.join(parameters)})",
        verdict.attribute or "class sizes",
        model.range,
        f"{verdict.worst:.6g}",
        failing,
        "yes" if verdict.satisfied else "NO",
    ]


def _shown(value: object) -> str:
    """A parameter in few words: what is long is in the study."""
    if isinstance(value, Mapping):
        return str(value.get("name", "given"))
    if isinstance(value, list):
        return f"{len(value)} values"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text[:DIGEST] + "..." if text.startswith("sha256:") else text
