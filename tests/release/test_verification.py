"""A release is held against its manifest: what was changed in either is listed.

Whoever changes a release writes its checksum anew, too: every change here is noticed by something
else, or is named among those that nothing else can notice.
"""

import copy
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from math import log2
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import LONG, at_length
from oddities import PERSON, STUDY, lay
from releases import (
    KINDS,
    NAME,
    copied,
    header_and_rows,
    manifest_in,
    rewritten,
)

from anonymizer import InputError, Verification, verify_release
from anonymizer.errors import AnonymizerError
from anonymizer.objectives import OBJECTIVES, Objective
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.check import FIELDS, leaves, same, treatment_of
from anonymizer.release.warnings import WARNINGS

Table = tuple[list[str], list[list[str]]]


def study_of(release: Path) -> Path:
    return release.parent / "study.toml"


def fields(found: Verification) -> set[str]:
    """What differs."""
    return {check.field for check in found.differences}


def refused(path: Path, study: Path | None = None) -> bool:
    """Whether verification notices something: by a difference, or because nothing can be read."""
    try:
        return not verify_release(path, study).satisfied
    except InputError:
        return True


# By hand

SMALL = """\
[data]
path = "people.csv"
[quasi-identifiers]
sex = "suppress"
[sensitive]
attributes = ["disease"]
[[privacy]]
model = "k-anonymity"
k = 3
[objective]
name = "mutual-information"
[output]
order = "kept"
"""


def test_a_record_dropped_from_two_classes_of_four(tmp_path):
    """Of f: flu, flu, cold, cold; m: cold four times. Then m has three, and a bit is less than one.

    Before: I = H(W) - 1/2 = 0.311 bits; after: 7 records, N log N - sum n log n as written below.
    """
    ill = ["flu"] * 2 + ["cold"] * 6
    pd.DataFrame({"sex": ["f"] * 4 + ["m"] * 4, "disease": ill}).to_csv(
        tmp_path / "people.csv", index=False
    )
    (tmp_path / "study.toml").write_text(SMALL)
    path = tmp_path / "out"
    publish(Study(tmp_path / "study.toml"), path)
    assert verify_release(path).differences == ()
    table = path / "released.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    found = {check.field: str(check) for check in verify_release(path).differences}
    assert set(found) == {
        "table.sha256",
        "released",
        "records",
        *(f"query_loss.{name}" for name in ("uncertainty", "average", "standard_deviation")),
        *(f"query_loss.{name}" for name in ("maximum", "minimum")),
        "privacy.0.worst",
        *(f"information.{name}" for name in ("retained", "miller_madow")),
        "search.value",
        "warnings",
    }
    assert found["table.sha256"] == "table.sha256: the table was changed after it was released"
    assert found["released"] == "released: the manifest says 8, the table 7"
    assert found["records"] == "records: the manifest says 8, the rest of the manifest 7"
    assert found["privacy.0.worst"] == "privacy.0.worst: the manifest says 4.0, the table 3.0"
    before = 2 - 0.75 * log2(3) - 0.5
    after = log2(7) - (2 * log2(2) + 5 * log2(5)) / 7 - 4 / 7
    told, _, now = (
        found["search.value"]
        .removeprefix("search.value: the manifest says ")
        .partition(", the table ")
    )
    assert (float(told), float(now)) == pytest.approx((before, after))


# Releases as they were written


