"""Values are equal where a reader of the released file takes them for equal."""

import unicodedata
from collections import Counter
from datetime import UTC, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from engines import KINDS, records_of
from fuzz.readers import CSV_READERS, View
from hypothesis import given, settings
from hypothesis import strategies as st
from judge import Counted
from lengths import at_length

from anonymizer import (
    Anonymizer,
    AnonymizerError,
    BayesianGain,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    Fixed,
    Hierarchy,
    InputError,
    Itpr,
    KAnonymity,
    PolicyUnreachableError,
    ReidentificationItpr,
    TCloseness,
    ValueGain,
    check,
)
from anonymizer.cli import commands
from anonymizer.counts.columns import one_spelling, reads_as_written
from anonymizer.counts.schema import Schema
from anonymizer.release.proof import verify
from anonymizer.tables import engine
from anonymizer.tables.spelling import alike_keys, one_text_each, read_keys, written_keys


def objects(values: list) -> pd.Series:
    return pd.Series(values, dtype=object)


class Loud(int):
    """A number that is equal to others and written in another way."""

    def __str__(self) -> str:
        return f"{int(self)}!"

    __repr__ = __str__


HIDDEN_BY_EQUALITY = {
    "truth": objects([1] * 4 + [True] + [7] * 5),
    "zeros": pd.Series([0.0] * 4 + [-0.0] + [7] * 5),
    "arrow zeros": pd.Series([0.0] * 4 + [-0.0] + [7] * 5, dtype="double[pyarrow]"),
    "float32 zeros": pd.Series([0.0] * 4 + [-0.0] + [7] * 5, dtype="float32"),
    "decimals": objects([Decimal("1.0")] * 4 + [Decimal("1.00")] + [Decimal(7)] * 5),
    "whole floats": objects([3] * 4 + [3.0] + [7] * 5),
    "zones": objects(
        [pd.Timestamp("2020-01-01 00:00", tz="UTC")] * 4
        + [pd.Timestamp("2020-01-01 01:00", tz="+01:00")]
        + [pd.Timestamp("2021-01-01", tz="UTC")] * 5
    ),
    "zones among dates": objects(
        [pd.Timestamp("2020-01-01 00:00", tz="UTC")] * 4
        + [pd.Timestamp("2020-01-01 01:00", tz="+01:00")]
        + [pd.Timestamp("2020-01-01").date()] * 5
    ),
    "complex": pd.Series([0j] * 4 + [complex(0, -0.0)] + [7j] * 5),
    "intervals": pd.Series(
        pd.arrays.IntervalArray.from_arrays([0.0] * 4 + [-0.0] + [7.0] * 5, [1.0] * 5 + [8.0] * 5)
    ),
    "times": objects(
        [time(10, tzinfo=timezone(timedelta(hours=1)))] * 4 + [time(9, tzinfo=UTC)] + [time(3)] * 5
    ),
    "a text of its own": objects([Loud(1)] + [1] * 4 + [7] * 5),
    "dates": objects(
        [pd.Timestamp("2020-01-01").date()] * 4 + [pd.Timestamp("2020-01-01")] + ["x"] * 5
    ),
}


@pytest.mark.parametrize("values", HIDDEN_BY_EQUALITY.values(), ids=HIDDEN_BY_EQUALITY)
def test_values_that_are_equal_in_memory_alone_do_not_hide_a_record(values, tmp_path):
    table = pd.DataFrame({"q": values, "s": list("ab") * 5})
    anonymizer = Anonymizer({"q": "suppress"}, sensitive="s", privacy=[KAnonymity(5)])
    anonymizer.fit_transform(table).to_csv(tmp_path / "released.csv", index=False)
    for view in everybody(tmp_path / "released.csv"):
        assert min(Counter(view["q"]).values()) >= 5


@pytest.mark.parametrize("name", ["zeros", "decimals", "whole floats", "zones"])
def test_spellings_of_one_value_are_one_class(name):
    """They are recoded to one spelling, not generalized."""
    table = pd.DataFrame({"q": HIDDEN_BY_EQUALITY[name], "s": list("ab") * 5})
    anonymizer = Anonymizer({"q": "suppress"}, sensitive="s", privacy=[KAnonymity(5)])
    released = anonymizer.fit_transform(table)
    assert anonymizer.release_.levels == {"q": 0}
    assert sorted(Counter(released["q"].map(str)).values()) == [5, 5]


