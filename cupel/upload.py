"""Uploads a definition file with its scenarios, once per content of the file."""

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cupel.errors import CupelError
from cupel.file_resources import resolve_personas
from cupel.files import DefinitionFile
from cupel.json_types import Json

if TYPE_CHECKING:
    from cupel.client import Client

SCENARIOS_PER_CALL = 1_000
BYTES_PER_CALL = 500_000
"""Half of the API's limit, counted without the separators between items."""
GENERATION_POLL_SECONDS = 1.0


def upload_definition(client: "Client", file: DefinitionFile, sleep: Callable[[float], None] = time.sleep) -> Json:
    """Return the definition of this file: one created earlier from the same bytes, or a new one.

    An earlier upload may have been interrupted, so missing scenarios are added in either case.
    """
    file = resolve_personas(client, file)
    definition = _find_uploaded(client, file) or client.create_definition(file.definition)
    definition_id, present = str(definition["id"]), int(definition["scenarioCount"])
    if file.generate is not None and not present:
        _generate(client, definition_id, file.generate, sleep)
    for items in _batches(file.scenarios[present:]):
        client.create_scenarios(definition_id, items)
    return definition


def _find_uploaded(client: "Client", file: DefinitionFile) -> Json | None:
    """Only version 1 has the content of the file; later versions keep the tag."""
    heads = client.list_definitions(tag=file.tag)
    unchanged = next((head for head in heads if head["version"] == 1), None)
    return client.get_definition(unchanged["id"]) if unchanged else None


def _batches(scenarios: list[Json]) -> Iterator[list[Json]]:
    """In order, as many per batch as one call accepts."""
    items: list[Json] = []
    size = 0
    for scenario in scenarios:
        length = len(json.dumps(scenario))
        if items and (len(items) == SCENARIOS_PER_CALL or size + length > BYTES_PER_CALL):
            yield items
            items, size = [], 0
        items.append(scenario)
        size += length
    if items:
        yield items


def _generate(client: "Client", definition_id: str, generation: Json, sleep: Callable[[float], None]) -> None:
    """Generate the scenarios and wait for them: a matrix is created at once, model-written texts are queued work."""
    generated = client.generate_scenarios(definition_id, generation)
    while generated.get("status") in ("QUEUED", "RUNNING"):
        sleep(GENERATION_POLL_SECONDS)
        generated = client.get_scenario_generation(definition_id, str(generated["id"]))
    if generated.get("status") == "ERROR":
        raise CupelError(f"the scenarios could not be generated: {generated.get('error')}")
