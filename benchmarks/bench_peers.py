"""One study in the words of other tools: what each keeps of the same table, and whether it holds.

    python -m venv PEERS && PEERS/bin/pip install anjana
    ANONYMIZER_PEERS=PEERS/bin/python python benchmarks/bench_peers.py

Needs the directory of data sets in ANONYMIZER_DATA (arx-adult/). Writes
benchmarks/results/peers.md, whose tables docs/migration repeats.

anjana runs here, in a process of its own. ARX needs Java and a download of its own, so its rows are
the levels that it chose in runs of its own (tests/recoding/test_arx.py has them, too): the table
at these levels is made anew, counted and checked like the others, and no time is given.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from platform import python_version
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import workloads
from measure import table
from peers import Ask, audit, installed, released_by
from workloads import Workload

from anonymizer import (
    Anonymizer,
    AnonymizerError,
    Check,
    Cut,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    KAnonymity,
    Loss,
    PrivacyModel,
    TCloseness,
    __version__,
    check,
)
from anonymizer.information.entropy import mutual_information

RESULTS = Path(__file__).parent / "results" / "peers.md"
MARITAL, SALARY = "marital-status", "salary-class"
K5, L2, T5 = KAnonymity(5), EntropyLDiversity(2), TCloseness(0.5, distance="equal")
POLICIES: Mapping[str, tuple[PrivacyModel, ...]] = {
    "k = 5": (K5,),
    "k = 5, entropy l = 2": (K5, L2),
    "k = 5, t = 0.5": (K5, T5),
}
ARX = [
    (0, "loss", (0, 4, 0, 3, 2, 2, 1, 1)),
    (0, "non-uniform entropy", (0, 4, 1, 1, 2, 2, 1, 1)),
    (0.02, "loss", (0, 4, 0, 2, 1, 1, 1, 1)),
]
"""Share, quality model and the levels that ARX chose under k = 5 and entropy l = 2."""
HEAD = ("tool", "bits", "classes", "suppressed", "holds: k, l, t", "DM", "s", "levels")
NOTES = f"""# One study in other tools

Made by `python benchmarks/bench_peers.py` with ANONYMIZER_DATA and ANONYMIZER_PEERS set.
{{versions}}

30 162 records of Adult with ARX's hierarchies, eight quasi-identifiers, W = {MARITAL}.
t is the earth mover's distance with all values 1 apart.

- *bits*: I(X~;W). Suppressed records count as one class.
- *suppressed*: records removed, or with all quasi-identifiers `*`.
- *holds*: whether the released table satisfies the policy, by `check`; and the k, the entropy l and
  the t of its worst class.
- *DM*: discernibility in millions, the sum of n_g^2; N for each suppressed record.
- *s*: seconds from a DataFrame to a released DataFrame, one run each. ARX was not run: its rows
  are the tables at the levels that it chose in runs of its own. The machine had other work, so
  compare seconds with each other alone.
- *levels*: a digit each for sex, age, race, education, native-country, workclass, occupation and
  salary-class, or fewer of these.
"""


@dataclass(frozen=True, eq=False)
class Row:
    """What a tool made of a workload: a released table and its levels, or why there is none."""

    tool: str
    released: pd.DataFrame | None = None
    levels: Sequence[object] = ()
    seconds: float | None = None
    failure: str = ""


def eight(models: tuple[PrivacyModel, ...], share: float) -> Workload:
    """The eight attributes about marital status under a policy."""
    (base, *_) = [w for w in workloads.eight_attributes() if w.sensitive == (MARITAL,)]
    return replace(base, models=models, suppression=share)


def ours(workload: Workload, tool: str = "anonymizer", **options: Any) -> Row:
    """Release by this library."""
    columns = [*workload.names, *workload.sensitive]
    start = perf_counter()
    anonymizer = Anonymizer(workload.hierarchies, workload.sensitive, workload.models, **options)
    try:
        released = anonymizer.fit_transform(workload.table[columns])
    except AnonymizerError as error:
        return Row(tool, failure=str(error).partition("\n")[0])
    seconds = perf_counter() - start
    levels = anonymizer.release_.levels or {}
    whole = tuple(levels.values()) if len(levels) == len(workload.names) else ("cuts",)
    return Row(tool, released.astype(str), whole, seconds)


def anjana(workload: Workload, ask: Ask) -> Row:
    """Release by anjana, where it is installed."""
    if installed("anjana") is None:
        return Row("anjana", failure="not installed")
    found = released_by(workload, ask)
    if found.table is None:
        return Row("anjana", seconds=found.seconds, failure=found.failure or "")
    levels = audit(workload, ask, found.table).levels
    return Row("anjana", found.table, levels, found.seconds)


def requested(
    models: Sequence[PrivacyModel], share: float, about: str, sort: str | None = None
) -> Ask:
    """A policy in anjana's words: k, and one model about a sensitive attribute at most."""
    diversity = next((m.l for m in models if isinstance(m, EntropyLDiversity)), None)
    closeness = next((m.t for m in models if isinstance(m, TCloseness)), None)
    size = next((m.k for m in models if isinstance(m, KAnonymity)), None)
    whole = None if diversity is None else int(diversity)
    return Ask("anjana", size, whole, closeness, about, share, sort)


def remade(workload: Workload, model: str, levels: Sequence[int]) -> Row:
    """The table at the levels that ARX chose, records that break the policy removed."""
    named = dict(zip(workload.names, levels, strict=True))
    share = workload.suppression
    recoding = Fixed(levels=named, suppression=share, remove=share > 0, suppress="any")
    return replace(ours(workload, f"ARX, {model}", recoding=recoding), seconds=None)


