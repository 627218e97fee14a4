"""Planted faults of studies, tables and releases: each is found, by its rule and on its line."""

import json
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import ROOT
from strategies import some_classes

from anonymizer.cli.risk import UNEXAMINED
from anonymizer.feedback.progress import ignore
from anonymizer.privacy import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    TCloseness,
    holds,
)
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.report.sarif import sarif
from anonymizer.risk.drift import lint_file, moved_by
from anonymizer.risk.lint import RULES, Lint, implies

ILLNESSES = "zzflu", "zzcold", "zzhiv", "zzgout"
SECRETS = [*ILLNESSES, "Nemo-", "zzother"]
"""Values of the table that neither the study nor a hierarchy has."""

STUDY = """[data]
path = "people.csv"
columns = "pinned"
[quasi-identifiers]
age = { widths = [10, 20, 40] }
job = "job.csv"
[sensitive]
attributes = ["disease"]
[identifiers]
attributes = ["name"]
[insensitive]
attributes = ["cost", "town"]
[[privacy]]
model = "k-anonymity"
k = 4
[[privacy]]
model = "t-closeness"
t = 0.45
distance = "equal"
"""
K = '[[privacy]]\nmodel = "k-anonymity"\nk = 4\n'
T = '[[privacy]]\nmodel = "t-closeness"\nt = 0.45\ndistance = "equal"\n'
SEVERAL = "[search]\ntime-limit = 60\n"
DIVERSE = '[[privacy]]\nmodel = "distinct-l-diversity"\n'
OPEN = {'columns = "pinned"\n': "", '[insensitive]\nattributes = ["cost", "town"]\n': ""}


