"""The figures of a manifest: information in bits, verdicts, the search, warnings."""

from dataclasses import fields
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictInt, StrictStr

from anonymizer.errors import InputError
from anonymizer.privacy import MODELS, PrivacyModel
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest.parts import Count, LabelText, ManifestPart, Number
from anonymizer.release.manifest.steward import stewards


class ReportedQueryLoss(ManifestPart):
    """What the answer to "in which class?" costs the owner of a record, in bits."""

    uncertainty: Number = Field(description="Bits needed to tell a record before the answer.")
    average: Number = Field(description="Bits that the answer gives, the mean over the records.")
    standard_deviation: Number = Field(description="The standard deviation of these, in bits.")
    maximum: Number = Field(description="Bits of the answer that gives most.")
    minimum: Number = Field(description="Bits of the answer that gives least.")


class ReportedInformation(ManifestPart):
    """Mutual information of quasi-identifiers and attributes, in bits, summed over these."""

    original: Number | None = stewards("I(X;W) of the raw quasi-identifiers, in bits.")
    retained: Number = Field(description="I(X~;W) of the released ones, in bits.")
    ceiling: Number | None = stewards(
        "The most that any recoding under the policy can keep, in bits: "
        "min(I(X;W), t, H(W) - log2 l) of each attribute, summed."
    )
    shuffled: Number | None = stewards(
        "I(X;W) in bits with the values of W dealt out at random, the mean of 10."
    )
    shuffled_deviation: Number | None = stewards("The standard deviation of these 10, in bits.")
    retained_above_shuffled: Number | None = stewards(
        "`retained` less what the released classes show by chance, in bits."
    )
    miller_madow: Number = Field(description="`retained`, corrected for small classes, in bits.")
    gap: Number | None = stewards("`ceiling` - `retained`, in bits.")
    loss: Number | None = stewards(
        "1 - `retained` / `original`; null where there was nothing to lose."
    )
    loss_above_shuffled: Number | None = stewards(
        "The same with chance taken off on both sides; null where not determined."
    )


class ReportedVerdict(ManifestPart):
    """A model of the policy, and how the release does under it."""

    model: StrictStr = Field(description="The name of the privacy model, as in a study.")
    attribute: LabelText = Field(
        description="The sensitive attribute that it is about; null: the sizes of classes."
    )
    parameters: dict[StrictStr, Any] = Field(
        description="Its parameters as in a study; t is in bits where the distance is kl."
    )
    worst: Number | None = Field(
        None,
        description="The measure of the class that comes off worst, in the unit of the model; null "
        "where it is infinite.",
    )
    violating_classes: Count = Field(0, description="Classes that break the model.")
    satisfied: StrictBool = Field(True, description="Whether no class breaks it.")

    @property
    def privacy_model(self) -> PrivacyModel:
        """The model with its parameters.

        Raises InputError when this version does not know it, or the manifest has only the name of a
        population, or the digest of a hierarchy of sensitive values.
        """
        kind = MODELS.get(self.model)
        if kind is None:
            raise InputError(f"{MANIFEST} names a privacy model that this version does not know")
        for name, shown in (("population", "name"), ("hierarchy", "digest")):
            if name in self.parameters:
                raise InputError(
                    f"{MANIFEST} has only the {shown} of the {name} of {kind.name}; name the study "
                    "of the release with --study"
                )
        known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
        given = {name: value for name, value in self.parameters.items() if name in known}
        if kind.sensitive:
            given["attribute"] = self.attribute
        try:
            return kind(**given)
        except TypeError:
            raise InputError(f"{MANIFEST} lacks parameters of {kind.name}") from None


class ReportedTrial(ManifestPart):
    """A recoding that was tried on a half of the records, and measured on the other half."""

    recoding: StrictStr = Field(description="The name of the recoding.")
    taken: StrictBool = Field(description="Whether it was then chosen for the whole table.")
    holds: StrictBool | None = Field(
        None, description="Whether the policy holds on the other half; null where not fitted."
    )
    measure: LabelText = Field(None, description="The objective that it was judged by.")
    kept: Number | None = Field(None, description="What that comes to, in the objective's unit.")
    classes: Count | None = Field(None, description="Classes that the other half falls in.")
    records_broken: Count | None = Field(
        None, description="Records of the other half in classes that break the policy."
    )
    reason: StrictStr = Field("", description="Why it could not be fitted; empty where it was.")


class ReportedSearch(ManifestPart):
    """How the recoding was found."""

    strategy: LabelText = Field(None, description="What searched.")
    objective: LabelText = Field(None, description="The name of the objective.")
    value: Number | None = stewards(
        "The objective of the release, in its unit (bits for information)."
    )
    gap: Number | None = stewards(
        "How much better another recoding can be, at the most, in that unit."
    )
    nodes: Annotated[StrictInt, Field(ge=0)] | None = stewards("Nodes of the lattice of levels.")
    checked: Count | None = stewards("Nodes that were counted.")
    feasible: Count | None = stewards(
        "Nodes that satisfy the policy; null where the search need not know."
    )
    minimal: list[list[Count]] | None = stewards(
        "Those of them without a feasible direct specialization, by their levels."
    )
    refinements: Count | None = stewards("How many times attributes were cut.")
    grids: dict[StrictStr, Count] = stewards(
        "Attributes whose ranges begin at some cut points alone.", {}
    )
    proven: StrictBool = Field(False, description="Whether no other recoding searched is better.")
    bound: Number | None = stewards("What none can be better than, in the objective's unit.")
    because: StrictStr = Field("", description="Why this objective, where none was given.")
    tried: list[ReportedTrial] = stewards("The recodings tried on halves of the records.", [])


class ReportedWarning(ManifestPart):
    """Something that the release is weak in although its policy holds."""

    code: StrictStr = Field(description="The lasting code of its kind.")
    column: LabelText = Field(description="The column that it is about; null: the whole table.")
    count: Count = Field(description="How many of `of`: classes, records, values or columns.")
    of: Count = Field(description="How many there are.")
    message: StrictStr = Field(description="What is the matter and how to mend it, a sentence.")

    def __str__(self) -> str:
        return f"WARNING ({self.code}): {self.message}."

    def to_dict(self) -> dict[str, object]:
        """The warning as JSON has it."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class ReportedObjective(ManifestPart):
    """What the objective weighs."""

    weights: dict[StrictStr, Number] = Field(
        default_factory=dict, description="The weight of each attribute, where not 1."
    )
    targets: dict[StrictStr, Number] = Field(
        default_factory=dict, description="The targets of mutual information, with their weights."
    )
    aggregate: LabelText = Field(None, description="How losses of attributes are put together.")
