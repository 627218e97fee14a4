"""The table of a session, counted once for each set of columns."""

from collections.abc import Hashable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock

from anonymizer.counts.counting import Counted
from anonymizer.errors import InputError
from anonymizer.explorer.answers.kept import KeptAnswers
from anonymizer.hierarchy import Hierarchy
from anonymizer.privacy import population_of
from anonymizer.profiling.profile import TableProfile, profile
from anonymizer.recoding import Problem, Watch, ignore
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.recoding import Task
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.place import read_raw
from anonymizer.release.relations import CountedTable
from anonymizer.release.request import require_unrehearsed
from anonymizer.release.study import Study
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import GivenFormat
from anonymizer.tables.files.opening import files_of

KEPT = 8
"""Sets of columns whose counts are kept: those of some steps back."""


ENCODED = 4
"""Tables whose encoding is kept, by objective: those of some hierarchies back."""


@dataclass(frozen=True, eq=False)
class CountedStudy:
    """A study, and its table as counts: all that a search needs.

    ``kept`` and ``encoded`` have what does not depend on the policy: how values are encoded.
    ``stamp`` tells the table from what its files hold later.
    """

    study: Study
    tally: Tally = field(repr=False)
    hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    kept: KeptAnswers[Counted] = field(default_factory=lambda: KeptAnswers(ENCODED), repr=False)
    encoded: KeptAnswers[Problem] = field(default_factory=lambda: KeptAnswers(ENCODED), repr=False)
    stamp: Hashable = field(default=None, repr=False)

    def anonymizer(self, watch: Watch = ignore) -> Anonymizer:
        """The estimator that the study describes, in one thread."""
        return self.study.anonymizer(1, watch)

    def task(self, watch: Watch = ignore) -> Task:
        """What its recoding is chosen for."""
        estimator = self.anonymizer(watch)
        people = population_of(estimator.models)
        described = tuple((name, str(each.describe())) for name, each in self.hierarchies.items())
        key = self.tally, self.study.schema, described, people
        counted = self.kept.get(
            key, lambda: Counted.of(self.tally, self.study.schema, self.hierarchies, people)
        )
        return estimator.task_of(counted)

    def problem(self, task: Task) -> Problem:
        """The problem that a task poses to a recoding that generalizes.

        Raises PolicyUnreachableError where no recoding can satisfy some model.
        """
        recoding = self.study.recoding
        assert isinstance(recoding, Generalization)
        counted = task.counted
        key = counted, repr(task.objective)
        encoded = self.encoded.get(
            key,
            lambda: recoding.problem(counted.counts, counted.taxonomies, (), task.objective),
        )
        problem = encoded.under(task.models, recoding.budget)
        problem.require_possible()
        return problem


class Counter:
    """Counts the tables of studies, each set of columns once."""

    def __init__(self) -> None:
        self._tallies: dict[Hashable, tuple[Tally, Mapping[str, Hierarchy]]] = {}
        self._lock = Lock()  # two answers may need the same counts
        self._kept: KeptAnswers[Counted] = KeptAnswers(ENCODED)
        self._encoded: KeptAnswers[Problem] = KeptAnswers(ENCODED)
        self._profile = lru_cache(2)(_profiled)

    def counted(self, study: Study, watch: Watch = ignore) -> CountedStudy:
        """A study with its table, counted now if it was not before.

        Raises InputError when the table cannot be read or lacks columns.
        """
        require_unrehearsed(study.document.search.against, "the explorer shows")
        stamp = stamp_of(study.data_path)  # before it is read: what comes later is another table
        key = _key(study), stamp
        with self._lock:
            if key not in self._tallies:
                self._keep(key, _tallied(study, watch))
            tally, settled = self._tallies[key]
        own = study.hierarchies
        grounds = {n: settled[n] if own[n].ground is not None else own[n] for n in own}
        return CountedStudy(study, tally, grounds, self._kept, self._encoded, stamp)

    def profile(self, path: Path, table: str | None, given: GivenFormat) -> TableProfile:
        """The profile of the table of a study, whatever roles this gives it; made once."""
        return self._profile(path, table, given, stamp_of(path))

    def _keep(self, key: Hashable, found: tuple[Tally, Mapping[str, Hierarchy]]) -> None:
        while len(self._tallies) >= KEPT:
            del self._tallies[next(iter(self._tallies))]
        self._tallies[key] = found


def stamp_of(table: Path) -> Hashable:
    """What changes when the files of a table do; None where they cannot be found."""
    try:
        found = [(path, path.stat()) for path in files_of(table)]
    except (OSError, ValueError, InputError):
        return None
    return tuple((path, each.st_mtime_ns, each.st_size, each.st_ino) for path, each in found)


def _key(study: Study) -> Hashable:
    """What the counts of a study's table depend on."""
    grounds = {
        name: str(each.describe())
        for name, each in study.hierarchies.items()
        if each.ground is not None
    }
    data = study.document.data.model_copy(update={"missing": "error"})
    return str(data), study.schema.columns, tuple(grounds.items())


def _tallied(study: Study, watch: Watch) -> tuple[Tally, Mapping[str, Hierarchy]]:
    schema = study.anonymizer(1, watch).schema
    with study.opened(watch) as table:
        watch("counting the table", 0, None)
        raw = CountedTable.of(table, schema.columns, study.hierarchies, study.data_format)
    assert isinstance(raw.table, Tally)
    return raw.table, raw.hierarchies


def _profiled(path: Path, table: str | None, given: GivenFormat, stamp: Hashable) -> TableProfile:
    """The same of the table with a stamp, which it is known by."""
    known = {name: value for name, value in vars(given).items() if name != "columns"}
    with ExitStack() as opened:
        raw, _ = opened.enter_context(read_raw(path, table, given.columns, known))
        return profile(raw)