def rows_of(workload: Workload) -> Iterator[Row]:
    """Every tool on a workload."""
    share = workload.suppression
    yield ours(workload, recoding=FullDomain(suppression=share, suppress="any"))
    if workload.models != (K5,):  # k alone is searched under the loss as it is
        losing_least = {"objective": Loss(aggregate="geometric-mean")}
        recoding = FullDomain(suppression=share, suppress="any")
        yield ours(workload, "anonymizer, ARX's loss", recoding=recoding, **losing_least)
    if not share:
        yield ours(workload, "anonymizer, `cut`", recoding=Cut())
    yield anjana(workload, requested(workload.models, share, MARITAL))
    if workload.models == (K5, L2):
        for limit, model, levels in ARX:
            if limit == share:
                yield remade(workload, model, levels)


def described(workload: Workload, row: Row) -> list[object]:
    """The cells of a row from its tool on."""
    taken = "" if row.seconds is None else f"{row.seconds:.2f}"
    if row.released is None:
        return [row.tool, "", "", "", row.failure, "", taken, ""]
    joint, suppressed = counted(workload, row.released)
    kept = joint.sum(axis=1)[:-1] if suppressed else joint.sum(axis=1)
    cost = int((kept**2).sum()) + suppressed * len(workload.table)
    return [
        row.tool,
        f"{mutual_information(joint):.4f}",
        len(kept),
        suppressed,
        verdict(workload, row.released),
        f"{cost / 1e6:.1f}",
        taken,
        "".join(map(str, row.levels)),
    ]


def counted(workload: Workload, released: pd.DataFrame) -> tuple[np.ndarray[Any, Any], int]:
    """The classes by sensitive values, those suppressed as the last; and how many these are."""
    (about,) = workload.sensitive
    margin = workload.table[about].value_counts()
    keys = [released[name] for name in workload.names]
    found = pd.crosstab(keys, released[about]).reindex(columns=margin.index, fill_value=0)
    star = (found.index.to_frame() == "*").all(axis=1).to_numpy() & (len(found) > 1)
    classes = found.to_numpy(np.int64)
    gone = margin.to_numpy(np.int64) - classes[~star].sum(axis=0)
    joint = np.vstack([classes[~star], gone]) if gone.any() else classes[~star]
    return joint, int(gone.sum())


def verdict(workload: Workload, released: pd.DataFrame) -> str:
    """Whether the released table satisfies the policy, by `check`, and its worst class."""
    (about,) = workload.sensitive
    found = check(released, list(workload.names), about, list(workload.models))
    within = len(workload.table) - len(released) <= workload.suppression * len(workload.table)
    return f"{'yes' if found.satisfied and within else 'NO'}: {worst(found, about)}"


def worst(found: Check, about: str) -> str:
    """The strictest k, l and t that every class satisfies."""
    strictest = found.sensitive[about]
    return f"{found.k}, {strictest['entropy_l']:.2f}, {strictest['t_equal']:.2f}"


def kept(name: str) -> Iterator[str]:
    """What each tool keeps under a policy."""
    for share in (0, 0.02, 0.05) if POLICIES[name] == (K5, L2) else (0, 0.05):
        workload = eight(POLICIES[name], share)
        yield f"At most {share:.0%} suppressed:"
        yield ""
        yield from table(HEAD, [described(workload, row) for row in rows_of(workload)])
        yield ""


def unreachable() -> Iterator[str]:
    """Entropy l = 2 about a salary class that 25 % and 75 % have: H(W) is 0.81 bits."""
    (base, *_) = workloads.eight_attributes()
    names = [MARITAL, *(name for name in base.names if name not in (MARITAL, SALARY))]
    hierarchies = {**base.hierarchies, **eight((K5,), 0).hierarchies}
    workload = replace(
        base,
        hierarchies={name: hierarchies[name] for name in (*names, "occupation")},
        sensitive=(SALARY,),
        models=(K5, L2),
    )
    yield "k = 5 and entropy l = 2 about salary-class. Its whole column has 2^0.81 = 1.75 effective"
    yield "values, so no recoding reaches 2."
    yield ""
    rows = [ours(workload), anjana(workload, requested(workload.models, 0, SALARY))]
    yield from table(HEAD, [described(workload, row) for row in rows])


def unordered() -> Iterator[str]:
    """A t-closeness that holds or not by how the index of a DataFrame is labelled."""
    yield "k = 5 and t = 0.3 about marital-status, four quasi-identifiers (sex, age, race,"
    yield "education); the second run on the same records sorted by age, with the index that"
    yield "sorting leaves."
    yield ""
    (base, *_) = workloads.four_attributes()
    workload = replace(base, models=(K5, TCloseness(0.3, distance="equal")))
    rows = [described(workload, ours(workload))]
    for sort in (None, "age"):
        row = anjana(workload, requested(workload.models, 0, MARITAL, sort))
        tool = f"{row.tool}, sorted by {sort}" if sort else row.tool
        rows.append(described(workload, replace(row, tool=tool)))
    yield from table(HEAD, rows)


SECTIONS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{name: partial(kept, name) for name in POLICIES},
    "A policy that nothing reaches": unreachable,
    "Records in another order": unordered,
}


def main() -> None:
    """Run everything, and write."""
    own = f"anonymizer {__version__}, pandas {pd.__version__}, Python {python_version()}"
    versions = f"{own}; {installed('anjana') or 'anjana is not installed'}."
    ours(eight((K5,), 0))  # kernels are loaded before the first time is taken
    lines = [NOTES.format(versions=versions)]
    for title, section in SECTIONS.items():
        lines += [f"## {title}", "", *section(), ""]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
