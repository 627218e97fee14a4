"""What the estimator has of scikit-learn's conventions: parameters, kinds of tables, rows.

Rows that a model learns from or scores are recoded without a recount, and are no release. Every row
stays where it is, and quasi-identifiers are texts, whichever level or fold they come from: an
encoder that was fitted to numbers would not know them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import (
    InputError,
    NotFittedError,
    PolicyBrokenError,
    did_you_mean,
    require_columns,
    suggestion,
)
from anonymizer.masking import RandomRecoding, Shift
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.apply import overwritten
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.frames import configured, container_of, output, table_of
from anonymizer.release.plan import Plan
from anonymizer.release.release import Release
from anonymizer.release.request import NO_RELEASE, Unseen, require_unshifted
from anonymizer.tables import engine
from anonymizer.tables.values import texts_of

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
            # Options of a name are those of what it stands for.
            given = getattr(self, f"chosen_{argument}", getattr(self, argument))
            setattr(self, argument, changed(given, changes))
        return self

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            # Wherever scikit-learn is in use, the error is one of its own, too.
            error = _of_both() if "sklearn.exceptions" in sys.modules else NotFittedError
            raise error("this Anonymizer is not fitted yet; call fit or fit_transform first")

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

    def _output(self, table: pd.DataFrame | Frame, given: pd.DataFrame | Frame) -> Any:
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


@cache
def _of_both() -> type[NotFittedError]:
    from sklearn.exceptions import NotFittedError as Theirs

    def reduced(self: NotFittedError) -> tuple[type[NotFittedError], tuple[object, ...]]:
        """A class that is made here has no name to be pickled by."""
        return NotFittedError, self.args

    return type("NotFittedError", (NotFittedError, Theirs), {"__reduce__": reduced})


def options_of(argument: object) -> dict[str, object]:
    """The options of an argument by name; those of a policy are its models, and options of these.

    >>> from anonymizer import KAnonymity
    >>> options_of([KAnonymity(5)])
    {'k_anonymity': KAnonymity(k=5), 'k_anonymity__k': 5}
    """
    found = {}
    for name, model in models_by_name(argument).items():
        nested = {f"{name}__{option}": value for option, value in options_of(model).items()}
        found.update({name: model, **nested})
    return found or {name: getattr(argument, name) for name in _fields(argument)}


def changed(argument: object, changes: Mapping[str, object]) -> object:
    """An argument with other options, made anew.

    Raises InputError when it has no such option.
    """
    named = models_by_name(argument)
    if named:
        return _changed_models(named, changes)
    known, kind = _fields(argument), type(argument).__name__
    for option in changes:
        if option not in known:
            raise InputError(f"{kind} has no option {option!r}" + did_you_mean(option, known))
    return replace(argument, **changes)  # type: ignore[type-var]


def _changed_models(
    models: dict[str, PrivacyModel], changes: Mapping[str, object]
) -> list[PrivacyModel]:
    """A policy with some models replaced, then with other options of some, all of one at once."""
    options: dict[str, dict[str, object]] = {}
    for key, value in changes.items():
        name, _, option = key.partition("__")
        if name not in models:
            raise InputError(f"the policy has no model {name!r}{suggestion(name, models)}")
        if option:
            options.setdefault(name, {})[option] = value
        else:
            models[name] = value  # type: ignore[assignment]
    return [changed(m, options[n]) if n in options else m for n, m in models.items()]  # type: ignore[misc]


def models_by_name(policy: object) -> dict[str, PrivacyModel]:
    """The models of a policy by the names that studies have for them, hyphens as underscores.

    Several of one name are numbered from 1: ``t_closeness_1``. Empty for anything else.
    """
    if not isinstance(policy, Sequence) or not all(isinstance(m, PrivacyModel) for m in policy):
        return {}
    names = [model.name.replace("-", "_") for model in policy]
    many, met = Counter(names), Counter[str]()
    found = {}
    for name, model in zip(names, policy, strict=True):
        met[name] += 1
        found[f"{name}_{met[name]}" if many[name] > 1 else name] = model
    return found


def _fields(argument: object) -> list[str]:
    return [each.name for each in fields(argument) if each.init] if is_dataclass(argument) else []


FEW = 100
"""Rows up to which it is faster to look at each value of a column than to number them first."""

MODELLED = "; rows that a model scores are no release, and need verify=False"
"""What is added where a verified release is refused that a prediction may have no need of."""


def verified(
    plan: Plan, table: pd.DataFrame | Frame, fitted: Sequence[str], unseen: Unseen
) -> tuple[pd.DataFrame | Frame, Release]:
    """The release of a table by a plan, whose errors say that a model needs none.

    ``fitted``: the columns of the table that was fitted.
    """
    for name in plan.schema.counted:
        if name not in table.columns and name not in fitted:
            raise InputError(
                f"the table has no column {name!r}, which the policy is held against{MODELLED}"
            )
    try:
        given = table if isinstance(table, pd.DataFrame) else table.native
        released, release = plan.release(given, unseen=unseen)
        return table_of(released), release
    except PolicyBrokenError as error:
        raise PolicyBrokenError(f"{error}{MODELLED}") from None


def scored(
    plan: Plan, table: pd.DataFrame, fitted: Sequence[str], released: Sequence[str], unseen: Unseen
) -> pd.DataFrame:
    """All rows of a table, recoded without proof.

    ``fitted``, ``released``: the columns of the table that was fitted, and of its release.
    """
    schema = plan.schema
    needless = {*schema.counted, *schema.left_out}
    require_columns(table.columns, [name for name in fitted if name not in needless])
    recoded = plan.apply(_chosen(table, fitted), verify=False, unseen=unseen)
    return _as_features(_chosen(recoded, released), schema.quasi_identifiers)


def require_rows(recoding: Recoding, shift: Shift | None) -> None:
    """Refuse a recoding that draws at random: it has no rows of its own for a table's rows."""
    require_unshifted(shift)
    if recoding.private or isinstance(recoding, RandomRecoding):
        raise InputError(
            f"recoding {recoding.name!r} draws values, or records, at random, for "
            "which it needs the whole table; verify = False needs one that generalizes"
        )


