"""The pictures of a page, where matplotlib is installed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from anonymizer.feedback.document import Drawing
from anonymizer.report.page.evidence import Evidence
from anonymizer.utility.comparison import Comparison


def pictures_drawn() -> bool:
    """Whether pictures can be drawn: matplotlib is installed."""
    return find_spec("matplotlib") is not None


@dataclass(frozen=True, eq=False)
class Pictures:
    """Draws what a release can show, in a theme of ``report.plots``; nothing without a theme."""

    evidence: Evidence
    theme: str | None

    @classmethod
    def of(cls, evidence: Evidence, theme: str | None) -> "Pictures":
        """Pictures of a release in a theme, if one is given and matplotlib is installed."""
        return cls(evidence, theme if pictures_drawn() else None)

    def information(self) -> Iterator[Drawing]:
        """Information original, retained, ceiling."""
        yield from self._release("information_picture", "Information before and after")

    def classes(self) -> Iterator[Drawing]:
        """I1 and I2 of each class against t and l."""
        yield from self._release("classes_picture", "What each class gives away")

    def sizes(self) -> Iterator[Drawing]:
        """How large classes are."""
        yield from self._release("sizes_picture", "Sizes of classes")

    def lattice(self) -> Iterator[Drawing]:
        """The lattice with its frontier."""
        yield from self._release("lattice_picture", "The lattice of levels and its frontier")

    def attribute(self, name: str) -> Iterator[Drawing]:
        """An attribute as it is released; none where every record has the same label."""
        if self.evidence.labels_of(name) > 1:
            yield from self._release("attribute_picture", f"{name}, as it is released", name=name)

    def comparison(self, comparison: Comparison) -> Iterator[Drawing]:
        """Recodings side by side."""
        if comparison.fits:
            yield from self._drawn("comparison_picture", "Recodings compared", comparison)

    def _release(self, drawn: str, caption: str, **options: str) -> Iterator[Drawing]:
        """A picture of the release; none where it has nothing to draw."""
        parts = self.evidence.manifest, self.evidence.table
        yield from self._drawn(drawn, caption, *parts, **options)

    def _drawn(self, drawn: str, caption: str, *parts: Any, **options: str) -> Iterator[Drawing]:
        if self.theme is None:
            return
        plots = import_module("anonymizer.report.plots.release")  # needs matplotlib
        draw: Callable[..., Any] = partial(getattr(plots, drawn), *parts, **options)
        figure = draw(theme=self.theme)
        if figure is not None:
            yield Drawing(plots.svg_of(figure), caption)
