"""Signed releases: what a key proves, and what becomes of a signature when a release changes."""

import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from releases import copied

from anonymizer import InputError, verify_release
from anonymizer.cli import main
from anonymizer.release.publish import publish
from anonymizer.release.signing import (
    PrivateKey,
    PublicKey,
    fingerprint_of,
    make_keys,
    sign_release,
)
from anonymizer.release.study import Study

STUDY = """\
[data]
path = "people.csv"
[quasi-identifiers]
age = { widths = [10, 50] }
[sensitive]
attributes = ["ill"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "k-anonymity"
k = 4
"""


@pytest.fixture(scope="module")
def laid(tmp_path_factory):
    """A study, its table, and the keys of two people, of which each test has a copy."""
    laid = tmp_path_factory.mktemp("laid")
    rows = [(f"p{i}", 20 + i % 20, ["flu", "cold"][i * i % 3 % 2]) for i in range(40)]
    pd.DataFrame(rows, columns=["name", "age", "ill"]).to_csv(laid / "people.csv", index=False)
    (laid / "study.toml").write_text(STUDY)
    for name in ("mine", "other"):
        make_keys(laid / f"{name}.pem", laid / f"{name}.pub")
    return laid


@pytest.fixture
def place(laid, tmp_path):
    return shutil.copytree(laid, tmp_path, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def made(laid, tmp_path_factory):
    """A signed release, of which each test has a copy."""
    out = tmp_path_factory.mktemp("made") / "out"
    publish(Study(laid / "study.toml"), out, key=PrivateKey.read(laid / "mine.pem"))
    return out


@pytest.fixture
def signed(made, place):
    return copied(made, place)


# What a key proves


@pytest.mark.parametrize("key", ["mine.pem", "mine.pub"])
def test_a_signed_release_holds_by_either_key_of_the_pair(run, place, signed, key):
    code, out, err = run("verify", signed, "--key", place / key)
    assert (code, err) == (0, "")
    assert PublicKey.read(place / "mine.pub").fingerprint in out


@pytest.mark.skipif(sys.platform == "win32", reason="no openssl there")
def test_openssl_makes_keys_and_checks_signatures(place, signed):
    def openssl(*arguments):
        done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, check=False)
        return done.returncode, done.stdout

    files = ("-in", signed / "release.json", "-sigfile", signed / "release.json.sig")
    check = ("pkeyutl", "-verify", "-pubin", "-rawin", *files, "-inkey")
    assert openssl(*check, place / "mine.pub")[0] == 0
    assert openssl(*check, place / "other.pub")[0] != 0
    made = place / "made.pem"
    assert openssl("genpkey", "-algorithm", "ed25519", "-out", made)[0] == 0
    public = openssl("pkey", "-in", made, "-pubout")[1]
    (place / "made.pub").write_bytes(public)
    sign_release(signed, PrivateKey.read(made), force=True)
    assert verify_release(signed, key=place / "made.pub").satisfied


def another(path):
    """A change of a file that leaves it readable."""
    text = path.read_text()
    path.write_text(text.replace('"records": 40', '"records":  40').replace("flu", "cold", 1))


