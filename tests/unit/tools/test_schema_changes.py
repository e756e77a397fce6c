"""The comparison of two GraphQL schemas names what was added, and fails for what breaks a client."""

from pathlib import Path

import pytest

from tools import schema_changes

BEFORE = "type Query { run(id: ID!): Run } type Run { id: ID! name: String }"
LARGER = "type Query { run(id: ID!, deep: Boolean): Run me: String } type Run { id: ID! name: String } enum Kind { a }"
SMALLER = "type Query { run(id: ID!): Run } type Run { id: ID! }"


def compare(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], after: str
) -> tuple[int, str]:
    (folder / "before").write_text(BEFORE)
    (folder / "after").write_text(after)
    monkeypatch.setattr("sys.argv", ["schema_changes", str(folder / "before"), str(folder / "after")])
    return schema_changes.main(), capsys.readouterr().out


def test_what_was_added_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed = compare(tmp_path, monkeypatch, capsys, LARGER)
    added = "added: 3\n  type Kind\n  Query.run(deep: Boolean)\n  Query.me: String\n"
    assert (status, printed) == (0, f"{added}dangerous: 0\nbreaking: 0\n")


def test_what_was_removed_breaks_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed = compare(tmp_path, monkeypatch, capsys, SMALLER)
    assert (status, printed) == (1, "added: 0\ndangerous: 0\nbreaking: 1\n  Run.name was removed.\n")
