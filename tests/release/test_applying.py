"""A recoding applied to other tables: by the fitted plan and by the manifest of its release."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import (
    Anonymizer,
    Boxes,
    Fixed,
    Hierarchy,
    InputError,
    KAnonymity,
    PolicyBrokenError,
    verify_release,
)
from anonymizer.cli import main
from anonymizer.release.apply import ApplyOptions, publish_applied
from anonymizer.release.plan import Plan
from anonymizer.release.publish import publish
from anonymizer.release.study import Study

JOBS = {"nurse": "care", "doctor": "care", "clerk": "office", "judge": "office"}
STUDY = """
[data]
path = "january.csv"
[quasi-identifiers]
age = {{ widths = [5, 10, 20] }}
zip = {{ prefixes = [4, 3] }}
born = {{ calendar = ["month", "year"] }}
job = "job.csv"
pay = {{ keep = [["high", "low"], ["high"]] }}
[sensitive]
attributes = ["ill"]
[recoding]
method = "{method}"
{options}
[[privacy]]
model = "k-anonymity"
k = {k}
"""
LEVELS = "levels = {{ age = {}, zip = {}, born = {}, job = {}, pay = {} }}"


def rows_of(rng, n, most):
    return pd.DataFrame(
        {
            "age": rng.integers(0, most, n).astype(str),
            "zip": (47900 + rng.integers(0, most, n)).astype(str),
            "born": [f"20{year:02}-0{month}-11" for year, month in rng.integers(1, 6, (n, 2))],
            "job": rng.choice([*JOBS], n),
            "pay": rng.choice(["high", "low", "none", "some"][: 2 + most // 20], n),
            "ill": rng.choice(["flu", "cold"], n),
        }
    )


def released(directory, method, options, k, january):
    directory.mkdir(exist_ok=True)
    january.to_csv(directory / "january.csv", index=False)
    rows = "".join(f"{job};{branch};*\n" for job, branch in JOBS.items())
    (directory / "job.csv").write_text(rows)
    (directory / "s.toml").write_text(STUDY.format(method=method, options=options, k=k))
    study = Study(directory / "s.toml")
    publish(study, directory / "january", force=True)
    return study


def is_true(name, label, value):
    """Whether the definition of a label holds of a value, by the label alone."""
    if label in ("*", value):
        return True
    if label.startswith("{"):
        return value in label[1:-1].split(", ")
    if name == "age" or (name == "born" and label[0] in "[("):
        low, high = label[1:-1].split(", ")
        at_least, below = label[0] == "(" or low <= value, high == "inf" or value < high
        if name == "age":
            at_least = low == "-inf" or float(low) <= float(value)
            below = high == "inf" or float(value) < float(high)
        return at_least and below
    if name == "zip":
        return len(label) == len(value) and all(
            a in ("*", b) for a, b in zip(label, value, strict=True)
        )
    if name == "born":
        return value.startswith(label)
    return JOBS[value] == label if name == "job" else label == "other" and value != "high"


METHODS = st.sampled_from(
    [
        ("fixed", LEVELS.format(*levels))
        for levels in [(1, 1, 1, 1, 1), (2, 0, 2, 0, 2), (0, 3, 0, 2, 0)]
    ]
    + [(name, "") for name in ("full-domain", "variable-range", "cut", "boxes")]
)


@pytest.mark.slow
@settings(max_examples=at_length(8, 40))
@given(METHODS, st.integers(0, 2**16), st.sampled_from(["any", "suppress", "error"]))
def test_labels_hold_and_the_manifest_places_as_the_plan_does(
    tmp_path_factory, method, seed, unseen
):
    rng = np.random.default_rng(seed)
    january, february = rows_of(rng, 40, 20), rows_of(rng, 30, 60)
    home = tmp_path_factory.mktemp("applied")
    study = released(home, *method, 1 if method[0] == "fixed" else 2, january)
    fitted = study.anonymizer().fit(study.read()).plan_
    plans = [fitted, Plan.from_manifest(home / "january", study=study)]
    for table in (january, february):
        found = [outcome(plan, table, unseen) for plan in plans]
        assert type(found[0]) is type(found[1])
        if isinstance(found[0], str):
            assert unseen != "suppress"
            continue
        pd.testing.assert_frame_equal(*found)
        for name in fitted.schema.quasi_identifiers:
            for label, value in zip(found[0][name], table[name], strict=True):
                assert is_true(name, str(label), value), (name, label, value)
    alone = outcome(Plan.from_manifest(home / "january"), january, "error")
    pd.testing.assert_frame_equal(alone, outcome(fitted, january, "error"))


def outcome(plan, table, unseen):
    try:
        return plan.apply(table, verify=False, unseen=unseen)
    except InputError as error:
        return str(error)


def small(hierarchy, values, recoding, **options):
    table = pd.DataFrame({"q": values})
    given = {"privacy": [KAnonymity(1)], "objective": "discernibility", **options}
    return Anonymizer({"q": hierarchy}, recoding=recoding, **given).fit(table).plan_


def placed(plan, *values, unseen="error"):
    return plan.apply(pd.DataFrame({"q": [*values]}), verify=False, unseen=unseen)["q"].tolist()


def test_a_value_between_those_that_were_seen_lies_in_their_range():
    plan = small(Hierarchy.ranges([5, 10]), [1, 2, 4], Fixed({"q": 1}))
    assert placed(plan, 3, 3.0, "3", 75) == ["[0, 5)"] * 3 + ["[75, 80)"]


def test_a_star_covers_everything_and_reads_like_no_value():
    plan = small(Hierarchy.ranges([5]), [1, 2], Fixed({"q": 2}))
    assert placed(plan, "x", "[0, 5)", None if plan.random else "*", 10**40) == ["*"] * 4


@pytest.mark.parametrize("value", ["*", "[0, 5)", True, "1e400", "2020-01-01T00:00Z", " "])
def test_what_is_no_number_is_in_no_range_however_it_reads(value):
    plan = small(Hierarchy.ranges([5]), [1, 2], Fixed({"q": 1}))
    with pytest.raises(InputError, match="holds 1 value, in 1 record, that the recoding does not"):
        placed(plan, value, 3)
    assert placed(plan, value, 3, unseen="any") == ["*", "[0, 5)"]


def test_a_set_never_takes_a_value_that_it_does_not_list():
    values = ["a", "a", "a", "b", "c"]
    plan = small("suppress", values, Boxes(), privacy=[KAnonymity(2)])
    assert placed(plan, "a", "b", "c") == ["a", "{b, c}", "{b, c}"]
    for value in ("d", "A", "b, c", "{b, c}"):
        with pytest.raises(InputError, match="no class of the recoding covers"):
            placed(plan, value)


def test_a_hierarchy_without_star_has_none_for_an_unseen_value():
    plan = small(Hierarchy.from_rows([["a", "all"], ["b", "all"]]), ["a", "b"], Fixed({"q": 1}))
    with pytest.raises(InputError, match='does not end in "\\*"'):
        placed(plan, "c", unseen="any")


@pytest.mark.parametrize("kind", [object, "category", float])
def test_rows_to_score_keep_index_and_order_and_say_so(kind):
    plan = small(Hierarchy.ranges([5]), [1, 2], Fixed({"q": 1}))
    rows = pd.DataFrame({"q": pd.Series([7, 1], index=[4, 4]).astype(kind), "more": [0, 1]})
    found = plan.apply(rows, verify=False)
    assert found["q"].tolist() == ["[5, 10)", "[0, 5)"]
    assert found.index.tolist() == [4, 4]
    assert found.attrs["anonymizer"] == "not a release: not verified"
    assert len(plan.apply(rows.iloc[:0], verify=False)) == 0


def test_suppressed_strangers_count_against_the_budget_and_satisfy_the_policy():
    recoding = Fixed({"q": 1}, suppression=0.2)
    table = pd.DataFrame({"q": [1, 2, 3, 4] * 2})
    anonymizer = Anonymizer(
        {"q": Hierarchy.ranges([5])}, privacy=[KAnonymity(2)], recoding=recoding
    )
    plan = anonymizer.set_params(objective="discernibility").fit(table).plan_
    other = pd.DataFrame({"q": [1] * 9 + ["x", "y"]})
    found, proof = plan.release(other, unseen="suppress")
    assert found["q"].tolist() == ["[0, 5)"] * 9 + ["*"] * 2
    assert (proof.suppressed, proof.suppressed_class) == (2, "kept")
    assert proof.unseen == {"values": 2, "records": 2, "treated": "suppress"}
    found, proof = plan.release(other.iloc[:10], unseen="suppress")  # one alone is no class of two
    assert (len(found), proof.suppressed, proof.suppressed_class) == (9, 1, "removed")
    with pytest.raises(PolicyBrokenError, match=r"more than 0\.2 .* needs suppression = 0\.25"):
        plan.release(other.iloc[-8:].replace({"q": {1: 2}}), unseen="suppress")


def test_a_release_that_follows_another_is_proven_from_its_folder_and_followed(tmp_path):
    rng = np.random.default_rng(1)
    released(tmp_path, "full-domain", "suppression = 0.3", 3, rows_of(rng, 300, 20))
    before = tmp_path / "january"
    for month in ("february", "march"):
        path = tmp_path / f"{month}.csv"
        rows_of(rng, 300, 25).to_csv(path, index=False)
        publish_applied(before, path, tmp_path / month, ApplyOptions("suppress", 0.6))
        assert verify_release(tmp_path / month).satisfied
        before = tmp_path / month


def test_boxes_take_new_values_into_their_only_class():
    values = [1, 2, 3, 10, 11, 12] * 2
    plan = small(Hierarchy.ranges([5]), values, Boxes(), privacy=[KAnonymity(4)])
    assert placed(plan, -7, 99) == ["(-inf, 3)", "[11, inf)"]


def test_a_table_that_does_not_fit_is_refused_and_nothing_is_written(tmp_path, capsys):
    rng = np.random.default_rng(2)
    january = rows_of(rng, 200, 20)
    released(tmp_path, "full-domain", "suppression = 0.1", 3, january)
    table, out = tmp_path / "february.csv", tmp_path / "out"

    def said(frame, *options, output=out):
        frame.to_csv(table, index=False)
        given = ["apply", tmp_path / "january", table, "-o", output, *options]
        with pytest.raises(SystemExit) as ended:
            main([*map(str, given)])
        assert not out.exists()
        return ended.value.code, capsys.readouterr().err

    code, message = said(january.assign(more=1))
    assert (code, "did not have: 'more'" in message, "--drop more" in message) == (2, True, True)
    code, message = said(january.drop(columns="job"))
    assert (code, "no column 'job'" in message) == (2, True)
    assert "[data]" not in message  # there is no study whose [data] could say more
    code, message = said(january, "--force", output=tmp_path / "january")
    assert (code, "is the release that is applied" in message) == (2, True)
    code, message = said(january.replace({"job": {"clerk": "SECRET"}}))
    assert (code, "SECRET" in message) == (2, False)
    code, message = said(january.iloc[:20])
    assert (code, "needs suppression = " in message) == (1, True)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    return ended.value.code, capsys.readouterr().err


def test_what_does_not_hold_is_not_followed(tmp_path, capsys):
    rows = rows_of(np.random.default_rng(1), 40, 20)
    released(tmp_path, "fixed", LEVELS.format(1, 1, 1, 1, 1), 1, rows)
    january, mine, other = tmp_path / "january", tmp_path / "mine", tmp_path / "other"
    assert run(capsys, "keys", mine)[0] == run(capsys, "keys", other)[0] == 0
    assert run(capsys, "sign", january, "--key", f"{mine}.private.pem")[0] == 0
    apply = ("apply", january, tmp_path / "january.csv", "-o", tmp_path / "out", "--key")
    code, message = run(capsys, *apply, f"{other}.public.pem")
    assert (code, "does not hold (1 difference), so that its recoding" in message) == (1, True)
    content = json.loads((january / "release.json").read_text())
    content["classes"] += 1
    (january / "release.json").write_text(json.dumps(content))
    code, message = run(capsys, *apply[:-1])
    assert (code, "does not hold (1 difference), so that its recoding" in message) == (1, True)
    assert not (tmp_path / "out").exists()


def test_classes_without_records_stay_known_and_those_that_break_the_policy_can_go(tmp_path):
    ages = pd.DataFrame({"age": [*range(1, 7), *range(30, 36)] * 2})
    ages.to_csv(tmp_path / "january.csv", index=False)
    (tmp_path / "s.toml").write_text(
        '[data]\npath = "january.csv"\n[quasi-identifiers]\nage = { widths = [5, 20] }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 6\n[recoding]\nmethod = "boxes"\n'
        '[objective]\nname = "discernibility"\n'
    )
    study = Study(tmp_path / "s.toml")
    publish(study, tmp_path / "january")
    tables = {"february": ages[ages["age"] < 10], "march": ages, "april": ages.iloc[:16]}
    for before, (month, table) in zip(
        ["january", "february", "march"], tables.items(), strict=True
    ):
        table.to_csv(tmp_path / f"{month}.csv", index=False)
        wishes = ApplyOptions(suppression=0.7 if month == "april" else None)
        proof = publish_applied(
            tmp_path / before, tmp_path / f"{month}.csv", tmp_path / month, wishes
        )[0]
        assert verify_release(tmp_path / month).satisfied
    march, january = (
        (tmp_path / month / "released.csv").read_text() for month in ("march", "january")
    )
    assert sorted(march.splitlines()) == sorted(january.splitlines())
    sizes = pd.read_csv(tmp_path / "april" / "released.csv")["age"].value_counts()
    assert (sizes >= 6).all()
    assert sizes.sum() == 16 - proof.suppressed < 16
    assert proof.suppressed_class == "removed"


def test_a_release_by_another_one_agrees_with_its_study(tmp_path):
    rng = np.random.default_rng(3)
    january = rows_of(rng, 60, 20)
    study = released(tmp_path, "fixed", LEVELS.format(1, 1, 1, 0, 0), 1, january)
    for month, unseen in (("february", "any"), ("march", "error")):
        strange = january.replace({"job": {"clerk": "SECRET"}}) if unseen == "any" else january
        strange.to_csv(tmp_path / f"{month}.csv", index=False)
        before = tmp_path / ("january" if unseen == "any" else "february")
        wishes = ApplyOptions(unseen)
        publish_applied(before, tmp_path / f"{month}.csv", tmp_path / month, wishes, study=study)
        for known in (None, study):
            assert verify_release(tmp_path / month, known).differences == ()
    assert "SECRET" not in "".join(f.read_text() for f in (tmp_path / "march").iterdir())
    assert "*" in set(pd.read_csv(tmp_path / "february" / "released.csv")["job"])


def test_a_raw_value_that_is_written_in_another_way_is_listed_once(tmp_path):
    rows = pd.DataFrame({"q": [Decimal("7.00"), Decimal("1.50")] * 3})
    rows.to_parquet(tmp_path / "january.parquet")
    (tmp_path / "s.toml").write_text(
        '[data]\npath = "january.parquet"\n[quasi-identifiers]\nq = "suppress"\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n[recoding]\nmethod = "fixed"\n'
        'levels = { q = 0 }\n[objective]\nname = "discernibility"\n'
    )
    publish(Study(tmp_path / "s.toml"), tmp_path / "january")
    rows.astype(float).to_csv(tmp_path / "february.csv", index=False)
    before = tmp_path / "january"
    for month in ("february", "march"):
        manifest = publish_applied(before, tmp_path / "february.csv", tmp_path / month)[1]
        assert len(manifest.recoding["q"]) == 2
        assert verify_release(tmp_path / month).satisfied
        before = tmp_path / month


@pytest.mark.parametrize(
    ("column", "rule"),
    [
        ("zip", {"file": "secret.csv"}),
        ("pay", {"keep": [["high"]]}),
        ("age", {"widths": ["1e-300"]}),
        ("age", {"widths": ["10"]}),
        ("age", {"widths": ["1e999999"]}),
        ("age", {"cuts": [["0"]] * 5000}),
        ("born", {"calendar": ["year"]}),
        ("nobody", {"widths": ["5"]}),
    ],
)
def test_a_rule_that_does_not_fit_the_labels_is_refused_and_found(tmp_path, column, rule):
    rng = np.random.default_rng(4)
    january = rows_of(rng, 60, 20)
    released(tmp_path, "fixed", LEVELS.format(1, 1, 1, 1, 1), 1, january)
    (tmp_path / "secret.csv").write_text("".join(f"{z};SECRET\n" for z in set(january["zip"])))
    manifest = tmp_path / "january" / "release.json"
    content = json.loads(manifest.read_text())
    content["hierarchies"][column] = rule
    manifest.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"release.json is damaged: rules .*\\.{column}"):
        publish_applied(tmp_path / "january", tmp_path / "january.csv", tmp_path / "february")
    assert not verify_release(tmp_path / "january").satisfied


def test_a_file_with_another_separator_is_recoded_alike(tmp_path):
    january = rows_of(np.random.default_rng(2), 200, 20)
    released(tmp_path, "full-domain", "suppression = 0.1", 3, january)
    tables = []
    for name, options in {
        "comma": {},
        "semicolon": {"sep": ";", "encoding": "utf-8-sig", "lineterminator": "\r\n"},
    }.items():
        january.to_csv(tmp_path / f"{name}.csv", index=False, **options)
        publish_applied(tmp_path / "january", tmp_path / f"{name}.csv", tmp_path / name)
        assert verify_release(tmp_path / name).satisfied
        separator = options.get("sep", ",")
        table = pd.read_csv(tmp_path / name / "released.csv", sep=separator, dtype=str)
        tables.append([[*table.columns], sorted(map(repr, table.to_numpy().tolist()))])
    assert tables[0] == tables[1]


def test_what_a_manifest_does_not_say_of_a_file_the_study_says(tmp_path, capsys):
    lines = ["town,ill", *["Genève,flu", "Zürich,cold"] * 3]
    (tmp_path / "january.csv").write_text("\n".join(lines), encoding="latin-1")
    (tmp_path / "s.toml").write_text(
        '[data]\npath = "january.csv"\nencoding = "latin-1"\n[quasi-identifiers]\n'
        'town = "suppress"\n[sensitive]\nattributes = ["ill"]\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 3\n'
    )
    publish(Study(tmp_path / "s.toml"), tmp_path / "january")
    given = ("apply", tmp_path / "january", tmp_path / "january.csv", "-o", tmp_path / "february")
    code, message = run(capsys, *given)
    assert code == 2
    assert "[data] of the study of the release, and name that with --study" in message
    assert run(capsys, *given, "--study", tmp_path / "s.toml")[0] == 0
    months = [(tmp_path / month / "released.csv") for month in ("january", "february")]
    tables = [sorted(path.read_text().splitlines()) for path in months]
    assert tables[0] == tables[1]


OVERLAPPING = """
[data]
path = "people.csv"
[quasi-identifiers]
a = "suppress"
b = "suppress"
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "k-anonymity"
k = 2
[recoding]
method = "merged-cells"
[objective]
name = "mutual-information"
"""


def test_records_that_fit_several_classes_break_the_policy_and_the_message_says_so(tmp_path):
    """Of (r y, p x) and (p y, p z) the labels of both hold of p y, which the first class takes."""
    table = pd.DataFrame({"a": list("rppp"), "b": list("yxyz"), "ill": list("uuvv")})
    table.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(OVERLAPPING)
    study, again = Study(tmp_path / "study.toml"), tmp_path / "again"
    publish(study, tmp_path / "out")
    regions = json.loads((tmp_path / "out" / "release.json").read_text())["regions"]
    assert regions == [{"a": "*", "b": "{x, y}"}, {"a": "p", "b": "{y, z}"}]
    several = "records fit several classes of the release.*run the study of the release on the"
    with pytest.raises(PolicyBrokenError, match=f"1 of 2 classes.*{several}"):
        publish_applied(tmp_path / "out", tmp_path / "people.csv", again)
    assert not again.exists()
    publish(study, again)
    rows = [
        sorted((each / "released.csv").read_text().split()) for each in (tmp_path / "out", again)
    ]
    assert rows[0] == rows[1]
    # with a record of each class that fits no other one the policy holds
    more = pd.concat([table, pd.DataFrame({"a": ["p"], "b": ["z"], "ill": ["u"]})])
    more.to_csv(tmp_path / "more.csv", index=False)
    publish_applied(tmp_path / "out", tmp_path / "more.csv", again, force=True)
    # and where it breaks for another reason nothing is said of classes that overlap
    table[table["b"] != "y"].to_csv(tmp_path / "fewer.csv", index=False)
    with pytest.raises(PolicyBrokenError) as error:
        publish_applied(tmp_path / "out", tmp_path / "fewer.csv", tmp_path / "fewer")
    assert "several classes" not in str(error.value)


def test_dates_of_a_later_month_are_what_the_error_is_about(tmp_path):
    """Of 28 days of February the first one is of the last week of January."""

    def month(number: int, records: int) -> None:
        days = pd.date_range(f"2026-{number:02d}-01", periods=28).repeat(records // 28)
        ills = np.resize([*"uv"], len(days))
        table = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), "ill": ills})
        table.to_csv(tmp_path / f"{number}.csv", index=False)

    month(1, 280)
    month(2, 28)
    (tmp_path / "s.toml").write_text(
        '[data]\npath = "1.csv"\n[quasi-identifiers]\n'
        'day = { calendar = ["week"], max-level = 1, min-level = 1 }\n'
        '[sensitive]\nattributes = ["ill"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 20\n'
    )
    publish(Study(tmp_path / "s.toml"), tmp_path / "january")
    with pytest.raises(PolicyBrokenError) as error:
        publish_applied(tmp_path / "january", tmp_path / "2.csv", tmp_path / "february")
    said = "96% of the dates of 'day' lie beyond those of the release: run its study on the table"
    assert said in str(error.value)
    assert "needs suppression" not in str(error.value)
    table = pd.read_csv(tmp_path / "1.csv")
    table[::10].to_csv(tmp_path / "few.csv", index=False)
    with pytest.raises(PolicyBrokenError) as error:
        publish_applied(tmp_path / "january", tmp_path / "few.csv", tmp_path / "february")
    assert "lie beyond" not in str(error.value)


def test_a_share_that_would_do_nothing_is_not_advised(tmp_path, capsys):
    rows = rows_of(np.random.default_rng(1), 40, 20)
    released(tmp_path, "fixed", LEVELS.format(1, 1, 1, 1, 1), 1, rows)
    content = rows.iloc[:1]
    content.to_csv(tmp_path / "one.csv", index=False)
    release = tmp_path / "january"
    assert run(capsys, "apply", release, tmp_path / "one.csv", "-o", tmp_path / "out")[0] == 0
    released(tmp_path, "fixed", LEVELS.format(3, 3, 3, 2, 3), 5, rows)
    code, message = run(capsys, "apply", release, tmp_path / "one.csv", "-o", tmp_path / "two")
    assert (code, "needs suppression" in message) == (1, False)


def test_a_table_in_place_of_a_release_is_named(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("age\n1\n")
    with pytest.raises(InputError, match=r"is no release: there is no release\.json in"):
        Plan.from_manifest(table)
    with pytest.raises(InputError, match=r"there is no .*nowhere; give the directory of a release"):
        Plan.from_manifest(tmp_path / "nowhere")