def people(records: int = 240) -> pd.DataFrame:
    rows = [
        {
            "name": f"Nemo-{n}",
            "age": 20 + n * 7 % 60,
            "job": ("nurse", "vet", "smith")[n // 3 % 3],
            "disease": ILLNESSES[(n * n // 5 + n // 7) % 4],
            "cost": 100 + n % 4,
            "town": ("here", "there")[n % 2],
        }
        for n in range(records)
    ]
    return pd.DataFrame(rows)


Edit = Callable[[pd.DataFrame], pd.DataFrame]


class Fault(NamedTuple):
    """What is wrong: in the study, in the table it is run on, in the table after the release."""

    rule: str
    line: str
    study: Mapping[str, str] = {}
    table: Edit | None = None
    then: Mapping[str, str] | Edit | None = None


def more(text: str, rule: str, line: str, edits: Mapping[str, str] | None = None) -> Fault:
    return Fault(
        rule, line, {**(edits or {}), '\ndistance = "equal"\n': f'\ndistance = "equal"\n{text}\n'}
    )


def put(**columns: object) -> Edit:
    """Put values into the first records of columns, or a whole column."""

    def edit(table: pd.DataFrame) -> pd.DataFrame:
        changed = table.copy()
        for name, first in columns.items():
            values = list(table[name].astype(object)) if name in table else [None] * len(table)
            first = first(table) if callable(first) else first
            changed[name] = [*first, *values[len(first) :]]
        return changed

    return edit


def each(value: Callable[[int], object]) -> Callable[[pd.DataFrame], list]:
    return lambda table: [value(n) for n in range(len(table))]


def every(step: int, value: object) -> Callable[[pd.DataFrame], list]:
    """The illnesses, every second one, say, being another one."""
    return lambda table: [value if n % step else old for n, old in enumerate(table["disease"])]


FAULTS = [
    more('[recoding]\nsuppress = "any"', "key-idle", "suppress ="),
    more("[recoding]\nsuppression = 0.1", "key-idle", "suppression =", {K: ""}),
    more('[output]\ncsv-safe = true\nfile = "released.parquet"', "key-idle", "csv-safe ="),
    Fault("key-idle", "separator =", {'"people.csv"': '"people.parquet"\nseparator = ";"'}),
    Fault("key-idle", 'attributes = ["name"]', {'"people.csv"': '"people.csv"\nperson = "name"'}),
    more('[objective]\nname = "loss"\nweights = { age = 1 }', "key-idle", "weights ="),
    more('[objective]\nname = "loss"\nweights = { age = 0, job = 0 }', "key-idle", "weights ="),
    more("[recoding]\nmin-records = 4", "key-idle", "min-records ="),
    Fault("key-idle", "age =", {"40] }": "40], max-level = 4 }"}),
    Fault("key-idle", "age =", {"40] }": "40], min-level = 0 }"}),
    more('[recoding]\nmethod = "variable-range"\nrefine = ["town"]', "name-unknown", "refine ="),
    more('[recoding]\nmethod = "cut"\ngroup = ["jbo"]', "name-unknown", "group ="),
    more(
        '[recoding]\nmethod = "fixed"\nlevels = { age = 3, jbo = 1, job = 1 }',
        "name-unknown",
        "levels =",
    ),
    more('[objective]\nname = "loss"\nweights = { town = 2 }', "name-unknown", "weights ="),
    more(f'{DIVERSE}l = 2\nattribute = "cost"', "name-unknown", 'attribute = "cost"'),
    more(K.replace("4", "1"), "model-void", "k = 1"),
    more(f"{DIVERSE}l = 1", "model-void", "l = 1"),
    Fault("model-void", "t = 1", {"t = 0.45": "t = 1"}),
    more(K.replace("4", "3"), "model-implied", "k-anonymity"),
    more(f"{DIVERSE}l = 5", "model-implied", "k-anonymity"),
    Fault("policy-k-alone", "[[privacy]]", {T: ""}),
    Fault("weak-policy", "[[privacy]]", {T: "", "k = 4": "k = 1"}),
    Fault(
        "sensitive-without-model",
        'attributes = ["disease", "cost"]',
        {
            '["disease"]': '["disease", "cost"]',
            '["cost", "town"]': '["town"]',
            "t = 0.45": 't = 0.45\nattribute = "disease"',
        },
    ),
    more("[recoding]\nsuppression = 0.6", "suppression-large", "suppression ="),
    more('[recoding]\nsuppression = 0.1\nsuppress = "any"', "suppression-tells", "suppress ="),
    more('[recoding]\nrefine = ["age"]', "study-invalid", "refine ="),
    Fault("study-invalid", "[data]", {'["disease"]': '["disease", "age"]'}),
    Fault("study-invalid", "[data]", {"t = 0.45": "t = "}),
    Fault("columns-open", "[data]", OPEN),
    Fault("column-absent", '["name", "phone"]', {'["name"]': '["name", "phone"]'}, put()),
    Fault("column-not-listed", "columns =", {}, put(extra=each(lambda n: n % 2))),
    Fault("column-without-role", "[data]", OPEN, put()),
    Fault(
        "no-sensitive-attribute",
        "[[privacy]]",
        {**OPEN, '[sensitive]\nattributes = ["disease"]\n': "", T: ""},
        put(),
    ),
    Fault("missing-refused", "[data]", {}, put(disease=[None])),
    Fault("hierarchy-incomplete", "job =", {}, put(job=["zzother"])),
    Fault("level-idle", "age =", {"[10, 20, 40]": "[50, 100, 200]"}, put()),
    Fault(
        "key-idle", "items =", {'"people.csv"': '"people.csv"\nitems = { disease = "|" }'}, put()
    ),
    Fault(
        "several-separators",
        'attributes = ["disease"]',
        {'"people.csv"': '"people.csv"\nitems = { disease = ";" }'},
        put(disease=["zzflu;zzhiv", "zzflu,zzhiv", "zzgout,zzhiv"]),
    ),
    Fault("constant-sensitive", '["disease"]', {}, put(disease=each(lambda n: "zzflu"))),
    Fault("nearly-unique-sensitive", '["disease"]', {}, put(disease=each(lambda n: f"zzother{n}"))),
    Fault("spellings-alike", '["disease"]', {}, put(disease=["ZZFLU", "zzflu."])),
    Fault(
        "missing-sensitive",
        '["disease"]',
        {'"people.csv"': '"people.csv"\nmissing = "category"'},
        put(disease=[None] * 200),
    ),
    Fault("suppressed-values", '["disease"]', {}, put(disease=["*"] * 9)),
    Fault(
        "identifying-values",
        '["cost", "town"]',
        {},
        put(town=each(lambda n: f"u{n % 9}@example.org")),
    ),
    Fault("nearly-unique-column", '["cost", "town"]', {}, put(cost=each(lambda n: n * n * 7))),
    Fault(
        "unique-together",
        '["cost", "town"]',
        {},
        put(cost=each(lambda n: n // 16), town=each(lambda n: n % 16 + 3)),
    ),
    Fault("repeated-identifier", '["name"]', {}, put(name=each(lambda n: f"Nemo-{n // 2}"))),
    Fault("study-weaker", "[[privacy]]", then={"k = 4": "k = 3"}),
    Fault("study-weaker", "[[privacy]]", then={T: ""}),
    Fault("study-changed", "[[privacy]]", then={"k = 4": "k = 5"}),
    Fault("study-changed", "[data]", then={'"pinned"': '"pinned"\nmissing = "drop"'}),
    Fault("drift-column-gone", '["cost", "town"]', then=lambda table: table.drop(columns="town")),
    Fault("drift-column-new", "[data]", then=put(extra=each(lambda n: n % 2))),
    Fault("drift-column-type", '["cost", "town"]', then=put(cost=each(lambda n: f"e{n % 4}"))),
    Fault("drift-column-type", "age =", then=put(age=each(lambda n: f"{20 + n % 60} years"))),
    Fault("drift-values", "job =", then=put(job=["zzother"] * 3)),
    Fault("drift-classes", "[[privacy]]", then=lambda table: table[::12]),
    Fault("drift-shares", '["disease"]', then=put(disease=every(2, "zzflu"))),
    Fault("drift-shares", "age =", then=put(age=each(lambda n: 70 - n % 9 if n % 5 else 25))),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a study, its table, and its release."""
    directory = tmp_path_factory.mktemp("lint")
    people().to_csv(directory / "people.csv", index=False)
    people().to_parquet(directory / "people.parquet", index=False)
    (directory / "job.csv").write_text("nurse;health\nvet;health\nsmith;craft\n")
    (directory / "study.toml").write_text(STUDY)
    publish(Study(directory / "study.toml"), directory / "release")
    return directory


def edited(text: str, edits: Mapping[str, str]) -> str:
    for old, new in edits.items():
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def linted(place: Path, tmp_path: Path, fault: Fault) -> tuple[str, Lint]:
    """The text of the study with a fault, and what was found in it."""
    then, edit = fault.then, fault.table
    text = edited(STUDY, fault.study)
    if isinstance(then, Mapping):
        text = edited(text, then)
    elif then is not None:
        edit = then
    table = None
    if edit is not None:
        table = tmp_path / "next.csv"
        edit(people()).to_csv(table, index=False)
    release = None if then is None else place / "release"
    return text, lint_file(place / "study.toml", table, release, text, ignore)


def test_a_sound_study_and_its_table_have_no_finding(place):
    found = lint_file(place / "study.toml", place / "people.csv", place / "release", STUDY, ignore)
    assert found.findings == ()


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{n}-{each.rule}" for n, each in enumerate(FAULTS)])
def test_a_planted_fault_is_found(place, tmp_path, fault):
    text, found = linted(place, tmp_path, fault)
    lines = text.splitlines()
    own = [each for each in found.findings if each.rule == fault.rule]
    assert any(fault.line in lines[each.line - 1] for each in own), found
    jsonschema.validate(log := sarif(found), SARIF)
    assert fault.rule in [each["ruleId"] for each in log["runs"][0]["results"]]
    assert not [secret for secret in SECRETS if secret in json.dumps(log)]
    for each in found.findings:  # no figure of the table but those that the study has
        assert {*filter(str.isdecimal, each.message.split())} <= {*"0123456789"}, each


def test_names_of_columns_that_nobody_knows_are_the_stewards(place, tmp_path):
    """A column may be named by a person, as in a table that was turned on its side."""
    table = tmp_path / "next.csv"
    own = put(town=each(lambda n: n * n * 7))(people())
    own.rename(columns={"town": "Nemo-0"}).to_csv(table, index=False)
    text = edited(STUDY, OPEN)
    for study, release in ((STUDY, None), (text, None), (text, place / "release")):
        found = lint_file(place / "study.toml", table, release, study, ignore)
        assert not [secret for secret in SECRETS if secret in json.dumps(sarif(found))]
        assert "Nemo-0" in json.dumps(found.to_dict())


def test_figures_of_a_population_are_not_in_the_log(place, tmp_path):
    (tmp_path / "job.csv").write_text("nurse;health\nvet;health\nsmith;craft\n")
    text = f'{STUDY}[[privacy]]\nmodel = "k-map"\nk = 9\npopulation = "nobody.csv"\n'
    found = lint_file(tmp_path / "study.toml", None, None, text, ignore)
    assert "nobody.csv" in str(found.error)
    assert "nobody" not in json.dumps(sarif(found))


def test_the_fingerprint_is_named_where_nothing_else_differs(place):
    """No field but that has the time limit of a study."""
    for text, alone in ((STUDY.replace("k = 4", "k = 5"), False), (STUDY + SEVERAL, True)):
        found = lint_file(place / "study.toml", None, place / "release", text, ignore).findings
        named = [each.message.split()[0] for each in found if each.rule == "study-changed"]
        assert named
        assert (named == ["study.fingerprint"]) is alone
        assert ("study.fingerprint" in named) is alone


def test_of_equal_models_the_first_stays(place):
    found = lint_file(place / "study.toml", None, None, STUDY + K, ignore).findings
    assert [(each.rule, each.line) for each in found] == [("model-implied", 21)]


def test_every_rule_is_planted():
    others = {"not-examined", "shared-identifier", *(n for n in RULES if n.startswith("safe-"))}
    assert {*RULES} - {each.rule for each in FAULTS} == others
    assert len(FAULTS) > 50


def object_of(required: str, **properties: object) -> dict:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": properties,
    }


def list_of(items: dict) -> dict:
    return {"type": "array", "items": items}


TEXT = object_of("text", text={"type": "string", "minLength": 1})
LEVELS = {"enum": ["none", "note", "warning", "error"]}
SARIF = object_of(
    "version runs",
    **{"$schema": {"type": "string"}},
    version={"enum": ["2.1.0"]},
    runs=list_of(
        object_of(
            "tool",
            tool=object_of(
                "driver",
                driver=object_of(
                    "name",
                    name={"type": "string"},
                    version={"type": "string"},
                    rules=list_of(
                        object_of(
                            "id",
                            id={"type": "string"},
                            shortDescription=TEXT,
                            defaultConfiguration=object_of("", level=LEVELS),
                        )
                    ),
                ),
            ),
            invocations=list_of(
                object_of("executionSuccessful", executionSuccessful={"type": "boolean"})
            ),
            results=list_of(
                object_of(
                    "message",
                    ruleId={"type": "string"},
                    ruleIndex={"type": "integer", "minimum": 0},
                    level=LEVELS,
                    message=TEXT,
                    locations=list_of(
                        object_of(
                            "",
                            physicalLocation=object_of(
                                "",
                                artifactLocation=object_of("", uri={"type": "string"}),
                                region=object_of("", startLine={"type": "integer", "minimum": 1}),
                            ),
                        )
                    ),
                )
            ),
        )
    ),
)
"""What the OASIS schema of SARIF 2.1.0 requires, and allows, of the fields that are written."""


def test_shares_move_by_the_distance_of_distributions():
    assert moved_by({"a": 500, "b": 500}, {"a": 800, None: 200}) == 0.5
    assert moved_by({"a": 5_000, "b": 5_000}, {"a": 5_900, "b": 4_100}) is None  # below a tenth
    assert moved_by({"a": 5, "b": 5}, {"a": 8, "b": 2}) is None  # as chance moves a few
    assert moved_by({}, {"a": 8}) is None


@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=9),
    st.integers(20, 4_000),
    st.integers(20, 4_000),
    st.integers(0, 2**32 - 1),
)
def test_samples_of_one_distribution_do_not_move(weights, last, now, seed):
    rng = np.random.default_rng(seed)
    shares = np.array(weights) / sum(weights)
    one, other = (dict(enumerate(map(int, rng.multinomial(n, shares)))) for n in (last, now))
    assert moved_by(one, other) is None


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (KAnonymity(5), KAnonymity(3), True),
        (KAnonymity(3), KAnonymity(5), False),
        (TCloseness(0.2, "kl"), TCloseness(0.3, "kl"), True),
        (TCloseness(0.2, "kl"), TCloseness(0.3, "equal"), False),
        (TCloseness(0.2, "kl", attribute="a"), TCloseness(0.3, "kl", attribute="b"), False),
        (TCloseness(0.2, "kl"), TCloseness(0.3, "kl", attribute="b"), True),
        (TCloseness(0.2, "kl"), TCloseness(0.2, "kl", attribute=("a", "b")), False),
        (TCloseness(0.2, "kl", attribute=("a", "b")), TCloseness(0.2, "kl"), False),
        (RecursiveLDiversity(2, 3), RecursiveLDiversity(3, 2), True),
        (RecursiveLDiversity(3, 3), RecursiveLDiversity(2, 2), False),
        (KAnonymity(3), DistinctLDiversity(2), False),
    ],
)
def test_a_model_implies_a_looser_one_of_its_kind(one, other, found):
    assert implies(one, other) is found


@given(some_classes())
def test_what_a_model_implies_holds_wherever_it_does(classes):
    for one, other in IMPLIED:
        assert (~holds(one, classes) | holds(other, classes)).all(), (one, other)


MODELS = [
    *(KAnonymity(k) for k in (1, 2, 5)),
    *(DistinctLDiversity(least) for least in (1, 2, 3)),
    *(EntropyLDiversity(least) for least in (1.5, 2)),
    *(RecursiveLDiversity(c, least) for c in (1.5, 3) for least in (1, 2, 3)),
    *(TCloseness(t, distance) for t in (0.1, 0.4) for distance in ("kl", "equal", "ordered")),
]
IMPLIED = [(a, b) for a, b in permutations(MODELS, 2) if implies(a, b)]


SOME_KINDS = [
    "full-domain",
    "suppressed by size",
    "kept values, merged cells",
    "boxes",
    "missing as a gap",
    "no sensitive attribute",
    "pram",
    "population",
]
DRAWN = ["pram"]
KNOWN = {
    "column-without-role",
    "no-sensitive-attribute",
    "suppression-tells",
    "nearly-unique-column",
}


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_sound_studies_of_every_kind_have_no_error_and_few_warnings(published, kind):
    home = published(kind).parent
    text = (home / "study.toml").read_text()
    table = home / ("people.parquet" if "parquet" in kind else "people.csv")
    found = lint_file(home / "study.toml", table, home / "out", text, ignore)
    assert not [each for each in found.findings if each.level == "error"]
    assert {each.rule for each in found.findings if each.level == "warning"} <= KNOWN
    assert found.unexamined == (kind in DRAWN)


@pytest.mark.parametrize(
    "text",
    [
        "[objective]\nweights = { disease = 1 }",  # names the objective
        '[objective]\nname = "loss"\nweights = { age = 0 }',
        '[objective]\nname = "loss"\nweights = { age = 1, job = 2 }',
        "[recoding]\nmin-records = 5",
        '[recoding]\nsuppression = 0.1\nsuppress = "small"',
        "[output]\ncsv-safe = true",
        '[[privacy]]\nmodel = "t-closeness"\nt = 0.6\ndistance = "kl"',
        f"{DIVERSE}l = 3",
    ],
)
def test_what_does_something_is_no_fault(place, text):
    found = lint_file(place / "study.toml", None, None, f"{STUDY}{text}\n", ignore)
    assert found.findings == ()


def test_a_model_about_attributes_together_is_no_fault(place):
    """It is no name of one column, and what two of them tell each tells at the most."""
    both = STUDY.replace('["disease"]', '["disease", "cost"]').replace(
        '["cost", "town"]', '["town"]'
    )
    found = lint_file(
        place / "study.toml", None, None, f'{both}attribute = ["disease", "cost"]\n', ignore
    )
    assert [each.rule for each in found.findings] == []


NUMBERED = {
    '["name"]': "[]",
    '"people.csv"': '"people.csv"\nperson = "name"',
    T: f'{T}[output]\nperson = "number"\n',
}
WEIGHED = {
    'attributes = ["cost", "town"]': 'attributes = ["town"]',
    '"people.csv"': '"people.csv"\nweight = "cost"',
    T: f'{T}[output]\nweight = "class"\n',
}
SAFE = {T: f"{T}[output]\ncsv-safe = true\n"}


@pytest.mark.parametrize("edits", [NUMBERED, WEIGHED, SAFE])
def test_the_table_of_a_release_has_not_drifted_from_it(tmp_path, edits):
    study = tmp_path / "study.toml"
    table = put(disease=lambda table: [f"={each}" for each in table["disease"]])(people())
    table.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "job.csv").write_text("nurse;health\nvet;health\nsmith;craft\n")
    text = edited(STUDY, edits)
    study.write_text(text)
    publish(Study(study), tmp_path / "out")
    assert verify_release(tmp_path / "out", study=Study(study)).differences == ()
    found = lint_file(study, tmp_path / "people.csv", tmp_path / "out", text, ignore)
    assert found.findings == ()


@pytest.mark.parametrize("path", ["data/demo.toml", "data/pram.toml", "data/adult-salary.toml"])
def test_the_studies_that_come_with_the_library_have_no_error(path):
    text = (ROOT / path).read_text()
    found = lint_file(ROOT / path, None, None, text, ignore)
    assert {each.level for each in found.findings} <= {"note"}


def test_the_command(place, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "job.csv", "study.toml"):
        (tmp_path / name).write_bytes((place / name).read_bytes())
    assert run("lint", "study.toml") == (0, "study.toml: nothing was found\n", "")
    assert run("lint", "study.toml", "people.csv", "--release", place / "release")[0] == 0
    (tmp_path / "study.toml").write_text(STUDY.replace("t = 0.45", "t = 1"))
    code, out, _ = run("lint", "study.toml", "--sarif", "out/found.sarif")
    assert code == 1
    assert "study.toml:18: error model-void: every class satisfies t-closeness with t = 1" in out
    log = json.loads((tmp_path / "out/found.sarif").read_text())
    _, result = log["runs"][0]["results"]
    assert result["ruleId"] == "model-void"
    where = result["locations"][0]["physicalLocation"]
    assert where == {"artifactLocation": {"uri": "study.toml"}, "region": {"startLine": 18}}
    found = json.loads(run("lint", "study.toml", "--json")[1])
    assert found["findings"][1]["line"] == 18
    assert run("lint", "study.toml", "--ignore", "model-void")[0] == 1  # there is a warning
    ignored = "--ignore", "model-void", "--ignore", "sensitive-without-model"
    assert run("lint", "study.toml", *ignored)[0] == 0
    code, _, err = run("lint", "study.toml", "--ignore", "modl-void")
    assert (code, "did you mean 'model-void'" in err) == (2, True)
    code, _, err = run("lint", "study.toml", "--sarif", "out/found.sarif")
    assert (code, "--force replaces it" in err) == (2, True)
    code, _, err = run("lint", "study.toml", "--sarif", "people.csv", "--force")
    assert (code, "ends in .sarif" in err) == (2, True)
    code, _, err = run("lint", "study.toml", "--census", "c.csv")
    assert (code, "go with --safe-harbor" in err) == (2, True)
    code, _, err = run("lint", "--safe-harbor", "people.csv", "study.toml")
    assert (code, "examines one TABLE" in err) == (2, True)


def test_a_study_that_cannot_be_carried_out_is_in_the_log_and_ends_with_2(tmp_path, run):
    study, log = tmp_path / "study.toml", tmp_path / "found.sarif"
    study.write_text(STUDY.replace("job.csv", "suppress").replace("k = 4", "k = 4\nl = 3"))
    code, out, err = run("lint", study, "--sarif", log)
    assert (code, out, "has no parameter 'l'" in err) == (2, "", True)
    (found,) = json.loads(log.read_text())["runs"]
    assert found["invocations"] == [{"executionSuccessful": False}]
    assert [each["ruleId"] for each in found["results"]] == ["study-invalid"]


def test_a_value_of_a_hierarchy_is_not_in_the_log(tmp_path, run):
    study, log = tmp_path / "study.toml", tmp_path / "found.sarif"
    study.write_text(STUDY)
    (tmp_path / "job.csv").write_text("zznurse;a;*\nzznurse;b;*\n")
    code, _, err = run("lint", study, "--sarif", log)
    assert (code, "'zznurse' stands twice" in err) == (2, True)  # for the steward
    assert "zznurse" not in log.read_text()


def test_safe_harbor_is_in_the_log_by_its_letters(tmp_path, run):
    table, log = tmp_path / "t.csv", tmp_path / "found.sarif"
    pd.DataFrame({"mail": [f"user{n}@example.org" for n in range(40)]}).to_csv(table, index=False)
    assert run("lint", "--safe-harbor", table, "--sarif", log)[0] == 1
    text = log.read_text()
    jsonschema.validate(json.loads(text), SARIF)
    assert '"safe-harbor-F"' in text
    assert "user1@" not in text
    assert "'mail'" not in text  # a value, where a file has no header
    assert "40" not in text


def test_what_cannot_be_compared_is_not_examined(place, tmp_path, published, run):
    home = published("pram").parent
    arguments = home / "study.toml", home / "people.csv", "--release", home / "out"
    ignored = "--ignore", "column-without-role", "--ignore", "nearly-unique-column"
    code, out, _ = run("lint", *arguments, *ignored)
    assert code == UNEXAMINED
    assert "not-examined: drift could not be examined as a whole" in out
    assert "describes values that were drawn at random" in out


def test_a_table_that_cannot_be_counted_is_not_examined(place, tmp_path):
    table = tmp_path / "next.csv"
    people()[:0].to_csv(table, index=False)
    found = lint_file(place / "study.toml", table, place / "release", STUDY, ignore)
    assert [each.rule for each in found.findings] == ["not-examined", "not-examined"]
    assert {each.figures for each in found.findings} == {"the table has no records"}
    assert found.unexamined
    assert not found.broken
