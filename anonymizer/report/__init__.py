"""What a person reads: results as lines, tables of text and pictures on standard output.

What goes in: a release, a verification, an assessment, a comparison, with their figures computed.
What comes out: text for a terminal or a pipe, JSON, a picture. Every table is built by
``console.table_of``; nothing is computed here and no sensitive value is shown. Every report is
imported from its own module: each needs what it prints, and a run would load all of risk and
utility (0.1 s) to print a release. The room may import every room but ``papers`` and ``cli``.
"""
