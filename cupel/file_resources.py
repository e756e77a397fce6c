"""The personas and connectors of a definition file, as a workspace keeps them: by name, made where they are missing."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cupel.errors import WrongUse
from cupel.files import DefinitionFile, tag_of
from cupel.json_types import Json

if TYPE_CHECKING:
    from cupel.client import Client, Collection

_PREFIX = "connector/"
_COMPARED = ("headerNames", "description", "systemPrompt", "type", "baseUrl", "config")


def with_ids(client: "Client", file: DefinitionFile) -> DefinitionFile:
    """The same with the ids of its personas for their names. WrongUse where a workspace has another of a name.

    The tag goes with the ids: scenarios that name a persona which is gone are no scenarios to run again.
    """
    if not file.personas:
        return file
    ids = _kept(client, "personas", file.personas)
    tag = tag_of(f"{file.tag}{json.dumps(ids)}".encode())
    tags = [tag if each == file.tag else each for each in file.definition["tags"]]
    scenarios = [_cast(scenario, ids) for scenario in file.scenarios]
    return replace(file, definition={**file.definition, "tags": tags}, scenarios=scenarios, tag=tag)


def targets_of(client: "Client", file: DefinitionFile, targets: Sequence[str]) -> list[str]:
    """With the ids of the file's connectors for their names; only those that are named are made."""
    named = {target.removeprefix(_PREFIX) for target in targets if target.startswith(_PREFIX)}
    meant = [connector for connector in file.connectors if connector["name"] in named]
    ids = _kept(client, "connectors", meant) if meant else {}
    return [f"{_PREFIX}{ids[name]}" if (name := _name_in(target)) in ids else target for target in targets]


def _name_in(target: str) -> str:
    return target.removeprefix(_PREFIX) if target.startswith(_PREFIX) else ""


def _cast(scenario: Json, ids: dict[str, str]) -> Json:
    names = scenario.get("personaIds")
    if not isinstance(names, list):
        return scenario
    return {**scenario, "personaIds": [ids.get(name, name) if isinstance(name, str) else name for name in names]}


def _kept(client: "Client", collection: "Collection", bodies: Iterable[Json]) -> dict[str, str]:
    """Ids by name."""
    there = {each["name"].casefold(): each for each in client.kept(collection)}
    ids = {}
    for body in bodies:
        found = there.get(body["name"].casefold())
        if found is not None and (differing := _difference(body, found)):
            raise WrongUse(
                f"{collection}: {body['name']}: the workspace has another of this name, {found['id']}, whose "
                f"{differing} is not the file's: change or delete that one, or give this one a name of its own"
            )
        ids[body["name"]] = str((found or client.keep(collection, body))["id"])
    return ids


def _difference(body: Json, found: Json) -> str | None:
    """The first field that is not alike. Of headers only the names can be compared."""
    told = {**body, "headerNames": sorted(body.get("headers") or {})}
    kept = {**found, "headerNames": sorted(found["headerNames"])}
    return next((name for name in _COMPARED if (told.get(name) or None) != (kept.get(name) or None)), None)
