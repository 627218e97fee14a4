"""What README and docs say of the code is so, and they say it of all of it."""

import dataclasses
import re
import runpy
import shlex
import tomllib

import click
import pytest
from pages import PAGES, ROOT
from test_architecture import FLOORS

import anonymizer
from anonymizer.cli import commands
from anonymizer.objectives import OBJECTIVES
from anonymizer.privacy import MODELS, markdown
from anonymizer.recoding import STRATEGIES
from anonymizer.release.warnings import WARNINGS, warnings_markdown

DOCS = ROOT / "docs"
README = ROOT / "README.md"
MOST_BYTES = 9_000
GROUP = click.Context(commands, info_name="anonymizer")
COMMANDS = commands.list_commands(GROUP)
METHODS = ("recodings.md", "random.md")
"""The pages with a row for each recoding."""


def marked(page: str, name: str) -> str:
    """The table of a page between the comments of a name."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (table,) = re.findall(rf"<!-- {name} -->\n(.*)\n<!-- end of {name} -->", text, re.DOTALL)
    return table


def rows(table: str) -> list[list[str]]:
    """The cells of a Markdown table without its head."""
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in table.splitlines()[2:]
    ]


def options_of(kind: type) -> set[str]:
    """What a study may say of a recoding: its fields; its search strategy stands elsewhere."""
    names = {item.name for item in dataclasses.fields(kind)} - {"search"}
    return {name.replace("_", "-") for name in names}


def row_of(kind: type) -> str:
    """The row of a recoding."""
    options = ", ".join(f"`{option}`" for option in sorted(options_of(kind)))
    return f"| `{kind.name}` | `{kind.__name__}` | {options} |"


def test_the_readme_is_short():
    assert README.stat().st_size <= MOST_BYTES


def test_nothing_says_to_install_the_name_that_is_anothers():
    """The package index has another anonymizer: an extra is installed from a checkout."""
    files = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "pyproject.toml"]
    files += [*(ROOT / "anonymizer").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    named = 0
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"anonymizer\[[a-z]|\binstall(?: -\S+)* ['\"]?anonymizer\b", text), (
            path
        )
        found = re.findall(r"'\.\[(\w+)\]'", text)
        assert {*found} <= {*extras}, path
        named += len(found)
    assert named > 5


def test_the_table_of_models_is_that_of_the_code():
    table = marked("models.md", "models")
    assert table == markdown(MODELS.values())
    assert all(f"`{name}`" in table for name in MODELS)


def test_the_table_of_warnings_is_that_of_the_code():
    table = marked("warnings.md", "warnings")
    assert table == warnings_markdown()
    assert all(f"`{code}`" in table for code in WARNINGS)


def test_the_table_of_objectives_is_that_of_the_code():
    found = {
        name.strip("`"): kind.strip("`")
        for name, kind, *_ in rows(marked("objectives.md", "objectives"))
    }
    assert found == {name: kind.__name__ for name, kind in OBJECTIVES.items()}


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_is_in_its_table(name):
    text = (DOCS / "recodings.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| .*`{name}`", text, flags=re.MULTILINE)


@pytest.mark.parametrize("page", METHODS)
def test_the_options_of_recodings_are_those_of_the_code(page):
    for method, name, options in rows(marked(page, "recodings")):
        kind = getattr(anonymizer, name.strip("`"))
        assert kind.name == method.strip("`")
        assert set(re.findall(r"`([^`]+)`", options)) == options_of(kind)


def test_every_recoding_has_a_row():
    from anonymizer.release.request import RECODINGS

    found = [
        method.strip("`") for page in METHODS for method, *_ in rows(marked(page, "recodings"))
    ]
    lacking = [row_of(kind) for name, kind in RECODINGS.items() if name not in found]
    assert not lacking, f"a row of docs/recodings.md or docs/random.md: {lacking}"
    assert sorted(found) == sorted(RECODINGS)


def test_every_random_option_is_explained():
    text = (DOCS / "random.md").read_text(encoding="utf-8")
    for _, name, _ in rows(marked("random.md", "recodings")):
        for option in options_of(getattr(anonymizer, name.strip("`"))):
            assert re.search(rf"^\| `{option}` \|", text, flags=re.MULTILINE), option


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_shows_an_example_that_it_understands(name):
    command = commands.get_command(GROUP, name)
    shown = command.get_help(click.Context(command, info_name=name, parent=GROUP))
    examples = re.findall(rf"^(?!Usage:).*\banonymizer {name}\b(.*)$", shown, flags=re.MULTILINE)
    assert examples
    for example in examples:
        command.make_context(name, shlex.split(example))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_reference(name):
    text = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert f"```{{command-help}} {name}\n" in text


def test_every_public_name_is_in_the_reference_once():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    found = re.findall(r"^\.\. auto\w+:: anonymizer\.(\w+)$", text, flags=re.MULTILINE)
    assert sorted(found) == sorted(set(anonymizer.__all__) - {"__version__"})


def test_the_reference_reads_on_a_forge_as_it_stands():
    """If it does not: ``python docs/names.py`` writes it anew."""
    table = runpy.run_path(str(DOCS / "names.py"))["table"]()
    assert table == marked("reference/index.md", "names")
    assert (
        "| `KAnonymity(k)` | Every record shares its quasi-identifiers with at least k - 1" in table
    )
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(lines) > len(anonymizer.__all__) + len(COMMANDS)
    assert not [line for line in lines if not re.fullmatch(r"\| `[^`|]+` \| .{10,}[^.]\. \|", line)]


@pytest.mark.parametrize("command", ["demo", "test", "docs"])
def test_the_commands_of_make_exist(command):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"make {command}" in README.read_text(encoding="utf-8")
    assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_leads_nowhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


def test_every_result_that_is_cited_exists():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for cited in re.findall(r"`(benchmarks/results/[\w/]+\.md)`", text):
            assert (ROOT / cited).exists(), f"{page}: {cited}"
    for *_, cited in rows(figures()):
        assert (ROOT / "benchmarks" / "results" / cited.strip("`")).exists(), cited


def figures() -> str:
    """The table of times."""
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    return re.search(r"^\| work \|.*?(?=\n\n)", text, re.DOTALL | re.MULTILINE)[0]


def test_the_rooms_are_those_of_the_architecture():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- rooms -->\n(.*)\n<!-- end of rooms -->", text, re.DOTALL)
    found = {(int(floor), room.strip("`")) for floor, room, _ in rows(table)}
    assert found == {(i, room) for i, floor in enumerate(FLOORS, 1) for room in floor}
