"""Independent tasks in several jobs: threads, or where joblib's caller places them.

That may be other processes, on other machines: a task is a function of its module, gets all it
needs, and returns what it finds. What it is given is its own, and nothing that it changes there is
seen by others.

The loops of the kernels release the interpreter's lock, what drives them does not: a task is worth
a job where it spends its time in compiled code, or in large arrays.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

T = TypeVar("T")


def jobs_at_once(n_jobs: int | None) -> int:
    """The number of jobs that run at once, as joblib counts them.

    Joblib takes 30 ms to load. One job needs nothing of it, and without it in the process nobody
    can have called ``parallel_config``.
    """
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))


WORTH_JOBS = 50_000
"""Classes of a table from which on its nodes are shared between jobs.

What drives the kernels takes some 0.1 ms a node and holds the interpreter's lock, compiled code
8 ns a class: of fewer classes two jobs wait for each other's Python more than they gain. An
estimate from these two speeds: benchmarks/bench_jobs.py measures it on an idle machine.
"""


def jobs_for_nodes(n_jobs: int | None, classes: int) -> int:
    """Return the number of jobs to share nodes between, by the classes; 1 where none pays."""
    return jobs_at_once(n_jobs) if classes >= WORTH_JOBS else 1


def placed_elsewhere(jobs: int) -> bool:
    """Return whether joblib's caller chose a place for the jobs other than threads of here."""
    if jobs == 1:
        return False
    from joblib import parallel

    backend, _ = parallel.get_active_backend(prefer="threads")
    return type(backend) is not parallel.ThreadingBackend


def in_parallel(
    function: Callable[..., T], tasks: Sequence[tuple[object, ...]], n_jobs: int | None
) -> list[T]:
    """Return the results of independent tasks; where they run is up to joblib and its caller."""
    return list(as_done(function, tasks, n_jobs))


def as_done(
    function: Callable[..., T], tasks: Sequence[tuple[object, ...]], n_jobs: int | None
) -> Iterator[T]:
    """Yield the results of independent tasks in order, each as soon as it is there."""
    if len(tasks) < 2 or jobs_at_once(n_jobs) == 1:
        return (function(*task) for task in tasks)
    import joblib

    backend, _ = joblib.parallel.get_active_backend(prefer="threads")
    # Results in order, as they come, where the place of the jobs can hand them over one by one.
    way = "generator" if backend.supports_return_generator else "list"
    jobs = (joblib.delayed(function)(*task) for task in tasks)
    found = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as=way)(jobs)
    return cast(Iterator[T], iter(found))
