"""Options of what an estimator is made of, by name: those of a recoding, and of each model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace

from anonymizer.errors import InputError, did_you_mean, suggestion
from anonymizer.privacy import PrivacyModel


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
    """The options of a dataclass; none of anything else."""
    return [each.name for each in fields(argument) if each.init] if is_dataclass(argument) else []
