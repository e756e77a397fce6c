"""Assertions whose texts or messages are rendered from templates, and then embedded or shown to a judge."""

import json
from typing import Annotated, Literal

from pydantic import Field, create_model

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_values import DEFAULT_RANGE
from cupel_core.domain.turns.model_parameters import ModelParameters
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.grading.graders import GraderFactory
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, SpendLog, binary, graded
from cupel_core.scoring.model_graded import Reason, StructuredReply, ask_messages
from cupel_core.scoring.similarity import cosine, embed_texts
from cupel_core.scoring.templated import TEXTS


async def embedding_similarity(
    assertion: Assertion, _: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    grader, texts = graders.embedder(assertion.provider), tuple(assertion.value[name] for name in TEXTS)
    if not all(text.strip() for text in texts):
        return binary(False, "one of the texts is empty")
    left, right = await embed_texts(grader, texts, spend_log)
    return graded("cosine", cosine(left, right), assertion.threshold or 0.0)


async def label_model(
    assertion: Assertion, _: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """Passes if the judge chooses one of the passing labels."""
    labels = tuple(assertion.value["labels"])
    instructions = (
        'Follow the messages below. Answer with one JSON object: "reason": what decided it; "label": one of '
        f"{json.dumps(labels, ensure_ascii=False)}."
    )
    reply_type = create_model("Label", __base__=StructuredReply, reason=(Reason, ...), label=(Literal[labels], ...))
    messages = _judge_messages(instructions, assertion.value["messages"])
    reply = (
        await ask_messages(graders.judge(assertion.provider), messages, reply_type, spend_log, ModelParameters())
    ).model_dump()
    return binary(reply["label"] in assertion.value["passingLabels"], f"{reply['label']}: {reply['reason']}")


async def score_model(
    assertion: Assertion, _: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """The judge's score, mapped from its range to 0 … 1; without a threshold it passes from the middle on."""
    low, high = assertion.value.get("range", DEFAULT_RANGE)
    instructions = (
        'Follow the messages below. Answer with one JSON object: "reason": what decided it; "score": a number from '
        f"{low:g} to {high:g}."
    )
    score = (Annotated[float, Field(ge=low, le=high)], ...)
    reply_type = create_model("Score", __base__=StructuredReply, reason=(Reason, ...), score=score)
    messages, params = _judge_messages(instructions, assertion.value["messages"]), assertion.value.get("params", {})
    reply = (
        await ask_messages(
            graders.judge(assertion.provider), messages, reply_type, spend_log, ModelParameters.from_json(params)
        )
    ).model_dump()
    threshold = 0.5 if assertion.threshold is None else assertion.threshold
    result = graded("score", (reply["score"] - low) / (high - low), threshold)
    return result._replace(reason=f"{reply['score']:g} of {low:g} to {high:g}: {reply['reason']}")


def _judge_messages(instructions: str, messages: list[dict[str, str]]) -> tuple[Message, ...]:
    """With the form of the answer first. Some providers refuse a request that does not end with the user."""
    written = [Message(MessageRole(each["role"]), each["content"]) for each in messages]
    if written[-1].role is not MessageRole.USER:
        last = written.pop()
        written.append(Message(MessageRole.USER, last.content))
    return (Message(MessageRole.SYSTEM, instructions), *written)
