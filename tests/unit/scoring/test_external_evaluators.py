"""Results from webhooks and external evaluators, usable and unusable ones."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.scoring import build_scoring
from cupel_core.providers import safe_http as requests
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.external_evaluators import evaluate_externally
from cupel_core.scoring.score import AssertionScores, score
from tests.unit.providers.agents import Agent, json, serving

type ScriptedGraders = Callable[..., Any]

CONTEXT = AssertionContext(
    "It is booked.",
    (
        Message(MessageRole.SYSTEM, "Be brief."),
        Message(MessageRole.USER, "Book it."),
        Message(MessageRole.ASSISTANT, "It is booked."),
    ),
    variables={"city": "Rome"},
    conversation_id="c-1",
    goal="A flight is booked.",
)


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await requests.close()


async def hook(
    grader_of: ScriptedGraders, agent: Agent, kind: str = "webhook", *, allow_private: bool = True
) -> AssertionResult:
    written = {"type": kind, "value": f"{agent.url}/check"}
    graders = grader_of().graders(allow_private=allow_private)
    return (await score([Assertion.from_json(written)], CONTEXT, graders)).results[0]


async def test_a_webhook_receives_the_output_and_its_context(grader_of: ScriptedGraders) -> None:
    async with serving(lambda _: json({"pass": True})) as agent:
        await hook(grader_of, agent)
    assert agent.requests[0].path == "/check"
    assert agent.requests[0].body == {
        "output": "It is booked.",
        "context": {"prompt": "Book it.", "vars": {"city": "Rome"}},
    }


@pytest.mark.parametrize(
    ("kind", "answer", "passed", "expected_score"),
    [
        ("webhook", {"pass": True}, True, 1),
        ("webhook", {"pass": False}, False, 0),
        ("webhook", {"pass": True, "score": 0.5, "reason": "so so", "more": 1}, True, 0.5),
        ("not-webhook", {"pass": True, "score": 0.75}, False, 0.25),
        ("not-webhook", {"pass": False}, True, 1),
    ],
)
async def test_the_webhook_decides_the_result(
    grader_of: ScriptedGraders, kind: str, answer: Any, passed: bool, expected_score: float
) -> None:
    async with serving(lambda _: json(answer)) as agent:
        result = await hook(grader_of, agent, kind)
    assert (result.passed, result.score) == (passed, expected_score)


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ({"pass": "yes"}, 200, "is invalid: pass"),
        ({"pass": True, "score": 7}, 200, "is invalid: score"),
        ("all good", 200, "is invalid"),
        ({"pass": True}, 500, "HTTP 500"),
    ],
)
async def test_an_unusable_webhook_response_is_an_error(
    grader_of: ScriptedGraders, answer: Any, status: int, words: str
) -> None:
    async with serving(lambda _: json(answer, status)) as agent:
        result = await hook(grader_of, agent)
    assert result.passed is None
    assert words in (result.error or "")


async def test_a_webhook_at_a_private_address_is_not_called_unless_the_stack_allows_it(
    grader_of: ScriptedGraders,
) -> None:
    async with serving(lambda _: json({"pass": True})) as agent:
        result = await hook(grader_of, agent, allow_private=False)
    assert result.passed is None
    assert agent.requests == []


async def evaluated(grader_of: ScriptedGraders, url: str) -> AssertionScores:
    graders = grader_of().graders(GraderConfig(evaluator_url=url), evaluator_headers={"x-key": "k"}, allow_private=True)
    return await score([Assertion("contains", value="booked")], CONTEXT, graders)


async def test_an_evaluator_receives_the_conversation(grader_of: ScriptedGraders) -> None:
    async with serving(lambda _: json({"results": []})) as agent:
        await evaluated(grader_of, agent.url)
    assert agent.requests[0].headers["x-key"] == "k"
    assert agent.requests[0].body == {
        "conversationId": "c-1",
        "transcript": [{"role": "user", "content": "Book it."}, {"role": "assistant", "content": "It is booked."}],
        "goal": "A flight is booked.",
    }


async def test_evaluator_results_are_added_to_the_others(grader_of: ScriptedGraders) -> None:
    results = [
        {"assertion": "politeness", "pass": True, "score": 0.9, "details": "no rude word"},
        {"assertion": "toxicity", "pass": False, "details": {"words": 2}},
        {"assertion": "tone", "pass": False, "tag": "TONE"},
    ]
    async with serving(lambda _: json({"results": results})) as agent:
        done = await evaluated(grader_of, agent.url)
    assert done.evaluator_note is None
    assert [(r.type, r.passed, r.score, r.source, r.tag) for r in done.results] == [
        ("contains", True, 1, "cupel", None),
        ("politeness", True, 0.9, "external", None),
        ("toxicity", False, 0, "external", "TOXICITY"),
        ("tone", False, 0, "external", "TONE"),
    ]
    assert [result.reason for result in done.results[1:]] == ["no rude word", '{"words": 2}', ""]
    assert build_scoring(None, None, done.results).tags == ("TOXICITY", "TONE")


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ({"results": [{"assertion": "a"}]}, 200, "is invalid: results.0.pass"),
        ({"results": [{"assertion": "a", "pass": True, "score": 2}]}, 200, "is invalid: results.0.score"),
        ("done", 200, "is invalid"),
        ({"results": []}, 503, "HTTP 503"),
    ],
)
async def test_an_unusable_evaluator_response_is_noted_and_the_other_results_are_kept(
    grader_of: ScriptedGraders, answer: Any, status: int, words: str
) -> None:
    async with serving(lambda _: json(answer, status)) as agent:
        done = await evaluated(grader_of, agent.url)
    assert [result.type for result in done.results] == ["contains"]
    assert words in (done.evaluator_note or "")


async def test_an_unreachable_evaluator_is_noted() -> None:
    async with serving(lambda _: json({})) as agent:
        url = agent.url
    external = await evaluate_externally(url, {}, CONTEXT, allow_private=True)
    assert external.results == ()
    assert (external.note or "").startswith("the external evaluator could not be called: ")
