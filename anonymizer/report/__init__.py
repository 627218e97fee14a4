"""What a person reads: results as documents, shown on standard output, as pages and as pictures.

What goes in: a release, a verification, an assessment, a comparison, with their figures computed.
What comes out: blocks of a ``feedback.document``, which ``console`` shows on a terminal or in a
pipe and ``page`` as HTML, Markdown and PDF; JSON; a picture. Nothing is computed here and
no sensitive value is shown. Every report is
imported from its own module: each needs what it prints, and a run would load all of risk and
utility (0.1 s) to print a release. The room may import every room but ``papers`` and ``cli``.
"""