def test_a_negative_zero_is_recoded_in_parquet(tmp_path):
    table = pd.DataFrame({"q": [0.0] * 4 + [-0.0] + [7] * 5, "s": list("ab") * 5})
    table.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "t.parquet"\n[quasi-identifiers]\nq = "suppress"\n'
        '[sensitive]\nattributes = ["s"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    )
    from anonymizer.release.publish import publish
    from anonymizer.release.study import Study

    release, _ = publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    found = pd.read_parquet(tmp_path / "out" / "released.parquet")
    assert release.levels == {"q": 0}
    assert Counter(found["q"].map(str)) == {"0.0": 5, "7.0": 5}


@pytest.mark.parametrize("seed", range(6))
def test_diversity_does_not_depend_on_the_order_of_records(seed):
    order = np.random.default_rng(seed).permutation(8)
    sensitive = objects([1.0, "x", 1.0, "x", 1, "1", 1, "1"])
    table = pd.DataFrame({"q": list("bbbbaaaa"), "s": sensitive}).iloc[order]
    verdict = check(table, "q", "s", [DistinctLDiversity(2)]).privacy[0]
    assert (verdict.satisfied, verdict.worst, verdict.violating) == (False, 1, 1)


ALIKE = {
    "whole": ["1", "1.0"],
    "leading zero": ["01", "1"],
    "exponent": ["1e3", "1000", "+1000"],
    "zeros": ["-0.0", "0", "0.00"],
    "truth": ["True", "TRUE", "true"],
    "truth and number": ["True", "1"],
    "other bases": ["0x10", "16", "0b10000", "1_6", "0x00000000000000000010", "0x1_0"],
    "missing": ["NA", "null", "", "NaN", "N/A", "None", "#N/A", "NAN", "+nan", "nan(1)"],
    "normal forms": ["é", unicodedata.normalize("NFD", "é")],
    "unseen": ["flu", "fl\u200bu", "\ufeffflu", "fl\u034fu", "flu\U000e0041", "fl\u3164u"],
    "controls": ["flu", "fl\x01u", "flu\x7f"],
    "unseen between marks": ["caf\u00e9", "cafe\u200b\u0301"],
    "quoted": ["it's", "'it''s'"],
    "blanks": ["flu", " flu", "flu "],
    "instants": ["2020-01-01", "2020-01-01 00:00:00", "2020-01-01T01:00:00+01:00", "2020-1-1"],
    "years first": ["2020/01/01", "2020-01-01", "2020\\01\\01", "2020 1 1", "02020-01-01"],
    "instants of readers": [
        *("1970-01-01", "epoch", "1970-01-01T00", "1970-01-01 00:00:00 UTC"),
        *("1970-01-01  00:00:00", "1969-12-31 24:00:00", "1970-01-01 00:00:00."),
    ],
    "years of any width": ["202-01-01 00:00:00+00", "00202/1/01 0000:0+00", "202-1-1T 0"],
    "years beyond Python": ["20200-01-1 00:00", "20200/1/01 00:"],
    "halves of days": ["01-02-2020 01:00:00 PM", "1-2-2020 1:00:00 pm", "1-2-2020 13:00"],
    "microseconds": ["10:00:00.1234561", "10:00:00.1234562"],
    "hours": ["10:00:00", "010:00:00", "10:00:00."],
    "times": ["10:00", "10:00:00", "10:00:00.000"],
    "days first": ["01.02.2020", "1.2.2020"],
    "beyond floats": ["9007199254740993", "9007199254740992"],
    "digits that floats lack": ["0.1", "0.10000000000000001"],
    "infinite": ["inf", "Infinity", "1e400"],
}
"""Texts that some reader, or the eye, takes for one value."""


@pytest.mark.parametrize("texts", ALIKE.values(), ids=ALIKE)
def test_diversity_of_spellings_is_none(texts):
    assert len(set(read_keys(texts))) == 1
    table = pd.DataFrame({"q": ["a"] * len(texts) + ["b"], "s": [*texts, "other"]})
    verdict = check(table, "q", "s", [DistinctLDiversity(2)], missing="category").privacy[0]
    assert (verdict.worst, verdict.satisfied) == (1, False)


