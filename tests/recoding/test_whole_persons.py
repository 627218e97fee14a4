"""Suppression of whole persons, against plain Python that tries every set of persons."""

import json
from itertools import product
from math import inf

import numpy as np
import pandas as pd
import persons as oracle
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import (
    Anonymizer,
    Best,
    Boxes,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    KmAnonymity,
    KMap,
    MutualInformation,
    PolicyBrokenError,
    PolicyUnreachableError,
    TCloseness,
)
from anonymizer.cli import main
from anonymizer.privacy import LargestShare, PersonKAnonymity
from anonymizer.recoding.whole_persons import suppressed_persons
from anonymizer.release.apply import publish_applied
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release

AGE = Hierarchy.ranges(widths=[2, 4, 8])
WIDTHS = (1, 2, 4, 8, 1000)
WHOLE = FullDomain(suppression=0.5, suppress_persons=True)
POLICIES = [
    ([KAnonymity(2)], []),
    ([KAnonymity(3), LargestShare(0.5)], []),
    ([KAnonymity(2), LargestShare(1)], []),
    ([KAnonymity(2), EntropyLDiversity(1.5)], [("effective", 1.5, True)]),
    ([KAnonymity(2), TCloseness(0.5, distance="equal")], [("distance", 0.5, False)]),
    ([KAnonymity(2), DistinctLDiversity(2)], [("distinct", 2, True)]),
]
LEAST = {"effective": 2, "distinct": 2}
"""Records that values need: 1.5 effective ones are 2 different ones."""


