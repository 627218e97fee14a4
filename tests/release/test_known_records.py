"""Releases that hold against who knows several records of a person, or all of them."""

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import persons as oracle
import pytest
from lengths import at_length

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    Boxes,
    CompositionKAnonymity,
    Cut,
    DistinctLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    KmAnonymity,
    LargestShare,
    MergedCells,
    PersonKAnonymity,
    PolicyBrokenError,
    PolicyUnreachableError,
    VariableRange,
)
from anonymizer.cli import main
from anonymizer.privacy import EventModel
from anonymizer.release.apply import publish_applied
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release

AGE = Hierarchy.ranges(widths=[2, 4, 8])
SEX = Hierarchy.suppression()
POLICIES = [
    [KmAnonymity(2, 2)],
    [KmAnonymity(3, 2), LargestShare(0.6)],
    [KAnonymity(3), KmAnonymity(2, 3), LargestShare(0.6)],
    [KmAnonymity(2, 2), DistinctLDiversity(2)],
    [CompositionKAnonymity(2)],
    [CompositionKAnonymity(2), DistinctLDiversity(2), LargestShare(0.6)],
]


def table_of(rng: np.random.Generator, least: int = 6, most: int = 14) -> pd.DataFrame:
    """One to three records of each of some persons, a few of whom have more."""
    many = rng.choice([1, 2, 3, 5], int(rng.integers(least, most)), p=[0.3, 0.4, 0.2, 0.1])
    person = np.repeat(np.arange(len(many)), many)
    age = rng.integers(0, 8, len(many))
    return pd.DataFrame(
        {
            "who": [f"p{each}" for each in person],
            "age": (age[person] + rng.integers(0, 2, len(person))).astype(int),
            "sex": np.where(person % 2, "f", "m"),
            "w": rng.choice(["a", "b", "c"], len(person), p=[0.5, 0.3, 0.2]),
            "place": np.arange(len(person)),
        }
    )


def anonymizer_of(privacy, recoding="full-domain", **options) -> Anonymizer:
    return Anonymizer(
        {"age": AGE, "sex": SEX},
        sensitive="w",
        privacy=privacy,
        recoding=recoding,
        person="who",
        **options,
    )


def released_records(raw: pd.DataFrame, released: pd.DataFrame) -> list[oracle.Record]:
    """The released records with whose they are, by their places in the raw table."""
    labels = released[["age", "sex"]].astype(str).itertuples(index=False, name=None)
    persons = raw["who"].iloc[released["place"]]
    many = raw["who"].value_counts()
    rows = zip(labels, released["w"], persons, strict=True)
    return [oracle.Record(row, value, who, int(many[who])) for row, value, who in rows]


def about_several(privacy) -> EventModel:
    (model,) = [each for each in privacy if isinstance(each, EventModel)]
    return model


def left(records: list[oracle.Record], model: EventModel) -> int:
    """The fewest persons left to whom a model is about."""
    if isinstance(model, KmAnonymity):
        return oracle.fewest_left(records, model.m)
    return oracle.fewest_alike(records)


# By hand

RING = pd.DataFrame(
    {
        "who": ["a", "a", "b", "b", "c", "c", "d", "d"],
        "age": [20, 30, 20, 40, 30, 50, 40, 50],
    }
)
"""Each age is that of two persons, and each two ages that somebody has are of one person."""


def test_two_records_name_a_person_whom_one_does_not():
    """Ages of 20 to 39 twice are those of a alone, and of 40 to 59 twice of d; all have two."""
    ages = Hierarchy.ranges(widths=[20, 100])
    one = Anonymizer({"age": ages}, privacy=[KAnonymity(2)], person="who").fit(RING)
    assert one.release_.levels == {"age": 0}
    assert oracle.fewest_left(oracle.records_of(RING[["age"]].values, [0] * 8, RING["who"]), 2) == 1
    two = Anonymizer({"age": ages}, privacy=[KmAnonymity(2, 2)], person="who").fit(RING)
    assert two.release_.levels == {"age": 2}
    assert [each.worst for each in two.release_.privacy] == [4, 4, 0.25]


