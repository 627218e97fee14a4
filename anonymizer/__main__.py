"""``python -m anonymizer`` is the command line."""

from anonymizer.cli import program

if __name__ == "__main__":
    program()
