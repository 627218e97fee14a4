"""The JSON Schema of ``release.json``, for who reads a manifest without this package.

The file next to this module has it; ``python -m anonymizer.release.manifest.schema`` writes it anew
from the fields of :class:`Manifest`, after one of these was changed.
"""

import json
from pathlib import Path
from typing import Any

from anonymizer.release.manifest.manifest import FORMAT, Manifest

SHIPPED = Path(__file__).with_name("manifest.schema.json")
"""The JSON Schema that the package has."""


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a manifest, made from its fields.

    It says which fields there are, of which types and units. That they agree with each other and
    with the table is what ``verify`` checks.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:anonymizer:manifest:{FORMAT}",
        **Manifest.model_json_schema(by_alias=True),
    }


def schema_text() -> str:
    """The same as the package has it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SHIPPED.write_text(schema_text(), encoding="utf-8")
