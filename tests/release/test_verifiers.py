"""Files that examine a release without an installation, held against the library and each other."""

import ast
import csv
import importlib.util
import json
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from lengths import LONG, at_length
from postgres import served
from releases import KINDS, copied, header_and_rows, public_in, release_of
from tampered import BY_LONG, BY_SHORT, mended, of_every_model, tampered, written

from anonymizer import InputError, verify_release
from anonymizer.privacy import MODELS
from anonymizer.release import verifiers
from anonymizer.release.manifest import Manifest
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verifiers.statements import OF_SIZES, OF_VALUES, spelled, statements_of

SCRIPT = Path(verifiers.__file__).parent / "verify.py"


def loaded():
    """``verify.py``, imported by its path as a copy of it is."""
    found = importlib.util.spec_from_file_location("verify_of_recipients", SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


VERIFY = loaded()


def by_python(release: Path) -> dict[str, bool | None]:
    """What ``verify.py`` says of each promise, in order, and of all the rest."""
    said = list(VERIFY.examine(release))
    promises = len(public_in(release)["privacy"])
    return [fine for fine, _ in said[-promises:]], [fine for fine, _ in said[:-promises]]


def statements(release: Path) -> list[str]:
    lines = statements_of(Manifest.read(release / "release.json")).splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("--"))
    return [each for each in text.split(";\n") if each.strip()]


def rows_of(run, release: Path) -> list[tuple]:
    """The rows that the statements give: first of the shape of the table, then of each promise."""
    found = [(each, run(each)) for each in statements(release)]
    return [rows[0] for each, rows in found if "\nSELECT" in each and "CREATE TEMP" not in each]


def by_duckdb(release: Path) -> list[tuple]:
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(
            f"CREATE TABLE released AS SELECT * FROM read_csv('{release}/released.csv', "
            "all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"', "
            "encoding = 'utf-8')"
        )
        return rows_of(lambda each: database.execute(each).fetchall(), release)


def by_sqlite(release: Path) -> list[tuple]:
    header, rows = header_and_rows(release / "released.csv")
    database = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '" TEXT' for name in header)
    database.execute(f"CREATE TABLE released ({names})")
    database.executemany(f"INSERT INTO released VALUES ({', '.join('?' * len(header))})", rows)
    found = rows_of(lambda each: database.execute(each).fetchall(), release)
    database.close()
    return found


