"""Computations in threads: a newer one ends an older one, and a closed page ends them all."""

import asyncio
from threading import Event
from time import monotonic, sleep

import pytest
from explorer.conftest import small_study
from explorer.driving import in_a_loop

from anonymizer.explorer.work import StoppedError, SupersededError, Work, Works
from anonymizer.tables.files.opening import readable

SECONDS = 20.0
"""What a busy machine gets."""


def endless(begun: Event, ended: Event):
    """What computes until it is told to end."""

    def compute(watch: Work) -> str:
        try:
            until = monotonic() + SECONDS
            while monotonic() < until:
                watch("searching", 1, None)
                begun.set()
                sleep(0.001)
        finally:
            ended.set()
        return "nobody ended it"

    return compute


async def begun_in(works: Works, kind: str, begun: Event, ended: Event) -> asyncio.Task:
    task = asyncio.create_task(works.ask(kind, endless(begun, ended)))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    return task


def test_a_newer_one_of_its_kind_ends_an_older_one():
    async def scene():
        works, begun, ended = Works(), Event(), Event()
        old = await begun_in(works, "outcome", begun, ended)
        other, other_ended = Event(), Event()
        third = await begun_in(works, "frontier", other, other_ended)
        assert works.busy("outcome")
        assert await works.ask("outcome", lambda watch: "new") == "new"
        with pytest.raises(SupersededError):
            await old
        assert ended.is_set()
        assert not other_ended.is_set()  # another kind goes on
        works.close()
        with pytest.raises(SupersededError):
            await third
        assert works.ended(SECONDS)

    in_a_loop(scene())


def test_what_is_closed_ends_everything_and_begins_nothing():
    async def scene():
        works, begun, ended = Works(), Event(), Event()
        task = await begun_in(works, "outcome", begun, ended)
        works.close()
        with pytest.raises(SupersededError):
            await task
        assert works.ended(SECONDS)
        assert ended.is_set()
        with pytest.raises(SupersededError):
            await works.ask("outcome", lambda watch: "too late")

    in_a_loop(scene())


def test_the_best_so_far_is_taken_where_there_is_one():
    def search(watch: Work) -> str:
        best = "nothing"
        try:
            for number in range(int(SECONDS * 1000)):
                watch("searching", number, None)
                best = "the best so far"
                sleep(0.001)
        except KeyboardInterrupt:
            return best
        return "all of it"

    async def scene():
        works = Works()
        for function, found in ((search, "the best so far"), (endless(Event(), Event()), None)):
            task = asyncio.create_task(works.ask("outcome", function))
            while not works.running or not works.running[0].doing:
                await asyncio.sleep(0.001)
            works.settle()
            if found is None:
                with pytest.raises(StoppedError):
                    await task
            else:
                assert await task == found

    in_a_loop(scene())


def test_mistakes_of_a_computation_are_those_of_who_asked():
    async def scene():
        works = Works()
        with pytest.raises(ZeroDivisionError):
            await works.ask("outcome", lambda watch: 1 / 0)
        assert works.running == []

    in_a_loop(scene())


def test_what_nobody_waits_for_any_more_is_no_damaged_table(tmp_path):
    """What ends the reading of a file by force is not taken for a mistake in it."""
    path = small_study(tmp_path)
    watch = Work(ended=True)
    with pytest.raises(SupersededError), readable(path):
        watch("reading", 1, None)


def test_a_thread_that_does_not_look_up_is_known():
    async def scene():
        works, go_on = Works(), Event()
        task = asyncio.create_task(works.ask("outcome", lambda watch: go_on.wait(SECONDS)))
        while not works._at_work:
            await asyncio.sleep(0.001)
        works.close()
        assert not works.ended(0.05)
        go_on.set()
        with pytest.raises(SupersededError):
            await task
        assert works.ended(SECONDS)

    in_a_loop(scene())
