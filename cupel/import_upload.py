"""Creates the definitions of a large suite in several requests, and continues an upload that was interrupted.

Each request adds all of its scenarios or none, in order. So the number of scenarios that the definition has says where
an interrupted upload continues, even if the last reply was lost. A tag with the digest of the draft finds it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
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
    scenarios: int
    tags: list[str]


def is_large(texts: Iterable[str], suite: "ImportedSuite") -> bool:
    """Return whether a single request may be too small for the texts of the files, or may take too long."""
    scenarios = sum(len(draft.scenarios) for draft in suite.drafts)
    return scenarios > MAX_REQUEST_SCENARIOS or sum(map(len, texts)) > MAX_REQUEST_BYTES


def upload_suite(
    client: "Client", suite: "ImportedSuite", folder: str | None, report_progress: Callable[[str], None]
) -> list[str]:
    """Create or complete the definitions of a suite and return their ids. `report_progress` gets texts for a person."""
    for url in suite.data_urls.values():
        content, info = decode(url)
        client.upload_file(content, f"imported.{info.format}", info.format.media_type)
    uploads = [_DraftUpload(client, draft, number, folder) for number, draft in enumerate(suite.drafts)]
    total = sum(len(upload.items) for upload in uploads)
    before = 0
    for upload in uploads:
        for done in upload.complete():
            report_progress(f"{before + done:,} of {total:,} scenarios uploaded")
        before += len(upload.items)
    # If a later definition had failed, the markers would let the next import find the complete ones too.
    return [upload.remove_marker() for upload in uploads]


class _DraftUpload:
    """Creates one definition in several requests, or completes it."""

    def __init__(self, client: "Client", draft: "DefinitionDraft", number: int, folder: str | None) -> None:
        self.items = [scenario_fields(scenario.to_json()) for scenario in draft.scenarios]
        self._client = client
        self._draft = draft
        self._folder = folder
        self._marker = f"import:{_digest(draft, number, self.items)}"
        self._stored = self._find() or _StoredPart("", 0, [])

    def complete(self) -> Iterator[int]:
        """Store what is left; before each request and at the end, yield how many scenarios are stored."""
        for batch in filter(None, batches(self.items[self._stored.scenarios :])):
            yield self._stored.scenarios
            self._stored = self._add(batch) if self._stored.id else self._create(batch)
        self._require(self._stored.scenarios == len(self.items))
        yield self._stored.scenarios

    def remove_marker(self) -> str:
        """Return the id of the definition, which no further import takes for its own."""
        tags = [tag for tag in self._stored.tags if tag != self._marker]
        self._client.update_definition(self._stored.id, {"tags": tags})
        return self._stored.id

    def _find(self) -> _StoredPart | None:
        """Return the definition of an interrupted upload; None if there is none."""
        listed = self._client.list_definitions(folder=self._folder, search=self._draft.name, tag=self._marker)
        head = next(iter(listed), None)
        if head is None:
            return None
        found = self._client.get_definition(head["id"])
        return _StoredPart(found["id"], found["scenarioCount"], found["tags"])

    def _create(self, batch: list[Json]) -> _StoredPart:
        body = without_none(
            name=self._draft.name,
            folder=self._folder,
            content=dict(self._draft.content),
            tags=sorted({*self._draft.tags, self._marker}),
            scenarios=batch,
        )
        created = self._client.create_definition(body)
        return _StoredPart(created["id"], len(batch), created["tags"])

    def _add(self, batch: list[Json]) -> _StoredPart:
        added = self._client.create_scenarios(self._stored.id, batch)
        self._require(added["total"] == self._stored.scenarios + len(batch))
        return self._stored._replace(scenarios=added["total"])

    def _require(self, is_expected: bool) -> None:
        if not is_expected:
            why = "its scenarios were changed during the upload; import it under another --name"
            raise CupelError(f"{self._draft.name}: {why}")


def _digest(draft: "DefinitionDraft", number: int, items: list[Json]) -> str:
    digest = hashlib.sha256(json.dumps([draft.name, number, draft.content], sort_keys=True).encode())
    for item in items:
        digest.update(json.dumps(item, sort_keys=True).encode())
    return digest.hexdigest()[:_DIGEST_LENGTH]
