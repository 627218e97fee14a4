"""Light or dark: as the system is, until something else is chosen, which the browser remembers."""

from typing import TYPE_CHECKING

from anonymizer.explorer.page.toolkit import GenericEventArguments, ui

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

MODES: dict[str, bool | None] = {"as the system": None, "light": False, "dark": True}
"""Whether a mode is dark, by its name; None where that is up to the system."""

ICONS = {"as the system": "brightness_auto", "light": "light_mode", "dark": "dark_mode"}

READ = """(() => {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', () => emitEvent('theme', system.matches));
  return [localStorage.getItem('theme') || '', system.matches];
})()"""
"""The mode that the browser remembers, and whether the system is dark; says when that changes."""


class Theme:
    """The button that chooses between light and dark."""

    def __init__(self, page: "ExplorerPage") -> None:
        self.page = page
        self._mode, self._system = next(iter(MODES)), False

    def build(self) -> None:
        """Make the button."""
        self._switch = ui.dark_mode(None)
        self._button = ui.button(on_click=self._next).props("flat round dense")
        ui.on("theme", self._changed)
        self._show()

    async def read(self) -> None:
        """Find out what the browser remembers."""
        mode, self._system = await self.page.client.run_javascript(f"return {READ}", timeout=5)
        self._mode = mode if mode in MODES else self._mode
        self._show()

    def _next(self) -> None:
        modes = [*MODES]
        self._mode = modes[(modes.index(self._mode) + 1) % len(modes)]
        self.page.client.run_javascript(f"localStorage.setItem('theme', '{self._mode}')")
        self._show()

    def _changed(self, event: GenericEventArguments) -> None:
        self._system = bool(event.args)
        self._show()

    def _show(self) -> None:
        chosen = MODES[self._mode]
        self._switch.value = chosen
        words = f"Theme: {self._mode}"
        self._button.props(f'icon={ICONS[self._mode]} aria-label="{words}" title="{words}"')
        before, self.page.dark = self.page.dark, self._system if chosen is None else chosen
        if before != self.page.dark:
            self.page.show()
