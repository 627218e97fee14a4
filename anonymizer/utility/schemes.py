"""Recodings of one table under one policy, each carried out on all of it, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.feedback.document import Display, Displayed, Points, Table, in_a_line
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import plural
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.recoding import Recoding, Task
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.frames import table_of
from anonymizer.release.relations import CountedTable
from anonymizer.release.request import RecodingName, require_unrehearsed
from anonymizer.release.results import Result
from anonymizer.release.study import Scheme, Study
from anonymizer.tables import engine
from anonymizer.tables.files import Format
from anonymizer.tables.relations.relation import Relation
from anonymizer.utility.figures import Figures, figures_of, require_figures

Given = engine.Table | Relation


@dataclass(frozen=True)
class Unreachable(Result):
    """A scheme whose search found nothing that satisfies the policy, and why."""

    name: str
    recoding: str
    reason: str


@dataclass(frozen=True, repr=False)
class SchemeComparison(Displayed, Result):
    """Schemes side by side: the figures of each, on one table and under one policy.

    Parameters
    ----------
    records
        The records that were admitted.
    about
        The sensitive attributes; information about several is summed.
    schemes
        The figures of each, in the order given.
    unreachable
        Schemes whose search found nothing.
    """

    records: int
    about: tuple[str, ...]
    schemes: tuple[Figures, ...]
    unreachable: tuple[Unreachable, ...]

    derived = ("best",)

    def __repr__(self) -> str:
        schemes = plural(len(self.schemes) + len(self.unreachable), "scheme")
        best = f"best {' and '.join(self.best)}" if self.best else "none satisfies the policy"
        return in_a_line(self, schemes, best)

    def display(self) -> Display:
        """A row for each scheme, and the classes that break the policy."""
        rows = [
            [
                each.name + (" *" if each.name in self.best else ""),
                len(each.classes),
                f"{each.retained:.4f}",
                "yes" if each.satisfied else f"NO: {', '.join(each.failing)}",
            ]
            for each in self.schemes
        ]
        return Display(
            "Comparison of schemes",
            [
                Points([f"{each.name}: {each.reason}" for each in self.unreachable[:3]], "warning"),
                f"On all {self.records:,} records; bits about {', '.join(self.about)}.",
                Table("Schemes", ["scheme", "classes", "bits retained", "holds"], rows),
            ],
        )

    @property
    def best(self) -> tuple[str, ...]:
        """The schemes that keep most, of those that satisfy the policy: several where they tie."""
        kept = {each.name: each.retained for each in self.schemes if each.satisfied}
        most = max(kept.values(), default=0.0)
        return tuple(name for name, bits in kept.items() if bits >= most - TOLERANCE)


def figures(anonymizer: Anonymizer, table: Any) -> Figures:
    """Measure what a recoding keeps, and what each of its classes tells.

    The recoding is fitted to the whole table as ``fit`` does. Levels that are given
    (:class:`Fixed`) are carried out whether or not they satisfy the policy. Nothing is released:
    numbers of a recoding that breaks the policy are for the owner of the table.

    Parameters
    ----------
    anonymizer
        What is requested.
    table
        The table: a DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.

    Raises
    ------
    InputError
        When table and parameters do not fit together, or no attribute is sensitive.
    PolicyUnreachableError
        When a search finds nothing that satisfies the policy.
    """
    return _figures(anonymizer, table_of(table), None, "recoding")


def figures_study(study: Study, *, n_jobs: int | None = None, watch: Watch = ignore) -> Figures:
    """Measure the recoding of a study, or of a scheme; errors as ``figures``."""
    anonymizer = study.anonymizer(n_jobs, watch)
    name = study.name if isinstance(study, Scheme) else study.path.stem
    naming = _named(name) if isinstance(study, Scheme) else nullcontext()
    with study.opened(watch) as table, naming:
        return _figures(anonymizer, table, study.data_format, name)


def _figures(anonymizer: Anonymizer, table: Given, form: Format | None, name: str) -> Figures:
    task = _Tasks(table, form).of(anonymizer)
    return figures_of(name, anonymizer.chosen_recoding, task)


def compare_schemes(
    anonymizer: Anonymizer, table: Any, schemes: Mapping[str, Recoding | RecodingName | Anonymizer]
) -> SchemeComparison:
    """Carry out several recodings on a whole table, and hold the policy against each.

    What is searched for is fitted to all records, and given levels (:class:`Fixed`) are carried out
    as they are: one that breaks the policy is shown with the classes that do. Nothing is released.

    Parameters
    ----------
    anonymizer
        What is requested; its ``recoding`` is replaced by each that is compared.
    table
        The table: a DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.
    schemes
        By its name each recoding, or the name of one; or an ``Anonymizer`` of the same roles and
        policy with hierarchies of its own.

    Raises
    ------
    InputError
        When table and parameters do not fit together.
    """
    chosen = {
        name: each if isinstance(each, Anonymizer) else replace(anonymizer, recoding=each)
        for name, each in schemes.items()
    }
    for name, each in chosen.items():
        if each.schema != anonymizer.schema or each.models != anonymizer.models:
            raise InputError(
                f"scheme {name!r} has other roles or another policy; schemes are compared under "
                "one: give it the columns and the models of the others"
            )
    return _compared(chosen, table_of(table), None)


def compare_schemes_study(
    study: Study,
    paths: Sequence[str | Path],
    *,
    n_jobs: int | None = None,
    watch: Watch = ignore,
) -> SchemeComparison:
    """Compare schemes of files on the table and under the policy of a study.

    Raises InputError when one of them cannot be carried out, or two have the same name.
    """
    schemes: dict[str, Scheme] = {}
    for path in paths:
        scheme = Scheme(path, study)
        if scheme.name in schemes:
            raise InputError(
                f"{schemes[scheme.name].path} and {path} are both named {scheme.name!r}; begin one "
                f'of them with a line such as name = "{scheme.name} 2"'
            )
        schemes[scheme.name] = scheme
    chosen = {name: scheme.anonymizer(n_jobs, watch) for name, scheme in schemes.items()}
    with study.opened(watch) as table:
        return _compared(chosen, table, study.data_format, watch)


def _compared(
    chosen: Mapping[str, Anonymizer], table: Given, form: Format | None, watch: Watch = ignore
) -> SchemeComparison:
    if not chosen:
        raise InputError("there are no schemes to compare: give at least one")
    tasks = _Tasks(table, form)
    found: list[Figures] = []
    unreachable: list[Unreachable] = []
    for place, (name, anonymizer) in enumerate(chosen.items()):
        watch("carrying out schemes", place, len(chosen))
        recoding = anonymizer.chosen_recoding
        try:
            with _named(name):
                task = tasks.of(anonymizer)
                found.append(figures_of(name, recoding, task))
        except PolicyUnreachableError as error:
            unreachable.append(Unreachable(name, recoding.name, str(error)))
    counted_table = task.counted
    return SchemeComparison(
        engine.records(counted_table.kept),
        counted_table.schema.sensitive,
        tuple(found),
        tuple(unreachable),
    )


class _Tasks:
    """A table, counted once for all recodings whose hierarchies are the same."""

    def __init__(self, table: Given, form: Format | None) -> None:
        self.table, self.form = table, form
        self._counted: list[tuple[object, CountedTable]] = []

    def of(self, anonymizer: Anonymizer) -> Task:
        """Return the task of an estimator."""
        require_figures(anonymizer.schema, anonymizer.chosen_recoding)
        require_unrehearsed(anonymizer.against, "a comparison shows")
        hierarchies = anonymizer.hierarchies
        described = [[name, each.describe()] for name, each in hierarchies.items()]
        if described not in [each for each, _ in self._counted]:
            raw = CountedTable.of(self.table, anonymizer.schema.columns, hierarchies, self.form)
            self._counted.append((described, raw))
        known = next(raw for each, raw in self._counted if each == described)
        if not anonymizer.chosen_recoding.searches:  # nothing to be limited
            anonymizer = replace(anonymizer, time_limit=None)
        return anonymizer.task(known.table, known.hierarchies)


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(f"scheme {name!r}: {error}") from None
