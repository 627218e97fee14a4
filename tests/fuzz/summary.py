"""What many cases came to, as text."""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from .exercise import Outcome

__all__ = ["Summary"]

EXAMPLES = 3
"""How many cases of a kind of failure are named."""


@dataclass
class Summary:
    """Counts of outcomes, and failures by kind."""

    since: float = field(default_factory=time.monotonic)
    ended: dict[str, Counter] = field(default_factory=lambda: defaultdict(Counter))
    models: dict[str, Counter] = field(default_factory=lambda: defaultdict(Counter))
    readers: Counter = field(default_factory=Counter)
    failures: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    cases: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count one case."""
        self.cases += 1
        study = outcome.name.startswith("study:")
        self.ended[("study " if study else "parser ") + outcome.recoding][outcome.ended] += 1
        for model in outcome.models:
            self.models[model][outcome.ended] += 1
        self.readers.update(outcome.readers)
        for kind in dict(outcome.failures):
            detail = dict(outcome.failures)[kind]
            self.failures[kind].append((outcome.name, detail))

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self.since, 1e-9)
        rate = f"{self.cases:,} cases in {seconds:,.0f} s, {self.cases / seconds:.1f} a second"
        parts = [rate, "", *_table(self.ended), "", *_table(self.models), "", *self._read()]
        return "\n".join([*parts, "", *self._failed()])

    def _read(self) -> list[str]:
        counts = [f"{reader}: {count:,}" for reader, count in sorted(self.readers.items())]
        return ["releases re-read by " + ", ".join(counts)] if counts else []

    def _failed(self) -> list[str]:
        if not self.failures:
            return ["nothing failed"]
        ordered = sorted(self.failures.items(), key=lambda item: -len(item[1]))
        lines = [f"{sum(map(len, self.failures.values())):,} failures of {len(ordered)} kinds"]
        for kind, cases in ordered:
            lines.append(f"  {len(cases):,} x {kind}")
            for name, detail in cases[:EXAMPLES]:
                lines.append(f"      python -m tests.fuzz --one {name}   # {detail[:160]}")
        return lines


def _table(counts: dict[str, Counter]) -> list[str]:
    lines = []
    for name, ends in sorted(counts.items()):
        told = ", ".join(f"{end} {count:,}" for end, count in ends.most_common())
        lines.append(f"{name:32} {sum(ends.values()):8,}   {told}")
    return lines
