"""Every kind of release under every command that measures, and what it measures of some by hand."""

import json
from math import log2

import numpy as np
import pandas as pd
import pytest
from releases import KINDS, release_of

from anonymizer import Anonymizer, Boxes, Hierarchy, InputError, KAnonymity, MergedCells
from anonymizer.cli import main
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.tables import engine
from anonymizer.utility import Quality, measure_quality
from anonymizer.utility.labels import RegionLabels
from anonymizer.utility.pairing import Recoder

FOUR = pd.DataFrame({"age": [20, 24, 30, 38], "sex": list("fmff"), "w": list("abab")})
HIERARCHIES = {"age": Hierarchy.ranges(widths=[10]), "sex": Hierarchy.suppression()}
SCHEMA = Schema(("age", "sex"), ("w",))
TAXONOMIES = taxonomies_of(engine.tally(FOUR, SCHEMA.columns), HIERARCHIES)

MEASURED = (
    *("full-domain", "full-domain of parquet", "suppressed and kept", "suppressed and removed"),
    *("variable-range", "cut", "best", "fixed", "boxes", "merged-cells"),
    *("missing as a category, boxes", "kept values, merged cells", "missing and dropped"),
    *("pram", "pram, withheld", "noise", "bottleneck", "differential privacy"),
)
INTENSITY = "generalization-intensity"
UNDEFINED = {
    **dict.fromkeys(("pram", "pram, withheld", "noise", "bottleneck"), 4),
    **dict.fromkeys(("variable-range", "cut", "boxes", "merged-cells"), 1),
    **dict.fromkeys(("missing as a category, boxes", "kept values, merged cells"), 1),
}
"""How many measures are not defined; 0 of all others."""


def of_node(node: tuple[int, int], **more: bool) -> Recoder:
    levels = zip(TAXONOMIES, node, strict=True)
    recoding = {name: TAXONOMIES[name].levels[level] for name, level in levels}
    return Recoder(SCHEMA, TAXONOMIES, recoding, **more)


def in_regions(rows: list[dict[str, list]], *, numbered: bool = False) -> Recoder:
    """Classes that cover lists of values, which are their labels, too."""
    members: dict[str, dict] = {name: {} for name in TAXONOMIES}
    for row in rows:
        for name, values in row.items():
            inside = np.zeros(len(TAXONOMIES[name].codes), bool)
            inside[TAXONOMIES[name].encode(values)] = True
            members[name][str(values)] = inside
    labels = [{name: str(values) for name, values in row.items()} for row in rows]
    return Recoder(SCHEMA, TAXONOMIES, RegionLabels(labels, members, numbered))


def measured(released: pd.DataFrame, by: Recoder, table: pd.DataFrame = FOUR) -> Quality:
    return measure_quality(table, released, by, targets=())


def values_of(found: Quality) -> dict[str, float]:
    return {name: each.value for name, each in found.measures.items() if each}


def tables_of(found: Quality) -> dict[tuple[str, ...], float]:
    return {table.columns: table.total_variation for table in found.tables}


LOW, HIGH = {"age": [20, 24], "sex": ["f", "m"]}, {"age": [24, 30, 38], "sex": ["f"]}


def labelled(*regions: dict[str, list]) -> pd.DataFrame:
    return FOUR.assign(**{name: [str(each[name]) for each in regions] for name in HIERARCHIES})


def test_boxes_by_hand():
    """Labels of age overlap at 24: each record's loss is that of its own label."""
    found = measured(labelled(LOW, LOW, HIGH, HIGH), in_regions([LOW, HIGH]))
    assert values_of(found) == pytest.approx(
        {
            "non-uniform-entropy": (2 * 1 + 2 * log2(3)) / 4 + (log2(4 / 3) + 2) / 4,
            "granularity": ((4 + 4 + 14 + 14) / 18 / 4 + 2 / 4) / 2,
            "discernibility": 8,
            "average-class-size": 2,
            "ambiguity": (2 * 2 + 3 * 1) / 2,
            "log-ambiguity": (2 + log2(3)) / 2,
            "attribute-squared-error": (2 * 4 + 2 * 16) / 184,
            "record-squared-error": (2 * 4 + 2 * 16) / 184,
        }
    )
    assert "no level" in found.undefined[INTENSITY]
    assert tables_of(found) == pytest.approx(
        {
            ("age",): 2 * (1 / 4 - 1 / 6),
            ("sex",): 0,
            ("w",): 0,
            ("age", "sex"): 2 / 8 + 2 / 12,
            ("age", "w"): 1 / 8 + (1 / 4 - 5 / 24) + 2 / 6,
            ("sex", "w"): 1 / 8 + 1 / 8,
        }
    )


def test_merged_cells_by_hand():
    """Two classes of the same labels are told apart by their numbers."""
    every = {"age": [20, 24, 30, 38], "sex": ["f", "m"]}
    released = labelled(*[every] * 4).assign(**{"class": [1, 1, 2, 2]})
    found = measured(released, in_regions([every, every], numbered=True))
    assert values_of(found)["discernibility"] == 8
    assert found.measures["granularity"].normalized == 0
    assert found.measures["record-squared-error"].value == pytest.approx(40 / 184)
    assert found.measures["attribute-squared-error"].value == pytest.approx(1)


