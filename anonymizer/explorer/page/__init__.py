"""The page in the browser: its server, who may see it, its frame, and what views are built of.

In go a session and answers, out comes a page. Only ``toolkit`` imports the framework.
"""
