"""What a choice that tells nothing costs: against = "method" beside the ordinary optimum, on Adult.

    ANONYMIZER_DATA=... python benchmarks/bench_method.py [RUNS]

Writes benchmarks/results/method.md. The table is ARX's extract of Adult, marital-status is
sensitive. Each recoding is searched for as usual, then RUNS times by rehearsals. What is kept is
I(X~;W) of the released table, of the tables that were released; a run is refused where the policy
breaks on the true values. Times are of `fit` on a DataFrame, in turn, with one of each before that
is not counted.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import pandas as pd
from measure import table as markdown
from workloads import eight_attributes

from anonymizer import (
    Anonymizer,
    Boxes,
    Cut,
    EntropyLDiversity,
    FullDomain,
    KAnonymity,
    PolicyBrokenError,
    PolicyUnreachableError,
    TCloseness,
    VariableRange,
)
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.recoding import Recoding

RUNS = 10
LARGE = 300
RESULTS = Path(__file__).parent / "results" / "method.md"
ABOUT = "marital-status"
ORDER = (
    *("sex", "age", "race", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
)

RECODINGS: Sequence[tuple[str, Recoding]] = (
    ("levels", FullDomain()),
    (f"ranges of age, min-records = {LARGE}", VariableRange(refine=["age"], min_records=LARGE)),
    (f"cut, min-records = {LARGE}", Cut(min_records=LARGE)),
    (f"boxes, min-records = {LARGE}", Boxes(refine=["age"], min_records=LARGE)),
)
POLICIES: Sequence[tuple[str, list[PrivacyModel]]] = (
    ("l = 2, entropy", [KAnonymity(5), EntropyLDiversity(2)]),
    ("t = .5, equal distance", [KAnonymity(5), TCloseness(0.5, "equal")]),
)


def fits(anonymizer: Anonymizer, table: pd.DataFrame) -> tuple[float, float | None]:
    """Fit: the seconds it took, and the bits that the release keeps; None where it was refused."""
    begin, bits = perf_counter(), None
    with suppress(PolicyBrokenError, PolicyUnreachableError):
        bits = anonymizer.fit(table).release_.information.retained
    return perf_counter() - begin, bits


def row_of(table: pd.DataFrame, plain: Anonymizer, safe: Anonymizer, runs: int) -> list[str]:
    """What both keep, in turn: a row of the result."""
    found = [(fits(plain, table), fits(safe, table)) for _ in range(runs + 1)][1:]
    ordinary = found[0][0][1] or 0.0
    kept = [bits for _, (_, bits) in found if bits is not None]
    share = [f"{mean(kept):.3f}", f"{mean(kept) / ordinary:.0%}"] if kept else ["", ""]
    before, after = (median(turn[place][0] for turn in found) for place in range(2))
    return [f"{ordinary:.3f}", *share, f"{len(kept)} of {runs}", f"{after / before:.1f}"]


def main(runs: int = RUNS) -> None:
    """Measure all; write the results."""
    rows = []
    known = eight_attributes()[-1]  # about marital-status
    for number in (4, 6, 8):
        names = ORDER[:number]
        hierarchies = {name: known.hierarchies[name] for name in names}
        table = known.table[[*names, ABOUT]]
        for policy, models in POLICIES:
            for name, recoding in RECODINGS:
                if number > 4 and name.startswith("boxes"):
                    continue  # minutes each
                plain = Anonymizer(hierarchies, ABOUT, models, recoding=recoding)
                safe = Anonymizer(hierarchies, ABOUT, models, recoding=recoding, against="method")
                rows.append([number, policy, name, *row_of(table, plain, safe, runs)])
                print(*rows[-1], sep="  ", flush=True)
    heads = ["attributes", "policy", "recoding", "optimum, bits", "kept, bits", "share"]
    lines = [
        '# What `against = "method"` keeps of Adult',
        "",
        f"Made by `python benchmarks/bench_method.py {runs}`: ARX's extract, 30,162 records, "
        f"{ABOUT} sensitive, k = 5, odds = 1.25. Kept is the mean over the runs that released; the "
        "time is the ratio of medians to that of the ordinary fit.",
        "",
        *markdown([*heads, "released", "time"], rows),
        "",
    ]
    RESULTS.write_text("\n".join(lines))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
