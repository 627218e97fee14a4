"""A released table as it was read back, and what its manifest reports of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema
from anonymizer.hierarchy import ANY
from anonymizer.privacy import DifferentialPrivacy, Mask, PrivacyModel, Verdict
from anonymizer.tables import engine


@dataclass(frozen=True, eq=False)
class Facts:
    """What checks look at: a manifest, and the released table, read back and recounted.

    ``schema`` has the roles of columns by the manifest, ``models`` its policy, each model about one
    attribute, in the order of its verdicts; None for one of which the manifest only has a digest.
    ``verdicts`` are those of the models on the table.
    """

    manifest: Mapping[str, Any]
    table: pd.DataFrame
    schema: Schema
    counts: Counts
    models: Sequence[PrivacyModel | None]
    verdicts: Sequence[Verdict | None]

    @property
    def recoded(self) -> tuple[str, ...]:
        """The quasi-identifiers of the original: not the column that numbers classes."""
        return tuple(self.manifest["recoding"])

    @property
    def masked(self) -> tuple[str, ...]:
        """Those whose values were drawn at random."""
        masking = self.manifest.get("masking")
        return tuple(masking["attributes"]) if masking else ()

    @property
    def private(self) -> bool:
        """Whether the release is a differentially private one, which reports no raw figure."""
        return any(isinstance(model, DifferentialPrivacy) for model in self.models)

    @cached_property
    def hidden(self) -> Mask:
        """The records with ``*`` in every quasi-identifier, shape (records,)."""
        return engine.all_equal(self.table, self.recoded, ANY)

    @property
    def removed(self) -> int:
        """The records that were suppressed and left out, as the manifest has it."""
        removed = self.manifest["suppressed_class"] == "removed" and not self.private
        return int(self.manifest["suppressed"]) if removed else 0
