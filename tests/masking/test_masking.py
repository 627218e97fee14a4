"""Releases drawn at random: whatever is drawn holds its policy, and is reported as it is."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    DistinctLDiversity,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    MeanInformation,
    PolicyBrokenError,
    PolicyUnreachableError,
    Study,
    TCloseness,
    compare,
    measure_quality,
)
from anonymizer.channels import channels_of
from anonymizer.cli import main
from anonymizer.masking import Bottleneck, Noise, Pram
from anonymizer.release.publish import publish
from anonymizer.release.request import RECODINGS

AGES = Hierarchy.ranges(widths=[10, 20])
POLICY = [TCloseness(0.3, "kl"), KAnonymity(3)]


def people(records=400, seed=0):
    """Numbers that tell of an illness, a sex that tells a little, and a name."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 32, records)
    sex = rng.choice(["f", "m"], records)
    ill = rng.random(records) < (age - 18) / 20 + 0.1 * (sex == "f")
    return pd.DataFrame(
        {
            "name": [f"person {number}" for number in range(records)],
            "age": age,
            "sex": sex,
            "illness": np.where(ill, "ill", np.where(rng.random(records) < 0.3, "cold", "well")),
        },
        index=range(1000, 1000 + records),
    )


def masked(masking, table=None, policy=POLICY, names=("age",), **options):
    anonymizer = Anonymizer(
        {name: AGES if name == "age" else Hierarchy.suppression() for name in names},
        "illness",
        policy,
        identifiers=["name", *({"age", "sex"} - set(names))],
        **options,
        recoding=masking,
    )
    given = people() if table is None else table
    return anonymizer, anonymizer.fit_transform(given).set_axis(given.index)


def bits_apart(table, names):
    """D(p(w|g) || p(w)) in bits of every class, by pandas alone."""
    counts = table.groupby([*names, "illness"]).size().unstack()
    shares = counts.fillna(0).div(counts.sum(axis=1), axis=0)
    prior = table["illness"].value_counts(normalize=True)
    logs = np.log2((shares / prior).where(shares > 0, 1.0))
    return (shares * logs).sum(axis=1), counts.sum(axis=1)


@pytest.mark.parametrize("method", ["pram", "noise", "bottleneck"])
@pytest.mark.parametrize("names", [("age",), ("age", "sex")], ids=["age", "age and sex"])
def test_what_is_drawn_holds_the_policy(method, names):
    table = people()
    attributes = ["age"] if method == "noise" else None
    anonymizer, released = masked(
        RECODINGS[method](attributes, draws=3, seed=1), table, names=names
    )
    apart, sizes = bits_apart(released, names)
    assert apart.max() <= 0.3 + 1e-9
    assert sizes.min() >= 3
    release = anonymizer.release_
    assert release.masking.realised["illness"].largest_i1 == pytest.approx(apart.max())
    assert release.classes == len(sizes)
    assert released["illness"].equals(table["illness"])
    assert "name" not in released
    if method == "noise" and "sex" in names:
        assert released["sex"].equals(table["sex"])


def test_pram_distorts_least_and_says_so():
    table = people()
    anonymizer, released = masked(Pram(seed=1), table)
    (part,) = anonymizer.release_.masking.channels
    distortion = ((released["age"] - table["age"]) ** 2).mean()
    assert part.realised_distortion == pytest.approx(distortion)
    assert part.least_distortion <= part.expected_distortion
    # Releasing the best single value would do, and costs the variance.
    assert part.expected_distortion < table["age"].var()
    assert anonymizer.search_.bound == pytest.approx(part.least_distortion)


def test_a_seed_repeats_a_draw_and_nothing_tells_it():
    first, drawn = masked(Pram(seed=7))
    _, again = masked(Pram(seed=7))
    _, other = masked(Pram(seed=8))
    assert drawn.equals(again)
    assert not drawn.equals(other)
    manifest = first.release_.to_dict()
    assert manifest.pop("seeds") == {"search": 0, "drawing": "withheld"}
    assert "seed" not in json.dumps(manifest)
    assert first.release_.study == masked(Pram(seed=8))[0].release_.study


def test_without_a_seed_draws_differ():
    assert not masked("pram")[1].equals(masked("pram")[1])


