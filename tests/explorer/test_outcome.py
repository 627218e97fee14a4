"""What a study comes to by counts alone is what its release is, recounted."""

from pathlib import Path

import numpy as np
import pytest
from explorer.conftest import small_study

from anonymizer.counts.counting import recount
from anonymizer.counts.counts import Counts
from anonymizer.counts.persons import PERSON
from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.attack import exposure_of, seen_by
from anonymizer.explorer.answers.classes import by_labels, named_class
from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.outcome import StudyOutcome, outcome_of
from anonymizer.explorer.views.attack import cautions
from anonymizer.privacy import HighestReidentificationRisk, KAnonymity, PersonKAnonymity
from anonymizer.recoding import Problem
from anonymizer.recoding.apply import Evaluation
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.datasets import shipped

CENSUS = shipped("data", "census.csv.gz")
STUDY = f"""
[data]
path = "{CENSUS}"

[quasi-identifiers]
age = {{{{ widths = [5, 10, 20] }}}}
sex = "suppress"
race = "suppress"

[sensitive]
attributes = ["marital-status"]

[[privacy]]
model = "k-anonymity"
k = {{k}}

[[privacy]]
model = "entropy-l-diversity"
l = {{l}}

[recoding]
{{recoding}}
"""
RECODINGS = {
    "levels": 'method = "full-domain"',
    "levels, some suppressed": 'method = "full-domain"\nsuppression = 0.05',
    "levels, some removed": 'method = "full-domain"\nsuppression = 0.05\nremove = true',
    "given levels": 'method = "fixed"\nlevels = { age = 2, sex = 1, race = 1 }',
    "given levels, some suppressed": (
        'method = "fixed"\nlevels = { age = 1, sex = 0, race = 0 }\nsuppression = 0.3'
    ),
    "ranges": 'method = "variable-range"\nrefine = ["age"]',
    "boxes": 'method = "boxes"',
    "cells": 'method = "merged-cells"',
}
counter = Counter()


def outcome(recoding: str, k: int = 50, l: float = 2.0):  # noqa: E741 (the model's own letter)
    text = STUDY.format(k=k, l=l, recoding=RECODINGS.get(recoding, recoding))
    if recoding == "cells":  # a search of seconds, with age
        text = text.replace("age = { widths = [5, 10, 20] }\n", "")
    return outcome_of(counter.counted(Study.parsed(text, Path("study.toml"))))


def rows(counts):
    """Classes as rows of their counts, in an order that does not depend on their labels."""
    found = np.column_stack([counts.sizes, *counts.joint.values()])
    return found[np.lexsort(found.T)].tolist()


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("k", [5, 300])
def test_classes_are_those_of_the_release(recoding, k):
    found = outcome(recoding, k)
    released = found.released
    assert rows(found.counts) == rows(recount(released, found.plan.published))
    assert found.suppressed == found.carried.suppressed_of(found.task.counted.kept)
    if found.holds:
        assert found.release.classes == found.classes
        assert found.release.suppressed == found.suppressed
        assert [v.worst for v in found.release.privacy] == pytest.approx(
            [v.worst for v in found.verdicts]
        )
        told = found.release.information
        assert (told.original, told.retained) == pytest.approx(found.information)


@pytest.mark.parametrize(
    ("recoding", "options"),
    [
        ("full-domain", ""),
        ("full-domain", "suppression = 0.3"),
        ("full-domain", "suppression = 0.3\nremove = true"),
        ("variable-range", ""),
        ("cut", ""),
        ("boxes", ""),
    ],
)
def test_the_best_of_one_recoding_is_shown_as_that_recoding(tmp_path, recoding, options):
    """The classes of both go by codes of raw values."""
    text = small_study(tmp_path, k=2).read_text()

    def shown(method: str) -> tuple:
        study = text.replace('method = "full-domain"', f"{method}\n{options}")
        found = outcome_of(Counter().counted(Study.parsed(study, tmp_path / "study.toml")))
        classes = [named_class(found, place).text() for place in range(found.classes)]
        told_apart = [seen_by(by_labels(found), [name]).sizes.tolist() for name in ("age", "city")]
        return classes, told_apart, found.suppressed, found.merged, found.information

    alone = shown(f'method = "{recoding}"')
    assert shown(f'method = "best"\nrecodings = ["{recoding}"]') == alone


