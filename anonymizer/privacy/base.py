"""What a privacy model is: a quantity per class, the acceptable values of it, its sentences."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from math import inf, isfinite
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, TypeVar, get_type_hints

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.counts.persons import (
    HOUSEHOLD,
    MEMBER,
    PERSON,
    SOMEBODY,
    Attribute,
    joint_of,
    of_column,
)
from anonymizer.errors import (
    InputError,
    PolicyUnreachableError,
    require_number,
    require_one_of,
    require_whole,
    suggestion,
)
from anonymizer.kernels import Bound, Kind
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.privacy.beliefs import require_odds
from anonymizer.privacy.measuring import measures_of
from anonymizer.tables.population import WEIGHTS


@dataclass(frozen=True)
class Wording:
    """A model in sentences for readers who are no statisticians; each with its full stop.

    Places in braces are parameters of the model by their names, ``{worst}`` (the measure of the
    class that comes off worst), ``{shared}`` (the quasi-identifiers) and ``{attribute}`` (the
    sensitive attribute). A number may have a form after a colon: ``{k:others}`` is "4 others" for
    k = 5. The forms are those of ``anonymizer.feedback.words``.

    Parameters
    ----------
    promise
        What holds of every person in the table.
    measured
        What the class that comes off worst has.
    leaves_open
        What the model does not protect from: a topic, a colon, a sentence or more.
    """

    promise: str
    measured: str
    leaves_open: str


TOLERANCE = 1e-9
"""Bits a comparison forgives, so that an exactly uniform class passes its own l; nothing looser."""

ABOUT = ("attribute", "odds")
"""The parameters of all models of a sensitive attribute: which one, and for which readers."""

Whole = Annotated[int, require_whole]
NotNegative = Annotated[float, partial(require_number, least=0)]
Positive = Annotated[float, partial(require_number, least=0, above=True)]
Share = Annotated[float, partial(require_number, least=0, most=1)]
PositiveShare = Annotated[float, partial(require_number, least=0, most=1, above=True)]
"""What a parameter may be: each is checked when a model is made."""


@dataclass(frozen=True)
class OneOf:
    """Require that a parameter is one of the known names."""

    known: tuple[str, ...]

    def __call__(self, owner: str, name: str, given: object) -> None:
        require_one_of(f"{owner}: {name}", given, self.known)


def one_of(known: Iterable[str]) -> OneOf:
    """Return the check that a parameter is one of some names."""
    return OneOf(tuple(known))


Measure = TypeVar("Measure", bound=Callable[..., Floats])


def reads_sparse(measure: Measure) -> Measure:
    """Mark a ``measure`` that takes sparse histograms as well as arrays, in time for their pairs.

    Others are given arrays: see ``measures_of``. One that overrides a marked one is not marked.
    """
    measure.reads_sparse = True  # type: ignore[attr-defined]
    return measure


class PrivacyModel(ABC):
    """A privacy model with its parameters. Subclasses are frozen dataclasses.

    A model has one condition: ``measure`` is compared with ``threshold``, the parameter
    named by ``bounded_by``, from above or, ``at_least``, from below; no class measures more than
    ``largest``. ``kind`` is the same condition
    for the kernels; models of which one kind is not enough override ``bounds``.

    ``name`` is the model's name in a study file; ``condition`` what holds of every class g, in
    ``unit``; ``source`` who defined it. ``monotone``: merging two acceptable classes gives an
    acceptable one, the licence to prune; ``monotone_if`` says when, where parameters decide.
    ``strongly_monotone``: merging an acceptable class with any class gives an acceptable one.
    ``sensitive``: the measure depends on a sensitive attribute, not on class sizes alone.
    ``per_class``: every class is measured; otherwise the table as a whole is, and merging any of
    its classes is what monotonicity is about. ``judges_empty``: classes of which only a population
    has records are measured too. ``absolute``: the bounds are the same whatever table classes are
    measured against. ``of_persons``: it counts persons, by the column that tells whose each record
    is; ``of_households``: households, by theirs, and ``of_members`` by their members, persons
    where these have several records; ``of_somebody``: it counts persons there, and else records.
    ``required``: parameters with a default that a
    study has to give nevertheless. ``value_monotone``: merging sensitive values only ever raises
    the measure, or only ever lowers it; then readers who take some values for one find nothing
    worse than the two who take all of them for one, or none. ``beyond``: the message about a
    parameter that not even the table as a single class satisfies. ``wording``: its sentences in a
    report, for people who are no statisticians; where these depend on parameters ``wording_of``
    gives them. ``allowed``: the acceptable values in the forms of a wording, where one bound does
    not say them; ``endless``: the sentence about an infinite measure.

    ``larger_stricter``: whether a larger value protects more, by parameter; that of the threshold
    follows from ``at_least``, and parameters that are left out cannot be compared. ``start``: the
    parameters of a model that is added to a policy, empty where a file has to give some of them.
    """

    name: ClassVar[str]
    condition: ClassVar[str] = ""
    unit: ClassVar[str] = ""
    source: ClassVar[str] = ""
    bounded_by: ClassVar[str] = ""
    kind: ClassVar[Kind | None] = None
    monotone: ClassVar[bool] = True
    monotone_if: ClassVar[str] = ""
    strongly_monotone: ClassVar[bool] = False
    at_least: ClassVar[bool] = False
    largest: ClassVar[float] = inf
    sensitive: ClassVar[bool] = True
    per_class: ClassVar[bool] = True
    judges_empty: ClassVar[bool] = False
    absolute: ClassVar[bool] = False
    of_persons: ClassVar[bool] = False
    of_households: ClassVar[bool] = False
    of_members: ClassVar[bool] = False
    of_somebody: ClassVar[bool] = False
    required: ClassVar[tuple[str, ...]] = ()
    value_monotone: ClassVar[bool] = True
    beyond: ClassVar[str] = ""
    wording: ClassVar[Wording | None] = None
    allowed: ClassVar[str] = ""
    endless: ClassVar[str] = "The worst class is beyond any limit."
    larger_stricter: ClassVar[Mapping[str, bool]] = {}
    start: ClassVar[Mapping[str, object]] = {}
    attribute: Attribute | None = None
    odds: float | None = None

    def __post_init__(self) -> None:
        for name, require in _requirements(type(self)):
            require(self.name, name, getattr(self, name))

    @property
    def threshold(self) -> float:
        """The bound on the measure, in the measure's unit."""
        return float(getattr(self, self.bounded_by))

    @property
    def limit(self) -> float:
        """The threshold with its tolerance; counts, which are bounded from below, are exact."""
        return self.threshold if self.at_least else self.threshold + TOLERANCE

    @property
    def void(self) -> bool:
        """Whether any class satisfies it, one of a single record too: k = 1, l = 1 or t = 1."""
        return self.threshold <= 1 if self.at_least else self.threshold >= self.largest

    @abstractmethod
    def measure(self, classes: Classes) -> Floats:
        """Return the quantity this model bounds, one per class, shape (classes,) or (1,)."""

    def accepts(self, values: Floats) -> Mask:
        """Mark the values that the model tolerates, same shape."""
        return values >= self.limit if self.at_least else values <= self.limit

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """Return the condition in the form that kernels check; empty where they know none.

        ``table`` is what classes are measured against; it need not have any.
        """
        return () if self.kind is None else (Bound(self.kind, self.limit),)

    def necessary(self) -> "tuple[PrivacyModel, ...]":
        """Return monotone models that hold wherever this one does: it can be pruned by them."""
        return (self,) if self.monotone else ()

    def lasting(self) -> "tuple[PrivacyModel, ...]":
        """Return strongly monotone models that hold wherever this one does.

        A class that breaks one of them is not saved by what else is suppressed.
        """
        return (self,) if self.strongly_monotone else ()

    @property
    def unit_of(self) -> str | None:
        """The name of the counts by person, or by household, that it judges; None of others."""
        if self.of_members:
            return MEMBER
        if self.of_somebody:
            return SOMEBODY
        return PERSON if self.of_persons else HOUSEHOLD if self.of_households else None

    @property
    def about(self) -> str | None:
        """The attribute that it is about, or several, in words; None: each, or class sizes."""
        return None if self.attribute is None else of_column(self.attribute)

    @property
    def judges_persons(self) -> bool:
        """Whether it judges by persons, not records, where a person has several."""
        return self.of_persons or self.sensitive

    def without_odds(self, table: Classes) -> "PrivacyModel | None":
        """Return a model without odds that holds only where this one does; None: none is known.

        ``table`` is what classes are measured against. For searches that read bounds alone.
        """
        return None

    def implied(self) -> "tuple[PrivacyModel, ...]":
        """Return models of classes that hold wherever this one of households does."""
        return ()

    def over_persons(self) -> "PrivacyModel":
        """Return the model for a table of which persons have several records.

        InputError where it counts records, and nobody has said what it means of persons.
        """
        if self.sensitive or self.of_persons or self.of_households:
            return self
        raise InputError(
            f"{self.name} counts records, and what it means of persons who have several is not "
            "defined here; leave it out, or leave out person"
        )

    def ceiling(self, margin: Ints) -> float:
        """Bound the bits I(X~;W) of classes that all satisfy the model (Eq. 13)."""
        return inf

    def require_possible(self, table: Classes, attribute: str) -> None:
        """Refuse a parameter that not even a table as one class reaches.

        Raises PolicyUnreachableError when it is out of the bounds that the table sets, InputError
        when the model cannot be measured on the table at all.
        """
        # A monotone model accepts the table as one class if it accepts any recoding at all.
        best = measures_of(self, table)[0] if self.beyond and self.monotone else inf
        if isfinite(best) and not self.accepts(np.array([best]))[0]:
            bound = getattr(self, self.bounded_by)
            given = f"{bound:g}" if isinstance(bound, float) else bound
            if self.odds is not None:
                given = f"{given} with odds = {self.odds:g}"
            beyond = self.beyond.format(best=best, attribute=attribute)
            raise PolicyUnreachableError(f"{self.name}: {self.bounded_by} = {given} {beyond}")

    def worst(self, values: Floats) -> float:
        """Return the value of the worst class."""
        return float(values.min() if self.at_least else values.max())

    @classmethod
    def wording_of(cls, parameters: Mapping[str, Any]) -> Wording | None:
        """Return the sentences of a report under the parameters of a manifest; None: none."""
        return cls.wording

    @property
    def range(self) -> str:
        """The acceptable values, in few words."""
        return f"{'>=' if self.at_least else '<='} {self.threshold:g}"

    @property
    def whole(self) -> bool:
        """Whether the threshold is a number of records or values, by the type of its parameter."""
        return self.is_whole(self.bounded_by)

    @property
    def threshold_unit(self) -> str:
        """The unit of the threshold, which parameters may decide."""
        return self.unit

    @classmethod
    def is_whole(cls, parameter: str) -> bool:
        """Whether a parameter takes whole numbers alone."""
        return (parameter, require_whole) in _requirements(cls)

    @classmethod
    def choices(cls, parameter: str) -> tuple[str, ...]:
        """The names that a parameter may be; none where it is something else."""
        checks = [check for name, check in _requirements(cls) if name == parameter]
        return next((check.known for check in checks if isinstance(check, OneOf)), ())

    @classmethod
    def is_larger_stricter(cls, parameter: str) -> bool | None:
        """Whether a larger parameter protects more; None where neither direction does."""
        return cls.at_least if parameter == cls.bounded_by else cls.larger_stricter.get(parameter)

    @property
    def people(self) -> object:
        """The population that the model is about; None where it is about none."""
        return getattr(self, "population", None)

    @property
    def by_weights(self) -> bool:
        """Whether it is about the people whom the sampling weights of the table tell."""
        return self.people is WEIGHTS

    @property
    def by_withheld(self) -> bool:
        """Whether it is about weights or households, by columns that no release has."""
        return self.by_weights or self.of_households

    @property
    def parameters(self) -> dict[str, object]:
        """The model's own parameters by name, as JSON has them, without those left out."""
        own = [item.name for item in fields(self) if item.name != "attribute"]  # type: ignore[arg-type]
        given = {name: _plain(getattr(self, name)) for name in own}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """A model about what a class reveals of a sensitive attribute, of each when left out.

    Several attributes are one together: each combination of their values is a value, and a model
    bounds what a class reveals of it. Which of them comes first does not matter.

    With ``odds``, above 1, it holds for readers who know more, too, as long as that makes no value
    more than so many times as likely against another: see ``anonymizer.privacy.beliefs``.
    """

    attribute: Attribute | None = field(default=None, kw_only=True)
    odds: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "attribute", attribute_of(self.attribute, self.name))
        if self.odds is not None:
            require_odds(self.name, self.odds)
            if not (self.monotone and self.per_class):
                raise InputError(
                    f"{self.name}: odds are for models of single classes that merging preserves; "
                    "leave odds out, or choose another model"
                )


