"""Pictures of a release, from its manifest and its released table alone.

Each is ``(manifest, table, theme) -> Picture | None``: None where there is nothing to draw.
``svg_of`` writes one for a page. No picture shows a count that the released table does not show;
``comparison_picture`` is of a comparison instead, which is measured on the original.
"""

from anonymizer.report.plots.attributes import attribute_picture
from anonymizer.report.plots.classes import classes_picture, sizes_picture
from anonymizer.report.plots.frontier import lattice_picture
from anonymizer.report.plots.information import comparison_picture, information_picture
from anonymizer.report.plots.svg import svg_of

__all__ = [
    "attribute_picture",
    "classes_picture",
    "comparison_picture",
    "information_picture",
    "lattice_picture",
    "sizes_picture",
    "svg_of",
]
