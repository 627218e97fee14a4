"""Certificates of the optimum, held against brute force, and corrupted."""

import json
import shutil
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import random_case
from lengths import at_length

from anonymizer import (
    Anonymizer,
    EntropyLDiversity,
    FullDomain,
    InputError,
    KAnonymity,
    KMap,
    PolicyUnreachableError,
    TCloseness,
    VariableRange,
)
from anonymizer.release.certificate import Claim, certified
from anonymizer.release.verifiers import optimum

SCRIPT = Path(optimum.__file__)

STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = { widths = [10, 20] }
sex = "suppress"
[sensitive]
attributes = ["illness"]
[[privacy]]
model = "k-anonymity"
k = 2
[recoding]
method = "full-domain"
"""

PEOPLE = """age,sex,illness
21,f,flu
22,f,cold
23,m,flu
31,m,cold
32,m,flu
"""

SECRETS = ("cold",)

EVERYBODY = pd.read_csv(StringIO(PEOPLE))[["age", "sex"]]


def made(task, recoding):
    """What a task's certificate says, its claim, and its files."""
    claim = Claim.of(task, recoding)
    files = certified(claim, task)
    return json.loads(files["certificate.json"]), claim, files


def of_people(**given):
    """The task of five people, and its recoding."""
    people = pd.read_csv(StringIO(PEOPLE))
    recoding = given.pop("recoding", FullDomain())
    table = given.pop("table", people)
    settings = {
        "quasi_identifiers": {"age": {"widths": [10, 20]}, "sex": "suppress"},
        "sensitive": ["illness"],
        "privacy": [KAnonymity(2)],
        "objective": "loss",
        "missing": "category",
        **given,
    }
    anonymizer = Anonymizer(recoding=recoding, **settings)
    return anonymizer.task(table), recoding


def test_by_hand():
    """In his decade (23, m) is the only man: sex needs [20, 40), a loss of (1 + 0) / 2.

    Without sex the loss is no less, whatever becomes of age.
    """
    certificate, _, files = made(*of_people())
    assert certificate["optimum"] == [2, 0]
    assert certificate["infeasible"] == [[[1, 0], 0]]
    assert certificate["witnesses"] == [["23", "m"]]
    assert sorted(certificate["bounded"]) == [[0, 1], [2, 0]]
    assert certificate["counted"] == []
    assert files["counts.csv"].splitlines()[:2] == ["age,sex,illness,records", "21,f,flu,1"]
    assert certificate["attributes"]["age"]["values"]["23"] == ["[20, 30)", "[20, 40)", "*"]


def test_suppression_by_hand():
    """One of five may go: (23, m), whose class all levels below (1, 0) leave with others."""
    certificate, _, _ = made(*of_people(recoding=FullDomain(suppression=0.2)))
    assert certificate["optimum"] == [1, 0]
    assert certificate["infeasible"] == [[[0, 1], 0]]
    assert certificate["witnesses"] == [[]]


def provable(seed):
    """A random problem that has a certificate, as far as its policy can: seed by seed."""
    rng = np.random.default_rng(seed)
    share = 0.0 if rng.random() < 0.6 else float(rng.choice([0.05, 0.2, 0.4]))
    case = random_case(rng, share=share, exempt=False, plain=bool(rng.random() < 0.3))
    brute = replace(case.brute, gap=False)
    if brute.people:
        return provable(seed + 10**9)
    models = [
        model
        for model in brute.models
        if model.name.replace("-", "_") in vars(optimum.OfClass)
        and (not brute.most or model.name in optimum.STRONG)
        and getattr(model, "distance", None) != "hierarchical"
        and model.monotone
    ]
    return replace(case, brute=replace(brute, models=models or [KAnonymity(2)]))


def proven(seed):
    """Such a problem and its certificate, None where no node satisfies the policy or none is."""
    case = provable(seed)
    anonymizer = case.estimator()
    task = anonymizer.task(case.frame)
    try:
        return case, made(task, anonymizer.chosen_recoding)
    except PolicyUnreachableError:
        assert case.brute.best is None
    except InputError as error:
        if "has * below" not in str(error):
            raise
    return case, None


def test_random_lattices_against_brute_force():
    """What is proven is the best node of all, whose score brute force finds as well."""
    tried = at_length(40, 1000)
    found = 0
    for seed in range(tried):
        case, certificate = proven(seed)
        if certificate is None:
            continue
        found += 1
        written, _, files = certificate
        table = optimum.RawTable(written, StringIO(files["counts.csv"]))
        best, _ = optimum.prove(written, table)
        assert tuple(written["optimum"]) in case.brute.tied
        assert best == pytest.approx(case.brute.scores[case.brute.best], abs=1e-9)
    assert found > tried / 2


