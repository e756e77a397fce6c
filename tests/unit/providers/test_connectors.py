"""Agents behind connectors: chat completions, custom JSON, and behaviour common to every protocol."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from math import inf
from random import Random
from typing import Any

import pytest
from aiohttp import web

from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import (
    AgentThread,
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.domain.resources.connectors import ConnectionTestResult, Connector, ConnectorType
from cupel_core.providers import safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete, complete_with_retry
from cupel_core.providers.connectors import connection_test
from cupel_core.providers.connectors.expressions import _parts
from cupel_core.providers.errors import ProviderError
from cupel_core.sandbox import pool
from tests.unit.providers.agents import Handler, ReceivedRequest, json, serving

TALK = (
    Message(MessageRole.SYSTEM, "Be kind"),
    Message(MessageRole.USER, "Hello"),
    Message(MessageRole.ASSISTANT, "Hi"),
    Message(MessageRole.USER, "And now?"),
)
THREAD = AgentThread(
    "0b8f6f2e-7d2c-4a5b-9a54-1f7c1a3f9d10", 1, {"X-User": "user-7-secret"}, "Grumpy", {"language": "French"}
)
SECRET = "Bearer very-secret"
COMPLETION = {
    "model": "tiny",
    "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
OPENAI = {"model": "tiny"}
HTTP = {"path": "/ask", "request": "{q: message, id: conversationId}", "reply": "answer.text"}


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await safe_http.close()


def connector(kind: str, config: dict[str, Any], url: str = "") -> Connector:
    return Connector("con_1", "c", ConnectorType(kind), url, {"Authorization": SECRET}, config)


async def send(to: Connector, conversation: ModelRequest, allow_private: bool = True, seconds: float = 60) -> Reply:
    account = Account("connector", to.base_url, connector=to, allow_private=allow_private)
    return await complete(account, to.target, conversation, seconds)


async def ask(to: Connector, body: object, status: int = 200, **options: Any) -> tuple[Reply, ReceivedRequest]:
    async with serving(lambda _: json(body, status)) as agent:
        reply = await send(
            replace(to, base_url=agent.url), ModelRequest(TALK, ModelParameters(**options), thread=THREAD)
        )
    return reply, agent.requests[0]


async def failure(to: Connector, body: object, status: int = 200) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(to, body, status)
    return caught.value


async def test_a_chat_completion_request_has_the_whole_conversation() -> None:
    reply, asked = await ask(connector("openai", OPENAI), COMPLETION)
    assert (reply.text, reply.model_version, reply.usage) == ("Hi", "tiny", Usage(3, 2))
    assert asked.path == "/chat/completions"
    assert asked.body == {
        "model": "tiny",
        "messages": [{"role": str(message.role), "content": message.content} for message in TALK],
    }
    assert asked.headers["authorization"] == SECRET


async def test_parameters_of_the_run_override_the_connectors_settings() -> None:
    to = connector("openai", {**OPENAI, "temperature": 0.2, "maxTokens": 9, "parameters": {"top_p": 0.5}})
    _, asked = await ask(to, COMPLETION)
    assert (asked.body["temperature"], asked.body["max_tokens"], asked.body["top_p"]) == (0.2, 9, 0.5)
    _, asked = await ask(to, COMPLETION, temperature=0.0, max_output_tokens=5)
    assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.0, 5)


async def test_a_malformed_completion_is_the_agents_error() -> None:
    assert (await failure(connector("openai", OPENAI), {"choices": []})).code is ProbeErrorCode.PROVIDER_ERROR


async def test_the_request_expression_sees_the_whole_context() -> None:
    everything = connector("http", {**HTTP, "request": "@"})
    _, asked = await ask(everything, {"answer": {"text": "Hi"}})
    assert (asked.method, asked.path) == ("POST", "/ask")
    assert asked.body == {
        "message": "And now?",
        "messages": [{"role": str(message.role), "content": message.content} for message in TALK],
        "conversationId": THREAD.id,
        "turn": 1,
        "persona": "Grumpy",
        "vars": {"language": "French"},
    }


async def test_the_reply_expression_selects_the_reply() -> None:
    reply, asked = await ask(connector("http", {**HTTP, "method": "PUT"}), {"answer": {"text": "Hi"}})
    assert reply == Reply("Hi")
    assert (asked.method, asked.body) == ("PUT", {"q": "And now?", "id": THREAD.id})


async def test_plain_text_is_accepted_as_a_reply() -> None:
    async with serving(lambda _: web.Response(text="just words")) as agent:
        to = connector("http", {**HTTP, "reply": "@"}, agent.url)
        assert (await send(to, ModelRequest(TALK, thread=THREAD))).text == "just words"


async def test_a_reply_that_is_not_text_is_returned_as_json() -> None:
    reply, _ = await ask(connector("http", HTTP), {"answer": {"text": {"city": "Bern"}}})
    assert reply.text == '{"city":"Bern"}'


@pytest.mark.parametrize(("chosen", "thread_id"), [("abc", "abc"), (17, "17"), (None, None)])
async def test_an_agent_may_choose_the_conversation_id(chosen: object, thread_id: str | None) -> None:
    to = connector("http", {**HTTP, "conversationId": "session"})
    reply, _ = await ask(to, {"answer": {"text": "Hi"}, "session": chosen})
    assert reply.thread_id == thread_id


@pytest.mark.parametrize(
    ("trace", "output"), [({"a": 1}, {"a": 1}), ([1, 2], {"value": [1, 2]}), (None, None), ({}, None)]
)
async def test_the_output_expression_selects_the_output(trace: object, output: object) -> None:
    reply, _ = await ask(connector("http", {**HTTP, "output": "trace"}), {"answer": {"text": "Hi"}, "trace": trace})
    assert reply.output == output


async def test_an_error_in_a_200_is_an_error() -> None:
    to = connector("http", {**HTTP, "error": "problem"})
    error = await failure(to, {"problem": "out of order"})
    assert (error.code, error.message) == (ProbeErrorCode.PROVIDER_ERROR, "the agent failed: out of order")
    reply, _ = await ask(to, {"answer": {"text": "Hi"}, "problem": None})
    assert reply.text == "Hi"


async def test_a_missing_reply_is_the_agents_error() -> None:
    error = await failure(connector("http", HTTP), {"other": 1})
    assert (error.code, error.message) == (
        ProbeErrorCode.PROVIDER_ERROR,
        "the expression `reply` selects nothing in the response",
    )


async def test_an_expression_that_cannot_be_applied_is_named() -> None:
    error = await failure(connector("http", {**HTTP, "reply": "length(answer)"}), {"answer": 1})
    assert error.message.startswith("the expression `reply` cannot be applied to the response: In function length()")


async def test_a_request_that_cannot_be_built_is_not_retried() -> None:
    error = await failure(connector("http", {**HTTP, "request": "nofunc(@)"}), {})
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)


@pytest.mark.parametrize("kind", ["openai", "http", "langgraph"])
async def test_a_stored_config_that_is_no_longer_valid_is_an_error_that_names_the_field(kind: str) -> None:
    error = await failure(connector(kind, {"old": 1}), {})
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)
    assert "config.old" in error.message


async def test_headers_of_the_persona_override_those_of_the_connector() -> None:
    thread = replace(THREAD, headers={"AUTHORIZATION": "Bearer of-the-user", "X-User": "7"})
    async with serving(lambda _: json(COMPLETION)) as agent:
        await send(connector("openai", OPENAI, agent.url), ModelRequest(TALK, thread=thread))
    assert agent.requests[0].headers["authorization"] == "Bearer of-the-user"
    assert agent.requests[0].headers["x-user"] == "7"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ProbeErrorCode.INVALID_REQUEST),
        (403, ProbeErrorCode.AUTH),
        (429, ProbeErrorCode.RATE_LIMITED),
        (503, ProbeErrorCode.PROVIDER_ERROR),
        (504, ProbeErrorCode.TIMEOUT),
    ],
)
@pytest.mark.parametrize(("kind", "config"), [("openai", OPENAI), ("http", HTTP)])
async def test_a_status_means_the_same_as_for_a_model(
    kind: str, config: dict[str, Any], status: int, code: ProbeErrorCode
) -> None:
    assert (await failure(connector(kind, config), {"error": {"message": "why"}}, status)).code is code


async def test_a_header_repeated_in_an_error_is_redacted() -> None:
    message = f"not allowed: {SECRET}, very-secret, user-7-secret"
    error = await failure(connector("http", HTTP), {"error": {"message": message}}, 401)
    assert error.message == "HTTP 401: not allowed: [hidden], [hidden], [hidden]"


async def test_a_credential_repeated_in_a_reply_is_redacted() -> None:
    reply, _ = await ask(connector("http", {**HTTP, "output": "@"}), {"answer": {"text": f"My token is {SECRET}"}})
    assert reply.text == "My token is [hidden]"
    assert "very-secret" not in str(reply)


async def test_a_private_agent_is_rejected_if_the_stack_does_not_allow_it() -> None:
    async with serving(lambda _: json(COMPLETION)) as agent:
        with pytest.raises(ProviderError, match="does not allow private endpoints") as caught:
            await send(connector("openai", OPENAI, agent.url), ModelRequest(TALK), allow_private=False)
    assert (caught.value.code, caught.value.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)
    assert agent.requests == []


async def test_an_agent_that_hangs_times_out() -> None:
    async def hang(asked: ReceivedRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with serving(hang) as agent:
        with pytest.raises(ProviderError) as caught:
            await send(connector("openai", OPENAI, agent.url), ModelRequest(TALK), seconds=0.05)
    assert caught.value.code is ProbeErrorCode.TIMEOUT


async def test_a_deleted_connector_is_an_error() -> None:
    with pytest.raises(ProviderError, match="the connector does not exist"):
        await complete(Account("connector", ""), "connector/con_1", ModelRequest(TALK), 5)


async def test_a_connection_test_returns_the_reply_and_its_latency() -> None:
    async with serving(lambda asked: json({"answer": {"text": f"You said {asked.body['q']}"}})) as agent:
        result = await connection_test.test_connection(
            connector("http", HTTP, agent.url), True, 5, attempt=complete, prices=()
        )
    assert (result.ok, result.reply, result.error) == (True, "You said Hello", None)
    assert 0 <= result.latency_ms < 5000


async def test_a_failed_connection_test_returns_the_error() -> None:
    async with serving(lambda _: json({}, 500)) as agent:
        result = await connection_test.test_connection(
            connector("http", HTTP, agent.url), True, 5, attempt=complete, prices=()
        )
    assert result == ConnectionTestResult(False, result.latency_ms, error="HTTP 500: {}")


async def test_an_empty_request_is_not_sent() -> None:
    error = await failure(connector("http", {**HTTP, "request": "nothing"}), {})
    assert (error.code, error.message) == (
        ProbeErrorCode.INVALID_REQUEST,
        "the expression `request` selects nothing to send",
    )


DOUBLING = " | ".join(["{a:@,b:@}"] * 40)


@pytest.fixture
def _unused_budgets() -> Iterator[None]:
    pool.reset_budgets()
    yield
    pool.reset_budgets()


@pytest.mark.usefixtures("_unused_budgets")
@pytest.mark.parametrize("name", ["request", "reply", "conversationId", "output", "error"])
@pytest.mark.parametrize("expression", [DOUBLING, DOUBLING.replace(" | ", ".")], ids=["pipe", "dot"])
async def test_an_expression_that_doubles_its_input_is_ended_and_not_retried(name: str, expression: str) -> None:
    error = await failure(connector("http", {**HTTP, name: expression}), {"answer": {"text": "Hi"}})
    assert (error.code, error.retryable) == (ProbeErrorCode.EXPRESSION_LIMIT, False)
    assert f"`{name}`" in error.message


async def test_a_whole_response_is_no_conversation_id() -> None:
    to = connector("http", {**HTTP, "conversationId": "@"})
    error = await failure(to, {"answer": {"text": "x" * 900_000}})
    assert error.message.startswith("the conversation id has 900,0")
    assert not error.retryable


async def test_a_reply_of_any_depth_is_the_agents_error() -> None:
    async with serving(lambda _: web.Response(text="[" * 600 + "]" * 600)) as agent:
        to = connector("http", {**HTTP, "reply": "@"}, agent.url)
        with pytest.raises(ProviderError, match="the response is nested too deeply"):
            await send(to, ModelRequest(TALK, thread=THREAD))


async def test_an_output_of_any_depth_is_omitted() -> None:
    body = '{"answer": {"text": "Hi"}, "trace": ' + "[" * 600 + "]" * 600 + "}"
    async with serving(lambda _: web.Response(text=body)) as agent:
        to = connector("http", {**HTTP, "output": "trace"}, agent.url)
        assert (await send(to, ModelRequest(TALK, thread=THREAD))).output == {"omitted": "it is nested too deeply"}


@pytest.mark.parametrize("expression", ["answer.text", "{q: message, id: conversationId}", "messages[-1].content", "@"])
def test_an_ordinary_expression_is_computed_here(expression: str) -> None:
    assert _parts(expression) <= 3


@pytest.mark.parametrize("expression", ["a[*].b", "a | b", "length(a)", "{a: {b: @}.{c: b}}", "a[?b == `1`]"])
def test_an_expression_that_does_more_than_select_is_not(expression: str) -> None:
    assert _parts(expression) == inf


UNREADABLE: dict[str, Handler] = {
    "no match": lambda _: json({"other": 1}),
    "page": lambda _: web.Response(text="<html><title>Sign in</title>42</html>", content_type="text/html"),
    "stream": lambda _: web.Response(text="data: {}\n\ndata: {}\n\n", content_type="text/event-stream"),
    "empty": lambda _: web.Response(body=b""),
}


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_an_agent_is_called_once_for_a_reply_that_cannot_be_read(kind: str) -> None:
    async with serving(UNREADABLE[kind]) as agent:
        account = Account(
            "connector",
            agent.url,
            connector=connector("http", {"request": "{m: message}", "reply": "answer.text", "path": "/"}, agent.url),
            allow_private=True,
        )
        with pytest.raises(ProviderError) as caught:
            await complete_with_retry(
                account,
                "connector/con_1",
                ModelRequest((Message(MessageRole.USER, "Hello"),)),
                timeout_seconds=5,
                max_wait_seconds=60,
                rng=Random(1),
            )
    assert (len(agent.requests), caught.value.retryable) == (1, False)
