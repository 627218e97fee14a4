"""Measure the structure of the library: its size, rooms, signatures, clones, refusals and words.

    python benchmarks/house.py [ROOT] [--against OTHER_ROOT] [--list]
                               [--write benchmarks/results/house.md]

ROOT is a checkout, this one when left out; OTHER_ROOT is an earlier one to compare with. Sources
are read and not imported, apart from one run of the command line that follows a table. Tests and
benchmarks are not measured. The modules of structure/ define each figure.
"""

from pathlib import Path

import click
from structure import clones, graph, moves, names, refusals, signatures, size
from structure.sources import Figure, Library

HERE = Path(__file__).parent.parent
PARTS = (size, graph, signatures, clones, names, refusals, moves)
INTRODUCTION = """# The structure of the library

Made by `python benchmarks/house.py{against}`; tests and benchmarks are not measured.
"""
Section = tuple[str, str, list[Figure]]


def measured(root: Path) -> list[Section]:
    """All figures of a checkout, section by section."""
    library = Library.read(root)
    return [(part.HEADING, part.NOTE, part.figures(library)) for part in PARTS]


def table(columns: dict[str, list[Section]]) -> list[str]:
    """One table per section, a column for each checkout."""
    lines = []
    for sections in zip(*columns.values(), strict=True):
        heading, note, _ = sections[0]
        lines += ["", f"## {heading}", "", note, "", f"| | {' | '.join(columns)} |"]
        lines.append("|---" * (len(columns) + 1) + "|")
        for row in zip(*(figures for _, _, figures in sections), strict=True):
            lines.append(f"| {' | '.join([row[0].label, *(figure.value for figure in row)])} |")
    return lines


def listing(column: str, sections: list[Section]) -> list[str]:
    """The places behind the figures of a checkout."""
    lines = []
    for figure in (figure for _, _, figures in sections for figure in figures if figure.places):
        lines += ["", f"{column}: {figure.label}", *(f"    {place}" for place in figure.places)]
    return lines


@click.command(help=__doc__)
@click.argument("root", type=click.Path(exists=True, path_type=Path), default=HERE)
@click.option("--against", type=click.Path(exists=True, path_type=Path), help="Earlier checkout.")
@click.option("--list", "listed", is_flag=True, help="Show the places behind the figures.")
@click.option("--write", type=click.Path(path_type=Path), help="File in Markdown.")
def main(root: Path, against: Path | None, listed: bool, write: Path | None) -> None:
    """Measure, print, and write where requested."""
    roots = {"now": root} if against is None else {"before": against, "after": root}
    columns = {name: measured(path) for name, path in roots.items()}
    lines = table(columns)
    for name, sections in columns.items():
        click.echo("\n".join(listing(name, sections)) if listed else "", nl=listed)
    click.echo("\n".join(lines))
    if write is not None:
        introduction = INTRODUCTION.format(against=" --against EARLIER" if against else "")
        write.write_text(introduction + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
