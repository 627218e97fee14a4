"""Every recoding of the table ``RECODINGS`` stands under the same laws.

A recoding that is added to the table is held by them with its defaults. One that needs options, or
that is to be held with others as well, has a line in ``EXAMPLES``.
"""

import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from checker import classes_of, least_close, least_diverse, smallest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from sklearn.base import clone
from strategies import SENSITIVE, policies

from anonymizer import (
    Anonymizer,
    DifferentialPrivacy,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    PolicyUnreachableError,
    Release,
    Study,
    TCloseness,
    verify_release,
)
from anonymizer.counts.multidimensional import CLASS
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.apply import relabelled
from anonymizer.recoding.recoding import Outcome, Recoding, RecodingPlan, Task
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.placement import place
from anonymizer.release.publish import publish
from anonymizer.release.relations import CountedTable
from anonymizer.release.request import RECODINGS
from anonymizer.report.printing import print_report
from anonymizer.report.release import release_report
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally

NAMES = ("age", "job")
LEVELS = {"age": 3, "job": 1}
HIDDEN = "*"
RARE = 52
"""An age of three monks alone."""


@dataclass(frozen=True)
class Example:
    """Options that a recoding is held with, and what its report says of how it was found."""

    options: Mapping[str, object] = field(default_factory=dict)
    says: str = ""


ANY = {"suppress": "any"}
"""Also classes that are large enough: what becomes of them depends on the other records."""

EXAMPLES: Mapping[str, Sequence[Example]] = {
    "full-domain": [
        Example(says="Searched 12 nodes (bisection, 4 checked)"),
        Example(
            {**ANY, "suppression": 0.1, "search": "exhaustive"}, "15 suppressed, kept as one class"
        ),
        Example({**ANY, "suppression": 0.1, "remove": True}, "15 suppressed and left out"),
        Example({"max_classes": 4, "min_records": 20}, "3 equivalence classes"),
    ],
    "variable-range": [
        Example(says="Attributes were cut"),
        Example({"group": ("job",), "max_ranges": 3, "grid": 4, "min_gain": 0.01}, "ranges"),
    ],
    "cut": [
        Example(says="Attributes were cut"),
        Example({"refine": (), "max_classes": 4, "search": "incognito"}, "│ cut "),
    ],
    "boxes": [Example(says="box"), Example({"refinement": "heuristic", "max_classes": 6}, "cut")],
    "merged-cells": [Example({"grid": 16, "max_classes": 4}, "Cells were merged")],
    "best": [
        Example(says="Tried on a half of the records"),
        Example(
            {"recodings": ("boxes", "full-domain"), "min_records": 8, "min_gain": 0.01}, "boxes"
        ),
    ],
    "fixed": [
        Example({"levels": LEVELS}, "Recoded at the levels given."),
        Example(
            {**ANY, "levels": {"age": 0, "job": 2}, "suppression": 0.2}, "3 suppressed and left out"
        ),
    ],
    "safepub": [Example({"levels": LEVELS}, "drawn at random")],
    "pram": [
        Example({"levels": LEVELS, "seed": 1}, "distorts least"),
        Example(
            {"attributes": ("job",), "jointly": False, "seed": 2, "levels": {"age": 3}}, "drawn"
        ),
    ],
    "noise": [
        Example(
            {"attributes": ("age",), "levels": {"job": 2}, "grid": {"age": 8}, "seed": 1}, "Gauss"
        )
    ],
    "bottleneck": [Example({"levels": LEVELS, "seed": 1}, "bottleneck")],
}
"""A recoding that is not listed is held with its defaults."""


def examples_of(name: str) -> Sequence[Example]:
    return EXAMPLES.get(name, [Example()])


CASES = [(name, example) for name in RECODINGS for example in examples_of(name)]
over_all = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case[0]} {json.dumps(case[1].options)}"
)

Case = tuple[str, Example]

AGES = "widths = [8, 16]\n"
JOBS = {"nurse": "health", "vet": "health", "smith": "craft", "mason": "craft", "monk": "church"}


def recoding_for(name: str, options: Mapping[str, object]) -> Recoding:
    """The recoding of an example."""
    try:
        return RECODINGS[name](**options)
    except TypeError:
        return pytest.fail(f"recoding {name!r} needs options: add an example of it to EXAMPLES")


