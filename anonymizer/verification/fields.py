"""Every field of a manifest, and how it is checked, or why it cannot be."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from anonymizer.verification.check import CONSISTENT, RECOMPUTED, STUDY, UNCHECKED

__all__ = ["FIELDS", "Treatment", "leaves", "treatment_of"]

RAW = "the raw table would be needed"
SEARCH = "how a search went does not show in a table"
UNIT = "the objective is about levels and the raw table, which would be needed"
WORDS = "it says how the release was made, which no table shows"
HIERARCHY = "the hierarchies would be needed; give the study of the release with --study"
FINGERPRINT = "it is a digest of the study; give the study of the release with --study"
STATED = "only the study can tell; give the study of the release with --study"


class Treatment(NamedTuple):
    """How a field is checked, and why not where it is not."""

    how: str
    why: str = ""


def _treated(how: str, fields: str, why: str = "") -> dict[str, Treatment]:
    return dict.fromkeys(fields.split(), Treatment(how, why))


FIELDS: Mapping[str, Treatment] = {
    **_treated(RECOMPUTED, "table.file table.sha256 table.columns.* table.missing.*"),
    **_treated(RECOMPUTED, "columns.quasi_identifiers.* columns.sensitive.* columns.targets.*"),
    **_treated(RECOMPUTED, "columns.identifiers.* columns.separator other_columns.*"),
    **_treated(STUDY, "columns.missing columns.missing_values.*", STATED),
    **_treated(STUDY, "objective.weights.* objective.aggregate", STATED),
    **_treated(CONSISTENT, "objective.targets.*"),
    **_treated(CONSISTENT, "records dropped"),
    **_treated(RECOMPUTED, "released suppressed suppressed_class classes"),
    **_treated(RECOMPUTED, "query_loss.*"),
    **_treated(RECOMPUTED, "information information.retained information.miller_madow"),
    **_treated(CONSISTENT, "information.original information.shuffled"),
    **_treated(CONSISTENT, "information.retained_above_shuffled information.ceiling"),
    **_treated(CONSISTENT, "information.gap information.loss information.loss_above_shuffled"),
    **_treated(RECOMPUTED, "targets.*.retained targets.*.miller_madow"),
    **_treated(CONSISTENT, "targets.*.original targets.*.shuffled targets.*.ceiling"),
    **_treated(CONSISTENT, "targets.*.retained_above_shuffled targets.*.gap targets.*.loss"),
    **_treated(CONSISTENT, "targets.*.loss_above_shuffled"),
    **_treated(STUDY, "levels.* recoding.*.*.level", HIERARCHY),
    **_treated(RECOMPUTED, "recoding.*.*.label regions.*.*"),
    **_treated(CONSISTENT, "recoding.*.*.from recoding.*.*.to"),
    **_treated(UNCHECKED, "recoding.*.*.values.* recoding.*.*.group", RAW),
    **_treated(RECOMPUTED, "privacy.*.model privacy.*.attribute privacy.*.worst"),
    **_treated(RECOMPUTED, "privacy.*.violating_classes privacy.*.satisfied"),
    **_treated(STUDY, "privacy.*.parameters.**", "what was required only the study can tell"),
    **_treated(RECOMPUTED, "search.value"),
    **_treated(CONSISTENT, "search.gap search.bound search.proven"),
    **_treated(UNCHECKED, "search.strategy search.objective search.nodes search.checked", SEARCH),
    **_treated(UNCHECKED, "search.feasible search.minimal.** search.refinements", SEARCH),
    **_treated(STUDY, "study.fingerprint", FINGERPRINT),
    **_treated(UNCHECKED, "versions.*", WORDS),
    **_treated(UNCHECKED, "warnings.**", RAW),
    **_treated(RECOMPUTED, "masking.realised.*.*"),
    **_treated(CONSISTENT, "masking.attributes.* masking.distortion.* masking.scale.*"),
    **_treated(CONSISTENT, "masking.withheld masking.epsilon"),
    **_treated(UNCHECKED, "masking.method masking.margin", WORDS),
    **_treated(CONSISTENT, "masking.preserved masking.preserved.columns.*"),
    **_treated(UNCHECKED, "masking.preserved.mean.* masking.preserved.variance.*", RAW),
    **_treated(UNCHECKED, "masking.preserved.covariance masking.preserved.mean_kept", RAW),
    **_treated(UNCHECKED, "masking.preserved.covariance_kept", RAW),
    **_treated(RECOMPUTED, "masking.channels.*.labels.*.*"),
    **_treated(CONSISTENT, "masking.channels.*.attributes.* masking.channels.*.values.*.*"),
    **_treated(
        CONSISTENT, "masking.channels.*.rows.*.labels.* masking.channels.*.rows.*.chances.*"
    ),
    **_treated(CONSISTENT, "masking.channels.*.epsilon masking.channels.*.rank"),
    **_treated(CONSISTENT, "masking.channels.*.expected_distortion"),
    **_treated(CONSISTENT, "masking.channels.*.least_distortion"),
    **_treated(UNCHECKED, "masking.channels.*.realised_distortion", RAW),
    **_treated(UNCHECKED, "masking.channels.*.expected.*.*", RAW),
}
"""How each field is checked; ``*`` is any one key or place, ``**`` all that is below."""

UNKNOWN = Treatment(UNCHECKED, "this version does not know it")


def treatment_of(path: tuple[str, ...]) -> tuple[str, Treatment]:
    """The pattern in ``FIELDS`` that a place of a manifest has, and how it is checked."""
    for pattern, treatment in FIELDS.items():
        if _fits(path, tuple(pattern.split("."))):
            return pattern, treatment
    return ".".join(path), UNKNOWN


def leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The places of all numbers, texts, truths and nulls in a content of JSON."""
    if isinstance(content, Mapping):
        for key, part in content.items():
            yield from leaves(part, (*path, key))
    elif isinstance(content, list):
        for place, part in enumerate(content):
            yield from leaves(part, (*path, str(place)))
    else:
        yield path


def _fits(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if pattern[-1] == "**":
        head = pattern[:-1]
        return len(path) >= len(head) and _fits(path[: len(head)], head)
    return len(path) == len(pattern) and all(
        wanted in ("*", key) for key, wanted in zip(path, pattern, strict=True)
    )
