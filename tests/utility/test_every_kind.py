"""Every kind of release under every command that measures, and what it measures of some by hand."""

import json
from dataclasses import replace
from math import log2

import numpy as np
import pandas as pd
import pytest
from lengths import LONG
from releases import KINDS, release_of

from anonymizer import Anonymizer, Boxes, Hierarchy, InputError, KAnonymity, MergedCells
from anonymizer.cli import main
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.tables import engine
from anonymizer.utility import Quality, measure_quality
from anonymizer.utility.labels import RegionLabels
from anonymizer.utility.measures import OF_PAIRS, SPREADS
from anonymizer.utility.numbers import features_of
from anonymizer.utility.pairing import Recoder, pair

FOUR = pd.DataFrame({"age": [20, 24, 30, 38], "sex": list("fmff"), "w": list("abab")})
HIERARCHIES = {"age": Hierarchy.ranges(widths=[10]), "sex": Hierarchy.suppression()}
SCHEMA = Schema(("age", "sex"), ("w",))
TAXONOMIES = taxonomies_of(engine.tally(FOUR, SCHEMA.columns), HIERARCHIES)

MEASURED = (
    *("full-domain", "suppressed and kept", "suppressed and removed", "best", "fixed"),
    *("variable-range", "cut", "boxes", "merged-cells"),
    *("missing as a category, boxes", "kept values, merged cells", "missing and dropped"),
    *("pram", "pram, withheld", "noise", "bottleneck", "differential privacy"),
)
BOTH_WAYS = ("suppressed and removed", "boxes", "kept values, merged cells", "pram")
"""Of these a table with its study is measured as well as the folder; of all at full length."""

INTENSITY = "generalization-intensity"
DRAWN = {"pram": "job", "pram, withheld": "job", "noise": "age", "bottleneck": "age"}
"""The releases of drawn values, and an attribute that was drawn."""

UNDEFINED = {
    **dict.fromkeys(DRAWN, 8),
    **dict.fromkeys(("variable-range", "cut", "boxes", "missing as a category, boxes"), 1),
    **dict.fromkeys(("merged-cells", "kept values, merged cells"), 3),
}
"""How many measures are not defined in random order; 0 of all others."""

IN_ORDER = '[output]\norder = "kept"\n'


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


def test_what_classifiers_see_of_boxes():
    """A label of age stands for the middle of its values, counted from the least of all."""
    pairing = pair(FOUR, labelled(LOW, LOW, HIGH, HIGH), in_regions([LOW, HIGH]))
    features = features_of(pairing, "midpoint")
    assert features.numbers[:, 0].tolist() == [2, 2, 11, 11]
    assert len(set(features.categories[:, 0])) == 2


def test_merged_cells_by_hand():
    """Two classes of the same labels differ by their numbers."""
    every = {"age": [20, 24, 30, 38], "sex": ["f", "m"]}
    released = labelled(*[every] * 4).assign(**{"class": [1, 1, 2, 2]})
    found = measured(released, in_regions([every, every], numbered=True))
    assert values_of(found)["discernibility"] == 8
    assert found.measures["granularity"].normalized == 0
    assert found.measures["record-squared-error"].value == pytest.approx(40 / 184)
    assert found.measures["attribute-squared-error"].value == pytest.approx(1)
    with pytest.raises(InputError, match="must number its 2 classes"):
        measured(released.assign(**{"class": [1, 1, 2, 3]}), in_regions([every] * 2, numbered=True))


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


@pytest.mark.parametrize("recoding", [Boxes(), MergedCells()])
def test_a_plan_of_regions_measures_its_release(recoding):
    table = pd.DataFrame({"age": [1, 2, 3, 4] * 3, "w": list("abab") * 3})
    ages = {"age": Hierarchy.ranges(widths=[2])}
    anonymizer = Anonymizer(ages, "w", privacy=[KAnonymity(2)], recoding=recoding)
    released = anonymizer.fit_transform(table)
    found = measure_quality(table, released, anonymizer.plan_, targets=())
    classes = released.groupby([name for name in released if name != "w"]).size()
    assert found.measures["discernibility"].value == (classes**2).sum()
    with pytest.raises(InputError, match="not the recoding of the original record"):
        measure_quality(table, released[::-1], anonymizer.plan_, targets=())


@pytest.fixture
def run(capsys):
    """Run a command; its exit code and its JSON."""

    def call(*arguments: object) -> tuple[int, dict]:
        with pytest.raises(SystemExit) as ending:
            main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert ending.value.code in (0, 1, 3), said.err
        return ending.value.code, json.loads(said.out)

    return call


