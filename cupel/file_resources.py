"""Looks up the personas and connectors of a definition file in the workspace by name, and creates missing ones."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from cupel.errors import UsageError
from cupel.files import DefinitionFile
from cupel.json_types import Json
from cupel.source_files import renamed_fields

if TYPE_CHECKING:
    from cupel.client import Client

_PREFIX = "connector/"
_COMPARED = ("headerNames", "connectorUrls", "description", "systemPrompt", "type", "baseUrl", "config")


def resolve_personas(client: "Client", file: DefinitionFile) -> DefinitionFile:
    """Replace the names of the file's personas with ids. Raises UsageError if a persona of the workspace differs.

    The file's digest depends on the ids too: once a persona is deleted, scenarios that name it cannot be run again.
    """
    if not file.personas or not file.scenarios:
        return file
    ids = _ids_by_name("personas", file.personas, client.list_personas, client.create_persona)
    return replace(file, scenarios=[_with_persona_ids(scenario, ids) for scenario in file.scenarios])


def resolve_tools(client: "Client", file: DefinitionFile) -> DefinitionFile:
    """Replace the names of the file's connectors in `toolConnectorId` of the content's parameters with ids.

    Only connectors that are named are created.
    """
    content = file.definition.get("content") or {}
    layers = [content, *(content.get("prompts") or ())]
    ids = _connector_ids(client, file, {_tool_connector(layer) for layer in layers if isinstance(layer, dict)})
    if not ids:
        return file
    changed = _with_tool_connector(content, ids)
    if "prompts" in changed:
        changed = {**changed, "prompts": [_with_tool_connector(prompt, ids) for prompt in changed["prompts"]]}
    return replace(file, definition={**file.definition, "content": changed})


def _tool_connector(layer: Json) -> str:
    params = layer.get("params")
    return str(params.get("toolConnectorId") or "") if isinstance(params, dict) else ""


def _with_tool_connector(layer: Json, ids: dict[str, str]) -> Json:
    name = _tool_connector(layer)
    return {**layer, "params": {**layer["params"], "toolConnectorId": ids[name]}} if name in ids else layer


def _connector_ids(client: "Client", file: DefinitionFile, names: set[str]) -> dict[str, str]:
    used = [connector for connector in file.connectors if connector["name"] in names]
    return _ids_by_name("connectors", used, client.list_connectors, client.create_connector) if used else {}


def resolve_targets(client: "Client", file: DefinitionFile, chosen: Json) -> Json:
    """Replace the names of the file's connectors in `models` or `targets`, and in their parameters, with ids.

    Only connectors that are named are created.
    """
    named = [*(chosen.get("models") or ()), *(str(each.get("model")) for each in chosen.get("targets") or ())]
    executing = map(_tool_connector, chosen.get("targets") or ())
    ids = _connector_ids(client, file, {*map(_connector_name, named), *executing})
    if "models" in chosen:
        return {"models": [_with_id(model, ids) for model in chosen["models"]]}
    return {"targets": [_target_with_id(target, ids) for target in chosen["targets"]]}


def _with_id(target: str, ids: dict[str, str]) -> str:
    name = _connector_name(target)
    return f"{_PREFIX}{ids[name]}" if name in ids else target


def _target_with_id(target: Json, ids: dict[str, str]) -> Json:
    target = _with_tool_connector(target, ids)
    return {**target, "model": _with_id(target["model"], ids)} if isinstance(target.get("model"), str) else target


def _connector_name(target: str) -> str:
    return target.removeprefix(_PREFIX) if target.startswith(_PREFIX) else ""


def _with_persona_ids(scenario: Json, ids: dict[str, str]) -> Json:
    names = scenario.get("personaIds")
    if not isinstance(names, list):
        return scenario
    return {**scenario, "personaIds": [ids.get(name, name) if isinstance(name, str) else name for name in names]}


def _ids_by_name(
    plural: str, bodies: Iterable[Json], list_existing: Callable[[], Iterable[Json]], create: Callable[[Json], Json]
) -> dict[str, str]:
    existing = {each["name"].casefold(): each for each in list_existing()}
    ids = {}
    for position, body in enumerate(bodies):
        same_name = existing.get(body["name"].casefold())
        if same_name is not None and (field := _first_difference(body, same_name)):
            raise UsageError(
                f"{plural}: {body['name']}: {same_name['id']} in the workspace has this name but another "
                f"{field}; update or delete it, or use another name in the file"
            )
        with renamed_fields(f"{plural}.{position}.{{}}".format):
            ids[body["name"]] = str((same_name or create(body))["id"])
    return ids


def _first_difference(body: Json, existing: Json) -> str | None:
    requested = {**body, "headerNames": sorted(body.get("headers") or {})}
    stored = {**existing, "headerNames": sorted(existing["headerNames"])}
    return next((name for name in _COMPARED if (requested.get(name) or None) != (stored.get(name) or None)), None)
