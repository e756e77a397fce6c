"""Excerpts of conversations in reports: who said what stays known, whatever was said."""

from hypothesis import given

from cupel_core.analysis.reports.excerpts import shown_messages
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import ToolCall
from tests.hostile_texts import conversations


@given(conversations)
def test_short_conversations_are_shown_message_by_message(said: tuple[Message, ...]) -> None:
    spoken = [each for each in said if each.role is not MessageRole.SYSTEM][:5]
    expected = []
    for each in spoken:
        expected += [(str(each.role), each.content)] if each.content or not each.tool_calls else []
        expected += [("toolCall", each.calls_text)] if each.tool_calls else []
    assert list(shown_messages(spoken, 10_000)) == expected


def test_a_text_cannot_pretend_to_be_a_call() -> None:
    called = Message(MessageRole.ASSISTANT, "", (ToolCall("call_1", "book", "{}"),))
    written = Message(MessageRole.ASSISTANT, called.calls_text)
    assert list(shown_messages([called], 1_000)) == [("toolCall", called.calls_text)]
    assert list(shown_messages([written], 1_000)) == [("assistant", called.calls_text)]