SEEN_ALIKE = [
    ("HIV", "hiv"),
    ("HIV", "H\u00adIV"),  # a soft hyphen, which nobody sees
    ("HIV", "\uff28\uff29\uff36"),  # full width
    ("HIV", "\u041dIV"),  # a Cyrillic letter
    ("HIV", "\ua4e7\ua4f2\ua4e6"),  # of Lisu
    ("HIV", "\u029c\u026a\u1d20"),  # small capitals
    ("H", "\u13bb"),  # of Cherokee
    ("HIV", "\u0397IV"),  # a Greek one
    ("HIV", "HIV."),
    ("HIV", "'HIV'"),
    ("HIV", "\u2018HIV\u2019"),
    ("HIV", "\u201cHIV\u201d"),
    ("A", "\u0410"),  # Cyrillic alone, as a blood group may be
    ("lung cancer", "lung\xa0cancer"),
    ("lung cancer", "lung  cancer"),
    ("lung cancer", "lung\tcancer"),
    ("lung cancer", "lung_cancer"),
    ("lung cancer", "lung&nbsp;cancer"),
    ("lung\ncancer", "lung\r\ncancer"),
    ("R&D", "R&amp;D"),
    ("post-natal", "post\u2010natal"),
    ("1990-1999", "1990\u20131999"),
    ("-5", "\u22125"),
    ("15", "\u0661\u0665"),  # Arabic digits
    ("stage IV", "stage \u2163"),
    ("1/2", "\u00bd"),
    ("2nd", "2\u207f\u1d48"),
    ("syphilis", "s\u00fdphilis"),
    ("\u00e9t\u00e9", "e\u0301te\u0301"),
    ("O'Neil", "O\u2019Neil"),
    ("stra\u00dfe", "STRASSE"),
    ("2020-01-01", "\uff12\uff10\uff12\uff10-01-01"),
    ("true", "\uff34\uff32\uff35\uff25"),
]
"""Texts that the eye takes for one value, whatever programs do."""


@pytest.mark.parametrize(("one", "other"), SEEN_ALIKE)
def test_spellings_that_are_seen_alike_are_no_diversity(one, other):
    """In a search, in what proves its release, and in a check, which warns of them, too."""
    table = pd.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": [one, other] * 2 + [one, "other"] * 2})
    found = check(table, "q", "s", [DistinctLDiversity(2)])
    assert (found.privacy[0].worst, found.privacy[0].violating) == (1, 1)
    warned = [(each.count, each.of) for each in found.warnings if each.code == "spellings-alike"]
    assert warned == [(1, 3)]
    anonymizer = Anonymizer({"q": "suppress"}, "s", [DistinctLDiversity(2)])
    released = anonymizer.fit_transform(table)
    assert set(released["q"]) == {"*"}
    with pytest.raises(PolicyUnreachableError, match="l = 3 exceeds the 2 different values"):
        Anonymizer({"q": "suppress"}, "s", [DistinctLDiversity(3)]).fit(table)


SEEN_APART = [
    ("A+", "A-"),
    ("<5", ">5"),
    ("\u22605", "=5"),
    ("5 mg", "5 g"),
    ("1O", "10"),
    ("\u0412\u0418\u0427", "BNY"),  # not all of its letters look like Latin ones
    ("\u0915\u093f", "\u0915\u0941"),  # vowels of Devanagari, which are marks
    ("\u304b", "\u304c"),
    ("C", "C++"),
]


@pytest.mark.parametrize(("one", "other"), SEEN_APART)
def test_what_the_eye_tells_apart_stays_apart(one, other):
    assert len(set(alike_keys([one, other, "other"]))) == 3


written = st.text(
    st.sampled_from("aAbB\u0410\u0430\u00e1\u0301 \xa0_.,'\"-\u2212 01\u06619/eETtrueN\u200b&;"),
    max_size=8,
)


@given(texts=st.lists(written, max_size=6))
def test_what_any_reader_takes_for_one_is_seen_as_one(texts):
    read, seen = read_keys(texts), alike_keys(texts)
    for one in range(len(texts)):
        for other in range(one):
            assert seen[one] == seen[other] or read[one] != read[other]


