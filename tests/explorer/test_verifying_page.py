"""The page on which a recipient verifies a release, in a browser, opened from the disk."""

import csv
import hashlib
import io
import json
import random
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from explorer.driving import require_seen_well
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import LONG, at_length
from playwright.sync_api import Browser, Page
from releases import KINDS, copied, header_and_rows, public_in, release_of
from tampered import BY_LONG, BY_SHORT, SPELLINGS, mended, of_every_model, tampered, written

from anonymizer.release.manifest import Manifest
from anonymizer.release.publish import publish
from anonymizer.release.signing import PrivateKey, PublicKey, make_keys
from anonymizer.release.study import Study
from anonymizer.release.verifiers import verifier
from anonymizer.release.verifiers.statements import OF_SIZES, OF_VALUES

STATES = {"holds": True, "BROKEN": False, "not examined": None}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A place with the page, and a signed release with the keys of two people."""
    place = tmp_path_factory.mktemp("made")
    release_of(KINDS["full-domain"], place)
    for name in ("mine", "other"):
        make_keys(place / f"{name}.pem", place / f"{name}.pub")
    key = PrivateKey.read(place / "mine.pem")
    publish(Study(place / "study.toml"), place / "out", key=key, force=True)
    manifest = Manifest.read(place / "out" / "release.json")
    (place / "verify.html").write_bytes(verifier("html", manifest))
    return place


@pytest.fixture(scope="module")
def tab(browser: Browser, made: Path) -> Iterator[tuple[Page, list[str]]]:
    """The page, opened from the disk, and what it asked for or complained of."""
    context = browser.new_context()
    page, seen = context.new_page(), []
    page.on("request", lambda request: seen.append(request.url))
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.goto((made / "verify.html").as_uri())
    yield page, seen
    context.close()


@pytest.fixture
def page(tab: tuple[Page, list[str]], made: Path) -> Iterator[Page]:
    """The same for a test: afterwards nothing was asked of anybody, and nothing went wrong."""
    page, seen = tab
    page.fill("#key", "")
    yield page
    own = (made / "verify.html").as_uri()
    assert [each for each in seen if each != own and not each.startswith("blob:")] == []


@pytest.fixture(scope="module")
def inside(browser: Browser, made: Path) -> Iterator[Page]:
    """The page with its functions in reach: its own policy lets nobody call them."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto((made / "verify.html").as_uri())
    yield page
    context.close()


def examined(page: Page, release: Path) -> list[list[str]]:
    """The rows that the page shows of the files of a release."""
    page.set_input_files("#files", [each for each in release.iterdir() if each.is_file()])
    page.click("#examine")  # files that are chosen again are no change
    page.wait_for_selector("#summary[data-state]")
    lines = page.locator("#rows tr").all()
    return [line.locator("td").all_inner_texts() for line in lines]


def summary(page: Page) -> str:
    return page.inner_text("#summary")


# Ours, tampered with, another's


def test_a_release_of_ours(page, made):
    page.fill("#key", (made / "mine.pub").read_text())
    rows = examined(page, made / "out")
    assert {row[0] for row in rows} == {"holds"}
    assert rows[0][1:3] == [
        "signature",
        f"signed by the key {PublicKey.read(made / 'mine.pub').fingerprint}",
    ]
    (sized,) = [row for row in rows if row[1] == "k-anonymity, k = 4"]
    assert sized[2] == "24"
    assert sized[3].startswith("age: [")  # of classes that are as small any may be shown
    assert summary(page) == "The release is signed by this key, and keeps its promises."


def test_a_table_that_was_tampered_with(page, made, tmp_path):
    path = copied(made / "out", tmp_path)
    table = path / "released.csv"
    table.write_bytes(table.read_bytes().replace(b"flu", b"hiv", 9))
    page.fill("#key", (made / "mine.pub").read_text())
    rows = examined(page, path)
    assert [row[0] for row in rows[:2]] == ["holds", "BROKEN"]
    assert summary(page) == (
        "Do not rely on this release: its manifest is signed by this key, and the rest is not what "
        "was signed."
    )


def test_a_manifest_that_was_tampered_with(page, made, tmp_path):
    path = copied(made / "out", tmp_path)
    manifest = path / "release.json"
    manifest.write_text(manifest.read_text().replace('"k": 4', '"k": 3'))
    page.fill("#key", (made / "mine.pub").read_text())
    assert [row[0] for row in examined(page, path)] == ["BROKEN"] + 6 * ["holds"]
    assert "it is not signed by this key" in summary(page)


