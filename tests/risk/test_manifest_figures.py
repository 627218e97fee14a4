"""Figures of a manifest as what the attacker knows of a table: they tell no more than the release.

Somebody who knows the method keeps the worlds that are released as the table was. Every figure that
stays in the folder is the same in all of them, so that none excludes one more.
"""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from attacked import KINDS, Simulated, audited, simulated_tables
from lengths import at_length
from simulated import Attacker, World, released_by, ways_of, worlds_of

from anonymizer import InputError

SAME = {"sha256"}
"""What follows from the order of the released records, which is drawn."""


def attacker_of(found: Simulated) -> Attacker:
    return Attacker(found.table, found.about, released_by(found.anonymizer))


def figures(content: object, place: tuple = ()) -> dict[tuple, object]:
    """Every figure of a manifest by its place."""
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        parts = [figures(each, (*place, key)) for key, each in items if key not in SAME]
        return {key: value for part in parts for key, value in part.items()}
    return {place: content}


def table_of(attacker: Attacker, world: World) -> pd.DataFrame:
    """The table of a world."""
    names = [name for name in attacker.table.columns if name not in attacker.about]
    rows = [(*cell, *value) for cell, values in world.items() for value in values.elements()]
    return pd.DataFrame(rows, columns=[*names, *attacker.about])


def others(found: Simulated, number: int) -> Iterator[pd.DataFrame]:
    """Some worlds that deal the values of each class anew."""
    attacker = attacker_of(found)
    own = attacker.world(attacker.cells, attacker.values)
    worlds = [*worlds_of(ways_of(attacker.classes(attacker.labels(own) or {})))]
    order = np.random.default_rng(1).permutation(len(worlds))
    for place in order[:number].tolist():
        yield table_of(attacker, worlds[place])


def kept(found: Simulated, number: int) -> Iterator[pd.DataFrame]:
    """Those of them that the simulation keeps: it takes them to be released as the table was."""
    for table in others(found, number):
        task = found.anonymizer().task(table)
        search, world = type(found.search).of(found.recoding, task)
        if search.released(world, task.run) == found.ours:
            yield table


@pytest.mark.parametrize("kind", [*KINDS])
def test_worlds_that_are_kept_have_the_same_figures(kind):
    worlds = 0
    for found in simulated_tables(kind, at_length(2, 60), 8):
        first = found.anonymizer()
        released = sorted(first.fit_transform(found.table).astype(str).to_numpy().tolist())
        expected = figures(first.release_.to_dict())
        assert expected[("information", "retained")] is not None
        for table in kept(found, at_length(5, 40)):
            again = found.anonymizer()
            shown = again.fit_transform(table).astype(str).to_numpy().tolist()
            assert sorted(shown) == released
            assert figures(again.release_.to_dict()) == expected
            worlds += 1
    assert worlds > at_length(2, 60)  # more than the tables themselves


@pytest.mark.parametrize("kind", ["ranges", "levels", "any", "boxes", "cuts"])
def test_the_folder_is_the_same_in_all_of_them(kind, tmp_path):
    found = next(simulated_tables(kind, 1, 8))
    folders = []
    for place, table in enumerate([found.table, *kept(found, at_length(3, 20))]):
        where = tmp_path / str(place)
        where.mkdir()
        other = Simulated.__new__(Simulated)
        vars(other).update({**vars(found), "table": table})
        audited(other, kind, where)
        manifest = json.loads((where / "out" / "release.json").read_text())
        files = sorted(path.name for path in (where / "out").iterdir())
        folders.append((figures(manifest), files))
    assert len(folders) > 1
    assert all(each == folders[0] for each in folders)


def test_one_table_that_two_recodings_release_is_told_apart():
    """`best` reports which of its recodings was taken: worlds of another one are no candidates."""
    told = 0
    for found in simulated_tables("best", at_length(1, 6), 8):
        first = found.anonymizer()
        released = sorted(first.fit_transform(found.table).astype(str).to_numpy().tolist())
        expected = figures(first.release_.to_dict())
        for table in others(found, at_length(8, 30)):
            again = found.anonymizer()
            try:
                shown = again.fit_transform(table).astype(str).to_numpy().tolist()
            except InputError:
                continue
            task = again.task(table)
            search, world = type(found.search).of(found.recoding, task)
            alike = search.released(world, task.run) == found.ours
            same = sorted(shown) == released
            assert alike == (same and figures(again.release_.to_dict()) == expected)
            told += same and not alike
    assert told
