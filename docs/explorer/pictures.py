"""Draw every view of the explorer, as the documentation shows them.

    python docs/explorer/pictures.py

Opens the demonstration in Chromium and writes VIEW-WIDTH-THEME.png next to this file: whole pages,
1440 and 390 pixels wide, light and dark.
"""

import io
import sys
from pathlib import Path
from tempfile import gettempdir

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from explorer.driving import (  # noqa: E402
    CHROMIUM,
    FLAGS,
    VIEWS,
    explored,
    opened,
    require_seen_well,
    settled,
    visit,
)

WIDTHS = {1440: 900, 390: 844}
TEMPORARY = Path(gettempdir())
"""Where the page says that files would go."""

COLOURS = 96
"""Of a picture: enough for text and charts, at a third of its size."""


def drawn(page: Page, view: str, width: int, theme: str) -> None:
    """Write the picture of the view that is open."""
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    path = HERE / f"{view.lower().replace(' ', '-')}-{width}-{theme}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Draw all of them."""
    with sync_playwright() as playwright, explored("--demo", cwd=TEMPORARY) as found:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for theme in ("light", "dark"):
            for width, height in WIDTHS.items():
                with opened(browser, found.link, width, height, theme) as page:
                    for view in VIEWS:
                        visit(page, view)
                        settled(page)
                        require_seen_well(page)
                        drawn(page, view, width, theme)
        browser.close()


if __name__ == "__main__":
    main()
