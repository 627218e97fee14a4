"""Situations that people who anonymize reported in public, each by a small table made here.

A case is the files of a situation, the commands that a person gives, the exit code of the last one,
and what is right: ``says`` in what is printed, ``drafts`` in the study, ``shows`` in the release.
What is left out, or must never be seen, is in ``hides``.
"""

import json
import os
import random
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import pytest
from forked import start

from anonymizer import Anonymizer, KAnonymity
from anonymizer.cli import main

Files = Mapping[str, str | Callable[[Path], object]]
K3, K5 = ('[[privacy]]\nmodel = "k-anonymity"\nk = ' + str(k) + "\n" for k in (3, 5))


@dataclass(frozen=True)
class Case:
    """A situation: its files, its commands, and what is right."""

    files: Files
    commands: str
    code: int = 0
    says: Sequence[str] = ()
    drafts: Sequence[str] = ()
    shows: Sequence[str] = ()
    hides: Sequence[str] = ()


def csv(header: str, rows: Sequence[Sequence[object]], mark: str = ",") -> str:
    return "".join(mark.join(map(str, row)) + "\n" for row in [header.split(","), *rows])


def study(rules: str, sensitive: str = "d", more: str = K5, data: str = "") -> str:
    """A study of t.csv with the rules of its quasi-identifiers."""
    listed = f'[sensitive]\nattributes = ["{sensitive}"]\n' if sensitive else ""
    return f'[data]\npath = "t.csv"\n{data}[quasi-identifiers]\n{rules}\n{listed}{more}'


def drawn(seed: int = 1) -> random.Random:
    return random.Random(seed)


def people(number: int = 60, seed: int = 1) -> list[list[object]]:
    """Ages, sexes and answers."""
    some = drawn(seed)
    return [[some.randint(20, 59), some.choice("FM"), some.choice("abc")] for _ in range(number)]


def visits() -> str:
    """Twenty people of one age twice, and one of another age seven times."""
    rows = [[f"P{n}", 34, "F", "flu" if n % 2 else "cold"] for n in range(20) for _ in range(2)]
    return csv("patient,age,sex,d", rows + [["P99", 81, "F", "gout"]] * 7)


def households() -> str:
    """Forty households of one to four people."""
    some, rows = drawn(), list[list[object]]()
    for number in range(40):
        region = some.choice(["north", "south", "east"])
        rows += [
            [f"H{number:03d}", region, some.randint(1, 80), some.choice("FM"), some.choice("abc")]
            for _ in range(some.randint(1, 4))
        ]
    return csv("hhid,region,age,sex,d", rows)


def weights() -> str:
    weight = {"north": 812.5, "south": 96.75}
    some = drawn()
    regions = [some.choice([*weight]) for _ in range(60)]
    rows = [
        [region, weight[region], *person] for region, person in zip(regions, people(), strict=True)
    ]
    return csv("region,sampling_weight,age,sex,d", rows)


def old_people() -> str:
    """Sixty people under 60, six of 90 and more."""
    rows = [*people(), *([90 + n, "F", "abc"[n % 3]] for n in range(6))]
    zips = ["02139", "02142", "03601", "10001"]
    return csv(
        "birth,age,zip,sex,d",
        [
            [date(2026 - int(str(r[0])), 3, 1 + n % 20), r[0], zips[n % 4], r[1], r[2]]
            for n, r in enumerate(rows)
        ],
    )


def stays() -> str:
    """Thirty people with two stays of 3 and of 8 days."""
    some, rows = drawn(), list[list[object]]()
    for number in range(30):
        for days in (3, 8):
            begin = date(2026, 1, 1) + timedelta(some.randint(0, 200))
            rows.append(
                [
                    f"P{number}",
                    begin,
                    begin + timedelta(days),
                    40 + number % 3 * 10,
                    "ab"[number % 2],
                ]
            )
    return csv("patient,admitted,discharged,age,d", rows)


def surveyed() -> str:
    """Children, 77 and 99 for no answer; schooling of 2 to 6, -9 for none."""
    some = drawn()
    rows = [
        [some.choice([*range(4)] * 5 + [77, 99]), some.choice([*range(2, 7)] * 5 + [-9]), *person]
        for person in people(120)
    ]
    return csv("kids,edu,age,sex,d", rows)


def coded(numbers: list[int], codes: list[str]) -> str:
    """Numbers, and codes for no answer in every tenth record."""
    some = drawn(8)
    rows = [
        [some.choice(codes if codes and n % 10 == 0 else numbers), *row]
        for n, row in enumerate(people(200))
    ]
    return csv("kg,years,sex,d", rows)


def gridded(first: str, second: str, part: int) -> str:
    rows = [
        [(500_000 + n * 1370 % 9000) / part, (570_000 + n * 3110 % 9000) / part, "abc"[n % 3]]
        for n in range(90)
    ]
    return csv(f"{first},{second},d", rows)


