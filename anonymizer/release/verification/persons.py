"""The policy of a release about persons: what its table shows of it, and what the original does.

A released table does not show whose its records are, or for how many people they stand. Its
steward, who has the original, recodes that as the manifest says: its classes have to be those of
the released table, and who is in them is known there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from anonymizer.counts.counting import recount
from anonymizer.counts.schema import Schema
from anonymizer.errors import PolicyBrokenError
from anonymizer.privacy import PrivacyModel, Verdict
from anonymizer.release.applied import plan_for
from anonymizer.release.applied_release import AppliedRelease
from anonymizer.release.manifest import Manifest
from anonymizer.release.numbering import numbered
from anonymizer.release.proof import judged, same_classes, same_persons
from anonymizer.release.relations import CountedTable
from anonymizer.release.study import Study
from anonymizer.release.verification.check import FieldCheck, required
from anonymizer.release.verification.evidence import RawEvidence, place_of
from anonymizer.release.verification.stored import StoredTable
from anonymizer.tables import engine
from anonymizer.tables.population import mean_weights
from anonymizer.tables.spreadsheet import disarmed
from anonymizer.tables.values import number_of

FIELD, BY_WEIGHTS = "privacy of persons", "privacy by weights"
MEANS = "mean weights of classes"
OF_HOUSEHOLDS = "privacy of households"

OVERLAPPING = (
    "its classes overlap, so that a record of the original may be in any of several; choose a "
    "recoding whose classes do not, such as boxes"
)

OTHER = "does not have the classes of the release under its recoding: it is another table"


def judged_by_table(
    judge: Callable[[Sequence[PrivacyModel]], Sequence[Verdict]],
    models: Sequence[PrivacyModel | None],
    persons: bool,
) -> list[Verdict | None]:
    """Judge a released table by models; None for one about persons, unless its records break it.

    None, too, for one about households, or the people whom sampling weights tell. A model about a
    sensitive attribute has to hold of records, too, which the table shows.
    """
    seen = [
        None if model and (model.by_withheld or (persons and model.of_persons)) else model
        for model in models
    ]
    found = iter(judge([model for model in seen if model is not None]))
    verdicts = [None if model is None else next(found) for model in seen]
    if not persons:
        return verdicts
    holds = [each is not None and each.satisfied and each.model.sensitive for each in verdicts]
    return [None if held else each for held, each in zip(holds, verdicts, strict=True)]


def of_original(
    manifest: Manifest,
    study: Study | None,
    raw: RawEvidence,
    stored: StoredTable,
    table: engine.Tally,
    schema: Schema,
) -> tuple[Sequence[Verdict], list[FieldCheck]]:
    """Recode the original as a manifest says, and judge its classes by what it alone shows.

    ``raw``: its place, or its counts, and the key of the pseudonyms of persons, by which they are
    compared, too. ``table``: the released one, ``stored``, counted by the roles of ``schema``.
    The verdicts are in the order of the manifest; none where the original is
    another table.

    Raises InputError when the original cannot be read or recoded.
    """
    roles, field = manifest.file[1], FIELD if manifest.person else BY_WEIGHTS
    if any(each.by_withheld and not each.by_weights for each in manifest.privacy):
        field = OF_HOUSEHOLDS
    source = AppliedRelease.of(manifest, study).source
    names = [*source.plan.schema.columns]
    hierarchies = {name: each.hierarchy for name, each in source.reaches.items()}
    known = {name: each for name, each in hierarchies.items() if each is not None}
    original = raw.original
    assert original is not None
    if isinstance(original, engine.Tally):
        counted = CountedTable(original, known)
    else:
        place = place_of(original, roles.missing_values, study, names)
        with place.opened(names) as relation:
            counted = CountedTable.of(relation, names, known, place.form)
    there = replace(source.plan.schema, identifiers=()).admit(counted.table)
    unseen = "error" if manifest.unseen is None else manifest.unseen.treated
    plan = plan_for(source, there, unseen)[0]
    try:
        recoded = plan.carry_out(there).released
    except PolicyBrokenError:  # more would have to be suppressed than was
        recoded = None
    if source.overlaps(plan, there):
        return (), [FieldCheck(field, "unchecked", None, reason=OVERLAPPING)]
    cells = manifest.spreadsheet
    safe = cells is not None and cells.safe
    key = raw.person_key
    released = None if recoded is None else numbered(recoded, recoded, plan.schema, key)
    shown = disarmed(released) if released is not None and safe else released
    # Random numbers are others each time, and so are pseudonyms without their key.
    same = same_classes if schema.number is None or key is not None else same_persons
    if recoded is None or shown is None or not same(shown, table, schema):
        return (), [required(field, False, "", OTHER, "original")]
    persons, people = plan.schema.persons_of(there), plan.people(recoded)
    counts = recount(recoded, plan.published, people, persons=persons)
    verdicts = judged(recoded, counts, plan.published, plan.models, people, persons)
    checks = (
        [FieldCheck(field, "original", True)] if manifest.hides_policy or manifest.person else []
    )
    if plan.schema.releases_weight:
        checks.append(_means(shown, stored, str(plan.schema.weight), plan.published))
    return verdicts, checks


def _means(shown: engine.Table, stored: StoredTable, weight: str, schema: Schema) -> FieldCheck:
    """Whether the released weight of each class is the mean of the original ones."""
    names = schema.quasi_identifiers
    means = engine.replaced(shown, {weight: mean_weights(shown, weight, names)[0]})
    there = stored.tally([*names, weight])
    numbers = [float(number_of(value) or 0) for value in there[weight].tolist()]
    read = engine.replaced(there, {weight: pd.Series(numbers, there.index)})
    alike = same_classes(means, read, Schema((*names, weight), ()))
    words = "has other mean weights in its classes"
    return required(MEANS, alike, "", words, "original")
