"""All that is measured of one release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.multidimensional import CLASS
from anonymizer.counts.schema import taxonomies_of
from anonymizer.errors import InputError, column_names, is_whole, jobs_of, require_one_of
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy import DifferentialPrivacy
from anonymizer.release.files import COUNTS, MANIFEST, home_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.placement import require_no_numbers, require_whole_classes
from anonymizer.release.plan import Plan
from anonymizer.release.results import as_json
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.spreadsheet import rearmed, rearmed_text
from anonymizer.tables.values import number_of
from anonymizer.utility.deviation import (
    InformationLoss,
    TotalVariation,
    deviations,
    information_losses,
)
from anonymizer.utility.labels import RegionLabels
from anonymizer.utility.measures import Measure, measures_of, why_undefined
from anonymizer.utility.numbers import REPRESENTATIVES, number_columns
from anonymizer.utility.pairing import Recoder, pair
from anonymizer.utility.prediction import Prediction, learners, predictions, targets_of

MOST_SEED = 2**32
"""Seeds of scikit-learn are below."""


QUALITY = "a measure of quality"


@dataclass(frozen=True)
class Quality:
    """The quality of a release.

    Parameters
    ----------
    quasi_identifiers
        The columns that were recoded.
    records
        Original records that are compared, ``dropped`` ones not among them.
    dropped
        Records that miss a value and were left out before anything else.
    suppressed, left_out
        Records whose quasi-identifiers are suppressed, and those of them that are not released.
    measures
        Of the whole table, by name; None where a measure is not defined for this release.
    tables
        How far one-way and two-way tables of counts are off.
    statistics
        How far statistics of numbers moved.
    predictions
        How well classifiers do; None where scikit-learn is not installed.
    representative
        What number a released group stands for: ``"midpoint"`` or ``"mean"``.
    folds, seed
        Of the cross-validation.
    undefined
        Why each measure that is None is not defined.
    weight
        The column of sampling weights, by which ``weighted`` tables count: None without one.
    weighted
        How far the same tables are off that count each record as many people as it stands for.
    random
        Whether released values were drawn at random. Tables, statistics and classifiers are then of
        the released values as they stand; estimates that correct for the drawing are another thing.
    """

    quasi_identifiers: Sequence[str]
    records: int
    dropped: int
    suppressed: int
    left_out: int
    measures: Mapping[str, Measure | None]
    tables: Sequence[TotalVariation]
    statistics: Sequence[InformationLoss]
    predictions: Sequence[Prediction] | None
    representative: str
    folds: int
    seed: int
    undefined: Mapping[str, str] = field(default_factory=dict)
    random: bool = False
    weight: str | None = None
    weighted: Sequence[TotalVariation] = ()

    def total_variation(self, ways: int) -> float | None:
        """Return the mean distance of tables of ``ways`` columns; None where there is none."""
        return mean_distance(self.tables, ways)

    @property
    def pil(self) -> dict[str, float]:
        """The mean probabilistic information loss of each kind of statistic."""
        kinds = dict.fromkeys(found.statistic for found in self.statistics)
        return {
            kind: float(np.mean([s.pil for s in self.statistics if s.statistic == kind]))
            for kind in kinds
        }

    def to_dict(self) -> dict[str, object]:
        """Return all figures for JSON; no value of any record is shown.

        ``measures``: for each name its ``value``, what it is of the ``original`` and with all
        records ``suppressed``, ``normalized`` (1 and 0 there), ``unit``, and the same of single
        ``attributes``; null where it is not defined, and why so in ``undefined``. ``tables``:
        ``one-way`` and ``two-way``, the ``mean`` ``total_variation`` and that of each table by its
        ``columns``.
        ``information_loss``: ``mean`` by kind, and all ``statistics`` with ``columns``, ``share``
        (of a quantile), ``standard_errors`` and ``pil``. ``weighted_tables``, where records stand
        for people: the column ``weight``, and tables by it. ``classification``: ``folds``, ``seed``
        and ``predictions`` of each ``target`` by each ``classifier``, ``accuracy`` and ``auc`` of
        ``majority``, ``original`` and ``released``, and the share ``kept`` of the gain over the
        majority; null without scikit-learn.
        """
        plain = ("records", "dropped", "suppressed", "left_out", "representative")
        return {
            **{name: getattr(self, name) for name in plain},
            "random": self.random,
            "measures": as_json(self.measures),
            "undefined": dict(self.undefined),
            "tables": {"one-way": _tables(self.tables, 1), "two-way": _tables(self.tables, 2)},
            **self._weighted,
            "information_loss": {"mean": self.pil, "statistics": as_json(self.statistics)},
            "classification": None
            if self.predictions is None
            else {
                "folds": self.folds,
                "seed": self.seed,
                "predictions": as_json(self.predictions),
            },
        }

    @property
    def _weighted(self) -> dict[str, object]:
        if self.weight is None:
            return {}
        ways = {"one-way": _tables(self.weighted, 1), "two-way": _tables(self.weighted, 2)}
        return {"weighted_tables": {"weight": self.weight, **ways}}


def mean_distance(tables: Sequence[TotalVariation], ways: int) -> float | None:
    """Return the mean distance of those tables that have ``ways`` columns; None of none."""
    distances = [table.total_variation for table in tables if len(table.columns) == ways]
    return float(np.mean(distances)) if distances else None


def _tables(tables: Sequence[TotalVariation], ways: int) -> dict[str, object]:
    chosen = [table for table in tables if len(table.columns) == ways]
    return {"mean": mean_distance(tables, ways), "tables": as_json(chosen)}


def measure_quality(
    original: pd.DataFrame,
    released: pd.DataFrame,
    by: Recoder | Plan,
    *,
    targets: str | Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    representative: str = "midpoint",
    weight: str | None = None,
    n_jobs: int | None = None,
    watch: Watch = ignore,
) -> Quality:
    """Measure how much a release still reports of the table it was made of.

    Parameters
    ----------
    original, released
        Both tables, their records in the order they had when the one was made of the other.
    by
        What made it: the ``plan_`` of a fitted ``Anonymizer``.
    targets
        The columns that classifiers are to predict from the quasi-identifiers: sensitive
        attributes or columns released as they were. When left out what the release is to tell
        about, its targets or else all sensitive attributes, as far as these are categories and
        scikit-learn is installed; ``[]`` requests no classifiers.
    folds, seed
        Of the cross-validation, which takes nearly all of the time.
    representative
        What number a group of numbers stands for in statistics and to classifiers: ``"midpoint"``,
        halfway from its smallest to its largest value; ``"mean"``, that of the original records
        with its values, which no analyst knows.
    weight
        The column of the original by which tables of the people are compared, too, for whom its
        records stand; that of the plan by default.
    n_jobs
        How much the random forest does at once, as joblib has it.
    watch
        Called with what is being done, how much of it is done, and of how much (or None).

    Raises
    ------
    InputError
        When the released table is not a recoding of the original one, a target or parameter cannot
        be used, or targets are requested without scikit-learn.
    PolicyBrokenError
        When an identifier stands in the released table.
    """
    require_one_of("representative", representative, REPRESENTATIVES)
    if not is_whole(folds, least=2):
        raise InputError(f"folds = {folds!r} must be a whole number of at least 2")
    if not is_whole(seed, least=0) or seed >= MOST_SEED:
        raise InputError(f"seed = {seed!r} must be a whole number from 0 to {MOST_SEED - 1}")
    jobs_of(n_jobs)
    if isinstance(by, Plan):
        require_whole_classes(by.method, QUALITY)
        require_no_numbers(by.schema.number, QUALITY)
    if isinstance(by, Plan) and by.shift is not None:
        original, released = _without(by.shift.names, original, released)
    if by.schema.releases_weight:  # the mean of a class is the weight of no record
        released = released.drop(columns=[name for name in [by.schema.weight] if name in released])
    watch("pairing the records", 0, None)
    pairing = pair(original, released, by)
    requested = None if targets is None else column_names("targets", targets)
    chosen = targets_of(pairing, requested)
    classifiers = learners(seed, n_jobs) if chosen else ()  # slow to load
    if classifiers is None and requested:
        raise InputError(
            "classifiers need scikit-learn, which is not installed: pip install scikit-learn"
        )
    watch("measuring groups, classes and statistics", 0, None)
    measures = measures_of(pairing)
    weight = weight or (None if by.schema.person else by.schema.weight)
    weights = None if weight is None else _weights(pairing.table[weight])
    validation: dict[str, Any] = {"representative": representative, "folds": folds, "seed": seed}
    return Quality(
        quasi_identifiers=tuple(pairing.attributes),
        records=len(pairing),
        dropped=pairing.dropped,
        suppressed=int(pairing.suppressed.sum()),
        left_out=int(pairing.left_out.sum()),
        measures=measures,
        undefined={
            name: why_undefined(name, pairing) for name, found in measures.items() if found is None
        },
        random=pairing.random,
        statistics=information_losses(number_columns(pairing, representative)),
        tables=deviations(pairing, watch),
        weight=weight,
        weighted=() if weights is None else deviations(pairing, watch, weights),
        predictions=None
        if classifiers is None
        else predictions(pairing, chosen, classifiers, **validation, watch=watch),
        **validation,
    )


def measure_file(study: Study, path: Path, *, watch: Watch = ignore, **options: Any) -> Quality:
    """Measure the quality of a released file of a study; options as of ``measure_quality``.

    Raises InputError when a file cannot be read, or the released table is not the recoding of the
    study's table that the manifest next to it describes. ``path``: the table, or the directory of
    the release. Raises PolicyBrokenError when an
    identifier stands in the released table.
    """
    directory = home_of(path)
    manifest = Manifest.read(directory / MANIFEST)
    require_whole_classes(manifest.method, QUALITY)
    require_no_numbers(manifest.person_numbers, QUALITY)
    if path == directory:
        path = manifest.table_at(path)
    if path.name == COUNTS:
        raise InputError(
            f"{path} holds counts, and quality compares a release with its table record by record; "
            "measure each part where its table lies"
        )
    watch("reading the tables", 0, None)
    form = study.released_format_of(path)
    released = study.read(path, form, study.schema.without_persons)
    if study.disarms(form):
        released, manifest = rearmed(released), manifest.with_texts(rearmed_text)
    original = study.read()
    if manifest.shift is not None:
        original, released = _without(manifest.shift.columns, original, released)
    watch("counting the table", 0, None)
    kept = study.schema.admit(original)
    taxonomies = taxonomies_of(engine.tally(kept, study.schema.columns), study.hierarchies)
    # That of a person, whom a table of records counts as often as they have some.
    weight = None if study.schema.person else study.schema.weight
    recoder = _recoder(study, manifest, taxonomies)
    if study.schema.releases_weight:
        released = released.drop(columns=[weight])
        hidden = replace(study.schema, releases_weight=False).without_persons
        recoder = replace(recoder, schema=hidden)
    return measure_quality(original, released, recoder, weight=weight, watch=watch, **options)


def _weights(column: pd.Series) -> Floats:
    """The sampling weight of each record, which was admitted, shape (records,)."""
    codes, values = engine.distinct(column)
    return np.array([float(number_of(value) or 0) for value in values])[codes]


def _without(
    names: Sequence[str], original: pd.DataFrame, released: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Leave out columns of moved dates, which are those of no record any more."""
    there = [name for name in names if name in released.columns]
    return original.drop(columns=there), released.drop(columns=there)