def table_of(rng: np.random.Generator) -> pd.DataFrame:
    """Some 25 records of up to 11 persons, in random order."""
    records = int(rng.integers(8, 40))
    person = rng.integers(0, int(rng.integers(3, 12)), records)
    age = rng.integers(0, 8, 12)
    return pd.DataFrame(
        {
            "who": [f"p{each}" for each in person],
            "age": (age[person] + rng.integers(0, 3, records) // 2).astype(int),
            "sex": np.where(person % 2, "f", "m"),
            "w": rng.choice(["a", "b", "c"], records, p=[0.5, 0.3, 0.2]),
            "place": np.arange(records),
        }
    )


def anonymizer_of(privacy, recoding=WHOLE, **options) -> Anonymizer:
    roles = {"quasi_identifiers": {"age": AGE, "sex": "suppress"}, "sensitive": "w"}
    return Anonymizer(**roles, privacy=privacy, recoding=recoding, person="who", **options)


def records_at(raw: pd.DataFrame, node) -> list[oracle.Record]:
    rows = zip(raw["age"], raw["sex"], strict=True)
    labels = [(age // WIDTHS[node[0]], "*" if node[1] else sex) for age, sex in rows]
    return oracle.records_of(labels, raw["w"].tolist(), raw["who"].tolist())


def bounds_of(privacy, sensitive) -> tuple[int, float, int]:
    """k, the largest share, and the fewest records of a class."""
    k = privacy[0].k
    share = next((each.share for each in privacy if isinstance(each, LargestShare)), 1 / k)
    return k, share, max((LEAST.get(name, 1) for name, _, _ in sensitive), default=1)


def holds(records, sensitive) -> bool:
    for name, bound, at_least in sensitive:
        value = oracle.worst(getattr(oracle, name), records, at_least)
        if not (value >= bound - 1e-9 if at_least else value <= bound + 1e-9):
            return False
    return True


def test_a_person_goes_with_all_of_their_records_by_hand():
    """c is alone at 30, so that b, who shares 20 with c alone, goes as well."""
    raw = pd.DataFrame(
        {
            "who": ["a", "a2", "b", "c", "c", "d", "e"],
            "age": [10, 10, 20, 20, 30, 40, 40],
            "w": list("uvuvuvu"),
        }
    )
    ages = {"age": "suppress"}
    recoding = Fixed({"age": 0}, suppression=0.34, suppress_persons=True)
    given = {"privacy": [KAnonymity(2)], "person": "who", "sensitive": "w", "recoding": recoding}
    anonymizer = Anonymizer(ages, **given)
    released = anonymizer.fit_transform(raw)
    assert sorted(released["age"]) == [10, 10, 40, 40]
    assert (anonymizer.release_.suppressed, anonymizer.release_.suppressed_class) == (3, "removed")
    by_records = Anonymizer(ages, **given | {"recoding": Fixed({"age": 0}, suppression=0.34)})
    assert sorted(by_records.fit_transform(raw)["age"]) == [10, 10, 20, 20, 40, 40]  # c, in part
    stricter = Fixed({"age": 0}, suppression=0.33, suppress_persons=True)  # 1 of 6 persons
    with pytest.raises(
        PolicyUnreachableError, match=r"at most 0\.33 of the persons are suppressed"
    ):
        Anonymizer(ages, **given | {"recoding": stricter}).fit(raw)


def test_who_has_too_large_a_share_goes_alone():
    """Of seven records five are a's: without a three persons are left."""
    raw = pd.DataFrame({"who": [*"aaaaabcd", *"efg"], "age": [20] * 8 + [30] * 3, "w": "u"})
    recoding = Fixed({"age": 0}, suppression=0.2, suppress_persons=True)
    anonymizer = Anonymizer(
        {"age": "suppress"}, privacy=[KAnonymity(3)], person="who", sensitive="w", recoding=recoding
    )
    assert anonymizer.fit_transform(raw)["age"].value_counts().to_dict() == {20: 3, 30: 3}


@pytest.mark.parametrize("number", range(len(POLICIES)))
def test_the_release_is_the_best_of_plain_python(number):
    """Every set of persons at every node: who stays, whether the policy holds, what is best."""
    privacy, sensitive = POLICIES[number]
    rng, solved = np.random.default_rng(30 + number), 0
    for _ in range(at_length(5, 300)):
        raw = table_of(rng)
        persons = raw["who"].nunique()
        best, stays, fine = inf, {}, 0
        for node in product(range(5), range(2)):
            records = records_at(raw, node)
            kept = oracle.stay(records, *bounds_of(privacy, sensitive))
            left = [record for record in records if record.person in kept]
            if not left or persons - len(kept) > persons // 2 or not holds(left, sensitive):
                continue
            fine += 1
            squares = sum(len(group) ** 2 for group in oracle.classes_of(left))
            cost = squares + len(records) * (len(records) - len(left))
            best, stays[node] = min(best, cost), kept
        anonymizer = anonymizer_of(privacy, objective="discernibility")
        if not fine:
            with pytest.raises(PolicyUnreachableError, match="no node of the lattice satisfies"):
                anonymizer.fit(raw)
            continue
        solved += 1
        released = anonymizer.fit_transform(raw)
        found = anonymizer.search_
        assert (found.value, found.feasible, found.proven) == (best, fine, True)
        node = anonymizer.release_.levels["age"], anonymizer.release_.levels["sex"]
        assert {*raw["who"].iloc[released["place"]]} == stays[node]
        assert len(released) == raw["who"].isin(stays[node]).sum()
        assert all(each.satisfied for each in anonymizer.release_.privacy)
    assert solved > 2


@given(st.data())
def test_any_pairs_leave_the_largest_set(data):
    """In whatever order they stand; and merging classes lets nobody go who stayed."""
    persons, classes = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 5))
    every = [*product(range(classes), range(persons))]
    some = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    records = data.draw(st.lists(st.integers(1, 4), min_size=len(some), max_size=len(some)))
    k, share = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([0.25, 0.4, 0.5, 1.0]))
    models = [PersonKAnonymity(k), LargestShare(share)]

    def gone_of(pairs, many):
        class_of, person_of = np.array(pairs).T
        nobody = np.zeros(persons, bool)
        return suppressed_persons(class_of, person_of, np.array(many), models, nobody)

    gone = gone_of(some, records)
    order = data.draw(st.permutations(range(len(some))))
    again = gone_of([some[n] for n in order], [records[n] for n in order])
    assert again.tolist() == gone.tolist()
    table = [
        oracle.Record((c,), None, p, 1)
        for (c, p), n in zip(some, records, strict=True)
        for _ in range(n)
    ]
    there = {p for _, p in some}
    assert {p for p in there if not gone[p]} == oracle.stay(table, k, share)
    merged: dict = {}
    for (c, p), n in zip(some, records, strict=True):
        merged[c // 2, p] = merged.get((c // 2, p), 0) + n
    coarser = gone_of([*merged], [*merged.values()])
    assert not (coarser & ~gone).any()


def test_who_goes_does_not_depend_on_sensitive_values():
    rng, released = np.random.default_rng(8), 0
    for _ in range(at_length(12, 200)):
        raw = table_of(rng)
        other = raw.assign(w=rng.permutation(raw["w"].to_numpy()))
        recoding = Fixed({"age": 2, "sex": 0}, suppression=0.9, suppress_persons=True)
        policy = [KAnonymity(2), EntropyLDiversity(1.2)]
        try:
            tables = [anonymizer_of(policy, recoding).fit_transform(each) for each in (raw, other)]
        except (PolicyUnreachableError, PolicyBrokenError):
            continue
        released += 1
        first, second = ({*table["place"]} for table in tables)
        assert first == second
    assert released > 2


def test_combinations_of_known_records_hold_of_who_is_left():
    rng, released = np.random.default_rng(2), 0
    for _ in range(at_length(12, 200)):
        raw = table_of(rng)
        anonymizer = anonymizer_of([KmAnonymity(k=2, m=2)])
        try:
            found = anonymizer.fit_transform(raw)
        except PolicyUnreachableError:
            continue
        released += bool(anonymizer.release_.suppressed)
        labels = found[["age", "sex"]].astype(str).agg("|".join, axis=1).tolist()
        who = raw["who"].iloc[found["place"]].tolist()
        records = oracle.records_of([(each,) for each in labels], found["w"].tolist(), who)
        assert oracle.fewest_left(records, 2) >= 2
    assert released > 1


@pytest.mark.parametrize(
    "options",
    [
        {"per_person": "each"},
        {"missing": "gap"},
        {"missing": "category", "sensitive": ["w", "v"]},
        {"missing": "drop"},
        {"missing": "gap", "objective": MutualInformation(target="v"), "per_person": "each"},
        {"person": ["who", "home"]},
    ],
    ids=str,
)
def test_what_the_search_takes_is_proven_of_the_release(options):
    """The proof counts the released table anew: where it differs nothing would be released."""
    rng, left_out = np.random.default_rng(17), 0
    for _ in range(at_length(5, 200)):
        raw = table_of(rng).assign(home=lambda table: table["place"] % 2)
        raw["v"] = rng.choice(["x", "y", "z"], len(raw))
        if "missing" in options:
            raw["w"] = raw["w"].where(rng.random(len(raw)) > 0.15)
        policy = [KAnonymity(2), EntropyLDiversity(1.2), TCloseness(0.8, distance="equal")]
        anonymizer = anonymizer_of(policy).set_params(**options)
        try:
            released = anonymizer.fit_transform(raw)
        except PolicyUnreachableError:
            continue
        assert all(each.satisfied for each in anonymizer.release_.privacy)
        columns = [*anonymizer.schema.person]
        keys = raw[columns].astype(str).agg("|".join, axis=1)
        kept = keys.iloc[released["place"]].value_counts()
        admitted = keys if options.get("missing") != "drop" else keys[raw["w"].notna()]
        assert kept.to_dict() == admitted.value_counts()[kept.index].to_dict()
        left_out += len(kept) < admitted.nunique()
    assert left_out > 0


def test_nothing_that_does_not_have_to_go_is_suppressed():
    raw = pd.DataFrame({"who": [*"abcabc"], "age": [20] * 6, "sex": "f", "w": [*"uvuvuv"]})
    anonymizer = anonymizer_of([KAnonymity(3)]).fit(raw)
    assert (anonymizer.release_.suppressed, anonymizer.release_.suppressed_class) == (0, "none")
    plain = anonymizer_of([KAnonymity(3)], FullDomain()).fit(raw)
    assert anonymizer.search_.value == plain.search_.value


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda: FullDomain(suppress_persons=True), "give suppression above 0 with it"),
        (
            lambda: FullDomain(suppression=0.1, suppress_persons="yes"),
            "suppress-persons = 'yes' must be true or false",
        ),
        (
            lambda: Fixed({"age": 1}, suppression=0.1, suppress="any", suppress_persons=True),
            'who is missing would tell values of all of their records: choose suppress = "small"',
        ),
        (lambda: Boxes(suppress_persons=True), "suppress_persons"),
        (lambda: Best(suppress_persons=True), "suppress_persons"),
    ],
)
def test_options_that_do_not_fit_are_refused(changed, message):
    with pytest.raises((InputError, TypeError), match=message):
        changed()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"person": ()}, "suppress-persons is for tables of which persons have several records"),
        (
            {"privacy": [KMap(2, population=pd.DataFrame({"age": [*range(9)] * 40, "sex": "f"}))]},
            "k-map is not about the persons of the table alone",
        ),
        (
            {"recoding": FullDomain(0.5, suppress_persons=True, search="bisection")},
            "suppress-persons looks at every node, and search = 'bisection' does not",
        ),
    ],
)
def test_what_has_no_whole_persons_is_refused(changed, message):
    raw = table_of(np.random.default_rng(1)).assign(sex="f")
    with pytest.raises(InputError, match=message):
        anonymizer_of([KAnonymity(2)]).set_params(**changed).fit(raw)


