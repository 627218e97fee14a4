"""Pictures of a release, from its manifest and its released table alone.

Each is ``(manifest, table, theme) -> Picture | None``: None where there is nothing to draw. ``svg_of``
writes one for a page. No picture shows a count that the released table does not show.
"""

from anonymizer.report.plots.classes import classes_picture, sizes_picture
from anonymizer.report.plots.information import information_picture
from anonymizer.report.plots.svg import svg_of

__all__ = ["classes_picture", "information_picture", "sizes_picture", "svg_of"]
