"""Tables of what an attacker learns from a table."""

from pathlib import Path

import numpy as np
from rich.table import Table

from anonymizer.report.attributes import print_detected, print_ranking, print_undeclared
from anonymizer.report.console import console, table_of
from anonymizer.risk import Assessment, Profile
from anonymizer.risk.file import FileRisk

SHOWN = 20
"""Classes that a report lists."""

NAMES = {
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

UNCERTAINTY = "how uncertain X is to who does not know the class"

NOTHING = 5e-10
"""Bits, or shares, below are rounding."""


def print_risk(risk: FileRisk, written: Path | None = None, *, classes: bool = False) -> None:
    """Print the metrics of re-identification and each sensitive attribute, and how to read them.

    Classes, where they are requested, go by number: their values would tell of records.
    """
    out, assessment = console(), risk.assessment
    for line in _summary(assessment):
        out.print(line)
    out.print(_metrics(assessment))
    for name, about in assessment.inference.items():
        out.print(
            f"{name}: who guesses the likeliest value of the class is right for {about.guessed:.2%}"
            " of the records, who guesses that of the whole table for "
            f"{about.guessed_without:.2%}; in the surest class for {about.posterior.max():.2%}."
        )
    for line in _caution(assessment):
        out.print(line)
    for what, profile in _profiles(assessment) if classes else ():
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


def _profiles(assessment: Assessment) -> list[tuple[str, Profile]]:
    """What is at risk, and what classes tell about it."""
    inferred = [(f"inference of {name}", found) for name, found in assessment.inference.items()]
    return [("re-identification", assessment.reidentification), *inferred]


def _summary(assessment: Assessment) -> list[str]:
    sizes = assessment.reidentification.sizes
    loss = assessment.query_loss
    alone = int((sizes == 1).sum())
    return [
        f"{sizes.sum():,} records in {len(sizes):,} equivalence classes, the smallest of "
        f"{sizes.min():,}; records alone in theirs: {alone:,}.",
        f"Query loss: a record's class costs its owner {loss.average:.4f} bits of "
        f"{loss.uncertainty:.4f} on average (standard deviation {loss.standard_deviation:.4f}), "
        f"{loss.maximum:.4f} at most.",
    ]


def _metrics(assessment: Assessment) -> Table:
    found = [profile.measures for _, profile in _profiles(assessment)]
    rows = [
        [title, *(_number(measures[name]) for measures in found), meaning]
        for name, (title, meaning) in NAMES.items()
    ]
    rows.insert(0, ["H(X) (bits)", *(_number(m.uncertainty) for m in found), UNCERTAINTY])
    title = "Risk: what a record's class tells about X, whose record it is or which value it has"
    return table_of(title, ["", *(what for what, _ in _profiles(assessment)), "says"], rows)


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