def test_all_records_name_a_person_whom_two_do_not():
    """Who knows two records of c, 20 and 20 or 20 and 30, is left with others; c alone has both."""
    rows = [(who, age) for who in "ab" for age in (20, 20)]
    rows += [(who, age) for who in "de" for age in (20, 30)]
    raw = pd.DataFrame([*rows, *[("c", 20), ("c", 20), ("c", 30)]], columns=["who", "age"])
    ages, fixed = Hierarchy.suppression(), Fixed({"age": 0})
    policy = [LargestShare(1)]
    two = Anonymizer({"age": ages}, privacy=[KmAnonymity(2, 2), *policy], person="who")
    two.set_params(recoding=fixed).fit(raw)
    assert two.release_.privacy[0].worst == 3
    of_all = Anonymizer({"age": ages}, privacy=[CompositionKAnonymity(2), *policy], person="who")
    message = "k = 2 exceeds the 1 persons who are left even where all records are in one class"
    with pytest.raises(PolicyUnreachableError, match=message):
        of_all.fit(raw)
    of_all.fit(raw[raw["who"] != "c"])  # two pairs of two alike
    assert of_all.release_.levels == {"age": 0}
    assert of_all.release_.privacy[0].worst == 2


def test_who_has_most_records_of_all_is_found_by_them():
    one_more = pd.concat([RING, pd.DataFrame({"who": ["a"], "age": [20]})])
    anonymizer = Anonymizer({"age": "suppress"}, privacy=[KmAnonymity(2, 3)], person="who")
    message = (
        "km-anonymity: k = 2 exceeds the 1 persons who are left even where all records are in one "
        "class: no more have that many records; choose a smaller k or m"
    )
    with pytest.raises(PolicyUnreachableError, match=message):
        anonymizer.fit(one_more)
    anonymizer.set_params(privacy=[KmAnonymity(2, 2)]).fit(one_more)


def test_classes_that_are_too_small_are_suppressed():
    """Of one person of 90, whose class merges with nothing else; all others are two of a kind."""
    others = [(f"{sex}{n}", 20 + n, sex) for n in range(2) for sex in "fm" for _ in range(2)]
    others += [(f"{who}{n}", 20 + n, who[0]) for n in range(2) for who in ("fx", "mx")] * 2
    raw = pd.DataFrame([*others, ("z", 90, "f")], columns=["who", "age", "sex"])
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10]), "sex": SEX},
        privacy=[KmAnonymity(2, 2)],
        person="who",
        recoding=Fixed({"age": 0, "sex": 0}, suppression=0.1),
    ).fit(raw)
    assert (anonymizer.release_.suppressed, anonymizer.release_.suppressed_class) == (1, "removed")
    assert [each.worst for each in anonymizer.release_.privacy] == [2, 2, 0.5]


def test_leaving_records_out_may_be_what_makes_a_policy_hold():
    """Person a has half of all records, in a class alone: eight of one each are left."""
    rows = [("a", 1)] * 9 + [(f"p{n}", 2) for n in range(8)]
    raw = pd.DataFrame(rows, columns=["who", "age"])
    ages = {"age": Hierarchy.from_rows([["1", "*"], ["2", "*"]])}
    for policy in ([KAnonymity(2)], [KmAnonymity(2, 2)]):
        anonymizer = Anonymizer(ages, privacy=policy, person="who")
        with pytest.raises(PolicyUnreachableError, match=r"exceeds|is below"):
            anonymizer.fit(raw)
        anonymizer.set_params(recoding=FullDomain(suppression=0.6, remove=True)).fit(raw)
        assert (anonymizer.release_.released, anonymizer.release_.levels) == (8, {"age": 0})