CHANGES = {
    "the manifest, by a blank": (
        lambda out: another(out / "release.json"),
        "signature: the key (sha256:",
    ),
    "the table": (lambda out: another(out / "released.csv"), "table.sha256: the table was changed"),
    "no signature": (
        lambda out: (out / "release.json.sig").unlink(),
        "signed nothing here: there is no release.json.sig",
    ),
    "a truncated signature": (
        lambda out: os.truncate(out / "release.json.sig", 63),
        "release.json.sig is damaged, 63 bytes of 64",
    ),
    "an endless signature": (
        lambda out: os.truncate(out / "release.json.sig", 2**40),
        "release.json.sig is damaged, more than 64 bytes of 64",
    ),
    "a signature of zeros": (
        lambda out: (out / "release.json.sig").write_bytes(bytes(64)),
        "did not sign this release.json: it was changed, or somebody else signed it",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_hold_is_one_line_and_exit_code_1(run, place, signed, change):
    before = PublicKey.read(place / "mine.pub").fingerprint
    act, message = CHANGES[change]
    act(signed)
    code, out, err = run("verify", signed, "--key", place / "mine.pub")
    assert (code, err) == (1, "")
    assert message in " ".join(out.split())
    assert before in out


def test_the_key_and_the_signature_of_somebody_else(run, place, signed):
    assert run("verify", signed, "--key", place / "other.pub")[0] == 1
    publish(Study(place / "study.toml"), place / "two", key=PrivateKey.read(place / "other.pem"))
    (signed / "release.json.sig").write_bytes((place / "two" / "release.json.sig").read_bytes())
    for key in ("mine.pub", "other.pub"):
        code, out, _ = run("verify", signed, "--key", place / key)
        assert (code, "did not sign this release.json" in " ".join(out.split())) == (1, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the key .*no.pem: No such file"),
        ("mine", "holds no key: it is no PEM file"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "holds no key that can"),
        ("-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n", "holds no key that can"),
        ("x" * 70_000, "more than 65,536 bytes; ANONYMIZER_MAX_KEY"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
    ],
)
def test_what_is_no_key_is_exit_code_2(run, place, signed, content, message):
    path = place / "no.pem"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run("verify", signed, "--key", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    with pytest.raises(InputError, match=message):
        PublicKey.read(path)


def test_a_key_of_another_kind(place):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    key = X25519PrivateKey.generate()
    pem, open_ = form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo
    (place / "x.pem").write_bytes(
        key.private_bytes(pem, form.PrivateFormat.PKCS8, form.NoEncryption())
    )
    (place / "x.pub").write_bytes(key.public_key().public_bytes(pem, open_))
    for name in ("x.pem", "x.pub"):
        with pytest.raises(InputError, match="another kind: releases are signed by Ed25519"):
            PublicKey.read(place / name)
    with pytest.raises(InputError, match="holds no private key"):
        PrivateKey.read(place / "mine.pub")


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_what_is_no_file_is_refused_and_links_are_followed(run, place, signed):
    sig = signed / "release.json.sig"
    sig.rename(place / "elsewhere")
    sig.symlink_to(place / "elsewhere")
    assert run("verify", signed, "--key", place / "mine.pub")[0] == 0
    sig.unlink()
    os.mkfifo(sig)
    code, _, err = run("verify", signed, "--key", place / "mine.pub")
    assert code == 2
    assert "release.json.sig: it is a pipe, not a file" in err
    code, _, err = run("verify", signed, "--key", "/dev/zero")
    assert code == 2
    assert "it is a device, not a file" in err


def test_a_table_without_a_manifest_cannot_be_signed_or_held_against_a_key(run, place, signed):
    (place / "t.csv").write_bytes((signed / "released.csv").read_bytes())
    study = place / "study.toml"
    code, _, err = run("verify", place / "t.csv", "-s", study, "--key", place / "mine.pub")
    assert (code, "which a signature would be about" in err) == (2, True)
    code, _, err = run("sign", place, "--key", place / "mine.pem")
    assert (code, "only a release can be signed" in err) == (2, True)


# Keys


def test_a_pair_of_keys_is_made_for_its_owner_and_never_replaced(run, tmp_path):
    code, out, err = run("keys", tmp_path / "steward")
    private, public = tmp_path / "steward.private.pem", tmp_path / "steward.public.pem"
    assert (code, err) == (0, "")
    assert private.stat().st_mode & 0o777 == 0o600
    assert PublicKey.read(public).fingerprint == PublicKey.read(private).fingerprint
    assert PublicKey.read(public).fingerprint in out
    private.unlink()
    before = public.read_bytes()
    code, _, err = run("keys", tmp_path / "steward")
    assert (code, "keys are never replaced" in err) == (2, True)
    assert not private.exists()
    assert public.read_bytes() == before


def test_an_encrypted_key_needs_its_passphrase(tmp_path, monkeypatch):
    monkeypatch.setenv("ANONYMIZER_KEY_PASSPHRASE", "correct horse")
    make_keys(tmp_path / "a.pem", tmp_path / "a.pub")
    assert "ENCRYPTED" in (tmp_path / "a.pem").read_text()
    found = PrivateKey.read(tmp_path / "a.pem").public.fingerprint
    assert found == PublicKey.read(tmp_path / "a.pub").fingerprint
    monkeypatch.setenv("ANONYMIZER_KEY_PASSPHRASE", "wrong")
    with pytest.raises(InputError, match="or ANONYMIZER_KEY_PASSPHRASE is not its passphrase"):
        PrivateKey.read(tmp_path / "a.pem")
    monkeypatch.delenv("ANONYMIZER_KEY_PASSPHRASE")
    with pytest.raises(InputError, match="is encrypted: put its passphrase into the environment"):
        PrivateKey.read(tmp_path / "a.pem")


def test_without_cryptography_it_is_said_what_to_install(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(InputError, match=r"pip install '\.\[signing\]'"):
        PublicKey.read(place / "mine.pub")


# A signature and its release


def test_a_stale_signature_never_stays_next_to_a_replaced_release(place, signed):
    before = (signed / "release.json.sig").read_bytes()
    publish(Study(place / "study.toml"), signed, force=True)
    assert sorted(path.name for path in signed.iterdir()) == ["release.json", "released.csv"]
    (signed / "notes.txt").write_text("mine")  # then files change by name
    publish(
        Study(place / "study.toml"), signed, force=True, key=PrivateKey.read(place / "mine.pem")
    )
    assert (signed / "release.json.sig").read_bytes() != before or verify_release(
        signed, key=place / "mine.pub"
    ).satisfied
    publish(Study(place / "study.toml"), signed, force=True)
    assert not (signed / "release.json.sig").exists()


def test_a_release_is_signed_later(run, place):
    publish(Study(place / "study.toml"), place / "out")
    out = place / "out"
    for target in (out, out / "released.csv"):
        code, said, err = run("sign", target, "--key", place / "mine.pem")
        assert (code, err) == (0, "")
        assert "release.json.sig is the signature by sha256:" in " ".join(said.split())
    assert verify_release(out, key=place / "mine.pub").satisfied
    code, _, err = run("sign", out, "--key", place / "other.pem")
    assert (code, "--force replaces it" in err) == (2, True)
    assert run("sign", out, "--key", place / "other.pem", "--force")[0] == 0
    assert verify_release(out, key=place / "other.pub").satisfied
    another(out / "released.csv")
    code, _, err = run("sign", out, "--key", place / "mine.pem", "--force")
    assert (code, "it was changed after it was released" in err) == (2, True)
    assert not [path for path in place.iterdir() if path.name.startswith(".")]


def test_a_foreign_file_of_its_name_is_not_replaced(place):
    (place / "out").mkdir()
    (place / "out" / "release.json.sig").write_text("mine")
    with pytest.raises(InputError, match="is no part of a release of ours"):
        publish(Study(place / "study.toml"), place / "out", force=True)
    assert (place / "out" / "release.json.sig").read_text() == "mine"


# The fingerprint of the original


def test_the_original_is_recognised_whatever_its_order_and_types(run, place, signed):
    table = pd.read_csv(place / "people.csv")
    shuffled = table.sample(frac=1, random_state=3)[["ill", "age"]]
    shuffled.assign(age=shuffled["age"].astype(float)).to_parquet(place / "again.parquet")
    shuffled.astype(str).to_csv(place / "again.csv", index=False, sep=";")
    key = place / "mine.pem"
    for name in ("people.csv", "again.parquet", "again.csv"):
        code, out, _ = run("verify", signed, "--key", key, "--original", place / name)
        assert code == 0, out
    table.loc[0, "age"] += 1
    table.to_csv(place / "again.csv", index=False)
    code, out, _ = run("verify", signed, "--key", key, "--original", place / "again.csv")
    assert code == 1
    assert "input.fingerprint: the original is another table" in " ".join(out.split())


def test_the_fingerprint_needs_the_private_key_and_is_in_signed_releases_alone(run, place, signed):
    original = ("--original", place / "people.csv")
    code, _, err = run("verify", signed, *original, "--key", place / "mine.pub")
    assert (code, "holds no private key" in err) == (2, True)
    code, _, err = run("verify", signed, *original)
    assert (code, "needs the private key" in err) == (2, True)
    publish(Study(place / "study.toml"), place / "two")
    assert '"input"' not in (place / "two" / "release.json").read_text()
    sign_release(place / "two", PrivateKey.read(place / "mine.pem"))
    code, _, err = run("verify", place / "two", *original, "--key", place / "mine.pem")
    assert (code, "has no fingerprint of its original" in err) == (2, True)


def test_a_differentially_private_release_has_no_fingerprint(place):
    text = STUDY.replace(
        '"k-anonymity"\nk = 4', '"differential-privacy"\nepsilon = 2\ndelta = 0.01'
    )
    text = text.replace('attributes = ["ill"]', "attributes = []")
    text = text.replace('attributes = ["name"]', 'attributes = ["name", "ill"]')
    pd.concat([pd.read_csv(place / "people.csv")] * 6).to_csv(place / "people.csv", index=False)
    (place / "study.toml").write_text(text + '[recoding]\nmethod = "safepub"\nlevels = {age = 2}\n')
    publish(Study(place / "study.toml"), place / "out", key=PrivateKey.read(place / "mine.pem"))
    assert '"input"' not in (place / "out" / "release.json").read_text()
    assert verify_release(place / "out", key=place / "mine.pub").satisfied


def test_a_fingerprint_by_hand():
    """HMAC-SHA256 under the key "k" of three lines: names, two combinations with their sizes."""
    import hashlib
    import hmac

    table = pd.DataFrame({"b": ["x", "x", None], "a": [1.5, 1.5, 2]})
    text = '["a", "b"]\n["1.5", "x", 2]\n["2", null, 1]'
    expected = hmac.new(b"k", text.encode(), hashlib.sha256).hexdigest()
    assert fingerprint_of(table, ["b", "a"], b"k") == f"hmac-sha256:{expected}"
    assert fingerprint_of(table, ["b", "a"], b"l") != f"hmac-sha256:{expected}"


# Which release a signature is of


@pytest.fixture(scope="module")
def series(laid, tmp_path_factory):
    """Three signed releases of a series, of which each test has a copy."""
    made = tmp_path_factory.mktemp("series")
    for month, after in ((9, ()), (10, ("--after", "9/released.csv")), (11, ("--after", 10))):
        named = after and (after[0], made / str(after[1]))
        command = (
            *("run", laid / "study.toml", "-o", made / str(month), "--sign", laid / "mine.pem"),
            *("--period", f"2026-{month}", *(named or ("--as", "ill"))),
        )
        with pytest.raises(SystemExit) as stop:
            main([*map(str, command)])
        assert stop.value.code == 0
    return made


@pytest.fixture
def months(series, place):
    return shutil.copytree(series, place, dirs_exist_ok=True)


def test_a_signature_says_which_release_of_a_series_it_is(run, months):
    key = ("--key", months / "mine.pub")
    code, out, _ = run("verify", months / "11", *key, "--of", "ill", "--period", "2026-11")
    assert code == 0
    assert "as 'ill', '2026-11', number 3 of the series." in out
    code, out, _ = run("verify", months / "11", *key, "--after", months / "10" / "released.csv")
    assert (code, "The release is what its manifest says." in out) == (0, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("--of", "visits"),
            "series.name: the manifest says 'ill', the key has to be that",
        ),
        (("--period", "2026-11"), "series.period: the manifest says '2026-10', the key"),
        (("--after", "10"), "series.after: the manifest says"),
    ],
)
def test_october_does_not_pass_as_november(run, months, given, said):
    option, value = given
    value = months / value if option == "--after" else value
    code, out, _ = run("verify", months / "10", "--key", months / "mine.pub", option, value)
    assert code == 1
    assert said in out


def test_a_release_that_is_of_no_series_is_not_one_of_it(run, place, signed):
    code, out, _ = run("verify", signed, "--key", place / "mine.pub", "--of", "ill")
    assert code == 1
    assert "series.name: the manifest says nothing, the key has to be that of 'ill'" in out
    assert (
        "which does not say which release it is"
        in run("verify", signed, "--key", place / "mine.pub")[1]
    )


def test_a_series_that_was_changed_is_not_signed(run, months):
    manifest = months / "10" / "release.json"
    manifest.write_text(manifest.read_text().replace("2026-10", "2026-11"))
    code, out, _ = run("verify", months / "10", "--key", months / "mine.pub", "--of", "ill")
    assert code == 1
    assert "did not sign this release.json" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--as", "ill"), "which release it is only a signature says: give a key with --sign"),
        (("--sign", "mine.pem", "--period", "May"), "a period is that of a series: give its name"),
        (("--sign", "other.pem", "--after", "9"), "is not signed by this key"),
        (("--sign", "mine.pem", "--after", "9", "--as", "sick"), "is of the series 'ill', not"),
        (("--sign", "mine.pem", "--after", "out"), "is of no series; leave --after out"),
        (("--sign", "mine.pem", "--as", ""), "are called by 1 to 200 characters"),
        (("--sign", "mine.pem", "--as", "x" * 201), "are called by 1 to 200 characters"),
        (("--sign", "mine.pem", "--as", "ill", "--period", ""), "called by 1 to 200 characters"),
    ],
)
def test_what_cannot_be_signed_as_one_of_a_series(run, months, signed, options, message):
    paths = [months / o if o and (months / o).exists() else o for o in options]
    code, _, err = run("run", months / "study.toml", "-o", months / "new", *paths)
    assert code == 2
    assert message in err
    assert not (months / "new").exists()


def test_a_series_needs_the_key_that_signed(run, months):
    code, _, err = run("verify", months / "10", "--of", "ill")
    assert code == 2
    assert "only a signature says which release it is: give the key with --key" in err
    assert "series" in run("verify", months / "10")[1].partition("Not checked: ")[2]


def test_files_that_do_not_belong_to_a_release_are_named(run, place, signed):
    (signed / "old.csv").write_text("a\n1\n")
    code, out, _ = run("verify", signed, "--key", place / "mine.pub")
    assert code == 0
    assert "the manifest does not know what lies next to it: 'old.csv'" in out
