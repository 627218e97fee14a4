"""Random recodings fitted to a table: channels are tried until a draw of one holds the policy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, isfinite, sqrt
from typing import Any

import numpy as np

from anonymizer.channels import Channel
from anonymizer.errors import InputError, PolicyBrokenError, PolicyUnreachableError
from anonymizer.masking.attribute import Attribute
from anonymizer.masking.bottleneck import bottleneck
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.contingency import Contingency
from anonymizer.masking.drawing import Drawing, Drawn
from anonymizer.masking.noise import noise
from anonymizer.masking.options import DISTORTION, Pram, RandomRecoding
from anonymizer.masking.part import Part
from anonymizer.masking.plan import RandomPlan
from anonymizer.masking.pram import pram
from anonymizer.privacy import PrivacyModel, require_class_by_class, require_possible
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.levels import node_of
from anonymizer.recoding.recoding import Outcome, Task
from anonymizer.recoding.result import SearchResult

CANDIDATES: Mapping[str, Callable[[Part, Any, Sequence[PrivacyModel], float], Iterator[Candidate]]]
CANDIDATES = {"pram": pram, "noise": noise, "bottleneck": bottleneck}
"""What gives the channels of a part, in the order in which they are to be tried, by method.

Of the part, the options, the policy, and the records that every symbol is expected for at least.
"""


def fitted(options: RandomRecoding, task: Task) -> tuple[RandomPlan, Outcome]:
    """Find channels for a table and draw from them."""
    schema, taxonomies = task.counted.schema, task.counted.taxonomies
    # A drawn table cannot answer for models of people, unless class by class.
    require_class_by_class([m for m in task.models if m.people is not None], "a random recoding")
    require_possible(task.counted.counts, task.models)
    node = node_of({**dict.fromkeys(taxonomies, 0), **(options.levels or {})}, taxonomies)
    recoding = level_recoding(taxonomies, tuple(taxonomies), node)
    search = SearchResult(options.name, DISTORTION)
    rng = np.random.default_rng(options.seed)
    plan = RandomPlan(schema, task.models, taxonomies, recoding, search, options, rng, ())
    noisy = options.name == "noise"
    attributes = [
        Attribute.of(name, taxonomies[name], recoding[name], options.distortion_of(name), noisy)
        for name in options.drawn(schema.quasi_identifiers)
    ]
    base = plan.base(task.counted.kept)
    whole = Contingency.of(base, schema)
    named = [schema.quasi_identifiers] if options.jointly else [(each.name,) for each in attributes]
    parts = [Part.of(base, whole, names, attributes) for names in named]
    tables = [part.contingency for part in parts]
    candidates, drawn = _first_that_holds(
        _candidates(parts, schema.quasi_identifiers, options, task.models, len(base)),
        plan.drawing(base, tables),
        tables,
    )
    _require_private(candidates, options)
    plan = replace(plan, candidates=candidates, search=_result_of(options, candidates))
    return plan, plan.outcome(base, tables, drawn)


def _candidates(
    parts: Sequence[Part],
    names: Sequence[str],
    options: RandomRecoding,
    models: Sequence[PrivacyModel],
    records: int,
) -> Iterator[Sequence[Candidate]]:
    """Candidates for every part at a time, in the order they are to be tried.

    Every symbol is expected for as many records as the policy requires of a class, and enough that
    a record more or less hardly matters: a quarter of the square root of all, or the square root of
    what is requested on top of that.
    """
    if options.independent:
        _require_all_drawn(parts, names)
    if isinstance(options, Pram) and options.epsilon is not None:
        # What attributes disclose one by one adds up.
        options = replace(options, epsilon=options.epsilon / len(parts))
    given = options.min_records
    enough = ceil(sqrt(records) / 4) if given is None else given + ceil(sqrt(given))
    least = max([enough, 1, *(int(getattr(model, "k", 1)) for model in models)])
    found = CANDIDATES[options.name]
    return zip(*(found(part, options, models, least) for part in parts), strict=False)


def _require_all_drawn(parts: Sequence[Part], names: Sequence[str]) -> None:
    """Refuse to promise epsilon next to attributes that are released as they are."""
    drawn = {name for part in parts for name in part.names}
    if drawn != {*names} or not all(len(part.blocks) == 1 for part in parts):
        raise InputError(
            "pram: epsilon is promised of all quasi-identifiers or of none; those that are kept as "
            "they are disclose everything; draw all of them"
        )


def _first_that_holds(
    candidates: Iterator[Sequence[Candidate]], drawing: Drawing, tables: Sequence[Contingency]
) -> tuple[Sequence[Candidate], Drawn]:
    """The first channels, one for each part, of which a draw satisfies every model; that draw."""
    tried = 0
    for found in candidates:
        tried += 1
        matrices = [candidate.matrix for candidate in found]
        hopeless = drawing.is_hopeless(tables, matrices)
        drawn = None if hopeless else drawing.draw(tables, matrices)
        if drawn is not None:
            return found, drawn
    raise PolicyUnreachableError(
        f"random recoding: no table drawn from any of {tried} channels satisfied the policy; relax "
        "it (or min-records), choose coarser levels, or draw other attributes"
    )


def _require_private(candidates: Sequence[Candidate], options: RandomRecoding) -> None:
    """Require the local differential privacy that was requested, of the channels as they are."""
    if not isinstance(options, Pram) or options.epsilon is None:
        return
    found = sum(
        Channel(each.matrix, each.part.contingency.values, tuple(each.symbols)).epsilon
        for each in candidates
    )
    if found > options.epsilon * (1 + 1e-9):
        raise PolicyBrokenError(
            f"nothing was released: the channels have epsilon = {found:.6g}, above "
            f"{options.epsilon:g}; request less"
        )


def _result_of(options: RandomRecoding, candidates: Sequence[Candidate]) -> SearchResult:
    """How channels were found: what they distort, and what none can fall below."""
    value = sum(candidate.distortion for candidate in candidates)
    bound, tried = sum(candidate.lower_bound for candidate in candidates), len(candidates)
    known = isfinite(bound)
    return SearchResult(
        options.name,
        DISTORTION,
        value,
        gap=max(value - bound, 0.0) if known else None,
        nodes=tried,
        checked=tried,
        bound=bound if known else None,
    )
