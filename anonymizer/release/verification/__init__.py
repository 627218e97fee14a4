"""Verification: a released table compared with its manifest and, where given, with its study.

What goes in: the path of a release, a study. What comes out: a ``Verification``, a list of
``FieldCheck`` objects, one for each field of the manifest (``check.FIELDS`` says how each is
checked), and the verdicts of the recounted policy. A checker reads the table again from the file
and takes no figure from the run that wrote it. The room may import every room up to ``release``.
"""
