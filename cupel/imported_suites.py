"""Uploads the definitions of an imported suite, or writes them to files, and reports notes.

A large suite is uploaded in several requests, each of which adds all of its scenarios or none, in order. So the number
of scenarios of the definition shows where an interrupted upload continues, even if the last reply was lost. A tag with
the digest of the draft finds it.

Definition files need no stack, and may contain code, which a stack does not run. The report has equal notes once, with
their number.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel.definition_texts import scenario_fields, to_yaml, without_empty
from cupel.errors import CupelError, UsageError
from cupel.json_types import Json, without_none
from cupel.upload import batches
from cupel.whole_files import replace_file
from cupel_core.domain.definitions.drafts import DefinitionDraft, ImportedSuite
from cupel_core.domain.files.data_urls import decode
from cupel_core.interop.imports.files import NOT_A_TEXT_FILE

if TYPE_CHECKING:
    from cupel.client import Client

MAX_REQUEST_BYTES = 1_000_000
"""The API reads a file of up to this size in one request, which may take half a minute."""
MAX_REQUEST_SCENARIOS = 1_000
_DIGEST_LENGTH = 12
MAX_LISTED = 50


class _StoredPart(NamedTuple):
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
    def __init__(self, client: "Client", draft: "DefinitionDraft", number: int, folder: str | None) -> None:
        self.items = [scenario_fields(scenario.to_json()) for scenario in draft.scenarios]
        self._client = client
        self._draft = draft
        self._folder = folder
        self._marker = f"import:{_digest(draft, number, self.items)}"
        self._stored = self._find() or _StoredPart("", 0, [])

    def complete(self) -> Iterator[int]:
        """Store the remaining scenarios; before each request and at the end, yield how many are stored."""
        for batch in filter(None, batches(self.items[self._stored.scenarios :])):
            yield self._stored.scenarios
            self._stored = self._add(batch) if self._stored.id else self._create(batch)
        self._require(self._stored.scenarios == len(self.items))
        yield self._stored.scenarios

    def remove_marker(self) -> str:
        tags = [tag for tag in self._stored.tags if tag != self._marker]
        self._client.update_definition(self._stored.id, {"tags": tags})
        return self._stored.id

    def _find(self) -> _StoredPart | None:
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


def code_folder(config: Path, output: Path) -> str:
    """Return the path from the definition files to the configuration's folder: empty, or one that ends with `/`."""
    path = os.path.relpath(config.parent.resolve(), output.parent.resolve())
    return "" if path == "." else f"{Path(path).as_posix()}/"


def output_paths(suite: ImportedSuite, output: Path) -> list[Path]:
    """Return a file for each definition: `a.yaml`, `a-2.yaml`, … Raises UsageError if one exists."""
    paths = [output, *(output.with_stem(f"{output.stem}-{number}") for number in range(2, len(suite.drafts) + 1))]
    for path in paths:
        if path.exists():
            raise UsageError(f"--output: {path} exists already")
    return paths


def write_definitions(suite: ImportedSuite, paths: list[Path], media: Mapping[str, str]) -> None:
    for draft, path in zip(suite.drafts, paths, strict=True):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, _text(draft, suite, media))
        except OSError as error:
            raise CupelError(f"{path} was not written: {error.strerror or error}") from error


def has_code(suite: ImportedSuite) -> bool:
    from cupel.in_process.code_runner import codes_of

    return any(True for draft in suite.drafts for each in draft.scenarios for _ in codes_of(each.assertions))


def _text(draft: DefinitionDraft, suite: ImportedSuite, media: Mapping[str, str]) -> str:
    agents = {"connectors": [without_empty(each.to_json()) for each in suite.connectors]} if suite.connectors else {}
    scenarios = [_with_media(scenario_fields(each), suite, media) for each in _scenarios(draft)]
    fields = {"name": draft.name, "tags": list(draft.tags), "content": draft.content}
    return to_yaml({**fields, **agents, "scenarios": scenarios})


def _with_media(value: Any, suite: ImportedSuite, media: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_with_media(each, suite, media) for each in value]
    if not isinstance(value, dict):
        return value
    if "fileId" not in value or "type" not in value:
        return {name: _with_media(each, suite, media) for name, each in value.items()}
    own = {name: value[name] for name in ("name", "detail") if name in value}
    if value["fileId"] in suite.data_urls:
        return {"type": value["type"], "dataUrl": suite.data_urls[value["fileId"]], **own}
    return {value["type"]: media[value["fileId"]], **own}


def _scenarios(draft: DefinitionDraft) -> Iterator[dict[str, object]]:
    for scenario in draft.scenarios:
        yield {name: value for name, value in scenario.to_json().items() if value not in ("", {}, [])}


def grouped_notes(notes: Sequence[Json]) -> list[Json]:
    """Return a note for each cause and thing, at the first place where it occurs, in order.

    A reason that concerns 200 tests is one line, so that the other reasons can be found.
    """
    groups: dict[tuple[str, str], list[Json]] = {}
    for note in notes:
        groups.setdefault((note["what"], note["why"]), []).append(note)
    listed = [_grouped(group) for group in list(groups.values())[:MAX_LISTED]]
    if len(groups) > MAX_LISTED:
        rest = sum(map(_count, list(groups.values())[MAX_LISTED:]))
        listed.append({"where": "", "what": f"{rest:,} more", "why": "print all of them with --json"})
    return listed


_MODEL_OPTIONS = {"judgeModel": "--judge-model", "embeddingModel": "--embedding-model"}
PLACEHOLDER = "provider/model"
"""The placeholder of a model that the user has to choose."""


def required_model_options(fields: Sequence[str]) -> list[str]:
    return [word for field in fields for word in (_MODEL_OPTIONS[field], PLACEHOLDER)]


def with_local_reasons(imported: Json, suite: "ImportedSuite") -> Json:
    """Return the response of the API with reasons for unreadable local files, which were not sent."""
    reasons = {(note.where, note.what): note.why for note in suite.report.skipped}
    skipped = [_with_reason(note, reasons) for note in imported["report"]["skipped"]]
    return {**imported, "report": {**imported["report"], "skipped": skipped}}


def _with_reason(note: Json, reasons: Mapping[tuple[str, str], str]) -> Json:
    if not note["why"].endswith(NOT_A_TEXT_FILE):
        return note
    return {**note, "why": reasons.get((note["where"], note["what"]), note["why"])}


def _count(notes: Sequence[Json]) -> int:
    return sum(note.get("count", 1) for note in notes)


def _grouped(notes: Sequence[Json]) -> Json:
    first, count = notes[0], _count(notes)
    return first if count == 1 else {**first, "where": f"{first['where']} and {count - 1:,} more"}
