"""What a steward allows of a hierarchy: its levels, its ground, and where ranges may end."""

from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.tables.values import number_text


@dataclass(frozen=True)
class Limits:
    """The levels that a release may use, from ``min_level`` to ``max_level``, and its ``grid``.

    ``max_level`` None is the highest level. ``grid`` is of ranges: how many cut points they may
    have, or which ones; None where nothing is said. ``ground`` is the level that values are counted
    at, so that none below it can be used; None where they are counted as they are.

    Raises InputError when a limit is no level, no number of cut points, or they are out of order.
    """

    min_level: int = 0
    max_level: int | None = None
    grid: int | tuple[Decimal, ...] | None = None
    ground: int | None = None

    def __post_init__(self) -> None:
        for name, level in (("min-level", self.min_level), ("max-level", self.max_level)):
            if level is not None and not is_whole(level, least=0):
                raise InputError(
                    f"{name} = {shown(level)} must be a level, a whole number of at least 0, such "
                    f"as {name} = 1"
                )
        if self.max_level is not None and self.max_level < self.min_level:
            raise InputError(
                f"min-level = {self.min_level} is above max-level = {self.max_level}; it must be "
                "at most that"
            )
        if isinstance(self.grid, tuple):
            if not self.grid or any(low >= high for low, high in pairwise(self.grid)):
                raise InputError("grid must list increasing cut points, such as grid = [20, 40]")
        elif self.grid is not None and not is_whole(self.grid, least=1):
            raise InputError(
                f"grid = {shown(self.grid)} must be a number of cut points of at least 1, or a "
                "list of them, such as grid = 100 or grid = [20, 40]"
            )

    @property
    def given(self) -> dict[str, object]:
        """Limits that can be given again: a lowest level, a highest one, and a grid."""
        least = 0 if self.min_level == self.ground else self.min_level
        return {"min_level": least, "max_level": self.max_level, "grid": self.grid}

    def require_height(self, height: int) -> None:
        """Require that the levels are some of 0, 1, ..., ``height``."""
        for name, level in (("min-level", self.min_level), ("max-level", self.max_level)):
            if level is not None and level > height:
                raise InputError(
                    f"{name} = {level} is no level of this hierarchy; it has levels 0 to {height}"
                )

    def upon(self, ground: int | None) -> "Limits":
        """Return the limits of values counted at a level; None: as they are."""
        if ground is None:
            return self
        if self.max_level is not None and self.max_level < ground:
            raise InputError(
                f"max-level = {self.max_level} is below the ground, which is level {ground}; "
                f"write max-level = {ground} or more"
            )
        return replace(self, min_level=max(self.min_level, ground), ground=ground)

    def describe(self) -> dict[str, object]:
        """The limits that say something, as JSON has them."""
        given: dict[str, object] = {}
        if self.min_level:
            given["min-level"] = int(self.min_level)
        if self.max_level is not None:
            given["max-level"] = int(self.max_level)
        if isinstance(self.grid, tuple):
            given["grid"] = [number_text(cut) for cut in self.grid]
        elif self.grid is not None:
            given["grid"] = int(self.grid)
        return given
