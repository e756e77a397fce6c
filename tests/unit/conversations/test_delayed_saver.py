"""Saving soon after a change, but not at every change."""

import asyncio

import pytest

from cupel_core.conversations.delayed_saver import DelayedSaver


class Saves:
    def __init__(self) -> None:
        self.count = 0
        self.done = asyncio.Event()

    async def __call__(self) -> None:
        self.count += 1
        self.done.set()


async def test_changes_are_saved_together_after_the_delay() -> None:
    saves = Saves()
    saver = DelayedSaver(saves, delay_seconds=0.01)
    saver.note_change()
    saver.note_change()
    await asyncio.wait_for(saves.done.wait(), 5)
    await saver.flush()
    assert saves.count == 1


async def test_a_flush_saves_at_once() -> None:
    saves = Saves()
    saver = DelayedSaver(saves, delay_seconds=60)
    saver.note_change()
    await saver.flush()
    assert saves.count == 1


async def test_after_a_stop_nothing_is_saved() -> None:
    saves = Saves()
    saver = DelayedSaver(saves, delay_seconds=0)
    saver.note_change()
    await saver.stop()
    await asyncio.sleep(0.01)
    assert saves.count == 0


async def test_a_flush_repeats_a_failed_save() -> None:
    saves = Saves()

    async def fail_once() -> None:
        await saves()
        if saves.count == 1:
            raise OSError("the table is gone")

    saver = DelayedSaver(fail_once, delay_seconds=0)
    saver.note_change()
    await asyncio.wait_for(saves.done.wait(), 5)
    await saver.flush()
    assert saves.count == 2


async def test_a_failing_flush_is_raised() -> None:
    async def fail() -> None:
        raise OSError("the table is gone")

    saver = DelayedSaver(fail, delay_seconds=60)
    saver.note_change()
    with pytest.raises(OSError, match="gone"):
        await saver.flush()
