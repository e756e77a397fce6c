"""Serves the built page by its function, and an API that answers with examples of its document, at any size.

The answers are made before the browser asks for them, and reads of probes take as long as the function's on AWS, so
that only the page is measured.
"""

import base64
import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.local_server import ROOT
from cupel_core.interfaces.schema_examples import SchemaExamples
from page import app as page
from tools.openapi_changes import resolve

TARGETS = ("bench/a", "bench/b")
BLOCK = 1_000
NAMES_PER_READ = 1_000
QUESTION = "Can I return a kettle that broke after three weeks, and who pays for the parcel? " * 6
ANSWER = (
    "You have **30 days**. We pay for the parcel, and the refund takes five days.\n\n- Pack it\n- Print the label\n" * 3
)
BLOCK_SECONDS = 0.15
"""A function of 512 MB takes so long for the columns of 1,000 probes."""
LONG = "bench-long"
LIVE = "bench-live"
"""The run that goes on, half of whose probes have no outcome."""
LARGE = "bench-large"
MESSAGES = 2_000
LIVE_PROBES = 5_000


@cache
def _examples() -> SchemaExamples:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text())
    return SchemaExamples(resolve(document)["components"]["schemas"])


def example(name: str) -> Any:
    return _examples().of_schema(name)


class Api:
    def __init__(self, probes: int) -> None:
        self._probes = {LARGE: probes, LIVE: LIVE_PROBES, LONG: len(TARGETS)}
        self.blocks = {
            (run, number): pack(_block(run, number, total))
            for run, total in self._probes.items()
            for number in range(-(-total // BLOCK))
        }
        cases = probes // len(TARGETS)
        self.names = [pack(_case_names(first, cases)) for first in range(0, cases, NAMES_PER_READ)]

    def answer(self, path: str, query: dict[str, list[str]]) -> bytes | None:
        """Return gzipped JSON, or None for an unknown address."""
        parts = path.strip("/").split("/")[1:]
        if parts == ["session"]:
            return pack({**example("Session"), "role": "admin"})
        if parts == ["runs"]:
            return pack({"items": [self._run(name) for name in self._probes], "nextCursor": None})
        if parts[0] == "transcripts":
            return pack(_transcript(parts[1]))
        if len(parts) < 2 or parts[0] != "runs" or parts[1] not in self._probes:
            return None
        return self._answer_of_run(parts[1], "/".join(parts[2:]), query)

    def _answer_of_run(self, run: str, what: str, query: dict[str, list[str]]) -> bytes | None:
        if what == "probe-columns":
            time.sleep(BLOCK_SECONDS)
            return self.blocks[run, int(query.get("block", ["0"])[0])]
        if what == "case-names":
            return self.names[int(query.get("first", ["0"])[0]) // NAMES_PER_READ]
        if what == "case-texts":
            return pack(_case_texts(int(query.get("first", ["0"])[0]), int(query.get("limit", ["100"])[0])))
        if what == "probe-excerpts":
            return pack({"items": [_excerpt(int(each)) for each in query.get("indexes", [])]})
        answers = {"": self._run, "results": self._results, "progress": self._progress}
        return pack(answers[what](run)) if what in answers else None

    def _run(self, run: str) -> dict[str, Any]:
        total = self._probes[run]
        found = example("Run")
        done = total // 2 if run == LIVE else total
        targets = [{**found["config"]["targets"][0], "id": each, "label": None, "model": each} for each in TARGETS]
        return {
            **found,
            "id": run,
            "name": run,
            "status": "RUNNING" if run == LIVE else "COMPLETED",
            "pauseReason": None,
            "failure": None,
            "config": {**found["config"], "targets": targets, "promptIds": [], "repeats": 1},
            "progress": {**found["progress"], "total": total, "completed": done, "failed": 0},
            "spend": {**found["spend"], "budget": None},
        }

    def _results(self, run: str) -> dict[str, Any]:
        found = example("RunResults")
        column = {**example("ColumnResults"), "label": None, "promptId": None, "errors": []}
        columns = [{**column, "targetId": each, "modelId": each} for each in TARGETS]
        return {**found, "runId": run, "columns": columns}

    def _progress(self, run: str) -> dict[str, Any]:
        target = {**example("TargetProgress"), "promptId": None, "delays": []}
        targets = [{**target, "targetId": each, "modelId": each, "label": None} for each in TARGETS]
        return {**example("DetailedProgress"), "status": self._run(run)["status"], "targets": targets}


def pack(value: dict[str, Any]) -> bytes:
    return gzip.compress(json.dumps(value).encode(), 1)


def _block(run: str, number: int, total: int) -> dict[str, Any]:
    """Return columns by target, then scenario. Times, costs and tokens are as skewed as real ones; one of 500 is
    errored."""
    random = Random(number)  # noqa: S311 - the same figures every time
    indexes = range(number * BLOCK, min(total, (number + 1) * BLOCK))
    cases = total // len(TARGETS)
    has_outcome = [run != LIVE or index % 2 == 0 for index in indexes]
    completed = [(index % 500 != 499) if ended else None for index, ended in zip(indexes, has_outcome, strict=True)]

    def figures(make: Any) -> list[Any]:
        return [make() if each else None for each in completed]

    return {
        **example("ProbeColumns"),
        "runId": run,
        "firstIndex": indexes.start,
        "isFinal": run != LIVE,
        "column": [index // cases for index in indexes],
        "case": [index % cases for index in indexes],
        "repeat": [0] * len(indexes),
        "completed": completed,
        "success": figures(lambda: random.random() < 0.8),
        "score": figures(lambda: round(random.betavariate(4, 1.5), 2)),
        "decision": figures(lambda: str(random.randint(1, 5))),
        "tags": [[] for _ in indexes],
        "failedChecks": [[0] if index % 5 == 0 else [] for index in indexes],
        "passedChecks": [[1] if index % 5 == 0 else [0, 1] for index in indexes],
        "turns": figures(lambda: random.randint(1, 6)),
        "inputTokens": figures(lambda: int(random.lognormvariate(6, 0.5))),
        "outputTokens": figures(lambda: int(random.lognormvariate(5, 0.7))),
        "durationMs": figures(lambda: int(random.lognormvariate(7.5, 0.6))),
        "costUsd": figures(lambda: round(random.lognormvariate(-6, 0.6), 6)),
        "errorCode": [None if each is not False else "timeout" for each in completed],
        "tagNames": [],
        "checkNames": ["policy", "length"],
    }


def _case_names(first: int, cases: int) -> dict[str, Any]:
    found = {**example("CaseName"), "personaId": None, "personaName": None}
    last = min(cases, first + NAMES_PER_READ)
    items = [{**found, "index": index, "scenarioName": f"scenario {index}"} for index in range(first, last)]
    return {"items": items, "nextIndex": last if last < cases else None}


def _case_texts(first: int, limit: int) -> dict[str, Any]:
    found = {**example("CaseText"), "input": QUESTION, "expected": "A short answer"}
    items = [{**found, "index": index} for index in range(first, first + limit)]
    return {"items": items, "nextIndex": first + limit}


def _excerpt(index: int) -> dict[str, Any]:
    return {**example("ProbeExcerpt"), "index": index, "answer": ANSWER, "reason": None, "contentAvailable": True}


def _transcript(name: str) -> dict[str, Any]:
    """Return a transcript: conversations of the long run have MESSAGES messages, the others two."""
    run, _, index = name.rpartition("-")
    count = MESSAGES if run == LONG else 2
    text = "A sentence of an answer that is as long as sentences are. " * 4
    messages = [
        {"role": "user" if turn % 2 == 0 else "assistant", "content": f"{turn}: {text}", "toolCalls": None}
        for turn in range(count)
    ]
    found = example("Transcript")
    return {
        **found,
        "id": name,
        "runId": run,
        "probeIndex": int(index),
        "content": {**found["content"], "messages": messages},
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: Api
    requests: list[str]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if not url.path.startswith("/v1/"):
            headers = {name.lower(): value for name, value in self.headers.items()}
            event = {"rawPath": url.path, "headers": headers, "requestContext": {"http": {"method": "GET"}}}
            response = page.handler(event, None)
            body = response["body"]
            content = base64.b64decode(body) if response["isBase64Encoded"] else body.encode()
            self._send(response["statusCode"], response["headers"], content)
            return
        self.requests.append(url.path)
        answer = self.api.answer(url.path, parse_qs(url.query))
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        self._send(200 if answer else 404, headers, answer or pack({"title": "Not found", "detail": url.path}))

    def _send(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def page_server(built: Path, probes: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the address, and the API's paths that were requested, in order."""
    page._FOLDER = built
    requests: list[str] = []
    handler = type("Handler", (_Handler,), {"api": Api(probes), "requests": requests})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
