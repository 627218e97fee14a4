"""Commands that check tables and releases: how they are called.

What carries them out is loaded when one runs.
"""

import click

from anonymizer.cli.options import (
    PATH,
    DirectoryType,
    carried_out,
    database_option,
    format_options,
    jobs_option,
    names_option,
    plot_option,
    redraw_option,
    several_option,
    show_values_option,
    strict_option,
    study_argument,
    study_option,
    subject_options,
    table_argument,
    weight_option,
)
from anonymizer.report.printing import printing


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer check table.csv --quasi-identifiers age,sex --sensitive diagnosis\n"
    "  anonymizer check table.csv --quasi-identifiers age,sex --require k-anonymity=5\n"
    "  anonymizer check table.csv --study study.toml --json\n"
    "  anonymizer check survey.csv --quasi-identifiers age,sex --weight weight "
    "--require k-map=100,population=weights\n"
    "  anonymizer check release"
)
@table_argument
@subject_options
@weight_option
@click.option(
    "--items",
    multiple=True,
    metavar="NAME=TEXT",
    help="A sensitive column whose cells list several items, and what stands between two of them, "
    "such as conditions=;. Repeatable.",
)
@click.option(
    "--require",
    multiple=True,
    metavar="MODEL=BOUND",
    help="A privacy model that has to hold, with ,NAME=VALUE for its other parameters; "
    "repeatable. `anonymizer models` lists them.",
)
@strict_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")
@carried_out("anonymizer.cli.risk")
def check() -> None:
    """Measure what a TABLE satisfies as it stands: largest k and l, smallest t, beta, delta.

    Nothing is recoded. Columns are named, or a study says which is what; of a release, which is a
    directory or the table in it, release.json does. Exits with 0 when the policy holds for every
    class, with 1 when not, or where --strict finds a warning, with 3 where the policy is about
    persons and TABLE does not show whose its records are. Column names alone are no policy:
    --require is one.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer lint study.toml\n"
    "  anonymizer lint study.toml 2026-11.csv --release release --sarif lint.sarif\n"
    "  anonymizer lint --safe-harbor patients.csv"
)
@click.argument("subject", type=PATH, metavar="STUDY")
@click.argument("table", type=PATH, required=False)
@click.option(
    *("--release", "-r"), type=PATH, help="The last release: what the study and TABLE change of it."
)
@click.option(
    "--safe-harbor",
    is_flag=True,
    help="Look in a TABLE or a release, given in place of STUDY, for the 18 identifiers of HIPAA, "
    "45 CFR 164.514(b)(2)(i), by name and by value.",
)
@click.option(
    "--census",
    type=PATH,
    help="A CSV file with zip codes, all of 5 or all of 3 digits, and the people who live there.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULE",
    help="A rule whose findings do not matter; repeatable.",
)
@click.option(
    "--sarif",
    type=PATH,
    help="A file that ends in .sarif, for the findings in SARIF, without figures of the table.",
)
@click.option("--force", is_flag=True, help="Replace the file of --sarif that already lies there.")
@database_option
@format_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@carried_out("anonymizer.cli.risk")
def lint() -> None:
    """Find what is doubtful in a STUDY, before anything is released.

    Keys that do nothing and policies that promise little; with a TABLE, the next one say, also
    columns without a role, values that no hierarchy lists and whatever warnings need no release;
    with --release what changed since then, and what keeps TABLE from being released alike. Without
    TABLE no table is read.

    Exits with 0 when nothing was found but notes, with 1 when something was, with 2 when the study
    cannot be carried out, with 3 when nothing was found and something could not be examined.
    """


@click.command(epilog="\b\nExamples:\n  anonymizer models\n  anonymizer models --presets")
@click.option(
    "--presets",
    is_flag=True,
    help="Print the policies that guidances name, as lines of a study, with their sources.",
)
def models(presets: bool) -> None:
    """Print every privacy model, as a Markdown table: what a study calls it and what it bounds."""
    if presets:
        from anonymizer.release.drafting import preset_lines  # loads pandas

        found = preset_lines()
    else:
        from anonymizer.privacy import MODELS, markdown  # loads pandas

        found = markdown(MODELS.every)
    with printing("the models were listed"):
        click.echo(found)


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer quality release --study study.toml\n"
    "  anonymizer quality release/released.csv --study study.toml --target diagnosis"
)
@table_argument
@study_option
@click.option(
    "--target",
    multiple=True,
    help="A column that classifiers predict; repeatable. By default what the study is about.",
)
@click.option("--no-classifiers", is_flag=True, help="Leave out what takes longest.")
@click.option(
    "--representative",
    type=click.Choice(["midpoint", "mean"]),
    default="midpoint",
    show_default=True,
    help="What number a range stands for.",
)
@click.option("--folds", type=int, default=5, show_default=True, help="Of the cross-validation.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the cross-validation.")
@click.option("--jobs", "n_jobs", type=int, help="Trees grown at once, as joblib counts them.")
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
@carried_out("anonymizer.cli.utility")
def quality() -> None:
    """Measure how much a released TABLE still says of the table of its STUDY.

    TABLE is a release of any kind: its directory, or the table in it. Both tables and release.json
    are read; TABLE has to be the recoding that it describes. Classifiers need scikit-learn, and are
    left out without it unless targets are named.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer compare study.toml\n"
    "  anonymizer compare study.toml --sweep t=0.3:0.9:0.1 --plot frontier.svg --jobs 2\n"
    "  anonymizer compare study.toml --schemes a1.toml a2.toml --plot schemes.svg"
)
@study_argument
@several_option(
    "schemes",
    "Files with a recoding and hierarchies of their own, which are carried out on all records.",
)
@click.option("--recoding", multiple=True, help="One to compare; repeatable. By default all.")
@click.option(
    "--sweep",
    multiple=True,
    metavar="NAME=from:to:step",
    help="Values that a parameter of the privacy models takes; repeatable: all combinations.",
)
@click.option("--seed", type=int, help="Of the random halves; by default the study's.")
@click.option("--jobs", "n_jobs", type=int, help="Recodings fitted at once, as joblib counts them.")
@plot_option
@redraw_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@carried_out("anonymizer.cli.utility")
def compare() -> None:
    """Compare recodings of the table of a STUDY: what each keeps on records it did not see.

    Each is fitted to a random half of the records and evaluated on the other half. Nothing is
    released. Exits with 1 when no recoding satisfies the policy on its half.

    With --schemes the recodings of these files are carried out on all records instead. One that
    breaks the policy is shown with the classes that do. Exits with 1 when none satisfies it.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer figures study.toml\n"
    "  anonymizer figures study.toml --scheme a1.toml --output a1.png"
)
@study_argument
@click.option("--scheme", type=PATH, help="A file with another recoding for the study's table.")
@click.option(
    *("--output", "-o"),
    type=PATH,
    help="A picture: .png, .svg or .pdf (matplotlib); by default STUDY-figures.svg, next to the "
    "study or the scheme. With --json none, unless it is given.",
)
@redraw_option
@jobs_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@carried_out("anonymizer.cli.utility")
def figures() -> None:
    """Draw what the recoding of a STUDY keeps, and what each class gives away.

    The recoding is searched for as run does, and nothing is released. Left are the bits in the
    original, those retained and lost, and what the policy allows; right are I1 and I2 of each
    class, against t and H(W) - log2 l. Fixed levels are drawn whether or not they satisfy the
    policy, with the classes that break it.

    Exits with 1 when the policy does not hold.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer estimate release --of age\n"
    "  anonymizer estimate release --of age --with diagnosis --method maximum-likelihood"
)
@click.argument("release", type=PATH)
@click.option("--of", required=True, metavar="ATTRIBUTE", help="One that was masked.")
@click.option("--with", "by", metavar="ATTRIBUTE", help="Another one, for the table of both.")
@click.option(
    "--method",
    type=click.Choice(["unbiased", "maximum-likelihood", "invariant"]),
    default="unbiased",
    show_default=True,
    help="The last takes what was released for the estimate, of a channel that leaves it alone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON.")