def learned(released: pd.DataFrame, rows: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Every row of a table that was fitted, as its release has it; see ``_aligned``."""
    names = schema.quasi_identifiers
    return _as_features(_aligned(released, rows, names), names)


def _chosen(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The named columns of a table, as far as it has them, in the order of the names."""
    present = [name for name in names if name in table.columns]
    return table if present == list(table.columns) else table[present]


def _aligned(released: pd.DataFrame, rows: pd.DataFrame, quasi: Sequence[str]) -> pd.DataFrame:
    """Every row of a table as its release has it; rows that were left out are ``*``.

    ``rows`` are numbered by their index, which the ``released`` records kept. Columns are those of
    the release; one that numbers classes is 0 where there is none.
    """
    left_out = ~rows.index.isin(released.index)
    if not left_out.any():
        return released
    table = {name: rows[name].copy() for name in released.columns if name in rows}
    for name in released.columns:
        if name in quasi:
            table[name] = overwritten(released[name].reindex(rows.index), left_out)
        elif name not in rows:
            table[name] = released[name].reindex(rows.index, fill_value=0)
    return pd.DataFrame(table)[list(released.columns)]


def _as_features(table: pd.DataFrame, textual: Sequence[str]) -> pd.DataFrame:
    """Recoded rows whose ``textual`` columns are texts, missing values left as they are.

    The DataFrame says by its ``attrs`` that it is no release.
    """
    given = {name: table[name] for name in textual}
    texts = {name: _texts(column) for name, column in given.items()}
    changed = {name: column for name, column in texts.items() if column is not given[name]}
    table = engine.replaced(table, changed)
    table.attrs["anonymizer"] = NO_RELEASE
    return table


def _texts(column: pd.Series) -> pd.Series:
    """The values of a column as texts: the column itself where they are."""
    few = len(column) <= FEW
    values = column.tolist() if few else engine.distinct(column)[1]
    texts = texts_of(values)
    if texts == values and isinstance(column.dtype, pd.StringDtype):
        return column
    codes = np.arange(len(texts)) if few else engine.distinct(column)[0]
    return engine.relabel(column, codes, texts)