def test_what_the_model_implies_is_added():
    models = {
        (KmAnonymity(5, 2),): [PersonKAnonymity(5), LargestShare(1 / 5)],
        (KmAnonymity(5, 2), LargestShare(0.5)): [PersonKAnonymity(5)],
        (CompositionKAnonymity(5),): [PersonKAnonymity(5), LargestShare(1 / 5)],
        (KmAnonymity(5, 2), KmAnonymity(3, 3)): [PersonKAnonymity(5), LargestShare(1 / 5)],
    }
    for given, added in models.items():
        assert anonymizer_of(given).models == (*given, *added)
    larger = anonymizer_of([KAnonymity(5), KmAnonymity(3, 2)]).models
    assert larger == (PersonKAnonymity(5), KmAnonymity(3, 2), LargestShare(1 / 5))
    smaller = anonymizer_of([KAnonymity(2), KmAnonymity(3, 2)]).models
    added = PersonKAnonymity(3), LargestShare(1 / 3)
    assert smaller == (PersonKAnonymity(2), KmAnonymity(3, 2), *added)


# Against the oracle

RECODINGS = [
    FullDomain(),
    FullDomain(suppression=0.2),
    FullDomain(suppression=0.4, remove=True),
    Fixed({"age": 3, "sex": 1}, suppression=0.4),
]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_releases_leave_as_many_persons_as_the_oracle_counts(recoding):
    rng, released_some = np.random.default_rng(9), 0
    for _, privacy in product(range(at_length(1, 100)), POLICIES):
        raw = table_of(rng)
        anonymizer = anonymizer_of(privacy, recoding)
        try:
            released = anonymizer.fit_transform(raw)
        except PolicyUnreachableError:
            continue
        released_some += 1
        model, records = about_several(privacy), released_records(raw, released)
        (own,) = [e for e in anonymizer.release_.privacy if e.model == model]
        assert own.worst == left(records, model) >= model.k
        assert oracle.worst(oracle.persons, records, True) >= model.k
    assert released_some > 1


def levels_of(value: int, sex: str, node: tuple[int, int]) -> tuple[object, object]:
    width = [1, 2, 4, 8, 1000][node[0]]
    return value // width, sex if node[1] == 0 else "*"


def holds(records: list[oracle.Record], privacy) -> bool:
    """Whether a policy holds, by its definition, with what follows from it."""
    model = about_several(privacy)
    k_of_each = max([model.k, *(each.k for each in privacy if isinstance(each, KAnonymity))])
    share = next((each.share for each in privacy if isinstance(each, LargestShare)), 1 / k_of_each)
    values = any(isinstance(each, DistinctLDiversity) for each in privacy)
    return (
        left(records, model) >= model.k
        and oracle.worst(oracle.persons, records, True) >= k_of_each
        and oracle.worst(oracle.largest_share, records, False) <= share + 1e-9
        and (not values or oracle.worst(oracle.distinct, records, True) >= 2)
    )


SEARCHES = ["automatic", "bisection", "top-down", "incognito", "exhaustive", "branch-and-bound"]


def test_the_best_levels_are_those_of_enumeration():
    rng, solved = np.random.default_rng(21), 0
    for number, privacy in product(range(at_length(4, 200)), POLICIES):
        raw = table_of(rng)
        best = None
        for node in product(range(5), range(2)):
            rows = zip(raw["age"], raw["sex"], strict=True)
            records = oracle.records_of(
                [levels_of(*row, node) for row in rows], raw["w"].tolist(), raw["who"].tolist()
            )
            squares = sum(len(group) ** 2 for group in oracle.classes_of(records))
            if (best is None or squares < best) and holds(records, privacy):
                best = squares
        recoding = FullDomain(search=SEARCHES[number % len(SEARCHES)])
        try:
            found = anonymizer_of(privacy, recoding, objective="discernibility").fit(raw)
        except PolicyUnreachableError:
            assert best is None
            continue
        solved += 1
        assert found.search_.value == best
    assert solved > 8


