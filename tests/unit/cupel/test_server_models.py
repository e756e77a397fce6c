"""The models that servers of the user's own list, as the command asks for them."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import orjson
import pytest

from cupel.client import Client
from cupel.server_models import (
    MAX_BYTES,
    NoList,
    Server,
    list_models,
    model_list_text,
    own_server_models,
    unlisted_notes,
)
from cupel_core.store.settings import Settings
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

TWO = {"object": "list", "data": [{"id": "llama3.2:latest"}, {"id": "qwen3"}, {"id": "qwen3"}, {"name": "x"}, 1]}
DEFINITION = '{"name": "d", "content": {"system": "Be kind."}, "scenarios": [{"name": "a", "prompt": "Hi"}]}'


class ModelServer:
    """Answers GET /v1/models."""

    def __init__(self) -> None:
        self.status, self.body = 200, orjson.dumps(TWO)
        self.requests: list[tuple[str, str | None]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append((self.path, self.headers["Authorization"]))
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_: object) -> None:
                return

        self._http = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


def test_the_models_are_listed_once_in_their_order(server: ModelServer) -> None:
    assert list_models(Server(f"{server.address}?api-version=1", "sk-1"), 5) == ["llama3.2:latest", "qwen3"]
    assert server.requests == [("/v1/models?api-version=1", "Bearer sk-1")]


def test_a_slow_list_is_given_up(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cupel.server_models.monotonic", iter([0.0, 6.0]).__next__)
    with pytest.raises(NoList, match="takes more than 5 s"):
        list_models(Server(server.address), 5)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (401, b"{}", "HTTP 401"),
        (200, b"<html>", "its answer is no JSON"),
        (200, b'{"data": []}', "its answer lists none"),
        (200, b'{"data": "x"}', "its answer lists none"),
        (200, b'"x"', "its answer lists none"),
        (200, b" " * (MAX_BYTES + 1), "its answer has more than 4,000,000 bytes"),
    ],
    ids=["refused", "page", "empty", "other", "text", "large"],
)
def test_what_is_no_list_has_a_reason(server: ModelServer, status: int, body: bytes, why: str) -> None:
    server.status, server.body = status, body
    with pytest.raises(NoList, match=why):
        list_models(Server(server.address), 5)


def test_a_server_that_cannot_be_reached_has_no_list() -> None:
    for address in ("http://127.0.0.1:1/v1", "http://[", "http://"):
        with pytest.raises(NoList):
            list_models(Server(address), 5)


def test_of_many_models_fifty_are_shown() -> None:
    text = model_list_text("custom", [f"m{number}" for number in range(1_052)])
    assert text.startswith("custom lists 1,052 models: custom/m0, custom/m1, ")
    assert text.endswith("custom/m49 and 1,002 more")


def test_models_that_their_server_does_not_list_are_noted(server: ModelServer) -> None:
    named = [
        "custom/llama3.2",
        "custom/responses:qwen3",
        "custom/qwen4",
        "custom-b/x",
        "openai/y",
        None,
        "custom/zzzzz",
    ]
    servers = {"custom": Server(server.address), "custom-b": Server("http://127.0.0.1:1")}
    assert list(unlisted_notes(own_server_models(named), servers)) == [
        f"note: {server.address} does not list qwen4; did you mean custom/qwen3?",
        f"note: {server.address} does not list zzzzz; it lists llama3.2:latest, qwen3",
    ]
    assert len(server.requests) == 1
    server.body = b'{"data": [{"id": "*"}]}'
    assert list(unlisted_notes(own_server_models(named), servers)) == []


def test_an_address_that_is_set_shows_its_models(server: ModelServer, cupel: Cupel) -> None:
    result = cupel("providers", "set", "custom-x", "--base-url", server.address)
    assert "custom-x lists 2 models: custom-x/llama3.2:latest, custom-x/qwen3" in result.stdout
    cupel("providers", "set", "custom-x", "--max-parallel-requests", "2")
    cupel("providers", "set", "openai", "--base-url", server.address)
    assert len(server.requests) == 1


def test_a_server_without_a_list_is_set_all_the_same(server: ModelServer, cupel: Cupel) -> None:
    server.status = 404
    result = cupel("providers", "set", "custom", "--base-url", server.address)
    assert (result.exit_code, "custom: configured" in result.stdout) == (0, True)
    note = f"note: {server.address} gave this computer no list of its models: HTTP 404"
    assert note in " ".join(result.stderr.split())


def test_a_start_notes_a_model_that_its_server_does_not_list(
    server: ModelServer, client: Client, cupel: Cupel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    client.update_provider("custom", {"baseUrl": server.address})
    path = tmp_path_factory.mktemp("d") / "d.json"
    path.write_text(DEFINITION)
    result = cupel("run", str(path), "--models", "custom/qwen")
    assert (result.exit_code, "did you mean custom/qwen3?" in " ".join(result.stderr.split())) == (0, True)
    client.update_provider("custom", {"apiKey": "sk-x"})
    assert "did you mean" not in cupel("run", str(path), "--models", "custom/qwen").stderr
