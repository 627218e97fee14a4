"""How a recoding is chosen for a problem, and what is said of the choice."""

from collections.abc import Callable, Mapping, Sequence
from math import inf

from anonymizer.counts.counts import Recoding
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import (
    InputError,
    PolicyUnreachableError,
    column_names,
    did_you_mean,
    function_of,
    is_whole,
    name_of,
    require_one_of,
)
from anonymizer.hierarchy import Taxonomy
from anonymizer.privacy import require_class_by_class, require_monotone
from anonymizer.recoding import (
    SEARCHES,
    STRATEGIES,
    Bounds,
    Found,
    Problem,
    Refiner,
    Run,
    Search,
    refine_within,
    solve,
    with_few_classes,
    with_large_classes,
)
from anonymizer.recoding.hasse import traced
from anonymizer.recoding.lattice import Node, level_recoding
from anonymizer.recoding.result import SearchResult
from anonymizer.recoding.trace import Trace

__all__ = [
    "CUTTING",
    "RECODINGS",
    "REGIONAL",
    "attributes_to_group",
    "attributes_to_refine",
    "best_cuts",
    "best_levels",
    "given_levels",
    "node_of",
    "regional_search",
]

RECODINGS = ("full-domain", "variable-range", "cut", "boxes", "classes", "fixed")
"""One level per attribute, ranges of their own for ordered attributes, cuts through the taxonomies
of the others too; a box for every class, merged cells; or levels that are given."""

CUTTING = ("variable-range", "cut")
"""Those under which attributes get partitions of their own."""

REGIONAL = ("boxes", "classes")
"""Those under which every class has groups of its own."""

Choice = tuple[Recoding, SearchResult]


def best_levels(problem: Problem, search: str | Search, run: Run, bounds: Bounds) -> Choice:
    """The best node of the lattice.

    Raises
    ------
    PolicyUnreachableError
        When no node is feasible.
    InputError
        When the search cannot answer for such a problem.
    """
    _require_levels_within(problem, bounds)
    found = solve(with_few_classes(with_large_classes(problem, bounds), bounds), search, run)
    if found is None:
        raise _unreachable(problem, bounds)
    recoding = level_recoding(problem.taxonomies, problem.counts.names, found.node)
    return recoding, _said_of(problem, found)


def given_levels(problem: Problem, levels: object, bounds: Bounds) -> Choice:
    """The node of given levels.

    Raises
    ------
    InputError
        When the levels are not those of the quasi-identifiers, or a search is to be confined.
    PolicyUnreachableError
        When the node is not feasible.
    """
    if bounds.stated:
        raise InputError(
            f"{' and '.join(bounds.stated)} confine a search, and levels that are given leave "
            "nothing to search for; leave out either"
        )
    node = node_of(levels, problem.taxonomies)
    evaluator = problem.evaluator
    candidate = evaluator.candidate(node, evaluator.sets().at(node))
    if candidate is None:
        raise _unreachable(problem, bounds, "the levels given do not satisfy")
    score = evaluator.value(node)
    trace = Trace.of(problem.lattice, [(score, 0, node)], [node], [node])
    found = Found("fixed", node, score, score, True, 1, 1, trace=trace)
    return level_recoding(problem.taxonomies, problem.counts.names, node), _said_of(problem, found)


def node_of(levels: object, taxonomies: Mapping[str, Taxonomy]) -> Node:
    """The node of levels by attribute.

    Raises
    ------
    InputError
        When one lacks, is of no quasi-identifier, or is no level of its hierarchy.
    """
    if not isinstance(levels, Mapping):
        raise InputError("recoding = 'fixed' needs levels: one for every quasi-identifier")
    for name in levels:
        if name not in taxonomies:
            hint = did_you_mean(str(name), taxonomies)
            raise InputError(f"levels names {name!r}, which is no quasi-identifier{hint}")
    for name, taxonomy in taxonomies.items():
        if name not in levels:
            raise InputError(f"levels lacks {name!r}; state a level from 0 to {taxonomy.height}")
        if not is_whole(levels[name], least=0) or levels[name] > taxonomy.height:
            raise InputError(
                f"levels: {name} = {levels[name]!r} must be a whole number from 0 to "
                f"{taxonomy.height}, the height of its hierarchy"
            )
    return tuple(int(levels[name]) for name in taxonomies)


