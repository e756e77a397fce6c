"""OpenAI's clients for Node and Python, the oldest with evals, one between and the newest, on the functions of the API
behind a server that stands for API Gateway."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

import pytest

from cupel_core.store.settings import Settings
from tests.interop import tools
from tests.unit.api.client import Client
from tests.unit.interop.openai_evals.flows import carry_out, stored_run


class _Gateway(BaseHTTPRequestHandler):
    """Calls the functions one at a time; before a run is retrieved, its probes are carried out."""

    owner: ClassVar[Client]
    lock: ClassVar[Lock] = Lock()

    def _serve(self) -> None:
        target = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "authorization"}
        with self.lock:
            if self.command == "GET" and target.path.rpartition("/")[0].endswith("/runs"):
                _carry_out_once(target.path.rpartition("/")[2])
            answer = self.owner.request(
                self.command, target.path, raw_body=body, headers=headers, query=dict(parse_qsl(target.query))
            )
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name != "Content-Encoding":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the names of the base class

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


def _carry_out_once(run_id: str) -> None:
    if stored_run(run_id).status == "PENDING":
        carry_out(run_id)


@pytest.fixture
def address(cloud: Settings) -> Iterator[str]:
    assert cloud.table_name
    _Gateway.owner = Client(None)
    _Gateway.owner.token = _Gateway.owner.issue()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Gateway) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/openai/v1"
        server.shutdown()


@pytest.mark.parametrize("client", tools.OPENAI_CLIENTS)
def test_the_client_runs_evals(address: str, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cupel_core.store.executions.start_finish", lambda *_: None)
    received = tools.call_openai_client(client, address, "cupel_of_the_owner")
    assert received == {
        "errors": [None, None, None],
        "judged": ["string", "number"] * 2,
        "queued": "queued",
        "status": "completed",
        "counts": {"total": 2, "passed": 1, "failed": 1, "errored": 0},
        "items": [["a", "pass"], ["b", "fail"]],
        "others": {"responses": 1, "jsonl": 1, "jsonl_file": 1, "stored": 2},
        "criteria": ["exact", "near", "kind", "quality"],
        "cancelled": "canceled",
        "refused": ["invalid_request_error", "invalid_value"],
        "deleted": [True] * 5,
        "listed": [],
    }