@given(
    texts=st.lists(written, min_size=1, max_size=8), places=st.lists(st.integers(0, 1), min_size=8)
)
def test_classes_have_as_many_values_as_are_seen(texts, places):
    """Counted in plain Python, of letters and blanks alone."""
    words = ["".join(each for each in text if each in "aAbB _") for text in texts]
    words = [word if word.replace("_", " ").strip() else "b" for word in words]
    table = pd.DataFrame({"q": places[: len(words)], "s": words})
    seen: dict[int, set[str]] = {}
    for q, word in zip(table["q"], words, strict=True):
        seen.setdefault(q, set()).add(" ".join(word.replace("_", " ").lower().split()))
    found = check(table, "q", "s").sensitive["s"]["distinct_l"]
    assert found == min(map(len, seen.values()))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_engine_sees_alike(kind):
    values = ["HIV", "hiv.", "\uff28\uff29\uff36", "flu", "Flu", "cold"] * 4
    table = pd.DataFrame({"q": list("aaabbc") * 4, "s": values})
    held = KINDS[kind](pa.Table.from_pandas(table, preserve_index=False))
    anonymizer = Anonymizer({"q": "suppress"}, "s", [DistinctLDiversity(3)])
    released = anonymizer.fit_transform(held)
    assert anonymizer.release_.privacy[0].worst == 3
    assert records_of(released) == records_of(table.assign(q="*"))  # written as they were


def test_they_are_one_in_every_command(tmp_path):
    """What was released, then changed so that only spellings differ, is verified and audited."""
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\nq = "suppress"\n'
        '[sensitive]\nattributes = ["s"]\n[[privacy]]\nmodel = "distinct-l-diversity"\nl = 2\n'
    )
    (tmp_path / "t.csv").write_text("q,s\na,HIV\na,hiv\na,flu\nb,Flu\nb,HIV.\nb,flu\n")
    runner = CliRunner()
    out = tmp_path / "out"

    def code(*arguments: object) -> int:
        result = runner.invoke(commands, [*map(str, arguments)], standalone_mode=False)
        assert result.exception is None
        return int(result.return_value or 0)

    assert code("run", study, "-o", out) == 0
    assert code("verify", out, "--study", study) == 0
    assert code("audit", out, "--against", tmp_path / "t.csv") == 3
    table = out / "released.csv"
    assert set(table.read_text().split()) == {
        "q,s",
        *["a,HIV", "a,hiv", "a,flu", "b,Flu", "b,HIV.", "b,flu"],
    }
    changed = table.read_text().replace("a,flu", "a,HIV.")
    table.write_text(changed)
    arguments = ["check", table, "--quasi-identifiers", "q", "--sensitive", "s"]
    assert code(*arguments, "--require", "distinct-l-diversity=2") == 1
    assert code("verify", out) == 1


DIFFERENT = [
    ["1", "2"],
    ["a", "A"],
    ["1", "1x"],
    ["0.1", "0.10000001"],
    ["10:00", "11:00"],
    ["2020-01-01", "2020-01-02"],
    ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00+01:00"],
    ["2020-02-30", "2020-02-31"],
    ["1.2.3", "1.2.4"],
    ["Na", "NA"],
    ["t", "x"],
    ["y", "why"],
]


@pytest.mark.parametrize("texts", DIFFERENT)
def test_other_texts_are_different_values(texts):
    assert len(set(read_keys(texts))) == 2
    assert len(set(written_keys(texts))) == 2


def test_letters_are_truths_only_where_all_values_are():
    assert len(set(read_keys(["t", "T", "true", "yes", "Y"]))) == 1
    assert len(set(read_keys(["t", "T", "x"]))) == 3


def test_what_readers_merely_round_stays_as_written():
    texts = ["9007199254740993", "9007199254740992", "01.02.2020", "1.2.2020"]
    assert one_text_each(texts) == [0, 1, 2, 3]


