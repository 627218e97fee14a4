"""What a study shows by itself: keys that do nothing, policies that promise little.

A finding has a lasting rule, a level, the line of the study, and a way out. Its message has no
value and no count of a raw table, so that a server may have it; ``figures`` are the steward's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, NamedTuple

from anonymizer.errors import InputError, suggestion
from anonymizer.feedback.words import plural
from anonymizer.objectives import AUTOMATIC
from anonymizer.privacy import (
    BasicBetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    PointwiseMaximalLeakage,
    PrivacyModel,
    TCloseness,
)
from anonymizer.profiling.safe_harbor import BY_LETTER, SafeHarbor
from anonymizer.release.description import MODEL
from anonymizer.release.manifest.parts import ReportedWarning
from anonymizer.release.study import Study
from anonymizer.release.warnings import WARNINGS, ReleaseWarning, policy_warnings
from anonymizer.tables.files.format import is_parquet
from anonymizer.tables.reading import KeyPath, key_lines, parsed_toml

Level = Literal["error", "warning", "note"]
"""How grave it is: an error breaks a run or a promise, a note is to be known."""

LARGE = 0.5
"""Share of suppressed records from which on a release may leave out more than it has."""

OF_CSV = ("separator", "encoding", "quote", "decimal", "thousands")
"""Keys of ``[data]`` that Parquet has no use for."""


COUNTED = "the study, or a file that it names, cannot be used"


class LintRule(NamedTuple):
    """What a rule finds, and how grave that is."""

    level: Level
    finds: str


OF_RUN = (
    "weak-policy",
    "no-sensitive-attribute",
    "constant-sensitive",
    "missing-sensitive",
    "suppressed-values",
    "nearly-unique-sensitive",
    "several-separators",
    "suppression-tells",
    "spellings-alike",
    "repeated-identifier",
    "shared-identifier",
    "identifying-values",
    "nearly-unique-column",
    "unique-together",
)
"""Warnings of releases that a study, or a raw table, shows already."""

RULES: Mapping[str, LintRule] = {
    "study-invalid": LintRule("error", "a study that cannot be carried out"),
    "key-idle": LintRule("warning", "a key of the study that does nothing"),
    "name-unknown": LintRule("error", "a key that names a column without the role that it needs"),
    "policy-k-alone": LintRule(
        "warning", "a sensitive attribute, and a policy of class sizes alone"
    ),
    "model-void": LintRule(
        "error", "a model that every class satisfies, as k = 1, l = 1 and t = 1"
    ),
    "model-implied": LintRule(
        "warning", "a model that holds wherever another one of the policy does"
    ),
    "sensitive-without-model": LintRule("warning", "a sensitive attribute that no model is about"),
    "suppression-large": LintRule("warning", f"a budget of suppression of {LARGE} or more"),
    "columns-open": LintRule("note", "a study that releases each column without a role"),
    "column-absent": LintRule("error", "a column of the study that the table has not"),
    "column-not-listed": LintRule(
        "error", "a column of the table that a study with pinned ones omits"
    ),
    "column-without-role": LintRule(
        "warning", "columns of the table that are released as they are"
    ),
    "missing-refused": LintRule("error", "missing values, which the study refuses"),
    "hierarchy-incomplete": LintRule("error", "values of the table that a hierarchy does not list"),
    "level-idle": LintRule("note", "a level of a hierarchy with the same groups as the one below"),
    "study-weaker": LintRule("warning", "a policy that promises less than the last release did"),
    "study-changed": LintRule("note", "a study that is not that of the last release"),
    "drift-column-gone": LintRule("error", "a column of the last release that the table has not"),
    "drift-column-new": LintRule("error", "a column of the table that the last release had not"),
    "drift-column-type": LintRule("error", "a column with values of another kind than last time"),
    "drift-values": LintRule(
        "error", "values that the recoding of the last release does not cover"
    ),
    "drift-classes": LintRule(
        "error", "classes that break the policy under the recoding of last time"
    ),
    "drift-shares": LintRule("warning", "values whose shares of the records moved since last time"),
    "not-examined": LintRule("note", "something that could not be examined"),
    **{code: LintRule("warning", WARNINGS[code].when) for code in OF_RUN},
    **{f"safe-harbor-{key}": LintRule("error", each.title) for key, each in BY_LETTER.items()},
}
"""Every rule by its name, which lasts."""


@dataclass(frozen=True)
class LintFinding:
    """Something that is the matter with a study or its table, by a ``rule``.

    ``message`` and ``remedy`` have no value and no count of a raw table. ``place``: the key of the
    study that is the matter. ``figures``: what the steward may read as well.
    """

    rule: str
    message: str
    remedy: str = ""
    place: KeyPath = ()
    figures: str = ""
    line: int = 1

    @property
    def level(self) -> Level:
        """How grave it is."""
        return RULES[self.rule].level

    @property
    def text(self) -> str:
        """The message and the way out."""
        return f"{self.message}; {self.remedy}" if self.remedy else self.message

    @classmethod
    def of_warning(
        cls, warning: ReleaseWarning | ReportedWarning, place: KeyPath, known: Sequence[str]
    ) -> LintFinding:
        """Make a finding of what ``run`` would warn of, without figures and names not ``known``."""
        columns = (warning.column, getattr(warning, "about", None))
        names = [repr(name) for name in columns if name in known]
        subject = f"{' and '.join(names)}: " if names else ""
        caution = WARNINGS[warning.code]
        # After the facts comes what to do; of persons it depends on the policy.
        remedy = caution.text.partition("; ")[2]
        if "{remedy}" in remedy:
            remedy = getattr(warning, "remedy", "")
        remedy = "" if "{" in remedy else remedy
        return cls(warning.code, f"{subject}{caution.when}", remedy, place, warning.message)


@dataclass(frozen=True)
class Lint:
    """What was found in a study, or a table, at a path.

    ``error``: why the study cannot be carried out, which is the only finding then.
    """

    path: Path
    findings: tuple[LintFinding, ...]
    error: InputError | None = None

    @classmethod
    def of_study(cls, path: Path, text: str, found: Iterable[LintFinding]) -> Lint:
        """Place findings in the lines of the text of a study, those of the first lines first."""
        lines = key_lines(text)
        placed = [replace(each, line=_line(lines, each.place)) for each in found]
        return cls(path, tuple(sorted(placed, key=lambda each: each.line)))

    @classmethod
    def of_error(cls, path: Path, text: str, error: InputError, *, counted: bool = False) -> Lint:
        """Place the error of a study in the lines of its text, where it is TOML.

        ``counted``: whether it may be of a table, such as a population, and have figures of that.
        """
        place = tuple(each for each in (error.section, error.key) if each)
        finding = LintFinding("study-invalid", error.problem, error.remedy, place)
        if counted:
            finding = LintFinding("study-invalid", COUNTED, "run lint where these lie", place)
        with suppress(ValueError):
            parsed_toml(text)
            return replace(cls.of_study(path, text, [finding]), error=error)
        return cls(path, (finding,), error)

    @classmethod
    def of_safe_harbor(cls, path: Path, found: SafeHarbor) -> Lint:
        """Take over what Safe Harbor wants removed of a table, and what was not examined."""
        return cls(
            path,
            (
                # The name of a column may be a value, where a file has no header.
                *(
                    LintFinding(
                        f"safe-harbor-{each.letter}",
                        f"a column has {each.identifier}: {each.why}",
                        each.remedy,
                        figures=f"column {each.column!r}",
                    )
                    for each in found.findings
                ),
                *(
                    LintFinding("not-examined", "a column", figures=f"column {name!r}: {why}")
                    for name, why in found.unexamined
                ),
            ),
        )

    def without(self, rules: Sequence[str]) -> Lint:
        """Return the findings of other rules; InputError where there is no such rule."""
        for rule in rules:
            if rule not in RULES:
                raise InputError(f"--ignore {rule} is no rule{suggestion(rule, RULES)}")
        return replace(self, findings=tuple(e for e in self.findings if e.rule not in rules))

    @property
    def broken(self) -> bool:
        """Whether there is more than notes."""
        return any(each.level != "note" for each in self.findings)

    @property
    def unexamined(self) -> bool:
        """Whether something could not be examined."""
        return any(each.rule == "not-examined" for each in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The findings as JSON has them, with the figures that are the steward's."""
        return {
            "path": str(self.path),
            "findings": [
                {
                    "rule": each.rule,
                    "level": each.level,
                    "line": each.line,
                    "message": each.text,
                    **({"figures": each.figures} if each.figures else {}),
                }
                for each in self.findings
            ],
        }


