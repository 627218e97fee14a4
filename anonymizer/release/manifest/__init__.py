"""The manifest of a release, ``release.json``: what it reports, written, read back and understood.

What goes in: a ``Release``, or the text of a file. What comes out: a ``Manifest``, whose parts are
in ``parts.py``; what the labels of a released column represent (``groups.py``), and raw records
under these labels (``placement.py``).
"""

from anonymizer.release.manifest.manifest import FORMAT, Manifest
from anonymizer.release.manifest.standing import is_release

__all__ = ["FORMAT", "Manifest", "is_release"]