def test_other_tables_are_drawn_by_the_same_channel():
    anonymizer, _ = masked(Pram(seed=1))
    other = people(seed=5)
    drawn = anonymizer.transform(other)
    assert bits_apart(drawn, ["age"])[0].max() <= 0.3 + 1e-9
    with pytest.raises(InputError, match="holds 1 value, in 400 records, that the recoding"):
        anonymizer.transform(other.assign(age=77))
    # Everybody ill but the oldest: no draw can hold the policy.
    richer = other.assign(illness=np.where(other["age"] < 30, "ill", "well"))
    with pytest.raises(PolicyBrokenError, match="none of 20 draws satisfied the policy"):
        anonymizer.transform(richer)


def test_combinations_that_no_channel_knows_are_refused():
    table = people()
    apart = table[(table["age"] != 25) | (table["sex"] == "f")]
    anonymizer, _ = masked(Pram(seed=1), apart, names=("age", "sex"))
    strangers = len(table) - len(apart)
    with pytest.raises(InputError, match=f"{strangers} records of the table have values of age, s"):
        anonymizer.transform(table)


def test_the_channel_reads_back_as_it_was():
    anonymizer, _ = masked(Pram(seed=1), names=("age", "sex"))
    manifest = json.loads(json.dumps(anonymizer.release_.to_dict()))
    ((names, channel),) = channels_of(manifest["masking"]).items()
    assert names == ("age", "sex")
    (part,) = anonymizer.release_.masking.channels
    assert (channel.matrix == part.channel.matrix).all()
    assert channel.values == part.channel.values
    assert manifest["masking"]["epsilon"] is None
    assert manifest["recoding"] == {"age": [], "sex": []}


def test_a_withheld_channel_is_not_told():
    anonymizer, _ = masked(Pram(seed=1, withhold=True))
    masking = anonymizer.release_.to_dict()["masking"]
    assert masking["withheld"]
    assert set(masking["channels"][0]) & {"values", "labels", "rows"} == set()


def test_released_values_can_be_distributed_as_the_true_ones():
    table = people()
    table["age"] = table["age"] // 4 * 4  # values of many records each
    anonymizer, _ = masked(Pram(invariant=True, seed=1), table)
    (part,) = anonymizer.release_.masking.channels
    share = table["age"].value_counts(normalize=True)
    values = [int(value) for (value,) in part.channel.values]
    labels = [int(label) for (label,) in part.channel.labels]
    assert share[labels].to_numpy() == pytest.approx(share[values].to_numpy() @ part.channel.matrix)


@pytest.mark.parametrize("jointly", [True, False], ids=["jointly", "one by one"])
def test_local_differential_privacy_is_of_all_channels_together(jointly):
    private = Pram(epsilon=1.0, jointly=jointly, seed=1)
    anonymizer, _ = masked(private, names=("age", "sex"))
    assert anonymizer.release_.masking.epsilon <= 1.0 + 1e-6


def test_local_differential_privacy_is_of_the_channel():
    anonymizer, _ = masked(Pram(epsilon=1.0, seed=1))
    assert anonymizer.release_.masking.epsilon <= 1.0 + 1e-6
    (part,) = anonymizer.release_.masking.channels
    some = part.channel.matrix[:, part.channel.matrix.max(axis=0) > 0]
    assert np.log(some.max(axis=0) / some.min(axis=0)).max() <= 1.0 + 1e-6


def test_attributes_by_themselves_are_held_to_the_policy_together():
    anonymizer, released = masked(
        Pram(jointly=False, seed=1), policy=[TCloseness(0.6, "kl")], names=("age", "sex")
    )
    assert len(anonymizer.release_.masking.channels) == 2
    assert bits_apart(released, ["age", "sex"])[0].max() <= 0.6 + 1e-9


def test_values_are_masked_from_levels():
    table = people()
    anonymizer, released = masked(Pram(distortion="hierarchy", levels={"age": 1}, seed=1), table)
    assert set(released["age"]) <= {"[20, 30)", "[30, 40)", "*"}
    assert anonymizer.release_.levels == {"age": 1}


def test_a_stated_alphabet_is_all_that_is_released():
    _, released = masked(Pram(alphabet={"age": [22, 28.5]}, seed=1))
    assert set(released["age"]) <= {22.0, 28.5}


