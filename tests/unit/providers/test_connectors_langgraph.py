"""LangGraph's protocol, against responses recorded from its development server."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

import pytest
from aiohttp import web

from cupel_core.domain.conversations.model_request import (
    AgentThread,
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.providers import safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.errors import ProviderError
from tests.unit.providers.agents import Agent, Handler, ReceivedRequest, json, serving

THREAD = AgentThread("0b8f6f2e-7d2c-4a5b-9a54-1f7c1a3f9d10")
SEED = (Message(MessageRole.SYSTEM, "Be kind"), Message(MessageRole.USER, "Hello"))
LATER = (*SEED, Message(MessageRole.ASSISTANT, "Hi"), Message(MessageRole.USER, "And now?"))


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await safe_http.close()


def ai(content: object, **more: object) -> dict[str, Any]:
    """An AIMessage as the server writes it."""
    return {
        "content": content, "additional_kwargs": {}, "response_metadata": {}, "type": "ai", "name": None,
        "id": "run--1", "tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None, **more,
    }  # fmt: skip


def human(message: dict[str, Any]) -> dict[str, Any]:
    return {"content": message["content"], "type": "human", "id": message.get("id"), "name": None}


def agent_saying(*messages: dict[str, Any], **state: object) -> Handler:
    """Append these to the messages received, like a graph over MessagesState."""

    def answer(request: ReceivedRequest) -> web.StreamResponse:
        if "runs" not in request.path:
            return json({"thread_id": THREAD.id, "status": "idle", "values": None})
        received = request.body["input"]["messages"]
        return json({"messages": [*map(human, received), *messages], **state})

    return answer


async def ask(
    agent: Agent,
    messages: tuple[Message, ...] = SEED,
    thread: AgentThread | None = THREAD,
    **config: object,
) -> Reply:
    connector = Connector("con_1", "c", ConnectorType.LANGGRAPH, agent.url, {"x-api-key": "lsv2-secret"}, config)
    account = Account("connector", agent.url, connector=connector, allow_private=True)
    return await complete(account, "connector/con_1", ModelRequest(messages, thread=thread), 5)


async def reply_of(answer: Handler, **config: object) -> Reply:
    async with serving(answer) as agent:
        return await ask(agent, **config)


async def failure(answer: Handler, **config: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await reply_of(answer, **config)
    return caught.value


async def test_the_first_turn_creates_the_thread_and_sends_all_messages() -> None:
    async with serving(agent_saying(ai("Hi"))) as agent:
        assert (await ask(agent)).text == "Hi"
    thread, run = agent.requests
    assert (thread.path, thread.body) == ("/threads", {"thread_id": THREAD.id, "if_exists": "do_nothing"})
    assert run.path == f"/threads/{THREAD.id}/runs/wait"
    assert run.body["assistant_id"] == "agent"
    sent = [(message["type"], message["content"]) for message in run.body["input"]["messages"]]
    assert sent == [("system", "Be kind"), ("human", "Hello")]
    assert run.headers["x-api-key"] == "lsv2-secret"


async def test_a_later_turn_sends_only_messages_since_the_last_answer() -> None:
    async with serving(agent_saying(ai("Later"))) as agent:
        assert (await ask(agent, LATER, replace(THREAD, turn=1))).text == "Later"
    look, run = agent.requests
    assert (look.method, look.path) == ("GET", f"/threads/{THREAD.id}")
    assert [each["content"] for each in run.body["input"]["messages"]] == ["And now?"]


async def test_a_message_keeps_its_id_when_a_turn_is_repeated() -> None:
    async with serving(agent_saying(ai("Hi"))) as agent:
        for _ in range(2):
            await ask(agent)
        await ask(agent, LATER, replace(THREAD, turn=1))
    ids = [[UUID(each["id"]) for each in run.body["input"]["messages"]] for run in agent.requests if "runs" in run.path]
    assert ids[0] == ids[1]
    assert len({*ids[0], *ids[2]}) == 3


async def test_messages_of_two_threads_have_different_ids() -> None:
    async with serving(agent_saying(ai("Hi"))) as agent:
        await ask(agent)
        await ask(agent, thread=AgentThread("another thread"))
    first, second = (run.body["input"]["messages"][0]["id"] for run in agent.requests if "runs" in run.path)
    assert first != second


async def test_an_earlier_attempt_at_the_turn_is_rolled_back() -> None:
    async with serving(agent_saying(ai("Hi"))) as agent:
        await ask(agent)
    body = agent.requests[-1].body
    assert (body["multitask_strategy"], body["on_disconnect"]) == ("rollback", "cancel")


def thread_with(*after: dict[str, Any], status: str = "idle", sent: str = "And now?") -> Handler:
    """A thread in the state left by an earlier attempt at the second turn; new runs answer "Again"."""

    def answer(request: ReceivedRequest) -> web.StreamResponse:
        if request.method == "GET":
            message = {"content": sent, "type": "human", "id": id_of_the_last_message()}
            return json({"status": status, "values": {"messages": [ai("Hi"), message, *after], "plan": "p"}})
        return json({"messages": [*map(human, request.body["input"]["messages"]), ai("Again")]})

    return answer


def id_of_the_last_message() -> str:
    return str(uuid5(UUID(THREAD.id), str(len(LATER) - 1)))


async def test_a_turn_whose_response_was_lost_is_not_repeated() -> None:
    async with serving(thread_with(ai("Lost", usage_metadata={"input_tokens": 1, "output_tokens": 2}))) as agent:
        reply = await ask(agent, LATER, replace(THREAD, turn=1))
    assert (reply.text, reply.usage, reply.output) == ("Lost", Usage(1, 2), {"plan": "p"})
    assert len(agent.requests) == 1


@pytest.mark.parametrize(
    "left",
    [
        thread_with(),
        thread_with(ai("", tool_calls=[{"name": "search", "args": {}, "id": "t"}])),
        thread_with({"type": "tool", "content": "42", "tool_call_id": "t"}),
        thread_with(ai("Half"), status="interrupted"),
        thread_with(ai("Half"), status="busy"),
        thread_with(ai("To something else"), sent="And then?"),
    ],
    ids=["no answer", "a tool to call", "a tool's result", "interrupted", "busy", "other words"],
)
async def test_an_unfinished_turn_is_repeated(left: Handler) -> None:
    async with serving(left) as agent:
        assert (await ask(agent, LATER, replace(THREAD, turn=1))).text == "Again"


async def test_a_missing_thread_is_an_error_and_not_created_again() -> None:
    async with serving(lambda _: json({"detail": "Thread not found"}, 404)) as agent:
        with pytest.raises(ProviderError, match="HTTP 404: Thread not found") as caught:
            await ask(agent, LATER, replace(THREAD, turn=1))
    assert caught.value.code is ProbeErrorCode.INVALID_REQUEST


async def test_a_stateless_agent_receives_all_messages_each_time_and_has_no_thread() -> None:
    async with serving(agent_saying(ai("Later"))) as agent:
        await ask(agent, LATER, replace(THREAD, turn=1), stateless=True)
    [run] = agent.requests
    assert run.path == "/runs/wait"
    assert [set(each) for each in run.body["input"]["messages"]] == [{"type", "content"}] * 4


async def test_the_graph_and_its_key_are_the_connectors() -> None:
    def answer(request: ReceivedRequest) -> web.StreamResponse:
        return json({"status": "idle"} if request.path == "/threads" else {"chat": [ai("Hi")]})

    async with serving(answer) as agent:
        assert (await ask(agent, assistantId="writer", inputKey="chat")).text == "Hi"
    body = agent.requests[-1].body
    assert body["assistant_id"] == "writer"
    assert set(body["input"]) == {"chat"}


@pytest.mark.parametrize(
    "content",
    ["Hi there", [{"type": "text", "text": "Hi "}, {"type": "image_url", "image_url": {"url": "x"}}, "there"]],
)
async def test_an_answer_in_parts_is_put_together(content: object) -> None:
    assert (await reply_of(agent_saying(ai(content)))).text == "Hi there"


async def test_the_tokens_are_those_of_all_answers_of_the_turn() -> None:
    calling = ai("", usage_metadata={"input_tokens": 10, "output_tokens": 2, "total_tokens": 12})
    tool = {"type": "tool", "content": "42", "tool_call_id": "t"}
    final = ai(
        "It is 42",
        usage_metadata={"input_tokens": 20, "output_tokens": 5, "total_tokens": 25},
        response_metadata={"model_name": "gpt-5-mini-2025-08-07", "finish_reason": "stop"},
    )
    reply = await reply_of(agent_saying(calling, tool, final))
    assert (reply.text, reply.usage, reply.model_version) == ("It is 42", Usage(30, 7), "gpt-5-mini-2025-08-07")


async def test_answers_of_earlier_turns_do_not_count_again() -> None:
    def answer(request: ReceivedRequest) -> web.StreamResponse:
        if request.method == "GET":
            return json({"status": "idle"})
        earlier = ai("Hi", usage_metadata={"input_tokens": 100, "output_tokens": 100})
        now = ai("Later", usage_metadata={"input_tokens": 1, "output_tokens": 2})
        return json({"messages": [earlier, *map(human, request.body["input"]["messages"]), now]})

    async with serving(answer) as agent:
        reply = await ask(agent, LATER, replace(THREAD, turn=1))
    assert (reply.text, reply.usage) == ("Later", Usage(1, 2))


async def test_an_answer_of_an_earlier_turn_is_no_answer() -> None:
    def answer(request: ReceivedRequest) -> web.StreamResponse:
        if request.method == "GET":
            return json({"status": "idle"})
        return json({"messages": [ai("Hi"), *map(human, request.body["input"]["messages"])]})

    async with serving(answer) as agent:
        with pytest.raises(ProviderError, match="did not answer"):
            await ask(agent, LATER, replace(THREAD, turn=1))


async def test_the_state_beside_the_messages_is_the_output() -> None:
    reply = await reply_of(agent_saying(ai("Hi"), plan=["a", "b"], score=0.5))
    assert reply.output == {"plan": ["a", "b"], "score": 0.5}
    assert (await reply_of(agent_saying(ai("Hi")))).output is None


async def test_a_large_output_is_left_out_and_says_so() -> None:
    reply = await reply_of(agent_saying(ai("Hi"), documents="x" * 70_000))
    assert reply.output == {"omitted": "70016 bytes; at most 65536 are stored"}


async def test_an_agent_that_fails_in_a_200_is_an_error() -> None:
    error = await failure(lambda _: json({"__error__": {"error": "ValueError", "message": "no such tool"}}))
    assert (error.code, error.message) == (ProbeErrorCode.PROVIDER_ERROR, "the agent failed: ValueError: no such tool")


async def test_an_agent_that_waits_for_a_person_cannot_go_on() -> None:
    error = await failure(agent_saying(__interrupt__=[{"value": "approve?", "id": "i"}]))
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)
    assert "waits for human input" in error.message


@pytest.mark.parametrize(
    "state", [[], "text", {}, {"messages": None}, {"messages": []}, {"messages": [{"content": 3}]}]
)
async def test_a_state_without_an_answer_is_the_agents_error(state: object) -> None:
    assert (await failure(lambda _: json(state))).code is ProbeErrorCode.PROVIDER_ERROR


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (409, ProbeErrorCode.PROVIDER_ERROR, True),
        (422, ProbeErrorCode.INVALID_REQUEST, False),
        (404, ProbeErrorCode.INVALID_REQUEST, False),
        (401, ProbeErrorCode.AUTH, False),
        (500, ProbeErrorCode.PROVIDER_ERROR, True),
    ],
)
async def test_a_status_says_what_went_wrong(status: int, code: ProbeErrorCode, retryable: bool) -> None:
    def answer(request: ReceivedRequest) -> web.StreamResponse:
        return json({}) if request.path == "/threads" else json({"detail": "message of the server"}, status)

    error = await failure(answer)
    assert (error.code, error.retryable) == (code, retryable)


async def test_the_server_may_ask_to_wait() -> None:
    error = await failure(lambda _: json({"detail": "slow down"}, 429, {"Retry-After": "7"}))
    assert (error.code, error.retry_after_seconds) == (ProbeErrorCode.RATE_LIMITED, 7)


@pytest.mark.parametrize(
    "answer",
    [
        agent_saying(ai(None, tool_calls=[{"id": "t", "name": "f", "args": {}}]), ai("It is 42.")),
        agent_saying({"type": "tool", "id": "t1", "content": {"rows": 3}, "tool_call_id": "t"}, ai("It is 42.")),
        agent_saying(ai("It is 42.", response_metadata=None, usage_metadata=[], tool_calls=None)),
        agent_saying(ai([{"type": "reasoning", "text": "41?"}, {"type": "text", "text": "It is 42."}])),
        agent_saying(ai("<think>41?</think>It is 42.", id=17)),
    ],
    ids=["calls", "tool object", "nulls", "reasoning part", "reasoning tags"],
)
async def test_parts_that_nobody_needs_do_not_make_the_agent_run_again(answer: Handler) -> None:
    async with serving(answer) as agent:
        reply = await ask(agent)
        runs = [request for request in agent.requests if "runs" in request.path]
    assert (reply.text, len(runs)) == ("It is 42.", 1)


async def test_tokens_that_are_not_reported_are_unknown() -> None:
    assert (await reply_of(agent_saying(ai("It is 42.")))).usage is None
