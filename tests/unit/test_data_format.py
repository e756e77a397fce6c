"""Data in another format are recognised by the number beside them, and refused before anything is started."""

from pathlib import Path

import pytest

from cupel.errors import CupelError
from cupel.stack import emulator, lifecycle
from cupel.stack.lifecycle import check_data_format
from cupel.stack.paths import StackPaths


@pytest.fixture
def paths(tmp_path: Path) -> StackPaths:
    return StackPaths(tmp_path / "repository", tmp_path / "state")


def store_something(paths: StackPaths) -> None:
    (paths.data / "journal").mkdir(parents=True)


def test_data_that_were_stored_after_the_mark_are_accepted(paths: StackPaths) -> None:
    check_data_format(paths)
    store_something(paths)
    check_data_format(paths)


def test_data_without_a_mark_are_refused_with_the_command_that_deletes_them(paths: StackPaths) -> None:
    store_something(paths)
    with pytest.raises(CupelError, match=r"another format .*`cupel down --discard` deletes them"):
        check_data_format(paths)


@pytest.mark.parametrize("mark", [b"1", b"", b"\xff"])
def test_data_with_another_mark_are_refused(paths: StackPaths, mark: bytes) -> None:
    store_something(paths)
    paths.data_format.write_bytes(mark)
    with pytest.raises(CupelError):
        check_data_format(paths)


def test_a_mark_that_no_data_followed_is_replaced(paths: StackPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    check_data_format(paths)
    monkeypatch.setattr(lifecycle, "DATA_FORMAT", 9)
    check_data_format(paths)
    assert paths.data_format.read_text() == "9"


def test_nothing_is_started_with_data_in_another_format(paths: StackPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    store_something(paths)
    monkeypatch.setattr(lifecycle, "_up", lambda *_: pytest.fail("the stack was started"))
    with pytest.raises(CupelError):
        lifecycle.up(paths, None, lambda _: None)


def test_discarded_data_make_room_for_new_ones(paths: StackPaths) -> None:
    store_something(paths)
    emulator.discard(paths)
    check_data_format(paths)
    assert paths.data_format.exists()
