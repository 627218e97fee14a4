"""What can be asked beside a masking, and what it starts from."""

from collections.abc import Mapping, Sequence

from anonymizer.counts.counts import Recoding
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.privacy import DifferentialPrivacy, PrivacyModel
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.strategies import node_of

__all__ = ["masked_from", "require_alone"]

SEARCHING: Mapping[str, object] = {
    "search": "automatic",
    "refinement": "exact",
    "objective": "mutual-information",
    "weights": None,
    "aggregate": None,
    "time_limit": None,
    "refine": None,
    "group": (),
    "max_ranges": None,
    "min_width": None,
    "grid": None,
    "max_classes": None,
    "min_records": None,
    "min_gain": 0,
    "suppression": 0,
    "remove": False,
}
"""Options of searches with their defaults: a masking searches nothing and suppresses nobody."""


def require_alone(params: Mapping[str, object], models: Sequence[PrivacyModel]) -> None:
    """Refuse what a masking would leave undone.

    Raises
    ------
    InputError
        Naming it.
    """
    recoding = params["recoding"]
    if recoding not in ("full-domain", "fixed"):
        raise InputError(
            f"masking draws values instead of searching for recoding = {recoding!r}; leave one of "
            "them out, or state recoding = 'fixed' and the levels to mask from"
        )
    if recoding == "fixed" and params["levels"] is None:
        raise InputError("levels are for recoding = 'fixed', and it needs them")
    for name, default in SEARCHING.items():
        stated = params[name]
        if stated != default and not (default in ((), None) and stated in ((), [], {})):
            raise InputError(f"masking searches nothing: leave out {name}")
    for model in models:
        if isinstance(model, DifferentialPrivacy):
            raise InputError(
                f"{model.name} is about a sample at fixed levels and cannot be masked; a masking "
                "has an epsilon of its own, local differential privacy"
            )


def masked_from(levels: Mapping[str, int] | None, taxonomies: Mapping[str, Taxonomy]) -> Recoding:
    """The partitions that values are masked from: those of the levels, or the values themselves.

    Levels that are left out are 0.
    """
    stated = (
        levels
        if levels is not None and not isinstance(levels, Mapping)
        else {
            **dict.fromkeys(taxonomies, 0),
            **(levels or {}),
        }
    )
    node = node_of(stated, taxonomies)
    return level_recoding(dict(taxonomies), tuple(taxonomies), node)
