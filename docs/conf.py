"""How Sphinx builds the documentation."""

import re

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from anonymizer.cli import commands
from anonymizer.version import __version__

project = "anonymizer"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]

html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_title = f"anonymizer {version}"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

napoleon_use_ivar = True  # an attribute that is a property, too, is described once
autodoc_member_order = "bysource"
autodoc_typehints = (
    "none"  # types stand in the signatures of the source; the text says what is meant
)
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True


class CommandHelp(Directive):
    """The help of a command, as ``anonymizer NAME --help`` prints it."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A block of text."""
        name = self.arguments[0]
        group = click.Context(commands, info_name="anonymizer")
        command = commands.get_command(group, name)
        if command is None:
            raise self.error(f"there is no command {name}")
        context = click.Context(command, info_name=name, parent=group, max_content_width=78)
        for inner in self.arguments[1:]:
            command = command.get_command(context, inner)  # type: ignore[attr-defined]
            context = click.Context(command, info_name=inner, parent=context, max_content_width=78)
        text = command.get_help(context)
        return [nodes.literal_block(text, text, language="text")]


def as_meant(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Undo what is read into docstrings.

    Napoleon takes the words before a colon for the type of a property. ``|`` outside of literals is
    escaped: docstrings write p(x|y), and mean no substitution.
    """
    kinds = [line.removeprefix(":type: ") for line in lines if line.startswith(":type: ")]
    if what == "property" and kinds:
        lines[:] = [line for line in lines if not line.startswith(":type: ")]
        lines[0] = f"{kinds[0]}: {lines[0]}"
    lines[:] = [re.sub(r"(``.*?``)|\|", lambda found: found[1] or r"\|", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Register the directive and the hook; it comes after Napoleon's."""
    app.add_directive("command-help", CommandHelp)
    app.connect("autodoc-process-docstring", as_meant)