def stands_for(entry: dict, value: object) -> bool:
    """Whether a label stands for a value, by what the manifest says of it."""
    if "from" in entry:
        low, high = entry["from"], entry["to"]
        return (low is None or low <= value) and (high is None or value < high)
    return str(value) in entry["values"] if "values" in entry else entry["label"] == "*"


@pytest.mark.parametrize("name", ["full-domain", "variable-range", "cut", "boxes", "merged-cells"])
def test_entropy_is_that_of_a_plain_count(run, tmp_path, name):
    """-log2 of the share that a value has of all records that its own label stands for."""
    of_kind = release_of(replace(KINDS[name], more=KINDS[name].more + IN_ORDER), tmp_path)
    original = pd.read_csv(of_kind.parent / "people.csv")
    released = pd.read_csv(of_kind / "released.csv", dtype=str)
    described = json.loads((of_kind / "release.json").read_text())["recoding"]
    bits = 0.0
    for column in ("age", "job"):
        entries = {entry["label"]: entry for entry in described[column]}
        records = original[column].value_counts()
        for value, label in zip(original[column], released[column], strict=True):
            assert stands_for(entries[label], value)
            alike = sum(own for other, own in records.items() if stands_for(entries[label], other))
            bits += log2(alike / records[value])
    found = run("quality", of_kind, "-s", of_kind.parent / "study.toml", "--no-classifiers")[1]
    measure = found["measures"]["non-uniform-entropy"]
    assert measure["value"] == pytest.approx(bits / len(original))


@pytest.mark.parametrize("name", MEASURED)
def test_every_kind_is_measured(release, run, name):
    of_kind = release(name)
    table, study = next(of_kind.glob("released.*")), of_kind.parent / "study.toml"
    read = pd.read_csv if table.suffix == ".csv" else pd.read_parquet
    released = read(table)
    keys = [key for key in ("age", "job", "class") if key in released]
    classes = released.groupby(keys, dropna=False)
    sizes = classes.size()

    checked = run("check", of_kind)[1]
    assert (checked["records"], checked["k"]) == (len(released), sizes.min())
    assert checked["satisfied"]

    risk = run("risk", of_kind)[1]
    assert risk["classes"] == len(sizes)
    assert risk["reidentification"]["average"] == pytest.approx(len(sizes) / len(released))
    for sensitive, found in risk["inference"].items():
        likeliest = classes[sensitive].apply(lambda w: w.value_counts(dropna=False).iloc[0])
        assert found["guessed"] == pytest.approx(likeliest.sum() / len(released))

    original = next(of_kind.parent.glob("people.*"))
    code, audit = run("audit", of_kind, "--against", original)
    found = audit["releases"][0]
    assert (code, found["classes"], found["records"]) == (3, len(sizes), len(released))
    assert found["random"] == (name in DRAWN)

    about = ["-s", study, "--no-classifiers"]
    quality = run("quality", of_kind, *about)[1]
    if LONG or name in BOTH_WAYS:
        assert checked == run("check", table, "-s", study)[1]
        assert risk == run("risk", table, "-s", study)[1]
        assert quality == run("quality", table, *about)[1]
    assert len(quality["undefined"]) == UNDEFINED.get(name, 0)
    hidden = quality["suppressed"]
    shown = sizes.drop(tuple(["*"] * len(keys)), errors="ignore") if hidden else sizes
    expected = (shown**2).sum() + hidden * quality["records"]
    assert quality["measures"]["discernibility"]["value"] == pytest.approx(expected)
    for each in quality["measures"].values():
        assert each is None or 0 <= each["normalized"] <= 1
    lost = {measure for measure, why in quality["undefined"].items() if "random order" in why}
    assert lost == {*(OF_PAIRS if name in DRAWN else SPREADS)} & {*quality["undefined"]}


@pytest.mark.parametrize(("name", "of"), [*DRAWN.items(), ("cut", "age")])
def test_what_was_drawn_is_estimated(release, run, capsys, name, of):
    """Estimates sum to the records; where there are none, the message says why."""
    arguments = ("estimate", release(name), "--of", of, "--method", "maximum-likelihood")
    refused = {"pram, withheld": "withholds the channels", "cut": "no random recoding"}
    if name in refused:
        with pytest.raises(SystemExit, match="2"):
            main([*map(str, arguments)])
        assert refused[name] in capsys.readouterr().err
        return
    found = run(*arguments)[1]
    assert sum(row["count"] for row in found["estimates"]) == pytest.approx(240)
