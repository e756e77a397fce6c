"""Uploads a definition file with its scenarios: an edited file makes the next version of its definition.

The digests of the files that a definition's versions were made from are tags of the definition, such as
`sha:0123456789ab@3`, so that an unchanged file finds its version after later changes. A file whose scenarios need
several requests has the tag `upload:0123456789ab@3` until all are stored; version 3 has the first of them. So the next
upload of the same file continues where an interrupted one ended.
"""

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from cupel import local_files
from cupel.errors import ApiProblem, CupelError, RefusedField
from cupel.file_resources import resolve_personas, resolve_tools
from cupel.files import DefinitionFile
from cupel.json_types import Json, TaggedJson
from cupel.source_files import renamed_fields

if TYPE_CHECKING:
    from cupel.client import Client

SCENARIOS_PER_CALL = 1_000
BYTES_PER_CALL = 500_000
"""Half of the API's limit, counted without the separators between items."""
GENERATION_POLL_SECONDS = 1.0
ATTEMPTS = 3
MAX_DIGESTS = 10
"""A definition remembers so many of its newest files."""
_GENERATION_FIELDS = ("mode", "options", "seed", "model", "maxBudgetUsd", "allowUnpriced")
_DIGEST_TAG = re.compile(r"sha:([0-9a-f]{12})@(\d+)")
_UPLOAD_TAG = re.compile(r"upload:([0-9a-f]{12})@(\d+)")


class Change(StrEnum):
    CREATED = "new definition"
    UPDATED = "new version"
    UNCHANGED = "unchanged"


class UploadedDefinition(NamedTuple):
    id: str
    name: str
    version: int
    latest: int
    change: Change
    warnings: list[Json]


def own_tags(tags: Iterable[str]) -> list[str]:
    return [tag for tag in tags if not _DIGEST_TAG.fullmatch(tag) and not _UPLOAD_TAG.fullmatch(tag)]


def replace_own_tags(tags: Iterable[str], own: Iterable[str]) -> list[str]:
    return sorted({*own, *_digest_tags(tags)})


def upload_definition(
    client: "Client", file: DefinitionFile, sleep: Callable[[float], None] = time.sleep, *, new: bool = False
) -> UploadedDefinition:
    """Return the definition that the file names by `id`, or else by folder and name, with a version that equals the
    file.

    With `new`, or without a match, another definition is created. Raises UsageError if several match.
    """
    with file.source.explaining():
        local_files.upload(client, file.files)
        upload = _Upload(client, resolve_tools(client, resolve_personas(client, file)), sleep)
        for _ in range(ATTEMPTS):
            definition = None if new else upload.find()
            try:
                return upload.create() if definition is None else upload.update(definition)
            except ApiProblem as problem:
                if problem.status != HTTPStatus.PRECONDITION_FAILED:
                    raise
    raise _changed_concurrently(file)


def update_from_file(
    client: "Client", definition_id: str, file: DefinitionFile, sleep: Callable[[float], None] = time.sleep
) -> UploadedDefinition:
    """Update this definition like `upload_definition`. Parts that the file omits are left as they are."""
    return upload_definition(client, replace(file, id=definition_id), sleep)


