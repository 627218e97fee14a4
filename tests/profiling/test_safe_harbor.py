"""The eighteen identifiers of HIPAA's Safe Harbor: planted by name and by value, and found."""

import json
import random
import tomllib
from datetime import date, timedelta

import pandas as pd
import pytest

from anonymizer.privacy import PersonKAnonymity
from anonymizer.profiling.identifying import VIN_VALUES, VIN_WEIGHTS
from anonymizer.profiling.policy import POLICY_PRESETS
from anonymizer.profiling.profile import Raw
from anonymizer.profiling.safe_harbor import BY_LETTER, safe_harbor
from anonymizer.release.study import Study

N = 60


def drawn(kind):
    """Sixty values of a kind, made by a seed."""
    rng = random.Random(kind)

    def digits(number):
        return "".join(rng.choice("0123456789") for _ in range(number))

    return [MADE[kind](rng, digits, n) for n in range(N)]


def vin(rng, digits, n):
    text = "1HGCM826" + "0" + "A" + digits(7)
    worth = [int(VIN_VALUES.get(sign, sign)) for sign in text]
    rest = sum(a * b for a, b in zip(worth, VIN_WEIGHTS, strict=True)) % 11
    return text[:8] + ("X" if rest == 10 else str(rest)) + text[9:]


def luhn(text):
    total = sum(sum(divmod(int(d) * (1 + i % 2), 10)) for i, d in enumerate(text[::-1], 1))
    return text + str(-total % 10)


def dea(rng, digits, n):
    own = digits(6)
    total = sum(map(int, own[::2])) + 2 * sum(map(int, own[1::2]))
    return f"BK{own}{total % 10}"


FIRST, LAST = ("Ada", "Kim", "Ole", "Zoë", "Max"), ("Lovelace", "O'Hara", "Müller", "Smith-Jones")
MADE = {
    "A": lambda rng, digits, n: f"{rng.choice(FIRST)} {chr(65 + n % 26)}. {rng.choice(LAST)}",
    "B": lambda rng, digits, n: f"{n + 1} Oak Street",
    "C": lambda rng, digits, n: (date(2020, 1, 1) + timedelta(7 * n)).isoformat(),
    "D": lambda rng, digits, n: f"(212) 555-01{n:02}",
    "E": lambda rng, digits, n: f"fax: +1 212 555 01{n:02}",
    "F": lambda rng, digits, n: f"user{n}@example.org",
    "G": lambda rng, digits, n: f"{100 + n}-45-{1000 + n}",
    "H": lambda rng, digits, n: f"MRN {digits(7)}",
    "I": lambda rng, digits, n: f"{1 + n % 9}EG4-TE5-MK{digits(2)}",
    "J": lambda rng, digits, n: luhn("4" + digits(14)),
    "K": dea,
    "L": vin,
    "M": lambda rng, digits, n: ":".join(digits(2) for _ in range(6)),
    "N": lambda rng, digits, n: f"https://example.org/{n}",
    "O": lambda rng, digits, n: f"10.0.{n % 7}.{n}",
    "P": lambda rng, digits, n: "Rk1SACAyMAAAAA" + digits(12),
    "Q": lambda rng, digits, n: f"faces/{digits(6)}.jpg",
    "R": lambda rng, digits, n: f"{digits(8)}-1234-4123-8123-{digits(12)}",
}
NAMES = {
    "A": "last_name", "B": "City", "C": "date_of_birth", "D": "home phone", "E": "FaxNumber",
    "F": "e_mail", "G": "SSN", "H": "mrn", "I": "member_id", "J": "account-number",
    "K": "drivers_license", "L": "license_plate", "M": "device id", "N": "url", "O": "ip_address",
    "P": "fingerprint", "Q": "photo", "R": "patient_id",
}  # fmt: skip


def found(**columns):
    return safe_harbor(Raw.of(pd.DataFrame(columns)))


def letters(report):
    return {(each.letter, each.column) for each in report.findings}


def test_all_eighteen_are_found_by_their_values():
    """The columns have names that say nothing."""
    report = found(**{f"x{letter}x": drawn(letter) for letter in BY_LETTER})
    assert letters(report) == {(letter, f"x{letter}x") for letter in BY_LETTER}
    assert {each.by for each in report.findings} == {"values"}


