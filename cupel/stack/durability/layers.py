"""Unpacks layers and the code of functions once for all workers, and keeps them for the next start.

The emulator would unpack their thousands of files again for each worker. That takes 0.6 s of a processor, and several
times as long where files are slow to create; a start of a worker takes 0.5 s otherwise.
"""

import os
import shutil
import zipfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

_LAYER_PREFIX = "layer_"
"""How the emulator names the archive of a layer, and the folder beside it in which the layer belongs."""
_CODE = "code.zip"
"""The emulator gives this name to the archive of a function's code, which is the same for most functions."""
_STARTED = "started"
"""The modification time of this file is when the last emulator that needed anything in the folder first did."""
_UNFINISHED, _DELETED = ".new", ".deleted"


class SharedLayers:
    """The module `zipfile`, as seen by the emulator's module that starts workers."""

    def __init__(self, folder: Path) -> None:
        """Delete what no worker has needed since the last start: the layers and the code of earlier deployments."""
        folder.mkdir(exist_ok=True)
        _delete_unused(folder)
        self._folder = folder
        self._lock = Lock()
        self._is_used = False

    def __getattr__(self, name: str) -> Any:
        return getattr(zipfile, name)

    def ZipFile(self, path: str) -> zipfile.ZipFile:  # noqa: N802 - a name of the module
        if Path(path).name != _CODE and not Path(path).name.startswith(_LAYER_PREFIX):
            return zipfile.ZipFile(path)
        with self._lock:
            if not self._is_used:
                (self._folder / _STARTED).touch()
                self._is_used = True
        return _SharedArchive(path, self._folder, self._lock)


class _SharedArchive(zipfile.ZipFile):
    """An archive that is extracted to a shared folder, the entries of which are linked to."""

    def __init__(self, path: str, folder: Path, lock: Lock) -> None:
        super().__init__(path)
        self._shared, self._one_at_a_time = folder / _digest(self), lock

    def namelist(self) -> list[str]:
        """Return what `extractall` creates. The emulator checks these paths; `ZipFile` checks all others."""
        return sorted({each.filename.partition("/")[0] for each in self.infolist()})

    def extractall(self, path: Any = None, *_: Any) -> None:
        with self._one_at_a_time:
            if not self._shared.exists():
                unfinished = self._shared.with_suffix(_UNFINISHED)
                super().extractall(unfinished, self.infolist())
                os.sync()  # After a power cut, files of a folder with this name must not be empty.
                unfinished.rename(self._shared)
            os.utime(self._shared)
        for entry in self._shared.iterdir():
            (Path(path) / entry.name).symlink_to(entry)
        Path(str(self.filename)).unlink()  # 20 MB for each worker, which nobody reads again.


def _delete_unused(folder: Path) -> None:
    """Rename what is deleted first, so that a start that is killed leaves nothing that looks complete."""
    started = folder / _STARTED
    last_start = started.stat().st_mtime if started.exists() else 0.0
    for unpacked in [path for path in folder.iterdir() if path.is_dir()]:
        if not unpacked.suffix and unpacked.stat().st_mtime < last_start:
            with suppress(OSError):  # An earlier start could not delete all of it.
                unpacked.rename(unpacked.with_suffix(_DELETED))
    for incomplete in (*folder.glob(f"*{_DELETED}"), *folder.glob(f"*{_UNFINISHED}")):
        shutil.rmtree(incomplete, ignore_errors=True)


def _digest(archive: zipfile.ZipFile) -> str:
    """Return a digest of the names and checksums of the archive's files, which determine what is extracted."""
    digest = sha256()
    for each in archive.infolist():
        digest.update(f"{each.filename}\0{each.CRC}\0{each.file_size}\n".encode())
    return digest.hexdigest()
