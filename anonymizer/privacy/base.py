"""What a privacy model is: a quantity per class, and which values of it are acceptable."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts import Classes, Counts, Floats
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.kernels import Bound

__all__ = [
    "TOLERANCE",
    "Mask",
    "PrivacyModel",
    "Verdict",
    "acceptable",
    "require_monotone",
    "require_possible",
    "verdicts",
]

Mask = NDArray[np.bool_]

TOLERANCE = 1e-9
"""Bits a comparison forgives, so that an exactly uniform class passes its own l; nothing looser."""


class PrivacyModel(ABC):
    """A privacy model with its parameters. Subclasses are frozen dataclasses.

    ``name`` is what a study file calls the model. ``monotone``: merging two acceptable classes
    gives an acceptable one, the licence to prune. ``strongly_monotone``: merging an acceptable
    class with any class gives an acceptable one. ``at_least``: acceptable values are the large
    ones. ``sensitive``: the measure depends on a sensitive attribute, not on class sizes alone.
    """

    name: ClassVar[str]
    monotone: ClassVar[bool] = True
    strongly_monotone: ClassVar[bool] = False
    at_least: ClassVar[bool] = False
    sensitive: ClassVar[bool] = True

    @property
    @abstractmethod
    def threshold(self) -> float:
        """The bound on the measure, in the measure's unit."""

    @abstractmethod
    def measure(self, classes: Classes) -> Floats:
        """The quantity this model bounds, one value per class, shape (classes,)."""

    @abstractmethod
    def accepts(self, values: Floats) -> Mask:
        """Which of those values the model tolerates, shape (classes,)."""

    def bound(self) -> Bound | None:
        """The same condition in the form that kernels check; None where they know none."""
        return None

    def ceiling(self, margin: NDArray[np.int64]) -> float:
        """The most bits I(X~;W) that classes which all satisfy the model can have (Eq. 13)."""
        return float("inf")

    def require_possible(self, table: Classes, attribute: str) -> None:  # noqa: B027
        """Raise InputError when the parameters are out of the bounds this table sets them."""

    def worst(self, values: Floats) -> float:
        """The value of the class that comes off worst."""
        return float(values.min() if self.at_least else values.max())

    @property
    def parameters(self) -> dict[str, object]:
        """The model's own parameters by name, numbers as JSON has them."""
        stated: dict[str, object] = asdict(self)  # type: ignore[call-overload]
        return {name: _plain(value) for name, value in stated.items()}


@dataclass(frozen=True)
class Verdict:
    """How a table does under one model, about one sensitive attribute."""

    model: PrivacyModel
    attribute: str | None
    worst: float
    violating: int
    classes: int

    @property
    def satisfied(self) -> bool:
        """Whether every class satisfies the model."""
        return self.violating == 0

    def to_dict(self) -> dict[str, object]:
        """The verdict as a manifest has it."""
        return {
            "model": self.model.name,
            "attribute": self.attribute,
            "parameters": self.model.parameters,
            "worst": self.worst,
            "violating_classes": self.violating,
            "satisfied": self.satisfied,
        }


def acceptable(counts: Counts, models: Sequence[PrivacyModel]) -> Mask:
    """Which classes satisfy every model about every sensitive attribute, shape (classes,)."""
    mask = np.ones(len(counts), bool)
    for model, _, classes in _questions(counts, models):
        mask &= model.accepts(model.measure(classes))
    return mask


def verdicts(counts: Counts, models: Sequence[PrivacyModel]) -> list[Verdict]:
    """One verdict per model and sensitive attribute; one alone for models of class sizes."""
    found = []
    for model, attribute, classes in _questions(counts, models):
        values = model.measure(classes)
        violating = int((~model.accepts(values)).sum())
        found.append(Verdict(model, attribute, model.worst(values), violating, len(values)))
    return found


def require_possible(counts: Counts, models: Sequence[PrivacyModel]) -> None:
    """Refuse a policy that not even the table as a single class satisfies.

    A monotone model accepts that class if it accepts any recoding at all.

    Raises
    ------
    InputError
        When a parameter is out of the bounds that the table sets it.
    PolicyUnreachableError
        When a model stands in the way for any other reason.
    """
    whole = counts.project(())
    for model, attribute, classes in _questions(whole, models):
        model.require_possible(classes, attribute or "the table")
    for verdict in verdicts(whole, [model for model in models if model.monotone]):
        if not verdict.satisfied:
            about = f" about {verdict.attribute!r}" if verdict.attribute else ""
            raise PolicyUnreachableError(
                f"the policy is out of reach: {verdict.model.name}{about} fails even with every "
                f"quasi-identifier suppressed ({verdict.worst:.6g} against "
                f"{verdict.model.threshold:.6g}); relax it"
            )


def require_monotone(models: Sequence[PrivacyModel], who: str) -> None:
    """Refuse models that a search which prunes cannot answer for.

    Raises
    ------
    InputError
        Naming the model.
    """
    for model in models:
        if not model.monotone:
            raise InputError(
                f"{who} prunes by what merging classes preserves, and {model.name} is not "
                "preserved; search = 'exhaustive' or 'branch-and-bound', with full-domain "
                "recoding, rest on no such thing"
            )


def _plain(value: object) -> object:
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def _questions(
    counts: Counts, models: Sequence[PrivacyModel]
) -> Iterator[tuple[PrivacyModel, str | None, Classes]]:
    """Every model about every sensitive attribute that it has to answer for; None: class sizes."""
    for model in models:
        if model.sensitive and not counts.joint:
            raise InputError(f"{model.name} is about a sensitive attribute; name at least one")
        for attribute in counts.joint if model.sensitive else [None]:
            yield model, attribute, counts.about(attribute)