def test_the_signature_of_somebody_else(page, made, tmp_path):
    path = copied(made / "out", tmp_path)
    signature = PrivateKey.read(made / "other.pem").sign((path / "release.json").read_bytes())
    (path / "release.json.sig").write_bytes(signature)
    page.fill("#key", (made / "mine.pub").read_text())
    rows = examined(page, path)
    assert rows[0][0] == "BROKEN"
    assert "somebody else signed it" in rows[0][2]
    assert "It is somebody else's, or was changed." in summary(page)
    page.set_input_files("#key-file", made / "other.pub")
    page.wait_for_selector("#summary[data-state=holds]")


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("", "the public key of who released it is needed"),
        ("mine.pem", "this is a private key"),
        ("study.toml", "this is no public key of Ed25519 as PEM"),
    ],
)
def test_without_a_public_key_a_signature_is_not_examined(page, made, key, why):
    page.fill("#key", (made / key).read_text() if key else "")
    row = examined(page, made / "out")[0]
    assert row[:2] == ["not examined", "signature"]
    assert why in row[2]
    assert summary(page) == "Nothing is broken, and not everything could be examined."


def test_a_release_that_is_not_signed(page, made, tmp_path):
    path = copied(made / "out", tmp_path)
    (path / "release.json.sig").unlink()
    examined(page, path)
    assert summary(page) == (
        "The release keeps its promises. It is not signed: who released it is not known."
    )
    page.fill("#key", (made / "mine.pub").read_text())
    assert examined(page, path)[0][:2] == ["BROKEN", "signature"]


# Whoever reads it


def test_it_is_worked_by_keys_and_seen_in_light_and_dark(page, inside, made):
    page.focus("#folder")
    reached = []
    for _ in range(5):
        reached.append(page.evaluate("() => document.activeElement.id"))
        page.keyboard.press("Tab")
    assert reached == ["folder", "files", "key-file", "key", "examine"]
    for scheme in ("light", "dark"):
        inside.emulate_media(color_scheme=scheme)
        examined(inside, made / "out")
        require_seen_well(inside)


def test_it_stops_and_begins_again(page, made):
    examined(page, made / "out")
    page.click("#examine")
    page.wait_for_selector("#summary[data-state]")
    assert page.is_disabled("#stop")


# Hostile releases


def test_labels_that_are_html_are_texts(page, made, tmp_path):
    """Nor does a key of the object model, nor a name of ours, become anything."""
    path = copied(made / "out", tmp_path)
    header, rows = header_and_rows(path / "released.csv")
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    rows[0][0] = evil
    with (path / "released.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    manifest = public_in(path)
    manifest["privacy"].append({**manifest["privacy"][0], "model": evil, "attribute": "__proto__"})
    manifest["privacy"].append({**manifest["privacy"][0], "model": "constructor"})
    manifest["privacy"].append({**manifest["privacy"][0], "model": "signature", "parameters": {}})
    written(path, manifest)
    shown = examined(page, path)
    assert [row[0] for row in shown[-3:]] == 3 * ["not examined"]
    assert any(evil in row[3] for row in shown)
    assert page.locator("#rows img, #rows script").count() == 0
    assert "Do not rely" in summary(page)


HOSTILE = [
    '{"k": 1e999}', '{"k": "4"}', '{"k": null}', '{"k": true}', '{"k": 0}', '{"k": [4]}', "{}",
    '{"k": 4, "__proto__": {"k": 1}}', '{"k": 4, "odds": 2}', '{"__proto__": {"k": 4}}', "null",
]  # fmt: skip


@pytest.mark.parametrize("parameters", HOSTILE)
def test_a_parameter_that_no_model_has(page, made, tmp_path, parameters):
    path = copied(made / "out", tmp_path)
    manifest = public_in(path)
    manifest["privacy"] = [{**manifest["privacy"][0], "parameters": "HERE"}]
    text = json.dumps(manifest).replace('"HERE"', parameters)
    (path / "release.json").write_text(text)
    (path / "release.json.sig").unlink()
    assert examined(page, path)[-1][0] == "not examined"


@pytest.mark.parametrize(
    "changed",
    [
        {"person": ["name"]},
        {"person_numbers": "note"},
        {"items": {"disease": " "}},
        {"columns": ";,"},
        {"columns": '"'},
    ],
)
def test_of_whom_it_is_and_how_it_is_read(page, made, tmp_path, changed):
    path = copied(made / "out", tmp_path)
    manifest = public_in(path)
    if "columns" in changed:
        changed = {"columns": {**manifest["columns"], "separator": changed["columns"]}}
    (path / "release.json").write_text(json.dumps(manifest | changed))
    (path / "release.json.sig").unlink()
    assert examined(page, path)[-1][0] == "not examined"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + b"\n",
        lambda text: text + b'"',
        lambda text: text.replace(b"\n", b",1\n", 2),
        lambda text: text[:-2] + b"\xff\n",
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text + b'"' + b"x" * 2_000_000 + b'",b,c,d,e\n',
        lambda text: b"",
        lambda text: text.replace(b"disease", b"age", 1),
    ],
)
def test_a_table_that_cannot_be_read(page, made, tmp_path, change):
    path = copied(made / "out", tmp_path)
    table = path / "released.csv"
    table.write_bytes(change(table.read_bytes()))
    written(path, public_in(path))
    (path / "release.json.sig").unlink()
    states = {row[0] for row in examined(page, path)}
    assert states - {"holds"}
    assert summary(page)[:9] in ("Nothing i", "Do not re")


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", "[" * 100_000, '{"table": 1}'])
def test_a_manifest_that_is_none(page, made, tmp_path, content):
    path = copied(made / "out", tmp_path)
    (path / "release.json").write_text(content)
    (path / "release.json.sig").unlink()
    rows = examined(page, path)
    assert [row[:2] for row in rows] == [["not examined", "the rest"]]


def test_parquet_is_said_not_to_be_read(page, tmp_path):
    rows = examined(page, release_of(KINDS["full-domain of parquet"], tmp_path))
    assert [row[0] for row in rows] == ["holds", "not examined"]
    assert "only CSV is read here" in rows[1][2]


# Against other readers


@settings(max_examples=at_length(20, 500), deadline=None)
@given(sizes=st.lists(st.integers(0, 200), max_size=5))
def test_the_digest_of_a_stream(inside, sizes):
    chunks = [bytes(i % 251 for i in range(size)) for size in sizes]
    found = inside.evaluate(
        """(chunks) => {
          const sha = new Sha256();
          for (const chunk of chunks) sha.update(Uint8Array.from(chunk));
          return sha.digest();
        }""",
        [list(chunk) for chunk in chunks],
    )
    assert found == hashlib.sha256(b"".join(chunks)).hexdigest()


@settings(max_examples=at_length(40, 2000), deadline=None)
@given(
    parts=st.lists(st.text('a",\r\n\u00e9\x00', max_size=8), max_size=4),
)
def test_records_are_those_of_another_reader(inside, parts):
    """In whichever chunks they come; where either refuses them, both do."""
    text = "".join(parts)
    found = inside.evaluate(
        """(parts) => {
          const rows = [];
          try {
            const csv = new Csv(",", (fields) => rows.push(fields));
            for (const part of parts) csv.feed(part);
            csv.close();
          } catch (error) { return null; }
          return rows;
        }""",
        parts,
    )
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""), strict=True)]
    except csv.Error:
        assert found is None
        return
    assert found == (None if [] in rows else rows)


