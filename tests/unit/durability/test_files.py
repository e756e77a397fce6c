from pathlib import Path

import pytest

from cupel.stack.durability.files import read_consistently, replace_file


def test_a_read_of_what_changes_meanwhile_is_repeated() -> None:
    outcomes = iter([RuntimeError("dictionary changed size during iteration"), "read"])

    def read() -> object:
        if isinstance(outcome := next(outcomes), Exception):
            raise outcome
        return outcome

    assert read_consistently(read) == "read"


def test_a_read_that_never_succeeds_fails() -> None:
    def read() -> object:
        raise RuntimeError("always")

    with pytest.raises(RuntimeError, match="always"):
        read_consistently(read)


def test_a_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old and long")
    replace_file(file, "new")
    assert ([path.name for path in tmp_path.iterdir()], file.read_text()) == (["file"], "new")


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_file(file, "\ud800")
    assert ([path.name for path in tmp_path.iterdir()], file.read_text()) == (["file"], "old")
