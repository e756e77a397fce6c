import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

from cupel.client import Client
from cupel.environment import find_address
from cupel.errors import ApiProblem, NotConnected, UsageError
from tests.unit.cupel.fake_api import FakeApi

REFUSED = httpx.ConnectError("connection refused")


def test_lists_read_pages_until_there_is_no_cursor(api: FakeApi, client: Client):
    api.models = [{"id": str(number)} for number in range(5)]
    assert [model["id"] for model in client.list_models()] == ["0", "1", "2", "3", "4"]
    assert [request.url.params.get("cursor") for request in api.requests] == [None, "2", "4"]


def test_a_list_reads_no_page_ahead(api: FakeApi, client: Client):
    api.models = [{"id": str(number)} for number in range(5)]
    next(client.list_models())
    assert len(api.requests) == 1


def page_sizes(api: FakeApi) -> list[int]:
    return [int(request.url.params["limit"]) for request in api.requests]


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1]), (3, [3, 1]), (250, [100, 100, 50]), (0, [])])
def test_the_first_items_are_requested_in_pages_that_are_no_larger(
    api: FakeApi, client: Client, limit: int, sizes: list[int]
):
    api.models, api.page_size = [{"id": str(number)} for number in range(300)], 2 if limit < 4 else 100
    assert len(client.list_models().first(limit)) == limit
    assert page_sizes(api) == sizes


def test_the_first_items_that_fulfill_a_condition_are_looked_for_in_full_pages(api: FakeApi, client: Client):
    api.models = [{"id": str(number)} for number in range(9)]
    even = client.list_models().first(2, where=lambda model: int(model["id"]) % 2 == 0)
    assert [model["id"] for model in even] == ["0", "2"]
    assert page_sizes(api) == [100, 100]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_does_not_have_is_refused_with_its_field(api: FakeApi, client: Client, number: float):
    with pytest.raises(UsageError, match=r"^targets\.1\.params\.temperature: must be a finite number$"):
        client.create_run({"targets": [{"model": "a"}, {"model": "b", "params": {"topP": 1, "temperature": number}}]})
    assert api.requests == []


def test_half_of_a_character_is_refused_with_its_field(api: FakeApi, client: Client):
    with pytest.raises(UsageError, match=r"^content: must not have half characters"):
        client.start_turn("chat_1", {"content": "caf\ud83d"})
    assert api.requests == []


def test_every_request_carries_the_token(api: FakeApi, client: Client):
    client.get_run("run_1")
    assert api.requests[0].headers["Authorization"] == "Bearer cupel_token"


def test_a_problem_document_becomes_an_error_with_its_fields(api: FakeApi, client: Client):
    errors = [{"field": "models.0", "message": "unknown provider"}]
    api.refusals = [httpx.Response(422, json={"title": "Invalid request", "detail": "no", "errors": errors})]
    with pytest.raises(ApiProblem) as caught:
        client.create_run({})
    assert (caught.value.status, caught.value.title, caught.value.detail) == (422, "Invalid request", "no")
    assert caught.value.errors == (("models.0", "unknown provider"),)
    assert caught.value.exit_code == 2


def test_an_error_without_json_is_reported_by_its_status(api: FakeApi, client: Client):
    api.refusals = [httpx.Response(500, text="<html>oops</html>")]
    with pytest.raises(ApiProblem, match="500 Internal Server Error") as caught:
        client.get_run("run_1")
    assert caught.value.exit_code == 1


def test_a_success_without_json_is_an_error(api: FakeApi, client: Client):
    api.refusals = [httpx.Response(200, text="<html>a proxy</html>")]
    with pytest.raises(ApiProblem, match="did not return a JSON object"):
        client.get_run("run_1")


def test_a_read_is_repeated_when_the_network_fails(api: FakeApi, client: Client, waits: list[float]):
    api.refusals = [REFUSED, httpx.Response(503)]
    assert client.get_run("run_1")["id"] == "run_1"
    assert waits == [0.2, 0.4]


def test_a_read_is_given_up_after_four_attempts(api: FakeApi, client: Client):
    api.refusals = [REFUSED] * 9
    with pytest.raises(NotConnected, match=r"http://api\.test cannot be reached: no server answers"):
        client.get_run("run_1")
    assert len(api.requests) == 4


def test_a_busy_api_is_left_alone_for_as_long_as_it_asks(api: FakeApi, client: Client, waits: list[float]):
    api.refusals = [httpx.Response(503, headers={"Retry-After": "7"}), httpx.Response(503)]
    client.get_run("run_1")
    assert waits == [7, 0.4]