def test_a_time_limit_returns_the_best_so_far(monkeypatch):
    ticks = iter(range(100))
    monkeypatch.setattr("anonymizer.recoding.whole_persons.monotonic", lambda: next(ticks))
    monkeypatch.setattr("anonymizer.recoding.problem.Run.deadline", lambda run: 2.5)
    raw = table_of(np.random.default_rng(1))
    found = anonymizer_of([KAnonymity(2)], time_limit=9).fit(raw)
    assert (found.search_.proven, found.search_.checked) == (False, 3)


# Releases


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_every_kind_are_released_alike(kind):
    raw = table_of(np.random.default_rng(7))
    whole = Fixed({"age": 3, "sex": 0}, suppression=0.5, suppress_persons=True)
    expected = anonymizer_of([KAnonymity(3)], whole).fit_transform(raw)
    assert 0 < len(expected) < len(raw)
    table = KINDS[kind](pa.Table.from_pandas(raw))
    released = anonymizer_of([KAnonymity(3)], whole).fit_transform(table)
    assert records_of(released) == records_of(expected)


STUDY = """
[data]
path = "raw.csv"
person = "who"
[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"
[sensitive]
attributes = "w"
[[privacy]]
model = "k-anonymity"
k = 3
[recoding]
method = "fixed"
levels = { age = 3, sex = 0 }
suppression = 0.5
suppress-persons = true
"""


