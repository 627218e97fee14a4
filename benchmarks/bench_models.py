"""Time the search under every privacy model beside the one under k-anonymity.

    python benchmarks/bench_models.py

UCI Adult, 30 162 records, nine quasi-identifiers with ARX's hierarchies, 12 960 nodes; relationship
is the sensitive attribute. Needs the directory of data sets in ANONYMIZER_DATA (adult/ and
arx-adult/). Writes benchmarks/results/models.md. All take turns in one process, so that ratios hold
when the machine's speed drifts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

import workloads
from measure import Timed, rounds, table

from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.hierarchy import Hierarchy
from anonymizer.kernels import NATIVE
from anonymizer.objectives import Loss
from anonymizer.privacy import (
    AlphaKAnonymity,
    AverageReidentificationRisk,
    BasicBetaLikeness,
    BayesianGain,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    HighestReidentificationRisk,
    KAnonymity,
    KMap,
    MeanInformation,
    PopulationUniqueness,
    PrivacyModel,
    RecursiveLDiversity,
    TCloseness,
    ValueGain,
)
from anonymizer.recoding import Problem, solve
from anonymizer.tables import engine

SENSITIVE = "relationship"
RESULTS = Path(__file__).parent / "results" / "models.md"
COLUMNS = ("model", "ms", "times", "per node", "how", "nodes checked", "feasible")
COMMAND = "python benchmarks/bench_models.py"
DERIVED = ("assumes", "delta_reached", "hierarchy")
"""Parameters that titles leave out."""

POPULATION = 100_000
"""Records beside the table's own that its population has."""

FAMILIES = Hierarchy.from_rows(
    [
        ["Husband", "Spouse"],
        ["Wife", "Spouse"],
        ["Own-child", "Child or relative"],
        ["Other-relative", "Child or relative"],
        ["Not-in-family", "On their own"],
        ["Unmarried", "On their own"],
    ]
)
ORDER = ["Husband", "Wife", "Own-child", "Other-relative", "Not-in-family", "Unmarried"]


def models(people: object) -> list[PrivacyModel]:
    """Every model, with thresholds that some nodes satisfy."""
    return [
        KAnonymity(5),
        DistinctLDiversity(3),
        EntropyLDiversity(1.5),
        EntropyLDiversity(1.5, "miller-madow"),
        EntropyLDiversity(1.5, "grassberger"),
        RecursiveLDiversity(4, 2),
        TCloseness(1, "kl"),
        TCloseness(0.5, "equal"),
        TCloseness(0.4, "ordered", order=ORDER),
        TCloseness(0.4, "hierarchical", hierarchy=FAMILIES),
        AlphaKAnonymity(0.8, 5),
        BasicBetaLikeness(3),
        EnhancedBetaLikeness(3),
        DeltaDisclosure(4),
        BayesianGain(0.4),
        ValueGain(0.4),
        MeanInformation(0.15),
        KMap(20, people),
        DeltaPresence(0, 0.3, people),
        AverageReidentificationRisk(0.0006),
        AverageReidentificationRisk(0.0002, people),
        HighestReidentificationRisk(0.2),
        HighestReidentificationRisk(0.05, people),
        DifferentialPrivacy(1, 1e-6),
        PopulationUniqueness(0.001, 0.1, "zayatz"),
        PopulationUniqueness(0.001, 0.1, "snb"),
        PopulationUniqueness(0.001, 0.1, "pitman"),
    ]


def measured() -> Iterator[str]:
    """A row per model."""
    records, hierarchies = workloads.nine_and_relationship()
    people = _population(records, tuple(hierarchies))
    stated = models(people)
    problems = [_problem(records, hierarchies, model) for model in stated]
    yield "Search only: the table is counted and encoded, kernels are loaded; objective: loss."
    yield "Median ms of 7 rounds in which all take turns. The whole frontier, or every node above"
    yield "what the model needs where it is not monotone; *times*: over k-anonymity, *per node* the"
    yield "same over the nodes checked. Thresholds leave about as many nodes feasible."
    yield ""
    work = {
        str(i): partial(solve, problem)
        for i, (model, problem) in enumerate(zip(stated, problems, strict=True))
        if not isinstance(model, PopulationUniqueness)
    }
    taken = rounds(work)
    first = solve(problems[0])
    checked = first.checked if first else 0
    rows = []
    for i, (model, problem) in enumerate(zip(stated, problems, strict=True)):
        if str(i) in taken:
            rows.append(_row(model, problem, taken[str(i)], taken["0"], checked))
    yield from table(COLUMNS, rows)
    yield ""
    yield "Not monotone, and nothing monotone follows from it, so that every node is counted and"
    yield "estimated for: beside k-anonymity by the same search, every node of it. One round."
    yield ""
    nodes = problems[0].lattice.size
    rows = []
    for model, problem in zip(stated, problems, strict=True):
        if isinstance(model, PopulationUniqueness):
            base = _once(partial(solve, problems[0], "exhaustive"))
            rows.append(_row(model, problem, _once(partial(solve, problem)), base, nodes))
    yield from table(COLUMNS, rows)


def _row(
    model: PrivacyModel, problem: Problem, took: float, beside: float, checked: int
) -> Sequence[object]:
    """A model's row; ``beside``: what k-anonymity took for ``checked`` nodes."""
    found = solve(problem)
    numbers = {
        name: value
        for name, value in model.parameters.items()
        if isinstance(value, int | float | str) and name not in DERIVED
    }
    stated = ", ".join(
        f"{name} = {value if isinstance(value, str) else format(value, '.6g')}"
        for name, value in numbers.items()
    )
    people = ", population" if model.people is not None else ""
    each = took / beside / (found.checked / checked) if found else float("nan")
    return (
        f"{model.name}, {stated}{people}",
        f"{took:.1f}",
        f"{took / beside:.1f}",
        f"{each:.1f}",
        found.strategy if found else "",
        f"{found.checked:,}" if found else "",
        found.feasible if found else 0,
    )


def _once(work: Timed) -> float:
    """The milliseconds that a piece of work takes."""
    start = perf_counter()
    work()
    return 1000 * (perf_counter() - start)


def _population(records: object, names: Sequence[str]) -> object:
    """The table itself and many like it."""
    import pandas as pd

    more = workloads.enlarged(POPULATION)
    columns = [pd.concat([records[name], more[name].astype(records[name].dtype)]) for name in names]
    return pd.concat(columns, axis=1).reset_index(drop=True)


def _problem(records: object, hierarchies: dict[str, Hierarchy], model: PrivacyModel) -> Problem:
    schema = Schema(tuple(hierarchies), (SENSITIVE,) if model.sensitive else ())
    tally = engine.tally(records, schema.columns)
    people = None
    if model.people is not None:
        people = engine.tally(model.people.table, schema.quasi_identifiers)
    taxonomies = taxonomies_of(tally, hierarchies, people)
    counts = schema.counts(tally, taxonomies, people)
    return replace(Problem(counts, taxonomies, [model], Loss()), kernel=NATIVE)


if __name__ == "__main__":
    lines = ["# Searches under every model", "", f"    {COMMAND}", "", *measured()]
    text = "\n".join(lines) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
