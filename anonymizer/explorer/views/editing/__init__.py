"""Parts of the views that change tables and hierarchies: names, levels of ranges, trees.

In goes what a view knows, out come its elements; what is decided goes back to the view.
"""
