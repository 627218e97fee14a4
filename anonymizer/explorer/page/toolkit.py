"""The framework of the page: all that the explorer uses of it, imported here alone."""

from nicegui import Client, background_tasks, ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import EChartPointClickEventArguments, GenericEventArguments
from nicegui.ui_run_with import run_with

__all__ = [
    "Client",
    "EChartPointClickEventArguments",
    "Element",
    "GenericEventArguments",
    "Text",
    "background_tasks",
    "run_with",
    "ui",
]


class Text(TextElement):
    """A text in an element of HTML, such as a heading."""

    def __init__(self, tag: str, text: str = "") -> None:
        super().__init__(tag=tag, text=text)
