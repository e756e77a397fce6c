"""The client has one method for each operation of the API, named after it."""

import inspect
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple, get_type_hints

import httpx
import pytest

import tools.client
from cupel.client import Client
from cupel.errors import ApiProblem
from tests.conftest import ROOT
from tests.in_one_test import in_one_test
from tests.operations import OPERATIONS
from tools.openapi_changes import resolve

_CONVENIENCES = {
    "close",
    "follow_turn",
    "get_data_frame",
    "from_environment",
    "get_graphql_schema",
    "get_run_report_text",
    "graphql",
    "send_mcp_message",
    "upload_file",
}


class Operation(NamedTuple):
    verb: str
    path: str


def snake_case(operation_id: str) -> str:
    return re.sub("(?=[A-Z])", "_", operation_id).lower()


def described() -> dict[str, Operation]:
    """By the name of the client's method."""
    paths = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    return {
        snake_case(operation["operationId"]): Operation(verb.upper(), path)
        for path, operations in paths.items()
        for verb, operation in operations.items()
    }


def sent_by(method: str) -> list[Operation]:
    """The requests that a method sends when it is called with its required arguments alone."""
    return [Operation(request.method, request.url.path) for request in _requests_of(method)]


def _requests_of(method: str, *, is_busy: bool = False, **options: str) -> list[httpx.Request]:
    """The requests of a method; if the API is busy, it refuses the first one."""
    requests: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        status = 503 if is_busy and len(requests) == 1 else 200
        return httpx.Response(status, json={"items": [], "nextCursor": None}, headers={"ETag": '"2"'})

    transport = httpx.MockTransport(respond)
    with Client("http://api.test", "token", transport=transport, sleep=lambda _: None) as client, suppress(ApiProblem):
        returned = getattr(client, method)(**_required_arguments(getattr(Client, method)), **options)
        if isinstance(returned, Iterator):
            list(returned)
    return requests


def _required_arguments(method: Any) -> dict[str, Any]:
    hints = get_type_hints(method)
    parameters = [each for each in inspect.signature(method).parameters.values() if each.name != "self"]
    required = [each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    return {name: _value(hints[name]) for name in required}


def _value(kind: Any) -> Any:
    return "x" if kind is str else 7 if kind is int else [] if "list" in str(kind) else {}


def matches(path: str, template: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) is not None


def test_the_methods_are_the_operations() -> None:
    methods = {name for name, _ in inspect.getmembers(Client, inspect.isroutine) if not name.startswith("_")}
    assert methods - _CONVENIENCES == described().keys()


def methods_with(header: str) -> list[str]:
    """The methods whose operation has this header."""
    paths = resolve(json.loads((ROOT / "docs/openapi.json").read_text()))["paths"]
    return [
        snake_case(operation["operationId"])
        for operations in paths.values()
        for operation in operations.values()
        if any(parameter["name"] == header for parameter in operation.get("parameters", ()))
    ]


@pytest.mark.parametrize("method", methods_with("If-Match"))
def test_a_conditional_change_sends_the_tag(method: str) -> None:
    (request,) = _requests_of(method, if_match='"1"')
    assert request.headers["If-Match"] == '"1"'
    (request,) = _requests_of(method)
    assert "If-Match" not in request.headers


_BY_METHOD = {each.function.__name__: each for each in OPERATIONS.values()}
_WITH_A_KEY = methods_with("Idempotency-Key")


@in_one_test("method", sorted(described()))
def test_a_method_sends_its_operation_with_a_key_and_repeats_what_may_be_repeated(method: str) -> None:
    (sent,) = sent_by(method)
    assert sent.verb == described()[method].verb
    assert matches(sent.path, described()[method].path)
    requests, operation = _requests_of(method, is_busy=True), _BY_METHOD[method]
    assert {"Idempotency-Key" in each.headers for each in requests} == {method in _WITH_A_KEY}
    may_repeat = operation.is_read or operation.replay is not None or operation.is_repeatable
    assert len(requests) == (2 if may_repeat else 1)


def test_the_generated_methods_are_those_of_the_operations() -> None:
    assert tools.client.FILE.read_text() == tools.client.render(), "python -m tools.client --update"


def test_what_was_read_has_its_tag() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"id": "per_1"}, headers={"ETag": '"2"'}))
    with Client("http://api.test", "token", transport=transport) as client:
        persona = client.get_persona("per_1")
    assert (persona, persona.etag) == ({"id": "per_1"}, '"2"')


def test_a_refused_change_says_the_current_tag() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(412, json={"title": "x"}, headers={"ETag": '"2"'}))
    with (
        Client("http://api.test", "token", transport=transport) as client,
        pytest.raises(ApiProblem) as refused,
    ):
        client.update_persona("per_1", {}, if_match='"1"')
    assert (refused.value.status, refused.value.etag) == (412, '"2"')
