"""Files that are replaced whole or not at all."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cupel.commands.written_files import write_text_file
from cupel.errors import CupelError
from cupel.stack.paths import write_private
from cupel.whole_files import remove_unfinished, replace_file, whole_file


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Writes beyond this size fail like on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def content_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old and long")
    replace_file(tmp_path / "file", "new")
    assert content_of(tmp_path) == {"file": "new"}


def test_a_file_that_cannot_be_encoded_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_file(tmp_path / "file", "\ud800")
    assert content_of(tmp_path) == {"file": "old"}


@pytest.mark.parametrize("old", [{}, {"report.md": "of last week"}], ids=["new", "replaced"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, old: dict[str, str]) -> None:
    for name, text in old.items():
        (tmp_path / name).write_text(text)
    with full_disk(4_096), pytest.raises(CupelError, match=r"report\.md was not written: File too large"):
        write_text_file(tmp_path / "report.md", "x" * 10_000)
    assert content_of(tmp_path) == old


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with suppress(KeyboardInterrupt), whole_file(tmp_path / "file") as unfinished:
        unfinished.write_text("half")
        raise KeyboardInterrupt
    assert content_of(tmp_path) == {"file": "old"}


def test_the_old_file_can_be_read_until_the_new_one_is_complete(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with whole_file(tmp_path / "file") as unfinished:
        unfinished.write_text("new")
        assert (tmp_path / "file").read_text() == "old"


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    replace_file(tmp_path / "file", "new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_private_file_is_private_before_it_has_content(tmp_path: Path) -> None:
    with whole_file(tmp_path / "local.json", is_private=True) as unfinished:
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600


def test_a_private_file_does_not_take_over_a_wider_mode(tmp_path: Path) -> None:
    (tmp_path / "local.json").write_text("old")
    (tmp_path / "local.json").chmod(0o644)
    write_private(tmp_path / "local.json", "new")
    assert stat.S_IMODE((tmp_path / "local.json").stat().st_mode) == 0o600


def test_a_link_goes_on_to_point_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    replace_file(tmp_path / "link", "new")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "file").read_text()) == (True, "new")


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, "text")
    assert (os.read(reader, 10), pipe.is_fifo()) == (b"text", True)
    os.close(reader)


def test_what_a_killed_writer_has_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "ssm.json").write_text("{}")
    (tmp_path / "ssm.json.123.unfinished").write_text("{")
    remove_unfinished(tmp_path)
    assert content_of(tmp_path) == {"ssm.json": "{}"}
