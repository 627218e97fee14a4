"""The command line. Exit codes: 0 all is well, 1 the policy does not hold, 2 unusable input."""

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from anonymizer.errors import AnonymizerError, InputError
from anonymizer.interrupts import ends_as_interrupts, never_lost
from anonymizer.version import __version__

__all__ = ["main"]

DEBUG = "ANONYMIZER_DEBUG"
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Every error becomes one line on standard error and the exit code it stands for. An error that
    nobody foresaw says where it came from but not what it says, since its text may quote the data;
    ``ANONYMIZER_DEBUG`` in the environment lets it through with its traceback.
    """
    _write_anything(sys.stdout, sys.stderr)
    try:
        with ends_as_interrupts():
            code = commands.main(arguments, prog_name="anonymizer", standalone_mode=False) or 0
    except AnonymizerError as error:
        code = _complain(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        code = error.exit_code
    except click.ClickException as error:
        code = _complain(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = _complain("interrupted; nothing was written", INTERRUPTED)
    except MemoryError:
        code = _complain("out of memory; nothing was written", 2)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        code = _complain(
            f"internal error, {_place(error)}; {DEBUG}=1 shows it; please report it", 2
        )
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="anonymizer")
def commands() -> None:
    """Release microdata safely and lose as little information as possible doing it."""


@commands.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, help="Where the release goes."
)
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
@click.option("--jobs", type=int, help="Nodes checked at once, as joblib counts them.")
@click.option("--json", "as_json", is_flag=True, help="Print release.json instead of a report.")
def run(study: Path, output: Path, force: bool, jobs: int | None, as_json: bool) -> None:
    """Anonymize the table of a STUDY file (TOML) and write the release.

    Interrupting a search that takes long (Ctrl-C) ends it with the best recoding found so far, and
    says how much better another could be.
    """
    from anonymizer.publish import publish
    from anonymizer.report import print_release, progress
    from anonymizer.study import Study

    with progress() as shown, never_lost(shown) as watch:
        release, manifest = publish(Study(study), output, force=force, n_jobs=jobs, watch=watch)
    with _printing(f"the release stands in {output}"):
        if as_json:
            _print_json(manifest)
        else:
            print_release(release, output)


@commands.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--study", "-s", type=click.Path(path_type=Path), required=True, help="The study file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def verify(table: Path, study: Path, as_json: bool) -> int:
    """Recount a released TABLE from scratch and hold a study's policy against it.

    Exits with 0 when every model holds for every class, with 1 when not.
    """
    from anonymizer.publish import verify_file
    from anonymizer.report import print_verdicts
    from anonymizer.study import Study

    verdicts = verify_file(Study(study), table)
    with _printing("the table was verified"):
        if as_json:
            _print_json({"privacy": [verdict.to_dict() for verdict in verdicts]})
        else:
            print_verdicts(verdicts)
    return 0 if all(verdict.satisfied for verdict in verdicts) else 1


@commands.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--study", "-s", type=click.Path(path_type=Path), required=True, help="The study file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")
def check(table: Path, study: Path, as_json: bool) -> int:
    """Measure what a TABLE satisfies as it stands: largest k and l, smallest t, beta, delta.

    Nothing is recoded. Exits with 0 when the policy of the study holds for every class, with 1 when
    not.
    """
    from anonymizer.publish import check_file
    from anonymizer.report import print_check
    from anonymizer.study import Study

    found = check_file(Study(study), table)
    with _printing("the table was checked"):
        if as_json:
            _print_json(found.to_dict())
        else:
            print_check(found)
    return 0 if found.satisfied else 1


@commands.command()
def models() -> None:
    """Print every privacy model, as a Markdown table: what a study calls it and what it bounds."""
    from anonymizer.privacy import MODELS, markdown

    with _printing("the models were listed"):
        click.echo(markdown(MODELS.values()))


@commands.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--study", "-s", type=click.Path(path_type=Path), required=True, help="The study file."
)
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
@click.option("--jobs", type=int, help="Trees grown at once, as joblib counts them.")
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
def quality(
    table: Path,
    study: Path,
    target: tuple[str, ...],
    no_classifiers: bool,
    representative: str,
    folds: int,
    seed: int,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Measure how much a released TABLE still says of the table of its STUDY.

    Both tables and the release.json beside the released one are read; TABLE has to be the
    recoding that it describes. Classifiers need scikit-learn, and are left out without it unless
    targets are named.
    """
    from anonymizer.quality import measure_file
    from anonymizer.report import print_quality, progress
    from anonymizer.study import Study

    if target and no_classifiers:
        raise click.UsageError("--target is about classifiers: leave out --no-classifiers")
    with progress() as watch:
        found = measure_file(
            Study(study),
            table,
            targets=() if no_classifiers else target or None,
            folds=folds,
            seed=seed,
            representative=representative,
            n_jobs=jobs,
            watch=watch,
        )
    with _printing("the release was measured"):
        if as_json:
            _print_json(found.to_dict())
        else:
            print_quality(found)