def for_odds(models: Sequence[PrivacyModel], odds: float | None) -> tuple[PrivacyModel, ...]:
    """Add to each model of a sensitive attribute the same for readers with some odds, if any.

    InputError where a model cannot hold for these.
    """
    if odds is None:
        return tuple(models)
    less = [model for model in models if model.sensitive and (model.odds or 1.0) < odds]
    added = [replace(model, odds=odds) for model in less]  # type: ignore[type-var]
    return (*models, *(model for model in added if model not in models))


def models_of(given: object) -> tuple[PrivacyModel, ...]:
    """Check the models of a policy; InputError when it is no list of such."""
    if not isinstance(given, Sequence) or not all(isinstance(m, PrivacyModel) for m in given):
        raise InputError("privacy must be a list of models, such as [KAnonymity(5)]")
    for kind in map(type, given):
        _require_declared(kind)
    return tuple(given)


@cache
def _require_declared(kind: type[PrivacyModel]) -> None:
    """Require the class variables without which a model cannot judge any class."""
    if not is_dataclass(kind):
        mend = "is no dataclass; decorate it with @dataclass(frozen=True)"
    elif not isinstance(getattr(kind, "name", None), str) or not kind.name:
        mend = 'has no name; declare it, such as name: ClassVar[str] = "likeliest-share"'
    elif not _has_threshold(kind):
        own = ", ".join(each.name for each in fields(kind) if each.name not in ABOUT)
        mend = (
            f"has bounded_by = {kind.bounded_by!r}, which is none of its fields ({own or 'none'}); "
            "declare bounded_by: ClassVar[str], the field that its measure is compared with, and "
            "decorate it with @dataclass(frozen=True)"
        )
    else:
        return
    raise InputError(f"privacy model {kind.__name__} {mend}")


