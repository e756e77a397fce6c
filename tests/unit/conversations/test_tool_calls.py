"""Tool calls in a conversation: recorded, and answered before the user goes on."""

from collections.abc import Callable

from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, Reply
from cupel_core.domain.conversations.tool_results import NOT_EXECUTED
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.decisions import last_answer
from tests.unit.conversations.conftest import ConversationHarness

CALLS = (ToolCall("call_1", "book", '{"day":"Tuesday"}'), ToolCall("call_2", "remind", "{}"))


async def test_a_call_without_text_is_the_answer(harness: Callable[..., ConversationHarness]) -> None:
    made = harness(target=(Reply("", tool_calls=CALLS[:1]),), criteria=Criteria(), judged=False, max_messages=2)
    outcome = await made.run()
    assert isinstance(outcome, Transcript)
    assert outcome.messages[-1] == Message(MessageRole.ASSISTANT, "", CALLS[:1])
    assert '"name": "book"' in last_answer(outcome.messages)


async def test_calls_have_results_before_the_user_goes_on(harness: Callable[..., ConversationHarness]) -> None:
    content = Content(follow_ups=("And now?",))
    made = harness(target=(Reply("", tool_calls=CALLS), "Done."), criteria=Criteria(), judged=False, content=content)
    outcome = await made.run()
    assert isinstance(outcome, Transcript)
    assert [(message.role, message.content, message.tool_call_id) for message in outcome.messages[2:]] == [
        (MessageRole.TOOL, NOT_EXECUTED, "call_1"),
        (MessageRole.TOOL, NOT_EXECUTED, "call_2"),
        (MessageRole.USER, "And now?", None),
        (MessageRole.ASSISTANT, "Done.", None),
    ]


async def test_the_judge_reads_the_calls(harness: Callable[..., ConversationHarness]) -> None:
    made = harness(target=(Reply("", tool_calls=CALLS[:1]),))
    await made.run()
    assert '"name": "book"' in made.requests_to("judge")[0].messages[-1].content
