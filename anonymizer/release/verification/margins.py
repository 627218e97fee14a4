"""The fewest people of the classes of a released table, where margins of a population bound them.

What the labels of a class stand for is recoded from the values of the margins, as the manifest
says. So nobody needs the raw table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from anonymizer.counts.columns import encoded, stacked
from anonymizer.counts.margin_labels import values_of
from anonymizer.counts.margins import LeastPeople, MarginsByLevel
from anonymizer.counts.schema import taxonomies_of
from anonymizer.hierarchy import ANY, Taxonomy
from anonymizer.kernels.arrays import Codes
from anonymizer.recoding.apply import relabelled
from anonymizer.release.manifest import Manifest
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format
from anonymizer.tables.population import Margins
from anonymizer.tables.spreadsheet import disarmed


def fewest_of_release(
    study: Study, manifest: Manifest, form: Format, table: engine.Table, margins: Margins
) -> Tally:
    """Count the fewest people of each class of a released table; never fewer than its records.

    InputError where the margins contradict each other, or the manifest is of another study.
    """
    known = study.schema.admit_margins(margins, study.hierarchies)
    columns = values_of(known)
    classes = engine.tally(table, study.schema.quasi_identifiers)
    taxonomies, groups, cells = dict[str, Taxonomy](), dict[str, Codes | None](), []
    for name in study.schema.quasi_identifiers:
        if name not in columns:  # of which no margin knows anybody
            labels = classes.combinations[[name]]
            every = bool(engine.all_equal(labels, [name], ANY).all())
            groups[name] = None if every else np.zeros(1, np.intp)
            cells.append(np.zeros(len(labels), np.intp))
            continue
        tally = engine.tally(pd.DataFrame({name: columns[name]}), [name])
        taxonomies |= taxonomies_of(tally, {name: study.hierarchies[name]})
        recoding = manifest.recoding_over({name: taxonomies[name]}, some=True)
        recoded = relabelled(tally.combinations, recoding, taxonomies)
        written = disarmed(recoded) if study.disarms(form) else recoded
        codes = encoded(tally.combinations[name], taxonomies[name])
        groups[name], of_class = placed(classes, written, codes, name)
        cells.append(of_class)
    least = LeastPeople.by(known, taxonomies)
    views = tuple(view for view in least.views if _whole(view, manifest))
    if not views:
        return classes
    least = replace(least, groups=groups, views=views)
    people = least.of(study.schema.quasi_identifiers, np.column_stack(cells))
    return replace(classes, sizes=np.maximum(people, classes.sizes))


def _whole(view: MarginsByLevel, manifest: Manifest) -> bool:
    """Whether the classes of a release have whole groups of the levels that a view is at.

    The values that stand for labels do not show it: each is alone in its group.
    """
    levels = manifest.levels or {}
    return all(levels.get(name, 0) >= alike.level for name, alike in view.levels.items())


def placed(
    classes: Tally, labels: pd.DataFrame, codes: Codes, name: str
) -> tuple[Codes | None, Codes]:
    """Group the value codes of an attribute by their released labels, and give codes to classes.

    ``labels`` are those of the ``codes``, a row each. The label of a class has a code of its own
    beyond these, which is in the group of the label. None where every label is the same one.
    """
    texts = stacked(classes, labels, [name])[name]
    numbers, found = engine.distinct(texts)
    rows, values = len(classes.sizes), int(codes.max()) + 1
    if len(found) == 1:
        return None, np.zeros(rows, np.intp)
    groups = np.zeros(values + len(found), np.intp)
    groups[codes] = numbers[rows:]
    groups[values:] = np.arange(len(found))
    return groups, values + numbers[:rows]