def _has_threshold(kind: type[PrivacyModel]) -> bool:
    """Return whether a model has a threshold: a field, or a property of its own."""
    if kind.threshold is not PrivacyModel.threshold:
        return True
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind.bounded_by in known or hasattr(getattr(kind, kind.bounded_by, None), "__get__")


def require_persons(models: Sequence[PrivacyModel], known: bool, households: bool = False) -> None:
    """Refuse models that count persons or ``households``, unless it is known whose records are."""
    for model in models:
        if model.of_households and not households:
            raise InputError(
                f"{model.name} counts households, and no column tells which records are of one; "
                'name it as household, such as household = "hhid" (below [data] in a study)'
            )
        if model.of_persons and not known:
            raise InputError(
                f"{model.name} counts persons, and no column tells whose each record is; name that "
                'column as person, such as person = "patient_id" (below [data] in a study, and '
                "--person in commands), or choose a model that counts records"
            )


def attribute_of(given: object, owner: str) -> Attribute | None:
    """Return the attribute, or the several in order, that a model says it is about."""
    if given is None or isinstance(given, str):
        return given
    names = given if isinstance(given, list | tuple) else ()
    texts = [name for name in names if isinstance(name, str) and name]
    if not texts or len({*texts}) < len(names):
        raise InputError(
            f"{owner}: attribute must be a sensitive attribute, or a list of those that it is "
            'about together, each once, such as ["diagnosis", "drug"]'
        )
    return tuple(sorted(texts)) if len(texts) > 1 else texts[0]


