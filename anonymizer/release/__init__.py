"""Releases: from a table or a study file to a proven table, its manifest, and back.

What goes in: a pandas DataFrame with an estimator's parameters, or a study file (TOML). What comes
out: the released table, recounted and verified from scratch, and a `Release`: the recoding, the
proof per model, the information kept and lost; on disk, both as files that appear whole or not at
all. Read first ``fitting.fitted`` (counted, planned, proven: a table in memory is the same) and
``Publisher.release`` (opened, recoded, written, counted again, proven, named): everything that
releases goes through them. No module imports one that imports it; the floors, lowest first:

- ``files``, ``relations`` (tables as recodings see them), ``proof``, ``information``,
  ``warnings/``, ``output/`` (directories that appear whole), ``request`` (what is requested, and
  the task of it), ``recodings`` (their table);
- ``manifest/`` (what a release reports), ``release``, ``signing/``, ``description/`` (what a study
  file says), ``comparison`` (raw and released);
- ``applying/`` (plans for other tables), ``plan`` (carried out and proven), ``fitting``,
  ``anonymizer`` with ``estimator/`` (fit and transform), ``study/``;
- ``verification/`` (a release read back and checked), ``publisher``; ``publish``, ``apply`` and
  ``sites/`` (the three ways to a release on disk), ``export/``.

May import every room below: masking, recoding and channels, privacy and objectives, counts,
hierarchy, tables.
"""