VERDICTS = {"yes": True, "no": False}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release of a kind; a test changes a copy."""
    made = {}

    def found(name: str) -> Path:
        if name not in made:
            place = tmp_path_factory.mktemp("kind")
            every = name == "every model"
            made[name] = of_every_model(place) if every else release_of(KINDS[name], place)
        return made[name]

    return found


# What they say of a release


def test_the_script_can_be_read_and_needs_python_3_9_alone():
    text = SCRIPT.read_text()
    assert text.count("\n") <= 250
    tree = ast.parse(text, feature_version=(3, 9))
    taken = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    names = {getattr(each, "module", None) or each.names[0].name for each in taken}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_script_in_a_release_folder(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    shutil.copy(SCRIPT, path)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py"], cwd=path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "holds: 240 records in 6 classes" in done.stdout
    assert 'holds: k-anonymity {"k": 4} of None: 24, in the manifest 24.0; class' in done.stdout


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda text: text.replace(b"flu", b"hiv", 1), 1, "BROKEN: the checksum of 'released.csv'"),
        (lambda text: text + b"\n", 3, "not examined"),
        (lambda text: text.replace(b"\n", b",1\n", 2), 1, "BROKEN: the columns"),
        (lambda text: text[:-2] + b"\xff\n", 3, "not examined"),
        (lambda text: b"\xef\xbb\xbf" + text, 3, "not examined"),
        (lambda text: text.replace(b"disease", b"illness", 1), 3, "not examined"),
    ],
)
def test_a_changed_table(release, tmp_path, capsys, change, code, said):
    path = copied(release("full-domain"), tmp_path)
    table = path / "released.csv"
    table.write_bytes(change(table.read_bytes()))
    if not said.startswith("BROKEN: the checksum"):
        written(path, public_in(path))
    assert VERIFY.main(path) == code
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("full-domain of parquet", "a table not as CSV"),
        ("population", 'k-map {"k": 9, "population": {"name": "everybody.csv", "records": 720}}'),
        ("differential privacy", "more than the classes of the table"),
    ],
)
def test_what_is_not_examined_is_never_said_to_hold(release, capsys, kind, said):
    assert VERIFY.main(release(kind)) == 3
    (line,) = [each for each in capsys.readouterr().out.splitlines() if said in each]
    assert line.startswith("not examined: ")


def test_every_model_holds_by_all(release):
    path = release("every model")
    assert verify_release(path).satisfied
    promises, rest = by_python(path)
    assert {*promises, *rest} == {True}
    for found in (by_duckdb(path), by_sqlite(path)):
        assert [row[3] for row in found] == ["yes"] * len(found)
        told = [each["worst"] for each in public_in(path)["privacy"]]
        assert [row[2] for row in found[1:]] == pytest.approx(told, rel=1e-9)


def test_all_know_the_same_models():
    """The others need more than the classes of a released table."""
    functions = {*vars(VERIFY.OfClass), *vars(VERIFY.OfTable)}
    known = {name.replace("_", "-") for name in functions if not name.startswith("_")}
    assert known == {*OF_SIZES, *OF_VALUES}
    others = {name for name, model in MODELS.items() if name not in known}
    assert others == {
        *("person-k-anonymity", "largest-share", "km-anonymity", "composition-k-anonymity"),
        *("household-k-anonymity", "household-composition-k-anonymity", "household-risk"),
        *("k-map", "delta-presence", "individual-risk", "population-uniqueness"),
        "differential-privacy",
    }


HOSTILE = [
    ("k", "4"), ("k", True), ("k", None), ("k", 0), ("k", -1), ("k", 10**400), ("k", [4]),
    ("k", {"__proto__": 1}), ("odds", 2), ("population", {}), ("__proto__", 4), ("K", 4),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), HOSTILE)
def test_a_parameter_that_no_model_has(release, tmp_path, key, value):
    path = copied(release("no sensitive attribute"), tmp_path)
    manifest = public_in(path)
    manifest["privacy"][0]["parameters"] |= {key: value}
    (path / "release.json").write_text(json.dumps(manifest))
    assert by_python(path)[0] == [False if value == 10**400 else None]
    try:
        found = by_duckdb(path)
    except InputError:
        return
    assert found[1][3] not in ("yes", "no") or value == 10**400


def test_a_model_about_nothing(release, tmp_path):
    """Without its attribute t-closeness would be of no values, which are alike in all classes."""
    path = copied(release("full-domain"), tmp_path)
    for attribute in (None, "", "age", "__proto__", 0, ["disease"]):
        manifest = public_in(path)
        manifest["privacy"][1]["attribute"] = attribute
        (path / "release.json").write_text(json.dumps(manifest))
        assert by_python(path)[0] == [True, None]
        if attribute is None or isinstance(attribute, str):
            assert by_duckdb(path)[2][3].startswith("not examined")


WHOSE = [{"person": ["name"]}, {"person_numbers": "note"}, {"items": {"disease": " "}}]


@pytest.mark.parametrize("whose", WHOSE)
def test_persons_and_items_are_not_examined_unless_records_break_a_model(release, tmp_path, whose):
    path = copied(release("full-domain"), tmp_path)
    manifest = public_in(path) | whose
    if "person_numbers" in whose:
        manifest["other_columns"].remove("note")
    sized = True if "items" in whose else None
    (path / "release.json").write_text(json.dumps(manifest))
    assert by_python(path)[0] == [sized, None]
    assert [row[3][:3] for row in by_duckdb(path)[1:]] == ["yes" if sized else "not", "not"]
    manifest["privacy"][0]["parameters"]["k"] = 25
    manifest["privacy"][1]["parameters"]["t"] = 0.1
    (path / "release.json").write_text(json.dumps(manifest))
    assert by_python(path)[0] == [False, False]
    assert [row[3] for row in by_duckdb(path)[1:]] == ["no", "no"]


@pytest.mark.parametrize("part", ["columns", "recoding", "other_columns"])
def test_a_role_that_was_taken_away(release, tmp_path, part):
    """One class has all records where nothing is a quasi-identifier."""
    path = copied(release("full-domain"), tmp_path)
    manifest = public_in(path)
    if part == "columns":
        manifest["columns"]["quasi_identifiers"] = ["age"]
    elif part == "recoding":
        del manifest["recoding"]["job"]
    else:
        manifest["other_columns"].append("job")
    (path / "release.json").write_text(json.dumps(manifest))
    assert False in by_python(path)[1]


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("1", "1.0", False), ("1", "01", False), ("10", "1e1", False), ("1", "2", True),
        ("HIV", "hiv", False), ("HIV", "HIV.", False), ("a b", "a_b", False), ("é", "e", False),
        ("\u041d\u0406V", "HIV", False), ("NA", "none", False), ("yes", "true", False),
        ("x", "y", True),
        ("2020-01-01", "1/1/2020", False), ("R&amp;D", "R&D", False), ("<5", "5", True),
        ("10:00", "10:00:00", False), ("3 days", "4 days", True), ("0x1", "1", False),
        ("1\u200b0", "10", False), ("-0", "0", False), ("5", "'5'", False), ("5+", "5", True),
        ("inf", "Infinity", False), ("1e99", "1e400", False), ("EPOCH", "1970-01-01", False),
        ("C61", "C62", True), ("250.01", "250.1", True), ("250.10", "250.1", False),
        ("18-24", "25-30", True), ("nan(1)", "nan", False), ("grippe fébrile", "fièvre", True),
    ],
)  # fmt: skip
def test_values_that_may_be_one_to_a_reader_are_not_counted_as_two(one, other, apart):
    assert VERIFY.spelled_apart({one, other}) == apart
    if apart:
        return
    text = statements_of_values(one, other)
    assert text.startswith("not examined")


def statements_of_values(*values: str) -> str:
    """What SQL says of two values in one class, of which k = 1 holds and l = 2 is promised."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE verify_records (k0 TEXT, v0 TEXT)")
    database.executemany("INSERT INTO verify_records VALUES ('', ?)", [(each,) for each in values])
    database.execute(spelled(0, "SELECT DISTINCT v0 AS w FROM verify_records").rstrip(";"))
    query = "SELECT MIN(clear) + COUNT(DISTINCT plain) - COUNT(*) FROM verify_spelled_0"
    ((clear,),) = database.execute(query).fetchall()
    database.close()
    return "yes" if clear >= 1 else "not examined"