def corrupted(case, certificate, rng):
    """A certificate that proves nothing any more; None where that cannot be done to it."""
    wrong, brute = deepcopy(certificate), case.brute
    top = max(brute.scores.values())
    worse = [list(node) for node, score in brute.scores.items() if score < top - 1e-6]
    broken = [list(node) for node in brute.nodes if node not in brute.outcomes]
    kinds = [kind for kind in ("infeasible", "bounded", "counted") if certificate[kind]]
    kind = str(rng.choice(kinds))
    place = int(rng.integers(len(certificate[kind])))
    entry = certificate[kind][place]
    node = entry[0] if kind == "infeasible" else entry
    what = rng.integers(6)
    if what == 0:  # each is needed
        del wrong[kind][place]
    elif what == 1 and worse:
        wrong["optimum"] = worse[rng.integers(len(worse))]
    elif what == 2 and broken:
        wrong["optimum"] = broken[rng.integers(len(broken))]
    elif what == 3:
        axis = int(rng.integers(len(node)))
        moved = [*node[:axis], int(rng.choice([-1, 9])), *node[axis + 1 :]]
        wrong[kind][place] = [moved, entry[1]] if kind == "infeasible" else moved
    elif what == 4 and kind == "infeasible":  # the optimum is above it, and breaks nothing
        wrong[kind][place] = [list(map(max, node, certificate["optimum"])), entry[1]]
    elif what == 5:
        wrong["suppression"]["share"] += 0.1
    else:
        return None
    return wrong


def test_corrupted_certificates_are_refused():
    """Whatever is taken away, moved, or claimed of another node."""
    wanted, refused, seed = at_length(40, 1000), 0, 0
    while refused < wanted:
        case, certificate = proven(seed)
        if certificate is not None:
            for draw in range(6):
                wrong = corrupted(case, certificate[0], np.random.default_rng([seed, draw]))
                if wrong is not None:
                    doubt = certificate[1].doubt(wrong)
                    assert doubt, (seed, draw, wrong)
                    assert not any(str(row) in doubt for row in certificate[0]["witnesses"] if row)
                    refused += 1
        seed += 1


def leaves(given, path=()):
    """The places of all that is no list and no mapping."""
    if isinstance(given, dict | list):
        items = given.items() if isinstance(given, dict) else enumerate(given)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path


def test_changed_proofs_prove_nothing_that_is_wrong():
    """A leaf of the proof is changed at random: what is accepted all the same is true."""
    accepted = 0
    for seed in range(at_length(30, 600)):
        case, certificate = proven(seed)
        if certificate is None:
            continue
        wrong, claim, _ = certificate
        rng = np.random.default_rng(seed)
        proof = {key: wrong[key] for key in ("optimum", "infeasible", "bounded", "counted")}
        for _ in range(3):
            changed = deepcopy(wrong)
            places = [*leaves(proof)]
            *path, last = places[rng.integers(len(places))]
            inner = changed
            for key in path:
                inner = inner[key]
            inner[last] += int(rng.choice([-1, 1]))
            if not claim.doubt(changed):
                accepted += 1
                assert tuple(changed["optimum"]) in case.brute.tied, (seed, path, last)
    assert accepted


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"recoding": VariableRange(), "objective": "discernibility"},
            "method = 'variable-range' chooses others",
        ),
        ({"recoding": FullDomain(min_records=3)}, "knows no min-records"),
        ({"recoding": FullDomain(max_classes=3)}, "knows no max-classes"),
        ({"objective": "miller-madow"}, "the objective miller-madow may rise"),
        ({"privacy": [KMap(2, EVERYBODY)]}, "counted by more than"),
        ({"against": "method"}, "the choice is rehearsed"),
        (
            {
                "quasi_identifiers": {"age": {"widths": [10, 20]}},
                "sensitive": ["illness", "sex"],
                "privacy": [TCloseness(0.9, "kl", attribute=("illness", "sex"))],
            },
            "knows each attribute by itself, and t-closeness is about illness and sex together",
        ),
        (
            {
                "recoding": FullDomain(suppression=0.2),
                "privacy": [KAnonymity(2), TCloseness(0.9, "kl")],
            },
            "of t-closeness no bound is known while records are suppressed",
        ),
        ({"privacy": [EntropyLDiversity(1.1, odds=2)]}, "entropy-l-diversity as the policy has it"),
        (
            {
                "missing": "gap",
                "table": pd.DataFrame(
                    {"age": [20, 20, 30], "sex": list("fff"), "illness": ["flu", None, "flu"]}
                ),
            },
            "missing sensitive values count as nothing",
        ),
    ],
)
def test_what_has_no_certificate_is_refused(given, words):
    task, recoding = of_people(**given)
    with pytest.raises(InputError, match=words):
        Claim.of(task, recoding)


def test_values_that_read_alike_are_not_counted_as_two():
    """Of a raw table that somebody else gives to the checker."""
    _, claim, _ = made(*of_people(privacy=[EntropyLDiversity(1.1)]))
    rows = StringIO("age,sex,illness\n21,f,hiv\n21,f,HIV\n")
    with pytest.raises(RuntimeError, match="some values of 'illness' read alike"):
        optimum.RawTable(claim.about, rows, counted=False)


