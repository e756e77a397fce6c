"""Writes the archive of a workspace: a ZIP file with a JSON Lines file per kind, read page by page through the API.

Memory holds only a page and the versions that runs have used. Secrets and deleted content are left out, because the API
does not return them. Content that is deleted during the export may be missing.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile

from cupel.errors import ApiProblem
from cupel.exports.records import NOT_FOUND
from cupel.json_types import Json
from cupel_core.base.clock import to_iso

if TYPE_CHECKING:
    from cupel.client import Client

FORMAT = "cupel-workspace"
FORMAT_VERSION = 1

type _OfRun = Callable[[str], Iterator[Json]]


def write(client: "Client", file: Path, now: datetime) -> Json:
    """Write the archive; return its manifest, `{format, formatVersion, apiUrl, exportedAt, counts}`."""
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        counts = {kind: _write_lines(archive, kind, lines) for kind, lines in _kinds(client)}
        head = {"format": FORMAT, "formatVersion": FORMAT_VERSION}
        manifest = {**head, "apiUrl": client.api_url, "exportedAt": to_iso(now), "counts": counts}
        archive.writestr("manifest.json", json.dumps(manifest, indent=2) + "\n")
    return manifest


def _write_lines(archive: ZipFile, kind: str, lines: Iterator[Json]) -> int:
    count = 0
    with archive.open(f"{kind}.jsonl", "w", force_zip64=True) as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def _kinds(client: "Client") -> Iterator[tuple[str, Iterator[Json]]]:
    yield "tokens", client.list_tokens()
    yield "audit", client.list_audit_records()
    yield "webhook", _existing(_one(client.get_webhook))
    yield "settings", iter([client.get_settings()])
    yield "providers", client.list_providers()
    yield "personas", client.list_personas()
    yield "connectors", client.list_connectors()
    yield "evals", client.list_evals()
    yield "schedules", client.list_schedules()
    yield "definitions", _definitions(client)
    yield "scenarios", _scenarios(client)
    yield "runs", client.list_runs()
    yield "events", _of_runs(client, lambda run_id: _events(client, run_id))
    yield "transcripts", _of_runs(client, client.list_transcripts)
    yield "errors", _of_runs(client, lambda run_id: client.list_run_probes(run_id, status="ERROR"))
    yield "rescores", _of_runs(client, client.list_rescores)
    yield "rescore-results", _of_runs(client, lambda run_id: _rescore_results(client, run_id))


def _one(read: Callable[[], Json]) -> Iterator[Json]:
    """Read only when the line is written, as the client's lists are."""
    yield read()


def _existing(lines: Iterator[Json]) -> Iterator[Json]:
    try:
        yield from lines
    except ApiProblem as problem:
        if problem.status != NOT_FOUND:
            raise


def _definitions(client: "Client") -> Iterator[Json]:
    for head in client.list_definitions():
        for version in range(head["version"], 0, -1):
            yield from _existing(_one(partial(client.get_definition, head["id"], version=version)))


def _scenarios(client: "Client") -> Iterator[Json]:
    versions: dict[str, set[int]] = defaultdict(set)
    for run in client.list_runs():
        versions[run["definitionId"]].add(run["definitionVersion"])
    for head in client.list_definitions():
        for version in sorted(versions[head["id"]] | {head["version"]}, reverse=True):
            named = {"definitionId": head["id"], "definitionVersion": version}
            for scenario in _existing(client.list_scenarios(head["id"], version=version)):
                yield {**named, **scenario}


def _of_runs(client: "Client", read: _OfRun) -> Iterator[Json]:
    for run in client.list_runs():
        for line in _existing(read(run["id"])):
            yield {"runId": run["id"], **line}


def _events(client: "Client", run_id: str) -> Iterator[Json]:
    after = 0
    while events := client.list_run_events(run_id, after=after):
        yield from events
        after = events[-1]["seq"]


def _rescore_results(client: "Client", run_id: str) -> Iterator[Json]:
    for rescore in client.list_rescores(run_id):
        for result in client.list_rescore_results(run_id, rescore["id"]):
            yield {"rescoreId": rescore["id"], **result}
