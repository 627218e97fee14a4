"""A report of a release: what it says, that it says nothing else, and how it is built."""

import json
import re
import sys
import zlib
from ctypes.util import find_library
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from releases import NAME, copied
from reported import unknown

from anonymizer.cli import main
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.feedback.document import ReportPage, ReportSection
from anonymizer.feedback.words import sentence
from anonymizer.privacy import MODELS
from anonymizer.release.manifest.parts import AppliedRelease, ReportedInput, ReportedUnseen
from anonymizer.release.publish import publish
from anonymizer.release.signing import PrivateKey, make_keys, sign_release
from anonymizer.release.study import Study
from anonymizer.release.warnings import WARNINGS
from anonymizer.report.page import report_of
from anonymizer.report.page.changes import followed_by
from anonymizer.report.page.evidence import Evidence, Pictures, evidence_of
from anonymizer.report.page.page import as_html, as_markdown, as_pdf, page_of
from anonymizer.report.page.policy import STRONGEST, open_points, warnings_section

SENTENCES = {
    "k-anonymity": (
        {"k": 5},
        "Every person shares the released values of age and sex with at least 4 others in this "
        "table.",
    ),
    "person-k-anonymity": (
        {"k": 5},
        "Every person shares the released values of age and sex with at least 4 others in this "
        "table.",
    ),
    "largest-share": (
        {"share": 0.2},
        "Nobody has more than 20% of the records with the same released values of age and sex, so "
        "that no record is that of a given person with a higher probability.",
    ),
    "km-anonymity": (
        {"k": 5, "m": 2},
        "Whoever knows the released values of age and sex of up to 2 records of a person is left "
        "with at least 5 people who have such records.",
    ),
    "composition-k-anonymity": (
        {"k": 5},
        "Whoever knows the released values of age and sex of all records of a person is left with "
        "at least 5 people who have exactly such records.",
    ),
    "household-k-anonymity": (
        {"k": 3},
        "The released values of age and sex of every person are those of people of at least 3 "
        "households.",
    ),
    "household-composition-k-anonymity": (
        {"k": 3},
        "Whoever knows the released values of age and sex of all members of a household is left "
        "with at least 3 households of exactly such members.",
    ),
    "household-risk": (
        {"risk": 0.2},
        "Whoever knows age and sex of all members of a household finds the record of any of them "
        "with a probability of at most 20%.",
    ),
    "distinct-l-diversity": (
        {"l": 3},
        "The people who share a class have at least 3 different values of “illness”.",
    ),
    "entropy-l-diversity": (
        {"l": 2.7, "estimator": "plug-in"},
        "Whoever finds a person's class stays as unsure of “illness” as if there were at least 2.7 "
        "equally likely values.",
    ),
    "recursive-l-diversity": (
        {"c": 2.0, "l": 3},
        "In every class the most frequent value of “illness” has fewer than 2 times as many people "
        "as the rarer values from the 3rd most frequent on have together.",
    ),
    "t-closeness": (
        {"t": 0.2, "distance": "kl"},
        "Nobody who finds a person's class learns more than 0.2 bits about “illness” beyond what "
        "the whole table shows of everybody.",
    ),
    "alpha-k-anonymity": (
        {"alpha": 0.505, "k": 4},
        "In no class do more than 50.5% of the people have the same value of “illness”, and every "
        "class has at least 4 people.",
    ),
    "basic-beta-likeness": (
        {"beta": 0.5},
        "No value of “illness” is more than 1.5 times as frequent in a person's class as in the "
        "whole table.",
    ),
    "enhanced-beta-likeness": (
        {"beta": 1},
        "No value of “illness” is more than 2 times as frequent in a person's class as in the "
        "whole table, and frequent values may become more frequent by less than that.",
    ),
    "delta-disclosure": (
        {"delta": 1.0},
        "No value of “illness” is more than 2 times likelier, or unlikelier, in a person's class "
        "than in the whole table (1 bit).",
    ),
    "pointwise-maximal-leakage": (
        {"epsilon": 1.0},
        "Whatever somebody guesses about “illness” of a person, the person's class makes it at "
        "most 2 times likelier to be right (1 bit).",
    ),
    "bayesian-gain": (
        {"gain": 0.1},
        "Whoever guesses the likeliest value of “illness” in a person's class is right with a "
        "probability that is higher by at most 10 percentage points than with the likeliest value "
        "of the whole table.",
    ),
    "value-gain": (
        {"gain": 0.125},
        "No value of “illness” is likelier in a person's class than in the whole table by more "
        "than 12.5 percentage points.",
    ),
    "mean-information": (
        {"bits": 0.25},
        "On average over all people, a person's class gives away at most 0.25 bits about "
        "“illness”.",
    ),
    "itpr": (
        {"risk": 0.3},
        "No class of people falls short of its share in the doubt about “illness” by more than "
        "30%: with as many classes as there are, each would have to leave an equal part of it "
        "open.",
    ),
    "reidentification-itpr": (
        {"risk": 0.3},
        "No class of people with the same released values of age and sex falls short of its share "
        "in the doubt about who is who by more than 30%: with as many classes as there are, each "
        "would have to leave an equal part of it open.",
    ),
    "k-map": (
        {"k": 9, "population": {"name": "everybody.csv"}},
        "Every record could be that of at least 9 people of the population that the table is taken "
        "from.",
    ),
    "delta-presence": (
        {"lower": 0.1, "upper": 0.7},
        "Whoever finds the people of the population with a person's released values of age and sex "
        "learns only that between 10% and 70% of them are in this table.",
    ),
    "average-reidentification-risk": (
        {"risk": 0.05},
        "Whoever knows age and sex of everybody, and guesses who each record is, is right for at "
        "most 5% of the records on average.",
    ),
    "highest-reidentification-risk": (
        {"risk": 0.2},
        "Whoever knows age and sex of a person finds that person's record with a probability of at "
        "most 20%.",
    ),
    "individual-risk": (
        {"risk": 0.05, "population": "weights"},
        "Whoever knows age and sex of a person, and that somebody like them is in this table, "
        "finds the record among the people of the population with an estimated probability of at "
        "most 5%.",
    ),
    "population-uniqueness": (
        {"uniqueness": 0.01, "fraction": 0.5, "estimator": "dankar"},
        "Of the population that this table was drawn from, an estimated 1% at most are the only "
        "ones with their released values of age and sex.",
    ),
    "differential-privacy": (
        {"epsilon": 0.0, "delta": 0.001, "k": 9, "beta": 0.1},
        "What anybody can conclude from this release hardly depends on whether a person's record "
        "was in the original table: no result becomes more than 1 times likelier or unlikelier by "
        "it, but for a probability of 0.001.",
    ),
}
"""A model with parameters, and what it promises people: a new model needs its line here."""


