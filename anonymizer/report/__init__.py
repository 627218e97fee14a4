"""What a person reads: releases, verifications and comparisons as tables of text, and pictures.

Results of the rooms below go in, text on standard output comes out; nothing but the command line
and the papers imports it. Every report is imported from its own module: each needs what it prints,
and a run would load all of risk and utility (0.1 s) to print a release.
"""
