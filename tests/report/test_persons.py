"""What a page says of a release about persons who have several records."""

import pandas as pd
import pytest

from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.report.page import report_of

STUDY = """\
[data]
path = "visits.csv"
person = "patient"
[quasi-identifiers]
age = { widths = [10, 100] }
[sensitive]
attributes = "diagnosis"
[[privacy]]
model = "k-anonymity"
k = 3
[[privacy]]
model = "distinct-l-diversity"
l = 2
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Of 24 visits of 8 patients."""
    directory = tmp_path_factory.mktemp("visits")
    rows = [(f"p{n % 8}", 20 + n % 8, ["flu", "cold", "gout"][n % 3]) for n in range(24)]
    visits = pd.DataFrame(rows, columns=["patient", "age", "diagnosis"])
    visits.to_csv(directory / "visits.csv", index=False)
    (directory / "study.toml").write_text(STUDY)
    publish(Study(directory / "study.toml"), directory / "release")
    return directory / "release"


def page_of(release, steward: bool) -> str:
    return " ".join(report_of(release, form="markdown", steward=steward).decode().split())


@pytest.mark.parametrize("steward", [False, True])
def test_what_is_said_of_persons_is_of_persons_and_all_else_of_records(release, steward):
    page = page_of(release, steward)
    assert "The policy held when the release was made: 3 conditions about persons" in page
    assert "Every person shares the released values of age with at least 2 others" in page
    assert "The conditions count persons" in page
    assert "Smallest | 24" in page
    assert "somebody who knows age of one record of everybody" in page
    assert "who knows several records of a person" in page
    assert "It is that of records: some people have several" in page
    assert "Its persons are the exception" in page


def test_that_all_may_have_a_value_is_said_where_no_condition_counts_each(release, tmp_path):
    topic, counted = (
        "Whether somebody has a value at all",
        "where all who have a value in any record are counted for it.",
    )
    assert topic in page_of(release, False)
    assert counted not in page_of(release, False)
    text = (release.parent / "study.toml").read_text().replace("l = 2", "l = 1")
    text = text.replace("visits.csv", (release.parent / "visits.csv").as_posix())
    each = text.replace("[quasi-identifiers]", 'per-person = "each"\n[quasi-identifiers]')
    (tmp_path / "study.toml").write_text(each)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    assert topic not in page_of(tmp_path / "release", False)
    assert counted in page_of(tmp_path / "release", False)


def test_how_near_classes_come_is_for_the_steward_alone(release):
    own, public = page_of(release, True), page_of(release, False)
    assert "The smallest class has 8 people." in own
    assert "8 people" not in public
    assert public.count("Its maker alone knows how near a class comes to that.") == 3


def test_who_knows_several_records_is_spoken_of_where_a_condition_is_about_them(release, tmp_path):
    """Everybody has the class of the whole table, three times."""
    text = (release.parent / "study.toml").read_text()
    text = text.replace("visits.csv", (release.parent / "visits.csv").as_posix())
    (tmp_path / "study.toml").write_text(
        text + '[[privacy]]\nmodel = "km-anonymity"\nk = 3\nm = 2\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    own, public = (page_of(tmp_path / "release", steward) for steward in (True, False))
    for page in (own, public):
        assert (
            "Whoever knows the released values of age of up to 2 records of a person is left "
            "with at least 3 people who have such records."
        ) in page
        assert "Against who knows up to 2 records of a person km-anonymity alone holds." in page
        assert "somebody who knows more than 2 records of a person or anything else" in page
    assert "Of the person who is hidden worst 8 people are left." in own
    assert "Of the person who is hidden worst" not in public


def test_who_knows_all_records_is_spoken_of_where_a_condition_is_about_them(release, tmp_path):
    text = (release.parent / "study.toml").read_text()
    text = text.replace("visits.csv", (release.parent / "visits.csv").as_posix())
    of_all = '[[privacy]]\nmodel = "composition-k-anonymity"\nk = 3\n'
    (tmp_path / "study.toml").write_text(text + of_all)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    page = page_of(tmp_path / "release", False)
    assert (
        "Whoever knows the released values of age of all records of a person is left with at least "
        "3 people who have exactly such records."
    ) in page
    against = "Against who knows all records of a person composition-k-anonymity alone holds."
    assert against in page
    assert "It is no promise against somebody who knows anything else" in page
