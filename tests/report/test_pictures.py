"""Pictures of a release for a page: what they say, where they fail, how they are written."""

import re
import xml.etree.ElementTree as ET
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from releases import manifest_of

from anonymizer.release.manifest.parts import ReportedInformation
from anonymizer.report.plots.release import (
    _steps,
    attribute_picture,
    classes_picture,
    comparison_picture,
    information_picture,
    lattice_picture,
    sizes_picture,
    svg_of,
)
from tests.report.test_plots import SWEPT

EVIL = "a<b>&$x_1$"

INFORMATION = dict.fromkeys(ReportedInformation.model_fields, 0.0)


def manifest(table, privacy=(), **changes):
    """A manifest of a table of one quasi-identifier and one sensitive attribute."""
    name = table.columns[0]
    entries = [
        {"label": "[0, 10)", "from": 0, "to": 10},
        {"label": "[10, 30)", "from": 10, "to": 30},
        {"label": "[30, inf)", "from": 30, "to": None},
    ]
    content = {
        "records": len(table),
        "released": len(table),
        "classes": 2,
        "information": {**INFORMATION, "original": 0.8, "retained": 0.2, "ceiling": 0.5},
        "levels": {name: 1},
        "recoding": {name: entries},
        "privacy": list(privacy),
        "search": {"nodes": 3, "minimal": [[1]]},
        "columns": {
            "quasi_identifiers": [name],
            "sensitive": ["w"],
            "targets": [],
            "identifiers": [],
            "missing": "error",
            "missing_values": [],
            "separator": ",",
        },
        "table": {"file": "released.csv", "sha256": "0" * 64, "columns": [], "missing": {}},
    }
    return manifest_of(**{**content, **changes})


def verdict(model, **parameters):
    return {"model": model, "attribute": "w", "parameters": parameters}


TABLE = pd.DataFrame({EVIL: ["[0, 10)"] * 4 + ["[10, 30)"] * 4, "w": list("aaaa" + "aabb")})
"""W is a in three quarters. I1 = D((1, 0) || (3/4, 1/4)) = log2 4/3 = 0.415 of the first class."""


POLICY = [verdict("t-closeness", t=0.3, distance="kl"), verdict("entropy-l-diversity", l=1.5)]
PICTURES = {
    "information": information_picture,
    "classes": classes_picture,
    "sizes": sizes_picture,
    "lattice": lattice_picture,
    "attribute": partial(attribute_picture, name=EVIL),
    "comparison": lambda *_: comparison_picture(SWEPT),
}


def drawn(name):
    return PICTURES[name](manifest(TABLE, POLICY), TABLE)


def test_the_classes_are_those_of_the_table_as_it_stands():
    said = drawn("classes").description
    assert "I₁ about w: from 0.208 to 0.415 bits in 2 classes, against t = 0.3 (0.300)" in said
    assert "I₂ about w: from -0.189 to 0.811 bits in 2 classes, against l = 1.5 (0.226)" in said
    assert said.count("1 fail") == 2


def test_the_bars_of_information_are_those_of_the_manifest_and_the_bounds_of_the_policy():
    said = drawn("information").description
    for part in [
        "original, I(X;W): 0.800",
        "bound of t-closeness ≤ 0.3: 0.300",
        "bound of entropy-l-diversity ≥ 1.5: 0.226",
        "ceiling of the policy: 0.500",
        "retained, I(X̃;W): 0.200 (25%)",
        "lost: 0.600 (75%)",
    ]:
        assert part in said


def test_where_there_is_nothing_to_draw_there_is_no_picture():
    about = manifest(TABLE, information=None, search={"nodes": 0})
    assert information_picture(about, TABLE) is None
    assert lattice_picture(about, TABLE) is None
    assert sizes_picture(about) is classes_picture(about) is None
    assert attribute_picture(about, TABLE, name="other") is None


def test_a_density_spreads_the_records_of_a_range_evenly_over_it():
    from anonymizer.report.plots.release import DrawnRange

    ranges = [DrawnRange(0, 10, 4, False), DrawnRange(5, 25, 4, False)]  # of boxes, which overlap
    steps = [*_steps(ranges, 8)]
    assert steps == [
        (0, 5, pytest.approx(0.05)),
        (5, 10, pytest.approx(0.075)),
        (10, 25, pytest.approx(0.025)),
    ]
    assert sum((high - low) * height for low, high, height in steps) == pytest.approx(1)
    assert all(one[1] == other[0] for one, other in pairwise(steps))


def test_many_classes_are_a_line_and_not_thousands_of_bars():
    rng = np.random.default_rng(0)
    labels = [f"c{i}" for i in range(2000)]
    table = pd.DataFrame({"x": np.repeat(labels, 3), "w": rng.choice(list("abc"), 6000)})
    about = manifest(table, recoding={"x": [{"label": label} for label in labels]})
    text = svg_of(classes_picture(about, table))
    assert len(text) < 300_000
    assert "2,000 classes" in text
    assert "x: " not in sizes_picture(about, table).description


def test_a_lattice_whose_rules_are_known_is_drawn_whole():
    about = manifest(
        TABLE, hierarchies={EVIL: {"widths": [10, 20]}}, search={"nodes": 4, "minimal": [[1]]}
    )
    text = svg_of(lattice_picture(about))
    assert "breaks the policy" in text
    assert "satisfies it" in text
    assert "frontier of a lattice" in svg_of(drawn("lattice"))


@pytest.mark.parametrize("name", ["information", "classes", "sizes", "lattice", "attribute"])
def test_a_picture_of_a_page_stands_alone_and_follows_its_theme(name):
    text = svg_of(drawn(name))
    root = ET.fromstring(text)
    assert root.get("role") == "img"
    labelled = root.get("aria-labelledby").split()
    assert [each.get("id") for each in root[:2]] == labelled
    assert all(each.text for each in root[:2])
    assert EVIL not in text
    assert not re.search(r"(?:href=\"|url\()(?!#)", text)
    assert "<script" not in text
    assert "@import" not in text
    assert "#1b1b1b" not in text
    assert "currentColor" in text
    assert "prefers-color-scheme:dark" in text
    assert text == svg_of(drawn(name))


def test_pictures_of_one_page_share_no_id():
    texts = [svg_of(drawn(name)) for name in PICTURES]
    found = [identity for text in texts for identity in re.findall(r'\bid="([^"]+)"', text)]
    assert len(found) == len(set(found))
    for text in texts:
        used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', text))
        assert used <= set(re.findall(r'\bid="([^"]+)"', text))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_of_its_own_needs_no_variables(theme):
    text = svg_of(information_picture(manifest(TABLE), theme=theme))
    assert "var(" not in text
    assert "currentColor" not in text
    assert ("#ececec" if theme == "dark" else "#1b1b1b") in text


def test_a_comparison_says_what_fails():
    said = drawn("comparison").description
    assert "boxes (t = 0.2, k = 5): 0.430" in said
    assert "under a ceiling of 0.700 to 0.900" in said
