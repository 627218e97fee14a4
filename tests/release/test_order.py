"""The order of released records: random, unless it is to be kept; it tells nothing then."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import measure_quality
from anonymizer.cli import main
from anonymizer.counts.multidimensional import dealt_out
from anonymizer.errors import InputError
from anonymizer.release.apply import Means, publish_applied
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.risk.audit import audit_files
from anonymizer.tables.relations.embedded.moving import chance
from anonymizer.utility import measure_file

Releases = Callable[[str], tuple[Path, Path]]

STUDY = """\
[data]
path = "log.csv"
[quasi-identifiers]
age = { widths = [10, 40] }
country = "suppress"
[sensitive]
attributes = "bought"
[identifiers]
attributes = "user"
[[privacy]]
model = "k-anonymity"
k = 20
"""


def log(users: int = 150) -> pd.DataFrame:
    """Visits, user by user from the youngest on, as a shop logs them."""
    rng = random.Random(33)
    rows = []
    for user, age in enumerate(sorted(rng.randint(20, 59) for _ in range(users))):
        country = rng.choice(["DE", "FR", "ES"])
        for _ in range(rng.randint(3, 6)):
            bought = rng.choice(["yes", "no"])
            rows.append({"user": user, "age": age, "country": country, "bought": bought})
    return pd.DataFrame(rows)


def study_at(directory: Path, *sections: str, text: str = STUDY) -> Path:
    """A study of the log, and the log next to it."""
    log().to_csv(directory / "log.csv", index=False)
    path = directory / "study.toml"
    path.write_text("\n".join([text, *sections]))
    return path


def kept_in(directory: Path, name: str = "kept") -> Path:
    """A release in the order of the log."""
    path = study_at(directory, '[output]\norder = "kept"')
    publish(Study(path), directory / name)
    return directory / name


def warnings_of(release: Path) -> list[dict[str, Any]]:
    return json.loads(steward_file(release).read_text())["warnings"]


def codes_of(release: Path) -> list[str]:
    return [each["code"] for each in warnings_of(release)]


def order_of(release: Path) -> str | None:
    return json.loads((release / "release.json").read_text())["table"]["order"]


def records(table: pd.DataFrame) -> Counter:
    return Counter(table.astype(str).itertuples(index=False, name=None))


def guessed(released: Sequence[str], ages: Sequence[int]) -> int:
    """Records whose age an attacker has who knows that the raw table is sorted by it.

    He knows how old people are in general: in place i stands the i-th of these ages, as far as the
    released range allows it; else the middle of that.
    """
    right = 0
    for place, (label, age) in enumerate(zip(released, ages, strict=True)):
        low, high = (int(end) for end in label.strip("[)").split(", "))
        guess = ages[place] if low <= ages[place] < high else (low + high) // 2
        right += guess == age
    return right


def test_a_log_by_user_is_released_in_random_order(tmp_path):
    path = study_at(tmp_path)
    release, manifest = publish(Study(path), tmp_path / "out")
    assert "telling-order" not in codes_of(tmp_path / "out")
    assert [each.code for each in release.warnings] == codes_of(tmp_path / "out")
    assert manifest.table.order == order_of(tmp_path / "out") == "random"
    assert verify_release(tmp_path / "out", path).satisfied

    kept = kept_in(tmp_path)
    warned = Study(path).anonymizer().fit(log()).release_.warnings
    assert ("telling-order", "user") in {(each.code, each.column) for each in warned}
    told = warnings_of(kept)
    assert {each["column"] for each in told if each["code"] == "telling-order"} == {"user", "age"}
    assert all('order = "random"' in w["message"] for w in told if w["code"] == "telling-order")
    assert order_of(kept) == "kept"
    assert verify_release(kept, path).satisfied

    one, other = (pd.read_csv(each / "released.csv") for each in (tmp_path / "out", kept))
    assert records(one) == records(other)
    assert list(one["age"]) != list(other["age"])


def test_what_an_order_gives_away_a_random_one_does_not(tmp_path):
    """By the place alone every age is known where the order is kept, in classes of 20 and more."""
    ages, kept = log()["age"].tolist(), kept_in(tmp_path)
    shown = pd.read_csv(kept / "released.csv")["age"]
    assert set(shown) <= {f"[{low}, {low + 10})" for low in range(20, 60, 10)}
    assert guessed(shown.tolist(), ages) == len(ages)
    publish(Study(study_at(tmp_path)), tmp_path / "random")
    shown = pd.read_csv(tmp_path / "random" / "released.csv")["age"].tolist()
    # Whoever stands in a place of a random order is one of the class: some tenth is guessed right.
    true = dict.fromkeys(shown, 0)
    for age in ages:
        true[f"[{age // 10 * 10}, {age // 10 * 10 + 10})"] += 1
    assert Counter(shown) == true
    rises = sum(one <= other for one, other in itertools.pairwise(shown))
    assert rises < 0.8 * len(shown)  # 5 of 8 of four classes alike, or in order, by chance


def test_each_run_has_an_order_of_its_own(tmp_path):
    """No seed of the study, and none that is written: the place of a user changes."""
    path = study_at(tmp_path, "[search]\nseed = 7")
    orders = []
    for name in ("one", "two"):
        publish(Study(path), tmp_path / name)
        orders.append(pd.read_csv(tmp_path / name / "released.csv"))
    assert records(orders[0]) == records(orders[1])
    assert not orders[0].equals(orders[1])


def test_the_orders_of_two_seeds_have_nothing_to_do_with_each_other():
    """DuckDB's ``hash`` of a number and a seed would leave half of the neighbours neighbours."""
    orders = []
    for seed in (5, 6):
        query = f"SELECT n FROM range(256) AS t(n) ORDER BY {chance(seed, 'n')}"
        orders.append([n for (n,) in duckdb.sql(query).fetchall()])
        assert orders[-1] == [n for (n,) in duckdb.sql(query).fetchall()]
        assert sorted(orders[-1]) == [*range(256)]
    place = {n: there for there, n in enumerate(orders[1])}
    near = [abs(place[one] - place[other]) == 1 for one, other in itertools.pairwise(orders[0])]
    assert sum(near) < 16  # two, on average


