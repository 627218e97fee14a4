"""The attacker who knows the method: what a search reveals by what it did not release.

He knows the quasi-identifiers of all records, the release, the study and this program. With S the
event that the search releases in a world what it released (see ``simulation``), and worlds as
likely as the ways that they stand for,

    p(w | c, S) = E[n_cw | S] / n_c.

A search depends on nothing else of a table, so that S is all that its choice says: that finer
releases break the policy follows from S. Worlds are listed where they are few and a search is
quick; otherwise walks go through those in S (see ``walks``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, cast

import numpy as np

from anonymizer.counts.counting import Counted
from anonymizer.counts.persons import joint_of, of_column
from anonymizer.counts.schema import Schema
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import plural
from anonymizer.information.matrices import dense, largest
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy import population_of
from anonymizer.recoding.best import Best
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.problem import Run
from anonymizer.recoding.recoding import Task
from anonymizer.release.study import Study
from anonymizer.risk.minimality import DRAWS, TOGETHER, Beliefs, Minimality, at_most
from anonymizer.risk.placement import PlacedPeople, text_as_read
from anonymizer.risk.simulation import (
    Dealing,
    LateError,
    Released,
    SimulatedSearch,
    Simulation,
    TooManyValuesError,
    cells_of,
    limited,
    sees_no_value,
)
from anonymizer.risk.walks import SIMULATING, SLOW_SEARCH, Walks, squared_errors, too_many
from anonymizer.version import __version__

EVERY = "every recoding"
"""What is attacked: each that the search could have preferred, not the next finer ones alone."""

MOST_WORLDS = 20_000
"""Worlds that are listed, each with a search."""

SECONDS = 25.0
"""Seconds that listing may take, and walking as well: an audit ends within a minute."""

LACKING = "the original lacks a sensitive attribute"

PILOT = 32
"""Searches that the time of the others is estimated from."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """What the searches say: mean worlds, shape (walks, batches, cells, kinds).

    A single one is exact. ``effective``: the independent draws that walks are worth.
    """

    means: Floats
    known: Minimality
    effective: float = 0.0

    def beliefs(self, kind: Codes, world: Ints, classes: Sequence[Codes]) -> Beliefs:
        """Return the beliefs about an attribute, by the value of each combination of values."""
        cells = np.concatenate(classes)
        sizes = world[cells].sum(axis=1)[:, None]
        every = by_value(self.means[:, :, cells], kind) / sizes
        shares = [
            np.broadcast_to(own.sum(axis=0) / own.sum(), own.shape)
            for own in (by_value(world[each], kind) for each in classes)
        ]
        error = np.zeros(every.shape[2:])
        if self.effective:  # what never happened in so many draws may be as likely
            error = np.maximum(np.sqrt(squared_errors(every)), 1 / self.effective)
        return Beliefs(every.mean(axis=(0, 1)), error, np.concatenate(shares), sizes[:, 0])


def by_value(world: Any, kind: Codes) -> Any:
    """Sum combinations of values by the value that they have of an attribute, the last axis."""
    found = np.zeros((*world.shape[:-1], int(kind.max()) + 1), world.dtype)
    for place, value in enumerate(kind.tolist()):
        found[..., value] += world[..., place]
    return found


def simulation(
    search: SimulatedSearch,
    world: Ints,
    ours: Released,
    rng: np.random.Generator,
    draws: int = DRAWS,
    *,
    most: int = MOST_WORLDS,
    seconds: float = SECONDS,
    watch: Watch = ignore,
) -> Minimality:
    """Attack a release by running its search on all ways to deal its values to its records.

    ``world`` is the table itself, records by cell and combination of values, and ``ours`` what the
    search releases it as, nothing left out. Up to ``most`` worlds are listed, if their searches end
    within some ``seconds``; otherwise up to ``draws`` are walked through, as far as as many seconds
    allow.
    """
    dealing = Dealing.of(world, ours)
    share = _largest_share(search, world, ours)
    nothing = nothing_learnt(share)
    if not dealing.cells:
        return nothing
    found = listed(Simulation(search, ours, seconds), dealing, nothing, most, watch)
    if found is not None:
        return _gained(search, dealing, found)
    walked = _walked(Simulation(search, ours, seconds), dealing, nothing, rng, draws, watch)
    return walked if isinstance(walked, Minimality) else _gained(search, dealing, walked)


def nothing_learnt(share: float | None) -> Minimality:
    """Return the result where the search reveals nothing; ``share``: the largest of a class."""
    return Minimality(
        "exact",
        attacked=EVERY,
        reveals=False,
        probability=1.0,
        largest_share=share,
        largest_posterior=share,
        standard_error=0.0,
        factor=1.0,
        surprise=0.0,
        records_raised=0,
        records_breached=0,
    )


def _unknown(nothing: Minimality, reason: str, **known: Any) -> Minimality:
    """Return the result where the searches say nothing about single records."""
    share = nothing.largest_share
    return Minimality("unknown", reason, attacked=EVERY, largest_share=share, **known)


def _largest_share(search: SimulatedSearch, world: Ints, ours: Released) -> float | None:
    """Return the largest share of a value in a class; None where no value is sensitive."""
    class_of = _classes(world, ours)
    classes = np.zeros((class_of.max() + 1, world.shape[1]), np.int64)
    np.add.at(classes, class_of[class_of >= 0], world[class_of >= 0])
    sizes = classes.sum(axis=1)[:, None]
    shares = [by_value(classes, search.kinds[name]) / sizes for name in search.sensitive]
    return max((float(each.max()) for each in shares), default=None)


def _classes(world: Ints, ours: Released) -> Codes:
    """Number the released class of each cell, -1 where no record is, shape (cells,)."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(ours))}
    class_of = np.full(len(world), -1, np.intp)
    class_of[world.any(axis=1)] = [numbers[label] for label in ours]
    return class_of


