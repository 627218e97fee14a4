"""Pictures of results, one module for each kind.

What goes in: a result and a path. What comes out: a PNG, SVG or PDF file. Its modules need
matplotlib and are imported by name only when a picture is drawn.
"""
