"""What was asked of an anonymizer: its objective, and a fingerprint of all of it."""

from collections.abc import Mapping, Sequence

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, column_names, digest_of, name_of
from anonymizer.hierarchy import Hierarchy
from anonymizer.objectives import Objective, objective_of
from anonymizer.privacy import PrivacyModel

__all__ = ["asked_objective", "fingerprint"]

WITHOUT_EFFECT = ("n_jobs", "progress")
"""Parameters that no result depends on."""


def asked_objective(
    stated: str | Objective,
    weights: Mapping[str, float] | None,
    target: str | Sequence[str] | Mapping[str, float] | None,
    aggregate: str | None,
) -> Objective:
    """The objective, weighted.

    Raises
    ------
    InputError
        When it is none, or one with something stated beside it.
    """
    if isinstance(stated, str):
        return objective_of(stated, weights, _targets(target), aggregate)
    beside = weights or target or aggregate is not None
    if not isinstance(stated, Objective) or beside:
        raise InputError(
            "objective must be the name of one, with weights, target and aggregate beside it, "
            "or an Objective"
        )
    return stated


def _targets(target: str | Sequence[str] | Mapping[str, float] | None) -> Mapping[str, float]:
    """The targets with their weights."""
    if target is None:
        return {}
    if isinstance(target, Mapping):
        return target
    names = column_names("target", target)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"target must name a column or a list of columns, not {name!r}")
    return dict.fromkeys(names, 1.0)


def fingerprint(
    params: Mapping[str, object],
    schema: Schema,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[PrivacyModel],
) -> str:
    """SHA-256 of all that was asked for, hierarchies by content, in their order."""
    refine, masking = params["refine"], params["masking"]
    asked = {
        **params,
        "quasi_identifiers": [
            [name, hierarchy.describe()] for name, hierarchy in hierarchies.items()
        ],
        "sensitive": schema.sensitive,
        "identifiers": schema.identifiers,
        "search": name_of(params["search"]),  # type: ignore[arg-type]
        "refinement": name_of(params["refinement"]),  # type: ignore[arg-type]
        "privacy": [[model.name, model.attribute, model.parameters] for model in models],
        "refine": None if refine is None else column_names("refine", refine),
        "group": column_names("group", params["group"]),
        "masking": getattr(masking, "described", masking),
    }
    for name in WITHOUT_EFFECT:
        del asked[name]
    return digest_of(asked)