@pytest.mark.parametrize("file", ["released.csv", "released.parquet"])
def test_columns_stay_together(tmp_path, file):
    """Whatever writes the file: DuckDB, pandas or Arrow."""
    table = log().assign(
        half=lambda t: t["age"] / 2,
        seen=pd.Timestamp("2026-01-01"),
        note=lambda t: "n" + t["bought"],
    )
    table["seen"] += pd.to_timedelta(range(len(table)), unit="s")
    table.to_parquet(tmp_path / "log.parquet", index=False)
    text = STUDY.replace("log.csv", "log.parquet") + f'[output]\nfile = "{file}"\n'
    (tmp_path / "study.toml").write_text(text)
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    found = tmp_path / "out" / file
    shown = pd.read_parquet(found) if file.endswith("parquet") else pd.read_csv(found)
    own = dict(zip(table["seen"].astype(str), table[["half", "note"]].itertuples(), strict=True))
    assert len(shown) == len(own) == len({*shown["seen"].astype(str)})
    for row in shown.itertuples():
        true = own[str(row.seen)]
        assert (row.half, row.note) == (true.half, true.note)
        low, high = (int(end) for end in row.age.strip("[)").split(", "))
        assert low <= 2 * row.half < high
    assert list(shown["seen"].astype(str)) != sorted(shown["seen"].astype(str))