def test_all_eighteen_are_found_by_their_names():
    """The values are letters that say nothing, but for dates, which are days of the year."""
    rng = random.Random(1)
    columns = {
        NAMES[letter]: [f"{rng.choice('ghjk')}{rng.choice('ghjk')}{n % 30}" for n in range(N)]
        for letter in BY_LETTER
    }
    columns[NAMES["C"]] = drawn("C")
    report = safe_harbor(Raw.of(pd.DataFrame(columns)))
    assert letters(report) == {(letter, NAMES[letter]) for letter in BY_LETTER}
    assert {each.letter for each in report.findings if each.by == "values"} <= {"C", "R"}


def test_adult_has_none_of_them(adult):
    report = safe_harbor(Raw.of(adult))
    assert (report.findings, report.unexamined) == ((), ())


@pytest.mark.parametrize(
    ("ages", "several"),
    [
        ([20, 50, 89], False),
        ([20, 50, 90], False),
        (["20", "50", "90+"], False),
        (["20", "89", "90 and over"], False),
        (["[20, 90)", "[90, inf)"], False),
        ([20, 90, 91], True),
        (["[20, 85)", "[85, 95)", "95 and over"], True),
        (["20", "90-94", "95+"], True),
    ],
)
def test_ages_over_89_are_one_group(ages, several):
    report = found(age=ages * 30)
    assert letters(report) == ({("C", "age")} if several else set())


@pytest.mark.parametrize(
    ("values", "dated"),
    [
        ([1980, 1985, 2001], False),
        (["1980", "1936 or before"], False),
        (["[1980, 1990)", "[1990, 2000)"], False),
        (["(-inf, 1942-01-01)", "[1942-01-01, 1952-01-01)"], False),
        (["*"], False),
        ([1901, 1903, 1980], True),  # of people over 89, several groups
        (["1980-05", "1981-06"], True),
        (["1979 Q3", "1980 Q1"], True),
        (["5/1980", "12/1981"], True),
        (["[1980-01-01, 1980-02-01)", "[1980-02-01, 1980-03-01)"], True),
        (["12-Mar-80", "1 Jun 1981"], True),
    ],
)
def test_of_dates_years_alone_may_stay(values, dated):
    assert letters(found(birth=values * 30)) == ({("C", "birth")} if dated else set())


@pytest.mark.parametrize("value", ["10.0.0.1", "1.2.3", "Mary 12", "Market 4", "12-34-5678"])
def test_what_looks_like_a_date_and_is_none(value):
    assert not [each for each in found(x=[value, "other"] * 30).findings if each.letter == "C"]


def test_three_digits_of_zip_codes_need_a_census():
    table = pd.DataFrame({"zip": ["021**", "036**", "000**", "*"] * 20})
    raw = Raw.of(table)
    assert [name for name, _ in safe_harbor(raw).unexamined] == ["zip"]
    assert letters(safe_harbor(raw, {"021": 20_001, "036": 20_000})) == {("B", "zip")}
    many = safe_harbor(raw, {"021": 20_001, "036": 20_001})
    assert (many.findings, many.unexamined) == ((), ())
    assert "nothing of 1 of its zip codes" in safe_harbor(raw, {"021": 20_001}).unexamined[0][1]
    assert letters(found(zip=["02139", "03601"] * 30)) == {("B", "zip")}


def test_free_text_is_looked_into_and_never_examined():
    text = "Seen by the nurse on {} and sent home; reach the family at {}."
    notes = [text.format(f"3/{1 + n % 28}/2021", f"(212) 555-01{n:02}") for n in range(N)]
    report = found(notes=notes)
    assert letters(report) == {("C", "notes"), ("D", "notes")}
    assert [name for name, _ in report.unexamined] == ["notes"]
    clean = found(notes=["Nothing of note was to be seen " + "x" * n for n in range(N)])
    assert (clean.findings, len(clean.unexamined)) == ((), 1)


def test_a_note_among_categories_is_looked_into():
    """Most cells say none, so that the column is no free text."""
    values = ["none"] * 50 + ["call (212) 555-0101", "kim@example.org; bob@example.org"] * 5
    assert letters(found(remark=values)) == {("D", "remark"), ("F", "remark")}