@pytest.mark.parametrize("known", [1, 2, 3])
def test_an_attacker_who_knows_some_records_finds_nobody(known):
    """Who knows the classes of some records of somebody looks for those who have all of them."""
    rng, attacked, single = np.random.default_rng(13), 0, 0
    model = KAnonymity(2) if known == 1 else KmAnonymity(2, known)
    promised, nothing = [model, LargestShare(0.6)], [KAnonymity(2)]
    if known == 1:
        nothing = [LargestShare(1)]
    for _ in range(at_length(30, 20_000)):
        if attacked >= at_length(4, 1000) and single > 3:
            break
        raw = table_of(rng, 20, 30)
        for privacy in (promised, nothing):
            try:
                released = anonymizer_of(privacy).fit_transform(raw)
            except PolicyUnreachableError:
                continue
            who = raw["who"].iloc[released["place"]].to_numpy()
            labels = released["age"].astype(str) + released["sex"].astype(str)
            book = {person: Counter(labels[who == person]) for person in {*who}}
            suspects = [
                [other for other, theirs in book.items() if Counter(facts) <= theirs]
                for person in book
                for facts in combinations(labels[who == person], known)
            ]
            fewest = min(map(len, suspects), default=2)
            if privacy is promised:
                attacked += 1
                assert fewest >= 2
            else:
                single += fewest == 1
    assert attacked >= at_length(4, 1000)
    assert single > 3  # the attack finds persons where nothing is promised


def ways_of(group: list[oracle.Record]) -> Iterator[dict[str, Fraction]]:
    """How likely each value is in a class, to who picks a record, a person, or any known record."""
    own = Counter(each.person for each in group)
    weights = [
        [Fraction(1, len(group)) for _ in group],
        [Fraction(1, len(own) * own[each.person]) for each in group],
        [Fraction(1, each.records) for each in group],
    ]
    for found in weights:
        yield {
            value: sum(w for w, each in zip(found, group, strict=True) if each.value == value)
            / sum(found)
            for value in {each.value for each in group}
        }


def test_an_attacker_who_knows_one_record_guesses_no_value_of_it():
    """Who knows the class of a record guesses its value; who knows that, too, may find the person.

    The first is what a policy about the value bounds. The second nothing bounds.
    """
    rng, attacked, surer, found = np.random.default_rng(15), 0, 0, 0
    nothing = [KAnonymity(2), LargestShare(0.6)]
    promised = [AlphaKAnonymity(0.7, 1), *nothing]
    for _ in range(at_length(30, 20_000)):
        if attacked >= at_length(4, 1000) and surer > 3 and found > 3:
            break
        raw = table_of(rng, 20, 30)
        for privacy in (promised, nothing):
            try:
                released = anonymizer_of(privacy).fit_transform(raw)
            except PolicyUnreachableError:
                continue
            groups = oracle.classes_of(released_records(raw, released))
            surest = max(max(way.values()) for group in groups for way in ways_of(group))
            if privacy is nothing:
                surer += surest > Fraction(7, 10)
                continue
            attacked += 1
            assert surest <= Fraction(7, 10)
            found += any(
                len({each.person for each in group if each.value == known.value}) == 1
                for group in groups
                for known in group
            )
    assert attacked >= at_length(4, 1000)
    assert min(surer, found) > 3  # both attacks find something where nothing is promised


def test_who_knows_all_records_of_a_person_finds_nobody():
    """Of a household, say, all members: 1, 2 or 3, of whom nobody else has the like without it."""
    rng, attacked, single = np.random.default_rng(14), 0, 0
    for _ in range(at_length(30, 20_000)):
        if attacked >= at_length(4, 1000) and single > 3:
            break
        raw = table_of(rng, 20, 30)
        for privacy in ([CompositionKAnonymity(2), LargestShare(0.6)], [KAnonymity(2)]):
            try:
                released = anonymizer_of(privacy, FullDomain(suppression=0.3)).fit_transform(raw)
            except PolicyUnreachableError:
                continue
            who = raw["who"].iloc[released["place"]].to_numpy()
            labels = released["age"].astype(str) + released["sex"].astype(str)
            book = Counter(tuple(sorted(labels[who == person])) for person in {*who})
            if isinstance(privacy[0], CompositionKAnonymity):
                attacked += 1
                assert min(book.values()) >= 2
            else:
                single += min(book.values()) == 1
    assert attacked >= at_length(4, 1000)
    assert single > 3  # the attack finds persons where nothing is promised


