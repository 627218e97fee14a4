"""What follows from a study: answers of counts alone, for whoever shows them.

In go a study and its counted table, out come frozen results. Nothing here knows of sessions, pages
or threads; what takes long reports to a ``Watch``.
"""
