"""Layers and code are unpacked once for all workers."""

import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cupel.stack.durability.processes import SharedLayers


@pytest.fixture(autouse=True)
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One for each time that the disk would be written, which takes seconds on a busy machine."""
    made: list[None] = []
    monkeypatch.setattr(os, "sync", lambda: made.append(None))
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "layers"
    folder.mkdir()
    return folder


@pytest.fixture
def layers(folder: Path) -> Any:
    return SharedLayers(folder)


def archive(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("python/package/__init__.py", content)
        file.writestr("python/other.py", "")
    return path


def unpack(layers: Any, worker: Path, content: str = "") -> Path:
    """Unpack a layer as the emulator does for a worker, and return the path of the module."""
    target = worker / "layer_0"
    target.mkdir(parents=True)
    with layers.ZipFile(str(archive(worker / "layer_0.zip", content))) as file:
        file.extractall(str(target))
    return target / "python/package/__init__.py"


def layers_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()]


def test_workers_with_one_layer_share_its_files(layers: Any, folder: Path, tmp_path: Path, syncs: list[None]) -> None:
    first, second = (unpack(layers, tmp_path / name, "shared") for name in ("a", "b"))
    assert (first.read_text(), first.samefile(second), len(layers_in(folder))) == ("shared", True, 1)
    assert len(syncs) == 1


def test_layers_with_other_contents_are_kept_apart(layers: Any, tmp_path: Path) -> None:
    assert [unpack(layers, tmp_path / text, text).read_text() for text in ("old", "new")] == ["old", "new"]


def test_what_was_left_half_unpacked_is_completed(layers: Any, folder: Path, tmp_path: Path) -> None:
    unpack(layers, tmp_path / "a")
    (complete,) = layers_in(folder)
    complete.rename(folder / f"{complete.name}.new")
    (folder / f"{complete.name}.new" / "python/other.py").unlink()
    module = unpack(layers, tmp_path / "b")
    assert (module.parents[1] / "other.py").is_file()


def test_a_start_that_is_killed_while_it_deletes_leaves_nothing_incomplete(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = unpack(SharedLayers(folder), tmp_path / "a", "content").resolve()
    for layer in layers_in(folder):
        os.utime(layer, (0, 0))

    def delete_part_and_die(path: Path, **_: Any) -> None:
        (path / "python/other.py").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", delete_part_and_die)
        with pytest.raises(KeyboardInterrupt):
            SharedLayers(folder)
    assert not module.exists()
    again = unpack(SharedLayers(folder), tmp_path / "b", "content")
    assert (again.parents[1] / "other.py").exists()
    assert len(layers_in(folder)) == 1


def test_the_emulator_checks_the_paths_of_what_is_created(layers: Any, tmp_path: Path) -> None:
    with layers.ZipFile(str(archive(tmp_path / "layer_0.zip", ""))) as file:
        assert file.namelist() == ["python"]


def test_functions_with_the_same_code_share_its_files(layers: Any, folder: Path, tmp_path: Path) -> None:
    for worker in (tmp_path / "a", tmp_path / "b"):
        (worker / "code").mkdir(parents=True)
        with layers.ZipFile(str(archive(worker / "code.zip", "code"))) as file:
            file.extractall(str(worker / "code"))
        assert (worker / "code/python/package/__init__.py").read_text() == "code"
    assert len(layers_in(folder)) == 1


def test_another_archive_is_unpacked_as_ever(layers: Any, folder: Path, tmp_path: Path) -> None:
    with layers.ZipFile(str(archive(tmp_path / "other.zip", "other"))) as file:
        file.extractall(str(tmp_path / "other"))
    assert (tmp_path / "other/python/package/__init__.py").read_text() == "other"
    assert layers_in(folder) == []


def test_a_start_keeps_what_was_needed_since_the_last_one(folder: Path, tmp_path: Path) -> None:
    first = SharedLayers(folder)
    old, kept = (unpack(first, tmp_path / f"first-{name}", name).resolve() for name in ("old", "kept"))
    os.utime(folder / "started", (0, 0))
    second = SharedLayers(folder)
    assert (old.exists(), kept.exists()) == (True, True)
    for layer in layers_in(folder):
        os.utime(layer, (0, 0))
    again = unpack(second, tmp_path / "second", "kept")
    assert again.samefile(kept)
    SharedLayers(folder)
    assert (old.exists(), kept.exists()) == (False, True)


def test_the_archive_of_a_layer_does_not_stay(layers: Any, tmp_path: Path) -> None:
    unpack(layers, tmp_path / "worker")
    assert [path.name for path in (tmp_path / "worker").iterdir()] == ["layer_0"]


def test_everything_else_is_the_modules(layers: Any) -> None:
    assert layers.BadZipFile is zipfile.BadZipFile
