"""Conversations with LangGraph's own development server, over the code that runs use."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, Reply, Role, Thread, Usage
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.connectors.connection_test import try_out
from cupel_core.providers.errors import ProviderError


def connector(url: str, **config: object) -> Connector:
    return Connector("con_1", "c", ConnectorType.LANGGRAPH, url, {"x-api-key": "of-the-test"}, config)


def new_thread() -> Thread:
    return Thread(str(uuid4()))


async def ask(url: str, thread: Thread, *said: str, seconds: float = 30, **config: object) -> Reply:
    """`said` are the words of the user and the agent in turn."""
    messages = tuple(Message((Role.USER, Role.ASSISTANT)[number % 2], each) for number, each in enumerate(said))
    to = connector(url, **config)
    account = Account("connector", url, connector=to, allow_private=True)
    return await complete(account, to.target, Conversation(messages, thread=thread), seconds)


async def failure(url: str, thread: Thread, *said: str, seconds: float = 30, **config: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(url, thread, *said, seconds=seconds, **config)
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


async def test_conversations_at_the_same_time_are_kept_apart(langgraph: str) -> None:
    replies = await asyncio.gather(*(ask(langgraph, new_thread(), f"from {number}") for number in range(10)))
    assert [reply.text for reply in replies] == [f"1: from {number}" for number in range(10)]


async def test_a_turn_that_is_repeated_is_answered_as_before_and_not_heard_twice(langgraph: str) -> None:
    thread = new_thread()
    assert await ask(langgraph, thread, "one") == await ask(langgraph, thread, "one")
    assert (await ask(langgraph, replace(thread, turn=1), "one", "1: one", "two")).text == "2: two"


async def test_a_turn_after_one_that_was_given_up_is_taken_again(langgraph: str) -> None:
    thread = new_thread()
    assert (await failure(langgraph, thread, "think", seconds=1)).code is ErrorCode.TIMEOUT
    again = await ask(langgraph, thread, "think")
    assert (again.text, again.usage) == ("1: think", Usage(3, 2))


async def test_an_attempt_that_still_runs_makes_way_for_the_next(langgraph: str) -> None:
    thread = new_thread()
    first = asyncio.create_task(failure(langgraph, thread, "think"))
    await asyncio.sleep(1)
    assert (await ask(langgraph, thread, "think")).text == "1: think"
    assert (await first).code is ErrorCode.PROVIDER_ERROR


async def test_all_tokens_of_a_turn_with_a_tool_are_counted(langgraph: str) -> None:
    reply = await ask(langgraph, new_thread(), "look up")
    assert (reply.text, reply.usage) == ("1: look up", Usage(6, 4))


async def test_a_stateless_agent_hears_everything_each_time(langgraph: str) -> None:
    reply = await ask(langgraph, replace(new_thread(), turn=1), "one", "1: one", "two", stateless=True)
    assert reply.text == "2: two"


async def test_an_agent_that_fails_is_an_error(langgraph: str) -> None:
    error = await failure(langgraph, new_thread(), "fail")
    assert (error.code, error.message) == (ErrorCode.PROVIDER_ERROR, "the agent failed: ValueError: told to fail")


async def test_an_agent_that_asks_a_person_cannot_go_on(langgraph: str) -> None:
    assert "waits for a person" in (await failure(langgraph, new_thread(), "ask")).message


async def test_a_graph_that_is_not_there_is_named(langgraph: str) -> None:
    error = await failure(langgraph, new_thread(), "one", assistantId="nobody")
    assert (error.code, error.retryable) == (ErrorCode.INVALID_REQUEST, False)
    assert "nobody" in error.message


async def test_a_thread_that_is_not_there_is_an_error(langgraph: str) -> None:
    error = await failure(langgraph, replace(new_thread(), turn=1), "one", "1: one", "two")
    assert (error.code, error.retryable) == (ErrorCode.INVALID_REQUEST, False)


async def test_a_trial_tells_the_reply(langgraph: str) -> None:
    tried = await try_out(connector(langgraph), allow_private=True, timeout_seconds=30)
    assert (tried.ok, tried.reply) == (True, "1: Hello")
