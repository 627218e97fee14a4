"""A process of a section: measures one thing, and prints what it finds as lines of JSON."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from searching import goals, growth, values
from searching.processes import within_memory
from searching.ways import warm

MEASURES: Mapping[str, Callable[..., Iterator[dict[str, Any]]]] = {
    "goals": goals.measure,
    "values": values.measure,
    "growth": growth.measure,
}


def main() -> None:
    """Measure what the words on the command line say."""
    section, *words = sys.argv[1:]
    with within_memory():
        warm()
        for found in MEASURES[section](*words):
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