@commands.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--recoding", multiple=True, help="One to compare; repeatable. By default all.")
@click.option(
    "--sweep",
    multiple=True,
    metavar="NAME=from:to:step",
    help="Values that a parameter of the privacy models takes; repeatable: all combinations.",
)
@click.option("--seed", type=int, help="Of the random halves; by default the study's.")
@click.option("--jobs", type=int, help="Recodings fitted at once, as joblib counts them.")
@click.option(
    "--plot", type=click.Path(path_type=Path), help="A picture: .png, .svg or .pdf (matplotlib)."
)
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(
    study: Path,
    recoding: tuple[str, ...],
    sweep: tuple[str, ...],
    seed: int | None,
    jobs: int | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Compare recodings of the table of a STUDY: what each keeps on records it did not see.

    Each is fitted to a random half of the records and evaluated on the other half. Nothing is
    released. Exits with 1 when no recoding satisfies the policy on its half.
    """
    from anonymizer.comparison import compare_study, sweep_of
    from anonymizer.report import picture_at, print_comparison, progress
    from anonymizer.study import Study

    draw = plot and picture_at(plot, force=force)
    swept = sweep_of(sweep)
    with progress() as shown, never_lost(shown) as watch:
        found = compare_study(
            Study(study),
            recodings=recoding or None,
            sweep=swept,
            seed=seed,
            n_jobs=jobs,
            watch=watch,
        )
    if draw and found.fits:
        draw(found)
    with _printing("the recodings were compared"):
        if as_json:
            _print_json(found.to_dict())
        else:
            print_comparison(found, plot)
    return 0 if found.fits else 1


@commands.command()
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default=Path("demo-release"),
    show_default=True,
    help="Where the release goes.",
)
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
def demo(output: Path, force: bool) -> None:
    """Anonymize the bundled census of invented people."""
    from anonymizer.datasets import load_census, shipped
    from anonymizer.publish import publish
    from anonymizer.report import print_ladder, print_release, progress
    from anonymizer.reproduce.bezzi2010 import Experiment
    from anonymizer.study import Study

    with progress() as watch:
        study = Study(shipped("data", "demo.toml"))
        release, _ = publish(study, output, force=force, watch=watch)
    with _printing(f"the release stands in {output}"):
        print_ladder(Experiment.on(load_census()).ladder())
        print_release(release, output)


@commands.command()
@click.argument("paper", type=click.Choice(["bezzi2010"]))
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def reproduce(paper: str, as_json: bool) -> None:
    """Compute a PAPER's experiment anew and print it beside what was published."""
    from anonymizer.report import print_rows
    from anonymizer.reproduce import EXPERIMENTS

    title, rows = EXPERIMENTS[paper]()
    with _printing("the experiment was computed"):
        if as_json:
            _print_json([row.to_dict() for row in rows])
        else:
            print_rows(title, rows)


@contextmanager
def _printing(done: str) -> Iterator[None]:
    """Print what was done; a reader that went away is no error, a full disk one of printing."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"{done}, but cannot be reported: {error.strerror}") from None


def _write_anything(*streams: object) -> None:
    """Let streams spell out what their encoding lacks (in a path, say) instead of failing."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _print_json(content: object) -> None:
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))


def _complain(message: str, code: int) -> int:
    line = " ".join(message.split())
    click.echo(f"anonymizer: {line}", err=True)
    return code


def _place(error: BaseException) -> str:
    """The kind of an error and the line of ours nearest to it; not its text."""
    trace, place = error.__traceback__, ""
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(Path(__file__).parent):
            place = f" at {path.relative_to(Path(__file__).parent)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return type(error).__name__ + place
