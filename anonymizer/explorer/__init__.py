"""The explorer: a local page on which a person decides, and sees what the decision costs.

In goes a study, or a raw table; out come a study and a release. ``session`` knows what was
decided, ``answers`` what follows from it, ``page`` shows it in a browser, and ``views`` are its
parts. Sessions and answers know nothing of browsers, and only ``page.toolkit`` imports the
framework. It stands apart: it may import every room but ``cli`` and ``papers``, and nothing imports
it. The command line finds its command by name.
"""