@pytest.mark.parametrize("policy", [[MeanInformation(0.02)], [AlphaKAnonymity(0.8, 4)]], ids=str)
def test_other_models(policy):
    anonymizer, _ = masked(Pram(seed=1), policy=policy)
    assert all(verdict.satisfied for verdict in anonymizer.release_.privacy)


def test_models_without_a_convex_form_are_held_against_the_draw():
    anonymizer, _ = masked(Pram(seed=1), policy=[DistinctLDiversity(3), EntropyLDiversity(1.2)])
    assert all(verdict.satisfied for verdict in anonymizer.release_.privacy)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from(["x", "y", "z"])),
        min_size=12,
        max_size=60,
    ),
    st.sampled_from(["pram", "bottleneck"]),
    st.sampled_from([0.05, 0.3, 1.0]),
    st.integers(0, 100),
)
def test_no_table_is_released_against_its_policy(rows, method, t, seed):
    table = pd.DataFrame(rows, columns=["age", "sex", "illness"]).assign(name="nobody")
    try:
        _, released = masked(
            RECODINGS[method](seed=seed),
            table,
            [TCloseness(t, "kl"), KAnonymity(2)],
            ("age", "sex"),
        )
    except PolicyUnreachableError:
        return
    apart, sizes = bits_apart(released, ["age", "sex"])
    assert apart.max() <= t + 1e-9
    assert sizes.min() >= 2
    assert released["illness"].tolist() == table["illness"].tolist()


MISTAKES = [
    (Pram, {"attributes": ["height"]}, {}, "pram: 'height' is no quasi-identifier"),
    (Pram, {"attributes": []}, {}, "attributes must name at least one quasi-identifier"),
    (Pram, {"distortion": "cubic"}, {}, "pram: distortion = 'cubic' is unknown"),
    (Pram, {"distortion": {"sex": "hamming"}}, {}, "pram: 'sex' has an option, but is not drawn"),
    (Noise, {"grid": {"sex": 2}}, {}, "noise: 'sex' has an option, but is not drawn"),
    (Pram, {"epsilon": 0}, {}, "pram: epsilon = 0 must be a number above 0"),
    (Pram, {"invariant": 1}, {}, "pram: invariant must be true or false"),
    (Pram, {"draws": 0}, {}, "pram: draws = 0 must be a whole number from 1"),
    (Bottleneck, {"draws": 0}, {}, "bottleneck: draws = 0 must be a whole number from 1"),
    (Bottleneck, {"rate": -1}, {}, "bottleneck: rate = -1 must be a number of at least 0"),
    (Pram, {"seed": -1}, {}, "pram: seed = -1 must be a whole number from 0"),
    (Pram, {"alphabet": {"age": "low"}}, {}, "pram: alphabet of 'age' must be a list of values"),
    (Pram, {"alphabet": {"age": [[20]]}}, {}, "pram: alphabet of 'age' must be a list of values"),
    (Pram, {"alphabet": {"age": [float("nan")]}}, {}, "of 'age' must be a list of values"),
    (Pram, {"epsilon": 10**400}, {}, "epsilon = a number too large must be a number above 0"),
    (Pram, {"alphabet": {"age": ["old"]}}, {}, "1 symbol of the alphabet of 'age' are no numbers"),
    (Noise, {"grid": {"age": 0}}, {}, "noise: grid of 'age' = 0 must be a number above 0"),
    (Noise, {"grid": 2}, {}, "noise: grid must be given by attribute"),
    (Pram, {"withhold": "no"}, {}, "pram: withhold must be true or false"),
    (Pram, {"levels": 1}, {}, "pram: levels must map quasi-identifiers to levels"),
    (
        Pram,
        {"invariant": True, "alphabet": {"age": [20, 30]}},
        {},
        "pram: invariant releases the values that occur; leave out alphabet",
    ),
    (Pram, {}, {"objective": "loss"}, "'pram' maximises nothing; leave out the objective"),
    (Pram, {}, {"time_limit": 9.0}, "'pram' searches nothing; leave out the time limit"),
    (Pram, {"levels": {"age": 9}}, {}, "levels: age = 9 must be a whole number from 0 to 3"),
]


