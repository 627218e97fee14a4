"""Releases: from a table or a study file to a proven table, its manifest, and back.

What goes in: a pandas DataFrame with an estimator's parameters, or a study file (TOML). What comes
out: the released table, recounted and verified from scratch, and a `Release`: the recoding, the
proof per model, the information kept and lost; on disk, both as files that appear whole or not at
all. Read first ``fitting.fitted`` (counted, planned, proven: a table in memory is the same) and
``Publisher.release`` (opened, recoded, written, counted again, proven, named): everything that
releases goes through them. No module imports one that imports it; the floors, lowest first:

- ``system`` and ``output`` (files that appear whole), ``files``, ``results``, ``relations`` and
  ``frames`` (tables as recodings see them, and as users give them), ``proof``, ``information``,
  ``warnings`` with ``column_warnings`` and ``person_warnings``, ``request`` (what is requested,
  and the task of it);
- ``manifest/`` (what a release reports), ``release``, ``signing``; ``document``, ``place`` and
  ``description`` (what a study file says); ``comparison`` (raw and released);
- recodings of other tables: ``reach`` (which values are covered), ``applied`` (the plan for a
  table), ``scoring`` (rows for a model), ``applied_release`` (by a manifest, understood by
  ``verification.policies``);
- ``plan`` (carried out and proven), ``fitting``, ``anonymizer`` with ``estimator`` (fit and
  transform), ``study`` with ``drafting``;
- ``verification/`` (a release read back and checked), ``publisher``; ``publish``, ``apply`` and
  ``sites/`` (the three ways to a release on disk), ``export`` and ``sql``.

May import every room below: masking, recoding and channels, privacy and objectives, counts,
hierarchy, tables.
"""
