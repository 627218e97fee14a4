"""How classes come off under a privacy model, however they are counted."""

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.counts.pairs import chosen, stacked
from anonymizer.counts.persons import PersonValues
from anonymizer.errors import InputError
from anonymizer.information.matrices import CountMatrix, blocks, dense, is_sparse
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy.beliefs import beliefs

if TYPE_CHECKING:
    from anonymizer.privacy.base import PrivacyModel


def measures_of(model: "PrivacyModel", classes: Classes) -> Floats:
    """Measure classes by a model, whichever kind their histograms are of.

    Of a model that reads arrays alone, sparse ones are a few classes at a time; InputError where it
    is about the table as a whole, which is too large for an array. Where a missing value counts as
    nothing, classes are measured by the records that have one; a class that has none of these comes
    off worst. Classes that are counted in several ways come off as in the worst of them, and as the
    worst of the sets of records that a release shows to be of one person.
    """
    if classes.linked:
        found = measures_of(model, replace(classes, linked=())).astype(float)
        for linked in classes.linked:
            of_sets = measures_of(model, linked.sets)
            if model.per_class:
                _worse(model).at(found, linked.class_of, of_sets[linked.row])
            else:
                found = _worse(model)(found, of_sets)
        return found
    if classes.others:
        ways = (replace(classes, others=()), *classes.others)
        each_way = [measures_of(model, each) for each in ways]
        return np.asarray(_worse(model).reduce(each_way, axis=0))
    if classes.each is not None:
        plain = replace(classes, each=None)
        return _of_each(model, plain, classes.each, measures_of(model, plain))
    if classes.gap:
        return _of_known(model, classes.known)
    if not is_sparse(classes.joint) or takes_sparse(model):
        return _measured(model, classes)
    if not model.per_class:
        return _measured(model, replace(classes, joint=dense(classes.joint, classes.attribute)))
    people = classes.population
    return np.concatenate(
        [
            _measured(
                model,
                replace(classes, joint=rows, population=None if people is None else people[some]),
            )
            for some, rows in blocks(classes.joint)
        ]
    )


def _of_each(
    model: "PrivacyModel", classes: Classes, values: PersonValues, measured: Floats
) -> Floats:
    """Measure classes as who asks of one value whether their persons have it, whichever it is.

    ``measured``: the classes as they are, which is what they are to who asks of a value that nobody
    has together with others.
    """
    worse, found = _worse(model), measured.copy()
    for value in values.of_several:
        if not model.per_class:
            those, rows = values.of_value(value)
            others = chosen(classes.joint, np.setdiff1d(np.arange(len(classes)), those))
            joint = stacked(others, rows)
            judged = replace(classes, joint=joint, margin=np.asarray(joint.sum(axis=0)))
            found = worse(found, measures_of(model, judged))
            continue
        ways: Iterable[tuple[Codes, CountMatrix, Ints]] = (
            [(*values.of_value(value), classes.margin)]
            if model.absolute
            else values.compared(value, classes.margin)
        )
        for those, rows, margin in ways:
            judged = replace(classes.select(those), joint=rows, margin=margin)
            found[those] = worse(found[those], measures_of(model, judged)) if len(those) else []
    return found


def _worse(model: "PrivacyModel") -> np.ufunc:
    """Return what tells the worse of two measures."""
    return np.minimum if model.at_least else np.maximum


def _measured(model: "PrivacyModel", classes: Classes) -> Floats:
    """Measure classes, by whatever readers may believe of them where the model has odds."""
    if model.odds is None:
        return _numbers(model, classes)
    histograms = beliefs(np.asarray(classes.joint), model.odds)
    each = [_numbers(model, replace(classes, joint=believed)) for believed in histograms]
    each.append(_numbers(model, classes))  # by the records that there are
    return np.asarray(_worse(model).reduce(each, axis=0))


def _numbers(model: "PrivacyModel", classes: Classes) -> Floats:
    """Measure classes; InputError where the model does not give one number for each.

    An array of another shape would be compared with the threshold all the same, and believed.
    """
    values = np.asarray(model.measure(classes))
    shape = (len(classes) if model.per_class else 1,)
    begin = f"{model.name}: measure gave"
    if values.shape != shape or values.dtype.kind not in "fiu":
        what = "each class" if model.per_class else "the table"
        raise InputError(
            f"{begin} values of shape {values.shape} and type {values.dtype}; it must give one "
            f"number for {what}, shape {shape}"
        )
    if np.isnan(values).any():
        raise InputError(
            f"{begin} NaN, which is no number; give inf for a class that no threshold allows (-inf "
            "with at_least = True)"
        )
    return values


def _of_known(model: "PrivacyModel", known: Classes) -> Floats:
    """Measure classes that need not have any record.

    As bad as can be of one that has none: then the measures of strongly monotone models still never
    get worse by merging, and l different values are still those of l records.
    """
    some = known.sizes > 0
    values = measures_of(model, known.select(some))
    if not model.per_class:
        return values
    # 0 is the worst of what is bounded from below, inf of what is bounded from above.
    found = np.full(len(known), 0.0 if model.at_least else inf)
    found[some] = values
    return found


def takes_sparse(model: "PrivacyModel") -> bool:
    """Return whether a model measures sparse histograms as they are."""
    return model.odds is None and bool(getattr(model.measure, "reads_sparse", False))