@pytest.mark.parametrize(
    ("kind", "given", "options", "message"), MISTAKES, ids=lambda each: str(each)
)
def test_mistakes_are_reported_in_one_line(kind, given, options, message):
    with pytest.raises(InputError) as caught:
        masked(kind(**given), **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_noise_is_for_numbers():
    with pytest.raises(InputError, match="noise is for numbers, and 'sex' is none"):
        masked("noise", names=("age", "sex"))


@pytest.mark.parametrize("jointly", [True, False])
def test_epsilon_is_promised_of_all_or_none(jointly):
    with pytest.raises(InputError, match="epsilon is promised of all quasi-identifiers or of none"):
        masked(Pram(epsilon=1.0, attributes=["age"], jointly=jointly), names=("age", "sex"))


def test_noise_takes_numbers_of_any_hierarchy_for_numbers():
    anonymizer = Anonymizer(
        {"age": Hierarchy.suppression()},
        "illness",
        [TCloseness(0.3, "kl")],
        identifiers=["name", "sex"],
        recoding=Noise(seed=1),
    )
    assert anonymizer.fit(people(60)).release_.masking.distortion == {"age": "squared"}


def test_epsilon_is_shared_out_among_channels():
    anonymizer, _ = masked(
        Pram(epsilon=1.0, jointly=False, seed=1),
        policy=[TCloseness(0.6, "kl")],
        names=("age", "sex"),
    )
    assert anonymizer.release_.masking.epsilon <= 1.0 + 1e-6


def test_epsilon_holds_where_chances_are_small():
    # exp(-30) is less than draws resolve: taken for nothing it would make epsilon infinite.
    anonymizer, _ = masked(Pram(epsilon=30.0, seed=1), policy=[TCloseness(0.6, "kl")])
    assert anonymizer.release_.masking.epsilon <= 30 * (1 + 1e-6)


@pytest.mark.parametrize("method", ["pram", "bottleneck"])
def test_what_is_kept_beside_channels_tells_classes_apart(method):
    masking = RECODINGS[method](["age"], jointly=False, seed=1)
    anonymizer, released = masked(masking, policy=[TCloseness(0.3, "kl")], names=("age", "sex"))
    apart, sizes = bits_apart(released, ["age", "sex"])
    assert apart.max() <= 0.3 + 1e-9
    release = anonymizer.release_
    assert release.classes == len(sizes)
    assert release.masking.realised["illness"].largest_i1 == pytest.approx(apart.max())


@pytest.mark.parametrize("options", [{}, {"attributes": ["age"]}, {"epsilon": 2.0}], ids=str)
def test_every_class_has_the_records_that_were_stated(options):
    names = ("age", "sex") if "attributes" in options else ("age",)
    anonymizer, released = masked(
        Pram(min_records=40, seed=1, **options), policy=[TCloseness(0.6, "kl")], names=names
    )
    assert released.groupby([*names]).size().min() >= 40
    drawn = anonymizer.transform(people(seed=2))
    assert drawn.groupby([*names]).size().min() >= 40


def test_stated_records_that_no_draw_has_are_refused():
    with pytest.raises(PolicyUnreachableError, match=r"relax it \(or min-records\)"):
        masked(Pram(["age"], min_records=250, draws=2), names=("age", "sex"))


def test_an_average_is_no_bound_of_its_parts():
    # Each block is held to 0.05 bits, but what one does not use another one could.
    masking = Pram(["age"], seed=1)
    anonymizer, _ = masked(masking, policy=[MeanInformation(0.05)], names=("age", "sex"))
    (part,) = anonymizer.release_.masking.channels
    assert part.least_distortion is None
    assert anonymizer.search_.gap is None


def test_what_is_expected_is_expected_of_the_table_at_hand():
    anonymizer, _ = masked(Pram(seed=1))
    (part,) = anonymizer.release_.masking.channels
    other = people(seed=5)
    other["age"] = np.where(other["age"] > 28, 20, other["age"])
    anonymizer.transform(other)
    (again,) = anonymizer.release_.masking.channels
    values = [int(value) for (value,) in part.channel.values]
    labels = np.array([float(label) for (label,) in part.channel.labels])
    cost = ((np.array(values)[:, None] - labels) ** 2 * part.channel.matrix).sum(axis=1)
    share = other["age"].value_counts(normalize=True).reindex(values, fill_value=0)
    assert again.expected_distortion == pytest.approx(share.to_numpy() @ cost)
    assert again.expected_distortion != pytest.approx(part.expected_distortion)
    assert part.least_distortion is not None
    assert again.least_distortion is None


@pytest.mark.parametrize(
    ("distance", "options"),
    [("ordered", {"order": ["well", "cold", "ill"]}), ("hierarchical", {})],
)
def test_distances_of_sensitive_values_know_what_they_are(distance, options):
    if distance == "hierarchical":
        rows = [("well", "well", "*"), ("cold", "sick", "*"), ("ill", "sick", "*")]
        options = {"hierarchy": Hierarchy.from_rows(rows)}
    anonymizer, _ = masked(Pram(seed=1), policy=[TCloseness(0.2, distance=distance, **options)])
    (part,) = anonymizer.release_.masking.channels
    assert len(part.channel.labels) > 1


def with_age(values, **columns):
    """A table of 120 people who have these ages by turns."""
    table = people(120)
    ages = pd.Series([values[number % len(values)] for number in range(120)], table.index)
    return table.assign(age=ages, **columns)


def test_numbers_that_are_written_in_two_ways_are_one_number():
    odd = with_age(["3", "03", "4", "9"])
    anonymizer = Anonymizer(
        {"age": Hierarchy.from_rows([(each, "*") for each in ["3", "03", "4", "9"]])},
        "illness",
        POLICY,
        identifiers=["name", "sex"],
        recoding=Pram(seed=1),
    )
    assert len(anonymizer.fit_transform(odd)) == 120
    assert anonymizer.release_.masking.distortion == {"age": "squared"}


def test_numbers_that_floats_take_for_the_same_have_no_distance():
    accounts = with_age([10**23 + number for number in range(4)])
    anonymizer, released = masked(Pram(seed=1), accounts)
    assert anonymizer.release_.masking.distortion == {"age": "hamming"}
    assert set(released["age"]) <= set(accounts["age"])
    with pytest.raises(InputError, match="numbers of 'age' are too large, too small or too near"):
        masked(Pram(distortion="squared"), accounts)
    with pytest.raises(InputError, match="the grid of 'age' is too fine for numbers as large"):
        masked(Noise(grid={"age": 1e-9}), with_age([10**6, 10**6 + 1]))


@pytest.mark.parametrize(
    ("values", "alphabet", "released"),
    [
        ([20, 30], ["20", 30.5], ["20", "30.5"]),
        (["20", "30"], ["20", 30.5], ["20", "30.5"]),
        ([2**64 - 1, 2**64 - 2**20], None, [2**64 - 1, 2**64 - 2**20]),
        ([10**30, 2 * 10**30], None, [10**30, 2 * 10**30]),
        ([0.5, 3.0], None, [0.5, 3.0]),
    ],
    ids=str,
)
def test_symbols_are_of_one_kind(values, alphabet, released, tmp_path):
    masking = Pram(seed=1, distortion="hamming", alphabet=alphabet and {"age": alphabet})
    _, drawn = masked(masking, with_age(values), policy=[TCloseness(1.5, "kl")])
    assert set(drawn["age"]) <= set(released)
    assert len({type(value) for value in drawn["age"].tolist()}) == 1
    if max(map(float, released)) < 1e30:
        drawn.to_parquet(tmp_path / "drawn.parquet")


@pytest.mark.parametrize("number", [float("inf"), 1e300])
def test_statistics_are_of_numbers_that_have_some(number):
    table = people()
    illness = table["illness"].map({"ill": number, "cold": 1.0, "well": 2.0})
    anonymizer, _ = masked(Pram(seed=1), table.assign(illness=illness))
    assert anonymizer.release_.masking.preserved.columns == ("age",)


@pytest.mark.parametrize("method", ["pram", "noise", "bottleneck"])
def test_a_single_number_is_released_as_it_is(method):
    _, released = masked(RECODINGS[method](seed=1), with_age([7.125]))
    assert set(released["age"]) == {7.125}


def test_invariant_channels_of_numbers_release_numbers_that_occur():
    _, released = masked(Pram(invariant=True, seed=1), policy=[TCloseness(0.5, "kl")])
    assert set(released["age"]) <= set(people()["age"])


def test_too_many_combinations_are_refused_before_anything_is_solved():
    table = people(3000)
    table["age"] = np.arange(3000)
    with pytest.raises(InputError, match="age have 3,000 combinations of values, beyond the 1,000"):
        masked("pram", table)


def test_a_policy_out_of_reach_is_told():
    with pytest.raises(PolicyUnreachableError, match=r"l-diversity: l = 2\.9 is above"):
        masked("pram", policy=[EntropyLDiversity(2.9)])


STUDY = """
recoding = "pram"

[data]
path = "people.csv"

[quasi-identifiers]
age = "age.toml"

[identifiers]
attributes = ["name", "sex"]

[sensitive]
attributes = ["illness"]

[[privacy]]
model = "t-closeness"
distance = "kl"
t = 0.3
"""


@pytest.fixture
def study(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "age.toml").write_text("widths = [10]\n")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


def test_from_a_study_to_an_estimate(study, capsys):
    out = study.parent / "out"
    assert run("run", study, "-o", out) == 0
    report = capsys.readouterr().out
    assert "a released record need not be true" in report
    assert "epsilon is infinite" in report
    assert run("verify", out / "released.csv", "--study", study) == 0
    manifest = json.loads((out / "release.json").read_text())
    assert manifest["masking"]["realised"]["illness"]["largest_i1"] <= 0.3 + 1e-9
    capsys.readouterr()
    how = ["--method", "maximum-likelihood"]
    assert run("estimate", out, "--of", "age", *how, "--json") == 0
    assert json.loads(capsys.readouterr().out)["records"] == 400


def test_the_bundled_study_is_one():
    study = Study(Path(__file__).parents[2] / "data" / "pram.toml")
    assert study.recoding == Pram()
    assert study.read().shape == (30_000, 15)


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ('recoding = "pran"', "[recoding] method = 'pran' is unknown; did you mean 'pram'?"),
        ('[recoding]\nmethod = "pram"\nepsilom = 1', "[recoding] unknown key 'epsilom'; did you"),
        ("[recoding]\nepsilon = 1", "'epsilon'; it is for method = 'pram', not for 'full-domain'"),
        ('[recoding]\nmethod = "noise"\nepsilon = 1', "for method = 'pram', not for 'noise'"),
        ('[recoding]\nmethod = "pram"\ndraws = "x"', "[recoding] draws must be a whole number"),
        ('[recoding]\nmethod = "pram"\ndraws = 0', "study.toml: [recoding] pram: draws = 0 must"),
        ('[masking]\nmethod = "pram"', "[recoding] with method = 'pram', 'noise' or 'bottleneck'"),
    ],
)
def test_mistakes_in_a_study(study, capsys, added, message):
    study.write_text(STUDY.replace('recoding = "pram"', "") + "\n" + added + "\n")
    if added.startswith("recoding"):
        study.write_text(STUDY.replace('recoding = "pram"', added))
    assert run("run", study, "-o", study.parent / "out") == 2
    assert message in capsys.readouterr().err
    assert not (study.parent / "out").exists()