@carried_out("anonymizer.cli.utility")
def estimate() -> None:
    """Estimate the counts of an attribute before it was masked, with standard errors.

    RELEASE is a directory that run wrote, whose release.json describes the channels that some
    attributes were masked by.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer risk table.csv --quasi-identifiers age,sex --sensitive diagnosis\n"
    "  anonymizer risk table.csv --study study.toml --by attribute\n"
    "  anonymizer risk table.csv --study study.toml --by record --output risks.csv\n"
    "  anonymizer risk table.csv --quasi-identifiers age,sex --weight weight --household hhid\n"
    "  anonymizer risk table.csv --quasi-identifiers age,sex --suda --by record -o risks.csv"
)
@table_argument
@subject_options
@weight_option
@names_option("--household", "What tells whose household each record is of")
@click.option(
    "--by",
    type=click.Choice(["record", "class", "attribute"]),
    help="The risk of each; that of records goes to a file only.",
)
@click.option("--output", "-o", type=PATH, help="Details: .csv or .parquet.")
@click.option("--force", is_flag=True, help="Replace the file that already lies there.")
@click.option(
    "--size",
    type=click.IntRange(min=1),
    help="Of the subsets of attributes, at most: 2; of those of --suda all.",
)
@click.option(
    "--suda",
    is_flag=True,
    help="Find special uniques, which few of their values set apart, by SUDA2.",
)
@click.option(
    "--fraction",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The share of the population that TABLE is a sample of, for --suda: 0.01.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
@carried_out("anonymizer.cli.risk")
def risk() -> None:
    """Measure what an attacker who knows the quasi-identifiers learns from a TABLE as it stands.

    Nothing is recoded: TABLE may be a release or not. Metrics are of re-identification and of
    every sensitive attribute. Columns are named, or a study says which is what; of a release, a
    directory or the table in it, release.json does. Columns without a role are warned of where they
    identify.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer audit release --against people.csv --study study.toml\n"
    "  anonymizer audit release-2024 release-2025 --against people.csv\n"
    "  anonymizer audit a b --against 2024.csv --against 2025.csv --identifier patient"
)
@click.argument("release", type=PATH, nargs=-1, required=True)
@click.option(
    "--against",
    "-a",
    type=PATH,
    multiple=True,
    required=True,
    help="The original table; or that of each release, in their order.",
)
@click.option("--table", metavar="NAME", help="That of originals in a database, if it has several.")
@click.option("--identifier", help="The column that says in several originals who is who.")
@names_option(
    "--person",
    "What tells whose each record of the original is, where persons have several; by default what "
    "the release was made with",
)
@names_option(
    "--household",
    "What tells whose household each record of the original is of; by default what the release was "
    "made with",
)
@click.option(
    "--study",
    "-s",
    type=PATH,
    multiple=True,
    help="The study of all releases, or of each in their order; by default what release.json says.",
)
@click.option(
    "--similarity",
    multiple=True,
    metavar="ATTRIBUTE=HIERARCHY",
    help="A hierarchy of a sensitive attribute, whose groups are alike; repeatable.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Worlds that the minimality attack draws at the most.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of these draws."
)
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON.")
@carried_out("anonymizer.cli.risk")
def audit() -> None:
    """Attack RELEASEs, directories that run wrote, with the original table they were made of.

    Linkage, homogeneity, skewness, similarity, Bayes-optimal inference and, with the study,
    minimality on each. Of several releases also what their combination discloses about the people
    in them. Exits with 1 when the policy does not hold in a release or in the combination, cannot
    be proven to, or an attacker learns more than it allows; with 3 when it holds, and an attack
    could not be run.
    """


