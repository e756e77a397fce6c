"""Lists of models, in the shapes of real servers and of hostile ones."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from cupel_core.providers import safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.served_models import MAX_SERVED_MODELS, ServedModels, fetch_models
from tests.unit.providers.agents import ReceivedRequest, json, serving, serving_bytes

OPENAI = {"object": "list", "data": [{"id": "gpt-6.1", "object": "model", "created": 1686935002, "owned_by": "openai"}]}
OLLAMA = {"object": "list", "data": [{"id": "llama3.2:latest", "object": "model", "owned_by": "library"}]}
VLLM = {
    "object": "list",
    "data": [
        {
            "id": "meta-llama/Llama-3.2-3B-Instruct",
            "object": "model",
            "owned_by": "vllm",
            "root": "meta-llama/Llama-3.2-3B-Instruct",
            "parent": None,
            "max_model_len": 8192,
            "permission": [{"id": "modelperm-1", "object": "model_permission", "allow_sampling": True}],
        }
    ],
}
LM_STUDIO = {
    "data": [
        {"id": "qwen3.5-35b-a3b", "object": "model", "owned_by": "organization_owner"},
        {"id": "qwen3.5-122b-a10b", "object": "model", "owned_by": "organization_owner"},
    ],
    "object": "list",
}
LLAMA_CPP = {
    "models": [{"name": "/models/qwen.gguf", "model": "/models/qwen.gguf", "capabilities": ["completion"]}],
    "object": "list",
    "data": [{"id": "/models/qwen.gguf", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}],
}


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await safe_http.close()


def account(url: str, *, allow_private: bool = True) -> Account:
    return Account("custom", f"{url}/v1", api_key="sk-secret-key", allow_private=allow_private)


async def served(body: Any) -> ServedModels:
    async with serving(lambda _: json(body)) as server:
        return await fetch_models(account(server.url))


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (OPENAI, ["gpt-6.1"]),
        (OLLAMA, ["llama3.2:latest"]),
        (VLLM, ["meta-llama/Llama-3.2-3B-Instruct"]),
        (LM_STUDIO, ["qwen3.5-35b-a3b", "qwen3.5-122b-a10b"]),
        (LLAMA_CPP, ["/models/qwen.gguf"]),
        ([{"id": "a"}, {"id": "a"}, {"id": "b"}], ["a", "b"]),
        ({"object": "list", "data": []}, []),
    ],
)
async def test_the_lists_of_servers_are_read(body: Any, names: list[str]) -> None:
    assert await served(body) == ServedModels("custom", tuple(f"custom/{each}" for each in names))


async def test_the_list_is_asked_for_with_the_key() -> None:
    async with serving(lambda _: json(OPENAI)) as server:
        await fetch_models(account(server.url))
    [request] = server.requests
    assert (request.method, request.path, request.headers["authorization"]) == (
        "GET",
        "/v1/models",
        "Bearer sk-secret-key",
    )


async def test_names_that_no_run_could_use_are_left_out() -> None:
    names = ["", "two words", "a\nline", "\u202ereversed", "x" * 201, 7, None, {"id": "a"}, "good"]
    found = await served({"data": [*({"id": each} for each in names), "text", None]})
    assert found.models == ("custom/good",)


async def test_a_server_cannot_offer_any_number_of_models() -> None:
    found = await served({"data": [{"id": f"m{number}"} for number in range(10 * MAX_SERVED_MODELS)]})
    assert len(found.models) == MAX_SERVED_MODELS


@pytest.mark.parametrize("body", [{"models": []}, {"data": {"id": "a"}}, "text", 7, None])
async def test_another_answer_is_a_problem(body: Any) -> None:
    found = await served(body)
    assert found.models == ()
    assert found.problem is not None


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (lambda: json({"error": "sk-secret-key"}, status=401), "HTTP 401"),
        (lambda: web.Response(text="<html><p>sk-secret-key</p></html>", content_type="text/html"), ""),
        (lambda: web.Response(text="{", content_type="application/json"), ""),
        (lambda: web.Response(body=b"[" * 900_000, content_type="application/json"), ""),
        (lambda: web.Response(body=b" " * 1_100_000, content_type="application/json"), "larger than"),
    ],
)
async def test_a_broken_answer_is_a_problem_that_quotes_nothing(response: Any, problem: str) -> None:
    async with serving(lambda _: response()) as server:
        found = await fetch_models(account(server.url))
    assert found.models == ()
    assert problem in (found.problem or "")
    assert found.problem
    assert "secret" not in found.problem


async def test_a_slow_server_is_not_waited_for() -> None:
    async def wait(_: ReceivedRequest) -> web.Response:
        await asyncio.sleep(30)
        return json(OPENAI)

    async with serving(wait) as server:
        found = await fetch_models(account(server.url), timeout_seconds=0.2)
    assert found.problem == "no response from 127.0.0.1 within 0.2 s"


async def test_an_answer_that_never_ends_is_cut() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with serving_bytes(drip) as url:
        found = await fetch_models(account(url), timeout_seconds=0.3)
    assert found.problem == "no response from 127.0.0.1 within 0.3 s"


async def test_a_redirect_to_another_origin_has_no_key() -> None:
    async with serving(lambda _: json(OPENAI)) as other:
        moved = web.Response(status=307, headers={"location": f"{other.url}/v1/models"})
        async with serving(lambda _: moved) as server:
            await fetch_models(account(server.url))
    assert "authorization" not in other.requests[0].headers


async def test_a_private_address_is_refused_where_the_stack_forbids_them() -> None:
    async with serving(lambda _: json(OPENAI)) as server:
        found = await fetch_models(account(server.url, allow_private=False))
    assert server.requests == []
    assert "private network" in (found.problem or "")