def test_the_models_are_those_of_the_statements(inside):
    assert {*inside.evaluate("() => [...MODELS.keys()]")} == {*OF_SIZES, *OF_VALUES}


def test_values_that_may_be_one_are_those_of_the_script(inside):
    """Of many pairs the page and ``verify.py`` say the same."""
    from release.test_verifiers import VERIFY

    rng = random.Random(1)
    words = ["1", "flu", "HIV", "1.5", "NA", "true", "2020-01-01", "10:00", "é", "a&b", "x y", "-0"]
    words += [spelled(word) for word in words for spelled in SPELLINGS]
    words += ["".join(rng.choices("aA1.0-+e /:_'\"<>é\u200b\u041d", k=4)) for _ in range(60)]
    pairs = [*combinations(dict.fromkeys(words), 2)]
    found = inside.evaluate("(pairs) => pairs.map((pair) => spelledApart(new Set(pair)))", pairs)
    assert found == [VERIFY.spelled_apart({*pair}) for pair in pairs]
    assert 0 < sum(found) < len(found)


def test_changed_releases_are_told_as_the_library_tells_them(page, tmp_path):
    rng, seen, made = random.Random(8), [], {}
    kinds = [*(BY_LONG if LONG else BY_SHORT[3:]), "every model"]
    for number in range(at_length(6, 1000)):
        kind = kinds[number % len(kinds)]
        place = tmp_path / f"of {kind}"
        if kind not in made:
            place.mkdir()
            every = kind == "every model"
            made[kind] = of_every_model(place) if every else release_of(KINDS[kind], place)
        path = tampered(made[kind], tmp_path / str(number), rng)
        found = mended(path)
        rows = examined(page, path)
        states = [STATES[row[0]] for row in rows]
        if found is None:
            assert not all(states)
        else:
            theirs = states[-len(found.verdicts) :]
            for verdict, its in zip(found.verdicts, theirs, strict=True):
                assert its in (verdict.satisfied, None), (kind, verdict)
            seen += theirs
        shutil.rmtree(tmp_path / str(number))
    assert seen.count(True) > 0
    assert seen.count(False) > 0
