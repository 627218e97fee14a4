"""What a table satisfies, and where it is weak; what of a manifest is true."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.table import Table

from anonymizer.errors import shown
from anonymizer.feedback.words import plural
from anonymizer.privacy import DifferentialPrivacy, Verdict
from anonymizer.release.verification.fields import NEEDED
from anonymizer.release.verification.verification import Verification
from anonymizer.report.console import console, table_of

if TYPE_CHECKING:  # a release prints verdicts without anything of risk
    from anonymizer.release.manifest.parts import Series
    from anonymizer.risk.check import Check


DIGEST = 15
"""Characters of a digest that are shown."""


MEANINGS = {
    "distinct_l": ("distinct l-diversity: l", "every class has at least l values"),
    "entropy_l": ("entropy l-diversity: l", "as varied as l values of equal share"),
    "t_kl": ("t-closeness, kl: t (bits)", "bits that a class tells about the value"),
    "t_equal": (
        "t-closeness, equal: t",
        "share of a class to change until it is like the table",
    ),
    "t_ordered": ("t-closeness, ordered: t", "the same, by how far values are apart"),
    "basic_beta": ("basic beta-likeness: beta", "a value is at most 1 + beta times likelier"),
    "enhanced_beta": ("enhanced beta-likeness: beta", "the same, stricter for frequent values"),
    "delta_disclosure": (
        "delta-disclosure: delta (bits)",
        "no value is 2^delta times likelier or less likely; inf: one is absent from a class",
    ),
    "alpha": ("alpha-k-anonymity: alpha", "chance of the surest guess of a value"),
    "sample_uniqueness": ("records alone in their class", "share of all records"),
    "prosecutor_highest": ("highest risk, prosecutor", "1 / records of the smallest class"),
    "prosecutor_average": ("average risk, prosecutor", "classes / records"),
    "journalist_highest": ("highest risk, journalist", "the same among the population's people"),
    "journalist_average": ("average risk, journalist", "the same, on average"),
    "marketer": ("marketer risk", "share of the records that are found by chance"),
}
"""What each figure of a check is, and what it says."""


def print_check(check: "Check") -> None:
    """Print what a table satisfies as it stands, and how it does under a policy."""
    out = console()
    out.print(
        f"{plural(check.records, 'record')} in {plural(check.classes, 'equivalence class')}, the "
        f"smallest of {check.k:,}: k = {check.k}."
    )
    known = ", ".join(check.quasi_identifiers)
    out.print(f"A class is all records that are alike in what others may know: {known}.")
    columns = ["figure", "value", "says"]
    for name, found in check.sensitive.items():
        title = f"The strictest that holds about {name} in every class"
        out.print(table_of(title, columns, _explained(found), "s .6g s"))
    title = "Risk that the record of a person who is known to be in the table is found"
    out.print(table_of(title, columns, _explained(check.risk), "s .6g s"))
    if check.privacy:
        out.print(verdict_table(check.privacy))
    else:
        out.print("No policy was given: --require, or a study, says what has to hold.")


def _explained(figures: Mapping[str, float]) -> Iterable[list[object]]:
    """Each figure with what it is called and what it says."""
    for name, value in figures.items():
        title, meaning = MEANINGS[name]
        yield [title, value, meaning]


def against(quasi_identifiers: str, sensitive: str = "") -> str:
    """Whom conditions on equivalence classes hold against, and what they do not promise.

    Names of columns, as a sentence lists them. A differentially private release does not depend on
    what is known, and needs no such sentences. k-anonymity does not prevent singling out: Cohen and
    Nissim, PNAS 117 (2020).

    >>> against("age and sex").partition(".")[0]
    'The policy holds against somebody who knows age and sex of everybody'
    """
    also = f", and about {sensitive} only what the whole table shows" if sensitive else ""
    return (
        f"The policy holds against somebody who knows {quasi_identifiers} of everybody{also}. It "
        "is no promise against somebody who knows more, who reasons from how the recoding was "
        "chosen, or who links other releases. It does not prevent singling out."
    )


def verdict_table(
    verdicts: Iterable[Verdict], title: str = "Policy, recounted on the table"
) -> Table:
    """Each model with its threshold and the class that comes off worst."""
    columns = ["model", "about", "threshold", "worst class", "classes that fail", "holds"]
    return table_of(title, columns, map(_verdict, verdicts), "s s s .6g s")


def _verdict(verdict: Verdict) -> list[object]:
    model = verdict.model
    parameters = [f"{name} = {_shown(value)}" for name, value in model.parameters.items()]
    failing = f"{verdict.violating} of {verdict.classes}" if model.per_class else "the whole table"
    return [
        f"{model.name} ({', '.join(parameters)})",
        verdict.attribute or "class sizes",
        model.range,
        verdict.worst,
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


SAID = {
    "recomputed": "recomputed from the table",
    "consistent": "held against other fields of the manifest",
    "study": "held against the study",
    "key": "held against the key",
    "original": "held against the original table",
}


def print_verification(found: Verification) -> None:
    """Print what differs, one line each, what was checked, what cannot be, and the verdicts."""
    out = console()
    for line in _lines(found):
        out.print(line)
    if found.verdicts:
        out.print(verdict_table(found.verdicts))
        private = any(isinstance(each.model, DifferentialPrivacy) for each in found.verdicts)
        if found.satisfied and not private:
            out.print(against("the quasi-identifiers", "sensitive attributes"))


def _lines(found: Verification) -> Iterable[str]:
    if not found.checks:
        yield "No manifest is about this table: it was recounted under the policy of the study."
        return
    different = plural(len(found.differences), "difference")
    yield f"{different}:" if found.differences else "The release is what its manifest says."
    yield from (f"  {check}" for check in found.differences)
    if found.signer:
        yield f"Its manifest is signed by the key {found.signer}{_series(found.series)}."
    done = [check.how for check in found.checks if check.agrees is not None]
    ways = (f"{done.count(how)} {said}" for how, said in SAID.items() if how in done)
    yield f"Checked: {', '.join(ways)}."
    fields: dict[str, dict[str, None]] = {}
    for check in found.unchecked:
        needed = NEEDED.get(check.reason, check.reason)
        fields.setdefault(needed, {})[_plain(check.field)] = None
    yield from (f"Not checked: {', '.join(names)}: {reason}." for reason, names in fields.items())
    if found.verdicts and not found.by_study:
        yield (
            "The policy below is the one that the manifest names: compare it with the one that you "
            "expect, or give the study."
        )


def _series(series: "Series | None") -> str:
    """Which release of a series the signature says that it is."""
    if series is None:
        return ", which does not say which release it is"
    period = "" if series.period is None else f", {shown(series.period)}"
    return f" as {shown(series.name)}{period}, number {series.number:,} of the series"


def _plain(field: str) -> str:
    """A kind of fields in few words: ``recoding.values`` for ``recoding.*.*.values.*``."""
    return ".".join(part for part in field.split(".") if "*" not in part)