def test_the_plainest_spelling_stands_for_all():
    assert one_spelling(objects(["01", 1.0, "x", 1, "1.00"])).tolist() == [1, 1, "x", 1, 1]
    column = pd.Series([-0.0, 0.0, 2.5])
    assert one_spelling(column).map(str).tolist() == ["0.0", "0.0", "2.5"]
    assert one_spelling(column).dtype == column.dtype
    as_written = pd.Series(["1.0", "x", "True"])
    assert one_spelling(as_written) is as_written


def test_verification_holds_models_against_both_ends():
    """Two neighbours beyond 2^53 are one value to pandas, where gaps make floats of them.

    Merged they are diverse nowhere; told apart the classes are not close to the table.
    """
    a, b = "9007199254740993", "9007199254740992"
    table = pd.DataFrame({"q": ["x"] * 4 + ["y"] * 4, "s": [a, b, a, b, a, a, a, b]})
    schema = Schema(("q",), ("s",))
    assert not reads_as_written(table["s"])
    assert not verify(table, schema, [DistinctLDiversity(2)])[0].satisfied
    table["s"] = [a, a, a, a, b, b, b, b]
    assert not verify(table, schema, [TCloseness(0.5, "kl")])[0].satisfied


def test_equal_values_are_told_apart_by_what_is_written():
    column = objects([1, True, 1.0, None, np.nan, "1", Decimal("1")])
    codes, values = engine.distinct(column)
    assert codes.tolist() == [0, 1, 2, 3, 3, 4, 5]
    assert [str(value) for value in values] == ["1", "True", "1.0", "None", "1", "1"]


SPELLINGS = sorted({text for texts in ALIKE.values() for text in texts} - {"", " flu", "flu "})
QUASI = ["1", "1.0", "01", "True", "TRUE", "true", "x", "NA", "2020-01-01", "2020-1-1", "t", "-0"]
MIXED = [1, True, 1.0, Decimal("1.0"), Decimal("1.00"), 0.0, -0.0, 0, False, "1", "0", "x", "NA"]

POLICIES = [
    [KAnonymity(2)],
    [KAnonymity(2), DistinctLDiversity(2)],
    [EntropyLDiversity(1.5)],
    [TCloseness(0.5, "kl")],
    [TCloseness(0.4, "equal"), DistinctLDiversity(2)],
]


@settings(max_examples=at_length(20, 40))
@given(
    st.lists(
        st.tuples(st.sampled_from(MIXED), st.sampled_from(QUASI), st.sampled_from(SPELLINGS)),
        min_size=4,
        max_size=24,
    ),
    st.sampled_from(POLICIES),
    st.sampled_from(["full-domain", "cut", "boxes"]),
)
def test_every_reader_of_a_release_finds_the_policy_satisfied(
    tmp_path_factory, records, policy, recoding
):
    mixed, texts, sensitive = zip(*records, strict=True)
    table = pd.DataFrame({"p": objects(list(mixed)), "q": texts, "s": objects(list(sensitive))})
    hierarchies = {"p": "suppress", "q": "suppress"}
    anonymizer = Anonymizer(hierarchies, sensitive="s", privacy=policy, recoding=recoding)
    try:
        released = anonymizer.fit_transform(table)
    except AnonymizerError:
        return
    path = tmp_path_factory.mktemp("release") / "released.csv"
    released.to_csv(path, index=False)
    for view in everybody(path):
        assert not counted(view).broken(policy)


def everybody(path: Path) -> list[View]:
    return [read(path, ",") for read in CSV_READERS.values()]


def counted(view: View) -> Counted:
    rows = [{"s": value} for value in view["s"]]
    return Counted.of(list(zip(view["p"], view["q"], strict=True)), rows, ["s"])


def test_an_original_is_matched_with_a_release_that_unified_its_spellings(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\nq = "suppress"\n'
        '[sensitive]\nattributes = ["s"]\n[[privacy]]\nmodel = "distinct-l-diversity"\nl = 2\n'
    )
    (tmp_path / "t.csv").write_text("q,s\na,1\na,1.0\na,x\nb,01\nb,TRUE\nb,True\n")
    runner = CliRunner()
    out = str(tmp_path / "out")
    assert runner.invoke(commands, ["run", str(study), "-o", out]).exit_code == 0
    original = ["--against", str(tmp_path / "t.csv")]
    result = runner.invoke(commands, ["audit", out, *original], standalone_mode=False)
    assert (result.return_value, result.exception) == (3, None)


