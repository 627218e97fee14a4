"""The series of a frontier: recodings of a study, and the model whose threshold is moved."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import cast

from anonymizer.advice.sweep import SWEPT, swept_of
from anonymizer.errors import InputError
from anonymizer.privacy import PrivacyModel, about_each, attributes_of
from anonymizer.recoding.best import Best
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.request import RECODINGS
from anonymizer.release.study import Study

MODELS = tuple(SWEPT)
"""The models that have a frontier, by name."""

SERIES = ("full-domain", "variable-range", "cut", "boxes", "merged-cells")
"""The recodings that can be series of it, the quickest first."""

OWN = ("search", "refinement")
"""Options that no other recoding takes over: what they name, the other may lack."""


@dataclass(frozen=True)
class Swept:
    """What is swept: a model about an attribute, and its place in the policy, if it has one."""

    model: PrivacyModel
    attribute: str
    place: int | None

    @property
    def parameter(self) -> str:
        """The parameter that the frontier is over."""
        return self.model.bounded_by

    @property
    def threshold(self) -> float | None:
        """What the policy has of it now; None where it has no such model."""
        return None if self.place is None else self.model.threshold

    @property
    def unit(self) -> str:
        """The unit of the parameter; empty where it has none."""
        if self.model.name != MODELS[0]:
            return "values"
        return "bits" if getattr(self.model, "distance", "") == "kl" else "distance"


def swept_in(study: Study, attribute: str, name: str) -> Swept:
    """What is swept of a study's policy about a sensitive attribute; ``name``: of the model."""
    sensitive = study.schema.sensitive
    model, _ = swept_of(about_each(study.privacy, sensitive), attribute, name)
    for place, own in enumerate(study.privacy):
        if own.name == name and own.monotone and attribute in attributes_of(own, sensitive):
            return Swept(model, attribute, place)
    return Swept(model, attribute, None)


def model_of(study: Study, attribute: str) -> str:
    """The model that a study has about an attribute, the first of ``MODELS`` where it has none."""
    found = [name for name in MODELS if swept_in(study, attribute, name).place is not None]
    return (found or [*MODELS])[0]


def recodings_of(own: Recoding) -> Mapping[str, Generalization]:
    """The recodings of the series: the study's own, others with the options that both have."""
    own = own.candidates[0] if isinstance(own, Best) else own
    found: dict[str, Generalization] = {}
    for name in SERIES:
        try:
            found[name] = _under(own, name)
        except InputError:  # options that the other cannot have
            continue
    return found


def _under(own: Recoding, name: str) -> Generalization:
    if own.name == name:
        return cast(Generalization, own)
    kind = RECODINGS[name]
    names = {each.name for each in fields(kind)} - {*OWN}  # type: ignore[arg-type]
    shared = {each.name for each in fields(own)} & names  # type: ignore[arg-type]
    options = {each: getattr(own, each) for each in shared if isinstance(own, Generalization)}
    if name == "boxes":
        options["refinement"] = "heuristic"  # exact ones take minutes at each point
    return cast(Generalization, kind(**options))


def options_of(recoding: Recoding) -> dict[str, object]:
    """The options of a recoding as a study has them, but those that are as by default.

    >>> from anonymizer import FullDomain
    >>> options_of(FullDomain(suppression=0.02))
    {'suppression': 0.02}
    """
    found = {}
    for each in fields(recoding):  # type: ignore[arg-type]
        value = getattr(recoding, each.name)
        if value != each.default:
            found[each.name.replace("_", "-")] = [*value] if isinstance(value, tuple) else value
    return found


def key_of(recoding: Recoding) -> str:
    """What the points of a recoding depend on, besides the study."""
    return str(recoding.described)