class _Upload:
    def __init__(self, client: "Client", file: DefinitionFile, sleep: Callable[[float], None]) -> None:
        self._client = client
        self._file = file
        self._sleep = sleep
        self._batches = batches(file.scenarios or [])

    def find(self) -> TaggedJson | None:
        if self._file.id is not None:
            return self._get(self._file.id)
        name, folder = self._file.definition["name"], self._file.definition.get("folder")
        listed = self._client.list_definitions(folder=folder, search=name)
        same = [head for head in listed if (head["name"], head["folder"]) == (name, folder)]
        made_from_file = [head for head in same if self._file.digest in _versions_by_digest(head["tags"])]
        if len(same) > 1 and not made_from_file:
            ids = ", ".join(head["id"] for head in same)
            why = f"{len(same)} definitions have this name and folder: {ids}; name one with `id`, or use --new"
            raise self._file.source.refusal([RefusedField("name", why)])
        heads = made_from_file or same
        return self._client.get_definition(heads[0]["id"]) if heads else None

    def _get(self, definition_id: str) -> TaggedJson:
        try:
            return self._client.get_definition(definition_id)
        except ApiProblem as problem:
            if problem.status != HTTPStatus.NOT_FOUND:
                raise
            why = f"there is no definition {definition_id}; without `id`, the file makes one"
            raise self._file.source.refusal([RefusedField("id", why)]) from None

    def create(self) -> UploadedDefinition:
        tags = self._tags(self._file.definition.get("tags", []), version=1)
        body = {**self._file.definition, "scenarios": self._batches[0], "tags": tags}
        return self._complete(self._client.create_definition(body), Change.CREATED)

    def update(self, before: TaggedJson) -> UploadedDefinition:
        if stored := self._batches_of_interrupted_upload(before):
            return self._complete(before, Change.UPDATED, stored)
        content = self._new_content(before)
        known = _versions_by_digest(before["tags"]).get(self._file.digest or "")
        version = before["version"] + 1 if content and known is None else known
        labels: Json = {key: self._file.definition[key] for key in ("name", "folder") if key in self._file.definition}
        tags = self._file.definition.get("tags", own_tags(before["tags"])) + _digest_tags(before["tags"])
        labels["tags"] = self._tags(tags, version)
        changes = {key: value for key, value in labels.items() if value != before[key]}
        if content and known is None:
            after = self._client.update_definition(before["id"], changes | content, if_match=before.etag)
            return self._complete(after, Change.UPDATED)
        after = self._client.update_definition(before["id"], changes, if_match=before.etag) if changes else before
        if known == after["version"] and not after["scenarioCount"]:
            self._generate(after["id"])  # An earlier upload was interrupted.
        return _uploaded(after, known or after["version"], Change.UNCHANGED)

    def _new_content(self, before: Json) -> Json:
        content, new = self._file.definition.get("content"), {}
        if content is not None:
            new["content"] = dict.fromkeys(before["content"]) | content
        if self._file.scenarios is not None or self._file.generate is not None:
            new["scenarios"] = self._batches[0]
        return new

    def _tags(self, tags: list[str], version: int | None) -> list[str]:
        digest = self._file.digest
        if version is None or digest is None:
            return sorted(set(tags))
        if len(self._batches) == 1 or digest in _versions_by_digest(tags):
            return _with_digest(tags, digest, version)
        # It replaces the digest that is recorded once all is stored, because the number of tags is limited.
        return [
            f"upload:{tag.removeprefix('sha:')}" if digest in tag else tag
            for tag in _with_digest(tags, digest, version)
        ]

    def _batches_of_interrupted_upload(self, before: Json) -> int:
        uploads = (_UPLOAD_TAG.fullmatch(tag) for tag in before["tags"])
        first = next((int(match[2]) for match in uploads if match and match[1] == self._file.digest), None)
        if first is None:
            return 0
        stored: int = before["version"] - first + 1
        return stored if before["scenarioCount"] == sum(map(len, self._batches[:stored])) else 0

    def _complete(self, definition: Json, change: Change, stored: int = 1) -> UploadedDefinition:
        self._generate(definition["id"])
        version, count = definition["version"], sum(map(len, self._batches[:stored]))
        for items in self._batches[stored:]:
            version += 1
            with renamed_fields(partial(_scenario_field, start=count)):
                added = self._client.create_scenarios(definition["id"], items)
            if added["definitionVersion"] != version:
                raise _changed_concurrently(self._file)
            count += len(items)
        if len(self._batches) > 1 and self._file.digest is not None:
            tags = _with_digest(definition["tags"], self._file.digest, version)
            definition = self._client.update_definition(definition["id"], {"tags": tags})
        return _uploaded(definition, version, change)

    def _generate(self, definition_id: str) -> None:
        """Generate the scenarios and wait: a matrix is created at once, model-written texts are queued work."""
        if self._file.generate is None:
            return
        with renamed_fields(lambda field: f"generate.{field}" if field in _GENERATION_FIELDS else field):
            generate_and_wait(self._client, definition_id, self._file.generate, self._sleep)


def generate_and_wait(client: "Client", definition_id: str, request: Json, sleep: Callable[[float], None]) -> Json:
    """Return the completed generation. Raises CupelError if it fails."""
    generated = client.generate_scenarios(definition_id, request)
    while generated.get("status") in ("QUEUED", "RUNNING"):
        sleep(GENERATION_POLL_SECONDS)
        generated = client.get_scenario_generation(definition_id, str(generated["id"]))
    if generated.get("status") == "ERROR":
        raise CupelError(f"the scenarios could not be generated: {generated.get('error')}")
    return generated


def _scenario_field(field: str, *, start: int) -> str:
    """Return `scenarios.<start + 2>.prompt` for `items.2.prompt` of a request whose first item is scenario `start`."""
    match = re.match(r"items\.(\d+)", field)
    return f"scenarios.{start + int(match[1])}{field[match.end() :]}" if match else field


def _uploaded(definition: Json, version: int, change: Change) -> UploadedDefinition:
    warnings = definition.get("warnings") or []
    latest = max(version, definition["version"])
    return UploadedDefinition(definition["id"], definition["name"], version, latest, change, warnings)


def _changed_concurrently(file: DefinitionFile) -> CupelError:
    return CupelError(f"{file.source.name}: its definition was changed at the same time; repeat the command")


def _versions_by_digest(tags: Iterable[str]) -> dict[str, int]:
    matches = (_DIGEST_TAG.fullmatch(tag) for tag in tags)
    return {match[1]: int(match[2]) for match in matches if match}


def _digest_tags(tags: Iterable[str]) -> list[str]:
    return [f"sha:{digest}@{version}" for digest, version in _versions_by_digest(tags).items()]


def _with_digest(tags: Iterable[str], digest: str, version: int) -> list[str]:
    versions = _versions_by_digest(tags) | {digest: version}
    newest = sorted(versions, key=lambda each: versions[each])[-MAX_DIGESTS:]
    return sorted({*own_tags(tags), *(f"sha:{each}@{versions[each]}" for each in newest)})


def batches(scenarios: list[Json]) -> list[list[Json]]:
    """Return batches in order, as large as one call accepts; one empty batch if there are no scenarios."""
    found: list[list[Json]] = [[]]
    size = 0
    for scenario in scenarios:
        length = len(json.dumps(scenario))
        if found[-1] and (len(found[-1]) == SCENARIOS_PER_CALL or size + length > BYTES_PER_CALL):
            found.append([])
            size = 0
        found[-1].append(scenario)
        size += length
    return found