@pytest.fixture
def published(tmp_path):
    """A release in a directory, its study and the table that it was made of."""
    raw, study = tmp_path / "raw.csv", tmp_path / "study.toml"
    table_of(np.random.default_rng(7)).to_csv(raw, index=False)
    study.write_text(STUDY)
    publish(Study(study), tmp_path / "release")
    return tmp_path / "release", study, raw


def test_a_manifest_says_the_rule_and_the_original_proves_it(published, capsys):
    release, study, raw = published
    with pytest.raises(SystemExit, match="0"):
        main(["run", str(study), "-o", str(release), "--force"])
    said = " ".join(capsys.readouterr().out.split())
    manifest = json.loads((release / "release.json").read_text())
    assert manifest["method"]["suppress_persons"] is True
    assert manifest["suppressed_class"] == "removed"
    assert "and left out, with all records of their persons)." in said
    report = release.with_name("report.md")
    with pytest.raises(SystemExit, match="0"):
        main(["report", str(release), "-o", str(report)])
    assert "Who was left out, was so with all of their records" in report.read_text()
    for about in (None, study):
        found = verify_release(release, about, original=raw)
        assert found.satisfied, [*map(str, found.differences)]
    study.write_text(STUDY.replace("suppress-persons = true\n", ""))
    other = verify_release(release, study, original=raw)
    assert "method" in [each.field.split(".")[0] for each in other.differences]


def test_a_release_with_a_record_of_somebody_who_was_left_out_is_noticed(published):
    release, _, raw = published
    table = pd.read_csv(release / "released.csv", dtype=str)
    records = len(table)
    raw_table = pd.read_csv(raw)
    assert records < len(raw_table)
    pd.concat([table, table[:1]]).to_csv(release / "released.csv", index=False)
    found = verify_release(release, original=raw)
    assert not found.satisfied
    assert "privacy of persons" in [each.field for each in found.differences]


def test_the_next_table_loses_whole_persons_too(published, tmp_path):
    release, _, raw = published
    publish_applied(release, raw, tmp_path / "next")
    assert verify_release(tmp_path / "next", original=raw).satisfied
    assert len(pd.read_csv(tmp_path / "next" / "released.csv")) == len(
        pd.read_csv(release / "released.csv")
    )
    crowd = pd.read_csv(raw).assign(who=lambda table: "p" + (table.index % 2).astype(str))
    crowd.to_csv(tmp_path / "crowd.csv", index=False)
    with pytest.raises(PolicyBrokenError, match="2 of 2 persons would have to be left out"):
        publish_applied(release, tmp_path / "crowd.csv", tmp_path / "third")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("audit", "release", "--against", "raw.csv"), "an audit finds records of the original"),
        (("quality", "release", "--study", "study.toml"), "a measure of quality finds records"),
        (("export", "release", "--sql", "-o", "release.sql"), "an export finds records"),
        (("advise", "study.toml"), "suppress-persons is for run, apply and verify"),
    ],
)
def test_what_looks_for_records_by_their_class_is_refused(
    published, capsys, monkeypatch, command, message
):
    monkeypatch.chdir(published[0].parent)
    with pytest.raises(SystemExit):
        main([*command])
    assert message in capsys.readouterr().err
