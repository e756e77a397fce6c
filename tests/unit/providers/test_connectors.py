"""Agents behind connectors: chat completions, JSON of their own, and what holds for every protocol."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, Reply, Role, Thread, Usage
from cupel_core.providers import safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.connectors.connection_test import Tried, try_out
from cupel_core.providers.errors import ProviderError
from tests.unit.providers.agents import Asked, json, serving

TALK = (
    Message(Role.SYSTEM, "Be kind"),
    Message(Role.USER, "Hello"),
    Message(Role.ASSISTANT, "Hi"),
    Message(Role.USER, "And now?"),
)
THREAD = Thread("0b8f6f2e-7d2c-4a5b-9a54-1f7c1a3f9d10", 1, {"X-User": "user-7-secret"}, "Grumpy")
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


async def talk(to: Connector, conversation: Conversation, allow_private: bool = True, seconds: float = 5) -> Reply:
    account = Account("connector", to.base_url, connector=to, allow_private=allow_private)
    return await complete(account, to.target, conversation, seconds)


async def ask(to: Connector, body: object, status: int = 200, **options: Any) -> tuple[Reply, Asked]:
    async with serving(lambda _: json(body, status)) as agent:
        reply = await talk(replace(to, base_url=agent.url), Conversation(TALK, thread=THREAD, **options))
    return reply, agent.asked[0]


async def failure(to: Connector, body: object, status: int = 200) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(to, body, status)
    return caught.value


async def test_a_chat_completion_is_asked_with_the_whole_conversation() -> None:
    reply, asked = await ask(connector("openai", OPENAI), COMPLETION)
    assert (reply.text, reply.model_version, reply.usage) == ("Hi", "tiny", Usage(3, 2))
    assert asked.path == "/chat/completions"
    assert asked.body == {
        "model": "tiny",
        "messages": [{"role": str(each.role), "content": each.content} for each in TALK],
    }
    assert asked.headers["authorization"] == SECRET


async def test_the_run_goes_over_the_connectors_settings() -> None:
    to = connector("openai", {**OPENAI, "temperature": 0.2, "maxTokens": 9, "parameters": {"top_p": 0.5}})
    _, asked = await ask(to, COMPLETION)
    assert (asked.body["temperature"], asked.body["max_tokens"], asked.body["top_p"]) == (0.2, 9, 0.5)
    _, asked = await ask(to, COMPLETION, temperature=0.0, max_output_tokens=5)
    assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.0, 5)


async def test_a_completion_without_its_fields_is_the_agents_error() -> None:
    assert (await failure(connector("openai", OPENAI), {"choices": []})).code is ErrorCode.PROVIDER_ERROR


async def test_a_request_is_made_of_what_the_expression_takes() -> None:
    everything = connector("http", {**HTTP, "request": "@"})
    _, asked = await ask(everything, {"answer": {"text": "Hi"}})
    assert (asked.method, asked.path) == ("POST", "/ask")
    assert asked.body == {
        "message": "And now?",
        "messages": [{"role": str(each.role), "content": each.content} for each in TALK],
        "conversationId": THREAD.id,
        "turn": 1,
        "persona": "Grumpy",
    }


async def test_a_reply_is_what_the_expression_finds() -> None:
    reply, asked = await ask(connector("http", {**HTTP, "method": "PUT"}), {"answer": {"text": "Hi"}})
    assert reply == Reply("Hi")
    assert (asked.method, asked.body) == ("PUT", {"q": "And now?", "id": THREAD.id})


async def test_a_plain_text_is_a_reply_too() -> None:
    async with serving(lambda _: web.Response(text="just words")) as agent:
        to = connector("http", {**HTTP, "reply": "@"}, agent.url)
        assert (await talk(to, Conversation(TALK, thread=THREAD))).text == "just words"


async def test_a_reply_that_is_no_text_is_its_json() -> None:
    reply, _ = await ask(connector("http", HTTP), {"answer": {"text": {"city": "Bern"}}})
    assert reply.text == '{"city":"Bern"}'


@pytest.mark.parametrize(("named", "thread_id"), [("abc", "abc"), (17, "17"), (None, None)])
async def test_an_agent_may_give_the_conversation_an_id_of_its_own(named: object, thread_id: str | None) -> None:
    to = connector("http", {**HTTP, "conversationId": "session"})
    reply, _ = await ask(to, {"answer": {"text": "Hi"}, "session": named})
    assert reply.thread_id == thread_id


@pytest.mark.parametrize(
    ("found", "output"), [({"a": 1}, {"a": 1}), ([1, 2], {"value": [1, 2]}), (None, None), ({}, None)]
)
async def test_the_output_is_what_else_the_agent_tells(found: object, output: object) -> None:
    reply, _ = await ask(connector("http", {**HTTP, "output": "trace"}), {"answer": {"text": "Hi"}, "trace": found})
    assert reply.output == output


async def test_an_error_in_a_200_is_an_error() -> None:
    to = connector("http", {**HTTP, "error": "problem"})
    error = await failure(to, {"problem": "out of order"})
    assert (error.code, error.message) == (ErrorCode.PROVIDER_ERROR, "the agent failed: out of order")
    reply, _ = await ask(to, {"answer": {"text": "Hi"}, "problem": None})
    assert reply.text == "Hi"


async def test_a_reply_that_is_not_found_is_the_agents_error() -> None:
    error = await failure(connector("http", HTTP), {"other": 1})
    assert (error.code, error.message) == (
        ErrorCode.PROVIDER_ERROR,
        "the expression `reply` finds nothing in the answer",
    )


async def test_an_expression_that_does_not_fit_the_answer_says_so() -> None:
    error = await failure(connector("http", {**HTTP, "reply": "length(answer)"}), {"answer": 1})
    assert error.message.startswith("the expression `reply` does not fit the answer: In function length()")


async def test_a_request_that_cannot_be_made_is_not_tried_again() -> None:
    error = await failure(connector("http", {**HTTP, "request": "nofunc(@)"}), {})
    assert (error.code, error.retryable) == (ErrorCode.INVALID_REQUEST, False)


@pytest.mark.parametrize("kind", ["openai", "http", "langgraph"])
async def test_a_config_from_before_its_rules_is_an_error_that_names_the_field(kind: str) -> None:
    error = await failure(connector(kind, {"old": 1}), {})
    assert (error.code, error.retryable) == (ErrorCode.INVALID_REQUEST, False)
    assert "config.old" in error.message


async def test_headers_of_the_persona_go_over_those_of_the_connector() -> None:
    thread = replace(THREAD, headers={"AUTHORIZATION": "Bearer of-the-user", "X-User": "7"})
    async with serving(lambda _: json(COMPLETION)) as agent:
        await talk(connector("openai", OPENAI, agent.url), Conversation(TALK, thread=thread))
    assert agent.asked[0].headers["authorization"] == "Bearer of-the-user"
    assert agent.asked[0].headers["x-user"] == "7"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ErrorCode.INVALID_REQUEST),
        (403, ErrorCode.AUTH),
        (429, ErrorCode.RATE_LIMITED),
        (503, ErrorCode.PROVIDER_ERROR),
        (504, ErrorCode.TIMEOUT),
    ],
)
@pytest.mark.parametrize(("kind", "config"), [("openai", OPENAI), ("http", HTTP)])
async def test_a_status_means_the_same_as_for_a_model(
    kind: str, config: dict[str, Any], status: int, code: ErrorCode
) -> None:
    assert (await failure(connector(kind, config), {"error": {"message": "why"}}, status)).code is code


async def test_an_error_that_repeats_a_header_hides_it() -> None:
    told = f"not allowed: {SECRET}, very-secret, user-7-secret"
    error = await failure(connector("http", HTTP), {"error": {"message": told}}, 401)
    assert error.message == "HTTP 401: not allowed: [hidden], [hidden], [hidden]"


async def test_an_answer_that_repeats_a_credential_hides_it() -> None:
    reply, _ = await ask(connector("http", {**HTTP, "output": "@"}), {"answer": {"text": f"I was told {SECRET}"}})
    assert reply.text == "I was told [hidden]"
    assert "very-secret" not in str(reply)


async def test_an_agent_inside_is_refused_where_the_stack_does_not_allow_it() -> None:
    async with serving(lambda _: json(COMPLETION)) as agent:
        with pytest.raises(ProviderError, match="does not allow private endpoints") as caught:
            await talk(connector("openai", OPENAI, agent.url), Conversation(TALK), allow_private=False)
    assert (caught.value.code, caught.value.retryable) == (ErrorCode.INVALID_REQUEST, False)
    assert agent.asked == []


async def test_an_agent_that_hangs_is_given_up() -> None:
    async def hang(asked: Asked) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with serving(hang) as agent:
        with pytest.raises(ProviderError) as caught:
            await talk(connector("openai", OPENAI, agent.url), Conversation(TALK), seconds=0.05)
    assert caught.value.code is ErrorCode.TIMEOUT


async def test_a_connector_that_is_gone_is_an_error() -> None:
    with pytest.raises(ProviderError, match="there is no such connector"):
        await complete(Account("connector", ""), "connector/con_1", Conversation(TALK), 5)


async def test_a_trial_tells_the_reply_and_how_long_it_took() -> None:
    async with serving(lambda asked: json({"answer": {"text": f"You said {asked.body['q']}"}})) as agent:
        tried = await try_out(connector("http", HTTP, agent.url), True, 5)
    assert (tried.ok, tried.reply, tried.error) == (True, "You said Hello", None)
    assert 0 <= tried.latency_ms < 5000


async def test_a_trial_that_fails_tells_why() -> None:
    async with serving(lambda _: json({}, 500)) as agent:
        tried = await try_out(connector("http", HTTP, agent.url), True, 5)
    assert tried == Tried(False, tried.latency_ms, error="HTTP 500: {}")


async def test_a_request_that_is_nothing_is_not_sent() -> None:
    error = await failure(connector("http", {**HTTP, "request": "nothing"}), {})
    assert (error.code, error.message) == (
        ErrorCode.INVALID_REQUEST,
        "the expression `request` makes nothing to send",
    )