def people(records: int = 180, seed: int = 0) -> pd.DataFrame:
    """Ages and jobs that tell of w, a name, and an index in no order; five people stand out."""
    rng = np.random.default_rng(seed)
    age = 20 + 4 * rng.integers(0, 6, records)
    job = rng.choice([*JOBS], records, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    age[:3], job[:3] = RARE, "monk"
    odds = rng.random(records) + (age - 34) / 90 + 0.1 * np.isin(job, ["nurse", "vet"])
    columns = {"name": [f"person {i}" for i in range(records)], "age": age, "job": job}
    told = {SENSITIVE: np.select([odds < 0.4, odds < 0.8], ["flu", "cold"], "none")}
    return pd.DataFrame({**columns, **told}, index=rng.permutation(records) + 1000)


def of(recoding: Recoding, table: pd.DataFrame) -> pd.DataFrame:
    """The table as the recoding takes it: a private one releases no column as it is."""
    return table.drop(columns=SENSITIVE) if recoding.private else table


def policy_for(recoding: Recoding) -> list[PrivacyModel]:
    if recoding.private:
        return [DifferentialPrivacy(2, delta=0.01), KAnonymity(6)]
    return [KAnonymity(4), TCloseness(0.8, distance="kl")]


def estimator(recoding: str | Recoding, models: Sequence[PrivacyModel]) -> Anonymizer:
    private = any(isinstance(model, DifferentialPrivacy) for model in models)
    return Anonymizer(
        {
            "age": Hierarchy.ranges(widths=[8, 16]),
            "job": Hierarchy.from_rows([[*pair] for pair in JOBS.items()]),
        },
        sensitive=() if private else SENSITIVE,
        privacy=models,
        recoding=recoding,
        identifiers=["name"],
    )


def require_policy(released: pd.DataFrame, models: Sequence[PrivacyModel]) -> None:
    """Hold a policy against a table by nothing but counting texts."""
    names = [name for name in (*NAMES, CLASS) if name in released]
    rows = released.assign(**({} if SENSITIVE in released else {SENSITIVE: ""})).astype(str)
    classes = classes_of(rows.to_dict("records"), names, SENSITIVE)
    for model in models:
        match model:
            case KAnonymity(k=k) | DifferentialPrivacy(k=k):
                assert smallest(classes) >= k
            case TCloseness(t=t):
                assert least_close(classes) <= t + 1e-8
            case EntropyLDiversity(l=l):
                assert least_diverse(classes) >= l - 1e-8
            case _:
                raise NotImplementedError(model.name)


def rows_of(released: pd.DataFrame) -> Counter:
    return Counter(released.itertuples(index=False, name=None))


@dataclass(frozen=True, eq=False)
class Held:
    """An example carried out: fitted in memory, and published from a study file.

    ``released`` has the index of the table, which a release that is given has not.
    """

    recoding: Recoding
    says: str
    table: pd.DataFrame
    models: Sequence[PrivacyModel]
    anonymizer: Anonymizer
    released: pd.DataFrame
    release: Release
    directory: Path

    @property
    def deterministic(self) -> bool:
        plan = self.anonymizer.plan_.fitted
        return not (plan.random or plan.private)

    @cached_property
    def manifest(self) -> dict:
        return json.loads(json.dumps(self.release.steward_manifest.to_dict()))

    @property
    def seeded(self) -> bool:
        return getattr(self.recoding, "seed", None) is not None

    @property
    def hidden(self) -> np.ndarray:
        """Which records are not placed by their values: suppressed, or left out."""
        shown = self.released.reindex(self.table.index)
        return shown["age"].isna() | (shown[[*NAMES]] == HIDDEN).all(axis=1)

    @property
    def published(self) -> pd.DataFrame:
        return pd.read_csv(self.directory / "out" / "released.csv", dtype=str)

    @property
    def study(self) -> Study:
        return Study(self.directory / "study.toml")

    def again(self) -> Anonymizer:
        return clone(self.anonymizer)


def toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def study_text(name: str, example: Example, held: Recoding) -> str:
    """A study file, the options of the recoding under ``[recoding]``, a strategy elsewhere."""
    options = {**example.options}
    strategy = options.pop("search", None)
    stated = "".join(f"{key.replace('_', '-')} = {toml(v)}\n" for key, v in options.items())
    models = (
        'model = "differential-privacy"\nepsilon = 2\ndelta = 0.01\n[[privacy]]\n'
        'model = "k-anonymity"\nk = 6\n'
        if held.private
        else 'model = "k-anonymity"\nk = 4\n[[privacy]]\n'
        'model = "t-closeness"\nt = 0.8\ndistance = "kl"\n'
    )
    sensitive = "" if held.private else f'[sensitive]\nattributes = ["{SENSITIVE}"]\n'
    return (
        '[data]\npath = "people.csv"\n[quasi-identifiers]\nage = "age.toml"\njob = "job.csv"\n'
        f'{sensitive}[identifiers]\nattributes = ["name"]\n[[privacy]]\n{models}'
        f'[recoding]\nmethod = "{name}"\n{stated}'
        + (f'[search]\nstrategy = "{strategy}"\n' if strategy else "")
    )


@pytest.fixture(scope="module")
def held_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Held]:
    """What became of an example, carried out once."""
    made: dict[str, Held] = {}

    def carried_out(case: Case) -> Held:
        key = repr(case)
        if key not in made:
            made[key] = _carried_out(*case, tmp_path_factory.mktemp("held"))
        return made[key]

    return carried_out


