"""Smaller problems: the same with something left out, as long as the same goes wrong."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cases import Case
from oracle import Brute, Chain

from anonymizer.hierarchy import Hierarchy

Fails = Callable[[Case], bool]

STEPS = 400
"""Smaller problems that are tried at the most."""


def smallest(case: Case, fails: Fails) -> Case:
    """A problem that fails, and of which nothing can be left out so that it still does."""
    left, smaller = STEPS, True
    while smaller and left > 0:
        smaller = False
        for other in _smaller(case):
            left -= 1
            if _still(other, fails):
                case, smaller = other, True
                break
            if left <= 0:
                break
    return case


def _still(case: Case, fails: Fails) -> bool:
    """Whether a problem fails; one that makes no sense does not."""
    try:
        return fails(case)
    except Exception:
        return False


def _smaller(case: Case) -> Iterator[Case]:
    """Problems with one thing left out, the largest parts of the table first."""
    yield from _fewer_models(case)
    yield from _fewer_columns(case)
    yield from _fewer_records(case)
    yield from _plainer(case)


def _fewer_models(case: Case) -> Iterator[Case]:
    models = case.brute.models
    for place in range(len(models) if len(models) > 1 else 0):
        yield _with(case, models=[*models[:place], *models[place + 1 :]])


def _fewer_columns(case: Case) -> Iterator[Case]:
    """Without a quasi-identifier, or a sensitive attribute."""
    brute = case.brute
    for name in brute.chains if len(brute.chains) > 1 else ():
        chains = {other: chain for other, chain in brute.chains.items() if other != name}
        limits = {other: limit for other, limit in brute.limits.items() if other != name}
        hierarchies = {other: case.hierarchies[other] for other in chains}
        smaller = replace(brute, chains=chains, limits=limits, weights=_without(brute, name))
        yield Case(smaller, hierarchies)
    for name in brute.sensitive:
        sensitive = [other for other in brute.sensitive if other != name]
        targets = {other: weight for other, weight in brute.targets.items() if other != name}
        if bool(targets) == bool(brute.targets):
            weights = _without(brute, name)
            yield _with(case, sensitive=sensitive, targets=targets, weights=weights)


def _without(brute: Brute, name: str) -> dict[str, float]:
    return {other: weight for other, weight in brute.weights.items() if other != name}


def _fewer_records(case: Case) -> Iterator[Case]:
    """Without a half of the records, a quarter, ..., one."""
    rows = case.brute.rows
    size = len(rows) // 2
    while size:
        for start in range(0, len(rows), size):
            yield of_rows(case, [*rows[:start], *rows[start + size :]])
        size //= 2


def of_rows(case: Case, rows: Sequence) -> Case:
    """The problem of some of its records; hierarchies forget values that they do not list."""
    brute = case.brute
    chains = {
        name: _known(chain, case.hierarchies[name], {each[name] for each in (*rows, *brute.people)})
        for name, chain in brute.chains.items()
    }
    return _with(case, rows=list(rows), chains=chains)


def _known(chain: Chain, hierarchy: Hierarchy, occurring: set) -> Chain:
    known = {*occurring, *hierarchy.listed}
    return replace(
        chain, labels={value: row for value, row in chain.labels.items() if value in known}
    )


def _plainer(case: Case) -> Iterator[Case]:
    """Without weights, without suppression, without what is said of it, or all levels allowed."""
    brute = case.brute
    if brute.weights:
        yield _with(case, weights={})
    if brute.share:
        yield _with(case, share=0.0)
    if brute.remove:
        yield _with(case, remove=False)
    if brute.suppress != "any":
        yield _with(case, suppress="any")
    if brute.exempt:
        yield _with(case, exempt=False)


def _with(case: Case, **changed: object) -> Case:
    return replace(case, brute=replace(case.brute, **changed))
