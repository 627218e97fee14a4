"""From what is requested and a table to its release, proven on counts: nothing is remembered."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from anonymizer.counts.roles import require_free
from anonymizer.errors import require_columns
from anonymizer.feedback.logs import logged
from anonymizer.recoding.recoding import RecodingPlan, Task
from anonymizer.release.plan import Plan, PlannedTable, ProvenTable, RecodedTable
from anonymizer.release.relations import CountedTable, shifted_in
from anonymizer.release.request import Request
from anonymizer.tables.files import Format
from anonymizer.tables.relations.relation import Relation


def fitted(
    requested: Request,
    table: Relation,
    form: Format | None = None,
    on_counted: Callable[[Task], object] | None = None,
) -> RecodedTable:
    """Take a table where it lies to its release; errors as ``Anonymizer.fit_transform``.

    Its records are counted and recoded there, and nowhere else: all in between is done on counts.
    ``form``: how it lies in a file. ``on_counted`` is called once the table is counted.
    """
    schema = requested.schema
    require_columns(table.columns, [*schema.columns, *schema.identifiers])
    schema.require_pinned(table.columns)
    if requested.chosen_shift is not None:
        table = shifted_in(table, requested.chosen_shift, schema.person, form)
    raw = CountedTable.of(table, schema.columns, requested.hierarchies, form)
    return proven(requested, raw, on_counted).recoded()


def proven(
    requested: Request, raw: CountedTable, on_counted: Callable[[Task], object] | None = None
) -> ProvenTable:
    """Choose the recoding of a counted table, and prove it; errors as ``fitted``."""
    task = requested.task(raw.table, raw.hierarchies)
    if on_counted is not None:
        on_counted(task)
    return planned(requested, raw.columns, task).proven(raw)


def planned(requested: Request, columns: Sequence[str], task: Task) -> PlannedTable:
    """Choose the recoding of a table with some ``columns``, and carry it out; nothing is proven."""
    recoding, counted = requested.chosen_recoding, task.counted
    schema = counted.schema
    recoding.require_room({*columns} - {*schema.left_out})
    if schema.person_numbers:
        require_free(schema.number, columns, schema.left_out)
    run = task.run.begun if recoding.searches else task.run
    with logged("search", __name__) as nodes:
        fitted, outcome = recoding.fit(replace(task, run=run))
        nodes(_nodes_of(fitted))
    because = requested.objective_for(recoding)[1]
    if because and not fitted.random:
        fitted = replace(fitted, search=replace(fitted.search, because=because))
    drawn = fitted.random or fitted.private  # of values that are drawn no option may tell how
    method = {"method": recoding.name} if drawn else recoding.described | requested.knowing
    shift = requested.chosen_shift
    key = requested.person_key
    plan = Plan(fitted, task.seed, requested.fingerprint, method, shift=shift, person_key=key)
    plan = replace(plan, settled=_settled(requested, plan))
    return PlannedTable(plan, counted.kept, outcome, None if fitted.private else counted.counts)


def _settled(requested: Request, plan: Plan) -> tuple[str, ...]:
    """Those whose ground follows from the table that was fitted: it has cut points of its own.

    A ground of few records has none, so that the hierarchy is without its level.
    """
    known = plan.hierarchies
    return tuple(
        name
        for name, each in requested.hierarchies.items()
        if each.follows_table and name in known and known[name].height == each.height
    )


def _nodes_of(fitted: RecodingPlan) -> dict[str, int | None]:
    """What is logged of a search; nothing of a differentially private one."""
    search = fitted.search
    if fitted.private:
        return {}
    return {"nodes": search.nodes, "checked": search.checked, "feasible": search.feasible}
