"""The objective that is taken where none is given."""

import json

import pandas as pd
import pytest
from sklearn.base import clone

from anonymizer import (
    Anonymizer,
    Best,
    Discernibility,
    EntropyLDiversity,
    Fixed,
    Hierarchy,
    InputError,
    KAnonymity,
    Loss,
    MutualInformation,
    Pram,
    Study,
    verify_release,
)
from anonymizer.release.publish import publish
from anonymizer.report.printing import print_report
from anonymizer.report.release import release_report

ROWS = [{"age": 20 + i % 8, "sex": "fm"[i % 2], "ill": "abc"[i % 3]} for i in range(48)]
STUDY = """\
[data]
path = "people.csv"
[quasi-identifiers]
age = "age.toml"
sex = "suppress"
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "k-anonymity"
k = 4
"""
DIVERSE = '[[privacy]]\nmodel = "entropy-l-diversity"\nl = 2\n'
UNTOLD = "no model of the policy is about a sensitive attribute, and there is no target"


def estimator(**parameters: object) -> Anonymizer:
    given = {
        "quasi_identifiers": {"age": Hierarchy.ranges(widths=[2, 4]), "sex": "suppress"},
        "sensitive": "ill",
        "privacy": [KAnonymity(4)],
    }
    return Anonymizer(**{**given, **parameters})


@pytest.mark.parametrize(
    ("recoding", "models", "kind"),
    [
        ("full-domain", [KAnonymity(4)], Loss),
        (Fixed({"age": 1, "sex": 0}), [KAnonymity(4)], Loss),
        ("boxes", [KAnonymity(4)], Discernibility),
        ("variable-range", [KAnonymity(4)], Discernibility),
        ("best", [KAnonymity(4)], Discernibility),
        (Best(["full-domain"]), [KAnonymity(4)], Loss),
        ("full-domain", [KAnonymity(4), EntropyLDiversity(2)], MutualInformation),
        ("boxes", [EntropyLDiversity(2)], MutualInformation),
        (Pram({"age": 2, "sex": 1}), [KAnonymity(4)], MutualInformation),
    ],
)
def test_it_follows_from_policy_and_recoding(recoding, models, kind):
    asked = estimator(recoding=recoding, privacy=models)
    assert type(asked.chosen_objective) is kind
    assert asked.get_params()["objective"] == "automatic"
    assert clone(asked).fingerprint == asked.fingerprint
    named = estimator(recoding=recoding, privacy=models, objective=kind.name)
    assert named.fingerprint == asked.fingerprint


def test_the_one_taken_is_reported_with_the_reason():
    asked = estimator().fit(pd.DataFrame(ROWS))
    assert (asked.search_.objective, asked.search_.because) == ("loss", UNTOLD)
    named = estimator(objective="loss").fit(pd.DataFrame(ROWS))
    assert (named.search_.value, named.search_.because) == (asked.search_.value, "")
    boxes = estimator(recoding="boxes").fit(pd.DataFrame(ROWS))
    assert boxes.search_.because.startswith(UNTOLD + "; loss, which would be next")
    told = estimator(privacy=[EntropyLDiversity(1.5)]).fit(pd.DataFrame(ROWS))
    assert told.search_.because == "a model of the policy is about a sensitive attribute"


def test_no_sensitive_attribute_is_needed():
    table = pd.DataFrame(ROWS).drop(columns="ill")
    released = estimator(sensitive=()).fit(table)
    assert released.search_.objective == "loss"
    with pytest.raises(InputError, match=r"is about a sensitive attribute; .* such as loss"):
        estimator(sensitive=(), objective="mutual-information").fit(table)


@pytest.mark.parametrize(
    ("more", "name", "because"),
    [
        ("", "loss", UNTOLD),
        ('[objective]\nname = "automatic"\n', "loss", UNTOLD),
        (DIVERSE, "mutual-information", "a model of the policy is about a sensitive attribute"),
        ("[objective]\nweights = {age = 2}\n", "loss", ""),
        ("[objective]\nweights = {ill = 2}\n", "mutual-information", ""),
        ('[objective]\ntarget = "ill"\n', "mutual-information", ""),
        (DIVERSE + '[objective]\naggregate = "geometric-mean"\n', "loss", ""),
    ],
)
def test_in_a_study(tmp_path, capsys, more, name, because):
    pd.DataFrame(ROWS).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "age.toml").write_text("widths = [2, 4]\n")
    path = tmp_path / "study.toml"
    path.write_text(STUDY + more)
    release, _ = publish(Study(path), tmp_path / "out")
    written = json.loads((tmp_path / "out.steward.json").read_text())["search"]
    assert (written["objective"], written["because"]) == (name, because)
    print_report(release_report(release, tmp_path))
    assert (f"The objective is {name}, by default: {because}." in capsys.readouterr().out) == bool(
        because
    )
    for study in (None, path):
        assert verify_release(tmp_path / "out", study).differences == ()
    path.write_text(STUDY + '[objective]\nname = "discernibility"\n')
    changed = {check.field for check in verify_release(tmp_path / "out", path).differences}
    assert "search.objective" in changed
    assert ("search.because" in changed) == bool(because)
