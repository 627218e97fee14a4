"""A process of bench_user.py: fits what is asked for, by whichever checkout it finds.

It imports nothing but what every checkout has.
"""

import sys
from functools import partial
from time import process_time

import workloads
from workloads import Workload

import anonymizer
from anonymizer import Anonymizer


def serve() -> None:
    """Fit what is asked for on standard input, line by line, and print the seconds it took."""
    nine, suppressed = workloads.nine_attributes()
    names = list(nine.names)
    work = {
        "group-by": lambda: nine.table.groupby(names, observed=True).size(),
        "fit": lambda: fitted(nine, "loss"),
        "fit, 2 % suppressed": lambda: fitted(suppressed, "discernibility"),
    }
    for line in sys.stdin:
        start = process_time()
        work[line.strip()]()
        print(process_time() - start, flush=True)


def fitted(workload: Workload, objective: str) -> object:
    """Fit as a user does, from a DataFrame to a verified release."""
    make = Anonymizer, workload.hierarchies, workload.sensitive, workload.models
    return partial(*make, objective=objective, **budget(workload.suppression))().fit(workload.table)


def budget(share: float) -> dict[str, object]:
    """The share of records that may be suppressed, as the checkout has it."""
    if not hasattr(anonymizer, "FullDomain"):
        return {"suppression": share}
    return {"recoding": anonymizer.FullDomain(suppression=share)}


if __name__ == "__main__":
    serve()