def test_suppressed_records_are_one_class_that_can_be_found():
    found = outcome("levels, some suppressed", k=40, l=1.0)
    assert found.merged is not None
    assert found.counts.sizes[found.merged] == found.suppressed > 0
    hidden = engine.all_equal(found.released, ["age", "sex", "race"], "*")
    assert engine.records_in(found.released, hidden) == found.suppressed


def test_records_suppressed_of_one_attribute_alone():
    text = STUDY.format(k=40, l=1.0, recoding=RECODINGS["levels, some suppressed"])
    text = text.replace('sex = "suppress"\nrace = "suppress"\n', "").replace("[5, 10, 20]", "[1]")
    found = outcome_of(counter.counted(Study.parsed(text, Path("study.toml"))))
    assert rows(found.counts) == rows(recount(found.released, found.plan.published))
    assert found.counts.sizes[found.merged] == found.suppressed > 0
    assert seen_by(found.counts, ["age"]).sizes.sum() == 30_000


def test_levels_that_break_the_policy_are_shown_with_the_classes_that_do():
    found = outcome('method = "fixed"\nlevels = { age = 0, sex = 0, race = 0 }', k=50)
    assert not found.holds
    assert found.refusal.startswith("the levels given do not satisfy")
    assert found.release is None
    sizes = found.counts.sizes
    assert found.verdicts[0].violating == int((sizes < 50).sum()) > 0
    assert found.counts.sizes[found.worst_class(found.plan.models[0], None)] == sizes.min()


def test_the_worst_class_has_somebody_of_the_table():
    """A population has classes that the table has no record of."""
    counts = Counts.of(
        ("city",),
        np.array([[0], [1], [2]], np.intp),
        np.array([3, 0, 2], np.int64),
        {},
        population=np.array([4, 1, 9], np.int64),
    )
    found = StudyOutcome(evaluation=Evaluation(Problem(counts, {}, []), {}, counts, counts))
    assert found.worst_class(KAnonymity(2), None) == 2
    assert found.worst_class(HighestReidentificationRisk(0.5), None) == 2


def test_the_worst_class_is_that_of_fewest_persons():
    """Three records of one person, and two of two."""
    counts = Counts.of(
        ("city",),
        np.array([[0], [1]], np.intp),
        np.array([3, 2], np.int64),
        {PERSON: np.array([[3, 0, 0], [0, 1, 1]], np.int64)},
        {PERSON: ()},
    )
    found = StudyOutcome(evaluation=Evaluation(Problem(counts, {}, []), {}, counts, counts))
    assert found.worst_class(PersonKAnonymity(2), None) == 0
    assert found.worst_class(KAnonymity(2), None) == 1


PERSONS = """
[data]
path = "visits.csv"
person = "who"
[quasi-identifiers]
age = "suppress"
[sensitive]
attributes = "w"
[[privacy]]
model = "k-anonymity"
k = 2
[recoding]
{method}
suppression = {share}
suppress-persons = true
"""


@pytest.mark.parametrize(
    "method",
    ['method = "full-domain"', 'method = "fixed"\nlevels = {age = 0}'],
    ids=["best", "fixed"],
)
def test_whole_persons_are_suppressed_as_a_run_does(tmp_path, method):
    rows = "who,age,w\na,10,u\na2,10,v\nb,20,u\nc,20,v\nc,30,u\nd,40,v\ne,40,u\n"
    (tmp_path / "visits.csv").write_text(rows)
    text = PERSONS.format(method=method, share=0.4)
    found = outcome_of(Counter().counted(Study.parsed(text, tmp_path / "study.toml")))
    assert not found.refusal
    assert (found.counts.sizes.tolist(), found.evaluation.suppressed) == ([2, 2], 3)
    assert found.release.suppressed == 3
    text = PERSONS.format(method=method, share=0.2)
    found = outcome_of(Counter().counted(Study.parsed(text, tmp_path / "study.toml")))
    if "full-domain" in method:
        assert found.counts.sizes.tolist() == [7]  # the ages suppressed, and nobody
    else:
        assert "at most 0.2 of the persons are suppressed" in found.refusal