def test_which_records_share_a_part_tells_nothing(tmp_path):
    """Kept, the first part has the youngest; at random each part has as many of every age."""
    for order in ("kept", "random"):
        given = f'[output]\nfile = "released.parquet"\nparts = 3\norder = "{order}"'
        publish(Study(study_at(tmp_path, given)), tmp_path / order)
        parts = sorted((tmp_path / order / "released.parquet").iterdir())
        frames = [pyarrow.parquet.read_table(part).to_pandas() for part in parts]
        lows = [[int(label[1:3]) for label in frame["age"]] for frame in frames]
        assert max(map(len, frames)) - min(map(len, frames)) <= 1
        assert records(pd.concat(frames)).total() == len(log())
        means = [sum(low) / len(low) for low in lows]
        assert (max(means) - min(means) > 15) == (order == "kept")
        rises = [low == sorted(low) for low in lows]
        assert rises == [order == "kept"] * 3


def test_an_applied_release_has_its_own_order(tmp_path, capsys):
    kept = kept_in(tmp_path)
    log().to_csv(tmp_path / "next.csv", index=False)
    publish_applied(kept, tmp_path / "next.csv", tmp_path / "random")
    publish_applied(kept, tmp_path / "next.csv", tmp_path / "again", means=Means(order="kept"))
    assert (order_of(tmp_path / "random"), order_of(tmp_path / "again")) == ("random", "kept")
    assert "telling-order" in codes_of(tmp_path / "again")
    assert "telling-order" not in codes_of(tmp_path / "random")
    tables = [pd.read_csv(tmp_path / n / "released.csv") for n in ("kept", "again", "random")]
    assert tables[0].equals(tables[1])
    assert records(tables[0]) == records(tables[2])
    assert not tables[0].equals(tables[2])
    given = ("apply", kept, tmp_path / "next.csv", "-o", tmp_path / "cli", "--order", "kept")
    with pytest.raises(SystemExit) as ended:
        main([*map(str, given)])
    assert ended.value.code == 0
    assert 'order = "random" in [output]' in capsys.readouterr().err
    assert (tmp_path / "cli" / "released.csv").read_text() == (
        tmp_path / "kept" / "released.csv"
    ).read_text()


