"""What was decided in an exploration: the text of a study, step by step, kept in a log.

In go changes of a study, out comes its text. Nothing here is about a table or a page.
"""
