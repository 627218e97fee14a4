"""What a manifest holds, the form that it has, and the JSON Schema of that form."""

import copy
import json
import re

import jsonschema
import pytest
from pydantic import ValidationError
from releases import copied, header_and_rows, manifest_in, rewritten

from anonymizer import InputError, verify_release
from anonymizer.release.manifest.groups import Group
from anonymizer.release.manifest.schema import SHIPPED, schema, schema_text

VALIDATOR = jsonschema.Draft202012Validator(json.loads(SHIPPED.read_text(encoding="utf-8")))


# The schema


def test_the_schema_of_the_package_is_made_from_the_fields():
    """``python -m anonymizer.release.manifest.schema`` writes it anew."""
    assert SHIPPED.read_text(encoding="utf-8") == schema_text()
    VALIDATOR.check_schema(VALIDATOR.schema)


def test_every_field_of_the_schema_is_described_and_typed():
    parts = {"Manifest": schema(), **schema()["$defs"]}
    for part, content in parts.items():
        for name, field in content["properties"].items():
            assert {"description", "$ref"} & {*field}, (part, name)
            assert {"type", "$ref", "anyOf", "const", "enum"} & {*field}, (part, name)


@pytest.mark.parametrize(
    "kind",
    [
        *("full-domain", "suppressed and kept", "removed, by discernibility", "best", "cut"),
        *("ranges and groups", "boxes", "merged-cells", "masked codes", "kept values"),
        *("pram", "pram, withheld", "noise", "differential privacy", "no sensitive attribute"),
        *("targets", "missing and dropped", "population", "full-domain of parquet"),
    ],
)
def test_manifests_of_every_recoding_are_of_the_schema(release, kind):
    VALIDATOR.validate(manifest_in(release(kind)))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("information", "retained"), "much"),
        (("query_loss", "average"), None),
        (("warnings",), [{"code": 3}]),
        (("objective", "weights"), {"disease": "2"}),
        (("table", "columns"), "age"),
        (("table", "missing"), {"age": -1}),
        (("targets",), {"income": {}}),
        (("seeds", "drawing"), 5),
        (("records",), 1.5),
        (("format",), 3),
    ],
)
def test_what_is_of_another_type_is_neither_of_the_schema_nor_read(release, tmp_path, place, value):
    path = copied(release("full-domain"), tmp_path)
    manifest = copy.deepcopy(manifest_in(path))
    part = manifest
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    assert not VALIDATOR.is_valid(manifest)
    rewritten(path, manifest)
    with pytest.raises(InputError, match=r"is damaged|later version"):
        verify_release(path)


# The format


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, r"was written by a later version \(format 3, this version reads 2\): update"),
        (10**250, "format a number too large"),
        (None, "it has no format;"),
        (0, r"is damaged: .* \(format\)"),
        ("1", r"is damaged: .* \(format\)"),
        (True, r"is damaged: .* \(format\)"),
    ],
)
def test_a_manifest_of_another_format_is_refused_by_name(release, tmp_path, given, said):
    path = copied(release("full-domain"), tmp_path)
    manifest = manifest_in(path) | {"format": given, "records": "unlike any before"}
    if given is None:
        del manifest["format"]
    rewritten(path, manifest)
    with pytest.raises(InputError, match=said):
        verify_release(path)


# What is there


def test_a_manifest_says_what_was_requested_found_missing_and_suppressed(release):
    """Suppressed are those with * in both columns; some miss a job or a disease by their place."""
    kept = manifest_in(release("suppressed and kept"))
    assert (kept["format"], kept["seeds"]) == (2, {"search": 0, "drawing": "none"})
    header, rows = header_and_rows(release("suppressed and kept") / "released.csv")
    stars = sum(row[header.index("age")] == row[header.index("job")] == "*" for row in rows)
    assert (kept["suppressed"], kept["suppressed_class"], kept["dropped"]) == (stars, "kept", 0)
    assert stars >= 5  # those whose age nobody else has
    assert kept["privacy"][0]["parameters"] == {"k": 4}
    assert {*kept["recoding"]} == {"age", "job"}
    assert all(model["satisfied"] for model in kept["privacy"])
    assert {*kept["versions"]} == {"anonymizer", "python", "numpy", "pandas"}
    assert re.fullmatch("sha256:[0-9a-f]{64}", kept["study"]["fingerprint"])
    dropped = manifest_in(release("missing and dropped"))
    lacking = sum(i % 9 == 4 or i % 8 == 5 for i in range(240))
    assert (dropped["records"], dropped["dropped"]) == (240, lacking)
    assert dropped["released"] == 240 - lacking
    category = manifest_in(release("missing as a category"))["table"]["missing"]
    diseases, jobs = (sum(i % n == rest for i in range(240)) for n, rest in ((8, 5), (9, 4)))
    assert category["disease"] == diseases
    assert category["job"] in (0, jobs)  # generalized, a missing one is *


def test_the_seed_of_what_was_drawn_is_nowhere(release):
    """The study draws with seed 1, which is in no field: whoever had it could draw again."""
    manifest = manifest_in(release("pram"))
    assert manifest["seeds"] == {"search": 0, "drawing": "withheld"}
    assert "seed" not in json.dumps(manifest["masking"])
    private = manifest_in(release("differential privacy"))
    assert private["seeds"] == {"search": None, "drawing": "withheld"}


def test_a_seed_that_was_changed_is_noticed(release, tmp_path):
    path = copied(release("pram"), tmp_path)
    manifest = manifest_in(path)
    rewritten(path, manifest | {"seeds": {"search": 0, "drawing": "none"}})
    found = [str(check) for check in verify_release(path).differences]
    assert found == ["seeds.drawing: the manifest says 'none', the rest of the manifest 'withheld'"]


def test_a_member_of_a_box_has_a_label_of_its_own_or_none_is_given():
    member = {"label": "a", "level": 1}
    assert Group.model_validate({"label": "a, b", "members": [member]}).members[0].own == "a"
    with pytest.raises(ValidationError):
        Group.model_validate({"label": "a, b", "members": [{**member, "group": None}]})
