"""The client has a method for every call that the API describes."""

import inspect
import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any, get_args, get_type_hints

import httpx

from cupel.client import Client, Collection
from tests.conftest import ROOT

_OURS = {"close", "from_environment"}
_KINDS = ("promptfoo", "csv")
"""The rest of them share a path."""


def described() -> set[tuple[str, str]]:
    """All but the description itself."""
    paths = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    return {(method.upper(), path) for path, methods in paths.items() for method in methods} - {
        ("GET", "/v1/openapi.json")
    }


def asked_by(method: str) -> Iterator[tuple[str, str]]:
    """(method, path) of each request that a method of the client makes with whatever arguments it needs."""
    asked: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, request.url.path))
        return httpx.Response(200, json={"items": [], "nextCursor": None})

    client = Client("http://api.test", "token", transport=httpx.MockTransport(answer))
    for arguments in _arguments(getattr(Client, method)):
        told = getattr(client, method)(**arguments)
        if isinstance(told, Iterator):
            list(told)
    client.close()
    yield from asked


def _arguments(method: Any) -> Iterator[dict[str, Any]]:
    needed = [each for each in inspect.signature(method).parameters.values() if each.default is each.empty]
    names = [each.name for each in needed if each.name != "self" and each.kind is not each.VAR_KEYWORD]
    hints = get_type_hints(method)
    yield from (
        dict(zip(names, values, strict=True)) for values in product(*(_values(name, hints[name]) for name in names))
    )


def _values(name: str, kind: Any) -> tuple[Any, ...]:
    if kind is Collection:
        return get_args(Collection.__value__)
    if name == "kind":
        return _KINDS
    return ("x",) if kind is str else (7,) if kind is int else ([],) if "list" in str(kind) else ({},)


def fits(path: str, template: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) is not None


def test_every_call_of_the_api_has_a_method() -> None:
    methods = [name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")]
    asked = {each for name in methods if name not in _OURS for each in asked_by(name)}
    missing = {
        (verb, template) for verb, template in described() if not any(verb == v and fits(p, template) for v, p in asked)
    }
    assert missing == set()
    assert all(any(verb == v and fits(path, t) for v, t in described()) for verb, path in asked)
