"""Files of schemes: read over a study, with every mistake in one line."""

import pytest

from anonymizer import InputError, Study
from anonymizer.recoding.levels import Fixed, FullDomain
from anonymizer.release.study import Scheme

STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = { widths = [10] }
sex = "suppress"
[sensitive]
attributes = "w"
[[privacy]]
model = "entropy-l-diversity"
l = 2
[search]
seed = 7
"""
LEVELS = '[recoding]\nmethod = "fixed"\n[recoding.levels]\nage = 1\nsex = 0\n'


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    return Study(tmp_path / "study.toml")


def scheme(study, text, name="a1.toml"):
    path = study.path.parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return Scheme(path, study)


def test_what_a_scheme_leaves_out_is_the_studys(study):
    found = scheme(study, LEVELS)
    assert (found.name, found.recoding) == ("a1", Fixed({"age": 1, "sex": 0}))
    assert found.hierarchies == study.hierarchies
    assert found.privacy is study.privacy
    assert found.anonymizer().seed == 7
    assert scheme(study, "").recoding == FullDomain()


def test_the_strategy_of_the_study_is_for_its_own_recoding(study):
    study.path.write_text(STUDY + 'strategy = "bisection"\n')
    found = Study(study.path)
    assert scheme(found, LEVELS).recoding == Fixed({"age": 1, "sex": 0})
    assert scheme(found, "").recoding == FullDomain(search="bisection")


def test_hierarchies_of_a_scheme_are_its_own_and_lie_next_to_it(study):
    text = 'name = "A*"\n[quasi-identifiers]\nage = "age.toml"\n'
    (study.path.parent / "other").mkdir()
    (study.path.parent / "other" / "age.toml").write_text("cuts = [18, 65]")
    found = scheme(study, text, "other/s.toml")
    assert found.name == "A*"
    assert found.hierarchies["age"].rule()["cuts"] == [["18", "65"]]
    assert [*found.hierarchies] == ["age", "sex"]
    assert found.data_path == study.data_path


def test_a_study_is_a_scheme_of_itself_and_of_one_that_differs_in_the_recoding_alone(study):
    moved = STUDY.replace("people.csv", "../people.csv") + LEVELS
    assert scheme(study, moved, "other/s.toml").recoding.levels == {"age": 1, "sex": 0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[quasi-identifiers]\nages = "suppress"', "'ages' is no quasi-identifier of .*'age'"),
        ("quasi-identifiers = 3", "quasi-identifiers is written as one section"),
        ('[quasi-identifiers]\nage = "none.toml"', "none.toml"),
        ("[quasi-identifiers]\nage = 3", r"a1.toml: \[quasi-identifiers\] age: .* widths"),
        ('nam = "x"', "unknown key 'nam'; did you mean 'name'"),
        ("name = 3", 'name must be a text in one line, such as name = "A1"'),
        ('name = "a\\nb"', "name must be a text in one line"),
        ('[recoding]\nmethod = "fixe"', "method = 'fixe' is unknown; did you mean 'fixed'"),
        ('[recoding]\nmethod = "fixed"', r"\[recoding\] levels is missing"),
        ("[recoding\n", "a1.toml is not a TOML file"),
        ("a,b\n1,2\n", "is a table, not a study"),
        (
            '[[privacy]]\nmodel = "k-anonymity"\nk = 3',
            r"\[\[privacy\]\] is not that of .*study.toml",
        ),
        ('[data]\npath = "others.csv"', r"\[data\] is not that of .*leave the section out"),
        ('[sensitive]\nattributes = "age"', r"\[sensitive\] is not that of"),
    ],
)
def test_a_mistake_is_said_in_one_line(study, text, message):
    with pytest.raises(InputError, match=message) as error:
        scheme(study, text).anonymizer()
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(study):
    with pytest.raises(InputError, match=r"there is no scheme .*a2\.toml"):
        Scheme(study.path.parent / "a2.toml", study)


def test_a_scheme_in_the_place_of_the_study_is_told_from_one(study):
    path = scheme(study, 'name = "A1"\n' + LEVELS).path
    with pytest.raises(InputError, match="unknown key 'name'; it is for schemes"):
        Study(path)