def _gained(search: SimulatedSearch, dealing: Dealing, learnt: Learnt) -> Minimality:
    """Return what beliefs about all sensitive attributes come to, each at its worst."""
    known = learnt.known
    found: list[dict[str, Any]] = []
    raised: Any = False
    broken: Any = False
    undecided: Any = False
    records = np.zeros(0, np.int64)
    for name in search.sensitive:
        beliefs = learnt.beliefs(search.kinds[name], dealing.world, dealing.cells)
        setting = search.setting(name)
        found.append(beliefs.gain(setting, known.largest_share or 0.0))
        raised, broken = raised | beliefs.raised, broken | beliefs.broken(setting)
        undecided = undecided | beliefs.undecided(setting)
        records = beliefs.records
    if not found:
        return known
    left = int(records[undecided & ~broken].sum())
    worst = max(found, key=lambda each: each["largest_posterior"])
    return replace(
        known,
        reason=_undecided(left) if left else "",
        largest_posterior=worst["largest_posterior"],
        standard_error=worst["standard_error"],
        factor=max(each["factor"] for each in found),
        surprise=max(each["surprise"] for each in found),
        records_raised=int(records[raised].sum()),
        records_breached=int(records[broken].sum()),
    )


def _undecided(records: int) -> str:
    return (
        f"what can be inferred about {plural(records, 'record')} is within its error of what the "
        "policy allows; more --draws narrow it"
    )


def listed(
    simulated: Simulation, dealing: Dealing, nothing: Minimality, most: int, watch: Watch
) -> Learnt | None:
    """Search in every world; None where these are too many, or that takes too long."""
    listing = dealing.listed(most)
    if listing is None:
        return None
    total, left = 0, 0
    sums: dict[int, Ints] = {}
    for number, (world, multiplicity) in enumerate(listing):
        watch(SIMULATING, number, len(listing))
        if number >= PILOT and simulated.spent / number * len(listing) > simulated.seconds:
            return None
        try:
            holds = simulated.accepts(world)
        except LateError:
            return None
        total += multiplicity
        if holds:
            left += multiplicity
            sums[multiplicity] = sums.get(multiplicity, 0) + world
    # Whole numbers of Python: nothing is rounded before the last division.
    weighted = sum(each.astype(object) * number for number, each in sums.items())
    known = replace(
        nothing,
        reveals=left < total,
        probability=left / total,
        worlds=len(listing),
        searches=simulated.searches,
    )
    return Learnt(np.asarray(weighted / left, float)[None, None], known)


def _walked(
    simulated: Simulation,
    dealing: Dealing,
    nothing: Minimality,
    rng: np.random.Generator,
    draws: int,
    watch: Watch,
) -> Learnt | Minimality:
    """Walk through worlds; unknown where the walks say nothing about single records."""
    if too_many(dealing):
        return _unknown(nothing, "it has too many cells and combinations of values to be simulated")
    walks = Walks.of(simulated, dealing, rng, draws, watch)
    tried, held = walks.fresh.total(), walks.fresh[True]
    below = at_most(held, tried) if tried else None
    known: dict[str, Any] = {
        "reveals": True if simulated.rejects else None,
        "draws": walks.draws,
        "accepted": walks.moves,
        "searches": simulated.searches,
    }
    if walks.doubt:
        return _unknown(nothing, walks.doubt, **known, probability_below=below)
    effective = walks.effective
    share = (
        {"probability": held / tried} if held else {"probability": None, "probability_below": below}
    )
    found = replace(nothing, method="sampled", effective_draws=effective, **known, **share)
    return Learnt(walks.means, found, effective)