# What is refused


MODELS = [KmAnonymity(2, 2), CompositionKAnonymity(2)]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("recoding", [VariableRange(), Cut(), Boxes(), MergedCells()], ids=repr)
def test_searches_of_single_classes_refuse_what_is_about_the_table(recoding, model):
    message = (
        f"judges every class by its own records, and {model.name} is about the table as a whole; "
        "choose full-domain recoding"
    )
    with pytest.raises(InputError, match=message):
        anonymizer_of([model], recoding).fit(table_of(np.random.default_rng(0)))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_it_is_refused_where_no_column_tells_whose_records_are(model):
    anonymizer = anonymizer_of([model]).set_params(person=())
    message = f"^{model.name} counts persons, and no column tells whose"
    with pytest.raises(InputError, match=message):
        anonymizer.fit(table_of(np.random.default_rng(0)))


# Files

STUDY = """\
[data]
path = "raw.csv"
person = "who"
[quasi-identifiers]
age = { widths = [20, 100] }
[[privacy]]
model = "km-anonymity"
k = 2
m = 2
"""
OF_ALL = STUDY.replace("km-anonymity", "composition-k-anonymity").replace("m = 2\n", "")


@pytest.fixture(params=[STUDY, OF_ALL], ids=["km", "all"])
def text(request):
    return request.param


@pytest.fixture
def names(text):
    own = "km-anonymity" if text is STUDY else "composition-k-anonymity"
    return [own, "person-k-anonymity", "largest-share"]


@pytest.fixture
def published(tmp_path, text):
    RING.to_csv(tmp_path / "raw.csv", index=False)
    (tmp_path / "study.toml").write_text(text)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    return tmp_path


def test_a_release_is_verified_with_the_original(published, text, names):
    release, raw = published / "release", published / "raw.csv"
    reported = json.loads((release / "release.json").read_text())["privacy"]
    assert [(each["model"], each["worst"]) for each in reported] == [(name, None) for name in names]
    alone = verify_release(release)
    assert [each.name for each in alone.unexamined] == names
    found = verify_release(release, published / "study.toml", original=raw)
    assert found.satisfied
    assert [(each.model.name, each.worst) for each in found.verdicts] == [
        *zip(names, [4, 4, 0.25], strict=True)
    ]
    stricter = text.replace("k = 2", "k = 5")
    (published / "study.toml").write_text(stricter)
    assert not verify_release(release, published / "study.toml", original=raw).satisfied


def test_a_table_of_the_next_month_is_held_against_it(published, names):
    release, later = published / "release", published / "later.csv"
    RING.to_csv(later, index=False)
    publish_applied(release, later, published / "next")
    if names[0] == "km-anonymity":
        RING.iloc[1:].to_csv(later, index=False)  # three of two records each, and one of one
        publish_applied(release, later, published / "third")
    RING.iloc[[0, 1, 2, 4, 6]].to_csv(later, index=False)  # a alone has two
    with pytest.raises(PolicyBrokenError, match=rf"{names[0]} fails \(1 against 2\)"):
        publish_applied(release, later, published / "fourth")


def test_commands_measure_it(published, text, names, capsys, monkeypatch):
    monkeypatch.chdir(published)

    def said(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            main([*arguments])
        out, err = capsys.readouterr()
        assert err == "", arguments
        return stop.value.code, " ".join(out.split())

    code, out = said("check", "raw.csv", "--study", "study.toml")
    assert code == 1
    assert names[0] in out
    code, out = said("check", "release", "--study", "study.toml")
    assert code == 3
    assert f"Not examined: {names[0]}" in out
    code, out = said("audit", "release", "--against", "raw.csv", "--study", "study.toml")
    assert code == 3  # minimality is not examined of persons
    assert "fewer than k = 2 left" in out
    code, out = said("advise", "study.toml")
    assert code == 0
    (published / "study.toml").write_text(text.replace("k = 2", "k = 5"))
    code, out = said("advise", "study.toml")
    assert names[0] in out
