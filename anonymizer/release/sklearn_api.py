"""What scikit-learn asks of an estimator, without needing it."""

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from anonymizer.errors import InputError, NotFittedError, did_you_mean

__all__ = ["Conventions"]

Self = TypeVar("Self", bound="Conventions")


class Conventions:
    """Parameters that are read and changed by name, and columns that are known once fitted."""

    columns_: list[str]

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The constructor arguments."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self: Self, **params: object) -> Self:
        """Change constructor arguments; what was fitted stays as it was until the next fit."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"Anonymizer has no parameter {name!r}" + did_you_mean(name, known)
                )
            setattr(self, name, value)
        return self

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """The columns of the released table, as scikit-learn asks for them."""
        if not hasattr(self, "columns_"):
            raise NotFittedError("this Anonymizer is not fitted yet; call fit first")
        return np.array(self.columns_, dtype=object)

    def set_output(self: Self, *, transform: str | None = None) -> Self:
        """Accept what scikit-learn asks of every step: the output is a pandas DataFrame anyway."""
        if transform not in (None, "default", "pandas"):
            raise InputError(f"the output is a pandas DataFrame, not {transform!r}")
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know of an estimator; imported only when it asks."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True, categorical=True, allow_nan=True),
        )

    @classmethod
    def _parameters(cls) -> list[str]:
        return [field.name for field in fields(cls)]  # type: ignore[arg-type]