# Changed releases


def agree(path: Path, databases) -> list[bool | None]:
    """Hold the verifiers against the library on a changed release; the verdicts of the script.

    A verifier may say that it does not examine a model, of the library's doubts: a model of more
    than classes, or values that may be one to a reader.
    """
    found = mended(path)
    if found is None:
        assert VERIFY.main(path) != 0
        return []
    ours = [verdict.satisfied for verdict in found.verdicts]
    promises, _ = by_python(path)
    rows = [run(path)[1:] for run in databases]
    for theirs in (promises, *([VERDICTS.get(row[3]) for row in each] for each in rows)):
        for verdict, mine, its in zip(found.verdicts, ours, theirs, strict=True):
            assert its in (mine, None), (verdict, its)
    header, rows = header_and_rows(path / "released.csv")
    for verdict, its in zip(found.verdicts, promises, strict=True):
        if its is None and verdict.attribute is not None:
            place = header.index(verdict.attribute)
            assert not VERIFY.spelled_apart({row[place].strip() for row in rows}), verdict
    return promises


def test_changed_releases_are_told_alike(release, tmp_path):
    """Most changes break something, some break nothing, and few are not examined."""
    rng, seen = random.Random(4), []
    kinds = [*(BY_LONG if LONG else 2 * BY_SHORT), "every model"]
    for number in range(at_length(30, 1000)):
        kind = kinds[number % len(kinds)]
        path = tampered(release(kind), tmp_path / str(number), rng)
        # PostgreSQL below gives the rows of DuckDB, which takes most of the time.
        seen += agree(path, [by_duckdb, by_sqlite] if LONG or number % 4 == 0 else [by_sqlite])
        shutil.rmtree(tmp_path / str(number))
    assert seen.count(True) > seen.count(False) > seen.count(None) > 0


