"""What a plan says of its labels, worked by hand."""

import pandas as pd

from anonymizer import Anonymizer, KAnonymity


def test_a_missing_value_is_not_called_by_a_text_that_reads_none():
    frame = pd.DataFrame({"a": ["None", "None", None, None, "x", "x"]})
    found = Anonymizer({"a": "suppress"}, privacy=[KAnonymity(2)], missing="category").fit(frame)
    assert found.release_.to_dict()["recoding"]["a"] == [
        {"label": "None", "values": ["None"]},
        {"label": "x", "values": ["x"]},
        {"label": None, "values": [None]},
    ]