def waves(key: str) -> str:
    """Forty people in two waves."""
    rows = [[f"p{n // 2}", 30 + n // 2 % 20, "FM"[n // 2 % 2], "abc"[n % 3]] for n in range(80)]
    return csv(f"{key},age,sex,d", rows)


def crops() -> str:
    some = drawn(9)
    rows = [
        [
            f"H{some.randint(1, 30):02d}",
            some.choice(["KAI", "KON", "POR"]),
            some.choice(["rice", "soy"]),
            some.choice(["yes", "no"]),
        ]
        for _ in range(54)
    ]
    return csv("household,district,crop,sold", rows)


def with_texts(text: str, share: int = 10, name: str = "age") -> str:
    """Ages of sixty people, one of some of them being a text."""
    rows = [[text if n % share == 0 else row[0], *row[1:]] for n, row in enumerate(people())]
    return csv(f"{name},sex,d", rows)


def born(write: Callable[[date], object], name: str = "birth_date", records: int = 60) -> str:
    some, first = drawn(14), date(1940, 1, 1)
    dates = [first + timedelta(some.randint(0, 25_000)) for _ in range(records)]
    return csv(
        f"{name},sex,d",
        [[f'"{write(day)}"', *row[1:]] for day, row in zip(dates, people(records), strict=True)],
    )


def spaced() -> str:
    """Birth dates as YYYYMMDD, and rents of which no two are neighbours."""
    some = drawn(15)
    rents = some.sample(range(500, 3000, 7), 80)
    days = some.sample(range(0, 25_000, 3), 80)
    rows = [
        [(date(1940, 1, 1) + timedelta(day)).strftime("%Y%m%d"), rent, *person[1:]]
        for day, rent, person in zip(days, rents, people(80), strict=True)
    ]
    return csv("dob,monthly_rent,sex,d", rows)


def located() -> str:
    """Encounters of thirty people, each of whom lives somewhere."""
    some, rows = drawn(17), list[list[object]]()
    for _ in range(30):
        person = [
            1_000_000 + some.randint(0, 8_999_999),
            round(52 + some.random(), 4),
            round(13 + some.random(), 4),
        ]
        known = [some.randint(18, 90), some.choice("FM")]
        rows += [[*person, *known, some.choice(["I10", "E11", "J45"])] for _ in range(4)]
    return csv("MRN,lat,lon,age,sex,diagnosis", rows)


def logged() -> str:
    """Users in order of their numbers, next to a hash of each."""
    rows = [
        [
            n,
            f"{n * 7919 % 65_521:04x}{n * 104_729 % 65_521:04x}",
            20 + n * 7 % 40,
            "DEF"[n % 3],
            "yn"[(n + v) % 2],
        ]
        for n in range(30)
        for v in range(3)
    ]
    return csv("user_id,user_hash,age,country,d", rows)


def answered() -> str:
    """Classes in which everybody has hiv, under other lists."""
    some = drawn(19)
    rows = [
        [22, "F", some.choice(["hiv", "hiv asthma", "asthma hiv", "hiv tb", "tb hiv"])]
        for _ in range(30)
    ]
    rows += [
        [42, "FM"[n % 2], some.choice(["none", "asthma", "tb", "asthma tb"])] for n in range(60)
    ]
    return csv("age,sex,conditions", rows)


def aged(top: str, bottom: str = "20") -> list[list[object]]:
    """People some of whom have no age, but one end of a range."""
    ages = [bottom if n % 10 == 0 else top if n % 10 == 9 else 25 + n for n in range(60)]
    return [[age, *row[1:]] for age, row in zip(ages, people(), strict=True)]


def starred(step: int) -> str:
    """Codes, dates and ages of which an earlier release suppressed single cells."""
    rows = [
        [
            "02139" if n % 2 else "60614",
            f"{1950 + n % 20}-0{1 + n % 9}-11",
            20 + n % 25,
            "abc"[n % 3],
        ]
        for n in range(60)
    ]
    for column in range(3):
        for row in rows[column::step]:
            row[column] = "*"
    return csv("zip,dob,age,d", rows)


def races(gap: str) -> str:
    some = drawn(26)
    rows = [[some.choice(["White"] * 8 + ["Black", gap]), *row[1:]] for row in people(100)]
    rows[0][0] = gap
    return csv("race,sex,d", rows)


def measured(write: Callable[[int], str]) -> str:
    some = drawn(27)
    return csv(
        "size;sex;d".replace(";", ","),
        [[f'"{write(some.randint(900, 5000))}"', *row[1:]] for row in people()],
    )


def midnights(zone: str = "Europe/Berlin") -> str:
    """Birth dates of a place as instants of UTC, a third of them 1 January."""

    def write(day: date) -> str:
        day = day.replace(month=1, day=1) if day.day % 3 == 0 else day
        here = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
        return here.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    return born(write)


def questions(number: int) -> str:
    some = drawn(28)
    names = ",".join(["age", "sex", "region", *(f"Q{n:03d}" for n in range(number))])
    rows = [
        [*row[:2], some.choice("NSEW"), *(some.choice("12345") for _ in range(number))]
        for row in people()
    ]
    return csv(names, rows)


def jobs() -> str:
    """A contract that repeats what the job of a person is."""
    some, rows = drawn(36), list[list[object]]()
    for row in people(120):
        job = some.choice(["employed"] * 3 + ["student", "retired"])
        contract = some.choice(["full", "part"]) if job == "employed" else f"none-{job}"
        rows.append([row[0], job, contract, row[1], row[2]])
    return csv("age,status,contract,sex,d", rows)


def zips(write: Callable[[str], str]) -> str:
    some = drawn(45)
    known = ["02139", "02142", "02115", "21301", "21305", "60614"]
    return csv("zip,sex,d", [[write(some.choice(known)), *row[1:]] for row in people()])


def events() -> str:
    """Addresses under a name that says nothing, five records each."""
    rows = [
        [f"kim{n}@example.org", 20 + n, "FM"[n % 2], "ny"[(n + v) % 2]]
        for n in range(20)
        for v in range(5)
    ]
    return csv("kontaktinfo,age,sex,d", rows)


def towns(form: str) -> str:
    some = drawn(47)
    rows = [[some.choice(["Zürich", "Genève", "Łódź"]), *row[:1], row[2]] for row in people()]
    return unicodedata.normalize(form, csv("Größe,age,d", rows))


def as_stata(here: Path) -> None:
    some = np.random.default_rng(11)
    table = pd.DataFrame({"urbrur": some.choice([0, 1, 9], 60), "d": some.choice([*"xyz"], 60)})
    labels = {"urbrur": {0: "urban", 1: "rural", 9: "other"}}
    table.to_stata(here / "t.dta", write_index=False, value_labels=labels)


def as_sqlite(here: Path) -> None:
    with sqlite3.connect(here / "t.sqlite") as base:
        base.execute("create table people (age integer, zip text, sex text, d text)")
        rows = [(row[0], f"91{n % 3}0", *row[1:]) for n, row in enumerate(people())]
        base.executemany("insert into people values (?, ?, ?, ?)", rows)
    base.close()


def as_duckdb(here: Path) -> None:
    with duckdb.connect(str(here / "t.duckdb")) as base:
        base.execute("create schema clinic")
        base.execute("create table clinic.people (age int, sex varchar, d varchar)")
        base.executemany("insert into clinic.people values (?, ?, ?)", people())
        base.execute("create view young as select * from clinic.people where age < 40")


def nameless() -> str:
    return "".join(
        json.dumps({"": n, "age": row[0], "sex": row[1], "d": row[2]}) + "\n"
        for n, row in enumerate(people())
    )


CANADIAN = {
    "02139": "K1A 0B1",
    "02142": "K1A0B2",
    "02115": "M5V 3L9",
    "21301": "M5V3L8",
    "21305": "H2Y 1C6",
    "60614": "H2Y1C5",
}

AGE = "age = { widths = [5, 10, 20] }"
SEX = 'sex = "suppress"'
QUASI = f"{AGE}\n{SEX}"
RUN = "run s.toml -o rel"
INIT = "init t.csv -o ."
BOTH = f"{INIT}\nrun study.toml -o rel"
FIXED = '[recoding]\nmethod = "fixed"\nlevels = '

CASES = {
    "01 several records of a person are warned of": Case(
        {"t.csv": visits(), "s.toml": study(QUASI)},
        RUN,
        says=["by column 'patient' the smallest class has 1 person"],
    ),
    "01 person = counts persons": Case(
        {"t.csv": visits(), "s.toml": study(QUASI, data='person = "patient"\n')},
        RUN,
        says=["person-k-anonymity (k = 5)", "10"],
        hides=["81,"],
    ),
    "02 the key of households is left out, and the region is kept": Case(
        {"t.csv": households()},
        BOTH,
        says=["by column 'hhid'", "household-risk"],
        drafts=["region = ", 'attributes = ["hhid"]'],
        shows=["region,age,sex,d"],
    ),
    "03 a sampling weight is one": Case(
        {"t.csv": weights()},
        BOTH,
        drafts=['weight = "sampling_weight"'],
        shows=["region,age,sex,d"],
    ),
    "03 a weight gives the region away": Case(
        {
            "t.csv": weights(),
            "s.toml": study(f"region = {{ suppress = true, min-level = 1 }}\n{QUASI}"),
        },
        RUN,
        says=["'sampling_weight' gives 'region' away"],
    ),
    "04 ages of 90 and more, and births up to 1936, are one group": Case(
        {
            "t.csv": old_people(),
            "s.toml": study(
                "age = { widths = [1, 5], top = 90 }\n"
                'birth = { calendar = ["year"], bottom = 1936 }\nzip = { prefixes = [3] }',
                more=K3.replace("3", "1") + FIXED + "{ age = 1, birth = 1, zip = 1 }\n",
            ),
        },
        RUN,
        shows=['"(-inf, 1937-01-01)","[90, inf)",021**,F'],
        hides=["[90, 95)", "[95, 100)"],
    ),
    "05 a population of one line each lacks people": Case(
        {
            "t.csv": csv("zip3,sex,d", [["021", *row[1:]] for row in people()]),
            "pop.csv": csv("zip3,sex,people", [["021", "F", 5000], ["021", "M", 5000]]),
            "s.toml": study(
                f'zip3 = "suppress"\n{SEX}',
                more='[[privacy]]\nmodel = "k-map"\nk = 2000\npopulation = "pop.csv"\n',
            ),
        },
        RUN,
        2,
        says=["the population lacks 58 records", "by a column of numbers that count names"],
    ),
    "05 a population of numbers of people": Case(
        {
            "t.csv": csv("zip3,sex,d", [["021", *row[1:]] for row in people()]),
            "pop.csv": csv("zip3,sex,people", [["021", "F", 5000], ["021", "M", 5000]]),
            "s.toml": study(
                f'zip3 = "suppress"\n{SEX}',
                more='[[privacy]]\nmodel = "k-map"\nk = 2000\n'
                'population = { path = "pop.csv", count = "people" }\n',
            ),
        },
        RUN,
        says=["5000", "in 2 equivalence classes"],
    ),
    "06 dates of a person move together": Case(
        {
            "t.csv": stays(),
            "s.toml": study(
                "age = { widths = [10] }",
                data='person = "patient"\n'
                'shift = { columns = ["admitted", "discharged"], days = 400 }\n',
            ),
        },
        RUN,
        shows=["admitted,discharged,age,d"],
    ),
    "07 an age with a point meets one without": Case(
        {
            "t.csv": csv(
                "age,sex,d", [[f"{r[0]}.0" if n else "", *r[1:]] for n, r in enumerate(people())]
            ),
            "age.csv": "".join(f"{age};{age // 20 * 20}+;*\n" for age in range(20, 60)),
            "s.toml": study(f'age = "age.csv"\n{SEX}', data='missing = "drop"\n'),
        },
        RUN,
        says=["Released 59 of 60 records in 4 equivalence classes (1 dropped"],
        shows=["40+,"],
    ),
    "08 codes for no answer are missing, by column": Case(
        {"t.csv": surveyed()},
        BOTH,
        drafts=['missing-values = { kids = ["77", "99"], edu = ["-9"] }'],
    ),
    "09 a numbered household is a key": Case(
        {"t.csv": crops()},
        BOTH,
        drafts=['attributes = ["household"]'],
        shows=["district,crop,sold"],
    ),
    "10 rare categories that are together below k take a further one": Case(
        {
            "t.csv": csv(
                "side,d",
                [
                    [side, "abc"[n % 3]]
                    for n, side in enumerate("L" * 60 + "R" * 50 + "B" * 8 + "FI")
                ],
            ),
            "s.toml": study('side = { keep = [["L", "R", "B"], ["L", "R"]], other = "other" }'),
        },
        RUN,
        says=["Released 120 of 120 records in 3 equivalence classes"],
        shows=["other,"],
        hides=["B,", "F,", "I,"],
    ),
    "11 value labels become labels without an order": Case(
        {"t.dta": as_stata},
        "init t.dta -o .\nrun study.toml -o rel --force",
        hides=["urban - rural"],
    ),
    "12 a title above the header": Case(
        {"t.csv": "People of 2026,,\n,,\n" + csv("age,sex,d", people())},
        INIT,
        2,
        says=["if its first line is a title"],
    ),
    "12 comments above the header": Case(
        {"t.csv": "# exported\n" + csv("age,sex,d", people())},
        INIT,
        2,
        says=["remove the lines of comments"],
    ),
    "12 row names without a header": Case(
        {"t.csv": csv("age,sex,d", [[n, *row] for n, row in enumerate(people())])},
        INIT,
        2,
        says=["the header 3; if the first field of each line is the name of a row"],
    ),
    "12 a column without a name is left out": Case(
        {"t.csv": csv(",age,sex,d", [[n, *row] for n, row in enumerate(people())])},
        BOTH,
        drafts=["it has no name; name it in the table to release it"],
        shows=["age,sex,d"],
    ),
    "12 a trailing comma in the header": Case(
        {"t.csv": csv("age,sex,d,", people())}, INIT, 2, says=["remove the last ',' of the header"]
    ),
    "12 a name that stands twice": Case(
        {"t.csv": csv("age,sex,d,sex", [[*row, row[1]] for row in people()])},
        INIT,
        2,
        says=["column 'sex' stands more than once"],
    ),
    "12 names that differ by case alone": Case(
        {"t.csv": csv("age,sex,d,Sex", [[*row, "MF"[n % 2]] for n, row in enumerate(people())])},
        f"{BOTH}\nexport rel --sql",
        2,
        says=["columns 'sex' and 'Sex' differ by case alone"],
    ),
    "12 JSON lines with a field without a name": Case(
        {"t.jsonl": nameless(), "s.toml": study(QUASI).replace("t.csv", "t.jsonl")},
        RUN,
        2,
        says=["a column of it has no name; name it in the table"],
        hides=["damaged"],
    ),
    "13 90+ among ages": Case(
        {"t.csv": with_texts("90+", 4)},
        BOTH,
        says=["a number in 45 of 60 records; ranges ('90+') in 15 records"],
        drafts=["top = 90"],
        shows=["90"],
    ),
    "13 > 89 among ages": Case(
        {"t.csv": with_texts("> 89")},
        BOTH,
        says=["a number in 54 of 60 records"],
        drafts=["top = "],
    ),
    **{
        f"14 dates as {name}": Case({"t.csv": born(write)}, INIT, drafts=[drafts])
        for name, write, drafts in [
            ("ISO", str, 'birth_date = { calendar = ["year"'),
            ("day first", lambda day: f"{day:%d/%m/%Y}", 'format = "%d/%m/%Y"'),
            ("month first", lambda day: f"{day.month}/{day.day}/{day.year}", 'format = "%m/%d/%Y"'),
            ("at 0:00", lambda day: f"{day:%m/%d/%Y} 0:00", 'format = "%m/%d/%Y %H:%M"'),
            ("two-digit years", lambda day: f"{day:%d.%m.%y}", 'format = "%d.%m.%y{'),
            ("names of months", lambda day: f"{day:%d-%b-%Y}".upper(), 'format = "%d-%b-%Y"'),
            ("SAS has them", lambda day: f"{day:%d%b%Y}".upper(), 'format = "%d%b%Y"'),
            ("long", lambda day: f"{day:%B %d, %Y}", 'format = "%b %d, %Y"'),
            ("Japanese", lambda day: f"{day:%Y年%m月%d日}", 'format = "%Y年%m月%d日"'),
            ("instants", lambda day: f"{day}T13:45:00Z", 'birth_date = { calendar = ["day"'),
            ("months", lambda day: f"{day:%Y-%m}", 'ground = "month"'),
            ("months and years", lambda day: f"{day:%m/%Y}", 'ground = "month"'),
            ("months in words", lambda day: f"{day:%b %Y}", 'ground = "month"'),
            (
                "months in six digits",
                lambda day: f"{day:%Y%m}",
                'format = "%Y%m", ground = "month"',
            ),
            ("months after a point", lambda day: f"{day:%m.%Y}", 'ground = "month"'),
            ("quarters", lambda day: f"{day.year} Q{(day.month + 2) // 3}", 'ground = "quarter"'),
            ("halves", lambda day: f"{day.year}-H{1 + (day.month > 6)}", 'ground = "half-year"'),
        ]
    },
    "14 a few dates of 0000-00-00 leave the others their ranges": Case(
        {"t.csv": born(lambda day: "0000-00-00" if day.day == 1 else day, records=300)},
        BOTH,
        drafts=['missing-values = { birth_date = ["0000-00-00"] }', "'birth_date' has gaps"],
        says=["Released 300 of 300 records in 4"],
        shows=["1980-01-01)", "\n,"],
    ),
    "16 coordinates are ranges, both of them": Case(
        {
            "t.csv": csv(
                "LONGITUDE,LATITUDE,d",
                [
                    [-7685.5 + n * 1.37 % 90, 4864920.1 + n * 7.1 % 200, "abc"[n % 3]]
                    for n in range(90)
                ],
            )
        },
        BOTH,
        drafts=["LONGITUDE = { widths", "LATITUDE = { widths"],
    ),
    "17 the numbers of patients are left out, where they live is a pair of ranges": Case(
        {"t.csv": located()},
        BOTH,
        drafts=['person = "MRN"', "lat = { widths", "lon = { widths", "age = { widths", "sex = {"],
        shows=["lat,lon,age,sex,diagnosis"],
    ),
    "18 a hash of a number that is left out": Case(
        {
            "t.csv": logged(),
            "s.toml": study(
                'age = { widths = [10, 20] }\ncountry = "suppress"',
                more='[identifiers]\nattributes = ["user_id"]\n' + K5,
            ),
        },
        RUN,
        says=["'user_hash' gives 'age' away"],
    ),
    "19 one answer in all lists of a class": Case(
        {
            "t.csv": answered(),
            "s.toml": study(
                "age = { widths = [10] }\n" + SEX,
                "conditions",
                K5 + '[[privacy]]\nmodel = "entropy-l-diversity"\nl = 3\n',
            ),
        },
        RUN,
        says=["(several-answers)", "in 1 of 3 classes", "say as items (below [data]"],
    ),
    "19 each answer is judged by itself": Case(
        {
            "t.csv": answered(),
            "s.toml": study(
                "age = { widths = [10] }\n" + SEX,
                "conditions",
                K5 + '[[privacy]]\nmodel = "entropy-l-diversity"\nl = 3\n',
                data='items = { conditions = " " }\n',
            ),
        },
        RUN,
        says=["conditions │ >= 3", "yes"],
        hides=["several-answers", "tb hiv", "hiv asthma"],
    ),
    "19 init says what stands between answers": Case(
        {"t.csv": answered()},
        "init t.csv -o . --sensitive conditions\nrun study.toml -o rel",
        drafts=['items = { conditions = " " }'],
        says=["Released 90 of 90"],
        hides=["several-answers", "tb hiv"],
    ),
    "19 two things stand between answers": Case(
        {"t.csv": answered().replace(" ", ";").replace("asthma;tb", '"asthma,tb"')},
        "init t.csv -o . --sensitive conditions\nrun study.toml -o rel\nverify rel",
        says=['cells have "," within items', "(several-separators)"],
        drafts=['items = { conditions = ";" }', 'have "," within items that ";" parts'],
    ),
    "21 numbers of 19 digits stay what they are": Case(
        {
            "t.csv": csv(
                "tweet,age,sex,d",
                [[1582917533873852417 + n % 6, *row] for n, row in enumerate(people())],
            ),
            "s.toml": study(QUASI),
        },
        RUN,
        shows=["1582917533873852417,", "1582917533873852422,"],
    ),
    "22 a name with a point is quoted": Case(
        {
            "t.csv": csv("age.yrs,sex.at.birth,d", people()),
            "s.toml": study("age.yrs = { widths = [10] }"),
        },
        RUN,
        2,
        says=["a name that has a point is quoted: 'age.yrs' ="],
    ),
    "22 a sex at birth is no date": Case(
        {"t.csv": csv("age.yrs,sex.at.birth,d", people())},
        BOTH,
        drafts=['"age.yrs" = { widths', "by its name it is a sex or gender"],
    ),
    **{
        f"23 numbers with {name}": Case(
            {
                "t.csv": csv(
                    "age;sex;d", [[write(row[0] * 100.5), *row[1:]] for row in people()], ";"
                ).replace("age,sex,d", "age;sex;d")
            },
            INIT,
            drafts=["age = { widths"],
        )
        for name, write in [
            ("decimal commas", lambda x: f"{x:.2f}".replace(".", ",")),
            ("Swiss marks", lambda x: f"{x:,.2f}".replace(",", "\u2019")),
            ("exponents", lambda x: f"{x:.4E}"),
            ("plus signs", lambda x: f"+{x:.0f}"),
        ]
    },
    "23 thousands set apart by narrow blanks": Case(
        {"t.csv": measured(lambda x: f"{x + 200:,}".replace(",", "\u202f"))},
        BOTH,
        drafts=["its values are numbers written with blanks between thousands"],
    ),
    "24 addresses elsewhere are refused by name": Case(
        {},
        "init s3://bucket/people.parquet",
        2,
        says=["s3:// is an address elsewhere", "copy the table here"],
    ),
    "25 the hierarchy of another column": Case(
        {
            "t.csv": csv("job,sex,d", [["Sales", *row[1:]] for row in people()]),
            "job.csv": "Private;any\n",
            "s.toml": study(f'job = "job.csv"\n{SEX}'),
        },
        RUN,
        2,
        says=["column 'job' holds 1 value, in 60 records ('Sales') that job.csv lacks"],
    ),
    "26 a gap is one of all others": Case(
        {
            "t.csv": races(""),
            "s.toml": study(
                'race = { keep = [["White"]], missing = "other", min-level = 1 }\n'
                "sex = { suppress = true, max-level = 0 }",
                data='missing = "gap"\n',
            ),
        },
        RUN,
        says=["in 4 equivalence classes"],
        shows=["White,"],
    ),
    **{
        f"27 numbers with {name}": Case(
            {"t.csv": measured(write)},
            BOTH,
            drafts=[f'unit = "{name}"'],
            hides=["(repeated-identifier)"],
        )
        for name, write in [
            ("cm", lambda x: f"{x % 90 + 100} cm"),
            ("$", lambda x: f"${1000 + x % 30:,}"),
            ("%", lambda x: f"{x / 100:.1f}%"),
            ("kg", lambda x: "unknown" if x % 12 == 0 else f"{x % 60 + 50} kg"),
            ("mmHg", lambda x: "n.a." if x % 15 == 0 else f"{x % 60 + 90}mmHg"),
        ]
    },
    **{
        f"27 decimal commas with {unit}, thousands by {mark!r}": Case(
            {
                "t.csv": measured(
                    lambda x, m=mark, u=unit: f"{x // 90 * 90:,}".replace(",", m) + f",5{u}"
                )
            },
            BOTH,
            drafts=[f'unit = "{unit.strip()}", decimal = ","'],
            hides=["may mark thousands or decimals", "(repeated-identifier)"],
        )
        for unit, mark in [(" EUR", "."), ("\u00a0kg", "\u202f")]
    },
    "27 one comma before three digits may be either": Case(
        {"t.csv": measured(lambda x: f"{x // 90 * 90:,} kg")},
        BOTH,
        drafts=['unit = "kg" }', "may mark thousands or decimals, and is read as in 1,234.5"],
        says=['if the comma is the decimal mark, add decimal = "," to the unit'],
    ),
    "27 negative numbers in brackets are no keys": Case(
        {"t.csv": measured(lambda x: f"({x})" if x % 3 else str(x))},
        BOTH,
        drafts=["brackets"],
        hides=["(repeated-identifier)"],
    ),
    "27 <1000 is a range": Case(
        {"t.csv": measured(lambda x: "<1000" if x < 1500 else str(x))},
        BOTH,
        drafts=["bottom = 1000"],
    ),
    "13 ends of ages in other words": Case(
        {"t.csv": csv("age,sex,d", aged(top="90 or older", bottom="under 25"))},
        BOTH,
        drafts=["bottom = 25, top = 90"],
    ),
    "13 the sign of at least": Case(
        {"t.csv": csv("age,sex,d", aged(top="\u226590"))}, BOTH, drafts=["top = 90"]
    ),
    "28 of many questions eight are taken": Case(
        {"t.csv": questions(13)},
        INIT,
        drafts=["left out after 8 other quasi-identifiers", "age = {", "region = {"],
    ),
    "30 a line of totals": Case(
        {"t.csv": csv("age,sex,d", people()) + "Total,60,\n"},
        BOTH,
        2,
        says=["a number in 60 of 61 records", "holds 1 value, in 1 record"],
        drafts=["age = { widths"],
    ),
    "31 columns of a fixed width": Case(
        {"t.txt": "".join(f"{row[0]}{row[1]}   {row[2]}\n" for row in people())},
        "init t.txt -o .",
        2,
        says=["if its columns are of a fixed width, set layout"],
    ),
    "31 fields that end at blanks": Case(
        {"t.txt": csv("age,sex,d", people(), " ").replace(",", " ")},
        "init t.txt -o .\nrun study.toml -o rel",
        drafts=["age = { widths", 'separator = " "'],
    ),
    "32 midnights elsewhere need a zone": Case(
        {"t.csv": midnights()},
        INIT,
        drafts=["dates that begin at midnight in another time zone", 'zone = "Europe/Berlin"'],
    ),
    "32 a calendar without the zone is warned of": Case(
        {"t.csv": midnights(), "s.toml": study('birth_date = { calendar = ["year", "decade"] }')},
        RUN,
        says=["(midnight-elsewhere)", "add the zone to its calendar"],
    ),
    "33 the order that was kept tells": Case(
        {
            "t.csv": logged(),
            "s.toml": study(
                "age = { widths = [10] }",
                more='[identifiers]\nattributes = ["user_id", "user_hash"]\n'
                + K5
                + '[output]\norder = "kept"\n',
            ),
        },
        RUN,
        says=["(telling-order)", "user_id"],
    ),
    "33 the order is random by default": Case(
        {
            "t.csv": logged(),
            "s.toml": study(
                "age = { widths = [10] }",
                more='[identifiers]\nattributes = ["user_id", "user_hash"]\n' + K5,
            ),
        },
        RUN,
        hides=["(telling-order)"],
    ),
    "34 records in classes that break the policy": Case(
        {"t.csv": csv("age,sex,d", [[20, "F", "a"]] * 5 + [[30, "M", "b"]] * 2)},
        "check t.csv --quasi-identifiers age,sex --sensitive d --require k-anonymity=3 --json",
        1,
        says=['"violating_records": 2'],
    ),
    "35 a * of an earlier release": Case(
        {"t.csv": with_texts("*")},
        INIT,
        says=["other texts ('*') in 6 records", "empty these cells"],
        drafts=["age = { widths"],
    ),
    "35 a * in every sixth cell of each column decides of no kind": Case(
        {"t.csv": starred(6)},
        BOTH,
        2,
        says=[
            "'zip': a value in 50 of 60 records; other texts ('*') in 10 records, which count as",
            "'dob': a date in 50 of 60 records; other texts ('*') in 10 records, which run refuses",
            "empty the cells that have *, as an earlier release has it",
        ],
        drafts=["zip = { suppress = true }", "dob = { calendar", "age = { widths"],
    ),
    "35 a * in every second cell of each column": Case(
        {"t.csv": starred(2)},
        BOTH,
        2,
        says=["'age': a number in 31 of 60 records; other texts ('*') in 29 records"],
        drafts=["zip = { suppress = true }", "dob = { calendar", "age = { widths"],
    ),
    "35 a * of a sensitive attribute is warned of, and counts as a value": Case(
        {
            "t.csv": csv("age,d", [[20 + n % 2, "ab*"[n % 3]] for n in range(60)]),
            "s.toml": study("age = { widths = [10] }"),
        },
        f"{RUN}\nverify rel",
        says=["(suppressed-values): 20 of 60 records have * as their value of 'd'"],
    ),
    "35 empty cells in its place are missing": Case(
        {"t.csv": starred(6).replace("*", "")},
        BOTH,
        says=["Released 60 of 60"],
        hides=["(suppressed-values)", "which run refuses"],
    ),
    "36 a second column that repeats one that is hidden": Case(
        {
            "t.csv": jobs(),
            "s.toml": study('status = { suppress = true, min-level = 1 }\nsex = "suppress"'),
        },
        RUN,
        says=["'contract' gives 'status' away"],
    ),
    "37 a zip code that the list of a release lacks": Case(
        {
            "t.csv": csv(
                "zip,d", [[["02139", "03601"][n % 2], "ab"[n % 3 > 0]] for n in range(40)]
            ),
            "u.csv": csv(
                "zip,d", [[["02139", "03699"][n % 2], "ab"[n % 3 > 0]] for n in range(40)]
            ),
            "zip.csv": "02139;021\n03601;000\n",
            "s.toml": study('zip = { file = "zip.csv", min-level = 1 }'),
        },
        f"{RUN}\napply rel u.csv -o rel2",
        2,
        says=["that the recoding does not cover"],
        shows=["000,", "021,"],
    ),
    "38 dates without a day belong to their year": Case(
        {"t.csv": born(lambda day: str(day)[: [10, 10, 7, 4][day.day % 4]])},
        BOTH,
        drafts=['ground = "year"'],
    ),
    "38 no date has a day, and some have no month": Case(
        {"t.csv": born(lambda day: f"{day:%Y-%m}-00" if day.day % 4 else f"{day.year}-00-00")},
        BOTH,
        drafts=['ground = "year"', "a date in 0 of"],
    ),
    "38 no date has a day, and all have a month": Case(
        {"t.csv": born(lambda day: f"{day:%Y-%m}-00")}, BOTH, drafts=['ground = "month"']
    ),
    "38 0000-00-00 is missing": Case(
        {"t.csv": born(lambda day: "0000-00-00" if day.day == 1 else day)},
        BOTH,
        drafts=['missing-values = { birth_date = ["0000-00-00"] }'],
    ),
    "38 some dates have no day, in the notation of the others": Case(
        {"t.csv": born(lambda day: f"{day:%m/%d/%Y}" if day.day % 4 else f"{day:%m/%Y}")},
        f"{BOTH}\nverify rel",
        drafts=['format = "%m/%d/%Y", ground = "month"', "dates without a day in"],
    ),
    "38 00 for a day among eight digits": Case(
        {"t.csv": born(lambda day: f"{day:%Y%m%d}" if day.day % 4 else f"{day:%Y%m}00")},
        f"{BOTH}\nverify rel",
        drafts=['format = "%Y%m%d", ground = "month"'],
    ),
    "38 00000000 is missing": Case(
        {"t.csv": born(lambda day: "00000000" if day.day < 4 else f"{day:%Y%m%d}")},
        f"{BOTH}\nverify rel",
        drafts=['missing-values = { birth_date = ["00000000"] }', 'format = "%Y%m%d"'],
        says=["Released 60 of 60"],
    ),
    **{
        f"39 birth dates as {form}": Case(
            {"t.csv": born(write)}, BOTH, drafts=[f'format = "{form}"']
        )
        for form, write in [
            ("%Y%m%d", lambda day: f"{day:%Y%m%d}"),
            ("excel", lambda day: (day - date(1899, 12, 30)).days),
            ("epoch", lambda day: (day - date(1970, 1, 1)).days * 86_400),
            ("epoch-ms", lambda day: (day - date(1970, 1, 1)).days * 86_400_000),
            ("%d%m%Y", lambda day: f"{day:%d%m%Y}"),
            ("%m%d%Y", lambda day: f"{day:%m%d%Y}"),
        ]
    },
    "39 births of six digits": Case(
        {"t.csv": born(lambda day: f"{day:%y%m%d}")}, BOTH, drafts=['format = "%y{']
    ),
    "39 days of Excel with the time of day": Case(
        {"t.csv": born(lambda day: f"{(day.year * 7 + day.day) / 40 + 44_000:.3f}", "visit_date")},
        BOTH,
        drafts=['format = "excel"'],
    ),
    "39 days before 1970 are none of Excel": Case(
        {"t.csv": born(lambda day: (day - date(1970, 1, 1)).days)},
        INIT,
        hides=["excel"],
        drafts=["birth_date = { widths"],
    ),
    "40 which attribute makes the risk": Case(
        {"t.csv": csv("age,sex,d", people())},
        "risk t.csv --quasi-identifiers age,sex --sensitive d --by attribute",
        says=["age, sex"],
    ),
    "42 SQL that SQLite can run": Case(
        {
            "t.sqlite": as_sqlite,
            "s.toml": study(
                'age = { widths = [10, 20] }\nzip = { prefixes = [3, 2] }\nsex = "suppress"'
            ).replace("t.csv", "t.sqlite"),
        },
        f"{RUN}\nexport rel --sql --dialect sqlite",
        hides=["SIMILAR TO"],
        says=["CASE"],
    ),
    "44 of 100 questions none is a quasi-identifier": Case(
        {"t.csv": questions(100)},
        f"{INIT}\nrun study.toml -o rel",
        drafts=["one of 100 columns that are alike by name, Q000 to Q099"],
        shows=["age,sex,region\n"],
    ),
    "45 lost zeros of zip codes": Case(
        {"t.csv": zips(lambda code: code.lstrip("0"))},
        INIT,
        says=["codes of 4 and 5 characters: zeros in front may be lost"],
    ),
    "45 zip codes of nine digits": Case(
        {"t.csv": zips(lambda code: code + "-1234" if code[0] == "6" else code)},
        BOTH,
        drafts=["length = 5"],
    ),
    "45 zip codes without a zero, and some with four digits more": Case(
        {
            "t.csv": zips(
                lambda code: (code + "1234" if code[-1] in "15" else code).lstrip("0")
            ).replace("60614", "2140")
        },
        BOTH,
        says=["codes of 4 and 9 characters: decide which lost a zero in front", "Released 60 of"],
    ),
    "46 files of other columns": Case(
        {
            "m/feb.csv": csv("age,sex,d", people()),
            "m/jan.csv": csv("age,kids,sex,d", [[r[0], 1, *r[1:]] for r in people()]),
            "s.toml": study(QUASI).replace("t.csv", "m/*.csv"),
        },
        RUN,
        2,
        says=["its columns are not those of"],
    ),
    "47 one name in two Unicode forms": Case(
        {
            "t.csv": towns("NFD"),
            "s.toml": study('"Größe" = "suppress"\nage = { widths = [10, 20] }'),
        },
        RUN,
        says=["Released 60 of 60"],
    ),
    "48 addresses under another name are left out": Case(
        {"t.csv": events()}, BOTH, drafts=['person = "kontaktinfo"'], hides=["example.org"]
    ),
    "02 families and dwellings have keys, whatever they are called": Case(
        {"t.csv": households().replace("hhid", "dwelling_nr").replace("H0", "").replace("H", "")},
        BOTH,
        drafts=['attributes = ["dwelling_nr"]'],
        shows=["region,age,sex,d"],
    ),
    "02 a household of two letters": Case(
        {"t.csv": households().replace("hhid", "hh")}, BOTH, drafts=['attributes = ["hh"]']
    ),
    "08 one code far beyond the weights": Case(
        {"t.csv": coded([*range(45, 110)], ["999"])},
        BOTH,
        drafts=['missing-values = { kg = ["999"] }'],
    ),
    "08 two codes below a score of zero": Case(
        {"t.csv": coded([*range(11)] * 3, ["-8", "-9"])},
        BOTH,
        drafts=['missing-values = { kg = ["-9", "-8"] }'],
    ),
    "08 people of 99 years among others of 90 are no code": Case(
        {"t.csv": coded([*range(18, 100)], []).replace("kg", "age")},
        BOTH,
        drafts=["age = { widths"],
        hides=["codes that stand apart"],
    ),
    "09 families that are numbered": Case(
        {"t.csv": crops().replace("household", "famno")}, BOTH, drafts=['attributes = ["famno"]']
    ),
    "13 a range among ages is missing where no group holds it": Case(
        {"t.csv": with_texts("27-33", 9)},
        BOTH,
        drafts=['missing-values = { age = ["27-33"] }', 'missing = "gap"'],
        says=["Released 60 of 60"],
    ),
    "16 eastings and northings": Case(
        {"t.csv": gridded("easting", "northing", 1)},
        BOTH,
        drafts=["easting = { widths", "northing = { widths"],
    ),
    "16 coordinates by their axes": Case(
        {"t.csv": gridded("x_coord", "y_coord", 10_000)},
        BOTH,
        drafts=["x_coord = { widths", "y_coord = { widths"],
    ),
    "16 both of a place in one text are left out": Case(
        {
            "t.csv": csv(
                "gps,age,d",
                [[f'"{52 + n / 97:.5f},13.{n}1"', 20 + n % 9, "ab"[n % 2]] for n in range(60)],
            )
        },
        BOTH,
        drafts=['attributes = ["gps"]'],
        hides=["52."],
    ),
    **{
        f"17 {key} is the key of a person": Case(
            {"t.csv": waves(key)},
            BOTH,
            drafts=[f'person = "{key}"'],
            says=["40 persons"],
            shows=["age,sex,d"],
        )
        for key in ("participant", "case_no")
    },
    "30 a line of means": Case(
        {"t.csv": csv("age,sex,d", people()) + "Mean,,\n"},
        BOTH,
        2,
        drafts=["age = { widths"],
        says=["column 'age' holds 1 value, in 1 record"],
    ),
    **{
        f"48 {what} under another name": Case(
            {"t.csv": waves("ref").replace("p", write)},
            BOTH,
            drafts=['person = "ref"'],
            hides=[write],
        )
        for what, write in [
            ("pages of persons", "https://example.org/u/"),
            ("network addresses", "10.0.0."),
        ]
    },
    **{
        f"22 {name} is a name": Case(
            {"t.csv": csv(f"{name},sex/gender,#d", people()), "s.toml": study(rule, "#d")},
            f"{INIT}\n{RUN}",
            drafts=[rule.partition(" }")[0].partition("widths")[0], "by its name it is a sex"],
            says=["Released 60 of 60"],
        )
        for name, rule in [
            ("age (yrs)", '"age (yrs)" = { widths = [10] }'),
            ("age = yrs", '"age = yrs" = { widths = [10] }'),
        ]
    },
    **{
        f"24 {address} is refused by name": Case(
            {}, f"init {address}host/people", 2, says=[f"{address} is an address elsewhere"]
        )
        for address in ("https://", "gs://")
    },
    "26 a gap that is written n/a": Case(
        {"t.csv": races("n/a")},
        INIT,
        drafts=['missing-values = ["n/a"]', 'missing = "gap"'],
    ),
    "26 a refusal is a race like others": Case(
        {"t.csv": races("refused")}, INIT, drafts=['missing = "error"', "race = {"]
    ),
    "31 columns of a fixed width that end at the right": Case(
        {"t.csv": "".join(f"{row[0]:>4}{row[1]:>3}{row[2]:>6}\n" for row in people())},
        INIT,
        2,
        says=["if its columns are of a fixed width, set layout"],
    ),
    "32 midnights of New York need a zone": Case(
        {"t.csv": midnights("America/New_York")},
        INIT,
        drafts=["dates that begin at midnight in another time zone"],
    ),
    "34 records in classes of one value": Case(
        {"t.csv": csv("age,sex,d", [[20, "F", "a"]] * 5 + [[30, "M", "b"], [30, "M", "a"]])},
        "check t.csv --quasi-identifiers age,sex --sensitive d "
        "--require distinct-l-diversity=2 --json",
        1,
        says=['"violating_records": 5'],
    ),
    "37 a new zip code of next month has its prefix, and its exception": Case(
        {
            "t.csv": csv(
                "zip,d", [[["02139", "03601"][n % 2], "ab"[n % 3 > 0]] for n in range(40)]
            ),
            "u.csv": csv(
                "zip,d", [[["02188", "05999"][n % 2], "ab"[n % 3 > 0]] for n in range(40)]
            ),
            "s.toml": study(
                'zip = { prefixes = [3], replace = { "000" = ["036", "059"] }, min-level = 1 }'
            ),
        },
        f"{RUN}\napply rel u.csv -o rel2",
        says=["Released 40 of 40"],
        shows=["000**,", "021**,"],
    ),
    "45 postcodes of Canada with a blank and without": Case(
        {"t.csv": zips(CANADIAN.__getitem__).replace("zip", "postal_code")},
        INIT,
        drafts=["postal_code = { prefixes = [3], length = 7"],
    ),
    "47 one name in two Unicode forms, the other way round": Case(
        {
            "t.csv": towns("NFC"),
            "s.toml": study('"Gro\u0308\u00dfe" = "suppress"\nage = { widths = [10, 20] }'),
        },
        RUN,
        says=["Released 60 of 60"],
    ),
    "49 fourteen records and a constant column": Case(
        {"t.csv": csv("year,age,sex,d", [[2026, *row] for row in people(14)])},
        BOTH,
        says=["Released 14 of 14"],
        shows=["2026,"],
    ),
    "49 a database with several tables": Case(
        {"t.duckdb": as_duckdb},
        "init t.duckdb -o .",
        2,
        says=["has several tables: 'clinic.people', 'young'"],
    ),
    "49 a table of a schema": Case(
        {"t.duckdb": as_duckdb},
        "init t.duckdb --table clinic.people -o .\nrun study.toml -o rel",
        says=["Released 60 of 60"],
    ),
    "a column may be called self": Case(
        {"t.csv": csv("self,age,d", [[row[1], row[0], row[2]] for row in people()])},
        BOTH,
        shows=["self,age,d"],
    ),
    "payments that were not made are no income": Case(
        {
            "t.csv": csv(
                "num_failed_to_pay,age,sex,d", [[n % 7, *row] for n, row in enumerate(people())]
            )
        },
        INIT,
        hides=["an income"],
    ),
}


def carried_out(capsys: pytest.CaptureFixture[str], commands: str) -> tuple[int, str]:
    """The exit code of the last command, and what all print; the others succeed."""
    printed, code = "", 0
    for command in commands.splitlines():
        assert code == 0, printed
        with pytest.raises(SystemExit) as ended:
            main(command.split())
        code = ended.value.code
        printed += "".join(capsys.readouterr())
    return code, printed


@pytest.mark.parametrize("name", CASES)
def test_a_situation_ends_as_is_right(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    for file, content in case.files.items():
        Path(file).parent.mkdir(exist_ok=True)
        content(tmp_path) if callable(content) else Path(file).write_text(content, "utf-8")
    code, printed = carried_out(capsys, case.commands)
    plain = " ".join(printed.split())
    assert code == case.code, printed
    for words in case.says:
        assert words in plain
    for words in case.drafts:
        assert words in re.sub(r"\n# *", " ", Path("study.toml").read_text("utf-8"))
    released = "".join(path.read_text("utf-8") for path in Path().glob("rel/released.csv"))
    for words in case.shows:
        assert words in released
    for words in case.hides:
        assert words not in printed
        assert words not in released


def test_06_stays_are_as_long_as_they_were(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case = CASES["06 dates of a person move together"]
    for file, content in case.files.items():
        Path(file).write_text(content, "utf-8")
    assert carried_out(capsys, case.commands)[0] == 0
    raw, released = (
        pd.read_csv(path, parse_dates=["admitted", "discharged"])
        for path in ("t.csv", "rel/released.csv")
    )
    days = [sorted((table["discharged"] - table["admitted"]).dt.days) for table in (raw, released)]
    assert days[0] == days[1] == [3] * 30 + [8] * 30
    assert not set(raw["admitted"]) >= set(released["admitted"])


def test_15_no_border_is_the_value_of_anybody(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rules = 'dob = { calendar = ["year", "decade"], format = "%Y%m%d" }\n'
    rules += "monthly_rent = { widths = [100, 500] }"
    Path("t.csv").write_text(spaced())
    Path("s.toml").write_text(study(rules, more=f'{K5}[recoding]\nmethod = "boxes"\n'))
    assert carried_out(capsys, RUN)[0] == 0
    raw, released = pd.read_csv("t.csv", dtype=str), pd.read_csv("rel/released.csv", dtype=str)
    for name in ("dob", "monthly_rent"):
        borders = {
            each.replace("-", "") for each in re.findall(r"\d[\d-]*", " ".join(released[name]))
        }
        assert len(borders) > 3
        assert borders.isdisjoint(raw[name])


def test_20_columns_as_pandas_has_them():
    age = [row[0] for row in people()]
    rules = {"age": {"widths": [10, 20]}}

    def released(column: object, **options: object) -> pd.DataFrame:
        table = pd.DataFrame({"age": column, "d": [row[2] for row in people()]})
        return Anonymizer(rules, sensitive="d", privacy=[KAnonymity(5)], **options).fit_transform(
            table
        )

    plain = Counter(released(age)["age"])
    assert Counter(released([Decimal(each) for each in age])["age"]) == plain
    assert Counter(released(pd.array(age, "Int64"))["age"]) == plain
    assert Counter(released(np.array(age, "float32"))["age"]) == plain
    huge = released([2**64 + each for each in age])["age"]
    assert Counter(huge).total() == 60
    assert huge.str.startswith("[184467440737095516").all()
    with pytest.raises(Exception, match="where ranges need numbers"):
        released([np.inf, *age[1:]])
    with pytest.raises(Exception, match="column 'age' misses the value of 1 of 60 records"):
        released([np.nan, *age[1:]])


def test_29_numbers_of_patients_in_the_index_are_in_no_release():
    table = pd.DataFrame(people(), columns=["age", "sex", "d"])
    table.index = pd.Index([f"ID-{n}" for n in range(60)], name="patient_id")
    released = Anonymizer(
        {"age": {"widths": [10]}, "sex": "suppress"}, sensitive="d", privacy=[KAnonymity(5)]
    ).fit_transform(table)
    assert "ID-" not in released.to_csv()
    assert "patient_id" not in released.to_csv()


def test_32_years_are_right_with_the_zone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(midnights())
    rules = 'birth_date = { calendar = ["year"], zone = "Europe/Berlin", min-level = 1 }'
    Path("s.toml").write_text(study(rules, more=K5.replace("5", "1")))
    assert carried_out(capsys, RUN)[0] == 0
    true = born(lambda day: day.year).splitlines()[1:]
    years = Counter(row.split(",")[0].strip('"') for row in true)
    assert Counter(pd.read_csv("rel/released.csv", dtype=str)["birth_date"]) == years


def test_42_sqlite_runs_the_sql_and_gives_the_release(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case = CASES["42 SQL that SQLite can run"]
    as_sqlite(tmp_path)
    Path("s.toml").write_text(case.files["s.toml"])
    assert carried_out(capsys, f"{case.commands} -o t.sql")[0] == 0
    with sqlite3.connect("t.sqlite") as base:
        base.executescript(Path("t.sql").read_text())
        rows = base.execute("select * from released").fetchall()
    base.close()
    released = pd.read_parquet("rel/released.parquet")
    assert Counter(tuple(map(str, row)) for row in rows) == Counter(
        released.itertuples(index=False, name=None)
    )


def test_43_a_reader_who_has_enough_ends_init_quietly(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(csv("age,sex,d", people()))
    reading, writing = os.pipe()
    os.close(reading)
    with Path("errors").open("w") as errors:
        start("init", "t.csv", "-o", ".", out=writing, err=errors.fileno()).wait()
    os.close(writing)
    assert Path("errors").read_text() == ""
    assert "[quasi-identifiers]" in Path("study.toml").read_text()
