"""A released table recounted as it stands, and every model of the policy tested on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonymizer.counts.columns import reads_as_written
from anonymizer.counts.counting import recount
from anonymizer.counts.counts import Counts
from anonymizer.counts.linked import compositions
from anonymizer.counts.pairs import csr_of
from anonymizer.counts.persons import Persons
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.privacy import PrivacyModel, Verdict, verdicts
from anonymizer.tables import engine
from anonymizer.tables.files.format import MissingValues, missing_texts
from anonymizer.tables.spelling import SpellingKeys, alike_keys, read_keys
from anonymizer.tables.values import both_texts, is_missing, texts_of


def verify(
    table: engine.Table,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: engine.Table | None = None,
) -> list[Verdict]:
    """Recount a table as it stands and hold every model against it.

    Classes are the combinations of values of the quasi-identifiers that stand in the table; nothing
    is known of hierarchies, recodings or searches. Missing values are a value of their own where
    the schema says so, an error otherwise. The population that models are about is taken as it
    stands too: recoded as the table is.

    Raises InputError when the table lacks a column, is empty or has missing values that it should
    not have.
    """
    return _recounted(table, schema, models, population)[1]


def prove(
    table: engine.Table,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: engine.Table | None = None,
    persons: Persons | None = None,
) -> tuple[Counts, list[Verdict]]:
    """Verify a table that is about to be released; give its counts and the verdicts on them.

    ``persons``: those of the table of which some records are released.

    Raises PolicyBrokenError when it breaks the policy: with the models that fail and by how much,
    no value of any record.
    """
    counts, found = _recounted(table, schema, models, population, persons)
    broken = [verdict for verdict in found if not verdict.satisfied]
    if broken:
        raise PolicyBrokenError(
            "nothing was released: the table breaks the policy under this recoding: "
            + "; ".join(_failure(verdict) for verdict in broken)
        )
    return counts, found


def same_classes(table: engine.Table, expected: engine.Table, schema: Schema) -> bool:
    """Return whether two tables have the same classes, of as many records by sensitive value.

    Where a released table does not show whose its records are, this is what says that the classes
    which were proven are those that were released. Values are compared by their texts.
    """
    texts = [_texts(each, schema.columns) for each in (table, expected)]
    group, _ = engine.grouped(pd.concat(texts, ignore_index=True), schema.columns)
    groups = int(group.max(initial=-1)) + 1
    rows = len(texts[0])
    own = engine.sized(table, group[:rows], groups)
    return bool((own == engine.sized(expected, group[rows:], groups)).all())


def same_persons(table: engine.Table, expected: engine.Table, schema: Schema) -> bool:
    """Return whether two tables have the same persons, whichever number each of them has.

    As many have exactly the same records in either. Values are compared by their texts.
    """
    texts = [_texts(each, schema.columns) for each in (table, expected)]
    both, rows = pd.concat(texts, ignore_index=True), len(texts[0])
    record, _ = engine.grouped(both, [n for n in schema.columns if n not in schema.person])
    # Persons of the first table have even places, those of the other odd ones.
    person = 2 * engine.grouped(both, schema.person)[0].astype(np.int64)
    person[rows:] += 1
    sizes = [
        engine.sized(each, np.arange(len(each.index)), len(each.index))
        for each in (table, expected)
    ]
    shape = int(record.max(initial=-1)) + 1, 2 * (int(person.max(initial=-1)) // 2 + 1)
    kinds = compositions(csr_of(record, person, np.concatenate(sizes), shape))
    own, other = (np.bincount(kinds[side::2] + 1, minlength=kinds.max() + 2) for side in (0, 1))
    return bool((own[1:] == other[1:]).all())


def _texts(table: engine.Table, columns: Sequence[str]) -> pd.DataFrame:
    found = {}
    for name in columns:
        codes, values = engine.distinct(table[name])
        found[name] = np.array([*texts_of(values), None], object)[:-1][codes]
    return pd.DataFrame(found, columns=[*columns])


def require_present(table: engine.Table, names: Sequence[str], missing: MissingValues) -> None:
    """Refuse a release that shows in some columns a text that stands for a missing value.

    Whoever reads it as the raw table is read would miss a value there.
    """
    for name in names if missing else ():
        values = engine.distinct(table[name])[1]
        texts = {each for value in values if not is_missing(value) for each in both_texts(value)}
        for text in missing_texts(missing, name):
            if text in texts:
                raise InputError(
                    f"nothing was released: column {name!r} would show {text!r}, which "
                    "missing-values takes for a missing value; leave it out there, or give the "
                    "hierarchy other labels"
                )


def _recounted(
    table: engine.Table,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: engine.Table | None,
    persons: Persons | None = None,
) -> tuple[Counts, list[Verdict]]:
    schema.require_released(table)
    counts = recount(table, schema, population, persons=persons)
    return counts, judged(table, counts, schema, models, population, persons)


def judged(
    table: engine.Table,
    counts: Counts,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: engine.Table | None = None,
    persons: Persons | None = None,
) -> list[Verdict]:
    """The worst verdicts on a counted table that any reader of it comes to.

    Where a reader may take several spellings of a sensitive value for one, models are held against
    both ends: all texts as different values, and all that may read alike as one value. Diversity
    only falls when values are merged, closeness only when they are split. Who takes several labels
    of a quasi-identifier for one sees merged classes, which a monotone model accepts, too.

    Raises InputError when a model is monotone in neither direction, so that the ends say nothing of
    readers between them, or is not monotone and labels may read alike.
    """
    found = verdicts(counts, models)
    _require_classes(table, schema, models)
    ambiguous = _ambiguous(table, schema.sensitive)
    if not ambiguous:
        return found
    _require_bounded(models, ambiguous)
    others = verdicts(recount(table, schema, population, list, persons), models)
    return [
        one if not one.satisfied or other.satisfied else other
        for one, other in zip(found, others, strict=True)
    ]


def _ambiguous(
    table: engine.Table, names: Sequence[str], keys: SpellingKeys = alike_keys
) -> list[str]:
    """The columns of which somebody takes several values for one."""
    return [name for name in names if not reads_as_written(table[name], keys)]


def _require_classes(table: engine.Table, schema: Schema, models: Sequence[PrivacyModel]) -> None:
    """Require that no reader who merges classes can find a model broken."""
    for model in models:
        if not model.monotone:
            for column in _ambiguous(table, schema.quasi_identifiers, read_keys):
                raise _unprovable(column, model)


def _require_bounded(models: Sequence[PrivacyModel], ambiguous: Sequence[str]) -> None:
    """Require that no reader between two extreme ones can find a model broken."""
    for model in models:
        about = getattr(model, "attribute", None)
        names = (about,) if isinstance(about, str) else about or ambiguous
        among = [name for name in names if name in ambiguous]
        if model.sensitive and among and not model.value_monotone:
            raise _unprovable(among[0], model)


def _unprovable(column: str, model: PrivacyModel) -> InputError:
    return InputError(
        f"column {column!r} has values that some readers of a file take for one, such as 1 and "
        f"True, or numbers beyond 2^53; {model.name} cannot be proven for all of them: write each "
        "value in one way"
    )


def _failure(verdict: Verdict) -> str:
    model, worst = verdict.model, f"{verdict.worst:.6g}"
    failing = f"{verdict.named} fails"
    if not model.per_class:
        return f"{failing} ({worst} against {model.threshold:.6g})"
    classes = f"in {verdict.violating} of {verdict.classes} classes"
    return f"{failing} {classes} (worst {worst}, threshold {model.threshold:.6g})"