@pytest.mark.parametrize(("asked", "waited"), [("3", 3), ("3600", 30), ("Sun, 22 Nov 2026 12:00:00 GMT", 0.2)])
def test_any_request_above_the_limit_is_repeated_when_the_api_asks_for_it(
    api: FakeApi, client: Client, waits: list[float], asked: str, waited: float
):
    api.refusals = [httpx.Response(429, headers={"Retry-After": asked})]
    client.revoke_token("tok_1")
    assert waits == [waited]
    assert [request.method for request in api.requests] == ["DELETE", "DELETE"]


def test_a_request_that_stays_above_the_limit_is_reported(api: FakeApi, client: Client, waits: list[float]):
    api.refusals = [httpx.Response(429, headers={"Retry-After": "1"}, json={"title": "Too many requests"})] * 4
    with pytest.raises(ApiProblem, match="Too many requests"):
        client.pause_run("run_1")
    assert waits == [1, 1, 1]


def test_a_change_is_not_repeated(api: FakeApi, client: Client):
    api.refusals = [REFUSED]
    with pytest.raises(NotConnected):
        client.update_definition("def_1", {"name": "x"})
    assert len(api.requests) == 1


def test_a_start_is_repeated_under_one_idempotency_key(api: FakeApi, client: Client):
    in_progress = httpx.Response(409, headers={"Retry-After": "1"}, json={"title": "Conflict"})
    api.refusals = [REFUSED, in_progress]
    client.create_run({"models": ["sim/steady"]})
    keys = [request.headers["Idempotency-Key"] for request in api.requests]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_a_refused_creation_is_not_repeated(api: FakeApi, client: Client):
    api.refusals = [httpx.Response(409, json={"title": "Conflict"})]
    with pytest.raises(ApiProblem):
        client.create_persona({"name": "Ada"})
    assert len(api.requests) == 1


def test_two_starts_have_two_idempotency_keys(api: FakeApi, client: Client):
    client.create_run({"models": ["sim/steady"]})
    client.create_run({"models": ["sim/steady"]})
    assert len({request.headers["Idempotency-Key"] for request in api.requests}) == 2


def test_the_environment_names_the_api(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUPEL_API_URL", "https://api.example")
    monkeypatch.setenv("CUPEL_TOKEN", "cupel_x")
    assert find_address()[:2] == ("https://api.example", "cupel_x")


def test_an_incomplete_environment_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUPEL_API_URL", "https://api.example")
    monkeypatch.delenv("CUPEL_TOKEN", raising=False)
    with pytest.raises(UsageError, match="CUPEL_TOKEN is not set"):
        find_address()


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUPEL_API_URL", raising=False)
    monkeypatch.delenv("CUPEL_TOKEN", raising=False)


@pytest.mark.usefixtures("nothing_set")
def test_the_local_stack_is_found_from_a_directory_below(tmp_path: Path):
    (tmp_path / ".cupel").mkdir()
    local = tmp_path / ".cupel" / "local.json"
    local.write_text(json.dumps({"apiUrl": "http://127.0.0.1:4566/x", "token": "cupel_y", "region": "us-east-1"}))
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_address(below) == ("http://127.0.0.1:4566/x", "cupel_y", str(local))


@pytest.mark.usefixtures("nothing_set")
def test_a_broken_local_file_is_named(tmp_path: Path):
    (tmp_path / ".cupel").mkdir()
    (tmp_path / ".cupel" / "local.json").write_text("{")
    with pytest.raises(UsageError, match=r"local\.json is not a valid local stack file"):
        find_address(tmp_path)


@pytest.mark.usefixtures("nothing_set")
def test_without_any_stack_the_error_says_how_to_start_one(tmp_path: Path):
    with pytest.raises(UsageError, match="cupel up"):
        find_address(tmp_path)


class _Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "ok"}')

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with HTTPServer(("127.0.0.1", 0), _Healthy) as server:
        Thread(target=server.handle_request).start()
        with Client(f"http://127.0.0.1:{server.server_port}", "t") as client:
            assert client.get_health() == {"status": "ok"}


@pytest.mark.parametrize("invalid", ["../tokens/tok_1", "run_1/probes", "..", "", "run_1?limit=1", "run 1", "rün_1"])
def test_an_id_that_would_call_another_operation_is_refused(api: FakeApi, client: Client, invalid: str):
    with pytest.raises(UsageError, match="is not a valid id"):
        client.delete_run(invalid)
    assert api.requests == []
