"""Scenarios whose messages are asked without the earlier ones, with answers of earlier turns in later messages."""

from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.domain.conversations.conversation import ConversationState, Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode
from cupel_core.domain.conversations.separate_turns import later_answers, with_answers
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript
from cupel_core.domain.scoring.assertions import Assertion
from tests.unit.conversations.conftest import ConversationHarness, RecordedCheckpoints

type Harnesses = Callable[..., ConversationHarness]

ASSISTANT, SYSTEM, USER = MessageRole.ASSISTANT, MessageRole.SYSTEM, MessageRole.USER
FOLLOW_UPS = ("What color is a [answer 1]?", "[answer 1], [answer 2], [answer 1]: sweet?")
SEPARATE: dict[str, Any] = {"follow_ups": FOLLOW_UPS, "separate_turns": True}
FRUIT: dict[str, Any] = {
    "content": Content(system="Be brief."),
    "messages": (Message(USER, "Name a fruit."),),
    "target": ["kiwi", "green", "yes"],
    "criteria": Criteria(),
    "judged": False,
}


def completed(outcome: Outcome) -> Transcript:
    assert isinstance(outcome, Transcript)
    return outcome


def errored(outcome: Outcome) -> ProbeError:
    assert isinstance(outcome, ProbeError)
    return outcome


def said(request: ModelRequest) -> list[tuple[str, str]]:
    return [(message.role.value, message.content) for message in request.messages]


async def test_each_turn_is_asked_without_the_earlier_ones(harness: Harnesses) -> None:
    conversation = harness(**FRUIT, scenario=SEPARATE)
    transcript = completed(await conversation.run())
    assert list(map(said, conversation.requests_to("target"))) == [
        [("system", "Be brief."), ("user", "Name a fruit.")],
        [("system", "Be brief."), ("user", "What color is a kiwi?")],
        [("system", "Be brief."), ("user", "kiwi, green, kiwi: sweet?")],
    ]
    assert [message.content for message in transcript.messages if message.role is ASSISTANT] == ["kiwi", "green", "yes"]


async def test_without_it_a_placeholder_is_text_and_the_conversation_is_sent(harness: Harnesses) -> None:
    conversation = harness(**FRUIT, scenario={"follow_ups": FOLLOW_UPS[:1]})
    await conversation.run()
    _, second = conversation.requests_to("target")
    assert said(second)[1:] == [("user", "Name a fruit."), ("assistant", "kiwi"), ("user", FOLLOW_UPS[0])]


async def test_an_agent_gets_a_thread_of_its_own_for_each_turn(harness: Harnesses) -> None:
    conversation = harness(**FRUIT, scenario=SEPARATE)
    await conversation.run()
    threads = [request.thread for request in conversation.requests_to("target")]
    assert len({thread.id for thread in threads if thread}) == 3
    assert {thread.turn for thread in threads if thread} == {0}


async def test_examples_before_the_question_are_part_of_every_turn(harness: Harnesses) -> None:
    examples = (Message(USER, "A tree?"), Message(ASSISTANT, "oak"))
    conversation = harness(**{**FRUIT, "messages": (*examples, *FRUIT["messages"])}, scenario=SEPARATE)
    await conversation.run()
    _, second, _ = conversation.requests_to("target")
    assert said(second)[1:] == [("user", "A tree?"), ("assistant", "oak"), ("user", "What color is a kiwi?")]


async def test_a_resumed_conversation_has_the_answers(harness: Harnesses) -> None:
    before = (Message(SYSTEM, "Be brief."), Message(USER, "Name a fruit."), Message(ASSISTANT, "plum"))
    checkpoints = RecordedCheckpoints(ConversationState(before, turns=1))
    conversation = harness(**{**FRUIT, "target": ["blue", "yes"]}, scenario=SEPARATE, checkpoints=checkpoints)
    await conversation.run()
    second, third = conversation.requests_to("target")
    assert said(second)[1:] == [("user", "What color is a plum?")]
    assert said(third)[1:] == [("user", "plum, blue, plum: sweet?")]


async def test_assertions_are_about_the_answers_of_their_turns(harness: Harnesses) -> None:
    assertions = tuple(Assertion("equals", value=value, turn=turn) for turn, value in ((1, "kiwi"), (2, "green")))
    transcript = completed(await harness(**FRUIT, scenario={**SEPARATE, "assertions": assertions}).run())
    assert transcript.scoring
    assert transcript.scoring.success


async def test_a_message_that_answers_make_too_long_is_an_error_of_the_scenario(harness: Harnesses) -> None:
    long = {"target": ["x" * 100_000], "scenario": {"follow_ups": ("[answer 1]" * 6,), "separate_turns": True}}
    error = errored(await harness(**{**FRUIT, **long}).run())
    assert error.code is ProbeErrorCode.INVALID_REQUEST
    assert "the message has 600,060 characters with the answers in it, more than 500,000" in error.message


def test_the_answer_of_a_turn_is_its_last_text() -> None:
    opening = (Message(USER, "a"),)
    rounds = (Message(ASSISTANT, "looking"), Message(MessageRole.TOOL, "7", tool_call_id="1"), Message(ASSISTANT, "7"))
    assert with_answers("[answer 1]!", opening, (*opening, *rounds), 100) == "7!"


@pytest.mark.parametrize(
    ("follow_ups", "later"),
    [
        (["[answer 1]", "[answer 1][answer 2]"], []),
        (["[answer 2]"], [(0, 2)]),
        (["a", "[answer 3] [answer 9]"], [(1, 3), (1, 9)]),
        (["[answer 0] [answer x] [answers 9]"], []),
    ],
)
def test_only_answers_of_earlier_turns_can_be_used(follow_ups: list[str], later: list[tuple[int, int]]) -> None:
    assert list(later_answers(follow_ups)) == later
