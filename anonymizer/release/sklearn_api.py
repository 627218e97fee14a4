"""What scikit-learn requires of an estimator, without needing it."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self

import numpy as np

from anonymizer.errors import InputError, NotFittedError, did_you_mean


class Conventions:
    """Parameters that are read and changed by name, and columns that are known once fitted."""

    columns_: list[str]

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The constructor arguments; ``deep``: and those of these, such as recoding__refine."""
        params = {name: getattr(self, name) for name in self._parameters()}
        if not deep:
            return params
        nested = {
            f"{name}__{each.name}": getattr(value, each.name)
            for name, value in params.items()
            if is_dataclass(value)
            for each in fields(value)
            if each.init
        }
        return {**params, **nested}

    def set_params(self, **params: object) -> Self:
        """Change constructor arguments; what was fitted stays as it was until the next fit.

        ``recoding__max_ranges=4`` changes an option of an argument, which is made anew: recodings,
        objectives and hierarchies never change. Arguments are changed before their options, and all
        options of an argument at once, since some are possible only together.
        """
        known = self._parameters()
        options: dict[str, dict[str, object]] = {}
        for name, value in params.items():
            argument, _, option = name.partition("__")
            if argument not in known:
                raise InputError(
                    f"Anonymizer has no parameter {argument!r}" + did_you_mean(argument, known)
                )
            if option:
                options.setdefault(argument, {})[option] = value
            else:
                setattr(self, argument, value)
        for argument, changes in options.items():
            setattr(self, argument, self._changed(argument, changes))
        return self

    def _changed(self, argument: str, changes: Mapping[str, object]) -> object:
        """An argument with other options; those of a name are of what the name stands for."""
        old = getattr(self, f"chosen_{argument}", getattr(self, argument))
        known = [each.name for each in fields(old) if each.init] if is_dataclass(old) else []
        for option in changes:
            if option not in known:
                kind = type(old).__name__
                raise InputError(f"{kind} has no option {option!r}" + did_you_mean(option, known))
        return replace(old, **changes)

    def _require_fitted(self) -> None:
        if not hasattr(self, "columns_"):
            raise NotFittedError(
                "this Anonymizer is not fitted yet; call fit or fit_transform first"
            )

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """The columns of the released table, as scikit-learn calls them."""
        self._require_fitted()
        return np.array(self.columns_, dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Accept what scikit-learn sets on every step: the output is a pandas DataFrame anyway."""
        if transform not in (None, "default", "pandas"):
            raise InputError(f"the output is a pandas DataFrame, not {transform!r}")
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know of an estimator; imported only when it does."""
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
