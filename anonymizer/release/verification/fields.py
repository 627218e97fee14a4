"""Every field of a manifest, and how it is checked, or why it cannot be."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from anonymizer.release.verification.check import CONSISTENT, RECOMPUTED, STUDY, UNCHECKED

__all__ = ["FIELDS", "Treatment", "leaves", "treatment_of"]

Path = tuple[str | int, ...]
"""A place in a manifest: keys, and numbers of places in lists."""

RAW = "the raw table would be needed"
SEARCH = "how a search went does not show in a table"
UNIT = "the objective is about levels and the raw table, which would be needed"
WORDS = "it says how the release was made, which no table shows"
HIERARCHY = "the hierarchies would be needed; give the study of the release with --study"
FINGERPRINT = "it is a digest of the study; give the study of the release with --study"
LONG = "they stand for a list of values that is too long for a manifest"
CELLS = "they say what a spreadsheet would do, nothing about the records"
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
    **_treated(STUDY, "recoding.*.*.values.* recoding.*.*.group", HIERARCHY),
    **_treated(UNCHECKED, "recoding.*.*.listed recoding.*.*.sha256", LONG),
    **_treated(UNCHECKED, "spreadsheet.**", CELLS),
    **_treated(RECOMPUTED, "privacy.*.model privacy.*.attribute privacy.*.worst"),
    **_treated(RECOMPUTED, "privacy.*.violating_classes privacy.*.satisfied"),
    **_treated(STUDY, "privacy.*.parameters.**", "what was required only the study can tell"),
    **_treated(RECOMPUTED, "search.value"),
    **_treated(CONSISTENT, "search.gap search.bound search.proven search.objective"),
    **_treated(UNCHECKED, "search.strategy search.nodes search.checked", SEARCH),
    **_treated(UNCHECKED, "search.feasible search.minimal.** search.refinements", SEARCH),
    **_treated(STUDY, "study.fingerprint", FINGERPRINT),
    **_treated(UNCHECKED, "versions.*", WORDS),
    **_treated(RECOMPUTED, "warnings.**"),
    **_treated(RECOMPUTED, "masking.realised.*.*"),
    **_treated(CONSISTENT, "masking.attributes.* masking.distortion.* masking.scale.*"),
    **_treated(CONSISTENT, "masking.withheld masking.epsilon masking.method"),
    **_treated(UNCHECKED, "masking.margin", WORDS),
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

UNKNOWN = Treatment(UNCHECKED, "this version does not know them")
OTHERS = "fields of other names"
TOPS = frozenset(pattern.partition(".")[0] for pattern in FIELDS)


def treatment_of(path: Path) -> tuple[str, Treatment]:
    """The pattern in ``FIELDS`` that a place of a manifest has, and how it is checked."""
    if path[0] not in TOPS:
        return OTHERS, UNKNOWN
    keys = tuple("*" if isinstance(key, int) else key for key in path)
    return _treatment_of(keys)


@lru_cache(maxsize=1024)  # lists of a manifest have many places that are treated alike
def _treatment_of(keys: tuple[str, ...]) -> tuple[str, Treatment]:
    for pattern, treatment in FIELDS.items():
        if _fits(keys, tuple(pattern.split("."))):
            return pattern, treatment
    return ".".join(keys), UNKNOWN


def leaves(content: Any, path: Path = ()) -> Iterator[Path]:
    """The places of all numbers, texts, truths and nulls in a content of JSON."""
    parts: Iterable[tuple[str | int, Any]] = ()
    if isinstance(content, Mapping):
        parts = content.items()
    elif isinstance(content, list):
        parts = enumerate(content)
    else:
        yield path
    for key, part in parts:
        yield from leaves(part, (*path, key))


def _fits(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if pattern[-1] == "**":
        head = pattern[:-1]
        return len(path) >= len(head) and _fits(path[: len(head)], head)
    return len(path) == len(pattern) and all(
        wanted in ("*", key) for key, wanted in zip(path, pattern, strict=True)
    )