def indexed(anonymizer: Anonymizer, table: pd.DataFrame) -> pd.DataFrame:
    """What an estimator releases of a table, each record with the index that it had."""
    return anonymizer.fit_counted(table, anonymizer.task(table))[anonymizer.columns_]


def _carried_out(name: str, example: Example, directory: Path) -> Held:
    recoding = recoding_for(name, example.options)
    table = of(recoding, people())
    table.to_csv(directory / "people.csv", index=False)
    (directory / "age.toml").write_text(AGES)
    (directory / "job.csv").write_text("".join(f"{job};{of}\n" for job, of in JOBS.items()))
    (directory / "study.toml").write_text(study_text(name, example, recoding))
    models = policy_for(recoding)
    anonymizer = estimator(recoding, models)
    released = indexed(anonymizer, table)
    publish(Study(directory / "study.toml"), directory / "out")
    release = anonymizer.release_
    return Held(recoding, example.says, table, models, anonymizer, released, release, directory)


@pytest.fixture
def held(case: Case, held_of: Callable[[Case], Held]) -> Held:
    return held_of(case)


# The policy holds


@over_all
def test_the_policy_holds(held):
    require_policy(held.released, held.models)
    require_policy(held.published, held.models)
    if held.deterministic:
        places = held.released.index
        assert places.isin(held.table.index).all()
        assert held.released[SENSITIVE].equals(held.table.loc[places, SENSITIVE])


