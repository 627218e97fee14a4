"""What a view is: elements that are built once, and filled in whenever something changes."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

from anonymizer.recoding import Watch

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage
    from anonymizer.explorer.work import Work


class View(ABC):
    """A part of the page, for one question.

    ``name`` is in its address, ``title`` in the navigation, and ``question`` is what it answers.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]

    def __init__(self, page: "ExplorerPage") -> None:
        self.page = page

    def shape(self) -> Hashable:
        """The state that the elements depend on: they are built anew when it changes.

        Elements that are built anew lose the focus. So it is only what changes how many there are
        and what they are for, not what they show.
        """
        return None

    def watched(self, work: "Work") -> Watch:
        """Return the watch of a long computation, which ends with the view that it is for."""

        def watch(doing: str, done: int, of: int | None) -> None:
            work.ended = work.ended or self.page.view is not self
            work(doing, done, of)

        return watch

    @abstractmethod
    def build(self) -> None:
        """Make the elements; ``show`` is called right after."""

    @abstractmethod
    def show(self) -> None:
        """Fill in what the page knows: after every step, and whenever an answer is there."""
