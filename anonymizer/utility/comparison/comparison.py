"""Every recoding under every point of a sweep, fitted and evaluated on random halves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from typing import TypeVar

import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.errors import (
    AnonymizerError,
    InputError,
    PolicyUnreachableError,
    column_names,
    require_one_of,
)
from anonymizer.hierarchy import Taxonomy
from anonymizer.privacy import TOLERANCE, DifferentialPrivacy, PrivacyModel, models_of
from anonymizer.recoding import Watch, as_done, ignore
from anonymizer.recoding.strategies import CUTTING, RECODINGS, REGIONAL
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.study import Study
from anonymizer.utility.comparison.halves import Fit, fitted
from anonymizer.utility.comparison.sweep import Point, Sweep, points, policy_at

__all__ = ["Comparison", "Unfit", "compare", "compare_study"]

T = TypeVar("T")

FITTING = "fitting recodings"

LEVELS = ("full-domain", "fixed")
ONLY_FOR = {
    "levels": ("fixed",),
    "suppression": LEVELS,
    "remove": LEVELS,
    "search": LEVELS,
    "group": CUTTING,
    "max_ranges": CUTTING,
    "min_gain": (*CUTTING, *REGIONAL),
    "refinement": (*CUTTING, "boxes"),
}
"""Options that other recodings refuse: for them they are left out."""


@dataclass(frozen=True)
class Unfit:
    """A recoding that could not be fitted, and why."""

    recoding: str
    parameters: Point
    reason: str


@dataclass(frozen=True)
class Comparison:
    """Recodings side by side.

    Parameters
    ----------
    records
        The records that were admitted.
    seed
        Of the halves.
    about
        The attributes that information is about: summed over the targets, where there are any,
        else over the sensitive attributes.
    swept
        The parameters that were swept.
    fits
        What could be fitted: point by point of the sweep, at each the one that keeps most first.
    unfit
        What could not.
    """

    records: int
    seed: int
    about: tuple[str, ...]
    swept: tuple[str, ...]
    fits: tuple[Fit, ...]
    unfit: tuple[Unfit, ...]

    @property
    def best(self) -> tuple[Fit, ...]:
        """The fit of each point of the sweep that keeps most on the half held out, corrected."""
        alike = groupby(self.fits, key=lambda fit: fit.parameters)
        return tuple(next(fits) for _, fits in alike)

    def is_best(self, fit: Fit) -> bool:
        """Whether a fit is the best of its point."""
        return any(fit is best for best in self.best)

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        return {
            **vars(self),
            "about": list(self.about),
            "swept": list(self.swept),
            "fits": [{**fit.to_dict(), "best": self.is_best(fit)} for fit in self.fits],
            "unfit": [asdict(row) for row in self.unfit],
        }


def compare(
    anonymizer: Anonymizer,
    table: pd.DataFrame,
    *,
    recodings: str | Sequence[str] | None = None,
    sweep: Sweep | None = None,
) -> Comparison:
    """Fit every recoding on a random half of a table and evaluate it on the other half.

    The halves depend on the seed alone, not on the order of the records. A half is held against the
    policy as it stands, although it has half the records: k records are as hard to find in it as
    2 k are in the table. Nothing is released.

    Parameters
    ----------
    anonymizer
        The parameters; its ``recoding`` is replaced by each that is compared, and options that
        another recoding refuses are left out for it. Its ``seed`` draws the halves, ``n_jobs`` fits
        are made at once, and ``progress`` is called with them.
    table
        The table.
    recodings
        Their names; when left out all, ``"fixed"`` where there are ``levels``.
    sweep
        By parameter of the policy's models the values it takes; all combinations are fitted.

    Raises
    ------
    InputError
        When table and parameters do not fit together, or no recoding can be fitted for such a
        reason.
    """
    run = anonymizer.run()
    requested = _requested(anonymizer, _chosen(anonymizer, recodings), sweep or {})
    counted = anonymizer.counted(table)
    about = counted.schema.targets or counted.schema.sensitive
    if not about:
        raise InputError(
            "a comparison is about information: name a sensitive attribute, or a target"
        )
    halves = counted.halves(anonymizer.seed)
    columns = tuple(counted.kept.columns)
    tasks = [(one, point, columns, counted.taxonomies, halves, about) for one, point in requested]
    outcomes = _watched(as_done(_attempt, tasks, run.n_jobs), len(tasks), run.watch)
    fits = [fit for fit in outcomes if isinstance(fit, Fit)]
    errors = [error for error in outcomes if isinstance(error, AnonymizerError)]
    if not fits and all(isinstance(error, InputError) for error in errors):
        raise InputError(f"no recoding can be fitted to a half of the table: {errors[0]}")
    return Comparison(
        records=len(counted.kept),
        seed=anonymizer.seed,
        about=about,
        swept=tuple(sweep or {}),
        fits=_ranked(fits, [point for _, point in requested]),
        unfit=tuple(
            Unfit(one.recoding, point, str(error))
            for (one, point), error in zip(requested, outcomes, strict=True)
            if isinstance(error, AnonymizerError)
        ),
    )


def compare_study(
    study: Study,
    *,
    seed: int | None = None,
    n_jobs: int | None = None,
    watch: Watch = ignore,
    recodings: Sequence[str] | None = None,
    sweep: Sweep | None = None,
) -> Comparison:
    """Compare recodings of a study's table; its seed unless another is given.

    Raises
    ------
    InputError
        When the study cannot be carried out; see ``compare``.
    """
    anonymizer = study.anonymizer(n_jobs, watch)
    if seed is not None:
        anonymizer.set_params(seed=seed)
    watch("reading the table", 0, None)
    table = study.read()
    watch("counting the table", 0, None)
    return compare(anonymizer, table, recodings=recodings, sweep=sweep)


def _chosen(anonymizer: Anonymizer, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """The recodings that are compared."""
    if names is None:
        return tuple(name for name in RECODINGS if name != "fixed" or anonymizer.levels is not None)
    chosen = tuple(dict.fromkeys(column_names("recodings", names)))
    if not chosen:
        raise InputError("recodings is empty: name those to compare, or leave it out")
    for name in chosen:
        require_one_of("recoding", name, RECODINGS)
    return chosen


def _requested(
    anonymizer: Anonymizer, recodings: Sequence[str], sweep: Sweep
) -> list[tuple[Anonymizer, Point]]:
    """Every recoding at every point of the sweep."""
    models = models_of(anonymizer.privacy)
    if anonymizer.masking is not None:
        raise InputError(
            "a comparison is about recodings that are searched for, and masking draws values; "
            "leave it out"
        )
    if any(isinstance(model, DifferentialPrivacy) for model in models):
        raise InputError(
            f"{DifferentialPrivacy.name}: levels have to be chosen without looking at the table, "
            "so that there is nothing to compare"
        )
    swept = [(point, policy_at(models, point)) for point in points(sweep, len(recodings))]
    return [
        (_under(anonymizer, name, policy), point) for point, policy in swept for name in recodings
    ]


def _under(anonymizer: Anonymizer, recoding: str, policy: Sequence[PrivacyModel]) -> Anonymizer:
    """The same anonymizer with another recoding and policy, for a single job."""
    defaults = {field.name: field.default for field in fields(Anonymizer)}
    left_out = {
        option: defaults[option] for option, knowing in ONLY_FOR.items() if recoding not in knowing
    }
    other = replace(anonymizer, recoding=recoding, privacy=policy, n_jobs=None, progress=None)
    return other.set_params(**left_out)


def _attempt(
    anonymizer: Anonymizer,
    point: Point,
    columns: Sequence[object],
    taxonomies: Mapping[str, Taxonomy],
    halves: tuple[Counts, Counts],
    about: Sequence[str],
) -> Fit | AnonymizerError:
    """A fit, or why there is none."""
    try:
        anonymizer.require_room(columns)
        return fitted(anonymizer, point, taxonomies, halves, about)
    except (InputError, PolicyUnreachableError) as error:
        return error


def _watched(outcomes: Iterator[T], of: int, watch: Watch) -> list[T]:
    """All outcomes; each is reported to ``watch`` as it comes."""
    watch(FITTING, 0, of)
    found = []
    for outcome in outcomes:
        found.append(outcome)
        watch(FITTING, len(found), of)
    return found


def _ranked(fits: Sequence[Fit], order: Sequence[Point]) -> tuple[Fit, ...]:
    """Point by point, those that keep most on the half held out first; ties: fewer classes."""

    def rank(fit: Fit) -> tuple[int, float, int]:
        kept = round(fit.held_out.miller_madow / TOLERANCE)
        return order.index(fit.parameters), -kept, fit.held_out.classes

    return tuple(sorted(fits, key=rank))