def _recoder(study: Study, manifest: Manifest, taxonomies: Mapping[str, Taxonomy]) -> Recoder:
    """Return the recoding that a manifest describes, over the values of the study's table."""
    in_order, schema = manifest.file[0].order != "random", study.schema.without_persons
    if manifest.masking:
        _require_same({*manifest.levels} == {*taxonomies})
        levels = {name: taxonomies[name].levels[level] for name, level in manifest.levels.items()}
        return Recoder(schema, taxonomies, levels, random=True, in_order=in_order)
    if manifest.regions:
        _require_same({*manifest.regions[0]} == {*taxonomies})
        full = manifest.completed(study.hierarchies)
        numbered = CLASS in {*manifest.file[1].quasi_identifiers} - {*manifest.recoding}
        labels = RegionLabels.of_manifest(full, taxonomies, numbered)
        return Recoder(schema, taxonomies, labels, in_order=in_order)
    sampled = any(each.model == DifferentialPrivacy.name for each in manifest.privacy)
    partitions = manifest.recoding_over(taxonomies)
    return Recoder(schema, taxonomies, partitions, sampled=sampled, in_order=in_order)


def _require_same(alike: bool) -> None:
    if not alike:
        raise InputError(
            f"{MANIFEST} does not describe a release of this study; is it of another one, or was "
            "the study changed since?"
        )
