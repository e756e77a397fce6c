"""A real EventSource, Node's, reads the events of a run with a ticket."""

from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import event_tickets
from tests.interop import tools
from tests.unit.api.client import Client

TYPES = ("run.created", "run.paused", "run.cancelled")


@pytest.fixture
def client(cloud: Settings) -> Client:
    assert cloud.table_name
    called = Client(None)
    called.token = called.issue()
    return called


@pytest.fixture
def run_id(client: Client) -> str:
    created = client.post("/v1/definitions", {"name": "facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{created['id']}/scenarios", {"items": [{"prompt": "hello"}]})
    run = {"definitionId": created["id"], "models": ["sim/steady"]}
    return str(client.post("/v1/runs", run).json()["run"]["id"])


class _Gateway(BaseHTTPRequestHandler):
    """Calls the functions, as API Gateway would; cancels the run before the second request for its events."""

    requests: list[str | None]
    owner: Client

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        self.requests.append(self.headers.get("Last-Event-ID"))
        if len(self.requests) == 2:
            self.owner.post(target.path.replace("/events", "/cancel"))
        answer = Client(None).get(target.path, query=dict(parse_qsl(target.query)), headers=dict(self.headers))
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name != "Content-Encoding":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.text.replace("retry: 2000", "retry: 10").encode())

    def log_message(self, *_: object) -> None:
        """Nothing: the address has a secret."""


@pytest.fixture
def gateway(client: Client) -> Iterator[tuple[str, list[str | None]]]:
    """Its address, and the `Last-Event-ID` of each request it got."""
    requests: list[str | None] = []
    handler = type("Gateway", (_Gateway,), {"requests": requests, "owner": client})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


def test_an_event_source_reads_every_event_once_and_stops_at_the_end_of_the_run(
    client: Client, run_id: str, gateway: tuple[str, list[str | None]]
) -> None:
    address, requests = gateway
    path = client.post(f"/v1/runs/{run_id}/event-tickets").json()["path"]
    assert tools.read_events(f"{address}{path}", *TYPES) == ["1 run.created", "2 run.cancelled"]
    assert requests == [None, "1", "2"]


def test_an_event_source_is_refused_with_an_expired_ticket(run_id: str, gateway: tuple[str, list[str | None]]) -> None:
    address, requests = gateway
    issued_at = utc_now() - event_tickets.LIFETIME - timedelta(seconds=1)
    expired = event_tickets.issue(RunRef("acme", run_id), "tok_1", issued_at)
    assert tools.read_events(f"{address}/v1/runs/{run_id}/events?ticket={expired.secret}", *TYPES) == []
    assert requests == [None]