@click.command(
    name="query-loss",
    epilog="\b\nExamples:\n"
    '  anonymizer query-loss table.csv --query "age > 40" --group-by sex\n'
    "  anonymizer query-loss table.csv --query \"age between 30 and 39 and sex = 'Male'\"\n"
    "  anonymizer query-loss table.csv --group-by age,sex --about diagnosis --plot losses.svg",
)
@table_argument
@click.option(
    *("--query", "-q", "queries"),
    multiple=True,
    metavar="CONDITION",
    help="A question about a person, such as \"age > 40 and sex = 'Female'\"; repeatable. "
    "Columns are compared by = != < <= > >=, in (...), between ... and ..., is missing; conditions "
    "are joined by and, or, not and parentheses; texts stand in quotes.",
)
@click.option(
    "--group-by",
    multiple=True,
    metavar="NAME",
    help="A column whose value is the answer, or several with commas (their combination is); "
    "repeatable: each is a query of its own.",
)
@names_option("--about", "What is uncertain about a person; by default which record is theirs")
@click.option(
    "--missing",
    type=click.Choice(["category", "drop", "error"]),
    default="category",
    show_default=True,
    help="Records without a value: the answer unknown, left out, refused.",
)
@click.option(
    "--missing-values",
    multiple=True,
    metavar="TEXT",
    help="A text that stands for a missing value; repeatable. By default ?, NA and the like.",
)
@database_option
@format_options
@plot_option
@redraw_option
@click.option("--json", "as_json", is_flag=True, help="Print the losses as JSON.")
@carried_out("anonymizer.cli.risk")
def query_loss() -> None:
    """Measure the privacy that answers to queries about a person of a TABLE cost, in bits.

    Each query is measured, and all of them together: the average loss, its standard deviation, the
    largest and the smallest loss, and how many records those answers leave. Which records, or which
    values, is not shown. Nothing is written but the picture.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer certify study.toml --output certificate\n"
    "  anonymizer certify study.toml --check certificate\n"
    "  python certificate/optimum.py certificate table.csv"
)
@study_argument
@click.option("--output", "-o", type=DirectoryType(), help="The directory of the certificate.")
@click.option("--check", type=PATH, help="A certificate to hold against the study and its table.")
@jobs_option
@click.option("--force", is_flag=True, help="Replace the certificate that already lies there.")
@show_values_option
@carried_out("anonymizer.cli.export")
def certify() -> None:
    """Prove that no levels which satisfy the policy of a STUDY score higher than those of `run`.

    The directory has the certificate, the table as it was counted, and optimum.py, which examines
    the proof with NumPy alone and does not search. It has records of the raw table: it is for the
    steward and auditors, and goes to nobody who gets the release. For full-domain recoding.

    Exits with 0 when it is proven, with 1 when --check finds that it is not.
    """
