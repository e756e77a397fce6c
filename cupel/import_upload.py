"""Creates the definition of a large dataset in several requests, and continues an upload that was interrupted.

Each request adds all of its scenarios or none, in order. So the number of scenarios that the definition has says where
an interrupted upload continues, even if the last reply was lost. A tag with the digest of the dataset finds it.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from cupel.definition_texts import scenario_fields
from cupel.errors import CupelError
from cupel.json_types import Json, without_none
from cupel.upload import batches
from cupel_core.domain.files.data_urls import decode

if TYPE_CHECKING:
    from cupel.client import Client
    from cupel_core.domain.definitions.drafts import DefinitionDraft, ImportedSuite

MAX_REQUEST_BYTES = 1_000_000
"""The API reads a file of up to this size in one request, which may take half a minute."""
MAX_REQUEST_SCENARIOS = 1_000
_DIGEST_LENGTH = 12


class _StoredPart(NamedTuple):
    """It identifies a definition whose first scenarios are stored."""

    id: str
    version: int
    scenarios: int
    tags: list[str]


def is_large(text: str, suite: "ImportedSuite") -> bool:
    """Return whether a single request may be too small for the file, or may take too long."""
    scenarios = sum(len(draft.scenarios) for draft in suite.drafts)
    return scenarios > MAX_REQUEST_SCENARIOS or len(text) > MAX_REQUEST_BYTES


def upload_suite(
    client: "Client", suite: "ImportedSuite", folder: str | None, report_progress: Callable[[str], None]
) -> str:
    """Create or complete the definition of a dataset and return its id. `report_progress` gets texts for a person."""
    for url in suite.data_urls.values():
        content, info = decode(url)
        client.upload_file(content, f"imported.{info.format}", info.format.media_type)
    [draft] = suite.drafts
    items = [scenario_fields(scenario.to_json()) for scenario in draft.scenarios]
    marker = f"import:{_digest(draft, items)}"
    upload = _find(client, draft.name, folder, marker) or _StoredPart("", 0, 0, [])
    tags = sorted({*draft.tags, marker})
    for batch in _remaining(items, upload.scenarios):
        report_progress(f"{upload.scenarios:,} of {len(items):,} scenarios uploaded")
        if upload.id:
            added = client.create_scenarios(upload.id, batch)
            _check(draft, added["total"] == upload.scenarios + len(batch))
            upload = upload._replace(version=added["definitionVersion"], scenarios=added["total"])
        else:
            body = without_none(name=draft.name, folder=folder, content=dict(draft.content), tags=tags, scenarios=batch)
            created = client.create_definition(body)
            upload = _StoredPart(created["id"], created["version"], len(batch), created["tags"])
    _check(draft, upload.scenarios == len(items))
    client.update_definition(upload.id, {"tags": [tag for tag in upload.tags if tag != marker]})
    return upload.id


def _find(client: "Client", name: str, folder: str | None, marker: str) -> _StoredPart | None:
    """Return the definition of an interrupted upload; None if there is none."""
    head = next((each for each in client.list_definitions(folder=folder, search=name, tag=marker)), None)
    if head is None:
        return None
    found = client.get_definition(head["id"])
    return _StoredPart(found["id"], found["version"], found["scenarioCount"], found["tags"])


def _remaining(items: list[Json], stored: int) -> Iterator[list[Json]]:
    return (batch for batch in batches(items[stored:]) if batch)


def _digest(draft: "DefinitionDraft", items: list[Json]) -> str:
    digest = hashlib.sha256(json.dumps([draft.name, draft.content], sort_keys=True).encode())
    for item in items:
        digest.update(json.dumps(item, sort_keys=True).encode())
    return digest.hexdigest()[:_DIGEST_LENGTH]


def _check(draft: "DefinitionDraft", is_expected: bool) -> None:
    if not is_expected:
        raise CupelError(f"{draft.name}: its scenarios were changed during the upload; import it under another --name")
