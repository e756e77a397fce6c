"""What a run was started with, kept once: the definition's content, the scenario pages, and the selection."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shared.domain.scenarios import Manifest, Scenario
from shared.store import blobs, scenarios


@dataclass(frozen=True)
class Snapshot:
    definition: dict[str, Any]
    """The definition's content in the API's shape."""
    manifest: Manifest
    selection: tuple[int, ...]
    """Positions in the manifest, in drawn order."""

    def scenario(self, position: int) -> Scenario:
        """The scenario at a position of the selection."""
        return scenarios.at(self.manifest, self.selection[position])


def put(key: str, snapshot: Snapshot) -> None:
    blobs.put_json(
        key,
        {
            "definition": snapshot.definition,
            "manifest": snapshot.manifest.to_json(),
            "selection": list(snapshot.selection),
        },
    )


@lru_cache(maxsize=32)
def get(key: str) -> Snapshot:
    """Snapshots never change, so a process reads each once."""
    body = blobs.get_json(key)
    return Snapshot(body["definition"], Manifest.from_json(body["manifest"]), tuple(body["selection"]))
