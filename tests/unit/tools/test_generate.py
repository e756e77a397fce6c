"""`python -m tools.generate` writes the files that git does not contain, and nothing if they are current."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tools import generate


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small clone whose generated files are current."""
    for name in ("docs/openapi.json", "uv.lock", "shared/cupel_core/base/errors.py", *generate.GENERATED):
        generate.write(tmp_path / name, name.encode())
    generate.write(tmp_path / ".cupel/generated.digest", generate.digest_inputs(tmp_path).encode())
    return tmp_path


def is_current(root: Path) -> bool:
    return generate.is_current(root, generate.digest_inputs(root))


def test_files_of_unchanged_inputs_are_current(root: Path) -> None:
    assert is_current(root)


@pytest.mark.parametrize("name", generate.GENERATED)
def test_a_missing_file_is_not_current(root: Path, name: str) -> None:
    (root / name).unlink()
    assert not is_current(root)


def test_a_changed_input_makes_the_files_outdated(root: Path) -> None:
    (root / "shared/cupel_core/base/errors.py").write_text("changed")
    assert not is_current(root)


def test_a_renamed_input_makes_the_files_outdated(root: Path) -> None:
    (root / "shared/cupel_core/base/errors.py").rename(root / "shared/cupel_core/failures.py")
    assert not is_current(root)


def test_other_files_do_not_make_them_outdated(root: Path) -> None:
    (root / "docs/notes.md").write_text("notes")
    assert is_current(root)


def test_every_generated_file_is_ignored_by_git_and_not_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {f"/{name}" for name in generate.GENERATED} <= set(ignored)
    listed = subprocess.run(["git", "ls-files", *generate.GENERATED], cwd=ROOT, capture_output=True, check=False)
    assert listed.stdout == b""


def test_what_is_rendered_are_the_generated_files() -> None:
    assert {name for name, _ in generate.render()} == set(generate.GENERATED)


def test_it_starts_without_any_installed_package() -> None:
    command = [sys.executable, "-S", "-c", "from tools.generate import ROOT, digest_inputs; digest_inputs(ROOT)"]
    subprocess.run(command, cwd=ROOT, check=True)


def test_without_uv_and_requirements_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "is_current", lambda *_: False)
    monkeypatch.setattr(generate, "find_spec", lambda _: None)
    monkeypatch.setattr(generate, "find_uv", lambda: None)
    monkeypatch.setattr(sys, "argv", ["generate"])
    with pytest.raises(SystemExit, match="1"):
        generate.main()
    assert "uv, which installs them, is not on PATH" in capsys.readouterr().err
