"""Commands that release tables, and hand releases on: how they are called.

What carries them out is loaded when one runs.
"""

import click

from anonymizer.cli.options import (
    PATH,
    Command,
    DirectoryType,
    carried_out,
    database_option,
    jobs_option,
    several_option,
    show_values_option,
    strict_option,
    study_argument,
    study_option,
)
from anonymizer.report.printing import printing

SIGNING = (
    click.option(
        "--sign",
        "key",
        type=PATH,
        metavar="KEY",
        help="Sign the release by the private key in this PEM file.",
    ),
    click.option("--as", "name", metavar="NAME", help="The series that a signed release is of."),
    click.option("--period", metavar="TEXT", help="The period that it is of, such as 2026-11."),
    click.option(
        "--after", type=PATH, metavar="RELEASE", help="The release of the series before this one."
    ),
)


def sign_options(command: Command) -> Command:
    """Add the options of a signature: the key, and which release of a series it is."""
    for option in reversed(SIGNING):
        command = option(command)
    return command


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer run study.toml --output release\n"
    "  anonymizer run study.toml --table february.csv --output february\n"
    "  anonymizer run study.toml --output release --sign steward.private.pem --as claims\n"
    "  anonymizer run study.toml --counts north.counts south.counts --output release"
)
@study_argument
@click.option(
    "--table", type=PATH, help="Another table in place of that of the study, such as next month's."
)
@several_option("counts", "Counts of parts, in place of a table: files of `anonymizer count`.")
@click.option("--output", "-o", type=DirectoryType(), required=True, help="Where the release goes.")
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
@jobs_option
@sign_options
@strict_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print release.json instead of a report.")
@carried_out("anonymizer.cli.releases")
def run() -> None:
    """Anonymize the table of a STUDY file (TOML) and write the release.

    Interrupting a search that takes long (Ctrl-C) ends it with the best recoding found so far, and
    says how much better another could be. Where the policy is out of reach, what stands in the way
    and the ways out go to standard error; where the result is drastic, what to change is printed.

    With --counts no table is read: the sum of the counts of its parts is anonymized, and the
    release has the counts of the released table. Each site recodes its part by it with
    `anonymizer apply --counts`.
    """


person_key_option = click.option(
    "--person-key",
    type=PATH,
    help="The key that all sites have, for a study with persons: pseudonyms are made with it.",
)


def _print_schema(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    """Print the JSON Schema of manifests, and end."""
    if given:
        from anonymizer.release.manifest.schema import SHIPPED  # loads pydantic

        with printing("the schema was printed"):
            click.echo(SHIPPED.read_text(encoding="utf-8"), nl=False)
        context.exit()


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer verify release\n"
    "  anonymizer verify release --key steward.public.pem --of claims --period 2026-11\n"
    "  anonymizer verify release/released.csv --study study.toml\n"
    "  anonymizer verify release --key steward.private.pem --original table.csv\n"
    "  anonymizer verify release --parts north-release south-release\n"
    "  anonymizer verify release --bundle for-recipients"
)
@click.argument("release", type=PATH)
@several_option("parts", "All parts that a release of counts is of: directories of `apply`.")
@click.option(
    "--key", type=PATH, help="The key of who released it, a PEM file: it must have signed it."
)
@click.option("--of", "name", metavar="NAME", help="The series that it must be signed as one of.")
@click.option("--period", metavar="TEXT", help="The period that it must be signed as one of.")
@click.option("--after", type=PATH, metavar="RELEASE", help="The release that it must come after.")
@click.option(
    "--original",
    type=PATH,
    help="The table that it was made of, to be compared; needs the private key.",
)
@click.option(
    "--counts",
    type=PATH,
    multiple=True,
    help="A file of counts that it was made of, where the policy is about persons; repeatable: "
    "all of them.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of release.json and exit.",
)
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release; needed where the manifest only has digests, or there is none.",
)
@click.option(
    "--person-key",
    type=PATH,
    help="The key of the pseudonyms of persons: with --original these are compared, too.",
)
@click.option(
    "--bundle",
    type=DirectoryType(),
    help="Also write verify.py, verify.sql and verify.html into this directory: they examine the "
    "release where anonymizer is not installed.",
)
@strict_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print differences, checks and verdicts.")
@carried_out("anonymizer.cli.releases")
def verify() -> None:
    """Hold a RELEASE, a released table or its directory, against its manifest.

    The table is recounted from scratch: checksum, columns, labels, counts and every figure of the
    manifest that the table alone can show. A table without a manifest is recounted under the policy
    of the study. With --parts the parts of a release of counts are counted again, too: their sum
    must be what was released.

    Exits with 0 when everything agrees and every model holds for every class, with 1 when not, or
    where --strict finds a warning in the manifest.
    """


