"""``python -m anonymizer`` is the command line."""

from anonymizer.cli import main

if __name__ == "__main__":
    main()
