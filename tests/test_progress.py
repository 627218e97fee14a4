"""The progress bar: late, on standard error, silent without a terminal."""

import io
import signal
import time
from contextlib import suppress

import pytest
from rich.console import Console

from anonymizer.errors import Ended
from anonymizer.interrupts import never_lost
from anonymizer.report import progress


def screen():
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def test_nothing_is_shown_of_what_is_quick():
    console = screen()
    with progress(console, after=60) as watch:
        watch("counting", 1, 2)
    assert console.file.getvalue() == ""


def test_what_takes_longer_is_shown():
    console = screen()
    with progress(console, after=0.05) as watch:
        watch("counting the table", 0, None)
        time.sleep(0.4)
        watch("scoring nodes", 1234, None)
        time.sleep(0.3)
        watch("searching the lattice", 30, 120)
        time.sleep(0.3)
    shown = console.file.getvalue()
    assert "counting the table" in shown
    assert "scoring nodes (1,234)" in shown
    assert "searching the lattice" in shown


def test_without_a_terminal_nothing_is_shown():
    console = Console(file=io.StringIO(), force_terminal=False)
    with progress(console, after=0) as watch:
        watch("counting", 0, None)
        time.sleep(0.1)
    assert console.file.getvalue() == ""


def failing(console):
    with progress(console, after=0):
        time.sleep(0.1)
        raise ValueError("ours")


def test_an_error_ends_it():
    console = screen()
    with pytest.raises(ValueError, match="ours"):
        failing(console)
    assert "\x1b[?25h" in console.file.getvalue()  # the cursor is back


def test_an_interrupt_that_somebody_swallowed_is_raised_again():
    told = []
    with never_lost(lambda *what: told.append(what)) as watch:
        watch("searching", 1, None)
        with suppress(KeyboardInterrupt):  # as a compiler at work does
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            watch("searching", 2, None)
        watch("searching", 3, None)
        with pytest.raises(KeyboardInterrupt):  # caught by who ends the search
            signal.raise_signal(signal.SIGINT)
        watch("writing", 0, None)
        watch("searching", 4, None)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Ended):
            watch("searching", 5, None)
    assert [done for _, done, _ in told] == [1, 3, 0, 4]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
