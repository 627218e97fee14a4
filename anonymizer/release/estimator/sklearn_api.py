"""What scikit-learn requires of an estimator, without needing it."""

import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from anonymizer.errors import InputError, NotFittedError, did_you_mean
from anonymizer.release.estimator.options import changed, options_of
from anonymizer.release.frames import configured, container_of, output

if TYPE_CHECKING:
    from anonymizer.tables.relations.frames import Frame


class Conventions:
    """Parameters that are read and changed by name, and columns that are known once fitted."""

    columns_: list[str]
    feature_names_in_: Any

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The constructor arguments; ``deep``: and those of these.

        Such are ``recoding__suppression``, and ``privacy__k_anonymity__k`` of the models.
        """
        params = {name: getattr(self, name) for name in self._parameters()}
        if not deep:
            return params
        nested = {
            f"{name}__{option}": value
            for name, argument in params.items()
            for option, value in options_of(argument).items()
        }
        return {**params, **nested}

    def set_params(self, **params: object) -> Self:
        """Change constructor arguments; what was fitted stays as it was until the next fit.

        ``recoding__max_ranges=4`` changes an option of an argument, which is made anew: recodings,
        objectives, models and hierarchies never change. ``privacy__k_anonymity__k=5`` changes the
        k-anonymity of the policy, and ``privacy__k_anonymity=KAnonymity(5)`` replaces it. Arguments
        are changed before their options, and all options of an argument at once, since some are
        possible only together.
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
        return changed(getattr(self, f"chosen_{argument}", getattr(self, argument)), changes)

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _not_fitted()(
                "this Anonymizer is not fitted yet; call fit or fit_transform first"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    @property
    def n_features_in_(self) -> int:
        """The columns of the table that was fitted; AttributeError before."""
        return len(self.feature_names_in_)

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """The columns of the released table, as scikit-learn calls them.

        ``input_features``: those of the table that was fitted, as a check; InputError otherwise.
        """
        self._require_fitted()
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if not np.array_equal(given, self.feature_names_in_):
                raise InputError("input_features is not equal to feature_names_in_")
        return np.array(self.columns_, dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the kind of table given: ``"pandas"``, ``"polars"``, or ``"default"``: that of X.

        None changes nothing. Polars knows no index, and no ``attrs``.
        """
        if transform is not None:  # under this name clone of scikit-learn copies it
            self._sklearn_output_config = {"transform": container_of(transform)}
        return self

    def _output(self, table: "pd.DataFrame | Frame", given: "pd.DataFrame | Frame") -> Any:
        """A table of the kind that ``set_output`` chose, by default that of the given one."""
        chosen = getattr(self, "_sklearn_output_config", {}).get("transform") or configured()
        return output(table, chosen, given)

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


def _not_fitted() -> type[NotFittedError]:
    """The error before a fit: one of scikit-learn's, too, wherever that is in use."""
    return _of_both() if "sklearn.exceptions" in sys.modules else NotFittedError


@cache
def _of_both() -> type[NotFittedError]:
    from sklearn.exceptions import NotFittedError as Theirs

    def reduced(self: NotFittedError) -> tuple[type[NotFittedError], tuple[object, ...]]:
        """A class that is made here has no name to be pickled by."""
        return NotFittedError, self.args

    return type("NotFittedError", (NotFittedError, Theirs), {"__reduce__": reduced})
