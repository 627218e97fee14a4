"""What boxes have in common because they were not divided: hand-worked, brute force, a release."""

import json

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.risk.downcoding import Downcoding, downcoding


def test_a_class_that_no_cut_divides():
    # Six people, k = 3: one is 20, four are 40, one is 60. A cut leaves one on a side, or five.
    ages = np.array([0, 1, 1, 1, 1, 2])
    assert downcoding([ages], np.zeros(6, int), 3) == Downcoding(3, 6, 6 - 2 * 2)
    # Three and three are divided by a cut between them; of five none needs to be.
    assert downcoding([np.array([0, 0, 0, 1, 1, 1])], np.zeros(6, int), 3).alike == 0
    assert downcoding([np.array([0, 1, 1, 1, 2])], np.zeros(5, int), 3).alike == 0
    # Values that were not generalized, and people of no class, are in no count.
    assert (
        downcoding([np.array([0, 1, 1, 1, 1, 2, -1])], np.array([0] * 6 + [-1]), 3).generalized == 6
    )


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=40),
    st.integers(1, 5),
)
def test_as_counted_by_hand_and_never_more_than_the_truth(people, k):
    class_of, places = (np.array(each) for each in zip(*people, strict=True))
    expected = truth = 0
    for group in set(class_of):
        own = sorted(places[class_of == group])
        cuts = [at for at in range(1, len(own)) if own[at - 1] != own[at]]
        if len(own) >= 2 * k and not any(at >= k and len(own) - at >= k for at in cuts):
            expected += len(own) - 2 * (k - 1)
            truth += max(own.count(value) for value in own)
    found = downcoding([places], class_of, k)
    assert (found.alike, found.generalized) == (expected, len(people))
    assert found.alike <= truth


def test_a_release_of_boxes_is_measured_and_others_are_not(run, tmp_path):
    # At each age thirty people: 22 work 40 hours, four 38 and four 42.
    hours = np.tile([40] * 22 + [38] * 4 + [42] * 4, 4)
    table = pd.DataFrame({"age": np.repeat([20, 30, 40, 50], 30), "hours": hours})
    table.to_csv(tmp_path / "people.csv", index=False)
    said = {}
    for method in ("boxes", "full-domain"):
        (tmp_path / "study.toml").write_text(
            '[data]\npath = "people.csv"\n[quasi-identifiers]\nage = { widths = [10] }\n'
            'hours = { widths = [10] }\n[[privacy]]\nmodel = "k-anonymity"\nk = 10\n'
            f'[recoding]\nmethod = "{method}"\n'
        )
        path = tmp_path / method
        assert run("run", tmp_path / "study.toml", "--output", path)[0] == 0
        arguments = ["audit", path, "--against", tmp_path / "people.csv"]
        said[method] = json.loads(run(*arguments, "--json")[1])["releases"][0]["downcoding"]
        text = run(*arguments)[1]
        assert ("Downcoding: of " in text) == (method == "boxes")
        page = " ".join(run("report", path, "--markdown", "-o", "-")[1].split())
        # Of boxes: each age has a class of 22 people, and k is 10.
        assert ("The classes of 88 people are large enough for two." in page) == (method == "boxes")
    assert said["full-domain"] is None
    # The 22 of each age are a class, of which 22 - 2 (10 - 1) hours and as many ages at least are
    # alike. The others, 16 below 39 hours and 16 above, are too few for that to say anything.
    assert said["boxes"] == {"k": 10, "generalized": 240, "alike": 4 * (4 + 4)}
