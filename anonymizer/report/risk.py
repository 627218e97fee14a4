"""Tables of what an attacker learns from a table, and of the attributes that it is learnt by."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from anonymizer.feedback.words import plural
from anonymizer.report.console import console, table_of
from anonymizer.risk import (
    DISTINCT,
    METRICS,
    Assessment,
    Detected,
    InformationChain,
    Profile,
    RankedSubset,
    Ranking,
    Undeclared,
)
from anonymizer.risk.file import FileRisk

SHOWN = 20
"""How many rows of a table are printed."""

NAMES = {
    "uncertainty": ("H(X) (bits)", "how uncertain X is to who does not know the class"),
    "mutual_information": ("mutual information, MI (bits)", "what is lost of H(X), on average"),
    "discrimination_rate": ("discrimination rate, DR", "the same, as a share of H(X)"),
    "conditional_privacy": ("conditional privacy, CP", "1 - 2^-MI"),
    "maximum_information_leakage": (
        "maximum information leakage, MIL = max I2 (bits)",
        "what is lost in the class that tells most",
    ),
    "i1_max": (
        "max I1, the t of t-closeness (bits)",
        "the farthest a class is from the whole table",
    ),
    "max_posterior": ("surest guess, max posterior", "chance of the easiest guess"),
    "entropy_l_diversity_risk": (
        "entropy l-diversity risk, ELD = 1 / l",
        "1 where a class has one value, or record, only",
    ),
    "itpr": ("ITPR", "1 where a class leaves nothing of H(X)"),
    "unscaled_itpr": ("ITPR, unscaled", "the same, whatever the number of classes"),
}

NOTHING = 5e-10
"""Bits, or shares, below are rounding."""


def print_risk(risk: FileRisk, written: Path | None = None, *, classes: bool = False) -> None:
    """Print the metrics of re-identification and each sensitive attribute, and how to read them.

    Classes, where they are requested, go by number: their values would tell of records.
    """
    out, assessment = console(), risk.assessment
    sizes, loss = assessment.reidentification.sizes, assessment.query_loss
    out.print(
        f"{sizes.sum():,} records in {len(sizes):,} equivalence classes, the smallest of "
        f"{sizes.min():,}; records alone in theirs: {(sizes == 1).sum():,}."
    )
    out.print(
        f"Query loss: a record's class costs its owner {loss.average:.4f} bits of "
        f"{loss.uncertainty:.4f} on average (standard deviation {loss.standard_deviation:.4f}), "
        f"{loss.maximum:.4f} at most."
    )
    profiles = {
        "re-identification": assessment.reidentification,
        **{f"inference of {name}": found for name, found in assessment.inference.items()},
    }
    out.print(_metrics(profiles))
    for name, about in assessment.inference.items():
        out.print(
            f"{name}: who guesses the likeliest value of the class is right for {about.guessed:.2%}"
            " of the records, who guesses that of the whole table for "
            f"{about.guessed_without:.2%}; in the surest class for {about.posterior.max():.2%}."
        )
    for line in _caution(assessment):
        out.print(line)
    for what, profile in profiles.items() if classes else ():
        out.print(_classes(what, profile))
    if risk.ranking:
        print_ranking(risk.ranking)
    if risk.detected is not None:
        print_detected(risk.detected, risk.detected_size)
    print_undeclared(risk.undeclared)
    if written:
        out.print(f"In detail in {written}, which tells what an attacker would learn.")


def _classes(what: str, profile: Profile) -> Table:
    """The classes whose likeliest value is surest, the largest of these first."""
    order = np.lexsort([-profile.sizes, -profile.posterior])[:SHOWN]
    informations = [profile.i1, profile.i2, profile.i3, profile.i4]
    measured = [profile.posterior, profile.uncertainties, *informations, profile.itpr_terms]
    rows = [
        [f"{number + 1}", f"{profile.sizes[number]:,}", *map(_number, row)]
        for number, row in zip(order, np.column_stack(measured)[order], strict=True)
    ]
    more = f", {SHOWN} of {len(profile.sizes):,}" if len(profile.sizes) > SHOWN else ""
    names = ["surest guess", "H(X|y)", "I1", "I2", "I3", "I4", "ITPR term"]
    title = f"Classes that tell most{more}: {what}; H and I in bits"
    return table_of(title, ["class", "records", *names], rows)


def _metrics(profiles: Mapping[str, Profile]) -> Table:
    found = [profile.measures for profile in profiles.values()]
    rows = [
        [title, *(_number(measures[name]) for measures in found), meaning]
        for name, (title, meaning) in NAMES.items()
    ]
    title = "Risk: what a record's class tells about X, whose record it is or which value it has"
    return table_of(title, ["", *profiles, "says"], rows)


def _caution(assessment: Assessment) -> list[str]:
    """What the metrics do not tell of this table."""
    measures = {name: found.measures for name, found in assessment.inference.items()}
    certain = [name for name, found in measures.items() if found.degenerate]
    silent = {
        name: found.max_posterior
        for name, found in measures.items()
        if found.itpr < NOTHING and name not in certain
    }
    lines = []
    if certain:
        lines.append(
            f"All records have the same value of {', '.join(certain)}: nothing is left to be "
            "learnt, and DR and ITPR are 0 by convention."
        )
    if silent:
        guesses = ", ".join(f"{name} {posterior:.4g}" for name, posterior in silent.items())
        lines.append(
            "Where every class is like the whole table ITPR, DR, MI and CP are 0, and do not tell "
            f"how guessable a value is; ELD and the surest guess do: {guesses}."
        )
    lines.append(
        "ITPR weighs a class by its size and by how many there are: it may fall where classes are "
        "split. The other metrics never do."
    )
    return lines


def _number(value: float) -> str:
    """Six digits; what is only rounding is 0."""
    return f"{value if abs(value) > NOTHING else 0.0:.6g}"


USUAL = {"mutual_information": "MI (bits)", "discrimination_rate": "DR", "itpr": "ITPR"}
"""Measures that every table of subsets shows."""

CAUTION = "ITPR may fall when an attribute joins others."


def print_ranking(ranking: Ranking, metric: str = METRICS[0], shown: int = SHOWN) -> None:
    """Print the riskiest subsets about each attribute at risk, and what each adds to the others."""
    out = console()
    out.print(
        f"{len(ranking.subsets):,} subsets of up to {plural(ranking.size, 'quasi-identifier')} of "
        f"{plural(ranking.records, 'record')}, by {metric.replace('_', ' ')}. {CAUTION}"
    )
    for about in (None, *ranking.sensitive):
        subsets = ranking.by(metric, about)
        out.print(_subsets(subsets[:shown], metric, about))
        _print_more(len(subsets) - shown)
        chain = ranking.reidentification if about is None else ranking.inference.get(about)
        if chain:
            out.print(_chain(chain, about, shown))
            _print_more(len(chain.links) - shown)


def print_detected(detected: Sequence[Detected], size: int, shown: int = SHOWN) -> None:
    """Print the minimal sets of up to so many columns that distinguish most records."""
    sets = f"up to {plural(size, 'column')}"
    most = f"{DISTINCT:.0%} of the records apart"
    if not detected:
        console().print(f"No set of {sets} tells {most}.")
        return
    columns = ["columns", "distinction", "separation", "records alone"]
    rows = [
        [", ".join(one.names), one.distinction, one.separation, one.share_alone]
        for one in detected[:shown]
    ]
    title = f"Minimal sets of {sets} that tell {most}"
    console().print(table_of(title, columns, rows, "s .4f .6f .2%"))
    _print_more(len(detected) - shown)


def print_undeclared(found: Undeclared, shown: int = SHOWN) -> None:
    """Print a warning of each column that nobody declared but that identifies."""
    out = console()
    if found.flagged:
        rows = [[one.name, one.kind or "", one.reason] for one in found.flagged[:shown]]
        out.print(table_of("WARNING: not declared, but identifying", ["column", "as", "why"], rows))
        _print_more(len(found.flagged) - shown)
    elif found.attributes:
        out.print("No column without a role identifies.")
    if found.skipped:
        names = ", ".join(found.skipped)
        out.print(f"Not counted, as their values cannot be distinguished: {names}")


def _subsets(subsets: Iterable[RankedSubset], metric: str, about: str | None) -> Table:
    usual = USUAL if metric in USUAL else {metric: metric.replace("_", " "), **USUAL}
    known, forms = (["records alone", "k"], "s ,") if about is None else (["surest guess"], ".4f")
    rows = []
    for subset in subsets:
        found = subset.about(about)
        alone = f"{subset.alone:,} ({subset.share_alone:.2%})"
        cells = [alone, subset.k] if about is None else [found.max_posterior]
        rows.append([subset.names, subset.classes, *cells, *(found[name] for name in usual)])
    columns = ["attributes", "classes", *known, *usual.values()]
    return table_of(_title(about), columns, rows, f"s , {forms} .6f")


def _chain(chain: InformationChain, about: str | None, shown: int) -> Table:
    """The greedy order, with what each attribute reveals alone and adds to the others."""
    rows = [
        [link.name, link.alone, link.adds, link.total, link.adds_to_others]
        for link in chain.links[:shown]
    ]
    title = f"{_title(about)}: {chain.total:.6f} bits by all together"
    columns = ["attribute", "alone", "adds to those above", "with those", "adds to all others"]
    return table_of(title, columns, rows, "s .6f")


def _title(about: str | None) -> str:
    return "Re-identification" if about is None else f"Inference of {about}"


def _print_more(rest: int) -> None:
    if rest > 0:
        console().print(f"... {rest:,} more; --json has all")
