"""A judged conversation with the documented judge, against a server that refuses what gpt-5-mini refuses."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import orjson
import pytest
from aiohttp import web

from cupel_core.conversations.runner import run_conversation
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.conversations.turn import CalledTarget
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, RequestParameter
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import http, safe_http
from cupel_core.providers.account import Account
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory
from tests.unit.conversations.conftest import RecordedCheckpoints, verdict
from tests.unit.providers.agents import Agent, ReceivedRequest, json, serving

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def reasoning_model(request: ReceivedRequest) -> web.Response:
    """OpenAI's own refusals; otherwise a verdict, a user's message or an answer, whichever was asked for."""
    if request.body.get("temperature", 1) != 1:
        return refusal(
            f"Unsupported value: 'temperature' does not support {request.body['temperature']:g} with this model. "
            "Only the default (1) value is supported.",
            "temperature",
            "unsupported_value",
        )
    if "max_tokens" in request.body:
        return refusal(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
            "instead.",
            "max_tokens",
            "unsupported_parameter",
        )
    body: dict[str, Any] = {"model": "gpt-5-mini-2025-08-07", "choices": [{"message": {"content": reply(request)}}]}
    return json(body)


def refusal(message: str, param: str, code: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json({"error": error}, 400)


def reply(request: ReceivedRequest) -> str:
    properties = request.body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    if "successMet" in properties:
        conversation = request.body["messages"][-1]["content"]
        return orjson.dumps(verdict(success="Tuesday" in conversation)).decode()
    if "content" in properties:
        return orjson.dumps({"content": "On Tuesday, please."}).decode()
    return "When?"


async def converse(server: Agent, model: str, temperature: float | None) -> Transcript:
    account = Account("openai", server.url, "sk-test", allow_private=True)
    graders = GraderFactory(
        workspace="ws_a",
        config=GraderConfig(model),
        accounts={"openai": account},
        limiter=ConcurrencyLimiter(),
        call_timeout_seconds=5.0,
        max_wait_seconds=0.0,
        rng=Random(1),
        allow_private=True,
    )
    book = Message(MessageRole.USER, "Book me a haircut.")
    scenario = Scenario("scn_1", "one", (book,), criteria=Criteria("the day is Tuesday"), max_messages=6)
    params = {} if temperature is None else {"temperature": temperature}
    spec = ConversationSpec(0, scenario, Content(), graders, "thread-1", params=params)
    target = CalledTarget(account, model, 5.0, Random(1))
    try:
        outcome = await run_conversation(spec, target, RecordedCheckpoints(), lambda: NOW, None)
    finally:
        await http.close()
        await safe_http.close()
    assert isinstance(outcome, Transcript), outcome
    return outcome


@pytest.mark.parametrize(("model", "refused"), [("openai/gpt-5-mini", 0), ("openai/gpt-of-tomorrow", 1)])
async def test_the_documented_judge_and_one_not_yet_known_judge_a_conversation(model: str, refused: int) -> None:
    async with serving(reasoning_model) as server:
        transcript = await converse(server, model, None)
    assert transcript.result
    assert transcript.result.success
    assert transcript.conversation.turns == 2
    assert len(server.requests) == 2 + 2 + 1 + refused
    assert transcript.conversation.omitted_parameters == ()


@pytest.mark.parametrize("model", ["openai/gpt-5-mini", "openai/gpt-of-next-week"])
async def test_a_temperature_that_the_target_refused_is_recorded(model: str) -> None:
    async with serving(reasoning_model) as server:
        transcript = await converse(server, model, 0.3)
    assert transcript.conversation.omitted_parameters == (RequestParameter.TEMPERATURE,)


async def test_a_temperature_that_the_target_accepts_is_sent() -> None:
    async with serving(reasoning_model) as server:
        transcript = await converse(server, "openai/gpt-5-mini", 1.0)
    assert server.requests[0].body["temperature"] == 1.0
    assert transcript.conversation.omitted_parameters == ()
