"""Figures of a manifest, computed again from the released table."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from math import inf, isclose, sqrt
from typing import Any

from anonymizer.feedback.words import plural
from anonymizer.information.entropy import entropy
from anonymizer.masking import DISTORTION
from anonymizer.objectives import (
    OBJECTIVES,
    AverageClassSize,
    Discernibility,
    LeastItpr,
    MillerMadow,
    MutualInformation,
)
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding.rehearsal import REHEARSAL
from anonymizer.release.column_warnings import unique_warnings
from anonymizer.release.files import shape_of
from anonymizer.release.information import SHUFFLES, Information, bound_of
from anonymizer.release.manifest.manifest import OF_PRESENCE
from anonymizer.release.verification.check import (
    ABSENT,
    RAW,
    SEARCH,
    TOLERANCE,
    UNIT,
    FieldCheck,
    at,
    compared,
    compared_all,
    required,
    same,
)
from anonymizer.release.verification.stored import Facts
from anonymizer.release.warnings import (
    OF_RAW,
    WARNINGS,
    class_warnings,
    telling_warnings,
    uncounted,
)

WEAK = "weak-policy"
"""It counts models as the study has them; a manifest has one for each attribute."""

OF_PRIVATE = {"records": None, "dropped": None, "suppressed": None, "suppressed_class": "removed"}
"""A differentially private release reports nothing of the table it was drawn from."""

NEAR = 1e-6
"""How far a proven value may be from its bound, relative to it: searches forgive rounding."""


def sizes(facts: Facts) -> Iterator[FieldCheck]:
    """Records, classes, and what follows from their sizes."""
    manifest, found = facts.manifest, {"released": facts.records}
    yield from compared_all("", manifest, found | {"classes": facts.counts.occupied})
    losses = loss_of_sizes(facts.counts.sizes).to_dict()
    yield from compared_all("query_loss", at(manifest, "query_loss"), losses)
    if facts.private:
        yield from compared_all("", manifest, OF_PRIVATE, "consistent")
    elif facts.hides_presence and not facts.whole:
        yield from compared_all("", manifest, dict.fromkeys(OF_PRESENCE), "consistent")
        fate = manifest["suppressed_class"]
        possible = fate == "removed" or (fate == "kept" and facts.records_hidden > 0)
        words = "would tell with the population who is in the table"
        yield required("suppressed_class", possible, repr(fate), words)
    else:
        yield from _records(facts)


def _records(facts: Facts) -> Iterator[FieldCheck]:
    manifest = facts.manifest
    dropped, suppressed = manifest["dropped"], manifest["suppressed"]
    total = facts.records + dropped + facts.removed
    yield compared("records", at(manifest, "records"), total, "consistent")
    possible = dropped == 0 or (dropped > 0 and facts.schema.missing == "drop")
    words = "none, as its missing values are not dropped"
    yield required("dropped", possible, f"{dropped}", words)
    fate = manifest["suppressed_class"]
    if fate == "kept":
        yield compared("suppressed", suppressed, facts.records_hidden)
    known = (fate == "none") == (suppressed == 0) and fate in ("none", "kept", "removed")
    words = f"{suppressed} suppressed records"
    yield required("suppressed_class", known and suppressed >= 0, repr(fate), words)


def missing(facts: Facts) -> Iterator[FieldCheck]:
    """The records that miss a value of each column, and whether any may."""
    found = shape_of(facts.table, facts.schema)["missing"]
    yield from compared_all("table.missing", at(facts.manifest, "table", "missing"), found)
    some = sum(found.values())
    yield required(
        "columns.missing",
        facts.schema.keeps_missing or not some,
        f"{facts.schema.missing!r}, with which none is missing",
        f"misses {plural(some, 'value')}",
    )


def policy(facts: Facts) -> Iterator[FieldCheck]:
    """Every verdict on the recounted table."""
    pairs = zip(facts.manifest["privacy"], facts.verdicts, strict=True)
    for place, (reported, verdict) in enumerate(pairs):
        if verdict is not None:
            found = verdict.to_dict()
            hidden = facts.hides_persons or verdict.model.by_withheld
            if hidden and not facts.whole:  # the steward's figure alone
                del found["worst"]
            yield from compared_all(f"privacy.{place}", reported, found)


def informations(facts: Facts) -> Iterator[FieldCheck]:
    """What is reported about the sensitive attributes together, and about each target."""
    reported = at(facts.manifest, "information")
    if facts.schema.sensitive and isinstance(reported, Mapping):
        yield from _information(facts, reported, "information", facts.schema.sensitive)
    else:
        yield compared("information", reported, {} if facts.schema.sensitive else None)
    targets = at(facts.manifest, "targets")
    named = list(targets) if isinstance(targets, Mapping) else [ABSENT]
    agrees = {*named} == {*facts.schema.targets}
    yield required("targets", agrees, "", "has other targets")
    for name in facts.schema.targets:
        if name in named:
            yield from _information(facts, targets[name], f"targets.{name}", [name])


def _hold_for(privacy: Sequence[Mapping[str, Any]], odds: Any) -> bool:
    """Whether each model of a sensitive attribute is there for some odds, where it has less."""
    models = [(each["model"], each["attribute"], each["parameters"]) for each in privacy]
    return all(
        (name, attribute, {**parameters, "odds": odds}) in models
        for name, attribute, parameters in models
        if attribute is not None and (parameters.get("odds") or 1.0) < odds
    )


def search(facts: Facts) -> Iterator[FieldCheck]:
    """The value of the objective, how far it may be from the best, and what is claimed of that."""
    reported = facts.manifest["search"]
    yield from _objective_known(facts, reported["objective"])
    odds = at(facts.manifest, "method", "odds")
    if odds is not ABSENT:
        held = _hold_for(facts.manifest["privacy"], odds)
        yield required("method", held, f"odds = {odds}", "a model of the policy has no such odds")
    if not facts.whole:
        yield FieldCheck("search.proven", "unchecked", None, reason=SEARCH)
        return
    if facts.private or reported["strategy"] == REHEARSAL:
        nothing = dict.fromkeys(("value", "gap", "bound"))
        yield from compared_all("search", reported, nothing, "consistent")
    elif facts.manifest.get("masking"):
        yield from _distortion(facts.manifest["masking"]["channels"], reported)
    else:
        found = _recomputed(facts, reported["objective"])
        if found is None or (reported["value"] is None and facts.manifest.get("applies")):
            yield FieldCheck("search.value", "unchecked", None, reason=UNIT)
        else:
            yield compared("search.value", reported["value"], found)
        gap = None if reported["bound"] is None else abs(reported["bound"] - reported["value"])
        yield compared("search.gap", reported["gap"], gap, "consistent")
    yield _proven(reported)
    if tried := reported.get("tried"):
        taken = sum(each["taken"] is True for each in tried)
        words = f"{taken} of {len(tried)}"
        yield required("search.tried", taken == 1, words, "needs one that was taken")


def seeds(facts: Facts) -> Iterator[FieldCheck]:
    """That the seed of what was drawn is withheld where something was, and reported nowhere."""
    rehearsed = at(facts.manifest, "search", "strategy") == REHEARSAL
    drawn = facts.private or bool(facts.masked) or rehearsed
    found = "withheld" if drawn else "none"
    yield compared("seeds.drawing", at(facts.manifest, "seeds", "drawing"), found, "consistent")
    if facts.private:
        yield compared("seeds.search", at(facts.manifest, "seeds", "search"), None, "consistent")


def _objective_known(facts: Facts, name: str) -> Iterator[FieldCheck]:
    for field in ("because", "tried") if facts.whole else ("because",):
        there = at(facts.manifest, "search", field) is not ABSENT
        yield required(f"search.{field}", there, "", "is missing")
    known: Collection[str] = [DISTORTION] if facts.manifest.get("masking") else OBJECTIVES
    yield required("search.objective", name in known, "", f"needs one of {', '.join(known)}")
    options = at(facts.manifest, "objective")
    there = isinstance(options, Mapping) and {"weights", "targets"} <= options.keys()
    yield required("objective", there, "", "needs its weights and targets")
    agrees = there and {*options["targets"]} == {*facts.schema.targets}
    yield required("objective.targets", agrees, "", "has other targets")


def _recomputed(facts: Facts, name: str) -> float | None:
    """The objective of the released table; None where more than that is needed."""
    kind, counts = OBJECTIVES.get(name), facts.counts
    options = facts.manifest.get("objective", {})
    everybody = facts.records + facts.removed
    if kind is None:
        return None
    if issubclass(kind, MutualInformation):
        weights, targets = options.get("weights", {}), options.get("targets", {})
        return kind(weights=weights, target=targets)(counts)
    if kind is LeastItpr:
        return -LeastItpr(weights=options.get("weights", {}))(counts)
    if kind is AverageClassSize:
        return everybody / (counts.occupied + (facts.removed > 0))
    if kind is Discernibility:
        hidden = facts.records_hidden if facts.manifest["suppressed_class"] == "kept" else 0
        squares = int(counts.sizes @ counts.sizes) - hidden**2
        return float(squares + (hidden + facts.removed) * everybody)
    return None


def _distortion(
    channels: list[Mapping[str, Any]], reported: Mapping[str, Any]
) -> Iterator[FieldCheck]:
    """What channels distort adds up; so does what none can fall below, where that is known."""
    value = sum(channel["expected_distortion"] for channel in channels)
    least = [channel["least_distortion"] for channel in channels]
    bound = None if None in least else sum(least)
    gap = None if bound is None else max(value - bound, 0.0)
    found = {"value": value, "bound": bound, "gap": gap}
    yield from compared_all("search", reported, found, "consistent")


def _proven(reported: Mapping[str, Any]) -> FieldCheck:
    value, bound = reported["value"], reported["bound"]
    known = value is not None and bound is not None
    reached = known and isclose(value, bound, rel_tol=NEAR, abs_tol=NEAR)
    proven = reported["proven"]
    agrees = isinstance(proven, bool) and (not proven or reached)
    return required("search.proven", agrees, repr(proven), "leaves room for a better one")


def warnings(facts: Facts) -> Iterator[FieldCheck]:
    """The warnings that the table alone gives."""
    listed = at(facts.manifest, "warnings")
    # Numbers of persons tell nothing but what they are for.
    known = (*facts.schema.quasi_identifiers, *facts.schema.sensitive, facts.schema.number)
    others = [name for name in facts.stored.columns if name not in known]
    models = [model for model in facts.models if model is not None]
    unseen = 0 if facts.private else len(others)
    given = class_warnings(facts.counts, models, unseen, facts.schema.items)
    given += () if facts.private else tuple(telling_warnings(facts.table, facts.schema))
    stored = facts.stored.relation
    changed = (facts.manifest.get("shift") or {"columns": ()})["columns"]
    weight = facts.manifest.get("released_weight") and facts.manifest.get("weight")
    others = [name for name in others if name not in (*changed, weight)]
    given += () if facts.private or stored is None else tuple(unique_warnings(stored, others))
    reported = [*filter(_is_sound, listed)] if isinstance(listed, list) else []
    agrees = listed is not ABSENT and len(reported) == len(listed)
    weak = [{each["code"] for each in reported}, {each.code for each in given}]
    agrees &= (WEAK in weak[0]) == (WEAK in weak[1])
    found = [each.to_dict() for each in given if each.code not in (*OF_RAW, WEAK)]
    shown = [each for each in reported if each["code"] not in (*OF_RAW, WEAK)]
    words = f"gives {len(found)}, or says something else"
    agrees &= same(shown, found)
    yield required("warnings", agrees, plural(len(shown), "warning"), words, "recomputed")
    yield FieldCheck(f"warnings ({', '.join(OF_RAW)})", "unchecked", None, reason=RAW)


def _is_sound(reported: Any) -> bool:
    """Whether a warning of a manifest says what one of its code can say."""
    if not isinstance(reported, Mapping) or reported.get("code") not in WARNINGS:
        return False
    count, of = reported.get("count"), reported.get("of")
    if (count, of) == (0, 0):
        return reported.get("message") == uncounted(reported["code"], reported.get("column"))
    if type(count) is not int or type(of) is not int or not 0 < count <= of:
        return False
    begins, _, _ = WARNINGS[reported["code"]].text.partition("{")
    message = reported.get("message")
    return isinstance(message, str) and (message.startswith(begins))


def _information(
    facts: Facts, reported: Mapping[str, Any], field: str, about: Sequence[str]
) -> Iterator[FieldCheck]:
    targets = dict.fromkeys(about, 1.0)
    retained = MutualInformation(target=targets)(facts.counts)
    estimate = MillerMadow(target=targets)(facts.counts)
    yield from compared_all(field, reported, {"retained": retained, "miller_madow": estimate})
    if not facts.whole:
        return
    given = Information(**{each.name: reported[each.name] for each in fields(Information)})
    derived = {name: getattr(given, name) for name in ("gap", "loss", "loss_above_shuffled")}
    yield from compared_all(field, reported, derived, "consistent")
    yield from _within(field, "ceiling", given.ceiling, *_ceilings(facts, given, about))
    most = sum(float(entropy(facts.counts.margins[name])) for name in about)
    # A random recoding may tell more than the table did, by chance.
    least = 0.0 if facts.masked else retained
    yield from _within(field, "original", given.original, least, most)
    yield from _within(field, "shuffled", given.shuffled, 0.0, most)
    # Ten numbers between 0 and the most deviate most where half of them are at either end.
    widest = most * sqrt(SHUFFLES / (SHUFFLES - 1)) / 2
    yield from _within(field, "shuffled_deviation", given.shuffled_deviation, 0.0, widest)
    above = given.retained_above_shuffled
    yield from _within(field, "retained_above_shuffled", above, retained - most, retained)
    if not facts.masked:
        yield from _within(field, "ceiling", given.ceiling, retained, most)


def _ceilings(facts: Facts, given: Information, about: Sequence[str]) -> tuple[float, float]:
    """The least and the most that the ceiling can be: exact for a single attribute.

    Of several, sum_a min(I_a, b_a) is known by sum_a I_a and the bounds b_a alone.
    """
    models = [] if facts.persons else facts.models
    bounds = [bound_of(facts.counts, models, name) for name in about]
    if len(about) == 1 or min(bounds) == inf:
        exact = max(min(given.original, *bounds), 0.0)
        return exact, exact
    return min(given.original, *(max(b, 0.0) for b in bounds)), min(given.original, sum(bounds))


def _within(
    field: str, name: str, reported: float, least: float, most: float
) -> Iterator[FieldCheck]:
    slack = TOLERANCE * max(1.0, abs(least), abs(most))
    agrees = least - slack <= reported <= most + slack
    found = f"{least:.10g}" if least == most else f"{least:.10g} to {most:.10g}"
    yield required(f"{field}.{name}", agrees, f"{reported!r}", f"allows {found}")
