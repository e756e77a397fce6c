"""What each reply of a target used and took and what the judge decided on it, as the API returns it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cupel_core.contract.results import MessageResponse
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Reply, Usage
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.tool_results import ScriptedResult
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.providers.errors import RetryLater
from tests.unit.conversations.conftest import ConversationHarness, RecordedCheckpoints, verdict

type Harnesses = Callable[..., ConversationHarness]

TARGET = [Reply("Which day?", usage=Usage(100, 20, 60)), Reply("Booked.", usage=Usage(200, 30))]


async def finished(conversation: ConversationHarness) -> ConversationState:
    outcome = await conversation.run()
    assert isinstance(outcome, Transcript), outcome
    return outcome.conversation


def messages_of(state: ConversationState) -> list[dict[str, Any]]:
    return [each.model_dump(by_alias=True, mode="json") for each in MessageResponse.list_of(state)]


def totals_of(replies: tuple[ReplyRecord, ...]) -> tuple[Usage, int]:
    return sum((each.usage for each in replies), Usage()), sum(each.duration_ms for each in replies)


async def test_each_reply_has_its_tokens_and_the_verdict_on_it(harness: Harnesses) -> None:
    state = await finished(harness(target=TARGET, judge=[verdict(failure=True), verdict(success=True)]))
    user, first, _, second = messages_of(state)
    assert "reply" not in user
    assert (first["reply"]["usage"]["inputTokens"], first["reply"]["usage"]["cachedInputTokens"]) == (100, 60)
    assert (second["reply"]["usage"]["inputTokens"], second["reply"]["usage"]["outputTokens"]) == (200, 30)
    verdicts = [each["reply"]["verdict"] for each in (first, second)]
    assert [(each["successMet"], each["failureMet"]) for each in verdicts] == [(False, True), (True, False)]
    assert verdicts[0]["reasoning"] == "as the messages show"
    assert totals_of(state.replies) == (state.usage, state.duration_ms)
    assert state.turn_durations_ms == tuple(each.duration_ms for each in state.replies)


async def test_a_reply_that_calls_tools_has_its_own_figures(harness: Harnesses) -> None:
    calling = Reply("", usage=Usage(10, 5), tool_calls=(ToolCall("call_1", "find", "{}"),))
    conversation = harness(
        target=[calling, TARGET[1]],
        judge=[verdict(success=True)],
        params={"tools": [{"name": "find"}]},
        content=Content(tool_results=(ScriptedResult("find", "found"),)),
    )
    state = await finished(conversation)
    _, call, result, answer = messages_of(state)
    assert (call["reply"]["usage"]["inputTokens"], call["reply"]["verdict"]) == (10, None)
    assert "reply" not in result
    assert answer["reply"]["verdict"]["successMet"]
    assert state.turn_durations_ms == (state.duration_ms,)
    assert totals_of(state.replies)[0] == state.usage


async def test_a_resumed_conversation_keeps_the_records_of_replies(harness: Harnesses) -> None:
    conversation = harness(target=TARGET, judge=[verdict(), verdict(success=True)])
    whole = await finished(conversation)
    [*_, last] = conversation.checkpoints.saved
    resumed = harness(target=[TARGET[1]], judge=[verdict(success=True)], checkpoints=RecordedCheckpoints(last))
    assert [each.usage for each in (await finished(resumed)).replies] == [each.usage for each in whole.replies]


async def test_a_reply_that_is_asked_for_again_is_recorded_once(harness: Harnesses) -> None:
    busy = RetryLater(60.0, ProbeErrorCode.RATE_LIMITED)
    conversation = harness(target=[busy, *TARGET], judge=[verdict(success=True)])
    with pytest.raises(RetryLater):
        await conversation.run()
    state = await finished(conversation)
    assert len(state.replies) == state.target_calls == 1


async def test_the_only_reply_has_the_figures_of_its_conversation(harness: Harnesses) -> None:
    """They are not stored twice."""
    state = await finished(harness(target=TARGET, judge=[verdict(success=True)]))
    stored = messages_of(replace(state, replies=()))
    assert stored == messages_of(state)
    assert stored[-1]["reply"]["usage"]["inputTokens"] == state.usage.input_tokens
