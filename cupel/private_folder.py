"""Creates `.cupel`, the folder of a stack and of evaluations in this process, which only its owner may enter."""

from pathlib import Path

NAME = ".cupel"


def make_private(folder: Path) -> None:
    """Create a folder that only this user may enter, or close one."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def make_folder_of(path: Path) -> None:
    """Create the folder in which a file is to be written; a `.cupel` above it is closed to others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in path.parents:
        if folder.name == NAME:
            make_private(folder)
