"""Time what a model needs of a plan: one row, many rows, a fit, cross-validation.

    python benchmarks/bench_serving.py

Needs arx-adult/ in the directory of data sets that ANONYMIZER_DATA names. Writes
benchmarks/results/serving.md.
"""

import os
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from anonymizer import Anonymizer, FullDomain, KAnonymity

RESULTS = Path(__file__).parent / "results" / "serving.md"
QUASI = (
    *("age", "education", "marital-status", "native-country"),
    *("occupation", "race", "sex", "workclass"),
)
INTRODUCTION = """# Rows for a model

Made by `python benchmarks/bench_serving.py` with ANONYMIZER_DATA set. The plan is that of the Adult
extract (30 162 records, 8 quasi-identifiers, k = 5, at most 5 % suppressed). Rows are recoded by
`Anonymizer(verify=False, unseen="any")`; a row is another one each time.

| what | calls | ms, median | ms, 95th percentile |
|---|---|---|---|
"""


def timed(calls: int, work: Callable[[int], object]) -> str:
    """The cells of a row: how often, and how long it took, the first call left out."""
    work(0)
    times = []
    for number in range(1, calls + 1):
        start = perf_counter()
        work(number)
        times.append(1_000 * (perf_counter() - start))
    late = quantiles(times, n=20)[-1] if calls > 1 else times[0]
    return f"{calls} | {median(times):.2f} | {late:.2f}"


def main() -> None:
    """Measure and write."""
    data = Path(os.environ["ANONYMIZER_DATA"], "arx-adult")
    table = pd.read_csv(data / "adult.csv", sep=";")
    X, y = table[list(QUASI)], table["salary-class"]  # noqa: N806
    hierarchies = {name: data / f"adult_hierarchy_{name}.csv" for name in QUASI}
    anonymizer = Anonymizer(
        hierarchies,
        "salary-class",
        [KAnonymity(5)],
        recoding=FullDomain(suppression=0.05),
        verify=False,
        unseen="any",
    )
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(anonymizer, encoder, LogisticRegression(max_iter=500)).fit(X, y)
    rows = [X.iloc[[number]] for number in range(201)]
    records = [row.to_dict("records")[0] for row in rows]
    plan, some = anonymizer.plan_, X.head(10_000)
    measured = {
        "a row, `Plan.apply`": timed(
            200, lambda n: plan.apply(rows[n], verify=False, unseen="any")
        ),
        "a row, `pandas.DataFrame([record])` alone": timed(
            200, lambda n: pd.DataFrame([records[n]])
        ),
        "a row, `Anonymizer.transform`": timed(200, lambda n: anonymizer.transform(rows[n])),
        "a row, `Pipeline.predict`, encoder and logistic regression": timed(
            200, lambda n: model.predict(rows[n])
        ),
        "10,000 rows, `Anonymizer.transform`": timed(9, lambda _: anonymizer.transform(some)),
        "30,162 rows, `Anonymizer.fit`": timed(5, lambda _: anonymizer.fit(X, y)),
        "10,000 rows, `cross_val_score` of the pipeline, 5 folds": timed(
            1, lambda _: cross_val_score(model, some, y.head(10_000), cv=5)
        ),
    }
    lines = [f"| {what} | {cells} |" for what, cells in measured.items()]
    RESULTS.write_text(INTRODUCTION + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
