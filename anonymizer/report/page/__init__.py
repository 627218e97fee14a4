"""A release as one page that people read: HTML, Markdown, PDF or DOCX, from its folder alone.

What goes in: a release folder, and its study where recodings are to be compared. What comes out: a
self-contained page. ``evidence`` verifies and recounts the release, ``policy`` (what holds),
``risks`` (who is found) and ``changes`` (the data) write sections as blocks of a
``feedback.document``, and ``page`` fills templates with these, or ``docx`` writes them. ``papers``
lists the fields that reviewers require, ``answers`` fills them in, ``paper`` makes a page of both.
Every number of a page is in the manifest or was recounted from the released table.
"""

from anonymizer.report.page.evidence import pictures_drawn
from anonymizer.report.page.page import FORMS, report_of

__all__ = ["FORMS", "pictures_drawn", "report_of"]