def test_every_model_has_its_sentence():
    assert {*SENTENCES} == {*MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_the_sentences_of_a_model(name):
    parameters, promise = SENTENCES[name]
    places = {**parameters, "worst": 0.5, "shared": "age and sex", "attribute": "illness"}
    wording = MODELS[name].wording_of(parameters)
    assert sentence(wording.promise, places) == promise
    measured, open_ = (sentence(text, places) for text in (wording.measured, wording.leaves_open))
    assert re.fullmatch(r"[A-Z][^{}]*[.]", measured)
    assert re.fullmatch(r"[A-Z][^{}:]*: [A-Z][^{}]*[.]", open_)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_t_is_a_share_under_other_distances_than_the_divergence(distance):
    wording = MODELS["t-closeness"].wording_of({"t": 0.2, "distance": distance})
    assert "at most 20%: that share of" in sentence(
        wording.promise, {"t": 0.2, "attribute": "illness"}
    )


def test_every_warning_has_its_place_in_the_order():
    assert sorted(STRONGEST) == sorted(WARNINGS)


REPORTED = (
    "best",
    "suppressed and removed",
    "pram",
    "boxes",
    "two attributes",
    "differential privacy",
    "no sensitive attribute",
    "missing as a gap",
)
"""Kinds of releases whose pages differ."""


@pytest.fixture(scope="module")
def releases(published) -> dict[str, Path]:
    return {name: published(name) for name in REPORTED}


def text_of(evidence: Evidence) -> str:
    """A page without pictures, as Markdown has its text, unescaped."""
    page = page_of(evidence, Pictures(evidence, None))
    return as_markdown(page).decode().replace("\\", "")


@pytest.mark.parametrize("steward", [False, True])
@pytest.mark.parametrize("name", REPORTED)
def test_every_number_is_in_the_manifest_or_counted_again(releases, name, steward):
    evidence = evidence_of(releases[name], steward=steward)
    text = text_of(evidence)
    assert unknown(text, evidence) == set()
    assert unknown(f"{text} 12,347 people", evidence) == {"12,347"}
    assert NAME not in text


def test_a_page_by_hand(tmp_path):
    """Two classes of 4 and 6: 3 flu of 4, and 1 of 6, in 10 people."""
    rows = [("f", "flu")] * 3 + [("f", "cold")] + [("m", "flu")] + [("m", "cold")] * 5
    pd.DataFrame(rows, columns=["sex", "ill"]).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\nsex = "suppress"\n'
        '[sensitive]\nattributes = ["ill"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 4\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    evidence = evidence_of(tmp_path / "out")
    (ill,) = evidence.disclosures
    first, second = (0.75, 0.25), (1 / 6, 5 / 6)
    prior, h = (0.4, 0.6), lambda p: -sum(x * np.log2(x) for x in p)
    i1 = [sum(x * np.log2(x / y) for x, y in zip(p, prior, strict=True)) for p in (first, second)]
    assert (ill.values, ill.largest_i1) == (2, pytest.approx(max(i1)))
    assert ill.largest_i2 == pytest.approx(h(prior) - h(second))
    assert ill.mean == pytest.approx(0.4 * i1[0] + 0.6 * i1[1])
    assert ill.likeliest == pytest.approx(5 / 6)
    text = text_of(evidence)
    assert "The smallest class has 4 people." in text
    assert "In one class 83.33% of the people have the same value of it" in text
    assert "| Highest: of the person who is easiest to find | 25%, 1 in 4 |" in text
    assert "| Average over all people | 20% |" in text
    assert "| sex | as it was | 2 | f; m | 0% |" in text


def test_a_signed_release_shows_what_it_can_be_compared_with(release):
    (release / "release.json.sig").write_text("signature")
    evidence = evidence_of(release)
    fingerprint = "hmac-sha256:" + "7" * 64
    given = ReportedInput(fingerprint=fingerprint)
    signed = replace(evidence, manifest=evidence.manifest.model_copy(update={"input": given}))
    text = text_of(signed)
    assert f"- **Keyed fingerprint of the original**: {fingerprint}\n" in text
    assert "anonymizer verify out --key public.pem" in text
    assert "- **Signature**: in release.json.sig; it was not checked here, for which the " in text
    assert "fingerprint of the original" not in text_of(evidence)


def test_a_signature_is_checked_by_the_key(release, tmp_path, command):
    make_keys(tmp_path / "a.private.pem", tmp_path / "a.public.pem")
    make_keys(tmp_path / "b.private.pem", tmp_path / "b.public.pem")
    sign_release(release, PrivateKey.read(tmp_path / "a.private.pem"))
    given = (release, "--markdown", "--output", tmp_path / "page.md", "--key")
    assert command(*given, tmp_path / "a.public.pem")[0] == 0
    page = (tmp_path / "page.md").read_text()
    assert "it was checked for this report, and is by the key sha256:" in page
    assert "it was not checked" not in page
    code, _, err = command(*given, tmp_path / "b.public.pem", "--force")
    assert (code, "does not hold (1 difference)" in err) == (1, True)


def test_a_release_by_the_recoding_of_another_says_so_and_what_that_did_not_cover(releases):
    evidence = evidence_of(releases["best"])
    assert [*followed_by(evidence)] == []
    found = {
        "applies": AppliedRelease(sha256="7" * 64),
        "unseen": ReportedUnseen(values=2, records=1, treated="any"),
    }
    applied = replace(evidence, manifest=evidence.manifest.model_copy(update=found))
    text = text_of(applied)
    assert "The recoding is that of another release: it was not chosen for this table." in text
    assert "7" * 64 in text
    assert (
        "1 record had values that the recoding does not cover, 2 different ones in all; the label "
        "* replaced these values."
    ) in text
    combined = ReportedUnseen(values=0, records=3, treated="suppress")
    manifest = evidence.manifest.model_copy(update={"unseen": combined})
    assert [*followed_by(replace(evidence, manifest=manifest))] == [
        "3 records had a combination of values that the recoding does not cover; these records "
        "were suppressed."
    ]


def test_what_is_left_open_depends_on_policy_and_release(releases):
    topics = {
        name: [topic for topic, _ in open_points(evidence_of(releases[name]))] for name in releases
    }
    assert "Values drawn at random" in topics["pram"]
    assert topics["differential privacy"] == ["How the table was made"]
    assert "Several releases" in topics["best"]
    assert "Columns released as they were" in topics["best"]
    assert "Single values of “income”" in topics["two attributes"]
    assert "What holds of groups" not in topics["no sensitive attribute"]
    assert [name for name in topics if "Missing values" in topics[name]] == ["missing as a gap"]


def test_warnings_come_first_and_the_strongest_of_them_first(releases):
    evidence = evidence_of(releases["best"], steward=True)
    (own,) = evidence.manifest.warnings
    ordered = own.model_copy(update={"code": "telling-order", "message": "Records stand in order"})
    manifest = evidence.manifest.model_copy(update={"warnings": [ordered, own]})
    evidence = replace(evidence, manifest=manifest)
    page = page_of(evidence, Pictures(evidence, None))
    assert page.sections[0].anchor == "warnings"
    codes = [each.code for each in evidence.manifest.warnings]
    backwards = replace(
        evidence,
        manifest=evidence.manifest.model_copy(
            update={"warnings": [*reversed(evidence.manifest.warnings)]}
        ),
    )
    assert len(codes) == 2
    assert warnings_section(backwards) == warnings_section(evidence)
    assert "of 'note' that no other record has" in warnings_section(evidence).blocks[0].items[0]


def test_a_study_adds_a_comparison_that_names_what_fails(releases):
    given = releases["best"], releases["best"].parent / "study.toml", "markdown"
    heading = "### Other recodings under the same policy"
    assert heading not in report_of(*given).decode()  # it is measured on the original
    page = report_of(*given, steward=True).decode()
    assert heading in page
    assert "Measured on the original table of 240 records" in page
    assert "Every number here but those of other recodings is in the manifest" in page
    assert re.search(r"\| full-domain( \(best\))? \| [\d.]+ bits \|", page)
    assert re.search(r"fails in \d+ class(es)?: (k-anonymity|t-closeness)", page)


class Structure(HTMLParser):
    """What a page is built of."""

    VOID = {"meta", "link", "br", "img", "input", "hr"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.headings, self.ids, self.loads, self.links = [], [], [], []
        self.open, self.tables, self.svgs, self.languages, self.tags = [], [], [], [], set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        self.ids += [given["id"]] if "id" in given else []
        self.languages += [given.get("lang")] if tag == "html" else []
        self.links += [given["href"]] if tag == "a" else []
        loaded = ("src", "href", "xlink:href", "srcset") if tag != "a" else ()
        self.loads += [value for name, value in attrs if name in loaded]
        self.in_table(tag, given)
        if tag == "svg":
            self.svgs.append({"role": given.get("role"), "inside": set()})
        if "svg" in self.open:
            self.svgs[-1]["inside"].add(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def in_table(self, tag: str, given: dict) -> None:
        if tag == "table":
            self.tables.append({"caption": False, "scopes": set()})
        if tag == "caption":
            self.tables[-1]["caption"] = True
        if tag == "th":
            self.tables[-1]["scopes"].add(given.get("scope"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def structure_of(release: Path, *, drawn: bool) -> tuple[Structure, str]:
    evidence = evidence_of(release)
    page = as_html(page_of(evidence, Pictures(evidence, "auto" if drawn else None))).decode()
    return Structure(page), page


@pytest.mark.parametrize(("name", "drawn"), [*((n, False) for n in REPORTED), ("best", True)])
def test_a_page_stands_alone_and_can_be_read_by_everybody(releases, name, drawn):
    found, page = structure_of(releases[name], drawn=drawn)
    assert found.open == []
    assert found.languages == ["en"]
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(found.headings))
    assert len({*found.ids}) == len(found.ids)
    assert {link[1:] for link in found.links if link[0] == "#"} <= {*found.ids}
    assert {"header", "nav", "main", "footer", "section"} <= found.tags
    assert "script" not in found.tags
    assert [each for each in found.loads if not each.startswith("#")] == []
    assert "@import" not in page
    assert "url(http" not in page
    assert all(each["caption"] and each["scopes"] == {"col", "row"} for each in found.tables)
    assert bool(found.svgs) == drawn
    for svg in found.svgs:
        assert svg["role"] == "img"
        assert {"title", "desc"} <= svg["inside"]


def test_every_text_is_escaped(tmp_path):
    odd = '<script>alert("|")</script>*_`&'
    table = pd.DataFrame({odd: ["a", "b"] * 4, "ill<b>": ["flu", "cold", "cold", "flu"] * 2})
    table.to_csv(tmp_path / "t.csv", index=False)
    name = json.dumps(odd)
    (tmp_path / "study.toml").write_text(
        f'[data]\npath = "t.csv"\n[quasi-identifiers]\n{name} = "suppress"\n'
        '[sensitive]\nattributes = ["ill<b>"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    found, page = structure_of(tmp_path / "out", drawn=True)
    assert not {"script", "b"} & found.tags
    assert "&lt;script&gt;alert(&#34;|&#34;)" in page
    markdown = report_of(tmp_path / "out", form="markdown").decode()
    assert r"\<script\>alert(" + r'"\|")\</script\>\*\_\`\&' in markdown
    assert not re.search(r"(?<!\\)<", markdown)
    rows = [line for line in markdown.splitlines() if line.startswith(f"| {chr(92)}<script")]
    assert [len(re.split(r"(?<!\\)\|", line)) for line in rows] == [7]


def test_without_pango_there_is_no_pdf(monkeypatch):
    class Lacking:
        def __getattr__(self, name):
            raise OSError("cannot load library 'libpango-1.0-0'")

    monkeypatch.setitem(sys.modules, "weasyprint", Lacking())
    with pytest.raises(InputError, match="needs Pango, which this system lacks: install it"):
        as_pdf(ReportPage("Title", "about", "holds", [], [], "end"))


@pytest.mark.skipif(not find_library("pango-1.0"), reason="the system has no Pango")
def test_a_pdf_is_on_several_sheets_and_for_screen_readers_too():
    lines = [f"Sentence {place}." for place in range(60)]
    page = as_pdf(
        ReportPage("Title", "about", "holds", [], [ReportSection("one", "One", lines)], "end")
    )
    assert page.startswith(b"%PDF-")
    streams = re.findall(rb"stream\r?\n(x.*?)\r?\nendstream", page, re.DOTALL)
    objects = b"".join(zlib.decompressobj().decompress(each) for each in streams)
    assert b"/Lang (en)" in objects
    assert b"/StructTreeRoot" in objects
    (sheets,) = re.findall(rb"/Type /Pages/Kids \[([^]]*)\]", objects)
    assert sheets.count(b" R") > 1


@pytest.fixture
def command(capsys):
    """The exit code of a command and what it prints."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["report", *map(str, arguments)])
        return stop.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def release(releases, tmp_path) -> Path:
    return copied(releases["best"], tmp_path)


def test_a_report_stands_next_to_its_release_unless_it_goes_elsewhere(release, tmp_path, command):
    code, out, _ = command(release, "--markdown")
    assert (code, out) == (0, f"The report is in {tmp_path / 'out-report.md'}.\n")
    written = (tmp_path / "out-report.md").read_text(encoding="utf-8")
    code, out, err = command(release / "released.csv", "--markdown")
    assert code == 2
    assert "--force replaces it" in err
    assert command(release, "--markdown", "--force")[0] == 0
    assert command(release, "-o", tmp_path / "a.md")[0] == 0
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == written
    assert {path.name for path in release.iterdir()} == {"release.json", "released.csv"}


def test_a_report_on_standard_output_is_nothing_but_the_page(release, capfdbinary):
    with pytest.raises(SystemExit) as stop:
        main(["report", str(release), "--markdown", "-o", "-"])
    assert stop.value.code == 0
    assert capfdbinary.readouterr().out == report_of(release, form="markdown")


def test_a_release_that_does_not_hold_has_no_report(release, tmp_path, command):
    table = release / "released.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines[:-1], lines[1]]) + "\n")
    code, out, err = command(release)
    assert (code, out) == (1, "")
    assert re.search(r"does not hold \(\d+ differences?.*`anonymizer verify", err)
    assert not (tmp_path / "out-report.html").exists()
    with pytest.raises(PolicyBrokenError, match="does not hold"):
        report_of(release)


def test_without_matplotlib_a_page_has_no_pictures_and_says_so(release, command, monkeypatch):
    monkeypatch.setattr("anonymizer.report.page.evidence.find_spec", lambda name: None)
    place = release.parent / "page.html"
    code, _, err = command(release, "--output", place)
    assert (code, err) == (
        0,
        "The report has no pictures: in a checkout of anonymizer, pip install '.[plots]'\n",
    )
    assert "<svg" not in place.read_text(encoding="utf-8")


def test_mistakes_are_said(release, tmp_path, command, monkeypatch):
    several = command(release, "--html", "--pdf")[2]
    assert "give one of --html, --markdown, --pdf and --docx" in several
    code, _, err = command(tmp_path / "nowhere")
    assert (code, "there is no " in err) == (2, True)
    (tmp_path / "empty").mkdir()
    code, _, err = command(tmp_path / "empty")
    assert (code, "there is no release.json" in err) == (2, True)
    with pytest.raises(InputError, match="form = 'htm' is unknown"):
        report_of(release, form="htm")
    monkeypatch.setattr("anonymizer.report.page.page.find_spec", lambda name: None)
    code, _, err = command(release, "--pdf")
    assert code == 2
    words = "which is not installed: in a checkout of anonymizer, pip install"
    assert f"needs weasyprint, {words} '.[pdf]'" in err
    code, _, err = command(release, "-o", tmp_path / "page.docx")
    assert (code, f"needs python-docx, {words} '.[docx]'" in err) == (2, True)
    assert not (tmp_path / "page.docx").exists()