def test_an_unreachable_policy_has_none():
    with pytest.raises(PolicyUnreachableError, match="k = 6"):
        made(*of_people(privacy=[KAnonymity(6)]))
    decades = {"age": {"widths": [10, 20], "max-level": 1}, "sex": "suppress"}
    with pytest.raises(PolicyUnreachableError, match="no node of the lattice satisfies"):
        made(*of_people(privacy=[KAnonymity(3)], quasi_identifiers=decades))


LIES = {
    "weights below 0": (lambda c: c["objective"]["weights"].update(age=-1.0), "may rise"),
    "an objective that is none": (lambda c: c["objective"].update(name="itpr"), "may rise"),
    "levels that are torn": (
        lambda c: c["attributes"]["age"]["values"].update({"23": ["[20, 30)", "x", "*"]}),
        "not nested",
    ),
    "a budget of everything": (lambda c: c["suppression"].update(share=1.0), "too much"),
    "suppression by other models": (
        lambda c: (c["suppression"].update(share=0.5), c["policy"][0].update(model="t-closeness")),
        "too much",
    ),
    "a level that is none": (lambda c: c["attributes"]["age"].update(high=9), "a level is none"),
    "a model about nothing": (
        lambda c: c["policy"].append(
            {"model": "t-closeness", "attribute": None, "parameters": {"t": 0.1}}
        ),
        "about nothing",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_claims_that_no_proof_is_sound_for_are_refused(lie):
    certificate, _, files = made(*of_people())
    tell, words = LIES[lie]
    tell(certificate)
    with pytest.raises(RuntimeError, match=words):
        optimum.prove(certificate, optimum.RawTable(certificate, StringIO(files["counts.csv"])))


def test_the_checker_is_short_and_knows_nothing_of_the_package():
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 200
    ours = [line.strip() for line in lines if "anonymizer" in line]
    assert ours == ["from anonymizer.release.verifiers.verify import OfClass, spelled_apart"]


@pytest.fixture
def study(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path / "study.toml"


def test_command(study, run):
    place = study.parent / "certificate"
    code, out, err = run("certify", study, "-o", place)
    assert (code, out.splitlines()[-1]) == (0, f"Written: {place}")
    assert err == f"{place} has records of {study.parent / 'people.csv'}: it is as confidential\n"
    assert place.stat().st_mode & 0o077 == 0
    assert run("certify", study, "--check", place)[0] == 0
    code, _, err = run("certify", study, "-o", place)
    assert code == 2
    assert "has a certificate already; --force replaces it" in err
    assert run("certify", study, "-o", place, "--force")[0] == 0
    release = study.parent / "release"
    assert run("run", study, "-o", release)[0] == 0
    for place in (release, release / "more" / "certificate"):
        code, _, err = run("certify", study, "-o", place)
        assert code == 2
        assert "is a release, and a certificate has records of the raw table" in err
        assert not place.exists() or not (place / "certificate.json").exists()


def test_another_study_or_table_is_not_proven(study, run):
    place = study.parent / "certificate"
    assert run("certify", study, "-o", place)[0] == 0
    study.write_text(STUDY.replace("k = 2", "k = 3"), encoding="utf-8")
    code, out, _ = run("certify", study, "--check", place)
    assert (code, out[:42]) == (1, "NOT PROVEN: it is about other hierarchies,")
    study.write_text(STUDY, encoding="utf-8")
    people = study.parent / "people.csv"
    people.write_text(PEOPLE + "23,m,flu\n", encoding="utf-8")  # then sex can be kept
    code, out, _ = run("certify", study, "--check", place)
    assert (code, out.startswith("NOT PROVEN: ")) == (1, True)


def test_options_go_together(study, run):
    assert "--output to write a certificate, or --check" in run("certify", study)[2]
    code, _, err = run("certify", study, "--check", study)
    assert code == 2
    assert "is no certificate; name the directory" in err


def test_it_is_checked_without_the_package(study, run):
    """By its counts, and by the raw table, whose every record counts."""
    place = study.parent / "certificate"
    run("certify", study, "-o", place)
    shutil.copy(study.parent / "people.csv", place / "table.csv")

    def checked(*arguments):
        command = [sys.executable, place / "optimum.py", place, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    found = checked()
    assert (found.returncode, found.stdout[:8]) == (0, "proven: ")
    assert checked(place / "table.csv").returncode == 0
    counts = (place / "counts.csv").read_text(encoding="utf-8")
    (place / "counts.csv").write_text(counts.replace("23,m,flu,1\n", ""), encoding="utf-8")
    found = checked()
    assert found.returncode == 1
    assert found.stdout == "NOT PROVEN: 2 of 8 nodes may keep more\n"
