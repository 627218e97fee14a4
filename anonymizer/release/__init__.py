"""Releases: from a table or a study file to a proven table, its manifest, and back.

What goes in: a pandas DataFrame with an estimator's parameters, or a study file (TOML). What comes
out: the released table, recounted and verified from scratch, and a `Release`: the recoding, the
proof per model, the information kept and lost; on disk, both as files that appear whole or not at
all. The ways through the room: `anonymizer.py` (fit, transform), `study/` and `publish.py` (file to
file), `plan.py` (a fitted recoding, carried out and proven: `proof.py`), `manifest/` (what a
release reports, written and read back), `verification/`
(a release read back and checked), `recodings.py` (the table of recodings). May import every room
below: masking, recoding and channels, privacy and objectives, counts, hierarchy, tables.
"""
