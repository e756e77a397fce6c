"""From a definition file to a definition of the API with its scenarios, once per content of the file."""

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cupel.errors import CupelError
from cupel.file_resources import with_ids
from cupel.files import DefinitionFile
from cupel.json_types import Json

if TYPE_CHECKING:
    from cupel.client import Client

SCENARIOS_PER_CALL = 1_000
BYTES_PER_CALL = 500_000
"""Half of what the API takes, counted without the separators between items."""
GENERATION_POLL_SECONDS = 1.0


def publish(client: "Client", file: DefinitionFile, sleep: Callable[[float], None] = time.sleep) -> Json:
    """The definition of this file: the one created from the same bytes before, else a new one.

    An earlier attempt may have stopped in the middle, so the scenarios that are missing are added either way.
    """
    file = with_ids(client, file)
    definition = _earlier(client, file) or client.create_definition(file.definition)
    definition_id, present = str(definition["id"]), int(definition["scenarioCount"])
    if file.generate is not None and not present:
        _generate(client, definition_id, file.generate, sleep)
    for items in _calls(file.scenarios[present:]):
        client.add_scenarios(definition_id, items)
    return definition


def _earlier(client: "Client", file: DefinitionFile) -> Json | None:
    """A later version has another content than the file, though it keeps the tag."""
    heads = client.definitions(tag=file.tag)
    unchanged = next((head for head in heads if head["version"] == 1), None)
    return client.definition(unchanged["id"]) if unchanged else None


def _calls(scenarios: list[Json]) -> Iterator[list[Json]]:
    """In order, as many in each call as it may hold."""
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
    """A matrix is there at once; texts written by a model are queued work to wait for."""
    answer = client.generate_scenarios(definition_id, generation)
    while answer.get("status") in ("QUEUED", "RUNNING"):
        sleep(GENERATION_POLL_SECONDS)
        answer = client.generation(definition_id, str(answer["id"]))
    if answer.get("status") == "ERROR":
        raise CupelError(f"the scenarios could not be generated: {answer.get('error')}")