@pytest.mark.parametrize("kind", KINDS)
def test_what_run_writes_agrees_with_its_manifest(release, kind):
    """With its study and, but of a population, without; at full length by directory and table."""
    path, study = release(kind), study_of(release(kind))
    table = next(path.glob("released.*"))
    given = [(table, study), (path, None), *([(path, study), (table, None)] if LONG else [])]
    for place, named in given:
        if named is None and KINDS[kind].population:
            continue
        found = verify_release(place, named)
        assert found.differences == ()
        assert found.satisfied
        assert [v.to_dict() for v in found.verdicts] == manifest_in(path)["privacy"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_a_manifest_is_accounted_for(release, kind):
    for leaf in leaves(manifest_in(release(kind))):
        assert treatment_of(leaf)[0] in FIELDS, leaf


def test_every_field_that_is_not_checked_has_its_reason():
    assert all(treatment.why for treatment in FIELDS.values() if treatment.how == "unchecked")


@settings(max_examples=at_length(8, 40))
@given(
    st.lists(PERSON, min_size=2, max_size=12),
    st.integers(1, 3),
    st.sampled_from(["drop", "category"]),
    st.sampled_from(
        [
            "full-domain",
            'full-domain"\nsuppression = "0.4',
            'full-domain"\nremove = true\nsuppression = "0.4',
            "variable-range",
            'variable-range"\ngroup = ["job"]\nrefine = ["age"]\nrefinement = "exact',
            "cut",
        ]
    ),
    st.sampled_from(
        [name for name, kind in OBJECTIVES.items() if kind.per_class is not Objective.per_class]
    ),
)
def test_whatever_is_released_agrees_with_its_manifest(
    tmp_path_factory, rows, k, missing, recoding, objective
):
    directory = tmp_path_factory.mktemp("law")
    text = STUDY.replace("k = 3", f"k = {k}").replace("l = 1.8", "l = 1")
    text = text.replace("t = 0.5", "t = 2").replace('"category"', f'"{missing}"')
    text += f'[recoding]\nmethod = "{recoding}"\n[objective]\nname = "{objective}"\n'
    text = text.replace('suppression = "0.4"', "suppression = 0.4")
    study = lay(directory, rows, text)
    try:
        publish(study, directory / "out")
    except AnonymizerError:
        return
    assert fields(verify_release(directory / "out")) == set()
    assert fields(verify_release(directory / "out", study)) == set()


# A table that was changed


def put(column: str, value: str, row: int = 0) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        header, rows = table
        rows[row][header.index(column)] = value
        return header, rows

    return change


def other_in(column: str) -> Callable[[Table], Table]:
    """The first record gets the value of one that has another."""

    def change(table: Table) -> Table:
        header, rows = table
        place = header.index(column)
        rows[0][place] = next(row[place] for row in rows if row[place] != rows[0][place])
        return header, rows

    return change


def swapped(one: str, other: str, names: bool) -> Callable[[Table], Table]:
    """The names of two columns, or all their values, change places."""

    def change(table: Table) -> Table:
        header, rows = table
        left, right = header.index(one), header.index(other)
        for row in [header] if names else rows:
            row[left], row[right] = row[right], row[left]
        return header, rows

    return change


def added(name: str) -> Callable[[Table], Table]:
    return lambda table: (
        [*table[0], name],
        [[*row, f"{NAME}{i}"] for i, row in enumerate(table[1])],
    )


def without(column: str) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        place = table[0].index(column)
        return [name for name in table[0] if name != column], [
            row[:place] + row[place + 1 :] for row in table[1]
        ]

    return change


def renamed(column: str, name: str) -> Callable[[Table], Table]:
    return lambda table: ([name if each == column else each for each in table[0]], table[1])


def rotated(column: str) -> Callable[[Table], Table]:
    """Every record gets the value of the one after it."""

    def change(table: Table) -> Table:
        header, rows = table
        place = header.index(column)
        values = [row[place] for row in rows]
        for row, value in zip(rows, [*values[1:], values[0]], strict=True):
            row[place] = value
        return header, rows

    return change


def one_disease_in_a_class(table: Table) -> Table:
    header, rows = table
    qi, ill = [header.index("age"), header.index("job")], header.index("disease")
    for row in rows:
        if [row[i] for i in qi] == [rows[0][i] for i in qi]:
            row[ill] = "flu"
    return header, rows


def first_class_as_another(table: Table) -> Table:
    """All records of one class are given the labels of another."""
    header, rows = table
    places = [header.index(name) for name in ("age", "job", "class") if name in header]
    mine = [rows[0][i] for i in places]
    others = next([row[i] for i in places] for row in rows if [row[i] for i in places] != mine)
    for row in rows:
        if [row[i] for i in places] == mine:
            for i, label in zip(places, others, strict=True):
                row[i] = label
    return header, rows


def labels_exchanged(table: Table) -> Table:
    """Two records of different classes and diseases exchange their labels."""
    header, rows = table
    places = [header.index(name) for name in ("age", "job", "class") if name in header]
    ill = header.index("disease")
    first = rows[0]
    other = next(
        row
        for row in rows
        if [row[i] for i in places] != [first[i] for i in places] and row[ill] != first[ill]
    )
    for i in places:
        first[i], other[i] = other[i], first[i]
    return header, rows


def replaced_by_another(table: Table) -> Table:
    """The first record gives way to a copy of one of another class with another disease."""
    header, rows = table
    age, ill = header.index("age"), header.index("disease")
    first = rows[0]
    rows[0] = next(list(row) for row in rows if row[age] != first[age] and row[ill] != first[ill])
    return header, rows


CHANGES: Mapping[str, Callable[[Table], Table]] = {
    "a sensitive cell changed": other_in("disease"),
    "a sensitive cell that is a new value": put("disease", "plague"),
    "a sensitive cell emptied": put("disease", "", 2),
    "the sensitive values of a class made one": one_disease_in_a_class,
    "sensitive values rotated": rotated("disease"),
    "a record dropped": lambda table: (table[0], table[1][1:]),
    "ten records dropped": lambda table: (table[0], table[1][10:]),
    "half of the table": lambda table: (table[0], table[1][::2]),
    "a record doubled": lambda table: (table[0], [table[1][0], *table[1]]),
    "the table doubled": lambda table: (table[0], table[1] * 2),
    "a record replaced by another": replaced_by_another,
    "quasi-identifiers swapped": swapped("age", "job", names=False),
    "names of quasi-identifiers swapped": swapped("age", "job", names=True),
    "a quasi-identifier and a sensitive column swapped": swapped("job", "disease", names=False),
    "their names swapped": swapped("job", "disease", names=True),
    "a column without a role and the sensitive one": swapped("note", "disease", names=False),
    "columns in another order": lambda table: (
        table[0][::-1],
        [row[::-1] for row in table[1]],
    ),
    "a column of names": added("name"),
    "a column of names under another name": added("remark"),
    "a column dropped": without("note"),
    "a quasi-identifier dropped": without("job"),
    "a column renamed": renamed("note", "remark"),
    "a quasi-identifier renamed": renamed("age", "years"),
    "another valid label": other_in("job"),
    "another valid label of numbers": other_in("age"),
    "a label refined": put("age", "[36, 38)"),
    "a raw value": put("age", "37"),
    "a raw code": put("job", "undertaker"),
    "a label in capitals": put("job", "HEALTH"),
    "a label coarsened": put("age", "[0, 90)"),
    "a label hidden": put("age", "*", 3),
    "a label emptied": put("job", ""),
    "a record hidden": lambda table: put("job", "*", 3)(put("age", "*", 3)(table)),
    "labels rotated": rotated("age"),
    "a class merged with another": first_class_as_another,
    "labels of two records exchanged": labels_exchanged,
}
OF_LEVELS = ["full-domain", "suppressed and kept", "cut"]
OF_GROUPS = ["ranges and groups", "boxes", "merged-cells"]
TOLD = [*OF_LEVELS, *OF_GROUPS]
"""Recodings of every kind that changes are made to."""


def each_with(changes):
    """Each change of two releases, of levels and of groups that were found; at full length of all.

    The recodings take turns, so that each of them meets a third of the changes.
    """
    cases = []
    for place, change in enumerate(changes):
        of_levels, of_groups = OF_LEVELS[place % 3], OF_GROUPS[(place + place // 3) % 3]
        cases += [(kind, change) for kind in (TOLD if LONG else [of_levels, of_groups])]
    return cases


SECRET = ("plague", "[36, 38)", "undertaker", "HEALTH", "[0, 90)", NAME, "years")
"""What changes write into a table, and no difference may repeat."""


def changed(original: Path, directory: Path, change: Callable[[Table], Table]) -> Path | None:
    """A copy with the table changed and the checksum made right; None where nothing changes."""
    path = copied(original, directory)
    table = path / "released.csv"
    before = table.read_bytes()
    header, rows = change(header_and_rows(table))
    pd.DataFrame(rows, columns=header).to_csv(table, index=False, lineterminator="\n")
    if table.read_bytes() == before:
        return None
    with_checksum(path)
    return path


def with_checksum(path: Path) -> None:
    manifest = manifest_in(path)
    digest = hashlib.sha256((path / manifest["table"]["file"]).read_bytes()).hexdigest()
    manifest["table"]["sha256"] = digest
    rewritten(path, manifest)


@pytest.mark.parametrize(("kind", "change"), each_with(CHANGES))
def test_a_change_of_the_table_is_noticed_without_the_checksum(release, tmp_path, kind, change):
    path = changed(release(kind), tmp_path, CHANGES[change])
    if path is None:
        pytest.skip("the table has this label there already")
    found = verify_release(path)
    assert fields(found) - {"table.sha256"}
    assert "table.sha256" not in fields(found)
    lines = [str(check) for check in found.checks]
    assert not any(secret in line or "\n" in line for line in lines for secret in SECRET)


def test_the_labels_of_withheld_channels_cannot_be_held_against_them(release, tmp_path):
    open_, withheld = (
        changed(release(kind), tmp_path / kind, put("job", "undertaker"))
        for kind in ("pram", "pram, withheld")
    )
    assert "masking.channels.0.labels" in fields(verify_release(open_))
    found = verify_release(withheld)
    assert "masking.channels.0.labels" not in fields(found)
    assert "classes" in fields(found)
    assert "masking.channels" in {check.field for check in found.unchecked}


ONLY_THE_CHECKSUM: Mapping[str, Callable[[Table], Table]] = {
    "records in another order": lambda table: (table[0], table[1][::-1]),
    "values without a role": put("note", "x"),
    "values without a role rotated": rotated("note"),
    "sensitive values renamed throughout": lambda table: (
        table[0],
        [["grippe" if cell == "flu" else cell for cell in row] for row in table[1]],
    ),
}
"""No figure of a manifest depends on these."""


@pytest.mark.parametrize(("kind", "change"), each_with(ONLY_THE_CHECKSUM))
def test_what_only_the_checksum_notices(release, tmp_path, kind, change):
    path = changed(release(kind), tmp_path, ONLY_THE_CHECKSUM[change])
    assert verify_release(path).satisfied
    manifest = manifest_in(path)
    manifest["table"]["sha256"] = manifest_in(release(kind))["table"]["sha256"]
    rewritten(path, manifest)
    assert fields(verify_release(path)) == {"table.sha256"}


def test_a_parquet_release_that_was_changed(release, tmp_path):
    path = copied(release("full-domain of parquet"), tmp_path)
    frame = pd.read_parquet(path / "released.parquet")
    frame.loc[0, "disease"] = next(v for v in frame["disease"] if v != frame["disease"][0])
    frame.to_parquet(path / "released.parquet", index=False)
    with_checksum(path)
    assert "information.retained" in fields(verify_release(path))
    frame.index = pd.Index([f"{NAME}{i}" for i in range(len(frame))], name="name")
    frame.to_parquet(path / "released.parquet")
    with_checksum(path)
    assert {"table.columns", "columns.identifiers"} <= fields(verify_release(path))


# A manifest that was changed


def other(value: object) -> object:
    """Another value, near to this one."""
    if value is None:
        return 7
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return value * 1.001 + 0.001 if isinstance(value, float) else f"{value}x"


def with_leaf(manifest: dict[str, Any], leaf: tuple[str | int, ...]) -> dict[str, Any]:
    """The manifest with one leaf made another."""
    found = copy.deepcopy(manifest)
    place: Any = found
    for key in leaf[:-1]:
        place = place[key]
    place[leaf[-1]] = other(place[leaf[-1]])
    return found


def hidden(manifest: Mapping[str, Any], leaf: tuple[str | int, ...]) -> bool:
    """Whether a leaf is a value that the label ``*`` is said to stand for."""
    if (leaf[0], len(leaf)) != ("recoding", 5) or leaf[3] != "values":
        return False
    return bool(manifest["recoding"][leaf[1]][leaf[2]]["label"] == "*")


RAW = "needs the raw table"
SEARCH = "how a search went does not show in its result"
UNNOTICED_ALONE = {
    "columns.identifiers.*": "a column that is not there has any name",
    "method.**": "how other tables are recoded only the study tells",
    "levels.*": "without hierarchies a label may be of any level",
    "privacy.*.parameters.**": "a weaker policy holds too, unless a ceiling follows from it",
    "seeds.search": "what was given only the study tells",
    "search.because": "what was given only the study tells",
    "search.tried.*.recoding": "what was to be tried only the study tells",
    "study.fingerprint": "it is a digest",
}
"""What only a study notices, and why, where the manifest has the rules of all hierarchies."""

UNNOTICED = {
    "information.shuffled_deviation": RAW,
    "masking.channels.*.expected.*.*": RAW,
    "masking.channels.*.realised_distortion": RAW,
    "masking.channels.*.rows.*.labels.*": RAW,
    "masking.channels.*.values.*.*": RAW,
    "masking.margin": "how the channels were found",
    "masking.preserved.covariance": RAW,
    "masking.preserved.covariance_kept": RAW,
    "masking.preserved.mean.*": RAW,
    "masking.preserved.mean_kept": RAW,
    "masking.preserved.variance.*": RAW,
    "masking.scale.*": "of several attributes: " + RAW,
    "search.checked": SEARCH,
    "search.feasible": SEARCH,
    "search.minimal.**": SEARCH,
    "search.nodes": SEARCH,
    "search.proven": "not to claim what holds",
    "search.refinements": SEARCH,
    "search.strategy": SEARCH,
    "search.tried.*.classes": RAW,
    "search.tried.*.holds": RAW,
    "search.tried.*.kept": RAW,
    "search.tried.*.measure": RAW,
    "search.tried.*.reason": RAW,
    "search.tried.*.records_broken": RAW,
    "targets.*.retained_above_shuffled": "where nothing is above chance: " + RAW,
    "targets.*.shuffled_deviation": RAW,
    "targets.*.shuffled": "where nothing is above chance: " + RAW,
    "versions.*": "what made it does not show in it",
}
"""What nothing notices as long as it changes alone, and why."""

OF_ALL = [
    "merged-cells",
    "targets",
    "cut through levels",
    "noise",
    "bottleneck",
    "two attributes",
    "kept values",
    "masked codes",
    "codes of one length",
    "best",
]
"""Kinds whose manifests have every field."""


def most(field: str) -> int:
    """In how many manifests a field is changed: one that is noticed twice at full length alone."""
    return 2 if LONG or field in {*UNNOTICED_ALONE, *UNNOTICED} else 1


@pytest.fixture(scope="module")
def unnoticed(release, tmp_path_factory) -> dict[bool, set[str]]:
    """The fields of which a change was not noticed, without the study and with it.

    One leaf of each field is changed in ``most`` manifests; with the study those that were not
    noticed without it.
    """
    found: dict[bool, set[str]] = {False: set(), True: set()}
    tried: Counter[str] = Counter()
    for kind in [*OF_ALL, "differential privacy"]:
        path = copied(release(kind), tmp_path_factory.mktemp("leaves"))
        manifest, study = manifest_in(path), study_of(release(kind))
        tried_here = [leaf for leaf in leaves(manifest) if not hidden(manifest, leaf)]
        first = {treatment_of(leaf)[0]: leaf for leaf in reversed(tried_here)}
        tried.update(first.keys())
        for field, leaf in first.items():
            if tried[field] > most(field):
                continue
            rewritten(path, with_leaf(manifest, leaf))
            if not refused(path):
                found[False].add(field)
                found[True] |= set() if refused(path, study) else {field}
    return found


@pytest.mark.slow
def test_every_other_leaf_of_a_manifest_that_was_changed_is_noticed(unnoticed):
    assert unnoticed[False] == {*UNNOTICED_ALONE, *UNNOTICED}


@pytest.mark.slow
def test_every_other_leaf_is_noticed_with_the_study(unnoticed):
    assert unnoticed[True] == {*UNNOTICED}


def test_values_that_a_star_hides_only_the_study_tells(release, tmp_path):
    """A file of a hierarchy may call any group ``*``: not even other labels tell what it is."""
    original = release("merged-cells")
    path, manifest = copied(original, tmp_path), manifest_in(original)
    stars = [leaf for leaf in leaves(manifest) if hidden(manifest, leaf)]
    assert len(stars) == 5
    for leaf in stars:
        rewritten(path, with_leaf(manifest, leaf))
        assert not refused(path)
        assert "levels.job" in fields(verify_release(path, study_of(original)))


def test_every_field_was_changed(release):
    kinds = [*OF_ALL, "differential privacy"]
    there = {treatment_of(leaf)[0] for kind in kinds for leaf in leaves(manifest_in(release(kind)))}
    # No such lists here: groups of a cut named twice.
    lacking = {"recoding.*.*.group", "columns.missing_values.**", "spreadsheet.**"}
    lacking |= {"recoding.*.*.listed", "recoding.*.*.sha256"}
    # Nor gaps among all others: tests/release/test_missing.py has them.
    lacking |= {"recoding.*.*.missing"}
    # Nor attributes that are one together: tests/release/test_joint.py has them.
    lacking |= {"privacy.*.attribute.*"}
    lacking |= {"items.*"}  # nor lists of items: tests/release/test_items.py has them
    # Nor units: tests/release/test_units.py has them.
    lacking |= {"recoding.*.*.unit", "recoding.*.*.decimal"}
    # Nor grids, nor boxes of groups: tests/recoding/test_grids.py has them.
    lacking |= {"search.grids.*", "recoding.*.*.members.**"}
    # Nor releases that follow another one: tests/release/test_applying.py has them.
    lacking |= {"applies.sha256", "unseen.*"}
    lacking |= {"counts.*"}  # nor releases of counts: tests/release/test_sites.py has them
    # Nor verifiers next to it: tests/release/test_verifiers.py has them.
    lacking |= {"table.verifiers.*.*"}
    lacking |= {"table.parts.*.*"}  # nor releases in parts: tests/release/test_parts.py has them
    # Nor signatures: tests/release/test_signing.py has them.
    lacking |= {"input.fingerprint", "series.*"}
    lacking |= {"person.*"}  # nor persons: tests/release/test_persons.py has them
    lacking |= {"per_person"}  # nor what they count: it is there, too
    lacking |= {"weight"}  # nor weights: tests/release/test_weights.py has them
    lacking |= {"household.*"}  # nor households: tests/release/test_households.py has them
    # Nor dates that were moved: tests/release/test_shift.py has them.
    lacking |= {"shift.columns.*", "shift.days", "shift.format"}
    lacking |= {"released_weight"}  # nor means of weights: tests/release/test_class_weights.py
    # Nor their numbers and pseudonyms: test_numbers.py and test_joined_releases.py have them.
    lacking |= {"person_numbers", "person_key"}
    # Nor grounds of quantiles, nor what belongs to what: tests/release/test_steward.py has them.
    lacking |= {"settled.*", "release", "respelled.*"}
    # Nor dates: tests/release/test_dates.py has them.
    lacking |= {"recoding.*.*.calendar", "recoding.*.*.calendar.*"}
    assert {*FIELDS} - there == lacking
    assert {*UNNOTICED} <= there


def test_a_part_that_lacks_is_noticed(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    manifest = manifest_in(path)
    of_others = {"hierarchies", "method"}  # by which other tables are recoded
    for name in {*manifest} - {"study", "versions"} - of_others:
        rewritten(path, {key: value for key, value in manifest.items() if key != name})
        assert refused(path), name
    of_study = {"strategy", "nodes", "checked", "feasible", "minimal", "refinements"}
    of_study |= {"aggregate", "missing_values", "order"}
    for part in ("table", "columns", "query_loss", "information", "search", "objective"):
        for key in {*manifest[part]} - of_study:
            less = copy.deepcopy(manifest)
            del less[part][key]
            rewritten(path, less)
            assert refused(path), key


def test_the_manifest_of_another_release(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    rewritten(path, manifest_in(release("variable-range")))
    assert {"table.sha256", "classes", "information.retained"} <= fields(verify_release(path))
    with_checksum(path)
    assert "recoding.age.labels" in fields(verify_release(path))


def test_groups_that_overlap_are_noticed_though_manifest_and_table_agree(release, tmp_path):
    """A label refined in both: no partition has a range within another one."""
    path = copied(release("cut"), tmp_path)
    manifest = manifest_in(path)
    low, high = next((g["from"], g["to"]) for g in manifest["recoding"]["age"] if g["from"])
    narrow = {"label": f"[{low}, {high - 1})", "from": low, "to": high - 1}
    manifest["recoding"]["age"].append(narrow)
    rewritten(path, manifest)
    assert fields(verify_release(path)) == {"recoding.age.groups"}


# A policy that was changed


def weakened(release: Path, directory: Path, k: int) -> Path:
    path = copied(release, directory)
    manifest = manifest_in(path)
    manifest["privacy"][0]["parameters"]["k"] = k
    rewritten(path, manifest)
    return path


def test_a_weaker_policy_is_noticed_with_the_study_alone(release, tmp_path):
    """What the manifest then claims is true; only the study knows that more was required."""
    original = release("full-domain")
    path = weakened(original, tmp_path, 2)
    assert verify_release(path).satisfied
    found = verify_release(path, study_of(original))
    assert [str(check) for check in found.differences] == [
        "privacy.0: the study requires k-anonymity with k = 4, the release promises k = 2: it is "
        "WEAKER"
    ]
    assert found.verdicts[0].model.k == 4


def test_a_weaker_guarantee_is_named_by_what_is_given_not_by_what_follows(release, tmp_path):
    """Of epsilon and delta follow k and beta, which a manifest has as well."""
    original = release("differential privacy")
    place = shutil.copytree(original.parent, tmp_path / "other")
    study = place / "study.toml"
    study.write_text(study.read_text().replace("epsilon = 2", "epsilon = 1"))
    differing = verify_release(place / "out", study).differences
    (weaker,) = (str(check) for check in differing if check.field == "privacy.0")
    assert weaker.endswith("with epsilon = 1, the release promises epsilon = 2: it is WEAKER")


def test_information_about_nothing_is_noticed(release, tmp_path):
    """Where no attribute is sensitive there is none."""
    pd.DataFrame({"job": [*"ab"] * 6}).to_csv(tmp_path / "t.csv", index=False)
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\njob = "suppress"\n'
        '[[privacy]]\nmodel = "highest-reidentification-risk"\nrisk = 0.2\n'
    )
    publish(Study(study), tmp_path / "out")
    manifest = manifest_in(tmp_path / "out")
    assert manifest["information"] is None
    assert verify_release(tmp_path / "out").satisfied
    known = {**manifest_in(release("full-domain"))["information"]}
    rewritten(tmp_path / "out", manifest | {"information": known})
    assert "information" in fields(verify_release(tmp_path / "out"))


def test_a_warning_of_one_of_one_is_sound(tmp_path):
    pd.DataFrame({"job": [*"ab"] * 6}).to_csv(tmp_path / "t.csv", index=False)
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\njob = "suppress"\n'
        '[[privacy]]\nmodel = "average-reidentification-risk"\nrisk = 0.2\n'
    )
    publish(Study(study), tmp_path / "out")
    (warning,) = manifest_in(tmp_path / "out")["warnings"]
    assert (warning["code"], warning["count"], warning["of"]) == ("weak-policy", 1, 1)
    assert verify_release(tmp_path / "out", study).satisfied


def test_a_weaker_bound_shows_in_the_ceiling_that_follows_from_it(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    manifest = manifest_in(path)
    assert manifest["information"]["ceiling"] == pytest.approx(0.45)
    manifest["privacy"][1]["parameters"]["t"] = 0.5
    rewritten(path, manifest)
    assert fields(verify_release(path)) == {"information.ceiling"}


def test_a_verdict_that_was_dropped(release, tmp_path):
    original = release("full-domain")
    path = copied(original, tmp_path)
    manifest = manifest_in(path)
    del manifest["privacy"][0]
    rewritten(path, manifest)
    assert verify_release(path).satisfied  # k-anonymity was never required, it says
    assert "privacy.study.0" in fields(verify_release(path, study_of(original)))
    manifest["privacy"] = []
    rewritten(path, manifest)
    with pytest.raises(InputError, match="states no policy that could hold"):
        verify_release(path)


def test_a_policy_that_does_not_hold_is_no_release(release, tmp_path):
    path = weakened(release("full-domain"), tmp_path, 10_000)
    found = verify_release(path)
    assert {"privacy.0.satisfied", "privacy.0.violating_classes"} <= fields(found)
    assert not found.satisfied


def test_a_study_of_other_columns_and_hierarchies(release, tmp_path):
    original = release("full-domain")
    other = tmp_path / "study.toml"
    text = study_of(original).read_text().replace('age = "age.toml"', 'age = "other.toml"')
    other.write_text(text.replace('attributes = ["name"]', 'attributes = ["name", "number"]'))
    (tmp_path / "other.toml").write_text("widths = [7]\n")
    (tmp_path / "job.csv").write_text((original.parent / "job.csv").read_text())
    found = fields(verify_release(original, other))
    assert {"columns.identifiers", "levels.age", "study.fingerprint"} <= found


# Policies of which the manifest only has a digest


def test_without_the_study_a_population_cannot_be_held_against_a_release(release):
    path = release("population")
    with pytest.raises(InputError, match=r"only the name of the population of k-map; .*--study"):
        verify_release(path)
    assert verify_release(path, study_of(path)).satisfied


def test_a_study_of_another_policy_leaves_a_population_unjudged(release):
    """Its own policy is judged; of the model about a population nothing is known."""
    found = verify_release(release("population"), study_of(release("full-domain")))
    assert [str(check) for check in found.differences if check.field.startswith("privacy")] == [
        "privacy.2: the study requires no k-map: the release promises more, or is another one"
    ]
    assert [verdict.model.name for verdict in found.verdicts] == ["k-anonymity", "t-closeness"]


# Tables without a manifest


def test_a_table_alone_needs_the_study(release, tmp_path):
    original = release("full-domain")
    table = tmp_path / "t.csv"
    table.write_bytes((original / "released.csv").read_bytes())
    with pytest.raises(InputError, match="give the study with --study"):
        verify_release(table)
    found = verify_release(table, study_of(original))
    assert (found.checks, found.satisfied) == ((), True)
    with pytest.raises(InputError, match="there is no"):
        verify_release(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"there is no .*release\.json"):
        verify_release(tmp_path)


def test_another_table_next_to_a_release_is_not_the_release(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    (path / "more.csv").write_bytes((path / "released.csv").read_bytes())
    with pytest.raises(InputError, match="that is about it"):
        verify_release(path / "more.csv")
    assert verify_release(path / "more.csv", study_of(release("full-domain"))).checks == ()


def test_a_manifest_cannot_hide_by_naming_a_table_that_is_not_there(release, tmp_path):
    original = release("full-domain")
    path = copied(original, tmp_path)
    manifest = manifest_in(path)
    manifest["table"]["file"] = "none.csv"
    rewritten(path, manifest)
    assert "table.file" in fields(verify_release(path / "released.csv", study_of(original)))
    with pytest.raises(InputError, match="there is no file"):
        verify_release(path)
    manifest["table"]["file"] = "../released.csv"
    rewritten(path, manifest)
    with pytest.raises(InputError, match="is damaged"):
        verify_release(path)


# Numbers


@pytest.mark.parametrize(
    ("told", "found", "alike"),
    [
        (0.5, 0.5 * (1 + 1e-10), True),
        (0.5, 0.5 * (1 + 1e-8), False),
        (1e-12, 0.0, True),
        (3, 3, True),
        (10**12, 10**12 + 1, False),
        (3, 3.0, True),
        (1, True, False),
        (None, 0, False),
        ("3", 3, False),
        (float("nan"), 0.5, False),
        (10**400, 0.5, False),
        ([1, 2.0], (1, 2), True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_numbers_are_alike_within_what_rounding_does(told, found, alike):
    assert same(told, found) == alike


# The command


@pytest.fixture
def run(run):
    return partial(run, "verify")


def test_the_command_says_what_was_checked_and_what_cannot_be(run, release):
    path = release("full-domain")
    code, out, err = run(path)
    assert (code, err) == (0, "")
    assert "The release is what its manifest says." in out
    assert "recomputed from the table" in out
    text = " ".join(out.split())
    assert "Not checked: levels, recoding.values, " in text
    assert ": the study of the release would be needed (--study)." in text
    assert "search.refinements, versions, table.order: no table shows it." in text
    assert "The policy below is the one that the manifest names" in text
    assert "The policy holds against somebody who knows the quasi-identifiers of everybody" in text
    assert "does not prevent singling out" in text
    assert "The policy below" not in run(path, "-s", study_of(path))[1]
    code, out, err = run(path / "released.csv", "-s", study_of(path), "--json")
    found = json.loads(out)
    assert (code, err, found["differences"], found["satisfied"]) == (0, "", [], True)
    assert {check["how"] for check in found["checks"]} >= {"recomputed", "study", "unchecked"}


def test_the_command_lists_what_differs(run, release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    lines = (path / "released.csv").read_text().splitlines(keepends=True)
    (path / "released.csv").write_text("".join(lines[:-1]))
    released = len(lines) - 1
    code, out, err = run(path)
    assert (code, err) == (1, "")
    assert "table.sha256: the table was changed after it was released" in out
    assert f"released: the manifest says {released}, the table {released - 1}" in out
    code, out, _ = run(path, "--json")
    assert code == 1
    assert (
        f"released: the manifest says {released}, the table {released - 1}"
        in json.loads(out)["differences"]
    )


def test_the_command_refuses_what_it_cannot_check(run, release):
    code, out, err = run(release("population"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--study" in err


def test_a_warning_that_was_taken_out_is_noticed(tmp_path):
    """Of two classes each has one value of the sensitive attribute: the manifest must say so."""
    (tmp_path / "t.csv").write_text("q,s\n" + "a,x\n" * 5 + "b,y\n" * 5)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\nq = "suppress"\n'
        '[sensitive]\nattributes = ["s"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert verify_release(tmp_path / "out").satisfied
    rewritten(tmp_path / "out", manifest_in(tmp_path / "out") | {"warnings": []})
    assert fields(verify_release(tmp_path / "out")) == {"warnings"}


@pytest.mark.parametrize("recoding", ["full-domain", "cut"])
def test_numbers_written_in_several_ways_are_labels_of_their_own(tmp_path, recoding):
    texts = ["1", "1e0", "-0", "1.50"]
    pd.DataFrame({"q": texts * 3, "d": [Decimal(t) for t in ["1.50", "7.00"]] * 6}).to_parquet(
        tmp_path / "t.parquet"
    )
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "t.parquet"\n[quasi-identifiers]\nq = "suppress"\nd = "suppress"\n'
        f'[[privacy]]\nmodel = "k-anonymity"\nk = 3\n[recoding]\nmethod = "{recoding}"\n'
        '[objective]\nname = "discernibility"\n'
    )
    release, _ = publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert release.classes == 4
    assert verify_release(tmp_path / "out").satisfied


def renamed(path: Path, column: str, change: Callable[[dict], None], told: Callable) -> None:
    """Change the groups of a column in the manifest, and its labels in the table alike."""
    manifest, table = manifest_in(path), pd.read_csv(path / "released.csv", dtype=str)
    labels = {}
    for group in manifest["recoding"][column]:
        before = group["label"]
        change(group)
        labels[before] = group["label"]
    for region in manifest.get("regions", []):
        region[column] = labels[region[column]]
    table[column] = table[column].map(labels)
    table.to_csv(path / "released.csv", index=False)
    rewritten(path, told(manifest))
    with_checksum(path)


def invented(group: dict) -> None:
    group["group"], group["label"] = group["label"], f"X-{group['label']}"


def invented_without_values(group: dict) -> None:
    group["label"] = f"X-{group['label']}"
    group.pop("values", None)


@pytest.mark.parametrize(
    "kind", ["full-domain", "fixed", "cut through levels", "boxes", "merged-cells"]
)
@pytest.mark.parametrize("change", [invented, invented_without_values])
def test_labels_that_a_manifest_invents(release, tmp_path, kind, change):
    path = copied(release(kind), tmp_path)
    renamed(path, "job", change, lambda manifest: manifest)
    assert refused(path, study_of(release(kind)))
    if change is invented:
        assert refused(path)


def test_labels_of_no_level(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    renamed(path, "job", invented_without_values, lambda manifest: manifest | {"levels": {}})
    assert {"levels", "levels.job"} <= fields(
        verify_release(path, study_of(release("full-domain")))
    )


@pytest.mark.parametrize("label", ["|20, 40)", "[20, 40|", "[20;40)"])
def test_a_label_that_reads_as_no_range(release, tmp_path, label):
    """It begins and ends with a bracket, and has both ends."""
    path = copied(release("full-domain"), tmp_path)
    manifest = manifest_in(path)
    group = next(each for each in manifest["recoding"]["age"] if each["label"] == "[20, 40)")
    group["label"] = label
    rewritten(path, manifest)
    assert "recoding.age.ranges" in fields(verify_release(path))


def test_a_label_said_to_stand_for_less(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    manifest = manifest_in(path)
    group = next(each for each in manifest["recoding"]["job"] if len(each.get("values", [])) > 1)
    del group["values"][0]
    rewritten(path, manifest)
    found = verify_release(path, study_of(release("full-domain")))
    reported = {check.field: check.manifest for check in found.differences}
    assert reported["levels.job"] == f"level {manifest['levels']['job']}"


@pytest.mark.parametrize(
    "told",
    [
        {"code": "telling-order", "column": "q", "count": -7, "of": 9, "message": "all is well"},
        {"code": "none-such", "column": "q", "count": 1, "of": 9, "message": "all is well"},
        "all is well",
    ],
)
def test_a_forged_warning(release, tmp_path, told):
    path = copied(release("full-domain"), tmp_path)
    manifest = manifest_in(path)
    rewritten(path, manifest | {"warnings": [*manifest["warnings"], told]})
    assert refused(path)


@pytest.mark.parametrize(("count", "agrees"), [(0, False), (1, True), (9, True), (10, False)])
def test_a_warning_of_the_raw_table_is_about_some_of_its_records(release, tmp_path, count, agrees):
    """Of 9 records one or all, not none and not ten."""
    path = copied(release("full-domain"), tmp_path)
    manifest, code = manifest_in(path), "telling-order"
    told = {"code": code, "column": "q", "count": count, "of": 9}
    told["message"] = WARNINGS[code].text.partition("{")[0]
    rewritten(path, manifest | {"warnings": [*manifest["warnings"], told]})
    assert ("warnings" not in fields(verify_release(path))) == agrees


def test_warnings_of_the_raw_table_are_said_not_to_be_checked(release):
    (said,) = [
        each
        for each in verify_release(release("full-domain")).unchecked
        if each.field.startswith("warnings")
    ]
    assert "telling-order" in str(said)


def test_fields_that_nobody_knows_are_one_line(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    rewritten(path, manifest_in(path) | {f"x{i}": i for i in range(50_000)})
    found = verify_release(path)
    assert found.satisfied
    assert [each.field for each in found.unchecked if "x1" in each.field] == []
    assert "fields of other names" in {each.field for each in found.unchecked}


def test_decimals_that_a_hierarchy_lists_otherwise(tmp_path):
    values = [Decimal("0.50"), Decimal("7.00")] * 6
    pd.DataFrame({"q": values}).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "q.csv").write_text("0.5;g\n7.0;g\n")
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "t.parquet"\n[quasi-identifiers]\nq = "q.csv"\n[[privacy]]\n'
        'model = "k-anonymity"\nk = 3\n[objective]\nname = "loss"\n'
    )
    publish(Study(study), tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied


@pytest.mark.parametrize("recoding", ["variable-range", "cut", "boxes", "merged-cells"])
def test_missing_values_beside_ranges_and_groups_of_several_levels(tmp_path, recoding):
    jobs = ["vet", "nurse", "smith", None]
    rows = [(20 + i % 5 if i % 7 else None, jobs[i * i % 4], "xyz"[i % 3]) for i in range(120)]
    pd.DataFrame(rows, columns=["age", "job", "s"]).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "job.csv").write_text("vet;a;b\nnurse;a;b\nsmith;c;b\n")
    (tmp_path / "age.toml").write_text("widths = [2, 4]\n")
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "t.csv"\nmissing = "category"\n[quasi-identifiers]\nage = "age.toml"\n'
        'job = "job.csv"\n[sensitive]\nattributes = ["s"]\n[[privacy]]\nmodel = "k-anonymity"\n'
        f'k = 6\n[recoding]\nmethod = "{recoding}"\n'
    )
    publish(Study(study), tmp_path / "out")
    found = verify_release(tmp_path / "out", study)
    assert found.satisfied, found.differences


# Labels that spell out what they stand for


def first_set(manifest: Mapping, column: str) -> dict:
    return next(each for each in manifest["recoding"][column] if each["label"].startswith("{"))


def moved(group: dict) -> None:
    group["values"] = group["values"][:-1]


def exchanged(group: dict) -> None:
    group["values"] = [*group["values"][:-1], "undertaker"]


def unlisted(group: dict) -> None:
    del group["values"]


@pytest.mark.parametrize("change", [moved, exchanged, unlisted])
@pytest.mark.parametrize("kind", ["ranges and groups", "boxes", "merged-cells"])
def test_a_set_that_is_said_to_stand_for_others(release, tmp_path, kind, change):
    path = copied(release(kind), tmp_path)
    manifest = manifest_in(path)
    change(first_set(manifest, "job"))
    rewritten(path, manifest)
    assert "recoding.job.values" in fields(verify_release(path))


GROUPED_STUDY = """\
[data]
path = "t.csv"
[quasi-identifiers]
q = "suppress"
n = { widths = [5] }
[sensitive]
attributes = ["s"]
[[privacy]]
model = "k-anonymity"
k = 6
[recoding]
method = "variable-range"
group = ["q"]
[output]
csv-safe = true
"""


def test_sets_of_values_that_need_quotes_or_are_disarmed(tmp_path):
    """Commas, braces, quotes, a text null, = at the start: all agree, and each is noticed."""
    values = ['a, "b"', "null", "{x}", "=1+1", "c (grouped)", "back\\slash"]
    rows = [(value, "xy"[i % 2], 7) for i in range(4) for value in values]
    pd.DataFrame(rows, columns=["q", "s", "n"]).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "study.toml").write_text(GROUPED_STUDY)
    path = tmp_path / "out"
    publish(Study(tmp_path / "study.toml"), path)
    manifest = manifest_in(path)
    listed = [each for each in manifest["recoding"]["q"] if each["label"].startswith("{")]
    assert {value for each in listed for value in each["values"]} >= {*values[:3]}
    assert verify_release(path).differences == ()
    for group in listed:
        kept, group["values"] = group["values"], ["zz", *group["values"][1:]]
        rewritten(path, manifest)
        assert fields(verify_release(path)) == {"recoding.q.values", "levels.q"}
        group["values"] = kept


def test_a_label_of_a_hierarchy_that_reads_like_a_set_is_none(tmp_path):
    cities = ["Berlin", "Paris", "Oslo", "Rome"]
    rows = [(city, "xy"[i % 2], 7) for i in range(4) for city in cities]
    pd.DataFrame(rows, columns=["q", "s", "n"]).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "q.csv").write_text(
        "Berlin;{Germany, France}\nParis;{Germany, France}\nOslo;{Norway, Italy}\n"
        "Rome;{Norway, Italy}\n"
    )
    text = GROUPED_STUDY.replace('"suppress"', '"q.csv"')
    (tmp_path / "study.toml").write_text(text)
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert verify_release(tmp_path / "out").differences == ()
    boxes = text.replace('method = "variable-range"\ngroup = ["q"]', 'method = "boxes"')
    (tmp_path / "study.toml").write_text(boxes)
    publish(Study(tmp_path / "study.toml"), tmp_path / "out", force=True)
    assert verify_release(tmp_path / "out").differences == ()


def test_a_tampered_manifest_is_named_precisely(release, tmp_path):
    """Whatever is changed, the difference says which field, and a study says what is weaker."""
    original = release("ranges and groups")
    manifest = manifest_in(original)
    path = copied(original, tmp_path)
    first, second = (copy.deepcopy(each) for each in manifest["recoding"]["job"][:2])
    first["label"], second["label"] = second["label"], first["label"]
    groups = {**manifest["recoding"], "job": [first, second, *manifest["recoding"]["job"][2:]]}
    weaker = [manifest["privacy"][0], copy.deepcopy(manifest["privacy"][1])]
    weaker[1]["parameters"]["t"] = 0.9
    changes: list[tuple[dict, str]] = [
        ({"recoding": groups}, "recoding.job.values"),
        ({"classes": manifest["classes"] + 1}, "classes"),
        ({"suppressed": 3, "suppressed_class": "kept"}, "suppressed"),
        ({"warnings": [{"code": "weak-policy", "column": None, "count": 1, "of": 2,
                        "message": "no model"}]}, "warnings"),
        ({"privacy": weaker}, "privacy.1"),
        ({"levels": {"job": 1}}, "levels.job"),
    ]  # fmt: skip
    for change, field in changes:
        rewritten(path, manifest | change)
        assert field in fields(verify_release(path, study_of(original))), field
    rewritten(path, manifest | {"privacy": weaker})
    said = [str(check) for check in verify_release(path, study_of(original)).differences]
    assert (
        "privacy.1: the study requires t-closeness about 'disease' with t = 0.45, the release "
        "promises t = 0.9: it is WEAKER"
    ) in said
