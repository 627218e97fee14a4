"""Texts of studies that were changed: what is the same stays as it was written."""

import json
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.explorer.session.text import merged

KEYS = st.text(max_size=6)
PLAIN = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
    st.text(max_size=8),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
CONTENTS = st.dictionaries(
    KEYS,
    st.one_of(
        VALUES,
        st.dictionaries(KEYS, VALUES, max_size=4),
        st.lists(st.dictionaries(KEYS, VALUES, max_size=3), min_size=1, max_size=3),
    ),
    max_size=5,
)


@given(CONTENTS)
@settings(deadline=None)
def test_a_text_of_any_content_parses_to_it(content):
    assert same(tomllib.loads(merged("", content)), content)


@given(CONTENTS, CONTENTS)
@settings(deadline=None)
def test_any_text_is_changed_to_any_content(before, after):
    text = merged("", before)
    assert same(tomllib.loads(merged(text, after)), after)
    assert merged(text, before) == text


def same(one, other) -> bool:
    """Whether two contents are the same, with the kinds of their numbers; keys in any order."""
    return in_order(one) == in_order(other)


def in_order(content) -> str:
    return json.dumps(content, sort_keys=True)


STUDY = """# The study of the north.
[data]
path = "people.csv"  # as it came

# What others know.
[quasi-identifiers]
age = { widths = [10, 20] }  # in years
# where they live
city = "suppress"

[sensitive]
attributes = ["diagnosis"]

[[privacy]]  # nobody alone
model = "k-anonymity"
k = 3  # by the board

[[privacy]]
model = "t-closeness"
distance = "kl"
t = 0.3  # bits
"""


def test_comments_and_lines_stay_where_nothing_changed():
    content = tomllib.loads(STUDY)
    content["privacy"][0]["k"] = 5
    assert merged(STUDY, content) == STUDY.replace("k = 3", "k = 5")


@given(
    k=st.integers(1, 100),
    t=st.floats(0, 5),
    widths=st.lists(st.integers(1, 50), min_size=1, max_size=3),
    city=st.sampled_from(["suppress", "city.csv"]),
)
@settings(deadline=None)
def test_comments_of_lines_that_are_not_touched_stay(k, t, widths, city):
    content = tomllib.loads(STUDY)
    content["privacy"][0]["k"], content["privacy"][1]["t"] = k, t
    content["quasi-identifiers"] = {"age": {"widths": widths}, "city": city}
    text = merged(STUDY, content)
    assert tomllib.loads(text) == content
    lines = text.splitlines()
    for line in ("# The study of the north.", 'path = "people.csv"  # as it came'):
        assert line in lines
    for comment in ("# What others know.", "# where they live", "[[privacy]]  # nobody alone"):
        assert comment in lines


def test_a_model_more_and_a_model_less_leave_the_others_as_they_are():
    content = tomllib.loads(STUDY)
    more = {**content, "privacy": [*content["privacy"], {"model": "l-diversity", "l": 2}]}
    text = merged(STUDY, more)
    assert tomllib.loads(text) == more
    less = {**content, "privacy": content["privacy"][:1]}
    assert tomllib.loads(merged(text, less)) == less


def test_other_ends_of_lines_are_read():
    text = STUDY.replace("\n", "\r\n")
    content = tomllib.loads(STUDY)
    content["privacy"][0]["k"] = 5
    assert tomllib.loads(merged(text, content)) == content
