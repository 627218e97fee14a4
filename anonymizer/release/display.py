"""What notebooks and one line show of an estimator, a plan and a release; no value of a record."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymizer.errors import AnonymizerError
from anonymizer.feedback.display import listing
from anonymizer.feedback.document import Display, Points, Table
from anonymizer.feedback.words import plural
from anonymizer.hierarchy.hierarchy import kind_of as kind_of_hierarchy
from anonymizer.privacy import PrivacyModel, Verdict
from anonymizer.release.information import Information

if TYPE_CHECKING:
    from anonymizer.release.anonymizer import Anonymizer
    from anonymizer.release.release import Release

SHOWN = 6
"""Labels of an attribute that are shown."""


def policy_of(models: Sequence[object]) -> str:
    """A policy in few words: each model with what it accepts."""
    return " and ".join(
        f"{model.name} {model.range}" if isinstance(model, PrivacyModel) else type(model).__name__
        for model in models
    )


def verdict_of(verdicts: Sequence[Verdict]) -> str:
    """Whether a policy holds."""
    return "policy holds" if all(each.satisfied for each in verdicts) else "policy does not hold"


def of_release(release: "Release") -> Display:
    """Verdicts, information, recoding and warnings of a release."""
    return Display(
        f"Release: {plural(release.released, 'record')} in {release.classes:,} classes, "
        f"{verdict_of(release.privacy)}",
        [
            Points([warning.message for warning in release.warnings], "warning"),
            *_fates(release),
            Table("Policy, recounted", VERDICTS, [_verdict(each) for each in release.privacy]),
            Table("Information (bits)", ["", "bits"], _information(release.information)),
            Table("Recoding", ["quasi-identifier", "level", "labels"], _recoding(release)),
        ],
    )


VERDICTS = ("model", "about", "requires", "worst class", "classes that fail", "holds")


def _fates(release: "Release") -> list[str]:
    """What became of the records of the table; nothing of a differentially private release."""
    if release.records is None or release.records == release.released == release.classes:
        return []
    fates = {"dropped": release.dropped, "suppressed": release.suppressed}
    shown = "".join(f", {number:,} {fate}" for fate, number in fates.items() if number)
    return [f"{release.released:,} of {release.records:,} records are released{shown}."]


def _verdict(each: Verdict) -> list[object]:
    about = each.attribute or ("class sizes" if each.model.per_class else "the table")
    fails = f"{each.violating:,} of {each.classes:,}"
    holds = "yes" if each.satisfied else "NO"
    return [each.model.name, about, each.model.range, float(each.worst), fails, holds]


def _information(found: Information | None) -> list[list[object]]:
    if found is None:
        return []
    loss = "" if found.loss is None else f" ({found.loss:.1%} lost)"
    return [
        ["original", f"{found.original:.4f}"],
        ["retained", f"{found.retained:.4f}{loss}"],
        ["ceiling under the policy", f"{found.ceiling:.4f}"],
    ]


def _recoding(release: "Release") -> list[list[object]]:
    kind = "by class" if release.regions else "ranges or groups"
    return [
        [name, release.levels.get(name, kind), _labels(groups) or "drawn at random"]
        for name, groups in release.recoding.items()
    ]


def _labels(groups: Sequence[object]) -> str:
    """The first labels that were released, and how many there are."""
    labels = [group.get("label") if isinstance(group, dict) else group for group in groups]
    return listing(labels, len(labels), SHOWN)


def of_anonymizer(anonymizer: "Anonymizer") -> Display:
    """What is requested; once fitted, the release of the last table comes first."""
    fitted = hasattr(anonymizer, "plan_")
    requested = Table("Quasi-identifiers", ["attribute", "hierarchy", "levels"], _asked(anonymizer))
    about = [
        f"Policy: {policy_of(_listed(anonymizer.privacy)) or 'none'}.",
        f"Sensitive: {_names(anonymizer.sensitive) or 'none'}. "
        f"Recoding: {name_of(anonymizer.recoding)}. Objective: {name_of(anonymizer.objective)}.",
    ]
    if not fitted:
        return Display("Anonymizer, not fitted", [*about, requested])
    shown = of_release(anonymizer.release_)
    return Display(f"Anonymizer, fitted. {shown.title}", [*about, *shown.blocks])


def line_of(anonymizer: "Anonymizer") -> list[str]:
    """The facts about an estimator that fit in a line."""
    given = anonymizer.quasi_identifiers
    number = len(given) if hasattr(given, "__len__") else 0
    return [
        plural(number, "quasi-identifier"),
        policy_of(_listed(anonymizer.privacy)),
        name_of(anonymizer.recoding),
        "fitted" if hasattr(anonymizer, "plan_") else "not fitted",
    ]


def _asked(anonymizer: "Anonymizer") -> list[list[object]]:
    """The hierarchies; a parameter that is none is said to be that."""
    try:
        found = anonymizer.hierarchies
    except (AnonymizerError, AttributeError, TypeError) as error:
        return [["", f"not usable: {type(error).__name__}", None]]
    return [[name, kind_of_hierarchy(each), each.height] for name, each in found.items()]


def name_of(given: object) -> str:
    """A recoding or objective by its name."""
    return given if isinstance(given, str) else str(getattr(given, "name", type(given).__name__))


def _names(given: object) -> str:
    return given if isinstance(given, str) else ", ".join(map(str, _listed(given)))


def _listed(given: object) -> Sequence[object]:
    """A parameter that should be a list, as one; parameters are checked when they are used."""
    return given if isinstance(given, list | tuple) else [given]