def _line(lines: Mapping[KeyPath, int], place: KeyPath) -> int:
    """Return the line of a key, or of the nearest section around it; the first without one."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def study_findings(study: Study) -> Iterator[LintFinding]:
    """Find what the study alone shows; InputError where it cannot be carried out."""
    _ = study.fingerprint, study.given, study.order  # each refuses what contradicts itself
    yield from _names(study)
    yield from _policy(study)
    for place, why in _idle(study):
        yield LintFinding("key-idle", f"{place[-1]} does nothing: {why}", "leave it out", place)
    if study.schema.insensitive is None:
        yield LintFinding(
            "columns-open",
            "a column that is added to the table is released as it is",
            'add columns = "pinned" to [data], and list what may be released in [insensitive]',
            ("data",),
        )


def _policy(study: Study) -> Iterator[LintFinding]:
    """Policies that promise little."""
    models, sensitive, private = study.privacy, study.schema.sensitive, study.recoding.private
    for warning in policy_warnings(models, study.schema.quasi_identifiers, sensitive, 0):
        yield LintFinding.of_warning(warning, ("privacy", 0), ())
    for number, model in enumerate(models):
        if model.void:
            yield LintFinding(
                "model-void",
                f"every class satisfies {_said(model)}",
                f"choose another {model.bounded_by}, or leave the model out",
                ("privacy", number, model.bounded_by),
            )
    yield from _implied(study)
    about = [model for model in models if model.sensitive]
    covered = {model.attribute for model in about if not model.void}
    covered |= {name for model in about if _covers_each(model) for name in model.attribute or ()}
    if sensitive and not about and not private:
        yield LintFinding(
            "policy-k-alone",
            "the policy counts records alone, so that all people of a class may have the same "
            f"value of {sensitive[0]!r}",
            "add a model about sensitive values, such as t-closeness or entropy-l-diversity",
            ("privacy", 0),
        )
    for name in sensitive if about and None not in covered else ():
        if name not in covered:
            yield LintFinding(
                "sensitive-without-model",
                f"no model bounds what a class tells of {name!r}",
                f"add a model with attribute = {name!r}, or one without an attribute",
                ("sensitive", "attributes"),
            )
    yield from _suppression(study)


CARRIED = BasicBetaLikeness | DeltaDisclosure | PointwiseMaximalLeakage | TCloseness
"""Models that merging values never breaks."""


def _covers_each(model: PrivacyModel) -> bool:
    """Whether a model about several attributes together bounds each of them as much.

    Values that are merged, as those of a tuple by one of its parts, are no further apart.
    """
    carried = isinstance(model, CARRIED)
    return isinstance(model.attribute, tuple) and carried and not model.void


def _said(model: PrivacyModel) -> str:
    about = f" about {model.about}" if isinstance(model.attribute, tuple) else ""
    return f"{model.name}{about} with {model.bounded_by} = {getattr(model, model.bounded_by):g}"


def _suppression(study: Study) -> Iterator[LintFinding]:
    """Budgets of suppression that leave out most records, or disclose who is missing."""
    share, place = _share(study), ("recoding", "suppression")
    if share >= LARGE:
        yield LintFinding(
            "suppression-large",
            f"suppression = {share:g} lets a release leave out as many records as it has, or more",
            "choose a smaller share",
            place,
        )
    if share and getattr(study.document.recoding, "suppress", None) == "any":
        yield LintFinding(
            "suppression-tells",
            "who knows the quasi-identifiers sees which classes are missing, and learns something "
            "of their sensitive values",
            'leave suppress = "any" out',
            ("recoding", "suppress"),
        )


def _share(study: Study) -> float:
    """The share of the records that a recoding may suppress."""
    return float(getattr(study.document.recoding, "suppression", 0) or 0)


def implies(one: PrivacyModel, other: PrivacyModel) -> bool:
    """Return whether a model holds only where another one of its kind does.

    >>> implies(KAnonymity(5), KAnonymity(3)), implies(KAnonymity(3), KAnonymity(5))
    (True, False)
    """
    # A model without an attribute is about each one, and about none of them together.
    each = one.attribute is None and not isinstance(other.attribute, tuple)
    if type(one) is not type(other) or not (each or one.attribute == other.attribute):
        return False
    own, others = one.parameters, other.parameters
    for name in {**own, **others}:
        pair = own.get(name), others.get(name)
        if pair[0] == pair[1]:
            continue
        up = one.is_larger_stricter(name)
        if up is None or not all(isinstance(each, int | float) for each in pair):
            return False
        if (pair[0] > pair[1]) != up:  # type: ignore[operator]
            return False
    return True


def _implied(study: Study) -> Iterator[LintFinding]:
    """Models that another one makes idle; of equal ones all but the first."""
    found = set()
    for (first, one), (second, other) in permutations(enumerate(study.privacy), 2):
        if not any(implies(each, other) for each in (one, *one.lasting())):
            continue
        if second in found or (implies(other, one) and second < first):
            continue
        found.add(second)
        yield LintFinding(
            "model-implied",
            f"{_said(other)} holds wherever {_said(one)} does",
            "leave it out",
            ("privacy", second, MODEL),
        )


def _names(study: Study) -> Iterator[LintFinding]:
    """Keys that name columns without the role that they need."""
    document, schema = study.document, study.schema
    known, sensitive = schema.quasi_identifiers, schema.sensitive
    for key in ("refine", "group", "levels"):
        given = getattr(document.recoding, key, None) or ()
        yield from _unknown([*given], known, "quasi-identifier", ("recoding", key))
    weights = [*document.objective.weights]
    any_role = (*known, *sensitive)
    yield from _unknown(weights, any_role, "attribute with a role", ("objective", "weights"))
    for number, each in enumerate(document.privacy):
        given = each.get("attribute", [])
        about = [given] if isinstance(given, str) else [*given]
        place = ("privacy", number, "attribute")
        yield from _unknown(about, sensitive, "sensitive attribute", place)


def _unknown(
    given: Sequence[str], known: Sequence[str], role: str, place: KeyPath
) -> Iterator[LintFinding]:
    for name in given:
        if name not in known:
            message = f"{place[-1]} names {name!r}, which is no {role}"
            yield LintFinding("name-unknown", message, f"name one of {', '.join(known)}", place)


def _idle(study: Study) -> Iterator[tuple[KeyPath, str]]:
    """Keys that do nothing, and why."""
    document = study.document
    csv_file = document.output.file or document.data.path
    if document.output.csv_safe and is_parquet(Path(csv_file)):
        yield ("output", "csv-safe"), "Parquet has no formulas that a spreadsheet would run"
    for key in OF_CSV if is_parquet(Path(document.data.path)) else ():
        if getattr(document.data, key) is not None:
            yield ("data", key), "the table is Parquet, which says how it is written"
    withheld = {*document.data.person, *document.data.household, document.data.weight}
    if repeated := withheld & {*document.identifiers.attributes}:
        why = f"{min(map(str, repeated))!r} is left out by its role in [data]"
        yield ("identifiers", "attributes"), why
    if why := _weights_idle(study):
        yield ("objective", "weights"), why
    yield from _idle_of_recoding(study)
    for name, given in document.quasi_identifiers.items():
        limits = given if isinstance(given, dict) else {}
        height = study.hierarchies[name].height
        for key, all_levels in (("min-level", 0), ("max-level", height)):
            if limits.get(key) == all_levels:
                yield ("quasi-identifiers", name, key), "it allows every level"


def _weights_idle(study: Study) -> str:
    """Why weights do nothing; empty where they do something, as where they name the objective."""
    given = study.document.objective
    weights = {*given.weights.values()}
    if weights == {1} and given.name not in (None, AUTOMATIC):
        return "each is 1, as it is without"
    schema, weighed = study.schema, {*given.weights}
    every = {*schema.quasi_identifiers} <= weighed or {*schema.sensitive} <= weighed
    return "every recoding is worth 0" if weights == {0} and every else ""


def _idle_of_recoding(study: Study) -> Iterator[tuple[KeyPath, str]]:
    """Options of a recoding that nothing depends on under this policy."""
    given, share = study.document.recoding, _share(study)
    parts = [part for model in study.privacy for part in (model, *model.lasting())]
    if "suppress" in given.model_fields_set and not share:
        yield ("recoding", "suppress"), "suppression is 0, so that no class is suppressed"
    by_size = any(not part.sensitive for part in parts)
    if share and getattr(given, "suppress", None) == "small" and not by_size:
        yield ("recoding", "suppression"), "no model of the policy is about class sizes"
    least = max((part.k for part in parts if type(part) is KAnonymity), default=1)
    fewest = getattr(given, "min_records", None)
    if "min_records" in given.model_fields_set and fewest is not None and fewest <= least:
        yield (
            ("recoding", "min-records"),
            f"every class has at least {plural(least, 'record')} anyhow",
        )