def test_drawn_values_by_hand():
    """One of four sexes and one of four ages is another one; no record is 25."""
    released = FOUR.assign(age=[25, 24, 30, 38], sex=list("mmff"))
    found = measured(released, of_node((0, 0), random=True))
    assert found.random
    assert values_of(found) == pytest.approx(
        {
            "changed-values": (1 / 4 + 1 / 4) / 2,
            "non-uniform-entropy": 2 / 4 * 1,  # H(sex | m) = 1 bit, half of the records
            "discernibility": 4,
            "average-class-size": 1,
            "attribute-squared-error": 0,
            "record-squared-error": 0,
        }
    )
    assert all("drawn at random" in why for why in found.undefined.values())
    shares = tables_of(found)
    assert (shares["age",], shares["sex",]) == pytest.approx((1 / 4, 1 / 4))
    mean = next(each for each in found.statistics if each.statistic == "mean")
    error = np.std([20, 24, 30, 38], ddof=1) / 2
    assert mean.standard_errors == pytest.approx((5 / 4) / error)


def test_a_sample_by_hand():
    """The release lacks one of both records of [30, 40): that counts as suppressed."""
    released = pd.DataFrame({"age": ["[30, 40)", "[20, 30)", "[20, 30)"], "sex": list("fmf")})
    schema = Schema(("age", "sex"), ())
    by = Recoder(schema, TAXONOMIES, of_node((1, 0)).recoding, sampled=True)
    found = measured(released, by, FOUR[["age", "sex"]])
    assert (found.suppressed, found.left_out) == (1, 1)
    assert values_of(found)["granularity"] == pytest.approx(((4 + 4 + 8 + 18) / 18 / 4 + 1 / 4) / 2)
    assert values_of(found)["discernibility"] == 3 + 4
    with pytest.raises(InputError, match="not the recoding"):
        measured(released.assign(sex="m"), by, FOUR[["age", "sex"]])


@pytest.mark.parametrize(("recoding", "targets"), [(Boxes(), ()), (MergedCells(), "w")])
def test_a_plan_of_regions_measures_its_release(recoding, targets):
    table = pd.DataFrame({"age": [1, 2, 3, 4] * 3, "w": list("abab") * 3})
    ages = {"age": Hierarchy.ranges(widths=[2])}
    anonymizer = Anonymizer(ages, "w", privacy=[KAnonymity(2)], recoding=recoding)
    released = anonymizer.fit_transform(table)
    found = measure_quality(table, released, anonymizer.plan_, targets=targets, folds=2)
    classes = released.groupby([name for name in released if name != "w"]).size()
    assert found.measures["discernibility"].value == (classes**2).sum()
    assert bool(found.predictions) == bool(targets)
    with pytest.raises(InputError, match="not the recoding of the original record"):
        measure_quality(table, released[::-1], anonymizer.plan_, targets=())


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """A release of every kind by its name, made when it is needed."""
    made: dict = {}

    def release(name: str):
        if name not in made:
            made[name] = release_of(KINDS[name], tmp_path_factory.mktemp("kind"))
        return made[name]

    return release


@pytest.fixture
def run(capsys):
    """Run a command; its exit code and its JSON."""

    def call(*arguments: object) -> tuple[int, dict]:
        with pytest.raises(SystemExit) as ending:
            main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert ending.value.code in (0, 1), said.err
        return ending.value.code, json.loads(said.out)

    return call


@pytest.mark.parametrize("name", MEASURED)
def test_every_kind_is_measured(releases, run, name):
    release = releases(name)
    table, study = next(release.glob("released.*")), release.parent / "study.toml"
    read = pd.read_csv if table.suffix == ".csv" else pd.read_parquet
    released = read(table)
    keys = [key for key in ("age", "job", "class") if key in released]
    classes = released.groupby(keys, dropna=False)
    sizes = classes.size()

    checked = run("check", release)[1]
    assert (checked["records"], checked["k"]) == (len(released), sizes.min())
    assert checked["satisfied"]
    assert checked == run("check", table, "-s", study)[1]

    risk = run("risk", release)[1]
    assert risk["classes"] == len(sizes)
    assert risk["reidentification"]["average"] == pytest.approx(len(sizes) / len(released))
    for sensitive, found in risk["inference"].items():
        likeliest = classes[sensitive].apply(lambda w: w.value_counts(dropna=False).iloc[0])
        assert found["guessed"] == pytest.approx(likeliest.sum() / len(released))
    assert risk == run("risk", table, "-s", study)[1]

    about = ["-s", study, "--no-classifiers"]
    quality = run("quality", release, *about)[1]
    assert quality == run("quality", table, *about)[1]
    assert len(quality["undefined"]) == UNDEFINED.get(name, 0)
    hidden = quality["suppressed"]
    shown = sizes.drop(tuple(["*"] * len(keys)), errors="ignore") if hidden else sizes
    expected = (shown**2).sum() + hidden * quality["records"]
    assert quality["measures"]["discernibility"]["value"] == pytest.approx(expected)
    for each in quality["measures"].values():
        assert each is None or 0 <= each["normalized"] <= 1
