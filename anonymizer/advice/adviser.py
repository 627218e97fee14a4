"""Computes advice, one part after the other, until the time is up."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from anonymizer.advice.advice import Advice
from anonymizer.advice.changes import Change, freeing, freeing_most, ways_out
from anonymizer.advice.found import LOST, FoundRelease, found_by, found_by_levels, is_drastic
from anonymizer.advice.improvement import improving
from anonymizer.advice.obstacles import Obstacle, obstacles_at
from anonymizer.advice.space import Space, TimeUpError, within_time
from anonymizer.advice.sweep import Sweep, sweep_of, sweeper_of
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.levels import Fixed, FullDomain

T = TypeVar("T")

LARGER = 100
"""Times the records that a class needs from which on classes are drastically large on average."""


@dataclass(eq=False)
class Adviser:
    """Computes one part of the advice after the other, until the time is up."""

    space: Space
    recoding: Generalization
    model: str | None
    sweep: bool
    relax: bool
    seed: int
    time_limit: float | None
    complete: bool = True

    def advice(self) -> Advice:
        """All of it."""
        try:
            entry = self.space.best()
        except TimeUpError:
            return replace(self._unreachable(False), reachable=True, obstacles=(), complete=False)
        if entry is None:
            return self._unreachable(True)
        return self._reachable(entry[2])

    def _unreachable(self, ways: bool) -> Advice:
        space = self.space
        counts = space.at(space.highest)
        return self._of(
            reachable=False,
            obstacles=tuple(obstacles_at(counts, space.problem.models)),
            changes=self._until_time_is_up(ways_out(space)) if ways else (),
        )

    def _reachable(self, node: Node) -> Advice:
        found = self._found(node)
        # Another recoding than the study's, where there was no time for that, says nothing of it.
        drastic = tuple(self._drastic(found)) if found.recoding == self.recoding.name else ()
        sweeps = self._sweeps() if self.sweep else ()  # safety first, with half of the time
        obstacles = self._until_time_is_up(self._finer(node)) if drastic else ()
        changes: tuple[Change, ...] = ()
        if drastic:
            changes = self._until_time_is_up(freeing(self.space, node, self.relax))
        return self._of(
            reachable=True,
            recoding=found.recoding,
            levels=found.levels,
            hidden=found.hidden,
            classes=found.classes,
            suppressed=found.suppressed,
            original=found.original,
            retained=found.retained,
            value=found.value,
            disclosures=found.disclosures,
            drastic=drastic,
            obstacles=obstacles,
            changes=changes,
            improving=self._improving(found, changes),
            sweeps=sweeps,
        )

    def _improving(self, found: FoundRelease, changes: Sequence[Change]) -> tuple[Change, ...]:
        """The changes that free most, and those of the policy, that improve what was found."""
        others = [change for change in changes if change.attribute is None]
        tried = [*freeing_most(changes), *others]
        return self._until_time_is_up(improving(self.space, self.recoding, self.seed, found, tried))

    def _found(self, node: Node) -> FoundRelease:
        """What the study's own recoding finds; the best node where there is no time for that."""
        if isinstance(self.recoding, FullDomain | Fixed):
            return found_by_levels(self.space, node, self.recoding.name)
        try:
            return found_by(self.recoding, self.space, self.seed, node)
        except TimeUpError:
            self.complete = False
            return found_by_levels(self.space, node, FullDomain.name)

    def _of(self, **known: object) -> Advice:
        """The advice with what is known."""
        space = self.space
        nothing: dict[str, object] = {
            "recoding": FullDomain.name if space.fixed is None else Fixed.name,
            "levels": {},
            "hidden": (),
            "classes": 0,
            "suppressed": 0,
            "original": None,
            "retained": None,
            "value": None,
            "disclosures": (),
            "sweeps": (),
            "drastic": (),
            "obstacles": (),
            "changes": (),
            "improving": (),
        }
        return Advice(
            records=space.problem.counts.records,
            objective=space.problem.objective.name,
            varying=len(self._varying),
            **{**nothing, **known},  # type: ignore[arg-type]
            complete=self.complete,
        )

    @property
    def _varying(self) -> list[str]:
        """The quasi-identifiers of more than one value."""
        counts = self.space.problem.counts
        columns = zip(counts.names, counts.cells.T, strict=True)
        return [name for name, codes in columns if (codes != codes[0]).any()]

    def _drastic(self, found: FoundRelease) -> Iterator[str]:
        """Why a result is drastic; never where the levels are given."""
        if self.space.fixed is not None:
            return
        of = len(self._varying)
        if is_drastic(len(found.hidden), of):
            yield f"{len(found.hidden)} of {of} quasi-identifiers became *"
        if found.lost is not None and found.lost > LOST:
            yield f"{found.lost:.0%} of the information is lost, chance taken off"
        least = _least_size(self.space.problem.models)
        average = found.released / max(found.classes, 1)
        if least and average >= LARGER * least:
            yield f"classes have {average:,.0f} records on average where {least:,} would do"

    def _finer(self, node: tuple[int, ...]) -> Iterator[Obstacle]:
        """What breaks the policy once each hidden attribute is one level finer."""
        space = self.space
        bottom = space.problem.lattice.bottom
        for name in space.starred(node):
            if space.level(node, name) <= space.level(bottom, name):
                continue
            space.run.watch("looking below the best node", 0, None)
            lower = space.raised(node, name, space.level(node, name) - 1)
            yield from obstacles_at(space.at(lower), space.problem.models, name)

    def _sweeps(self) -> tuple[Sweep, ...]:
        """The frontier of t or l about each sensitive attribute; over the whole lattice."""
        half = None if self.time_limit is None else self.time_limit / 2
        run = within_time(replace(self.space.run, time_limit=half))
        lattice = replace(self.space, fixed=None, run=run, _others={})
        found = []
        for name in self.space.problem.counts.sensitive:
            sweeper = sweeper_of(lattice, name, self.model, self.recoding, self.seed)
            before, self.complete = self.complete, True
            points = self._until_time_is_up(sweeper.points())
            found.append(sweep_of(sweeper, points, self.complete))
            self.complete = self.complete and before
        return tuple(each for each in found if each.points)

    def _until_time_is_up(self, items: Iterable[T]) -> tuple[T, ...]:
        """The items that are known in time."""
        found: list[T] = []
        try:
            for item in items:
                found.append(item)  # noqa: PERF402 (what comes before the end of time stays)
        except TimeUpError:
            self.complete = False
        return tuple(found)


def _least_size(models: Sequence[PrivacyModel]) -> int | None:
    """The records that a class needs, where the policy is about nothing else; None otherwise."""
    if any(model.sensitive or not model.at_least or model.people for model in models):
        return None
    return int(max((model.threshold for model in models), default=1))