def test_a_transformed_table_keeps_its_order(tmp_path):
    """Who holds it in Python knows the order; who writes it is warned."""
    anonymizer = Study(study_at(tmp_path)).anonymizer()
    released = anonymizer.fit_transform(log())
    assert released["bought"].tolist() == log()["bought"].tolist()
    lows = [int(label[1:3]) for label in released["age"]]
    assert all(low == age // 10 * 10 for low, age in zip(lows, log()["age"], strict=True))
    assert "telling-order" in {each.code for each in anonymizer.release_.warnings}


@pytest.mark.parametrize("wrong", ['"sorted"', "1", "true"])
def test_there_are_two_orders(tmp_path, wrong):
    with pytest.raises(InputError, match=r"\[output\] order must be 'random' or 'kept'"):
        Study(study_at(tmp_path, f"[output]\norder = {wrong}"))


def test_records_that_were_drawn_may_not_keep_their_order(tmp_path):
    text = STUDY.replace('attributes = "bought"', "attributes = []").replace(
        'attributes = "user"', 'attributes = ["user", "bought"]'
    )
    private = '[[privacy]]\nmodel = "differential-privacy"\nepsilon = 2\ndelta = 0.01\n'
    recoding = '[recoding]\nmethod = "safepub"\nlevels = { age = 1, country = 0 }\n'
    study = Study(study_at(tmp_path, private, recoding, '[output]\norder = "kept"', text=text))
    with pytest.raises(InputError, match=r"would disclose which records were drawn; leave it out"):
        publish(study, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def figures(found: object) -> list[object]:
    """Keys and leaves of a result, in its order."""
    if isinstance(found, dict):
        return [each for key, part in found.items() for each in (key, *figures(part))]
    if isinstance(found, list | tuple):
        return [leaf for part in found for leaf in figures(part)]
    return [found]


RECODINGS = {
    "levels": 'method = "full-domain"\nsuppression = 0.05',
    "removed": 'method = "full-domain"\nsuppression = 0.05\nremove = true',
    "ranges": 'method = "variable-range"',
    "boxes": 'method = "boxes"',
}


@pytest.mark.parametrize("name", RECODINGS)
def test_quality_and_audit_do_not_depend_on_the_order(tmp_path, name):
    """Of a record that follows from its values it does not matter where it stands."""
    found = []
    for order in ("kept", "random"):
        given = f'[recoding]\n{RECODINGS[name]}\n[output]\norder = "{order}"'
        path = study_at(tmp_path, given)
        publish(Study(path), tmp_path / order)
        raw = [tmp_path / "log.csv"]
        quality = measure_file(Study(path), tmp_path / order, targets=[]).to_dict()
        audit = audit_files([tmp_path / order], raw, studies=[Study(path)]).to_dict()
        found.append((quality, audit["releases"][0]))
    (kept, attacked), (mixed, again) = found
    assert mixed == kept
    for each in (attacked, again):
        each.pop("release")
        assert each["query_loss"]["average"] > 0
    # Sums in the order of classes differ in their last bits.
    assert figures(again) == [pytest.approx(figure) for figure in figures(attacked)]


def test_merged_cells_that_overlap_are_measured_by_their_counts(tmp_path):
    """Which class a record is in shows its place alone, where several stand for its values."""
    found = []
    for order in ("kept", "random"):
        given = f'[recoding]\nmethod = "merged-cells"\n[output]\norder = "{order}"'
        path = study_at(tmp_path, given)
        publish(Study(path), tmp_path / order)
        release, raw = tmp_path / order, [tmp_path / "log.csv"]
        quality = measure_file(Study(path), release, targets=[])
        (audit,) = audit_files([release], raw).releases
        found.append((quality, audit))
    (kept, attacked), (mixed, again) = found
    spreads = ("attribute-squared-error", "record-squared-error")
    for name, measure in kept.measures.items():
        assert measure is not None or name == "generalization-intensity"
        if name in spreads:
            assert mixed.measures[name] is None
            assert "classes overlap" in mixed.undefined[name]
        elif measure is not None:
            assert mixed.measures[name].value == pytest.approx(measure.value)
    for one, other in zip(kept.tables, mixed.tables, strict=True):
        assert (one.columns, one.total_variation) == (
            other.columns,
            pytest.approx(other.total_variation),
        )
    assert again.guessed == attacked.guessed
    assert again.linkage == attacked.linkage
    assert again.people == attacked.people == len(log())


def test_merged_cells_of_several_releases_need_their_order(tmp_path):
    """Who is in which class of one decides what two of them disclose."""
    for name, width in (("one", 10), ("two", 5)):
        text = STUDY.replace("widths = [10, 40]", f"widths = [{width}, 40]")
        path = study_at(tmp_path, '[recoding]\nmethod = "merged-cells"', text=text)
        publish(Study(path), tmp_path / name)
    with pytest.raises(InputError, match=r"fit several classes.*make a release with order = "):
        audit_files([tmp_path / "one", tmp_path / "two"], [tmp_path / "log.csv"])


@given(st.integers(0, 2**32 - 1))
def test_records_are_dealt_to_classes_as_these_are(seed):
    """Any cells and overlapping classes: each record in one that covers it, and has its key."""
    rng = np.random.default_rng(seed)
    values, classes, records = rng.integers(1, 4), rng.integers(1, 4), int(rng.integers(1, 12))
    members = [rng.random((classes, values)) < 0.7 for _ in range(2)]
    cells = rng.integers(0, values, (records, 2))
    own = rng.integers(0, 2, records)
    numbers, order = rng.integers(0, classes, records), rng.permutation(records)
    found = dealt_out(members, cells, own, numbers, own[order])
    fits = [[bool(members[0][c, a] and members[1][c, b]) for c in range(classes)] for a, b in cells]
    possible = (
        any(
            all(fits[i][numbers[j]] and own[i] == own[order][j] for i, j in enumerate(each))
            for each in itertools.permutations(range(records))
        )
        if records <= 6
        else None
    )
    if found is None:
        assert possible is not True
        return
    assert possible is not False
    assert all(fits[i][c] for i, c in enumerate(found))
    pairs = Counter(zip(found.tolist(), own.tolist(), strict=True))
    assert pairs == Counter(zip(numbers.tolist(), own[order].tolist(), strict=True))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    """The study of a release of drawn values in an order, and the release, made once."""

    @cache
    def made(order: str) -> tuple[Path, Path]:
        directory = tmp_path_factory.mktemp(order)
        given = '[recoding]\nmethod = "pram"\nlevels = { age = 0, country = 1 }\n'
        path = study_at(directory, f'{given}[output]\norder = "{order}"')
        publish(Study(path), directory / order)
        return path, directory / order

    return made


def test_what_was_drawn_for_whom_nobody_knows_in_random_order(drawn: Releases):
    """Measures of pairs are undefined then, and the others those of the release as it stands."""
    path, release = drawn("random")
    quality = measure_file(Study(path), release, targets=[])
    pairs = ("changed-values", "non-uniform-entropy", "attribute-squared-error")
    for name in (*pairs, "record-squared-error"):
        assert quality.measures[name] is None
        assert 'measure a release with order = "kept"' in quality.undefined[name]
    released = pd.read_csv(release / "released.csv", dtype=str)
    sizes = Counter(zip(released["age"], released["country"], strict=True))
    assert quality.measures["discernibility"].value == sum(n**2 for n in sizes.values())
    path, release = drawn("kept")
    quality = measure_file(Study(path), release, targets=[])
    assert quality.measures["changed-values"].value > 0


@pytest.mark.parametrize("order", ["random", "kept"])
def test_an_audit_of_drawn_values_is_that_of_the_true_places(drawn: Releases, tmp_path, order):
    """Recounted by hand: an attacker who finds somebody by what was drawn guesses the mode."""
    path, release = drawn(order)
    released = pd.read_csv(release / "released.csv", dtype=str)
    classes = Counter(zip(released["age"], released["country"], strict=True))
    values = Counter(released[["age", "country", "bought"]].itertuples(index=False, name=None))
    right = sum(max(values[*cell, value] for value in ("yes", "no")) for cell in classes)
    (audit,) = audit_files([release], [path.parent / "log.csv"], studies=[Study(path)]).releases
    assert audit.people == len(released)
    assert audit.linkage.marketer == pytest.approx(len(classes) / len(released))
    assert audit.guessed["bought"] == (right, len(released))
    others = log().assign(bought="yes")
    others.to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(InputError, match=r"cannot be what .* was made of"):
        audit_files([release], [tmp_path / "other.csv"], studies=[Study(path)])


def test_a_release_of_another_table_is_refused_in_any_order(tmp_path):
    path = study_at(tmp_path)
    publish(Study(path), tmp_path / "out")
    other = log()
    other.loc[5, "bought"] = "no" if other.loc[5, "bought"] == "yes" else "yes"
    other.to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(InputError, match="1 record of the release and of the original are not"):
        measure_file(Study(path), tmp_path / "out")
    other.iloc[:-1].to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(InputError, match="of the release and of the original are not the recoding"):
        measure_file(Study(path), tmp_path / "out")


def test_in_memory_records_are_paired_by_their_place(tmp_path):
    anonymizer = Study(study_at(tmp_path)).anonymizer()
    released = anonymizer.fit_transform(log())
    assert measure_quality(log(), released, anonymizer.plan_, targets=[]).records == len(log())
    with pytest.raises(InputError, match="column 'bought' of the release is not that of the orig"):
        measure_quality(log(), released.assign(bought="yes"), anonymizer.plan_, targets=[])
    with pytest.raises(InputError, match="its order included"):
        measure_quality(log(), released[::-1], anonymizer.plan_, targets=[])