def best_cuts(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: str | Search,
    run: Run,
    bounds: Bounds,
) -> Choice:
    """The best partitions of all attributes, ranges for some of them.

    Raises
    ------
    PolicyUnreachableError
        When no node of the lattice is feasible, so that no other recoding is either.
    InputError
        When something is asked that only full-domain recoding can do.
    """
    require_class_by_class(problem.models, refiner.name)
    require_monotone(problem.models, refiner.name)
    if problem.suppression.share:
        raise InputError(
            "suppression is for full-domain recoding; leave it out, or choose "
            'recoding = "full-domain"'
        )
    if search not in SEARCHES and search in STRATEGIES:
        raise InputError(f"strategy {search!r} is for full-domain recoding; leave it out")
    function = function_of("search", search, SEARCHES)
    problem.objective.prepared(problem.counts, problem.taxonomies)
    confined = with_large_classes(problem, bounds)
    nodes = function(confined, run)
    if not nodes.minimal:
        raise _unreachable(problem, bounds)
    refined = refine_within(confined, attributes, refiner, bounds, function, run)
    plain = problem.objective(refined.counts)
    value, bound = (
        problem.objective.stated(score, problem.counts.records)
        for score in (plain, plain + (refined.bound - refined.value))
    )
    known = refined.bound < inf and search in (*SEARCHES, *SEARCHES.values())
    return refined.recoding, SearchResult(
        strategy=nodes.strategy or name_of(search),
        objective=problem.objective.name,
        value=value,
        gap=abs(bound - value) if known else None,
        nodes=nodes.nodes,
        checked=nodes.checked + refined.checked,
        feasible=nodes.feasible,
        minimal=nodes.minimal,
        refinements=refined.refinements,
        proven=known and refined.proven,
        bound=bound if known else None,
        trace=traced(problem, nodes),
    )


def _require_levels_within(problem: Problem, bounds: Bounds) -> None:
    """Refuse bounds that choosing levels, or suppressing classes, cannot keep to."""
    if bounds.min_gain:
        raise InputError(
            "min-gain is for recodings that choose groups one by one; levels decide how many "
            "classes there are: leave it out, or state max-classes"
        )
    if bounds.stated and problem.suppression.share:
        raise InputError(
            f"{' and '.join(bounds.stated)} cannot stand beside suppression, which follows the "
            "policy alone; leave it out, or state k-anonymity"
        )


def regional_search(recoding: str) -> Callable[..., tuple[Regions, SearchResult]]:
    """What searches for classes with groups of their own; loaded here, since it is compiled.

    Raises
    ------
    InputError
        When what compiles it cannot be loaded.
    """
    try:
        from anonymizer.recoding.regional import best_regions
    except ImportError:
        raise InputError(
            f"recoding = {recoding!r} needs numba, which cannot be loaded here; reinstall it, or "
            "choose another recoding"
        ) from None
    return best_regions


def attributes_to_refine(
    recoding: str, stated: object, taxonomies: Mapping[str, Taxonomy]
) -> tuple[str, ...]:
    """The attributes that get ranges; none under recodings without.

    ``stated``: those that were named; None for all ordered ones.
    """
    require_one_of("recoding", recoding, RECODINGS)
    named = _quasi_identifiers("refine", stated, taxonomies)
    if recoding not in (*CUTTING, *REGIONAL):
        return ()
    ordered = tuple(name for name, taxonomy in taxonomies.items() if taxonomy.ordered)
    chosen = ordered if named is None else named
    if recoding == "variable-range" and named == ():
        raise InputError("refine is empty: name the attributes that get ranges, or leave it out")
    if recoding == "variable-range" and not chosen:
        raise InputError(
            "variable-range recoding needs an ordered attribute: one with a hierarchy of "
            "numbers or ranges; none of the quasi-identifiers has one"
        )
    return chosen


def attributes_to_group(
    recoding: str, stated: object, refined: object, taxonomies: Mapping[str, Taxonomy]
) -> tuple[str, ...]:
    """The attributes whose values are grouped in any way.

    ``stated``: those that were named; ``refined``: those that were named to get ranges.
    """
    named = _quasi_identifiers("group", stated, taxonomies) or ()
    if named and recoding not in CUTTING:
        raise InputError(
            f"group is for recoding = {' or '.join(map(repr, CUTTING))}, not for {recoding!r}"
        )
    for name in _quasi_identifiers("refine", refined, taxonomies) or ():
        if name in named:
            raise InputError(f"{name!r} gets ranges or groups: name it in refine or in group")
    return named


def _quasi_identifiers(
    what: str, stated: object, taxonomies: Mapping[str, Taxonomy]
) -> tuple[str, ...] | None:
    """Quasi-identifiers that were named, each once; None where none had to be."""
    if stated is None:
        return None
    named = column_names(what, stated)
    for name in named:
        if name not in taxonomies:
            hint = did_you_mean(str(name), taxonomies)
            raise InputError(f"{what} names {name!r}, which is no quasi-identifier{hint}")
    return tuple(dict.fromkeys(named))


def _said_of(problem: Problem, found: Found) -> SearchResult:
    def stated(score: float) -> float:
        return problem.evaluator.objective.stated(score, problem.counts.records)

    return SearchResult(
        strategy=found.strategy,
        objective=problem.objective.name,
        value=stated(found.score),
        gap=abs(stated(found.bound) - stated(found.score)),
        nodes=found.nodes,
        checked=found.checked,
        feasible=found.feasible,
        minimal=found.minimal,
        refinements=0,
        proven=found.proven,
        bound=stated(found.bound),
        trace=traced(problem, found),
    )


def _unreachable(
    problem: Problem,
    bounds: Bounds,
    what: str = "no node of the lattice satisfies",
) -> PolicyUnreachableError:
    names = ", ".join(model.name for model in problem.models)
    share = problem.suppression.share
    budget = f" while at most {share:.3g} of the records are suppressed" if share else ""
    return PolicyUnreachableError(f"{what} all of {names}{bounds.told}{budget}; relax one")
