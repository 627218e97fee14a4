"""Results as JSON has them: the fields of a dataclass, and what follows from them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any, ClassVar

from anonymizer.privacy import Verdict


class Result:
    """A dataclass that JSON has field by field, followed by the properties in ``derived``."""

    derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON has it."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return {name: as_json(getattr(self, name)) for name in (*names, *self.derived)}


class PolicyResult(Result):
    """A result that holds the verdict of every model of a policy."""

    privacy: Sequence[Verdict]
    derived: ClassVar[tuple[str, ...]] = ("satisfied",)

    @property
    def broken(self) -> bool:
        """Whether a model of the policy that was examined is not satisfied."""
        return not all(verdict.satisfied for verdict in self.privacy)

    @property
    def satisfied(self) -> bool:
        """Whether every model of the policy is satisfied."""
        return not self.broken


def as_json(value: Any) -> Any:
    """A value as JSON has it, whatever the depth of its mappings, sequences and dataclasses."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return asdict(value)  # type: ignore[arg-type]
    if isinstance(value, Mapping):
        return {name: as_json(each) for name, each in value.items()}
    return [*map(as_json, value)] if isinstance(value, list | tuple) else value