# As the head of the statements says


def head_of(release: Path, database: str) -> str:
    """What the head says for a database, with the place of the table."""
    text = statements_of(Manifest.read(release / "release.json"))
    paragraphs = text.partition("\n\n")[0].split("\n--\n")
    (own,) = [each for each in paragraphs if each.startswith(f"-- {database}")]
    lines = [line.removeprefix("--").strip() for line in own.splitlines()[1:]]
    return "\n".join(lines).replace("released.csv", str(release / "released.csv"))


def test_the_head_for_duckdb(release):
    path = release("every model")
    with duckdb.connect() as database:
        database.execute(head_of(path, "DuckDB"))
        rows = rows_of(lambda each: database.execute(each).fetchall(), path)
    assert {row[3] for row in rows} == {"yes"}


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no sqlite3 there")
def test_the_head_for_sqlite(release):
    path = release("every model")
    text = statements_of(Manifest.read(path / "release.json"))
    script = f"{head_of(path, 'SQLite')}\n{text}"
    done = subprocess.run(["sqlite3"], input=script, capture_output=True, text=True, cwd=path)
    assert done.stderr == ""
    promises = len(public_in(path)["privacy"])
    assert [line.rsplit(",", 1)[1] for line in done.stdout.splitlines()] == ["yes"] * (1 + promises)


@pytest.fixture(scope="module")
def server():
    with served() as found:
        yield found


def by_postgresql(server, release: Path) -> list[list[str]]:
    """The rows that psql prints for a script as the head says; for each its names come first."""
    text = statements_of(Manifest.read(release / "release.json"))
    script = f"{head_of(release, 'PostgreSQL')}\n{text}DROP TABLE released;"
    printed = server.psql(script)
    return [*csv.reader(printed.splitlines())][1::2]


def test_postgresql_gives_the_rows_that_duckdb_does(release, server, tmp_path):
    rng, kinds = random.Random(2), [*(BY_LONG if LONG else BY_SHORT), "every model"]
    for number in range(at_length(6, 200)):
        path = tampered(release(kinds[number % len(kinds)]), tmp_path / str(number), rng)
        try:
            other = by_duckdb(path)
        except InputError:
            continue
        rows = by_postgresql(server, path)
        assert [[*row[:2], row[3]] for row in rows] == [[*row[:2], row[3]] for row in other]
        worst = [(row[2] or None, its[2]) for row, its in zip(rows, other, strict=True)]
        for mine, its in worst:
            assert (mine is None) == (its is None)
            assert mine is None or float(mine) == pytest.approx(its, rel=1e-9, abs=1e-9)


# Next to a release


