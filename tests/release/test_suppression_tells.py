"""Who lacks in a release tells nothing: an attacker who knows everybody's quasi-identifiers.

He is plain Python. He reads the released file, knows the study and how it suppresses, and counts
every table that could have led to what he reads.
"""

import csv
import json
import random
from collections import Counter
from fractions import Fraction
from math import comb

import pytest
from lengths import at_length

from anonymizer.errors import PolicyBrokenError, PolicyUnreachableError
from anonymizer.release.apply import ApplyOptions, publish_applied
from anonymizer.release.publish import publish
from anonymizer.release.study import Study

STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
zip = {{ prefixes = [2, 1] }}
sex = "suppress"
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "k-anonymity"
k = {k}
[[privacy]]
model = "distinct-l-diversity"
l = 2
[recoding]
method = "{method}"
suppression = {share}
{more}
"""


def written(path, people):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("zip", "sex", "ill"), *people])


def published(directory, people, more="", k=5, share=0.02, method="full-domain"):
    """The released rows of some people, (zip, sex, ill) each."""
    written(directory / "people.csv", people)
    study = STUDY.format(more=more, k=k, share=share, method=method)
    (directory / "study.toml").write_text(study)
    release, _ = publish(Study(directory / "study.toml"), directory / "out", force=True)
    with (directory / "out" / "released.csv").open(newline="") as file:
        return release, [tuple(row.values()) for row in csv.DictReader(file)]


def recoded(people, rows):
    """The label that each of some people would have, by the labels that are shown."""
    zips, sexes = {row[0] for row in rows} - {"*"}, {row[1] for row in rows} - {"*"}
    kept = len(min(zips, default="").rstrip("*"))
    return [
        (zip_[:kept] + "*" * (len(zip_) - kept) if zips else "*", sex if sexes else "*")
        for zip_, sex, _ in people
    ]


def guesses(people, rows, k, any_model):
    """The probability of each value for the people of each class that lacks; and its share in *."""
    there = Counter(row[:2] for row in rows)
    everybody = Counter(recoded(people, rows))
    lacking = {label: n for label, n in everybody.items() if label not in there}
    hidden = Counter(row[2] for row in rows if row[:2] == ("*", "*"))
    if not lacking or sum(hidden.values()) != sum(lacking.values()):
        return {}, hidden
    sizes, values = [*lacking.values()], [*hidden]
    found = {label: Counter() for label in lacking}
    total = 0
    for ways, world in worlds(sizes, hidden, values):
        if any_model and not all(
            size < k or len(+cell) < 2 for size, cell in zip(sizes, world, strict=True)
        ):
            continue  # such a class would not have been suppressed
        total += ways
        for label, cell in zip(lacking, world, strict=True):
            for value, count in cell.items():
                found[label][value] += ways * Fraction(count, lacking[label])
    return {
        label: {value: number / total for value, number in each.items()}
        for label, each in found.items()
    }, hidden


def worlds(sizes, left, values):
    """How the values that are left may be dealt to classes of these sizes, and in how many ways."""
    if not sizes:
        yield 1, ()
        return
    for ways, cell in dealt(sizes[0], left, values):
        for more, rest in worlds(sizes[1:], left - cell, values):
            yield ways * more, (cell, *rest)


def dealt(size, left, values):
    if not values:
        if not size:
            yield 1, Counter()
        return
    first, *others = values
    for number in range(min(size, left[first]) + 1):
        for ways, rest in dealt(size - number, left, others):
            yield comb(left[first], number) * ways, Counter({first: number}) + rest


def toy():
    """38 classes of 31 people with three illnesses, six women with HIV, and two men with flu."""
    ills = ["flu", "cold", "asthma"]
    return [
        *(
            (zip_, sex, ills[i % 3])
            for zip_ in [str(100 + n) for n in range(20) if n != 17]
            for sex in "FM"
            for i in range(31)
        ),
        *[("117", "F", "HIV")] * 6,
        *[("117", "M", "flu")] * 2,
    ]


def test_six_women_with_one_illness(run, tmp_path):
    """By default nobody who lacks is told of; ``any`` tells of all eight, and warns of six."""
    people = toy()
    release, rows = published(tmp_path, people, 'suppress = "any"')
    found, hidden = guesses(people, rows, 5, any_model=True)
    assert hidden == {"HIV": 6, "flu": 2}
    assert found == {("117", "F"): {"HIV": 1}, ("117", "M"): {"flu": 1}}
    (warning,) = [each for each in release.warnings if each.code == "suppression-tells"]
    assert (warning.count, warning.of) == (6, 8)
    assert 'leave suppress = "any" out' in warning.message
    code, text, _ = run("audit", tmp_path / "out", "--against", tmp_path / "people.csv")
    assert code == 3
    assert "classes were suppressed for their sensitive values" in " ".join(text.split())
    release, rows = published(tmp_path, people)
    found, hidden = guesses(people, rows, 5, any_model=False)
    assert ("117", "F") not in found
    assert all(chance == Fraction(hidden[value], hidden.total())
               for each in found.values() for value, chance in each.items())  # fmt: skip
    assert "suppression-tells" not in [each.code for each in release.warnings]


def test_nobody_is_told_of_beyond_the_policy(tmp_path):
    """In random tables: who lacks is as likely to have a value as anybody whose record is ``*``."""
    seen = Counter()
    for seed in range(at_length(20, 60)):
        rng = random.Random(seed)
        people = [
            (rng.choice(["11", "12", "21", "22", "23"]), rng.choice("FM"), rng.choice("xxyz"))
            for _ in range(rng.randrange(20, 50))
        ]
        try:
            _, rows = published(tmp_path, people, k=3, share=0.2)
        except (PolicyUnreachableError, PolicyBrokenError):
            seen["refused"] += 1
            continue
        found, hidden = guesses(people, rows, 3, any_model=False)
        everybody = Counter(recoded(people, rows))
        assert all(everybody[label] < 3 for label in found)
        for each in found.values():
            seen["lacking"] += 1
            for value, chance in each.items():
                assert chance == Fraction(hidden[value], hidden.total())
    assert seen["lacking"] >= at_length(6, 20)


def test_a_large_class_may_not_be_suppressed_at_given_levels(tmp_path):
    with pytest.raises(PolicyUnreachableError, match="the levels given do not satisfy"):
        published(tmp_path, toy(), RAW, method="fixed")


RAW = "levels = { zip = 0, sex = 0 }"


def test_a_recoding_that_would_suppress_a_large_class_is_not_applied(tmp_path):
    """October has six mixed women; in November all have HIV: another recoding is needed."""
    october = [person if person[2] != "HIV" else (*person[:2], "flu") for person in toy()]
    october[-3] = ("117", "F", "cold")
    release, _ = published(tmp_path, october, RAW, method="fixed")
    assert (release.suppressed, release.suppressed_class) == (2, "removed")
    written(tmp_path / "november.csv", toy())
    with pytest.raises(PolicyBrokenError, match="are large enough break the policy for their"):
        publish_applied(tmp_path / "out", tmp_path / "november.csv", tmp_path / "november")
    assert not (tmp_path / "november").exists()


CHAIN = """
[data]
path = "october.csv"
[quasi-identifiers]
zip = {{ widths = [20, 100] }}
sex = "suppress"
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "distinct-l-diversity"
l = 2
[recoding]
method = "{method}"
"""


@pytest.mark.parametrize("method", ["variable-range", "cut", "boxes"])
def test_a_followed_release_keeps_the_rule_where_its_recoding_has_no_key_of_it(tmp_path, method):
    """October suppresses nobody, November two men; in December six women have one illness."""
    mixed = [("20", sex, ill) for sex in "FM" for ill in ["flu", "HIV", "cold"] * 6]
    women, men = ([("60", sex, ill) for ill in ["flu"] * 15 + ["HIV"] * 3] for sex in "FM")
    months = {
        "october": [*mixed, *women, *men],
        "november": [*mixed, *women, *[("60", "M", "cold")] * 2],
        "december": [*mixed, *[("60", "F", "HIV")] * 6, *[("60", "M", "flu")] * 2],
    }
    for month, people in months.items():
        written(tmp_path / f"{month}.csv", people)
    (tmp_path / "study.toml").write_text(CHAIN.format(method=method))
    publish(Study(tmp_path / "study.toml"), tmp_path / "october")
    allowed = ApplyOptions(suppression=0.3)
    publish_applied(tmp_path / "october", tmp_path / "november.csv", tmp_path / "november", allowed)
    manifest = json.loads((tmp_path / "november" / "release.json").read_text())
    assert (manifest["suppressed"], manifest["method"]["suppress"]) == (2, "small")
    for release in ("october", "november"):
        with pytest.raises(PolicyBrokenError, match='suppress = "small" suppresses none of these'):
            publish_applied(
                tmp_path / release, tmp_path / "december.csv", tmp_path / "december", allowed
            )
    assert not (tmp_path / "december").exists()


def test_a_release_of_before_the_rule_could_be_chosen_is_applied_by_its_own(tmp_path):
    """Its manifest says nothing of the rule: with suppression it was the one of any class."""
    published(tmp_path, toy(), RAW + '\nsuppress = "any"', method="fixed")
    place = tmp_path / "out" / "release.json"
    manifest = json.loads(place.read_text())
    assert manifest["method"].pop("suppress") == "any"
    place.write_text(json.dumps(manifest))
    release, _ = publish_applied(tmp_path / "out", tmp_path / "people.csv", tmp_path / "again")
    assert (release.suppressed, release.suppressed_class) == (8, "kept")
    assert "suppression-tells" in [each.code for each in release.warnings]
    manifest["method"]["suppression"] = 0.0
    place.write_text(json.dumps(manifest))
    with pytest.raises(PolicyBrokenError, match="nothing was released"):
        publish_applied(
            tmp_path / "out",
            tmp_path / "people.csv",
            tmp_path / "more",
            ApplyOptions(suppression=0.02),
        )