def attributes_of(model: PrivacyModel, sensitive: Sequence[str]) -> Sequence[Attribute | None]:
    """The sensitive attributes that a model is about; None: class sizes.

    Raises InputError when there is none, or the one that the model names is not sensitive.
    """
    if not model.sensitive:
        return [None]
    if not sensitive:
        raise InputError(f"{model.name} is about a sensitive attribute; name at least one")
    if model.attribute is None:
        return sensitive
    about = model.attribute
    for name in (about,) if isinstance(about, str) else about:
        if name not in sensitive:
            hint = suggestion(name, sensitive, "sensitive are")
            raise InputError(
                f"{model.name} is about {name!r}, which is no sensitive attribute{hint}"
            )
    return [about]


def about_each(
    models: Sequence[PrivacyModel], sensitive: Sequence[str]
) -> tuple[PrivacyModel, ...]:
    """Return every model once for each sensitive attribute that it is about."""
    return tuple(
        model if name is None else replace(model, attribute=name)  # type: ignore[type-var]
        for model in models
        for name in attributes_of(model, sensitive)
    )


def require_class_by_class(models: Sequence[PrivacyModel], who: str) -> None:
    """Refuse models that a search which judges classes one by one cannot answer for."""
    for model in models:
        if not model.per_class or model.people is not None:
            about = "the table as a whole" if model.people is None else "a population"
            raise InputError(
                f"{who} judges every class by its own records, and {model.name} is about {about}; "
                "choose full-domain recoding"
            )


def require_of_one(
    models: Iterable[PrivacyModel],
    who: str,
    mend: str = "choose a recoding that generalizes, or a model of each attribute alone",
) -> None:
    """Refuse models about several attributes together to what knows each attribute by itself."""
    for names in joint_of(model.attribute for model in models):
        raise InputError(
            f"{who} knows each sensitive attribute by itself, and a model is about "
            f"{of_column(names)} together; {mend}"
        )


def require_monotone(models: Sequence[PrivacyModel], who: str) -> None:
    """Refuse models that a search which prunes cannot answer for."""
    for model in models:
        if not model.monotone:
            raise InputError(
                f"{who} prunes by what merging classes preserves, and {model.name} is not "
                "preserved; full-domain recoding with search = 'automatic', 'exhaustive' or "
                "'branch-and-bound' rests on no such thing"
            )


@cache
def _requirements(model: type) -> list[tuple[str, Callable[[str, str, object], None]]]:
    """The parameters that a model declares and their checks; kept, as looking takes 0.2 ms."""
    hints = get_type_hints(model, include_extras=True).items()
    return [(name, check) for name, kind in hints for check in getattr(kind, "__metadata__", ())]


def _plain(value: object) -> object:
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    describe = getattr(value, "describe", None)
    if describe is not None:
        return describe()
    return list(value) if isinstance(value, tuple) else value
