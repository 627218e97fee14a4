"""A model of one's own whose class variables or measure are wrong is refused, not believed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity, check, load_census
from anonymizer.privacy import PrivacyModel
from anonymizer.privacy.base import SensitiveModel

TABLE = pd.DataFrame({"age": [1, 1, 1, 2, 2, 2], "sex": list("fmfmfm"), "ill": list("uvwuuu")})
"""In the first age each diagnosis is that of a third, in the second one is that of all."""


@dataclass(frozen=True)
class Guarded(SensitiveModel):
    """No sensitive value is likelier than a share in a class."""

    name: ClassVar[str] = "guarded"
    bounded_by: ClassVar[str] = "share"
    share: float

    def measure(self, classes):
        return classes.shares.max(axis=1)


def fit(model, recoding="full-domain"):
    policy = [KAnonymity(1), model]
    keep = {"age": Hierarchy.ranges(widths=[2]), "sex": "suppress"}
    return Anonymizer(keep, "ill", policy, recoding).fit(TABLE)


def measuring(measure, **declared):
    """The model with another measure."""
    return type("Guarded", (Guarded,), {"measure": measure, **declared})


@pytest.mark.parametrize("recoding", ["full-domain", "variable-range"])
def test_the_right_measure_is_held(recoding):
    """Ages apart one class has one value; together the likeliest is that of 4 of 6."""
    found = fit(Guarded(0.7), recoding).release_
    assert found.privacy[1].worst == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="no dataclass"):
        fit(Plain(), recoding)


WRONG = {
    "the least of all classes": lambda self, classes: classes.shares.max(axis=1).min(keepdims=True),
    "one number": lambda self, classes: classes.shares.max(),
    "every value": lambda self, classes: classes.shares,
    "by value": lambda self, classes: classes.shares.max(axis=0),
    "a column": lambda self, classes: classes.shares.max(axis=1)[:, None],
    "verdicts": lambda self, classes: classes.shares.max(axis=1) <= self.share,
    "texts": lambda self, classes: classes.shares.max(axis=1).astype(str),
    "nothing": lambda self, classes: None,
}


@pytest.mark.parametrize("measure", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("recoding", ["full-domain", "variable-range"])
def test_a_measure_of_another_shape_or_type_is_refused(measure, recoding):
    words = (
        r"guarded: measure gave values of shape .* and type .*; it must give one number for each"
    )
    with pytest.raises(InputError, match=words):
        fit(measuring(measure)(0.7), recoding)


@pytest.mark.parametrize("measure", WRONG.values(), ids=WRONG)
def test_a_check_refuses_it_too(measure):
    with pytest.raises(InputError, match="guarded: measure gave values of shape"):
        check(TABLE, ["age", "sex"], "ill", [measuring(measure)(0.7)])


def test_a_measure_of_the_table_is_one_number():
    def mean(self, classes):
        return np.array([classes.shares.max(axis=1).mean()])

    kind = measuring(mean, per_class=False)
    assert fit(kind(1.0)).release_.privacy[1].worst == pytest.approx(5 / 6, abs=0.2)
    with pytest.raises(InputError, match=r"one number for the table, shape \(1,\)"):
        fit(measuring(lambda self, classes: classes.shares.max(axis=1), per_class=False)(1.0))


@pytest.mark.parametrize("at_least", [False, True])
def test_nan_is_refused(at_least):
    def measure(self, classes):
        return np.where(classes.sizes > 3, np.nan, 0.5)

    with pytest.raises(InputError, match=r"guarded: measure gave NaN, .* \(-inf with at_least"):
        fit(measuring(measure, at_least=at_least)(0.5))


def test_lists_whole_numbers_and_infinity_are_numbers():
    for measure in (
        lambda self, classes: list(classes.shares.max(axis=1)),
        lambda self, classes: np.zeros(len(classes), np.int32),
        lambda self, classes: np.where(classes.sizes < 6, np.inf, 0),
    ):
        assert fit(measuring(measure)(0.7)).release_.privacy[1].satisfied


class Plain(PrivacyModel):
    """A model that is no dataclass."""

    name: ClassVar[str] = "plain"

    def measure(self, classes):
        return classes.sizes


@dataclass(frozen=True)
class Nameless(PrivacyModel):
    """A model without a name."""

    bounded_by: ClassVar[str] = "least"
    least: int = 2

    def measure(self, classes):
        return classes.sizes


@dataclass(frozen=True)
class Boundless(SensitiveModel):
    """A model that does not say which parameter bounds its measure."""

    name: ClassVar[str] = "boundless"
    share: float = 0.5

    def measure(self, classes):
        return classes.shares.max(axis=1)


class Undecorated(SensitiveModel):
    """A dataclass by what it inherits, whose own parameter is no field."""

    name: ClassVar[str] = "undecorated"
    bounded_by: ClassVar[str] = "share"
    share: float = 0.5

    def measure(self, classes):
        return classes.shares.max(axis=1)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Plain(), r"model Plain is no dataclass; decorate it with @dataclass\(frozen=True\)"),
        (Nameless(), "model Nameless has no name; declare it, such as name: ClassVar"),
        (
            Boundless(),
            r"Boundless has bounded_by = '', which is none of its fields \(share\); decl",
        ),
        (Undecorated(), r"'share', which is none of its fields \(none\).*decorate it with"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_forgotten_class_variables_are_named(model, message):
    with pytest.raises(InputError, match=message):
        fit(model)
    with pytest.raises(InputError, match=message):
        check(TABLE, ["age", "sex"], "ill", [model])


def test_on_the_census_a_wrong_shape_is_not_out_of_reach():
    """A scalar would be compared with the threshold as if it were that of every class."""
    table = load_census().head(500)
    wrong = measuring(lambda self, classes: classes.shares.max(axis=1).mean())
    anonymizer = Anonymizer({"sex": "suppress"}, "race", [wrong(0.4)])
    with pytest.raises(InputError, match=r"values of shape \(\) and type float64"):
        anonymizer.fit(table)
