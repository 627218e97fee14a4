"""Files of a release: each appears whole or not at all, whatever ends the process.

What goes in: a path, and functions that write files elsewhere. What comes out: files with their
names, on the disk, and sentences about what stands. One run at a time writes an output, which a
lock file next to it ensures; ``directory`` replaces a whole release, ``atomic`` a single file. The
room may import ``errors`` alone, besides the standard library.
"""
