"""The views of the page, each for one question, in the order of a decision.

In goes the page with what it knows, out come elements. To add one: a subclass of ``View`` in a
file, and its name in ``HOMES``.
"""

from importlib import import_module

from anonymizer.explorer.views.view import View

HOMES = {
    "table": "TableView",
    "hierarchies": "HierarchiesView",
    "policy": "PolicyView",
    "frontier": "FrontierView",
    "lattice": "LatticeView",
    "cut_points": "CutPointsView",
    "attack": "AttackView",
    "release": "ReleaseView",
}
"""The class of each view, by its module."""


def views() -> dict[str, type[View]]:
    """The views by their names in the address, in their order."""
    found = [getattr(import_module(f"{__name__}.{module}"), kind) for module, kind in HOMES.items()]
    return {view.name: view for view in found}
