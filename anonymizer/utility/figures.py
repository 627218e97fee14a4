"""One recoding, carried out on a whole table: what it keeps, and what each of its classes tells."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counting import classes_of
from anonymizer.counts.counts import Counts
from anonymizer.counts.persons import by_persons
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.feedback.document import Display, Displayed, Points, Table, in_a_line
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, shown_label
from anonymizer.hierarchy.naming import may_be_named
from anonymizer.information.entropy import (
    entropy,
    specific_information,
    surprise,
)
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.privacy import (
    EntropyLDiversity,
    PrivacyModel,
    TCloseness,
    Verdict,
    holds,
    judged_classes,
)
from anonymizer.recoding import Problem
from anonymizer.recoding.apply import Evaluation
from anonymizer.recoding.levels import Fixed
from anonymizer.recoding.recoding import Recoding, Task
from anonymizer.release.information import bound_of, ceiling, lost
from anonymizer.release.proof import judged
from anonymizer.release.results import PolicyResult, Result
from anonymizer.tables import engine

WHOLE = "the table"
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)")

Label = tuple[str, ...]
"""The values of the quasi-identifiers of a class, as they would be released."""

HIDDEN = "fewer than 5 records"
"""What stands for the name of a class that is not shown."""


class Limit(NamedTuple):
    """Bound on bits: its name, such as "t = 0.55", and the bits."""

    name: str
    bits: float

    def to_dict(self) -> dict[str, object]:
        """The limit as JSON has it."""
        return self._asdict()


@dataclass(frozen=True)
class Contribution(Result):
    """Bits that each class tells about an attribute W (Bezzi 2010, Figures 2 to 4, right).

    Parameters
    ----------
    attribute
        W.
    uncertainty
        H(W), in bits.
    i1, i2
        I1 = D(p(w|g) || p(w)) and I2 = H(W) - H(W|g) of each class g, in bits (classes,).
    failing
        Which classes break a model that is about W, or about the sizes of classes (classes,).
    i1_limits, i2_limits
        t of t-closeness by the Kullback-Leibler distance; H(W) - log2 l of entropy l-diversity. The
        strictest first.
    """

    attribute: str
    uncertainty: float
    i1: tuple[float, ...]
    i2: tuple[float, ...]
    failing: tuple[bool, ...]
    i1_limits: tuple[Limit, ...]
    i2_limits: tuple[Limit, ...]

    @classmethod
    def of(cls, counts: Counts, name: str, models: Sequence[PrivacyModel]) -> "Contribution":
        """Measure the classes that a table has records of."""
        some = counts.sizes > 0
        classes = counts.about(name)
        joint, margin = classes.joint[some], classes.margin
        known = float(entropy(margin))
        about = [each for each in models if each.sensitive and each.attribute in (None, name)]
        if by_persons(name) in counts.joint:  # then models bound something else than these bits
            about = []
        diversity = [each.l for each in about if isinstance(each, EntropyLDiversity)]
        closeness = [
            each.t for each in about if isinstance(each, TCloseness) and each.distance == "kl"
        ]
        return cls(
            name,
            known,
            tuple(surprise(joint, margin).tolist()),
            tuple(specific_information(joint, margin).tolist()),
            tuple(broken(counts, name, models)[some].tolist()),
            tuple(Limit(f"t = {t:g}", float(t)) for t in sorted(closeness)),
            tuple(
                Limit(f"l = {l:g}", known - float(np.log2(l)))
                for l in sorted(diversity, reverse=True)  # noqa: E741 (the model's letter)
            ),
        )


def broken(counts: Counts, name: str, models: Sequence[PrivacyModel]) -> Mask:
    """Mark the classes that break a model about an attribute, or about sizes, shape (classes,)."""
    found = np.zeros(len(counts), bool)
    for model in models:
        attribute = model.attribute or name if model.sensitive else None
        names = attribute if isinstance(attribute, tuple) else (attribute,)
        if model.per_class and ({*names} & {None, name}):
            found |= ~holds(model, judged_classes(model, counts, attribute))
    return found


def bounds_of(counts: Counts, models: Sequence[PrivacyModel], name: str) -> tuple[Limit, ...]:
    """Return the bound of each model on I(X~;W), in bits (Eq. 13), where it has one."""
    found = [(model, bound_of(counts, [model], name)) for model in models]
    return tuple(Limit(f"{model.name} {model.range}", bits) for model, bits in found if bits < inf)


@dataclass(frozen=True)
class Attribute(Contribution):
    """Bits that each class, and all of them together, tell about a sensitive attribute W.

    Parameters
    ----------
    attribute, uncertainty, i1, i2, failing, i1_limits, i2_limits
        As of :class:`Contribution`.
    original
        I(X;W) of the raw quasi-identifiers.
    retained
        I(X~;W) of the recoded ones.
    ceiling
        The most that any recoding can keep under the policy.
    bounds
        What each model of the policy bounds I(X~;W) by (Eq. 13).
    """

    original: float
    retained: float
    ceiling: float
    bounds: tuple[Limit, ...]

    derived = ("loss",)

    @property
    def loss(self) -> float | None:
        """1 - retained / original; None, not determined, where there was nothing to lose."""
        return lost(self.retained, self.original)

    @classmethod
    def measured(cls, evaluation: Evaluation, name: str) -> "Attribute":
        """Measure what the classes of a recoding tell about an attribute."""
        raw, models = evaluation.raw, evaluation.problem.models
        found = Contribution.of(evaluation.classes, name, models)
        return cls(
            **{each.name: getattr(found, each.name) for each in fields(found)},
            original=evaluation.original([name]),
            retained=evaluation.retained([name]),
            ceiling=ceiling(raw, models, (name,)),
            bounds=bounds_of(raw, models, name),
        )


@dataclass(frozen=True)
class Failure(Result):
    """A class that breaks a model: by its name, with its measure against the threshold.

    ``group`` is what the class is called: None where its name may not be shown, and ``"the table"``
    where the model is about all classes together. ``value`` and ``threshold`` are in the unit of
    the model; a value is None where it is infinite, or would count the records of a class whose
    name may not be shown. ``required`` is what would be acceptable: "<= 0.55".
    """

    model: str
    attribute: str | None
    group: str | None
    value: float | None
    threshold: float
    required: str


@dataclass(frozen=True, repr=False)
class Figures(Displayed, PolicyResult):
    """Information that a recoding keeps of a table, and that each of its classes gives away.

    These are the numbers of Figures 2 to 4 of Bezzi (2010). Classes are in the order of their
    values, those without a name last; the same in every list.

    Parameters
    ----------
    name
        What it is called.
    recoding
        The name of the recoding.
    proven
        Whether no other recoding of its kind keeps more.
    records
        The records that would be released.
    suppressed
        Those that would be suppressed.
    classes
        The values of each class, joined by commas; those that are ``*`` in all classes are left
        out. None for a class of fewer than five records where the policy does not hold: nobody
        would see it in a release. ``showing_values`` gives it.
    attributes
        For each sensitive attribute W its name (``attribute``), H(W) (``uncertainty``), I(X;W)
        (``original``), I(X~;W) (``retained``), ``loss``, ``ceiling`` and the ``bounds`` of models;
        and by class I1 and I2 (``i1``, ``i2``), their limits (``i1_limits``, ``i2_limits``) and
        whether the class breaks a model (``failing``). All but the loss are in bits.
    privacy
        The verdict of each model.
    failures
        Every class that breaks a model, by models, the worst first.
    """

    name: str
    recoding: str
    proven: bool
    records: int
    suppressed: int
    classes: tuple[str | None, ...]
    attributes: tuple[Attribute, ...]
    privacy: tuple[Verdict, ...]
    failures: tuple[Failure, ...]

    derived = ("satisfied", "retained")

    def __repr__(self) -> str:
        verdict = "policy holds" if self.satisfied else "policy does not hold"
        return in_a_line(self, self.name, plural(len(self.classes), "class"), verdict)

    def display(self) -> Display:
        """The information about each attribute, then the classes."""
        names = [name or HIDDEN for name in self.classes]
        kept = [
            [
                each.attribute,
                *(f"{bits:.4f}" for bits in (each.original, each.ceiling, each.retained)),
            ]
            for each in self.attributes
        ]
        classes = [
            Table(
                f"What each class tells about {each.attribute}, in bits",
                ["class", "I1", "I2", "fails"],
                [
                    [name, f"{one:.4f}", f"{two:.4f}", "FAILS" if fails else ""]
                    for name, one, two, fails in zip(
                        names, each.i1, each.i2, each.failing, strict=True
                    )
                ],
            )
            for each in self.attributes
        ]
        columns = ["about", "original", "ceiling", "retained"]
        return Display(
            f"Figures of {self.name}",
            [
                Points(
                    [f"It breaks {', '.join(self.failing)}."] if self.failing else [], "warning"
                ),
                Table("Information, in bits", columns, kept),
                *classes,
            ],
        )

    @property
    def retained(self) -> float:
        """I(X~;W) summed over the sensitive attributes, in bits."""
        return sum(each.retained for each in self.attributes)

    @property
    def failing(self) -> tuple[str, ...]:
        """The models that are broken, by their names."""
        broken = (each.model.name for each in self.privacy if not each.satisfied)
        return tuple(dict.fromkeys(broken))


def figures_of(name: str, recoding: Recoding, task: Task) -> Figures:
    """Fit a recoding to a counted table, or carry out given levels, and measure what comes of it.

    Raises
    ------
    InputError
        When recoding and table do not fit together.
    PolicyUnreachableError
        When a search finds nothing that satisfies the policy.
    """
    plan, outcome = recoding.unproven(task) if isinstance(recoding, Fixed) else recoding.fit(task)
    admitted, released = task.counted.kept, outcome.released
    people, schema = plan.people(released), plan.published
    persons = schema.persons_of(admitted)
    counts, class_of = classes_of(released, schema, people, persons=persons)
    verdicts = judged(released, counts, schema, plan.models, people, persons)
    labels = labels_of(released, schema.quasi_identifiers, class_of, len(counts))
    names = names_of(labels, counts, all(verdict.satisfied for verdict in verdicts))
    order = order_of(labels, names, counts)
    counts, names = counts.select(np.array(order)), [names[place] for place in order]
    raw = plan.count(outcome.left(admitted))
    problem = Problem(raw, plan.taxonomies, plan.models, task.objective)
    evaluation = Evaluation(problem, plan.recoding, raw, counts, outcome.suppressed_of(admitted))
    return Figures(
        name=name,
        recoding=recoding.name,
        proven=plan.search.proven,
        records=engine.records(released),
        suppressed=evaluation.suppressed,
        classes=tuple(names[place] for place in np.flatnonzero(counts.sizes).tolist()),
        attributes=tuple(Attribute.measured(evaluation, each) for each in counts.sensitive),
        privacy=tuple(verdicts),
        failures=tuple(
            failure
            for verdict in verdicts
            if not verdict.satisfied
            for failure in failures_of(verdict, evaluation, names)
        ),
    )


def require_figures(schema: Schema, recoding: Recoding) -> None:
    """Refuse what no figure can be about, before the table is counted."""
    if not schema.sensitive:
        raise InputError(
            "figures are about what classes tell of a sensitive attribute, and there is none: name "
            "one, in a study as [sensitive] attributes"
        )
    if recoding.private:
        raise InputError(
            f"recoding {recoding.name!r} is differentially private, and figures compare a release "
            "with its table; choose another recoding"
        )


def labels_of(
    released: engine.Table, names: Sequence[str], class_of: Codes, classes: int
) -> list[Label]:
    """Return the values of each class; none of one that the table has no record of."""
    found, first = np.unique(class_of, return_index=True)
    labels: list[Label] = [()] * classes
    columns = [released[name].iloc[first].tolist() for name in names]
    for place, values in zip(found.tolist(), zip(*columns, strict=True), strict=True):
        labels[place] = tuple(map(shown_label, values))
    return labels


def order_of(labels: Sequence[Label], names: Sequence[str | None], counts: Counts) -> list[int]:
    """Order classes by their values; those without a name last, the most telling first.

    Their places among the others would give their names away.
    """
    telling = surprise(counts.joint[counts.sensitive[0]], counts.margins[counts.sensitive[0]])

    def key(place: int) -> tuple[bool, float, list[list[tuple[bool, float, str]]]]:
        hidden = names[place] is None
        return hidden, -telling[place] if hidden else 0.0, [] if hidden else natural(labels[place])

    return sorted(range(len(counts)), key=key)


def natural(label: Label) -> list[list[tuple[bool, float, str]]]:
    """Return a key that sorts classes by their values, numbers in labels by their size.

    >>> sorted([("[100, 125)",), ("[25, 50)",), ("*",)], key=natural)
    [('*',), ('[25, 50)',), ('[100, 125)',)]
    """
    return [
        [
            (number, float(part), "") if (number := bool(place % 2)) else (number, 0.0, part)
            for place, part in enumerate(NUMBER.split(value))
        ]
        for value in label
    ]


def names_of(labels: Sequence[Label], counts: Counts, holds: bool) -> list[str | None]:
    """Name each class; where the policy does not hold, only those of enough records."""
    varied = [
        place
        for place, values in enumerate(zip(*filter(None, labels), strict=True))
        if {*values} != {ANY}
    ]
    return [
        (", ".join(label[place] for place in varied) or ANY)
        if label and (holds or may_be_named(size))
        else None
        for label, size in zip(labels, counts.sizes.tolist(), strict=True)
    ]


def failures_of(
    verdict: Verdict, evaluation: Evaluation, names: Sequence[str | None]
) -> list[Failure]:
    """List the classes that break a model, the worst first."""
    model = verdict.model
    places, values = evaluation.measured(model, verdict.attribute)
    fails = np.flatnonzero(~model.accepts(values))
    worst = fails[np.argsort(values[fails] * (1 if model.at_least else -1), kind="stable")]
    called = [names[place] if model.per_class else WHOLE for place in places[worst].tolist()]
    return [
        Failure(
            model.name,
            verdict.about,
            name,
            value if isfinite(value) and (name or model.sensitive) else None,
            model.threshold,
            model.range,
        )
        for name, value in zip(called, values[worst].tolist(), strict=True)
    ]
