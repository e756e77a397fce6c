"""Patterns of paths in imports, compared with pathlib's own matching."""

import time
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.interop.imports.files import InMemoryFiles, matching_paths

NAMES = st.lists(st.sampled_from(["a", "ab", "b.txt", ".c"]), min_size=1, max_size=5)
STEPS = st.lists(st.sampled_from(["a", "a*", "**", "*", "?", "[ab]", "[!a]*", "*.txt", ".*"]), min_size=1, max_size=5)


@given(NAMES, STEPS)
def test_a_pattern_matches_what_pathlib_matches(names: list[str], steps: list[str]) -> None:
    path, pattern = "/".join(names), "/".join([*steps, "*"])
    expected = [path] if PurePosixPath(path).full_match(pattern) else []
    assert matching_paths(InMemoryFiles({path: ""}), pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "paths"), [("a/**", ["a/b", "a/c/d"]), ("**/d", ["a/c/d"]), ("**", ["a/b", "a/c/d", "e"])]
)
def test_two_asterisks_stand_for_any_number_of_folders(pattern: str, paths: list[str]) -> None:
    files = InMemoryFiles(dict.fromkeys(["a/b", "a/c/d", "e"], ""))
    assert matching_paths(files, pattern) == paths


@pytest.mark.parametrize("pattern", ["*a" * 40 + "*b.txt", "**/a/" * 40 + "b"])
def test_a_pattern_of_many_asterisks_takes_no_longer_than_a_short_one(pattern: str) -> None:
    files = InMemoryFiles({"a" * 200 + ".txt": "", "a/" * 200 + "c": ""})
    started_at = time.process_time()
    assert matching_paths(files, pattern) == []
    assert time.process_time() - started_at < 0.4