def test_hierarchies_list_instants_in_any_zone():
    local = pd.Series(pd.to_datetime(["2020-01-01 01:00", "2020-01-02 01:00"])).dt.tz_localize(
        "Europe/Paris"
    )
    hierarchy = Hierarchy.from_rows(
        [["2020-01-01T00:00:00Z", "first"], ["2020-01-02 01:00:00+01:00", "second"]]
    )
    taxonomy = hierarchy.over("when", list(local))
    assert taxonomy.levels[1].labels == ("first", "second")
    assert taxonomy.encode(local.dt.tz_convert("Asia/Tokyo")).tolist() == [0, 1]


def test_a_check_is_of_the_table_as_it_stands():
    """To whoever keeps texts apart a class is further from the table than to others."""
    table = pd.DataFrame({"q": ["x"] * 4 + ["y"] * 4, "s": ["1"] * 4 + ["1.0"] * 4})
    found = check(table, "q", "s", [TCloseness(0.5, "kl")])
    assert not found.satisfied
    assert found.sensitive["s"]["t_kl"] == pytest.approx(1)
    assert found.sensitive["s"]["distinct_l"] == 1


@pytest.mark.parametrize(
    "model", [ValueGain(0.9), BayesianGain(0.9), EnhancedBetaLikeness(5), TCloseness(1, "ordered")]
)
def test_what_two_readers_do_not_bound_is_refused(model):
    table = pd.DataFrame({"q": ["x"] * 4, "s": ["9007199254740993", "9007199254740992", "1", "2"]})
    with pytest.raises(InputError, match=f"column 's' has values.*{model.name} cannot be proven"):
        check(table, "q", "s", [model])
    table["s"] = ["3", "4", "1", "2"]
    assert check(table, "q", "s", [model]).satisfied


@pytest.mark.parametrize(
    ("model", "ask"),
    [
        (ReidentificationItpr(0.6), {}),
        (Itpr(0.9), {"sensitive": "s"}),
        (EntropyLDiversity(1.2, estimator="miller-madow"), {"sensitive": "s"}),
    ],
)
def test_who_merges_classes_may_find_a_model_broken_that_is_not_monotone(model, ask):
    """Four classes of 4 records have an ITPR of 1/2; with three of them read as one, of 3/4."""
    records = {"q": ["1"] * 4 + ["01"] * 4 + ["001"] * 4 + ["x"] * 4, "s": ["a", "b"] * 8}
    table, about = pd.DataFrame(records), ask.get("sensitive", ())
    given = Anonymizer({"q": "suppress"}, privacy=[model], recoding=Fixed({"q": 0}), **ask)
    message = f"column 'q' has values.*{model.name} cannot be proven"
    with pytest.raises(InputError, match=message):
        given.fit_transform(table)
    with pytest.raises(InputError, match=message):
        check(table, "q", about, [model])
    apart = table.replace({"01": "y", "001": "z"})
    assert check(apart, "q", about, [model]).satisfied
    merged = table.replace({"01": "1", "001": "1"})
    if isinstance(model, ReidentificationItpr):
        assert check(merged, "q", about, [model]).privacy[0].worst == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([36000123456789, 36000123456790], pa.time64("ns")),
        ([10**7, 10**7 + 1], pa.date32()),
        ([3 * 10**11, 3 * 10**11 + 1], pa.timestamp("s")),
    ],
    ids=["nanoseconds", "dates", "instants"],
)
def test_times_that_python_cannot_hold_stay_as_they_are(values, kind):
    column = pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values * 4, kind)]))
    )
    table = pd.DataFrame({"q": column, "s": column})
    policy = [KAnonymity(4), DistinctLDiversity(1)]
    released = Anonymizer({"q": "suppress"}, sensitive="s", privacy=policy).fit_transform(table)
    assert (
        released["q"]
        .array.__arrow_array__()
        .cast(pa.int64() if kind.bit_width == 64 else pa.int32())
        .to_pylist()
        == values * 4
    )
    assert released["s"].equals(column)
    with pytest.raises(AnonymizerError):
        Anonymizer({"q": "suppress"}, sensitive="s", privacy=[DistinctLDiversity(3)]).fit(table)
