"""What is done with a case, and what has to hold of whatever comes of it."""

import contextlib
import csv
import io
import json
import shutil
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pyarrow as pa
from forked import unwarned

from anonymizer import Anonymizer, AnonymizerError, Hierarchy, Population
from anonymizer.cli import main
from anonymizer.objectives import objective_of
from anonymizer.privacy import MODELS
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.publish import publish
from anonymizer.release.request import RECODINGS
from anonymizer.release.study import Study

from .readers import texts_of
from .recount import FORGIVEN
from .reread import people_of, recounted
from .studies import LONE, MARK, Case, frame_of, lay

__all__ = ["Hang", "Outcome", "command", "exercise", "keep", "limited"]

SECONDS = 20
"""A case that takes longer hangs: the slowest takes 3 on a busy machine."""


class Hang(BaseException):
    """A case took too long."""


@dataclass
class Outcome:
    """What came of a case: how it ended, what was counted, and what did not hold."""

    name: str
    ended: str
    recoding: str = ""
    models: Sequence[str] = ()
    readers: Counter = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)

    def fail(self, kind: str, detail: str) -> None:
        """Something does not hold."""
        self.failures.append((kind, " ".join(detail.split())[:400]))


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise ``Hang`` when the time is over; 0: never."""

    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def command(*arguments: object) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, standard output and error."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), error.getvalue()


def exercise(case: Case, directory: Path, seconds: float = SECONDS) -> Outcome:
    """Carry out a case in an empty directory and hold everything against what comes of it."""
    models = [str(stated["model"]) for stated in case.document["privacy"]]
    outcome = Outcome(case.name, "", case.recoding, models)
    study = lay(case, directory)
    before = set(directory.rglob("*"))
    try:
        with limited(seconds):
            run = _frame if case.route == "frame" else _file
            outcome.ended, message = run(case, study, outcome)
            _complaint(case, message, outcome)
            _leftovers(case, directory, before, outcome)
            if outcome.ended == "released":
                _released(case, study, outcome)
            _explored(case, study, outcome)
    except Hang:
        outcome.ended = "hang"
        outcome.fail("hang", f"took more than {seconds} s")
    return outcome


# Carrying it out


def _file(case: Case, study: Path, outcome: Outcome) -> tuple[str, str]:
    """A study file; one in eight by the command line."""
    target = study.parent / "out"
    if case.rng.random() < 1 / 8:
        code, _, message = command("run", study, "--output", target)
        # a policy out of reach comes with its ways out, a line each; a refusal is one line
        if code not in (0, 1, 2) or (code == 2 and len(unwarned(message).splitlines()) != 1):
            outcome.fail("exit", f"exit code {code}, standard error: {message}")
        if "internal error" in message or "Traceback" in message:
            outcome.fail("internal error", message)
        return ENDS.get(code, "other"), message
    return _guarded(lambda: publish(Study(study), target), outcome)


ENDS = {0: "released", 1: "unreachable", 2: "refused"}


def _guarded(call, outcome: Outcome) -> tuple[str, str]:
    """How a call ended; an error that is not the library's own is a failure."""
    try:
        call()
    except AnonymizerError as error:
        return ENDS[error.exit_code], str(error)
    except Exception as error:
        outcome.fail(f"internal error: {place_of(error)}", f"{type(error).__name__}: {error}")
        return "internal error", ""
    return "released", ""


def place_of(error: BaseException) -> str:
    """The kind of an error and the line of the library nearest to it."""
    trace, place = error.__traceback__, "?"
    while trace:
        path = trace.tb_frame.f_code.co_filename
        if "/anonymizer/" in path and "site-packages" not in path:
            place = f"{path.rpartition('/anonymizer/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


def _frame(case: Case, study: Path, outcome: Outcome) -> tuple[str, str]:
    """A DataFrame, released as CSV and, where its types allow it, as Parquet."""

    def call() -> None:
        anonymizer = Anonymizer(**parameters(case, study.parent))
        released = anonymizer.fit_transform(frame_of(case))
        (study.parent / "out").mkdir()
        quoting = csv.QUOTE_ALL if len(released.columns) == 1 else csv.QUOTE_NONNUMERIC
        released.to_csv(study.parent / "out" / "released.csv", index=False, quoting=quoting)
        if not _mixes(released):
            with contextlib.suppress(pa.ArrowException, OverflowError):  # numbers beyond 64 bits
                released.to_parquet(study.parent / "out" / "released.parquet", index=False)
        release = anonymizer.release_
        for place, of in (("out/release", release), ("out.steward", release.steward_manifest)):
            manifest = json.dumps(of.to_dict(), allow_nan=False)
            (study.parent / f"{place}.json").write_text(manifest)

    return _guarded(call, outcome)


