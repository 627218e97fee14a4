"""The progress bar: late, on standard error, silent without a terminal."""

import io
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from rich.console import Console
from waiting import until

from anonymizer.errors import Ended
from anonymizer.feedback.progress import progress
from anonymizer.release.system import ends_as_interrupts, held, never_lost


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
        until(lambda: "counting the table" in console.file.getvalue())
        watch("scoring nodes", 1234, None)
        until(lambda: "scoring nodes: 1,234" in console.file.getvalue())
        watch("searching the lattice", 30, 120)
        until(lambda: "searching the lattice: 30 of 120" in console.file.getvalue())


def test_without_a_terminal_nothing_is_shown():
    console = Console(file=io.StringIO(), force_terminal=False)
    with progress(console, after=0) as watch:
        watch("counting", 0, None)
        time.sleep(0.1)
    assert console.file.getvalue() == ""


def failing(console):
    with progress(console, after=0):
        until(console.file.getvalue)
        raise ValueError("ours")


def test_an_error_ends_it():
    console = screen()
    with pytest.raises(ValueError, match="ours"):
        failing(console)
    assert "\x1b[?25h" in console.file.getvalue()  # the cursor is back


def test_an_interrupt_that_somebody_swallowed_is_raised_again():
    reports = []
    with never_lost(lambda *what: reports.append(what)) as watch:
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
    assert [done for _, done, _ in reports] == [1, 3, 0, 4]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# Signals that are held


def held_back(done, *numbers):
    with held():
        for number in numbers:
            signal.raise_signal(number)
        done.append("what must not be left halfway")


def acting(done, early, late):
    with held() as signals:
        for number in early:
            signal.raise_signal(number)
        done.append("held")
        with signals.acting():
            done.append("acting")
            for number in late:
                signal.raise_signal(number)
            done.append("no signal")


def test_a_held_signal_acts_when_it_is_let_go():
    done = []
    with pytest.raises(KeyboardInterrupt):
        held_back(done, signal.SIGINT)
    assert done == ["what must not be left halfway"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [([signal.SIGINT], [], ["held"]), ([], [signal.SIGINT], ["held", "acting"])],
)
def test_what_takes_long_can_be_interrupted(early, late, expected):
    done = []
    with pytest.raises(KeyboardInterrupt):
        acting(done, early, late)
    assert done == expected


def held_twice(done):
    with ends_as_interrupts(), held():
        held_back(done, signal.SIGTERM)
        done.append("outer")


def test_what_is_held_twice_is_let_go_once():
    done = []
    with pytest.raises(Ended):
        held_twice(done)
    assert done == ["what must not be left halfway", "outer"]


def test_a_request_to_end_comes_before_an_interrupt_by_hand():
    with pytest.raises(Ended), ends_as_interrupts():
        held_back([], signal.SIGINT, signal.SIGTERM)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no such signal")
def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with ends_as_interrupts(), held():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("late", ["raise_signal(number)", "atexit.register(raise_signal, number)"])
def test_a_signal_after_the_outcome_does_not_change_it(name, late):
    code = (
        "import atexit\n"
        f"from signal import {name} as number, raise_signal\n"
        "from anonymizer.release.system import ends_as_interrupts, settled\n"
        f"{late if 'atexit' in late else ''}\n"
        "settled()\n"
        "with ends_as_interrupts():\n"
        "    pass\n"
        f"{late if 'atexit' not in late else ''}\n"
        "raise SystemExit(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