NUMBERED = """
[data]
path = "visits.csv"
person = "who"
[quasi-identifiers]
age = { widths = [20, 100] }
[sensitive]
attributes = "w"
[[privacy]]
model = "distinct-l-diversity"
l = 2
[output]
person = "number"
"""


def test_numbers_of_persons_are_looked_at_as_a_run_does(tmp_path):
    """a and b were there at 20 and at 60, and have hiv at 60: the ages are suppressed."""
    rows = "who,age,w\na,20,flu\na,60,hiv\nb,20,cold\nb,60,hiv\nc,20,flu\nd,20,cold\n"
    (tmp_path / "visits.csv").write_text(f"{rows}e,60,flu\nf,60,cold\n")
    path = tmp_path / "study.toml"
    path.write_text(NUMBERED)
    found = outcome_of(Counter().counted(Study(path)))
    release, _ = publish(Study(path), tmp_path / "out")
    assert not found.refusal
    assert found.counts.sizes.tolist() == [8]
    assert [each.worst for each in found.release.privacy] == [e.worst for e in release.privacy]
    assert release.levels == {"age": 2}
    text = NUMBERED.replace("[output]", '[recoding]\nmethod = "fixed"\nlevels.age = 0\n[output]')
    broken = outcome_of(Counter().counted(Study.parsed(text, path)))
    assert "the levels given do not satisfy" in broken.refusal
    text = text.replace("l = 2", "l = 1").replace('"number"', '{ pseudonym = "none.key" }')
    keyless = outcome_of(Counter().counted(Study.parsed(text, path)))
    assert "cannot read the key of persons" in keyless.refusal
    (tmp_path / "none.key").write_text("0f" * 32)
    seen = outcome_of(Counter().counted(Study.parsed(text, path)))
    exposed = exposure_of(seen.counts, None, "w")
    assert (exposed.guessing.surest, exposed.guessing.certain) == (1, 2)  # hiv of a and of b
    assert (seen.disclosures["w"].joined, seen.disclosures["w"].worst) == (True, 1)
    plain = outcome_of(Counter().counted(Study.parsed(text.partition("[output]")[0], path)))
    assert exposure_of(plain.counts, None, "w").guessing.surest == 0.5
    said, of_records = ([*cautions(each, True)] for each in (seen, plain))
    assert said[0].startswith("The release joins the rows of a person. A value is guessed here by")
    assert of_records == ["Records are counted here, of which a person may have several."]


def test_a_policy_out_of_reach_says_so():
    found = outcome("levels", l=50)
    assert found.unreachable
    assert found.counts is None
    assert "entropy-l-diversity" in found.refusal


def test_another_policy_is_not_encoded_anew_and_is_answered_the_same():
    once = outcome("levels", 200)
    again, fresh = outcome("levels", 20), Counter()
    assert once.task.counted is again.task.counted
    text = STUDY.format(k=20, l=2.0, recoding=RECODINGS["levels"])
    alone = outcome_of(fresh.counted(Study.parsed(text, Path("study.toml"))))
    assert rows(alone.counts) == rows(again.counts)
    assert alone.plan.search.value == again.plan.search.value


SPELLED = """
[data]
path = "people.csv"

[quasi-identifiers]
age = {{ widths = [10] }}

[sensitive]
attributes = ["code"]

[[privacy]]
{model}
"""


@pytest.mark.parametrize(
    ("codes", "model", "refusal"),
    [
        (["1", "2"], 'model = "distinct-l-diversity"\nl = 2', ""),
        (["1", "True"], 'model = "distinct-l-diversity"\nl = 2', "no recoding can reach it"),
        (["1", "True"], 'model = "itpr"\nrisk = 1.0', "cannot be proven"),
    ],
)
def test_what_a_run_would_refuse_for_how_it_reads_is_refused(tmp_path, codes, model, refusal):
    rows = [f"{age},{code}" for age in range(20, 40) for code in codes]
    (tmp_path / "people.csv").write_text("\n".join(["age,code", *rows, ""]))
    path = tmp_path / "study.toml"
    path.write_text(SPELLED.format(model=model))
    found = outcome_of(Counter().counted(Study(path)))
    assert refusal in found.refusal
    assert found.holds == (not refusal)
    if refusal:
        with pytest.raises(AnonymizerError, match=refusal):
            publish(Study(path), tmp_path / "release")
    else:
        publish(Study(path), tmp_path / "release")
