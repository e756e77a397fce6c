"""The webhook on a stack: a receiver that was down gets everything, signed and in order."""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import Json, start_run, wait_for_end
from tests.unit.workspace.webhooks.receivers import Received

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ARRIVAL_SECONDS = 90.0


class Receiver:
    """Refuses its first calls, and records those that it accepts."""

    def __init__(self, refusals: int) -> None:
        self.refusals, self.refused, self.accepted, self.url = refusals, 0, list[Received](), ""

    def take(self, received: Received) -> int:
        if self.refused < self.refusals:
            self.refused += 1
            return 503
        self.accepted.append(received)
        return 204

    def data_of(self, run_id: str, kind: str) -> list[dict[str, Any]]:
        bodies = [json.loads(each.content) for each in self.accepted]
        return [
            {"type": body["type"], **body["data"]}
            for body in bodies
            if body["type"].startswith(kind) and body["data"].get("runId") == run_id
        ]


@pytest.fixture
def receiver(api: Client) -> Iterator[Receiver]:
    receiver = Receiver(refusals=2)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.send_response(receiver.take(Received(headers, content)))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    api.set_webhook({"url": receiver.url, "secret": SECRET, "probes": True})
    try:
        yield receiver
    finally:
        api.delete_webhook()
        server.shutdown()
        server.server_close()


def started_run(api: Client) -> Json:
    definition_id = str(api.create_definition({"name": "reported", "content": {"system": "Be kind."}})["id"])
    api.create_scenarios(definition_id, [{"prompt": f"Question {number}"} for number in range(3)])
    return wait_for_end(api, start_run(api, definition_id, "sim/steady"))


def test_a_runs_transitions_and_probes_arrive_signed_and_in_order_after_an_outage(
    api: Client, receiver: Receiver
) -> None:
    run = started_run(api)
    deadline = time.monotonic() + ARRIVAL_SECONDS
    while time.monotonic() < deadline:
        events, probes = receiver.data_of(run["id"], "run."), receiver.data_of(run["id"], "probes.")
        indexes = {probe["index"] for call in probes for probe in call["probes"]}
        if events and events[-1]["type"] == "run.finished" and indexes == {0, 1, 2}:
            break
        time.sleep(0.2)
    assert receiver.refused == 2
    assert [event["type"] for event in events] == ["run.created", "run.started", "run.phase_changed", "run.finished"]
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
    assert indexes == {0, 1, 2}
    assert all(each.is_signed_with(SECRET) for each in receiver.accepted)
