"""Combinations found by their hashes are those of a dictionary."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.tables.files import Format
from anonymizer.tables.relations.embedded import moving as hashing
from anonymizer.tables.relations.embedded.files import opened
from anonymizer.tables.relations.embedded.moving import Combinations
from anonymizer.tables.relations.relation import Moves

LARGEST = 2**64 - 1
HASHES = st.one_of(
    st.integers(0, LARGEST),
    st.integers(0, 40),  # the same first bits, so that one is looked for after another
    st.integers(LARGEST - 40, LARGEST),
)


@given(st.lists(HASHES, unique=True, max_size=60), st.lists(HASHES, max_size=20), st.randoms())
def test_numbers_are_those_of_the_hashes(known, others, random):
    numbers = [random.choice([-1, 0, 1, 7]) for _ in known]
    found = Combinations(np.array(known, np.uint64))
    assert found.distinct
    expected = {each: n for each, n in zip(known, numbers, strict=True) if n >= 0}
    looked = [*known, *others]
    hashes = pa.chunked_array([pa.array(looked, pa.uint64())])
    answers = found.numbers(np.array(numbers, np.int64))(hashes)
    assert answers.to_pylist() == [expected.get(each) for each in looked]
    values = found.values(np.array(numbers, np.int64), pa.array([*"abcdefgh"]))
    letters = values(hashes).to_pylist()
    assert letters == ["abcdefgh"[expected[each]] if each in expected else None for each in looked]


@given(st.lists(HASHES, min_size=1, max_size=20))
def test_a_hash_that_two_combinations_share_is_seen(known):
    assert not Combinations(np.array([*known, known[0]], np.uint64)).distinct


def test_another_hash_is_taken_where_two_combinations_share_one(tmp_path, monkeypatch):
    """The first salts make one hash of all."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\nx,1\ny,2\ny,\n")
    seen = []

    class Sharing(Combinations):
        def __init__(self, hashes):
            seen.append(len(hashes))
            super().__init__(hashes if len(seen) > 2 else np.zeros_like(hashes))

    monkeypatch.setattr(hashing, "Combinations", Sharing)
    with opened(path, Format(False)) as table:
        raw = table.tally(["a", "b"])
        released = raw.combinations[["a"]].map(lambda text: f"<{text}>")
        recoded = table.recoded(Moves(raw, released, np.arange(3), raw.sizes, ("a", "b")))
        assert recoded.frame(["a"])["a"].to_list() == ["<x>", "<y>", "<y>"]
    assert seen == [2, 2, 2]  # b decides nothing