def _mixes(table: pd.DataFrame) -> bool:
    """Whether a column mixes types: pandas then refuses, or chooses one, when it writes Parquet."""
    columns = (table[name] for name in table.columns)
    return any(len({type(v) for v in column if not _is_none(v)}) > 1 for column in columns)


def _is_none(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT


def parameters(case: Case, directory: Path) -> dict[str, object]:
    """What the Python interface is given for the document of a case."""
    document = case.document
    objective, search = document.get("objective", {}), document.get("search", {})
    options = {key.replace("-", "_"): value for key, value in document.get("recoding", {}).items()}
    kind = RECODINGS[options.pop("method", "full-domain")]
    if "strategy" in search:
        options["search"] = search["strategy"]
    target = objective.get("target")
    return {
        "quasi_identifiers": {
            name: Hierarchy.of(file, directory)
            for name, file in document["quasi-identifiers"].items()
        },
        "sensitive": document.get("sensitive", {}).get("attributes", ()),
        "identifiers": document["identifiers"]["attributes"],
        "privacy": _models(document["privacy"], directory),
        "missing": document["data"].get("missing", "error"),
        "recoding": kind(**options),
        "against": search.get("against"),
        "odds": search.get("odds"),
        "objective": objective_of(
            objective.get("name", "mutual-information"), targets={target: 1} if target else {}
        ),
    }


def _models(policy: Sequence[Mapping], directory: Path) -> list:
    people: dict[str, Population] = {}
    models = []
    for stated in policy:
        given = {key: value for key, value in stated.items() if key != "model"}
        if "hierarchy" in given:
            given["hierarchy"] = Hierarchy.of(given["hierarchy"], directory)
        if "population" in given:
            path = given["population"]
            table = pd.read_csv(directory / path, dtype=str, keep_default_na=False, na_values=[""])
            given["population"] = people.setdefault(path, Population(table, path))
        models.append(MODELS[stated["model"]](**given))
    return models


# What holds of any ending


def _complaint(case: Case, message: str, outcome: Outcome) -> None:
    """An error line shows nobody's identifier, nor what one record alone has."""
    for planted in (MARK, LONE):
        if planted in message:
            outcome.fail(f"message shows {planted}", message)
    if outcome.ended in ("refused", "unreachable") and not message.strip():
        outcome.fail("no message", outcome.ended)


def _leftovers(case: Case, directory: Path, before: set[Path], outcome: Outcome) -> None:
    """Nothing stays behind but a whole release."""
    after = {path.relative_to(directory).as_posix() for path in set(directory.rglob("*")) - before}
    whole = {"out", "out.steward.json", "out/release.json", f"out/{_released_name(case)}"}
    if case.route == "frame":
        after.discard("out/released.parquet")
    if after != (whole if outcome.ended == "released" else set()):
        outcome.fail("left behind", f"{outcome.ended}: {sorted(after)}")


def _released_name(case: Case) -> str:
    return "released.parquet" if case.route == "parquet" else "released.csv"


# What holds of a release


def _released(case: Case, study: Path, outcome: Outcome) -> None:
    out = study.parent / "out"
    _leaks(case, out, outcome)
    for path in sorted(out.glob("released.*")):
        people = people_of(case, texts_of(path, _separator(case, out)))
        about = case.document, case.files, path, _separator(case, out)
        for failure in recounted(*about, outcome.readers, people):
            outcome.fail(*failure)
    rng = case.rng
    rng.random()
    if case.route != "frame":
        if rng.random() < 0.15:
            _verified(case, study, outcome)
        if rng.random() < 0.05 and not case.redrawn:
            _again(case, study, outcome)
        if rng.random() < 0.05 and case.recoding != "random" and not case.redrawn:
            _shuffled(case, study, outcome)


def _explored(case: Case, study: Path, outcome: Outcome) -> None:
    """The explorer, where it is installed, shows the release of a run; of one case in four."""
    if case.route == "frame" or case.redrawn or case.rng.random() < 3 / 4:
        return
    if find_spec("anonymizer.explorer") is None:
        return
    from .explored import shown, shown_alike

    found = shown(study)
    if outcome.ended == "released":
        out = study.parent / "out"
        texts = texts_of(out / _released_name(case), _separator(case, out))
        for failure in shown_alike(found, steward_file(out), texts):
            outcome.fail(*failure)
    elif found.holds:
        outcome.fail("explorer holds", outcome.ended)


def _separator(case: Case, out: Path) -> str:
    """What the manifest says: a table of one column does not tell its separator."""
    if case.route == "frame":
        return ","
    columns = json.loads((out / "release.json").read_text(encoding="utf-8"))["columns"]
    return str(columns["separator"])


def _leaks(case: Case, out: Path, outcome: Outcome) -> None:
    """No file holds an identifier; none but the table what one record alone has."""
    rules = str(case.document["quasi-identifiers"])  # an order is published as it is given
    listed = any(LONE in text for text in (*case.files.values(), rules))
    table = [path for path in sorted(out.iterdir()) if path.name.startswith("released")]
    shown = any(
        LONE in str(v)
        for path in table
        for c in texts_of(path, _separator(case, out)).values()
        for v in c
    )
    for path in out.iterdir():
        content = path.read_bytes()
        if MARK.encode() in content:
            outcome.fail("identifier in output", path.name)
        if LONE.encode() in content and not shown and not (listed and path.suffix == ".json"):
            outcome.fail("hidden value in output", path.name)


def _verified(case: Case, study: Path, outcome: Outcome) -> None:
    table = study.parent / "out" / _released_name(case)
    code, _, message = command("verify", table, "--study", study)
    if code:
        outcome.fail("verify refuses", f"exit code {code}: {message}")


def _again(case: Case, study: Path, outcome: Outcome) -> None:
    """Carried out again a study gives the same release, in another order."""
    publish(Study(study), study.parent / "again")
    made = [study.parent / name for name in ("out", "again")]
    name, separator = _released_name(case), _separator(case, made[0])
    one, other = (_counted(out / name, separator) for out in made)
    if one != other:
        outcome.fail("another release", name)
    one, other = (json.loads((out / "release.json").read_text(encoding="utf-8")) for out in made)
    for manifest in (one, other):
        manifest["table"].pop("sha256")
    if one != other:
        outcome.fail("another release", "release.json")


UNORDERED = ("recoding", "levels", "privacy", "classes", "suppressed", "information")


def _shuffled(case: Case, study: Path, outcome: Outcome) -> None:
    """Records in another order are recoded alike."""
    order = list(range(len(next(iter(case.table.values())))))
    case.rng.shuffle(order)
    table = {name: [column[i] for i in order] for name, column in case.table.items()}
    directory = study.parent / "shuffled"
    directory.mkdir()
    other = lay(replace(case, table=table), directory)
    ended, message = _guarded(lambda: publish(Study(other), directory / "out"), outcome)
    if ended != "released":
        outcome.fail("order of records", f"{ended}: {message}")
        return
    both = [json.loads((path.parent / "out.steward.json").read_text()) for path in (study, other)]
    for part in UNORDERED:
        if not _alike_within(both[0].get(part), both[1].get(part)):
            outcome.fail("order of records", f"{part} of release.json differs")
    made = [path.parent / "out" for path in (study, other)]
    rows = [_counted(out / _released_name(case), case.separator) for out in made]
    if rows[0] != rows[1]:
        outcome.fail("order of records", "the released records differ")


def _alike_within(one: object, other: object) -> bool:
    """Whether two parts of a manifest are equal, numbers within 1e-9: sums may be in any order."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= FORGIVEN
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike_within(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike_within, one, other))
    return one == other


def _counted(path: Path, separator: str) -> Counter:
    return Counter(zip(*texts_of(path, separator).values(), strict=True))


def keep(outcome: Outcome, directory: Path, kept: Path) -> None:
    """Keep the files of a failing case, and why it failed."""
    target = kept / outcome.name.replace(":", "-")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(directory, target, symlinks=True)
    text = "\n".join(f"{kind}: {detail}" for kind, detail in outcome.failures)
    (target / "failures.txt").write_text(text + "\n", encoding="utf-8")
