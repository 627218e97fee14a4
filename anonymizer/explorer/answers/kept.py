"""Answers that are kept, so that undoing a step, or another page, does not compute them again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class KeptAnswers(Generic[T]):
    """The answers that were used last, at most so many, by what they are answers to.

    >>> kept = KeptAnswers(1)
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2), kept.get("b", lambda: 3)
    (1, 1, 3)
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The answer to a key, made now if it is not kept.

        Two threads may make it at once: none waits for another, which may have been ended.
        """
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        found = make()
        with self._lock:
            self._found[key] = found
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return found

    def clear(self) -> None:
        """Keep none of them any more."""
        with self._lock:
            self._found.clear()
