"""Write a line on each public name and command into docs/reference/index.md: python docs/names.py.

A forge shows that page as it stands; the other pages of the reference need the site, ``make docs``.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from anonymizer.cli import commands

REFERENCE = Path(__file__).parent / "reference"
PAGES = ("estimator", "recodings", "models", "objectives", "errors", "packages")
BUILT = ("recodings", "models", "objectives")
"""Pages of classes that a reader makes by calling them."""

MOST_SHOWN = 6
"""Parameters that a line has at the most, those without a default apart."""

DIRECTIVE = re.compile(r"^\.\. auto(\w+):: (anonymizer[\w.]*)\.(\w+)$", re.MULTILINE)
COMMAND = re.compile(r"^```\{command-help\} (.+)$", re.MULTILINE)


def table() -> str:
    """The lines in Markdown, in the order of the pages."""
    parts = [line for page in PAGES for line in _of_page(page)]
    return "\n".join([*parts, *_of_commands()])


def _of_page(page: str) -> Iterator[str]:
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    yield from (f"### [{text.partition(chr(10))[0].removeprefix('# ')}]({page}.md)", "")
    yield from ("| name | is |", "|---|---|")
    for kind, module, name in DIRECTIVE.findall(text):
        found = getattr(import_module(module), name)
        shown = name if module == "anonymizer" else f"{module.partition('.')[2]}.{name}"
        called = kind == "function" or page in BUILT
        yield f"| `{shown}{_parameters(found) if called else ''}` | {_sentence(found.__doc__)} |"
    yield ""


def _of_commands() -> Iterator[str]:
    yield from ("### [Commands](commands.md)", "", "| command | does |", "|---|---|")
    for names in COMMAND.findall((REFERENCE / "commands.md").read_text(encoding="utf-8")):
        command: click.Command | None = commands
        for name in names.split():
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), name)
        assert command is not None
        yield f"| `anonymizer {names}` | {_sentence(command.help)} |"


def _parameters(found: object) -> str:
    """The parameters of a call by name, those with a default after an equals sign."""
    given = inspect.signature(found).parameters.values()  # type: ignore[arg-type]
    names = [
        each.name if each.default is each.empty else f"{each.name}="
        for each in given
        if each.kind is not each.VAR_KEYWORD
    ]
    shown, more = names[:MOST_SHOWN], names[MOST_SHOWN:]
    return f"({', '.join([*shown, *(['...'] if more else [])])})"


def _sentence(text: str | None) -> str:
    """The first sentence, its code as Markdown has it."""
    whole = " ".join(inspect.cleandoc(text or "").partition("\n\n")[0].split())
    first = re.split(r"(?<=[a-z0-9)\]`])\.(?= [A-Z]|$)", whole)[0].rstrip(".:")
    code = re.sub(r":\w+:`~?([^`]+)`|``(.+?)``", lambda found: f"`{found[1] or found[2]}`", first)
    plain = re.split(r"(`[^`]+`)", code)
    plain[::2] = [re.sub(r"[*~]", r"\\\g<0>", part) for part in plain[::2]]
    return f"{''.join(plain)}.".replace("|", r"\|")


if __name__ == "__main__":
    page = REFERENCE / "index.md"
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- names -->\n", "\n<!-- end of names -->"
    head, rest = text.split(begin)
    page.write_text(head + begin + table() + end + rest.split(end)[1], encoding="utf-8")
