"""What a run was started with, kept once: the definition's content, the scenario pages, and the selection."""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shared.domain.scenarios import Manifest, Scenario, ordinal_of
from shared.errors import NotFound
from shared.store import blobs, scenarios


@dataclass(frozen=True)
class Snapshot:
    definition: dict[str, Any]
    """The definition's content in the API's shape."""
    manifest: Manifest
    selection: tuple[int, ...]
    """Positions in the manifest, ascending within each segment of the plan."""

    def scenario(self, position: int) -> Scenario:
        """The scenario at a position of the selection."""
        return scenarios.at(self.manifest, self.selection[position])

    def position(self, scenario_id: str) -> int | None:
        """Where the selection has this scenario; ordinals ascend with the positions in the manifest."""
        wanted = ordinal_of(scenario_id)
        if wanted is None:
            return None
        place = bisect_left(range(self.manifest.total), wanted, key=self._ordinal)
        if place == self.manifest.total or scenarios.at(self.manifest, place).id != scenario_id:
            return None
        return self.selection.index(place) if place in self.selection else None

    def _ordinal(self, place: int) -> int:
        return ordinal_of(scenarios.at(self.manifest, place).id) or 0


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


def definition(key: str) -> dict[str, Any] | None:
    """None when the snapshot is gone: what came of the run can still be read."""
    try:
        return get(key).definition
    except NotFound:
        return None


def scenario_id(key: str, position: int) -> str:
    """Empty when the snapshot is gone, which may be why a probe of this scenario is a dead letter."""
    try:
        return get(key).scenario(position).id
    except NotFound:
        return ""
