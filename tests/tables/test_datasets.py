"""What travels with the package: the sample, the hierarchies, and the wheel that carries them."""

import gzip
import runpy
from pathlib import Path

import numpy as np
import pytest

from anonymizer import Hierarchy, InputError, load_adult, load_census
from anonymizer.information.entropy import entropy
from anonymizer.tables.datasets import adult_hierarchy, shipped

ROOT = Path(__file__).parents[2]


def test_the_sample_is_what_its_generator_makes():
    make = runpy.run_path(str(ROOT / "data" / "make_census.py"))
    made = make["census"]().to_csv(index=False, lineterminator="\n")
    with gzip.open(shipped("data", "census.csv.gz"), "rt", encoding="utf-8") as file:
        assert file.read() == made


def test_another_seed_makes_other_people():
    make = runpy.run_path(str(ROOT / "data" / "make_census.py"))
    assert not make["census"](50, seed=1).equals(make["census"](50, seed=2))


def test_tables_of_a_first_hour_are_the_same_each_time(tmp_path):
    make = runpy.run_path(str(ROOT / "data" / "make_tables.py"))["make"]
    for turn in ("one", "other"):
        make(tmp_path / turn, records=200)
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert len(names) == 5
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_the_sample_is_plausible_and_small():
    census = load_census()
    assert shipped("data", "census.csv.gz").stat().st_size < 500_000
    assert len(census) == 30_000
    assert not census.isna().any(axis=None)
    assert entropy(census["marital-status"].value_counts()) > 1.7
    combinations = census[["age", "sex", "race", "education"]].value_counts()
    assert (combinations == 1).sum() >= 300
    young = census[census["age"] < 20]
    assert (young["marital-status"] == "Never-married").mean() > 0.9
    assert not (young["education"] == "Doctorate").any()


@pytest.mark.parametrize(
    "path", sorted(shipped("hierarchies", "adult").iterdir()), ids=lambda path: path.name
)
def test_every_bundled_hierarchy_covers_the_sample(path):
    column = path.stem.removesuffix("-bezzi2010")
    taxonomy = Hierarchy.read(path).over(column, load_census()[column].unique())
    assert len(taxonomy.levels[-1]) == 1
    sizes = [len(level) for level in taxonomy.levels]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes), "every level must merge something"


def test_ages_come_in_ranges_of_5_10_25_and_50():
    taxonomy = Hierarchy.read(adult_hierarchy("age")).over("age", range(17, 91))
    widths = [np.bincount(level.groups).max() for level in taxonomy.levels]
    assert widths[:4] == [1, 5, 10, 25]
    assert taxonomy.height == 5
    labels = [str(level.labels[level.groups[38 - 17]]) for level in taxonomy.levels]
    assert labels == ["38", "[35, 40)", "[35, 45)", "[25, 50)", "(-inf, 50)", "*"]


def test_there_is_no_hierarchy_for_anything():
    with pytest.raises(InputError, match="no bundled hierarchy for 'shoe-size'"):
        adult_hierarchy("shoe-size")


def test_a_wrong_adult_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.data").write_text("39, State-gov\n")
    monkeypatch.setenv("ANONYMIZER_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"adult\.data is not UCI's adult\.data: its SHA-256 is"):
        load_adult()


def test_adult_that_cannot_be_downloaded_says_what_to_do(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise ConnectionError

    monkeypatch.setenv("ANONYMIZER_DATA", str(tmp_path))
    monkeypatch.setattr("pooch.retrieve", unreachable)
    with pytest.raises(InputError, match=r"cannot download UCI Adult.*ANONYMIZER_DATA"):
        load_adult()


def test_real_adult_has_all_its_records(adult):
    raw = load_adult()
    assert raw.shape == (32_561, 15)
    assert len(adult) == 30_162
    assert raw.isna().sum().sum() == 4_262
