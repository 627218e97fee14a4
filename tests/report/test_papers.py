"""Papers for reviewers: all fields of each template, no figure that a release does not have."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from releases import NAME, copied
from reported import unknown

from anonymizer.cli import main
from anonymizer.cli.releasing import report as report_command
from anonymizer.errors import InputError
from anonymizer.feedback.document import Note, Points, ReportPage, Table
from anonymizer.feedback.words import number
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.report.page import report_of
from anonymizer.report.page.answers import (
    attacks,
    identifiers,
    inference,
    linkability,
    noise,
    singling_out,
)
from anonymizer.report.page.docx import as_docx
from anonymizer.report.page.evidence import Evidence, evidence_of, with_original
from anonymizer.report.page.page import as_html, as_markdown
from anonymizer.report.page.paper import TO_WRITE, PaperTemplate, paper_of
from anonymizer.report.page.papers import TEMPLATES
from anonymizer.report.page.risks import (
    ShownRisk,
    held_against,
    initial_risk,
    largest_risk,
    least_people,
    residual_risk,
)
from anonymizer.report.risk import audit_report

ROOT = Path(__file__).parents[2]
KINDS = (
    "best",
    "suppressed and removed",
    "pram",
    "boxes",
    "differential privacy",
    "missing as a gap",
    "population",
)
CITED = {"117,", "2020", "2013", "0.09", "12"}
"""Numbers of what is cited, and those of the threshold."""

CLAIMS = """
[data]
path = "raw.csv"
person = "patient"
[quasi-identifiers]
age = { widths = [5, 10, 20, 40] }
[sensitive]
attributes = ["diagnosis"]
[identifiers]
attributes = ["patient"]
[[privacy]]
model = "k-anonymity"
k = 6
"""


MOVED = '[data.shift]\ncolumns = ["day"]\ndays = 30\n'


def claims_table() -> pd.DataFrame:
    """Twenty patients of two ages, with one claim or two each."""
    rows = [
        (f"{NAME}{place}", 20 + 30 * (place % 2), ["flu", "cold", "hiv"][(place + nth) % 3])
        for place in range(20)
        for nth in range(1 + place % 4 // 2)
    ]
    return pd.DataFrame(rows, columns=["patient", "age", "diagnosis"])


@pytest.fixture(scope="module")
def releases(published, tmp_path_factory) -> dict[str, Path]:
    """Releases of several kinds, the demonstration, and claims: with numbers, with moved dates."""
    found = {name: published(name) for name in KINDS}
    for name, more in {
        "claims": "",
        "numbered": '[output]\nperson = "number"\n',
        "moved": MOVED,
    }.items():
        place = tmp_path_factory.mktemp(name)
        table = claims_table().assign(day="2024-03-05") if more == MOVED else claims_table()
        table.to_csv(place / "raw.csv", index=False)
        (place / "study.toml").write_text(CLAIMS + more)
        publish(Study(place / "study.toml"), place / "out")
        found[name] = place / "out"
    found["demonstration"] = tmp_path_factory.mktemp("demo") / "release"
    publish(Study(ROOT / "data" / "demo.toml"), found["demonstration"])
    return found


ALL = (*KINDS, "claims", "numbered", "moved", "demonstration")


def found_in(release: Path, **more: bool) -> Evidence:
    """A release, with its study where a population has to be counted again."""
    study = release.parent / "study.toml"
    about = study.exists() and "population" in study.read_text()
    return evidence_of(release, study if about else None, **more)


def own_words(template: PaperTemplate) -> Iterator[str]:
    """The texts of a template, the longest first."""
    words = [template.title, template.source]
    for place, field in enumerate(template.fields, 1):
        words += [f"{place}. {field.title}", field.source, field.written]
    left = sum(bool(field.written) for field in template.fields)
    words.append(f"{left} of {len(template.fields)} fields")
    return iter(sorted(words, key=len, reverse=True))


def text_of(page: ReportPage, template: PaperTemplate) -> str:
    """A paper without the words of its template."""
    text = as_markdown(page).decode().replace("\\", "")
    for words in own_words(template):
        text = text.replace(words, "") if words else text
    return text


@pytest.mark.parametrize("steward", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_every_field_is_there_and_every_number_is_known(releases, name, steward):
    evidence = found_in(releases[name], steward=steward)
    risk = largest_risk(evidence)
    cited = CITED | (set() if risk is None else {f"{risk.value:.2f}"})
    maps = [each.worst for each in evidence.manifest.privacy if each.model == "k-map"]
    cited |= {number(1 / people) for people in maps}
    for template in TEMPLATES.values():
        page = paper_of(evidence, template)
        titles = [section.title for section in page.sections]
        expected = [f"{n}. {field.title}" for n, field in enumerate(template.fields, 1)]
        assert titles == expected
        for section, field in zip(page.sections, template.fields, strict=True):
            first, *answered = section.blocks
            assert first == f"Required by: {field.source}."
            notes = [block.text for block in answered if isinstance(block, Note)]
            assert notes == ([f"{TO_WRITE}{field.written}."] if field.written else [])
            assert bool(field.answers) == (len(answered) > len(notes))
        text = text_of(page, template)
        assert unknown(text, evidence) - cited == set()
        assert unknown(f"{text} 12,347 people", evidence) - cited == {"12,347"}
        assert NAME not in text
        assert not re.search(r"\bNo[.:]", text)  # no question is answered by no


@pytest.mark.parametrize("name", ["best", "claims"])
def test_a_paper_of_the_folder_alone_needs_no_file_of_the_steward(releases, name, tmp_path):
    release = copied(releases[name], tmp_path)

    def papers() -> list[str]:
        evidence = evidence_of(release)
        return [as_markdown(paper_of(evidence, each)).decode() for each in TEMPLATES.values()]

    with_file = papers()
    steward_file(release).unlink()
    for text in papers():
        assert "**For**: everybody who may have the release" in text
        assert "In the original: what the quasi-identifiers say" not in text
        # What cannot be checked names a file that a steward has.
        assert re.sub("(?m)^- (release|figures of).*$", "", text) in [
            re.sub("(?m)^- (release|figures of).*$", "", each) for each in with_file
        ]
    with pytest.raises(InputError, match=r"there is no .*steward\.json"):
        report_of(release, template="ema", steward=True)


def risks_in(blocks: Iterator[object]) -> dict[str, tuple[str, ...]]:
    """The rows of the one table of risks, by adversary."""
    (table,) = [block for block in blocks if isinstance(block, Table)]
    return {row[0].partition(":")[0]: tuple(row[2:]) for row in table.rows}


def of_sizes(tmp_path: Path, *sizes: int, study: str = "", **more: object) -> Evidence:
    """A release of classes of some sizes, as it is."""
    rows = [(f"c{place}", "flu") for place, size in enumerate(sizes) for _ in range(size)]
    pd.DataFrame(rows, columns=["city", "ill"]).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\ncity = "suppress"\n'
        f'[[privacy]]\nmodel = "k-anonymity"\nk = {min(sizes)}\n'
        '[recoding]\nmethod = "fixed"\nlevels = { city = 0 }\n' + study
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    return evidence_of(tmp_path / "out", **more)


@pytest.mark.parametrize(
    ("k", "shown", "reading"),
    [
        (12, "0.08333 (1 in 12)", "It does not exceed the threshold, without rounding."),
        (
            11,
            "0.09091 (1 in 11)",
            "It exceeds the threshold. Rounded to two decimals it is 0.09, the customary reading: "
            "the threshold is met by that reading alone. Say in this paper which reading is used. "
            "12 people in the smallest class would meet it without rounding.",
        ),
        (
            10,
            "0.1 (1 in 10)",
            "It exceeds the threshold, rounded to two decimals as well (0.10): the threshold is "
            "not met.",
        ),
    ],
)
def test_nine_percent_by_hand(tmp_path, k, shown, reading):
    """1/11 = .0909 is above .09: 12 people meet it strictly, 11 only when rounded."""
    evidence = of_sizes(tmp_path, k, 20)
    first, *_ = held_against(0.09, evidence)
    assert first == f"The threshold is 0.09. The largest risk is {shown}. {reading}"
    risks = risks_in(residual_risk(evidence))
    assert risks["Prosecutor"] == (shown,)
    assert risks["Journalist"] == (f"at most {shown}, as no population was given",)
    assert risks["Any of them"] == ("0",)


def test_the_fewest_people_of_a_threshold():
    for k in range(2, 200):
        assert least_people(1 / k) == k
    assert [least_people(each) for each in (0.09, 0.3, 0.5, 1.0)] == [12, 4, 2, 1]


def test_risks_are_written_as_they_are():
    shown = [*map(str, (ShownRisk(1.0), ShownRisk(0.25, False), ShownRisk(0.3)))]
    assert shown == ["1", "at most 0.25 (1 in 4)", "0.3"]


def test_who_is_alone_is_singled_out(tmp_path):
    evidence = of_sizes(tmp_path, 1, 3)
    (points,) = singling_out(evidence)
    assert points.items[0] == "Yes: 1 record is alone with the released values of city."
    assert largest_risk(evidence) == ShownRisk(1.0)
    assert risks_in(residual_risk(evidence))["Marketer"] == ("0.5 (1 in 2)",)


@pytest.mark.parametrize("name", KINDS)
def test_singling_out_is_not_denied_by_k_alone(releases, name):
    evidence = found_in(releases[name])
    (points,) = singling_out(evidence)
    assert isinstance(points, Points)
    denied = any("That does not answer the question by no." in each for each in points.items)
    assert denied != evidence.private


def test_a_value_that_all_of_a_class_have_is_inferred(tmp_path):
    evidence = of_sizes(tmp_path, 4, 5, study='[sensitive]\nattributes = ["ill"]\n')
    points, *_ = inference(evidence)
    assert points.items == [
        "Yes: in at least one class all people have the same value of ill, so that whoever finds "
        "the class knows it."
    ]


def test_the_initial_risk_is_that_of_the_original(releases):
    """240 people, by hand of pandas."""
    release = releases["suppressed and removed"]
    study = release.parent / "study.toml"
    sizes = pd.read_csv(release.parent / "people.csv").groupby(["age", "job"]).size()
    assert [*initial_risk(evidence_of(release))] == [
        "The initial risk is known to the steward of the release alone."
    ]
    steward = evidence_of(release, study, steward=True)
    assert next(iter(initial_risk(steward))).startswith("The initial risk was not measured")
    assert next(iter(attacks(steward))).startswith("No attack was tried for this paper")
    measured = with_original(steward)
    risks = risks_in(initial_risk(measured))
    largest, average = ShownRisk(1 / sizes.min()), ShownRisk(len(sizes) / sizes.sum())
    assert risks["Prosecutor"] == (str(largest),)
    assert risks["Journalist"] == (f"at most {largest}",)
    assert risks["Marketer"] == (str(average),)
    assert risks["Any of them"] == (str((sizes == 1).sum()),)
    after = risks_in(residual_risk(measured))
    assert [row[0] for row in after.values()] == [row[0] for row in risks.values()]
    tried = [*attacks(measured)]
    assert next(audit_report(measured.audit)) == tried[0]
    rows = [row for each in tables_in(tried) for row in each.rows]
    assert all(isinstance(cell, str) for row in rows for cell in row)
    assert "The policy holds in every release against readers of what is released." in tried


def tables_in(blocks: list[object]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]


@pytest.mark.parametrize("values", ["other", "fewer"])
def test_the_original_of_another_release_has_no_paper(releases, tmp_path, values):
    release = copied(releases["suppressed and removed"], tmp_path)
    for each in ("study.toml", "people.csv", "age.toml", "job.csv"):
        (tmp_path / each).write_bytes(
            (releases["suppressed and removed"].parent / each).read_bytes()
        )
    *lines, last = (tmp_path / "people.csv").read_text().splitlines()
    words = "is not the table that the release was made of: it has 239 records, and .* says 240"
    if values == "other":
        lines += [re.sub(",(flu|cold|hiv),", ",plague,", last)]
        words = "cannot be what .* was made of: 1 record of the release"
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=words):
        report_of(release, tmp_path / "study.toml", template="ema", steward=True)


def test_what_is_private_has_no_initial_risk(releases):
    release = releases["differential privacy"]
    study = release.parent / "study.toml"
    evidence = with_original(evidence_of(release, study, steward=True))
    assert evidence.original is None
    assert [*initial_risk(evidence)] == [
        "The initial risk is not reported, as the guarantee of the release requires."
    ]


def test_records_that_were_left_out_are_counted_in_the_original(tmp_path):
    """Nine records, of which two miss their city."""
    pd.DataFrame({"city": [*"aaabbbb", None, None]}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "t.csv"\nmissing = "drop"\n[quasi-identifiers]\ncity = "suppress"\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 3\n'
        '[recoding]\nmethod = "fixed"\nlevels = { city = 0 }\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    evidence = evidence_of(tmp_path / "out", tmp_path / "study.toml", steward=True)
    risks = risks_in(initial_risk(with_original(evidence)))
    assert risks["Prosecutor"] == (str(ShownRisk(1 / 3)),)
    assert risks["Marketer"] == (str(ShownRisk(2 / 7)),)


def test_the_risk_of_persons_is_theirs(releases):
    """Ten patients of each age, of 15 claims each: 1/10 by persons, 2/15 by records."""
    release = releases["claims"]
    public = evidence_of(release)
    assert largest_risk(public) == ShownRisk(1 / 6, False)  # by the policy: k = 6
    first, *_ = held_against(0.09, public)
    assert first == (
        "The threshold is 0.09. The largest risk is by the policy at most 0.1667 (1 in 6). That "
        "exceeds the threshold: the policy does not promise that it is met. The risk that was "
        "found may be lower, and its steward knows it."
    )
    study = release.parent / "study.toml"
    steward = with_original(evidence_of(release, study, steward=True))
    assert largest_risk(steward) == ShownRisk(pytest.approx(2 / 15), True)
    before = risks_in(initial_risk(steward))
    assert before["Prosecutor"] == (str(ShownRisk(2 / 15)),)  # two ages, that were kept apart
    assert before["Marketer"] == (str(ShownRisk(1 / 10)),)
    (points,) = linkability(public)
    assert "whether they can be joined by their values was not measured" in points.items[0]


def test_numbers_of_persons_link_their_records(releases):
    evidence = evidence_of(releases["numbered"])
    (points,) = linkability(evidence)
    assert points.items[0] == "Yes, within the release: patient joins the records of a person."
    assert largest_risk(evidence).counted


def test_dates_that_were_moved_are_noise(releases):
    evidence = evidence_of(releases["moved"])
    assert [*noise(evidence)] == [
        "All dates of a person in day were moved by one secret number of days, up to 30 days to "
        "either side: how far apart they are is as it was."
    ]
    (table,) = identifiers(evidence)
    assert ("day", "dates of a person", "offset: moved by up to 30 days, by person") in table.rows
    assert [row[0] for row in table.rows] == ["patient", "age", "diagnosis", "day"]
    assert [*noise(evidence_of(releases["claims"]))] == [
        "No noise was added: no value was drawn at random."
    ]


def test_people_with_several_records_are_not_taken_for_one_each(releases):
    evidence = evidence_of(releases["best"])
    warning = evidence.manifest.warnings[0].model_copy(update={"code": "repeated-identifier"})
    manifest = evidence.manifest.model_copy(update={"warnings": [warning]})
    several = replace(evidence, manifest=manifest)
    assert largest_risk(several) is None
    (only,) = held_against(0.09, several)
    assert "Whether it is met cannot be said from this release" in only
    risks = risks_in(residual_risk(several))
    assert risks["Prosecutor"] == ("not bounded: some people have several records",)
    assert risks["Any of them"] == ("of records 0, of people not known",)
    classes = SimpleNamespace(sizes=np.array([2, 4]))
    found = SimpleNamespace(persons=None, reidentification=classes)
    before = risks_in(initial_risk(replace(several, original=found)))
    assert before["Prosecutor"] == ("of records 0.5 (1 in 2)",)


def test_a_population_is_the_journalists(releases):
    """k-map of three times the table."""
    evidence = found_in(releases["population"])
    (verdict,) = [each for each in evidence.manifest.privacy if each.model == "k-map"]
    risks = risks_in(residual_risk(evidence))
    assert verdict.worst == 3 * evidence.sizes[0]
    assert risks["Journalist"] == (f"{ShownRisk(1 / verdict.worst)}, in the population",)


HOSTILE = '<script>alert("|")</script>*_`&{{ 7 }}'


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Evidence:
    """A release whose names and values are markup."""
    place = tmp_path_factory.mktemp("hostile")
    table = pd.DataFrame({HOSTILE: ["<b>a</b>", "b"] * 4, "ill<b>": ["<i>flu</i>", "cold"] * 4})
    table.to_csv(place / "t.csv", index=False)
    name = json.dumps(HOSTILE)
    (place / "study.toml").write_text(
        f'[data]\npath = "t.csv"\n[quasi-identifiers]\n{name} = "suppress"\n'
        '[sensitive]\nattributes = ["ill<b>"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    publish(Study(place / "study.toml"), place / "out")
    return evidence_of(place / "out")


@pytest.mark.parametrize("template", TEMPLATES)
def test_names_and_values_are_escaped_in_every_form(hostile, template):
    page = paper_of(hostile, TEMPLATES[template])
    web = as_html(page).decode()
    assert not re.search("<(script|b|i)>", web)
    assert "&lt;script&gt;alert(&#34;|&#34;)" in web
    markdown = as_markdown(page).decode()
    assert r"\<script\>alert(" + r'"\|")\</script\>\*\_\`\&' in markdown
    assert not re.search(r"(?<!\\)<", markdown)
    assert len(re.findall(r"^## \d+[.] ", markdown, re.M)) == len(page.sections)


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_paper_opens_again_as_docx(hostile, template):
    docx = pytest.importorskip("docx")
    document = docx.Document(BytesIO(as_docx(paper_of(hostile, TEMPLATES[template]))))
    titles = [each.text for each in document.paragraphs if each.style.name == "Heading 1"]
    fields = TEMPLATES[template].fields
    assert titles == [f"{place}. {field.title}" for place, field in enumerate(fields, 1)]
    assert HOSTILE in " ".join(each.text for each in document.element.body.iter() if each.text)


def test_a_paper_lies_next_to_its_release(releases, tmp_path, capsys):
    release = copied(releases["best"], tmp_path)
    (choice,) = [each.type for each in report_command.params if each.name == "template"]
    assert [*choice.choices] == [*TEMPLATES]

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["report", str(release), *arguments])
        return stop.value.code, *capsys.readouterr()

    place = tmp_path / "out-wp216.md"
    assert run("--for", "wp216", "--markdown") == (0, f"The report is in {place}.\n", "")
    assert place.read_bytes() == report_of(release, form="markdown", template="wp216")
    assert run("--for", "ema", "--steward")[0] == 0
    assert (tmp_path / "out-ema.steward.html").stat().st_mode & 0o777 == 0o600
    code, _, err = run("--for", "emea")
    assert (code, "'emea' is not one of 'ema', 'health-canada'" in err) == (2, True)
    with pytest.raises(InputError, match="template = 'emea' is unknown"):
        report_of(release, template="emea")


def listed_fields(template: PaperTemplate) -> str:
    """The fields of a template, as the documentation lists them."""
    rows = ["| field | required by | filled in by |", "|---|---|---|"]
    for n, field in enumerate(template.fields, 1):
        who = [*(["the release"] if field.answers else []), *(["you"] if field.written else [])]
        rows.append(f"| {n}. {field.title} | {field.source} | {' and '.join(who)} |")
    return "\n".join(rows) + "\n"


def test_the_documentation_lists_every_field():
    page = (ROOT / "docs" / "how-to" / "report.md").read_text(encoding="utf-8")
    for name, template in TEMPLATES.items():
        part = f"### `--for {name}`\n\n{template.title}: {template.source}.\n\n"
        assert part + listed_fields(template) in page