@click.command(epilog="\b\nExample:\n  anonymizer demo --output demo-release")
@click.option(
    "--output",
    "-o",
    type=DirectoryType(),
    default="demo-release",
    show_default=True,
    help="Where the release goes.",
)
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
@carried_out("anonymizer.cli.releases")
def demo() -> None:
    """Anonymize the bundled census of invented people."""


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer apply january february.csv --output february\n"
    "  anonymizer apply january february.csv -o february --unseen suppress --suppression 0.02\n"
    "  anonymizer apply january 'february/*.parquet' -o february --parts 8 --memory 4GB\n"
    "  anonymizer apply january census.duckdb --table february -o february\n"
    "  anonymizer apply release north.csv --counts north.counts -s study.toml -o north"
)
@click.argument("release", type=PATH)
@click.argument("table", type=PATH)
@click.option("--output", "-o", type=DirectoryType(), required=True, help="Where the release goes.")
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release: its hierarchies place values that the manifest does not list.",
)
@click.option(
    "--unseen",
    type=click.Choice(["error", "any", "suppress"]),
    default="error",
    show_default=True,
    help="Values that the recoding does not cover: refuse, release as *, suppress their records.",
)
@click.option(
    "--suppression", type=float, help="Share of the records that may go; that of the release."
)
@click.option(
    "--counts",
    type=PATH,
    help="The counts of the TABLE, one of the parts that the release was made of: it is recoded as "
    "a part, whose policy is about all parts together. Needs the study.",
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out.")
@database_option
@click.option("--memory", metavar="SIZE", help="That is used at most, such as 4GB.")
@click.option(
    "--file",
    type=click.Choice(
        ["released.csv", "released.parquet", "released.dta", "released.sav", "released.xlsx"]
    ),
    help="The released table, in the format of its ending; by default that of the TABLE.",
)
@click.option(
    "--parts",
    type=click.IntRange(1, 10_000),
    metavar="NUMBER",
    help="Spread the released table over so many Parquet files, in a folder.",
)
@click.option(
    "--order",
    type=click.Choice(["random", "kept"]),
    default="random",
    show_default=True,
    help="That of the released records: a random one, or that of the TABLE.",
)
@click.option(
    *("--key", "signed_by"), type=PATH, help="The key of who released it: it must have signed it."
)
@click.option(
    "--person-key",
    type=PATH,
    help="The key of pseudonyms of persons: that of the release, where it has some; of a part, "
    "that of all sites.",
)
@sign_options
@strict_option
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print release.json instead of a report.")
@carried_out("anonymizer.cli.releases")
def apply() -> None:
    """Recode a TABLE as a RELEASE was, recount it under the same policy, and write the result.

    RELEASE is a directory, its released table or its release.json. TABLE is a file, several files,
    as a folder or a pattern in quotes has them, or a database. Values that were not there
    before are placed by the rules of the hierarchies and by the groups that the release lists.
    """


@click.command(
    epilog="\b\nExample:\n  anonymizer count north.csv --study study.toml --output north.counts"
)
@click.argument("part", type=PATH)
@study_option
@click.option("--output", "-o", type=PATH, required=True, help="The file that gets the counts.")
@person_key_option
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@show_values_option
@carried_out("anonymizer.cli.releases")
def count() -> None:
    """Count a PART of a table, as a study has it, for a steward who adds up the counts of all.

    The file has the combinations of values of the columns with a role and the number of records of
    each, nothing else. It is as sensitive as the table; its owner alone can read it. Where people
    have several records, each stands under a pseudonym there, made with the key of all sites.
    """


@click.command(epilog="\b\nExample:\n  anonymizer keys steward")
@click.argument("name", type=PATH)
@carried_out("anonymizer.cli.releases")
def keys() -> None:
    """Make a pair of keys for signatures: NAME.private.pem and NAME.public.pem.

    Keep the private key to yourself, and give the public one to who receives releases, by another
    way than the releases. ANONYMIZER_KEY_PASSPHRASE in the environment encrypts the private key.
    Keys that are there already are never replaced.
    """


@click.command(epilog="\b\nExample:\n  anonymizer sign release --key steward.private.pem")
@click.argument("release", type=PATH)
@click.option("--key", type=PATH, required=True, help="The private key, a PEM file.")
@click.option("--force", is_flag=True, help="Replace a signature by another key.")
@carried_out("anonymizer.cli.releases")
def sign() -> None:
    """Sign a RELEASE that stands: its release.json, which has the checksum of the table.

    The signature is release.json.sig, next to it. The passphrase of an encrypted key is in the
    environment, as ANONYMIZER_KEY_PASSPHRASE.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer export release --sql -o release.sql\n"
    "  anonymizer export release --sql --select\n"
    "  anonymizer export release --csv -o mapping\n"
    "  anonymizer export release --arx --values table.csv -o hierarchies"
)
@click.argument("release", type=PATH)
@click.option(
    "--sql",
    "forms",
    flag_value="sql",
    multiple=True,
    help="SQL: CASE and a join, one file.",
)
@click.option(
    "--csv", "forms", flag_value="csv", multiple=True, help="Mapping files to read, in a directory."
)
@click.option(
    "--arx", "forms", flag_value="arx", multiple=True, help="Hierarchies of ARX, in a directory."
)
@click.option(
    *("--output", "-o"), type=PATH, help="The file or directory written; --sql without it prints."
)
@click.option("--select", is_flag=True, help="With --sql: the query alone, for a view or dbt.")
@click.option("--table", help="With --sql: the raw table's name.  [default: people]")
@click.option("--into", help="With --sql: the released table's name.  [default: released]")
@click.option(
    "--dialect",
    type=click.Choice(
        ["standard", "duckdb", "postgresql", "sqlite"]  # noqa: RUF005
        + ["mysql", "snowflake", "bigquery", "sqlserver", "spark"]
    ),
    help="With --sql: the database that runs it.  [default: standard]",
)
@click.option("--values", type=PATH, help="With --arx: a table whose values are listed.")
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release; needed where its values are too many for the manifest.",
)
@click.option("--force", is_flag=True, help="Replace the files that are there.")
@carried_out("anonymizer.cli.export")
def export() -> None:
    """Write the recoding of a RELEASE for other tools: SQL, mapping files or hierarchies of ARX.

    The SQL makes the very same release in a database. Needs the directory of the release alone.
    Recodings that draw at random are refused.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer report release\n"
    "  anonymizer report release --steward --study study.toml --output report.pdf\n"
    "  anonymizer report release --markdown --output -\n"
    "  anonymizer report release --for ema --docx\n"
    "  anonymizer report release --key steward.public.pem"
)
@click.argument("release", type=PATH)
@click.option("--html", "forms", flag_value="html", multiple=True, help="A web page, the default.")
@click.option("--markdown", "forms", flag_value="markdown", multiple=True, help="Without pictures.")
@click.option("--pdf", "forms", flag_value="pdf", multiple=True, help="On sheets of A4.")
@click.option("--docx", "forms", flag_value="docx", multiple=True, help="For word processors.")
@click.option(
    *("--for", "template"),
    type=click.Choice(["ema", "health-canada", "hipaa-expert", "wp216", "iso-27559", "dpia"]),
    help="The paper that these reviewers require, with every field of it: filled where the release "
    "answers it, marked where its steward has to write.",
)
@click.option(
    *("--output", "-o"),
    type=PATH,
    help="Where the page goes, - for standard output; by default RELEASE-report.html, or .md, "
    ".pdf or .docx, next to the release, with --for ema RELEASE-ema.html, with --steward "
    "RELEASE.steward.html. Such a suffix chooses the form.",
)
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release: with --steward compares the recodings that could have been "
    "taken or, with --for, measures the risk of the original and attacks the release. Its table is "
    "read for that.",
)
@click.option(
    "--key",
    type=PATH,
    help="The public key of who released it, a PEM file: it must have signed the release.",
)
@click.option(
    "--steward",
    is_flag=True,
    help="With the figures of the original table, from RELEASE.steward.json next to the release: "
    "for its steward alone.",
)
@click.option("--force", is_flag=True, help="Replace the page that already lies there.")
@show_values_option
@carried_out("anonymizer.cli.export")
def report() -> None:
    """Write a RELEASE, a directory that run wrote, as one page for people to read.

    What was released under which policy, in sentences; what the policy does not protect from; what
    was changed, what is kept, the risk, and how to verify all that. The release is verified first,
    and everything on the page is in it: no record is shown, and no figure of the original table
    but with --steward. The page needs no network.

    Exits with 1 when the release does not hold, or is not signed by the --key.
    """
