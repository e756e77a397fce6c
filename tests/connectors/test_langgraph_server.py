"""Conversations with LangGraph's development server, through the code that runs use."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

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
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.connectors import connection_test
from cupel_core.providers.errors import ProviderError


def connector(url: str, **config: object) -> Connector:
    return Connector("con_1", "c", ConnectorType.LANGGRAPH, url, {"x-api-key": "of-the-test"}, config)


def new_thread() -> AgentThread:
    return AgentThread(str(uuid4()))


async def ask(url: str, thread: AgentThread, *texts: str, seconds: float = 30, **config: object) -> Reply:
    """`texts` are the messages of the user and the agent in turn."""
    messages = tuple(
        Message((MessageRole.USER, MessageRole.ASSISTANT)[number % 2], text) for number, text in enumerate(texts)
    )
    to = connector(url, **config)
    account = Account("connector", url, connector=to, allow_private=True)
    return await complete(account, to.target, ModelRequest(messages, thread=thread), seconds)


async def failure(url: str, thread: AgentThread, *texts: str, seconds: float = 30, **config: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(url, thread, *texts, seconds=seconds, **config)
    return caught.value


async def test_the_agent_remembers_a_conversation(langgraph: str) -> None:
    thread = new_thread()
    first = await ask(langgraph, thread, "one")
    assert (first.text, first.model_version, first.usage, first.output) == (
        "1: one", "no-model", Usage(3, 2), {"heard": 1}
    )  # fmt: skip
    assert (await ask(langgraph, replace(thread, turn=1), "one", first.text, "two")).text == "2: two"
    third = await ask(langgraph, replace(thread, turn=2), "one", "1: one", "two", "2: two", "three")
    assert (third.text, third.output) == ("3: three", {"heard": 3})


async def test_concurrent_conversations_are_isolated(langgraph: str) -> None:
    replies = await asyncio.gather(*(ask(langgraph, new_thread(), f"from {number}") for number in range(10)))
    assert [reply.text for reply in replies] == [f"1: from {number}" for number in range(10)]


async def test_a_repeated_turn_returns_the_same_answer_and_runs_once(langgraph: str) -> None:
    thread = new_thread()
    assert await ask(langgraph, thread, "one") == await ask(langgraph, thread, "one")
    assert (await ask(langgraph, replace(thread, turn=1), "one", "1: one", "two")).text == "2: two"


async def test_an_abandoned_turn_can_be_repeated(langgraph: str) -> None:
    thread = new_thread()
    assert (await failure(langgraph, thread, "think", seconds=1)).code is ProbeErrorCode.TIMEOUT
    again = await ask(langgraph, thread, "think")
    assert (again.text, again.usage) == ("1: think", Usage(3, 2))


async def test_a_running_attempt_is_replaced_by_the_next(langgraph: str) -> None:
    thread = new_thread()
    first = asyncio.create_task(failure(langgraph, thread, "think"))
    await asyncio.sleep(1)
    assert (await ask(langgraph, thread, "think")).text == "1: think"
    assert (await first).code is ProbeErrorCode.PROVIDER_ERROR


async def test_all_tokens_of_a_turn_with_a_tool_are_counted(langgraph: str) -> None:
    reply = await ask(langgraph, new_thread(), "look up")
    assert (reply.text, reply.usage) == ("1: look up", Usage(6, 4))


async def test_a_stateless_agent_receives_all_messages_each_time(langgraph: str) -> None:
    reply = await ask(langgraph, replace(new_thread(), turn=1), "one", "1: one", "two", stateless=True)
    assert reply.text == "2: two"


async def test_an_agent_that_fails_is_an_error(langgraph: str) -> None:
    error = await failure(langgraph, new_thread(), "fail")
    assert (error.code, error.message) == (
        ProbeErrorCode.PROVIDER_ERROR,
        "the agent failed: ValueError: requested failure",
    )


async def test_an_agent_that_waits_for_human_input_is_an_error(langgraph: str) -> None:
    assert "waits for human input" in (await failure(langgraph, new_thread(), "ask")).message


async def test_the_error_for_an_unknown_graph_names_it(langgraph: str) -> None:
    error = await failure(langgraph, new_thread(), "one", assistantId="nobody")
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)
    assert "nobody" in error.message


async def test_an_unknown_thread_is_an_error(langgraph: str) -> None:
    error = await failure(langgraph, replace(new_thread(), turn=1), "one", "1: one", "two")
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)


async def test_a_connection_test_returns_the_reply(langgraph: str) -> None:
    result = await connection_test.test_connection(
        connector(langgraph), allow_private=True, timeout_seconds=30, attempt=complete, prices=()
    )
    assert (result.ok, result.reply) == (True, "1: Hello")
