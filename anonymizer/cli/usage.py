"""What click leaves out of its messages: what is missing is for, and how a command is called."""

import re

import click

ARGUMENTS = {
    "hierarchy": "a file, or a study and one of its attributes",
    "name": "what the two files of the keys are called",
    "part": "the table of one site",
    "release": "a directory that run wrote, or its release.json",
    "study": "the file that names the original table, the roles of its columns and the policy",
    "table": "a file, a folder or a database with the records",
}
"""What is missing where its help does not say it: arguments have none."""


def explained(error: click.UsageError) -> str:
    """The message of an error; where click made it, with a purpose and an example."""
    message, context = error.format_message(), error.ctx
    if context is None or error.cmd is None:  # raised by a command, in sentences of its own
        return message
    if isinstance(error, click.MissingParameter):
        return message.rstrip(".") + _purpose(error.param) + _example(context, error.param)
    if isinstance(error, click.NoSuchOption) and error.option_name in ("-v", "-vv", "--verbose"):
        example = "anonymizer --verbose run study.toml --output release"
        return f"{message} It goes before the command: {example}"
    if type(error) is click.UsageError:
        pieces = " ".join(filter(None, context.command.collect_usage_pieces(context)))
        return f"{message}; usage: {context.command_path} {pieces}{_example(context)}"
    return message


def _purpose(parameter: click.Parameter | None) -> str:
    """What a parameter is for, after a colon."""
    name, said = getattr(parameter, "name", ""), getattr(parameter, "help", None) or ""
    words = ARGUMENTS.get(name) or said[:1].lower() + said[1:].rstrip(".")
    return words and f": {words}"


def _example(context: click.Context, parameter: click.Parameter | None = None) -> str:
    """An example of a command's help, one with a parameter if there is one."""
    helps = [each.command.epilog or "" for each in (context, context.parent) if each]
    found = re.findall(rf"{re.escape(context.command_path)} .*", "\n".join(helps))
    options = set(parameter.opts if parameter else ())
    found.sort(key=lambda example: not options & {*example.split()})
    return f"; for example, {found[0]}" if found else ""
