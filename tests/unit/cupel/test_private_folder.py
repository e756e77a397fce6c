"""Only its owner can read what is written to `.cupel` without a stack."""

import stat
from pathlib import Path

import pytest

from cupel.in_process.answer_cache import open_cache
from cupel.private_folder import make_folder_of


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [None, 0o755])
def test_a_file_below_cupel_closes_it(tmp_path: Path, mode: int | None) -> None:
    if mode:
        (tmp_path / ".cupel").mkdir(mode=mode)
    make_folder_of(tmp_path / ".cupel" / "evaluations" / "1.jsonl")
    assert (mode_of(tmp_path / ".cupel"), (tmp_path / ".cupel" / "evaluations").is_dir()) == (0o700, True)


def test_a_folder_of_the_users_own_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    make_folder_of(tmp_path / "mine" / "1.jsonl")
    assert mode_of(tmp_path / "mine") == 0o755


def test_a_cache_of_answers_closes_its_folder(tmp_path: Path) -> None:
    with open_cache(tmp_path / ".cupel" / "answers.sqlite", 60):
        assert mode_of(tmp_path / ".cupel") == 0o700