def study_with(directory: Path, output: str, more: str = "") -> Path:
    """A small study with some ``[output]``."""
    rows = [f"{20 + i % 20},{'flu' if i % 3 else 'cold'}" for i in range(40)]
    (directory / "people.csv").write_text("\n".join(["age,ill", *rows, ""]))
    (directory / "study.toml").write_text(
        '[data]\npath = "people.csv"\n[quasi-identifiers]\nage = { widths = [10, 50] }\n'
        '[sensitive]\nattributes = ["ill"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 4\n'
        f"[output]\n{output}\n{more}"
    )
    return directory / "study.toml"


ALL = 'verifiers = ["html", "sql", "python"]'


def test_a_run_writes_verifiers_and_their_checksums(run, tmp_path):
    out = tmp_path / "out"
    assert run("run", study_with(tmp_path, ALL), "-o", out)[0] == 0
    assert {each.name for each in out.iterdir()} == {
        *("release.json", "released.csv", "verify.py", "verify.sql", "verify.html")
    }
    assert (out / "verify.py").read_bytes() == SCRIPT.read_bytes()
    assert VERIFY.main(out) == 0
    assert verify_release(out).satisfied
    assert run("run", study_with(tmp_path, 'verifiers = ["html"]'), "-o", out, "--force")[0] == 0
    assert {each.name for each in out.iterdir()} == {"release.json", "released.csv", "verify.html"}


def test_the_release_of_another_table_has_the_verifiers_that_it_follows(run, tmp_path):
    study = study_with(tmp_path, ALL)
    out, again = tmp_path / "out", tmp_path / "again"
    publish(Study(study), out)
    (table,) = tmp_path.glob("*.csv")
    assert run("apply", out, table, "-o", again)[0] == 0
    assert {each.name for each in again.iterdir()} == {each.name for each in out.iterdir()}
    assert VERIFY.main(again) == 0
    assert verify_release(again).satisfied
    assert run("apply", out, table, "-o", again, "--file", "released.parquet", "--force")[0] == 0
    assert (again / "verify.html").exists()
    assert not (again / "verify.sql").exists()


@pytest.mark.parametrize("name", ["verify.py", "verify.sql", "verify.html"])
def test_a_verifier_that_was_changed_or_taken_away(tmp_path, capsys, name):
    publish(Study(study_with(tmp_path, ALL)), tmp_path / "out")
    path = tmp_path / "out" / name
    path.write_bytes(path.read_bytes() + b"\n")
    (found,) = verify_release(tmp_path / "out").differences
    assert str(found) == f"table.verifiers.{name}: the table has another one next to it"
    assert VERIFY.main(tmp_path / "out") == 1
    path.unlink()
    (found,) = verify_release(tmp_path / "out").differences
    assert str(found) == f"table.verifiers.{name}: the table has none next to it"
    assert VERIFY.main(tmp_path / "out") == 3


