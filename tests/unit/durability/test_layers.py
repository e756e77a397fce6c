"""Layers are unpacked once for all workers."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from cupel.stack.durability.layers import SharedLayers


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


def test_workers_with_one_layer_share_its_files(layers: Any, folder: Path, tmp_path: Path) -> None:
    first, second = (unpack(layers, tmp_path / name, "shared") for name in ("a", "b"))
    assert (first.read_text(), first.samefile(second), len(list(folder.iterdir()))) == ("shared", True, 1)


def test_layers_with_other_contents_are_kept_apart(layers: Any, tmp_path: Path) -> None:
    assert [unpack(layers, tmp_path / text, text).read_text() for text in ("old", "new")] == ["old", "new"]


def test_what_was_left_half_unpacked_is_completed(layers: Any, folder: Path, tmp_path: Path) -> None:
    unpack(layers, tmp_path / "a")
    (complete,) = folder.iterdir()
    complete.rename(folder / f"{complete.name}.new")
    (folder / f"{complete.name}.new" / "python/other.py").unlink()
    module = unpack(layers, tmp_path / "b")
    assert (module.parents[1] / "other.py").is_file()


def test_the_emulator_checks_the_paths_of_what_is_created(layers: Any, tmp_path: Path) -> None:
    with layers.ZipFile(str(archive(tmp_path / "layer_0.zip", ""))) as file:
        assert file.namelist() == ["python"]


def test_the_code_of_a_function_is_unpacked_as_ever(layers: Any, folder: Path, tmp_path: Path) -> None:
    with layers.ZipFile(str(archive(tmp_path / "code.zip", "code"))) as file:
        file.extractall(str(tmp_path / "code"))
    assert (tmp_path / "code/python/package/__init__.py").read_text() == "code"
    assert list(folder.iterdir()) == []


def test_the_archive_of_a_layer_does_not_stay(layers: Any, tmp_path: Path) -> None:
    unpack(layers, tmp_path / "worker")
    assert [path.name for path in (tmp_path / "worker").iterdir()] == ["layer_0"]


def test_everything_else_is_the_modules(layers: Any) -> None:
    assert layers.BadZipFile is zipfile.BadZipFile
