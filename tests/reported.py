"""The numbers of a page about a release, each of which has to be one of its manifest or table."""

import re
from collections.abc import Iterator
from dataclasses import astuple
from datetime import UTC, datetime
from functools import cache
from math import log2

import numpy as np

from anonymizer.feedback.words import FORMS
from anonymizer.report.page.evidence import Evidence

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
NAMES = re.compile(r"I1|I2|SHA-256|sha256sum|[Ll]evel 0|1 in |a 0/1")
"""What has a digit in its name."""


def leaves(content: object) -> Iterator[object]:
    """All values in a content of JSON, and how many a list has."""
    if isinstance(content, list | dict):
        yield len(content)
        for each in content.values() if isinstance(content, dict) else content:
            yield from leaves(each)
        yield from content if isinstance(content, dict) else ()
    else:
        yield content


def sources(evidence: Evidence) -> Iterator[object]:
    """What a number of a page may be: of the manifest, or counted again from the table."""
    yield from leaves(evidence.manifest.to_dict())
    sizes = evidence.sizes
    yield from np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1], method="lower")
    yield from (len(sizes), evidence.released, sizes @ sizes, sizes.mean(), (sizes == 1).sum())
    yield from (1 / sizes[0], len(sizes) / sizes.sum(), (sizes == 1).sum() / sizes.sum())
    yield (sizes == sizes[0]).sum() * sizes[0]
    for each in (*evidence.disclosures, *evidence.attributes):
        yield from astuple(each)[1:]
    yield from (each.hidden / evidence.released for each in evidence.attributes)
    yield from (evidence.checks.total(), *evidence.checks.values())
    manifest = evidence.manifest
    least = [log2(each.parameters.get("l", 1)) for each in manifest.privacy]
    yield from (each.uncertainty - bits for each in evidence.disclosures for bits in least)
    yield (manifest.suppressed or 0) / (manifest.records or 1)


@cache
def known(evidence: Evidence) -> set[str]:
    """Every way to write these."""
    found = set()
    for each in sources(evidence):
        if isinstance(each, str):
            found |= {*NUMBER.findall(each)}
        elif each is not None and not isinstance(each, bool):
            for form in FORMS.values():
                with np.errstate(over="ignore"):
                    try:
                        found |= {*NUMBER.findall(form(float(each)))}
                    except OverflowError:  # no page shows 2^100,000
                        continue
    return found


def unknown(text: str, evidence: Evidence) -> set[str]:
    """The numbers of a text that are of neither source."""
    digest = re.compile(r"[0-9a-f]{64}")
    written = (evidence.folder / "release.json").stat().st_mtime
    day = datetime.fromtimestamp(written, UTC).strftime("%Y-%m-%d")
    plain = NAMES.sub("", digest.sub("", text)).replace(day, "")
    return {*NUMBER.findall(plain)} - known(evidence)
