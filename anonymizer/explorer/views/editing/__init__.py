"""Parts of the views that change roles and hierarchies: areas, rows, levels, trees and fields.

In goes what a view knows, out come its elements; what is decided goes back to the view.
"""