@st.composite
def drawn_tables(draw: st.DrawFn) -> tuple[pd.DataFrame, list[PrivacyModel]]:
    """Small tables with a policy that each satisfies as one class."""
    records, seed = draw(st.integers(1, 60)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    columns = {
        "name": [f"person {i}" for i in range(records)],
        "age": rng.integers(18, 18 + draw(st.integers(1, 12)), records),
        "job": rng.choice([*JOBS][: draw(st.integers(1, 5))], records),
        SENSITIVE: rng.choice(["flu", "cold", "none"][: draw(st.integers(1, 3))], records),
    }
    table = pd.DataFrame(columns)
    return table, draw(policies(table))


@pytest.mark.parametrize("name", RECODINGS)
@settings(max_examples=at_length(4, 40))
@given(drawn=drawn_tables())
def test_the_policy_holds_of_any_table_or_nothing_is_released(name, drawn):
    recoding = recoding_for(name, examples_of(name)[0].options)
    table, models = drawn
    if recoding.private:
        models = [DifferentialPrivacy(3, delta=0.1), *models[:1]]
    anonymizer = estimator(recoding, models)
    try:
        released = anonymizer.fit_transform(of(recoding, table))
    except PolicyUnreachableError:
        assert not hasattr(anonymizer, "release_")
        return
    require_policy(released, models)
    assert all(verdict.satisfied for verdict in anonymizer.release_.privacy)


# The order of records


@over_all
def test_the_order_of_records_does_not_matter(held):
    shuffled = held.table.sample(frac=1, random_state=3)
    again = held.again()
    released = indexed(again, shuffled)
    if held.deterministic:
        pd.testing.assert_frame_equal(released.loc[held.released.index], held.released)
        assert [*released.index] == [i for i in shuffled.index if i in held.released.index]
        assert again.release_.study == held.manifest["study"]["fingerprint"]
    elif held.seeded:  # as many records of each kind are drawn; which of them, chance says
        assert rows_of(released) == rows_of(held.released)
    else:
        require_policy(released, held.models)


# Tables that are counted


def placed(released: Tally, table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The records of a table as a release of its tally has them, where nothing is drawn."""
    rows, (group, _) = released.combinations, engine.grouped(table, columns)
    there = np.isin(group, rows.index)
    assert (released.sizes == np.bincount(group)[rows.index]).all()
    return rows.loc[group[there]].set_index(table.index[there])


def told(release: Release) -> dict:
    """What a manifest reports, but for what only records have: an order, and other columns."""
    told = json.loads(json.dumps(release.steward_manifest.to_dict()))
    return told | {"warnings": [w for w in told["warnings"] if w["code"] != "telling-order"]}


@over_all
def test_a_tally_is_released_as_its_table(held):
    columns = held.anonymizer.plan_.schema.columns
    tally = engine.tally(held.table, columns)
    again = held.again()
    fitted = again.fit_counted(tally, again.task(tally))
    applied = held.anonymizer.plan_.proven(CountedTable(tally, {}))
    assert list(tally.columns) == list(columns)
    for released, release in ((fitted, again.release_), (applied.records, applied.release)):
        if held.deterministic:
            records = placed(released, held.table, columns)[list(held.released.columns)]
            pd.testing.assert_frame_equal(records, held.released)
            assert told(release) == told(held.release)
            continue
        rows = released.combinations
        require_policy(rows.iloc[np.repeat(np.arange(len(rows)), released.sizes)], held.models)
        assert release.released == released.sizes.sum()
        kept = np.bincount(rows.index, released.sizes, minlength=len(tally.sizes))
        assert (kept <= tally.sizes).all()
        if not held.recoding.private:
            assert (kept == tally.sizes).all()
            assert rows[SENSITIVE].equals(tally[SENSITIVE].loc[rows.index])
            channels = zip(release.masking.channels, held.release.masking.channels, strict=True)
            assert all(
                (one.channel.matrix == other.channel.matrix).all() for one, other in channels
            )


# Applied again


@over_all
def test_applied_again_it_gives_the_same(held):
    for _ in range(2):
        released = held.anonymizer.transform(held.table)
        if held.deterministic:
            pd.testing.assert_frame_equal(released, held.released.reset_index(drop=True))
            again = held.anonymizer.release_.steward_manifest.to_dict()
            assert json.loads(json.dumps(again)) == held.manifest
        else:
            require_policy(released, held.models)


@over_all
def test_chosen_again_it_is_the_same(held):
    """What was published was chosen anew, from texts: it is what was made in memory."""
    made, published = held.released.astype(str), held.published
    assert [*published.columns] == [*made.columns]
    if held.deterministic or held.seeded:  # in random order
        assert rows_of(published.astype(str)) == rows_of(made)


@over_all
def test_records_of_the_same_values_are_recoded_alike(held):
    twice = pd.concat([held.table, held.table.set_index(held.table.index + 10_000)])
    found = held.anonymizer.plan_.proven(CountedTable(twice, {}))
    released, release = found.records, found.release
    require_policy(released, held.models)
    if not held.deterministic:
        return
    if not release.suppressed:
        assert len(released) == len(twice)
    for part in (released[released.index < 10_000], released[released.index >= 10_000]):
        found = part.set_index(part.index % 10_000).reindex(held.table.index)
        pd.testing.assert_frame_equal(
            found[~held.hidden], held.released.reindex(held.table.index)[~held.hidden]
        )


# Manifests


@over_all
def test_a_published_release_is_verified(held):
    for study in (None, held.directory / "study.toml"):
        found = verify_release(held.directory / "out", study)
        assert found.differences == ()
        assert found.satisfied
        assert len(found.verdicts) == len(held.models)


@over_all
def test_the_manifest_says_what_was_made_in_memory(held):
    """Whatever does not depend on a draw, on texts read from a file, or on the column of a file."""
    written = json.loads((held.directory / "out.steward.json").read_text())
    told = ["levels", "regions", "privacy", "search", "study", "classes", "released", "information"]
    if held.recoding.private:
        told = ["levels", "search", "study"]
    for key in told:
        assert written.get(key) == held.manifest.get(key)


@over_all
def test_the_manifest_reads_back_as_the_recoding(held):
    plan = held.anonymizer.plan_
    if plan.random or held.manifest.get("regions"):
        with pytest.raises(InputError, match=r"drawn at random|groups of their own"):
            Manifest.parse(held.manifest).recoding_over(plan.taxonomies)
        assert held.manifest.get("regions", []) == [*plan.fitted.regions]
        return
    read = Manifest.parse(held.manifest).recoding_over(plan.taxonomies)
    labels = relabelled(held.table, read, plan.taxonomies)
    chosen = relabelled(held.table, plan.recoding, plan.taxonomies)
    rare = held.table["age"] == RARE  # ranges need not say where what was suppressed would be
    pd.testing.assert_frame_equal(labels[~rare], chosen[~rare])
    if held.deterministic:
        require_labels(labels, held)


@over_all
def test_raw_records_are_placed_by_the_manifest_alone(held):
    if not held.deterministic:
        return
    numbers = None
    if CLASS in held.released:
        numbers = held.released[CLASS].loc[held.table.index].to_numpy(int) - 1
    labels, known = place(held.table[[*NAMES]], Manifest.parse(held.manifest), numbers)
    assert known[~held.hidden].all()
    require_labels(labels, held)


def require_labels(labels: pd.DataFrame, held: Held) -> None:
    """What was not suppressed is released under these labels."""
    names = [name for name in (*NAMES, CLASS) if name in held.released]
    labels = labels.loc[~held.hidden, names]
    assert len(labels) > len(held.table) / 2
    pd.testing.assert_frame_equal(
        labels.astype(str), held.released.loc[labels.index, names].astype(str)
    )


# Pickles


@over_all
def test_a_fitted_recoding_can_be_stored(held):
    original = held.anonymizer
    stored = pickle.loads(pickle.dumps(original))
    assert stored.release_.to_dict() == original.release_.to_dict()
    assert stored.recoding == original.recoding
    assert stored.fingerprint == original.fingerprint
    others = held.table[held.table["age"] != RARE]  # what was not released may be forgotten
    released = stored.transform(others)
    require_policy(released, held.models)
    if held.deterministic or held.seeded:
        pd.testing.assert_frame_equal(released, original.transform(others))


# Parameters and studies


@over_all
def test_options_are_parameters_of_the_estimator(held):
    anonymizer = held.again()
    assert anonymizer.recoding == held.recoding
    options = {f"recoding__{each.name}": each.name for each in fields(held.recoding)}
    params = anonymizer.get_params()
    assert {key: params[key] for key in options} == {
        key: getattr(held.recoding, name) for key, name in options.items()
    }
    for other in (held.recoding, *others_of(held.recoding)):
        anonymizer.set_params(**{key: getattr(other, name) for key, name in options.items()})
        assert anonymizer.recoding == other
        assert type(anonymizer.recoding) is type(other)
        assert clone(anonymizer).recoding == other
    with pytest.raises(InputError, match="has no option 'none_such'"):
        anonymizer.set_params(recoding__none_such=1)


def others_of(recoding: Recoding) -> Iterator[Recoding]:
    """The other examples of a recoding."""
    for example in examples_of(recoding.name):
        other = type(recoding)(**example.options)
        if other != recoding:
            yield other


@over_all
def test_a_study_file_gives_the_same_recoding(held):
    assert held.study.recoding == held.recoding
    assert type(held.study.recoding) is type(held.recoding)
    direct = held.again()
    assert held.study.fingerprint == direct.fingerprint
    assert held.study.anonymizer().get_params()["recoding"] == direct.recoding


@over_all
def test_other_options_have_another_fingerprint(held):
    assert held.again().fingerprint == held.manifest["study"]["fingerprint"]
    for other in others_of(held.recoding):
        changed = held.again().set_params(recoding=other)
        assert changed.fingerprint != held.again().fingerprint


# Reports


@over_all
def test_the_report_says_what_was_done(held, capsys):
    print_report(release_report(held.release, Path("here")))
    out = capsys.readouterr().out
    assert held.says in out
    assert "The release is in here." in out
    assert f"{held.release.classes:,} equivalence classes" in out.replace("\n", " ")
    for name in (*NAMES, *(model.name for model in held.models)):
        assert name in out
    assert "person" not in out


# A recoding that is added


class Added(Recoding):
    """A recoding that has no defaults, and no example."""

    name: ClassVar[str] = "added"

    def __init__(self, level: int) -> None:
        self.level = level

    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        raise NotImplementedError


def test_a_recoding_that_needs_options_needs_an_example(monkeypatch):
    monkeypatch.setitem(RECODINGS, "added", Added)
    assert [example.options for example in examples_of("added")] == [{}]
    with pytest.raises(pytest.fail.Exception, match=r"'added' needs options.*to EXAMPLES"):
        recoding_for("added", {})
    assert recoding_for("added", {"level": 3}).level == 3


def test_examples_are_of_recodings():
    assert {*EXAMPLES} <= {*RECODINGS}
