"""A policy held against counts: which classes satisfy it, and how the worst of them fares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.persons import HOUSEHOLD, PERSON, Attribute, of_column
from anonymizer.errors import PolicyUnreachableError
from anonymizer.kernels.arrays import Mask
from anonymizer.privacy.base import PrivacyModel, attributes_of, require_persons
from anonymizer.privacy.measuring import measures_of


@dataclass(frozen=True)
class Verdict:
    """The result of checking a table under one model, about one sensitive attribute."""

    model: PrivacyModel
    attribute: Attribute | None
    worst: float
    violating: int
    classes: int

    @property
    def satisfied(self) -> bool:
        """Whether every class satisfies the model."""
        return self.violating == 0

    @property
    def about(self) -> str | None:
        """The attribute that it is about, or several, in words; None: class sizes."""
        return None if self.attribute is None else of_column(self.attribute)

    @property
    def named(self) -> str:
        """The model, and what it is about, in words."""
        return f"{self.model.name} about {self.about!r}" if self.about else self.model.name

    def to_dict(self) -> dict[str, object]:
        """The verdict as a manifest has it; an infinite measure is null."""
        return {
            "model": self.model.name,
            "attribute": [*self.attribute] if isinstance(self.attribute, tuple) else self.attribute,
            "parameters": self.model.parameters,
            "worst": self.worst if isfinite(self.worst) else None,
            "violating_classes": self.violating,
            "satisfied": self.satisfied,
        }


def acceptable(counts: Counts, models: Sequence[PrivacyModel]) -> Mask:
    """Mark the classes that satisfy every model about every sensitive attribute, shape (classes,).

    None does where the table as a whole breaks a model.
    """
    mask = np.ones(len(counts), bool)
    for model, _, classes in _conditions(counts, models):
        mask &= holds(model, classes)
    return mask


def judged_classes(model: PrivacyModel, counts: Counts, attribute: Attribute | None) -> Classes:
    """Return what a model judges of some classes: their persons, sizes, or an attribute's values.

    In every way that these are counted: see ``Classes.others``. InputError where it counts persons,
    or households, and the counts know none.
    """
    require_persons([model], PERSON in counts.joint, HOUSEHOLD in counts.joint)
    found = counts.judged(attribute, model.unit_of)
    if model.per_class:
        return found
    linked = tuple(replace(each, sets=_of_table(each.sets)) for each in found.linked)
    return replace(_of_table(found), linked=linked)


def _of_table(classes: Classes) -> Classes:
    """Return what a model of a whole table judges of it.

    Where persons count once in each class, these are all that there are.
    """
    others = (replace(each, margin=np.asarray(each.joint.sum(axis=0))) for each in classes.others)
    return replace(classes, others=tuple(others))


def holds(model: PrivacyModel, classes: Classes) -> Mask:
    """Mark the classes that satisfy a model, shape (classes,); those it does not judge do."""
    if not model.per_class:
        fine = bool(model.accepts(measures_of(model, classes.occupied)).all())
        return np.full(len(classes), fine)
    mask = np.zeros(len(classes), bool) if model.judges_empty else classes.sizes == 0
    # Classes without records are True where the model does not judge them: nobody is in them.
    mask[~mask] = model.accepts(measures_of(model, _judged(model, classes)))
    return mask


def verdicts(counts: Counts, models: Sequence[PrivacyModel]) -> list[Verdict]:
    """One verdict per model and sensitive attribute; a single one for models of class sizes."""
    found = []
    for model, attribute, classes in _conditions(counts, models):
        values = measures_of(model, _judged(model, classes))
        violating = int((~model.accepts(values)).sum())
        found.append(Verdict(model, attribute, model.worst(values), violating, len(values)))
    return found


def require_possible(counts: Counts, models: Sequence[PrivacyModel]) -> None:
    """Refuse a policy that not even the table as a single class satisfies.

    A monotone model accepts that class if it accepts any recoding at all. PolicyUnreachableError
    when it does not, InputError when a model cannot be measured on the table.
    """
    # Of what does not add up the table says nothing: a person of two classes is one of the table.
    whole = counts.additive.project(())
    for model, attribute, classes in _conditions(whole, models):
        for each in (classes, *classes.others):
            about = "the table" if attribute is None else str(each.attribute)
            model.require_possible(replace(each.known, others=()), about)
    for verdict in verdicts(whole, [model for model in models if model.monotone]):
        if not verdict.satisfied:
            raise PolicyUnreachableError(
                f"the policy is out of reach: {verdict.named} fails even with every "
                f"quasi-identifier suppressed ({verdict.worst:.6g} against "
                f"{verdict.model.threshold:.6g}); relax it"
            )


def _judged(model: PrivacyModel, classes: Classes) -> Classes:
    return classes if model.judges_empty else classes.occupied


def _conditions(
    counts: Counts, models: Sequence[PrivacyModel]
) -> Iterator[tuple[PrivacyModel, Attribute | None, Classes]]:
    """Yield every model with each sensitive attribute that it is about; None: class sizes."""
    for model in models:
        for attribute in attributes_of(model, counts.sensitive):
            yield model, attribute, judged_classes(model, counts, attribute)
