"""Results from elsewhere: webhooks and external evaluators, at their best and at their worst."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.scoring.scoring import conclude
from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.providers import safe_http as requests
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.external_evaluators import evaluate_outside
from cupel_core.scoring.score import Scored, score
from tests.unit.providers.agents import Agent, json, serving

type Judges = Callable[..., Any]

EVIDENCE = Evidence(
    "It is booked.",
    (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Book it."), Message(Role.ASSISTANT, "It is booked.")),
    variables={"city": "Rome"},
    conversation_id="c-1",
    goal="A flight is booked.",
)


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await requests.close()


async def hook(judge_of: Judges, agent: Agent, kind: str = "webhook", *, allow_private: bool = True) -> AssertionResult:
    written = {"type": kind, "value": f"{agent.url}/check"}
    panel = judge_of().panel(allow_private=allow_private)
    return (await score([Assertion.from_json(written)], EVIDENCE, panel)).results[0]


async def test_a_webhook_is_told_the_output_and_its_circumstances(judge_of: Judges) -> None:
    async with serving(lambda _: json({"pass": True})) as agent:
        await hook(judge_of, agent)
    assert agent.asked[0].path == "/check"
    assert agent.asked[0].body == {
        "output": "It is booked.",
        "context": {"prompt": "Book it.", "vars": {"city": "Rome"}},
    }


@pytest.mark.parametrize(
    ("kind", "answer", "passed", "points"),
    [
        ("webhook", {"pass": True}, True, 1),
        ("webhook", {"pass": False}, False, 0),
        ("webhook", {"pass": True, "score": 0.5, "reason": "so so", "more": 1}, True, 0.5),
        ("not-webhook", {"pass": True, "score": 0.75}, False, 0.25),
        ("not-webhook", {"pass": False}, True, 1),
    ],
)
async def test_a_webhook_s_word_is_the_result(
    judge_of: Judges, kind: str, answer: Any, passed: bool, points: float
) -> None:
    async with serving(lambda _: json(answer)) as agent:
        result = await hook(judge_of, agent, kind)
    assert (result.passed, result.score) == (passed, points)


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ({"pass": "yes"}, 200, "not understood: pass"),
        ({"pass": True, "score": 7}, 200, "not understood: score"),
        ("all good", 200, "not understood"),
        ({"pass": True}, 500, "HTTP 500"),
    ],
)
async def test_a_webhook_without_a_usable_answer_is_an_error(
    judge_of: Judges, answer: Any, status: int, words: str
) -> None:
    async with serving(lambda _: json(answer, status)) as agent:
        result = await hook(judge_of, agent)
    assert result.passed is None
    assert words in (result.error or "")


async def test_a_webhook_inside_is_not_asked_unless_the_stack_allows_it(judge_of: Judges) -> None:
    async with serving(lambda _: json({"pass": True})) as agent:
        result = await hook(judge_of, agent, allow_private=False)
    assert result.passed is None
    assert agent.asked == []


async def evaluated(judge_of: Judges, url: str) -> Scored:
    panel = judge_of().panel(Evaluation(evaluator_url=url), evaluator_headers={"x-key": "k"}, allow_private=True)
    return await score([Assertion("contains", value="booked")], EVIDENCE, panel)


async def test_an_evaluator_is_told_the_conversation(judge_of: Judges) -> None:
    async with serving(lambda _: json({"results": []})) as agent:
        await evaluated(judge_of, agent.url)
    assert agent.asked[0].headers["x-key"] == "k"
    assert agent.asked[0].body == {
        "conversationId": "c-1",
        "transcript": [{"role": "user", "content": "Book it."}, {"role": "assistant", "content": "It is booked."}],
        "goal": "A flight is booked.",
    }


async def test_an_evaluator_s_results_stand_beside_the_others(judge_of: Judges) -> None:
    results = [
        {"assertion": "politeness", "pass": True, "score": 0.9, "details": "no rude word"},
        {"assertion": "toxicity", "pass": False, "details": {"words": 2}},
        {"assertion": "tone", "pass": False, "tag": "TONE"},
    ]
    async with serving(lambda _: json({"results": results})) as agent:
        done = await evaluated(judge_of, agent.url)
    assert done.evaluator_note is None
    assert [(r.type, r.passed, r.score, r.source, r.tag) for r in done.results] == [
        ("contains", True, 1, "cupel", None),
        ("politeness", True, 0.9, "external", None),
        ("toxicity", False, 0, "external", "TOXICITY"),
        ("tone", False, 0, "external", "TONE"),
    ]
    assert [result.reason for result in done.results[1:]] == ["no rude word", '{"words": 2}', ""]
    assert conclude(None, None, done.results).tags == ("TOXICITY", "TONE")


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ({"results": [{"assertion": "a"}]}, 200, "not understood: results.0.pass"),
        ({"results": [{"assertion": "a", "pass": True, "score": 2}]}, 200, "not understood: results.0.score"),
        ("done", 200, "not understood"),
        ({"results": []}, 503, "HTTP 503"),
    ],
)
async def test_what_an_evaluator_says_in_vain_is_noted_and_the_others_stand(
    judge_of: Judges, answer: Any, status: int, words: str
) -> None:
    async with serving(lambda _: json(answer, status)) as agent:
        done = await evaluated(judge_of, agent.url)
    assert [result.type for result in done.results] == ["contains"]
    assert words in (done.evaluator_note or "")


async def test_an_evaluator_that_is_not_there_is_noted() -> None:
    async with serving(lambda _: json({})) as agent:
        url = agent.url
    external = await evaluate_outside(url, {}, EVIDENCE, allow_private=True)
    assert external.results == ()
    assert (external.note or "").startswith("the external evaluator could not be asked: ")
