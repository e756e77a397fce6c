"""Saves the whole state of small services, to the files from which the emulator restores it when it starts."""

import json
from pathlib import Path
from typing import Any

from cupel.stack.durability.files import read_consistently
from cupel.stack.durability.journal import JournalError
from cupel.whole_files import remove_unfinished, replace_file


class ServiceStates:
    """Saves states; `emulator` is the module `ministack.app`, `persistence` the one that reads and writes its files."""

    def __init__(self, folder: Path, emulator: Any, persistence: Any) -> None:
        self._folder, self._emulator, self._persistence = folder, emulator, persistence
        self._saved: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_unfinished(folder)

    def encode(self, service: str) -> str:
        content = {
            "__ministack_format__": self._persistence._state_format_version(service),
            "payload": read_consistently(self._module(service).get_state),
        }
        return json.dumps(content, default=self._persistence._json_default)

    def save(self, service: str) -> None:
        """Write the file if the state has changed. After an OSError, the file is as before."""
        text = self.encode(service)
        if text == self._saved.get(service):
            return
        replace_file(self._folder / f"{service}.json", text)
        self._saved[service] = text

    def load(self, service: str, text: str) -> None:
        content = json.loads(text, object_hook=self._persistence._json_object_hook)
        self._module(service).reset()
        self._module(service).load_persisted_state(content["payload"])

    def _module(self, service: str) -> Any:
        return self._emulator._get_module(self._emulator._state_map[service])


def check_files(folder: Path) -> None:
    """Raise JournalError for an unreadable file, without which the emulator would start."""
    for path in folder.glob("*.json"):
        try:
            json.loads(path.read_bytes())
        except ValueError as error:
            raise JournalError(
                f"{path} is damaged ({error}). To lose what it stored and keep the rest:\n"
                f"  mv {path} {path}.damaged\n"
                f"then `cupel up`. To lose everything: `cupel down --discard`."
            ) from error