def test_a_script_of_somebody_elses_is_not_replaced(run, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "verify.py").write_text("mine")
    code, _, err = run("run", study_with(tmp_path, ALL), "-o", out, "--force")
    assert (code, (out / "verify.py").read_text()) == (2, "mine")
    assert "is no part of a release of ours" in err


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (f'{ALL}\nfile = "released.parquet"', r'verifiers = \["sql"\] reads CSV; add file = "rel'),
        ('verifiers = ["pdf"]', "verifiers"),
        ('verifiers = "html"', "verifiers"),
    ],
)
def test_verifiers_that_there_cannot_be(tmp_path, output, message):
    with pytest.raises(InputError, match=message):
        publish(Study(study_with(tmp_path, output)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_release_is_not_written_without_its_statements(tmp_path):
    study = study_with(tmp_path, ALL)
    text = (tmp_path / "people.csv").read_text().replace("age,ill", "age,ill,ILL")
    (tmp_path / "people.csv").write_text(
        text.replace("flu\n", "flu,1\n").replace("cold\n", "cold,2\n")
    )
    with pytest.raises(InputError, match="a database cannot tell the column 'ILL' from others"):
        publish(Study(study), tmp_path / "out")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people.csv", "study.toml"]


def test_a_bundle_is_written_beside_a_release(run, tmp_path):
    publish(Study(study_with(tmp_path, "")), tmp_path / "out")
    bundle = tmp_path / "bundle"
    code, _, err = run("verify", tmp_path / "out", "--bundle", bundle)
    assert (code, err) == (0, "")
    names = {each.name for each in bundle.iterdir()}
    assert names == {"verify.py", "verify.sql", "verify.html"}
    (bundle / "verify.py").unlink()
    code, _, err = run("verify", tmp_path / "out", "--bundle", bundle)
    assert (code, err.strip()) == (
        2,
        f"anonymizer: {bundle / 'verify.sql'} is there already: choose another directory",
    )
    assert not (bundle / "verify.py").exists()


def test_a_bundle_of_parquet_has_no_statements(release, tmp_path):
    manifest = Manifest.read(release("full-domain of parquet") / "release.json")
    made = verifiers.write_bundle(manifest, tmp_path / "bundle")
    assert [each.name for each in made] == ["verify.py", "verify.html"]


# Hostile tables and manifests


def test_names_and_labels_that_would_be_statements(tmp_path):
    """Quotes, comments and ends of statements are texts, in names, values and parameters."""
    evil = "x'; DROP TABLE released; --"
    name = 'a"; DROP TABLE released; --'
    header = ['"' + each.replace('"', '""') + '"' for each in (name, "ill")]
    rows = [f'{i % 2},"{evil if i % 3 else "ok"}"' for i in range(24)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(header), *rows, ""]))
    (tmp_path / "study.toml").write_text(
        f'[data]\npath = "t.csv"\n[quasi-identifiers]\n\'{name}\' = "suppress"\n'
        '[sensitive]\nattributes = ["ill"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 4\n'
        '[[privacy]]\nmodel = "t-closeness"\nt = 1\ndistance = "ordered"\n'
        f'order = ["ok", "{evil}"]\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    for found in (by_duckdb(tmp_path / "out"), by_sqlite(tmp_path / "out")):
        assert [row[3] for row in found] == ["yes", "yes", "yes"]
    assert VERIFY.main(tmp_path / "out") == 0


@pytest.mark.parametrize("name", ["a\nDROP TABLE released;--", "a\rb", "a\u2028b", "AGE", ""])
def test_names_that_a_shell_cannot_read(release, name):
    manifest = public_in(release("full-domain"))
    manifest["table"]["columns"].append(name)
    with pytest.raises(InputError, match=r"rename it in the table, or leave verify\.sql out"):
        statements_of(Manifest.parse(manifest))


@pytest.mark.parametrize(
    "file", ["../released.csv", "/etc/hostname", "released.csv\n", "released.parquet"]
)
def test_a_table_elsewhere_is_not_read(release, tmp_path, capsys, file):
    path = copied(release("full-domain"), tmp_path)
    manifest = public_in(path)
    manifest["table"]["file"] = file
    (path / "release.json").write_text(json.dumps(manifest))
    assert VERIFY.main(path) == 3
    assert "holds: k-anonymity" not in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", "[" * 100_000, '{"table": 1}', "NaN"])
def test_a_manifest_that_is_none(release, tmp_path, capsys, content):
    path = copied(release("full-domain"), tmp_path)
    (path / "release.json").write_text(content)
    assert VERIFY.main(path) == 3
    assert "holds" not in capsys.readouterr().out


def test_a_message_has_no_characters_that_move_the_cursor(release, tmp_path, capsys):
    path = copied(release("full-domain"), tmp_path)
    header, rows = header_and_rows(path / "released.csv")
    rows[0][0] = "\x1b[2Jholds: everything"
    with (path / "released.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    manifest = public_in(path)
    manifest["privacy"][0]["model"] = "\x1b[2J"
    written(path, manifest)
    VERIFY.main(path)
    assert "\x1b" not in capsys.readouterr().out