def test_what_is_about_drawn_values_says_so(study, capsys):
    out, original = study.parent / "out", study.parent / "people.csv"
    publish(Study(study), out)
    assert run("quality", out, "--study", study, "--no-classifiers") == 0
    assert "Not defined for this release: granularity" in capsys.readouterr().out
    assert run("audit", out, "--against", original) == 3
    assert "a person is found by what was drawn for them" in capsys.readouterr().out
    publish(Study(study), study.parent / "other")
    assert run("audit", out, study.parent / "other", "--against", original) == 2
    assert "audit it by itself" in capsys.readouterr().err
    assert run("compare", study) == 2
    assert "recodings that are searched for" in capsys.readouterr().err
    table = people()
    anonymizer, released = masked(Pram(seed=1), table)
    found = measure_quality(table, released, anonymizer.plan_, targets=())
    assert found.random
    with pytest.raises(InputError, match="recodings that are searched for"):
        compare(anonymizer, table)


def test_adult_is_masked_with_less_distortion_than_by_any_ranges(adult):
    table = adult[["age", "marital-status"]]
    anonymizer = Anonymizer(
        {"age": AGES},
        "marital-status",
        [TCloseness(0.55, "kl"), EntropyLDiversity(2.7)],
        recoding=Pram(alphabet={"age": list(range(17, 91))}, seed=1),
    )
    released = anonymizer.fit_transform(table)
    assert ((released["age"] - table["age"].to_numpy()) ** 2).mean() <= 11.5
    assert anonymizer.search_.bound == pytest.approx(9.8807, abs=1e-4)
