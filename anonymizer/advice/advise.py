"""Advice on the policy of an anonymizer for a table, from one count of it."""

from dataclasses import replace
from typing import Any

from anonymizer.advice.advice import Advice
from anonymizer.advice.adviser import Adviser
from anonymizer.advice.policy import confined, objective_for
from anonymizer.advice.space import Space, within_time
from anonymizer.advice.sweep import SWEPT
from anonymizer.errors import InputError, require_one_of
from anonymizer.recoding import Problem, Watch, ignore
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.levels import Fixed, node_of
from anonymizer.recoding.recoding import Task
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.frames import table_of
from anonymizer.release.relations import CountedTable
from anonymizer.release.study import Study


def advise(
    anonymizer: Anonymizer,
    table: Any,
    *,
    model: str | None = None,
    sweep: bool = True,
    relax: bool = True,
    time_limit: float | None = None,
) -> Advice:
    """Say what the policy of an anonymizer costs and protects on a table, and what to change.

    The table is counted once; all else is searched for on the counts. Nothing is released.

    Parameters
    ----------
    anonymizer
        Roles, policy, recoding and objective; it need not be fitted.
    table
        The table: a DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.
    model
        What is swept about each sensitive attribute: ``"t-closeness"`` or
        ``"entropy-l-diversity"``. By default the model that the policy has, else t-closeness with
        the divergence.
    sweep
        Whether anything is swept.
    relax
        Whether looser models and suppression are searched for a drastic result, too, which takes
        most of the time.
    time_limit
        Seconds after which what is known by then is returned, ``complete`` being False.

    Raises
    ------
    InputError
        When table and parameters do not fit together, or the recoding is none that generalizes.
    """
    recoding = _require_advisable(anonymizer, model)
    raw = CountedTable.of(table_of(table), anonymizer.schema.columns, anonymizer.hierarchies)
    task = anonymizer.task(raw.table, raw.hierarchies)
    return advise_counted(
        recoding, task, model=model, sweep=sweep, relax=relax, time_limit=time_limit
    )


def _require_advisable(anonymizer: Anonymizer, model: str | None) -> Generalization:
    """The recoding that advice is on; InputError where there is none on it, or on the model."""
    if model is not None:
        require_one_of("model", model, SWEPT)
    recoding = anonymizer.chosen_recoding
    if not isinstance(recoding, Generalization):
        raise InputError(
            f"advice is searched for on counts, and recoding {recoding.name!r} is not: choose "
            "full-domain, say, to get it"
        )
    return recoding


def advise_counted(
    recoding: Generalization,
    task: Task,
    *,
    model: str | None = None,
    sweep: bool = True,
    relax: bool = True,
    time_limit: float | None = None,
) -> Advice:
    """Advise on the policy of a task, whose table is counted already; see ``advise``."""
    run = within_time(replace(task.run, time_limit=time_limit))
    space = space_of(recoding, replace(task, run=run))
    return Adviser(space, recoding, model, sweep, relax, task.seed, time_limit).advice()


def advise_study(
    study: Study,
    *,
    model: str | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    watch: Watch = ignore,
) -> Advice:
    """Advise on the policy of a study for its table; see ``advise``."""
    anonymizer = study.anonymizer(n_jobs, watch)
    recoding = _require_advisable(anonymizer, model)
    with study.opened(watch) as table:
        watch("counting the table", 0, None)
        raw = CountedTable.of(
            table, anonymizer.schema.columns, study.hierarchies, study.data_format
        )
        task = anonymizer.task(raw.table, raw.hierarchies)
    return advise_counted(recoding, task, model=model, time_limit=time_limit)


def space_of(recoding: Generalization, task: Task) -> Space:
    """The lattice of a task, confined as its recoding is; nothing is refused as impossible."""
    counted = task.counted
    objective = objective_for(task.objective)
    models = confined(task.models, recoding.bounds, counted.counts.records)
    fixed = node_of(recoding.levels, counted.taxonomies) if isinstance(recoding, Fixed) else None
    problem = Problem(counted.counts, counted.taxonomies, models, objective, recoding.budget)
    return Space(problem, task.run, fixed)