def simulation_of(
    table: PlacedPeople, draws: int, rng: np.random.Generator, watch: Watch = ignore
) -> Minimality:
    """Attack a release on disk by its study, and by the original that it was made of.

    Where it cannot be attacked, the result says why. The original serves to begin walks, and to
    prove that the search is the one that was run.
    """
    study = cast(Study, table.release.study)
    if reason := _obstacle(table, study):
        return _not(reason)
    requested = study.anonymizer()
    recoding = requested.chosen_recoding
    objective, models = requested.objective_for(recoding)[0], requested.models
    shares = [
        largest(each.joint) / np.maximum(each.sizes, 1)
        for each in map(table.counts.about, table.release.schema.sensitive)
    ]
    share = max((float(each.max()) for each in shares), default=None)
    nothing = nothing_learnt(share)
    if sees_no_value(recoding, objective, models):
        return nothing
    if not isinstance(recoding, Generalization | Best):
        return _not(f"recoding {recoding.name!r} does not generalize by a search")
    if reason := _unrepeatable(table, study):
        return _unknown(nothing, reason)
    for names in joint_of(model.attribute for model in models):
        return _unknown(nothing, f"its policy is about {of_column(names)} {TOGETHER}")
    roles = study.schema
    schema = Schema(
        roles.quasi_identifiers, roles.sensitive, missing=roles.missing, targets=roles.targets
    )
    counted = Counted.of(table.original, schema, study.hierarchies, population_of(models))
    try:
        task = Task(counted, models, objective, requested.seed, Run(1))
        search, world = SimulatedSearch.of(recoding, task)
        ours = search.released(world, limited(monotonic() + SECONDS))
    except TooManyValuesError:
        return _unknown(nothing, "it has too many cells and combinations of values to be simulated")
    except LateError:
        return _unknown(nothing, SLOW_SEARCH)
    if ours is None or not _is_released(table, search, counted, world, ours):
        return _unknown(nothing, "its search, run again on the original, gives another release")
    return simulation(search, world, ours, rng, draws, watch=watch)


def _not(reason: str) -> Minimality:
    return replace(Minimality.not_applicable(reason), attacked=EVERY)


def _obstacle(table: PlacedPeople, study: Study) -> str | None:
    """Explain why the method reveals nothing that could be examined; None where it may."""
    manifest, requested = table.release.manifest, study.anonymizer()
    recoding, schema = requested.chosen_recoding, study.schema
    if table.release.random:
        return "values were drawn at random"
    if manifest.applies is not None:
        return "its recoding is that of another release, and was chosen for another table"
    if not table.exact:
        return "the original holds more people than the release"
    if not {*schema.counted} <= {*table.original.columns}:
        return LACKING
    if manifest.versions.anonymizer == __version__:
        same = manifest.study.fingerprint == study.fingerprint
    else:  # of which fingerprints may count other things in
        objective = requested.objective_for(recoding)[0]
        known = manifest.method.get("method"), manifest.search.objective
        same = known == (recoding.name, objective.name)
    return None if same else "the study is not the one that it was made by"


def _unrepeatable(table: PlacedPeople, study: Study) -> str | None:
    """Explain why the search cannot be run again as it was; None where it can."""
    manifest = table.release.manifest
    if manifest.versions.anonymizer != __version__:
        return "another version made it, which may have searched in another way"
    if study.document.search.time_limit is not None:
        return "its search had a time limit, and what it finds in that time is not known"
    if manifest.suppressed_class == "removed":
        return (
            "suppressed records were left out, so that it is not known which values they can have"
        )
    return None


def _is_released(
    table: PlacedPeople, search: SimulatedSearch, counted: Counted, world: Ints, ours: Released
) -> bool:
    """Return whether classes are those of the release: by the records in each.

    Of numbered classes by values alone: records that fit several are in one of these.
    """
    if None in ours or len(counted.kept.index) != table.admitted.sum():
        return False
    numbers = _classes(world, ours)
    if search.recoding.numbered:
        return all(_shown_alike(table, search, world, numbers, name) for name in search.sensitive)
    own, theirs = numbers[cells_of(search.problem, counted.kept)], table.class_of[table.admitted]
    pairs = {*zip(own.tolist(), theirs.tolist(), strict=True)}
    return len(pairs) == len(np.unique(own)) == len(np.unique(theirs)) and theirs.min() >= 0


def _shown_alike(
    table: PlacedPeople, search: SimulatedSearch, world: Ints, class_of: Codes, name: str
) -> bool:
    """Return whether the values of classes, of which every cell has one, are those released."""
    classes = np.zeros((class_of.max() + 1, world.shape[1]), np.int64)
    there = class_of >= 0
    np.add.at(classes, class_of[there], world[there])
    ours = by_value(classes, search.kinds[name]), search.problem.counts.values[name]
    shown = dense(table.counts.joint[name], name), table.counts.values[name]
    return _in_order(*ours) == _in_order(*shown)


def _in_order(classes: Ints, values: Sequence[object]) -> list[list[int]]:
    """List counts of classes in an order that depends on nothing but the values and the counts."""
    texts = [text_as_read(value) or "" for value in values]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    return sorted(classes[:, order].tolist())
