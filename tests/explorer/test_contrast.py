"""The colours of the page: texts and marks stand out from their ground, in both themes.

By WCAG 2.2: texts 4.5 : 1 (success criterion 1.4.3), marks and the focus 3 : 1 (1.4.11).
"""

import re
from pathlib import Path

import pytest

from anonymizer.explorer.page import charts
from anonymizer.explorer.page.charts import DARK, LIGHT

TEXT, MARK = 4.5, 3.0
STYLE = Path(charts.__file__).with_name("style.css").read_text(encoding="utf-8")
THEMES = {":root": LIGHT, ".body--dark": DARK}
"""The palette of the charts for each block of variables."""


def luminance(colour: str) -> float:
    """Relative luminance of a colour such as ``#0b5cad``, by its definition in WCAG."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def variables(selector: str) -> dict[str, str]:
    """The variables of a theme, by their names without dashes."""
    block = re.search(rf"^{re.escape(selector)} {{(.*?)}}", STYLE, re.DOTALL | re.MULTILINE)
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block.group(1)))


def test_the_ratio_is_that_of_the_definition():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("selector", THEMES)
def test_the_page_can_be_read(selector):
    found = variables(selector)
    grounds = found["ground"], found["raised"]
    for ground in grounds:
        for name in ("ink", "muted", "accent", "good", "bad"):
            assert contrast(found[name], ground) >= TEXT, name
        for name in ("focus", *(name for name in found if name.startswith("series"))):
            assert contrast(found[name], ground) >= MARK, name
    assert contrast(found["on-accent"], found["accent"]) >= TEXT


@pytest.mark.parametrize("selector", THEMES)
def test_charts_can_be_read(selector):
    palette, ground = THEMES[selector], THEMES[selector].ground
    for text in (palette.ink, palette.muted):
        assert contrast(text, ground) >= TEXT
    for mark in (palette.good, palette.bad, *palette.series):
        assert contrast(mark, ground) >= MARK


@pytest.mark.parametrize("selector", THEMES)
def test_charts_have_the_colours_of_the_page(selector):
    palette, found = THEMES[selector], variables(selector)
    for name in ("ink", "muted", "line", "ground", "good", "bad"):
        assert getattr(palette, name) == found[name]
    assert [*palette.series] == [found[f"series-{place}"] for place in range(1, 7)]
