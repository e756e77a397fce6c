"""What judges receive belongs to a version, because labels measure the errors of one judge and rubric."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson

from cupel_core.domain.conversations.conversation import ConversationState, Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, ToolCall
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GRADING_VERSION
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.grading.criteria import evaluate_criteria
from cupel_core.scoring.grading.decisions import DecisionJudge, judge_summary
from cupel_core.scoring.score import score

REQUESTS = {1: "122972c55d5d3122"}
"""Digest of the requests below, by version. If it changes, GRADING_VERSION must be raised, or runs with different
judges would have the same fingerprint."""
NOW = datetime(2026, 11, 20, tzinfo=UTC)
SAID = (
    Message(MessageRole.SYSTEM, "Be kind."),
    Message(MessageRole.USER, "Book it."),
    Message(MessageRole.ASSISTANT, "", tool_calls=(ToolCall("1", "book", "{}"),)),
    Message(MessageRole.TOOL, "booked", tool_call_id="1"),
    Message(MessageRole.USER, "Thanks."),
    Message(MessageRole.ASSISTANT, "You are welcome."),
)
REPLY = {
    "successMet": True,
    "failureMet": False,
    "confidence": 1,
    "reasoning": "it books",
    "reason": "it books",
    "pass": True,
    "score": 1,
    "decisionCode": "5",
    "decisionText": "It books.",
}


async def test_what_judges_receive_changes_with_the_version_only(grader_of: Callable[..., Any]) -> None:
    judge = grader_of(orjson.dumps(REPLY).decode())
    graders = judge.graders()
    await evaluate_criteria(graders.judge(), SAID, Criteria("it books", "it lies"))
    rubric = Assertion("llm-rubric", value="is kind")
    await score([rubric], AssertionContext("You are welcome.", SAID), graders)
    await score([rubric], AssertionContext("You are welcome.", SAID[-2:]), graders)
    transcript = Transcript(0, "sce_1", "sim/steady", NOW, ConversationState(SAID))
    await judge_summary(DecisionJudge(graders.judge(), "1 to 5"), transcript, lambda: NOW)
    sent = [
        [[(message.role, message.content) for message in each.messages], each.json_schema, each.parameters.temperature]
        for each in judge.requests
    ]
    assert len(sent) == 4
    digest = hashlib.sha256(orjson.dumps(sent, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
    assert REQUESTS[GRADING_VERSION] == digest
