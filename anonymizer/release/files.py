"""The files of a release: its manifest, its table, and what belongs to them."""

MANIFEST = "release.json"
"""The file that a release reports itself in, next to its table."""

SIGNATURE = MANIFEST + ".sig"
"""The file next to it that has its signature, where it is signed."""

RELEASED = ("released.csv", "released.parquet")
"""The table, in either format."""

COUNTS = "released.counts"
"""The counts of the table, where its records lie in parts elsewhere."""

STEWARD = ".steward.json"
"""What the name of the file next to a release ends in that has the figures of its raw table."""

FILES = (*RELEASED, COUNTS, SIGNATURE, MANIFEST)
"""The files that a release may have; the last one is the sign that it is whole."""
