"""Unpacks each layer once for all workers: the emulator would unpack its thousands of files again for each of them.

That takes 0.6 s of a processor, more than the start of a worker takes otherwise, and 65 MB of disk.
"""

import zipfile
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

_LAYER_PREFIX = "layer_"
"""How the emulator names the archive of a layer, and the folder beside it in which the layer belongs."""


class SharedLayers:
    """The module `zipfile`, as seen by the emulator's module that starts workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(zipfile, name)

    def ZipFile(self, path: str) -> zipfile.ZipFile:  # noqa: N802 - a name of the module
        is_layer = Path(path).name.startswith(_LAYER_PREFIX)
        return _Layer(path, self._folder, self._lock) if is_layer else zipfile.ZipFile(path)


class _Layer(zipfile.ZipFile):
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
                unfinished = self._shared.with_name(self._shared.name + ".new")
                super().extractall(unfinished, self.infolist())
                unfinished.rename(self._shared)
        for entry in self._shared.iterdir():
            (Path(path) / entry.name).symlink_to(entry)
        Path(str(self.filename)).unlink()  # 20 MB for each worker, which nobody reads again.


def _digest(archive: zipfile.ZipFile) -> str:
    """Return a digest of the names and checksums of the archive's files, which determine what is extracted."""
    digest = sha256()
    for each in archive.infolist():
        digest.update(f"{each.filename}\0{each.CRC}\0{each.file_size}\n".encode())
    return digest.hexdigest()