def test_what_many_share_is_no_identifier():
    """Whether somebody has a telephone, or what kind of account, is told by the name alone."""
    columns = {
        "telephone": ["yes", "no"] * 200,
        "account": ["none", "low", "high", "unknown"] * 100,
        "clinic_name": ["North", "South"] * 200,
        "num_open_accounts": [*range(10)] * 40,
        "vehicle": ["car", "bus"] * 200,
    }
    assert found(**columns).findings == ()


def test_codes_that_may_be_of_places_are_not_examined():
    report = found(x=["02139", "02142", "94110"] * 20)
    assert (report.findings, [name for name, _ in report.unexamined]) == ((), ["x"])


def test_lists_are_not_examined():
    report = safe_harbor(Raw.of(pd.DataFrame({"codes": [["a"], ["b"]]})))
    assert report.unexamined == (("codes", "its values cannot be told apart, as those of lists"),)


def test_the_command(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"mail": drawn("F"), "zip": ["021", "036"] * 30}).to_csv("t.csv", index=False)
    code, out, err = run("lint", "--safe-harbor", "t.csv")
    assert (code, err) == (1, "")
    assert "e-mail addresses" in out
    assert "--census names a file" in out
    assert "user1@" not in out
    (tmp_path / "c.csv").write_text("zip,people\n02139,36434\n03601,900\n")
    found = json.loads(run("lint", "--safe-harbor", "t.csv", "--census", "c.csv", "--json")[1])
    assert [each["letter"] for each in found["findings"]] == ["B", "F"]
    pd.DataFrame({"zip": ["021"] * 60}).to_csv("u.csv", index=False)
    assert run("lint", "--safe-harbor", "u.csv")[0] == 3
    assert run("lint", "--safe-harbor", "u.csv", "--census", "c.csv")[0] == 0
    (tmp_path / "e.csv").write_text("mail\n")
    code, _, err = run("lint", "--safe-harbor", "e.csv")
    assert (code, "the table has no records" in err) == (2, True)
    code, _, err = run("lint", "t.csv")
    assert (code, "t.csv is a table, not a study" in err) == (2, True)


def patients():
    """People of 30 to 99 years with names, dates, zip codes, cities, notes and a diagnosis."""
    rng = random.Random(3)
    rows = []
    for n in range(400):
        born = date(1927, 1, 1) + timedelta(rng.randrange(25_000))
        seen = date(2021, 1, 1) + timedelta(rng.randrange(900))
        rows.append(
            {
                "patient_id": f"P{n:05}",
                "name": drawn("A")[n % N] + f" {n}",
                "dob": born.isoformat(),
                "age": rng.randrange(30, 100),
                "sex": rng.choice("FM"),
                "zip": rng.choice(["02139", "02138", "03601", "99501"]),
                "city": rng.choice(["Boston", "Acworth"]),
                "admitted": f"{seen.month}/{seen.day}/{seen.year}",
                "diagnosis": rng.choice(["flu", "cold", "asthma"]),
                "notes": f"Nothing of note was to be seen on this visit, {n}",
            }
        )
    return pd.DataFrame(rows)


@pytest.mark.parametrize("census", [True, False])
def test_a_preset_drafts_a_study_whose_release_has_none_of_them(tmp_path, monkeypatch, run, census):
    monkeypatch.chdir(tmp_path)
    patients().to_csv("p.csv", index=False)
    (tmp_path / "c.csv").write_text("zip,people\n02139,15000\n02138,9000\n03601,900\n")
    given = ["--census", "c.csv"] if census else []
    assert run("init", "p.csv", "-o", "study", "--preset", "safe-harbor", *given)[0] == 0
    assert run("run", "study/study.toml", "-o", "out")[0] == 0
    assert run("lint", "--safe-harbor", "out", *given)[0] == 0
    released = pd.read_csv("out/released.csv", dtype=str)
    zips = {"zip"} if census else set()
    assert {*released.columns} == {"dob", "age", "sex", "admitted", "diagnosis"} | zips
    if census:
        assert {*released["zip"]} <= {"021**", "000**", "*"}
    assert run("verify", "out")[0] == 0


class NextYear(date):
    @classmethod
    def today(cls) -> "NextYear":
        return cls(date.today().year + 1, 12, 31)


