"""What a run was started with, kept once: the definition's content, the scenario pages, and the selection."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.errors import NotFound
from cupel_core.store import blobs, scenarios


@dataclass(frozen=True)
class Snapshot:
    definition: dict[str, Any]
    """The definition's content in the API's shape."""
    manifest: Manifest
    selection: tuple[int, ...]
    """The scenario of each case, as a position in the manifest; ascending within each segment of the plan."""
    personas: tuple[Persona, ...] = ()
    """As they were at the start, without their headers."""
    cast: tuple[int | None, ...] = ()
    """Which persona speaks in each case; empty when none does in any."""

    def scenario(self, case: int) -> Scenario:
        return scenarios.at(self.manifest, self.selection[case])

    def persona(self, case: int) -> Persona | None:
        number = self.cast[case] if self.cast else None
        return None if number is None else self.personas[number]

    def cases(self, scenario_id: str) -> tuple[int, ...]:
        """Those of this scenario, ascending; none when the selection has it not."""
        place = scenarios.positions(self.manifest, [scenario_id]).get(scenario_id)
        return tuple(case for case, position in enumerate(self.selection) if position == place)


def put(key: str, snapshot: Snapshot) -> None:
    blobs.put_json(
        key,
        {
            "definition": snapshot.definition,
            "manifest": snapshot.manifest.to_json(),
            "selection": list(snapshot.selection),
            "personas": [persona.to_json() for persona in snapshot.personas],
            "cast": list(snapshot.cast),
        },
    )


@lru_cache(maxsize=32)
def get(key: str) -> Snapshot:
    """Snapshots never change, so a process reads each once."""
    body = blobs.get_json(key)
    return Snapshot(
        definition=body["definition"],
        manifest=Manifest.from_json(body["manifest"]),
        selection=tuple(body["selection"]),
        personas=tuple(map(Persona.from_json, body["personas"])),
        cast=tuple(body["cast"]),
    )


def definition(key: str) -> dict[str, Any] | None:
    """None when the snapshot is gone: what came of the run can still be read."""
    try:
        return get(key).definition
    except NotFound:
        return None


class Played(NamedTuple):
    """Who is in a case."""

    scenario_id: str
    persona_id: str | None


def played(key: str, case: int) -> Played:
    """No scenario (empty) when the snapshot is gone, which may be why a probe of this case is a dead letter."""
    try:
        snapshot = get(key)
        persona = snapshot.persona(case)
        return Played(snapshot.scenario(case).id, persona.id if persona else None)
    except NotFound:
        return Played("", None)
