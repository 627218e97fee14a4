"""What narwhals cannot express for one library: a module for each, imported when it is needed.

In go tables that narwhals sees, out come such. Imports the frames that they specialise.
"""