@pytest.mark.parametrize("born", ["dob", "birth_year"])
def test_a_study_of_this_year_holds_next_year(tmp_path, monkeypatch, run, born):
    monkeypatch.chdir(tmp_path)
    table = patients()[["dob", "sex", "diagnosis"]]
    if born == "birth_year":
        table["dob"] = table["dob"].str[:4].astype(int)
    table.rename(columns={"dob": born}).to_csv("p.csv", index=False)
    assert run("init", "p.csv", "-o", "study", "--preset", "safe-harbor")[0] == 0
    monkeypatch.setattr("anonymizer.profiling.safe_harbor.date", NextYear)
    assert run("run", "study/study.toml", "-o", "out")[0] == 0
    assert run("lint", "--safe-harbor", "out")[0] == 0


def test_a_preset_refuses_what_it_does_not_allow(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    patients().to_csv("p.csv", index=False)
    preset = ("init", "p.csv", "-o", "study", "--preset", "safe-harbor")
    for more, message in (
        (("--sensitive", "zip"), "--sensitive names 'zip', which Safe Harbor does not let stand"),
        (("--quasi-identifiers", "city"), "--quasi-identifiers names 'city', which Safe Harbor"),
        (("--insensitive", "notes"), "--insensitive names 'notes', which Safe Harbor does not let"),
        (("--census", "none.csv"), "cannot read census none.csv"),
    ):
        code, _, err = run(*preset, *more)
        assert (code, message in err) == (2, True), err
    code, _, err = run("init", "p.csv", "-o", "study", "--census", "c.csv")
    assert (code, "--census is for --preset safe-harbor" in err) == (2, True)
    patients()[["name", "notes"]].to_csv("n.csv", index=False)
    code, _, err = run("init", "n.csv", "-o", "study", "--preset", "safe-harbor")
    assert (code, "leaves no column that others may know" in err) == (2, True)
    assert not (tmp_path / "study").exists()


# Policies that guidances name


@pytest.mark.parametrize(
    ("preset", "least"), [("ema", 12), ("health-canada", 12), ("cms", 11), ("statistics-office", 3)]
)
@pytest.mark.parametrize("person", [False, True])
def test_a_policy_by_its_name_is_that_of_every_class(
    tmp_path, monkeypatch, run, preset, least, person
):
    """12 of a class meet 9 %: 1/11 = .0909 is above it. Of persons as of records."""
    monkeypatch.chdir(tmp_path)
    table = patients()[["age", "sex", "diagnosis"]].assign(visitor=[n // 2 for n in range(400)])
    table.to_csv("p.csv", index=False)
    whose = ["--person", "visitor" if person else "-"]
    assert run("init", "p.csv", "-o", "study", "--preset", preset, *whose)[0] == 0
    study = Study("study/study.toml")
    keys = POLICY_PRESETS[preset].keys
    assert f'model = "{keys["model"]}"' in study.path.read_text()
    assert POLICY_PRESETS[preset].source.split(",")[0] in study.path.read_text().replace(
        "\n# ", " "
    )
    if person:
        assert PersonKAnonymity(least) in study.privacy
        return
    assert run("run", "study/study.toml", "-o", "out")[0] == 0
    released = pd.read_csv("out/released.csv", dtype=str)
    assert released.groupby(["age", "sex"]).size().min() >= least
    assert run("verify", "out")[0] == 0


def test_presets_are_lines_of_a_study(tmp_path, run):
    code, out, _ = run("models", "--presets")
    assert code == 0
    models = tomllib.loads(out)["privacy"]
    assert models == [each.keys for each in POLICY_PRESETS.values()]
    assert all(name in out for name in POLICY_PRESETS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--preset", "ema", "--preset", "cms"], "--preset ema and cms are two policies"),
        (["--preset", "cms", "--k", "5"], "--preset cms says how many a class has at least"),
        (["--preset", "hippa"], "'hippa' is not one of"),
    ],
)
def test_presets_that_contradict_are_refused(tmp_path, monkeypatch, run, given, message):
    monkeypatch.chdir(tmp_path)
    patients().to_csv("p.csv", index=False)
    code, _, err = run("init", "p.csv", "-o", "study", *given)
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "study").exists()
