"""Names and values that try to be code: they are letters on every view."""

import csv
import json
from itertools import product

from explorer.driving import explored, opened, settled, visit

NAMES = (
    "<img src=x onerror=window.hacked=1>",
    '" onfocus="window.hacked=1" autofocus x="',
    'x" :onclick="window.hacked=1" :style="(window.hacked=1)',
    "{{constructor.constructor('window.hacked=1')()}}",
)
VIEWS = ("Table", "Hierarchies", "Policy", "Frontier", "Lattice", "Cut points", "Attack", "Release")


def test_no_name_and_no_value_is_taken_for_code(browser, tmp_path):
    one, two, three, sensitive = NAMES
    with (tmp_path / "t.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*NAMES, "number"])
        lines.writerows(
            [*map(NAMES.__getitem__, each), NAMES[sum(each) % 4], number]
            for number, each in enumerate(product(range(4), repeat=3))
        )
    rules = "".join(f'{json.dumps(name)} = "suppress"\n' for name in (one, two, three))
    path = tmp_path / "study.toml"
    path.write_text(
        f"""[data]
path = "t.csv"
[quasi-identifiers]
{rules}number = {{ widths = [8, 64] }}
[sensitive]
attributes = [{json.dumps(sensitive)}]
[[privacy]]
model = "t-closeness"
distance = "kl"
t = 0.5
[[privacy]]
model = "k-anonymity"
k = 300
[recoding]
method = "full-domain"
"""
    )
    with explored(path) as served, opened(browser, served.link) as page:
        for title in VIEWS:
            visit(page, title)
            if title == "Policy":  # out of reach: the ways out name columns, and so does the step
                page.get_by_role("button", name="Remove k-anonymity").click()
            settled(page)
            assert page.evaluate("window.hacked") is None, title
            assert page.locator(".q-notification").filter(has_text="internal").count() == 0
