"""A judge that answers and gives no verdict: what an evaluation says about it, and that it stops asking."""

import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from aiohttp import web

import cupel
from cupel import Evaluation
from cupel.gates import Gate
from cupel.render import evaluation_lines
from cupel.render_results import repair_of_run, rescore_hint, results_legend
from cupel.unscored_answers import UnscoredReason
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.run import RunStatus
from tests.unit.providers.agents import ReceivedRequest, json, serving

VERDICT = {"reason": "it is brief", "pass": True, "score": 1}


def judge(reply: Callable[[int], object]) -> Callable[[ReceivedRequest], web.Response]:
    """A server that judges; `reply` gets the number of the request, from 0."""
    requests: list[ReceivedRequest] = []

    def respond(request: ReceivedRequest) -> web.Response:
        requests.append(request)
        answer = reply(len(requests) - 1)
        if isinstance(answer, web.Response):
            return answer
        text = answer if isinstance(answer, str) else orjson.dumps(answer).decode()
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return json({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 2}, "model": "judge"})

    return respond


class Evaluated:
    def __init__(self, evaluation: Evaluation, judge_calls: int, answers: int) -> None:
        self.evaluation, self.judge_calls, self.answers = evaluation, judge_calls, answers


async def evaluate(reply: Callable[[int], object], scenarios: int = 40, **assertion: Any) -> Evaluated:
    answers = 0

    def target(_: object) -> str:
        nonlocal answers
        answers += 1
        return "Short."

    checks = [{"type": "llm-rubric", "value": "is brief", **assertion}]
    names = [f"case {number}" for number in range(scenarios)]
    file = {
        "content": {"assertions": checks},
        "scenarios": [{"name": name, "prompt": name} for name in names],
    }
    async with serving(judge(reply)) as server:
        providers: Any = {"custom": {"base_url": server.url}}
        found = await cupel.evaluate_async(
            file, target, judge_model="custom/sphinx", providers=providers, max_concurrency=2, progress=False
        )
        return Evaluated(found, len(server.requests), answers)


async def test_the_last_probes_are_not_run_when_no_first_reply_is_usable() -> None:
    found = await evaluate(lambda number: f"A riddle, no. {number}.")
    assert (found.evaluation.status, found.judge_calls) == (RunStatus.FAILED, 2 * found.answers)
    assert 8 <= found.answers <= 10  # A fifth of 40, and what was in flight.
    why = found.evaluation.why_stopped
    assert why
    assert re.match(
        r"the judge custom/sphinx gave no usable verdict on the first (8|9|10) answers \(judge_reply\): ", why
    )
    assert "custom/sphinx gave no usable reply, even after a repair request" in why
    left = {each.error.message for each in found.evaluation.errors if each.error}
    assert left == {f"not run: {why}"}
    assert {each.error.code for each in found.evaluation.errors if each.error} == {ProbeErrorCode.JUDGE_ERROR}
    assert len(found.evaluation.errors) == 40 - found.answers
    assert evaluation_lines(found.evaluation.run_json())[-1].startswith("[red]failed in judge: the judge custom/sphinx")


async def test_a_judge_that_declines_is_stopped_too() -> None:
    found = await evaluate(lambda _: json({"error": {"message": "flagged", "code": "content_filter"}}, 400), 15)
    assert found.evaluation.why_stopped
    assert "(judge_refused)" in found.evaluation.why_stopped
    assert found.answers < 15


@pytest.mark.parametrize("usable_at", [0, 7, 15])
async def test_one_usable_reply_keeps_the_evaluation_going(usable_at: int) -> None:
    found = await evaluate(lambda number: VERDICT if number == usable_at else "?", 50)
    assert (found.answers, found.evaluation.why_stopped, found.evaluation.status) == (50, None, RunStatus.COMPLETED)


async def test_a_check_without_weight_stops_nothing() -> None:
    found = await evaluate(lambda _: "?", 20, weight=0)
    assert (found.answers, found.evaluation.why_stopped) == (20, None)


async def test_reasons_are_counted_and_shown() -> None:
    replies: list[object] = [VERDICT, json({"error": {"message": "no such model"}}, 404), "?", "??"]
    found = await evaluate(lambda number: replies[min(number, 3)], 4)
    (model,) = found.evaluation.models
    counts = {(each.code, each.model, each.provider_code): each.count for each in model.unscored_reasons}
    assert (model.unscored, sum(counts.values())) == (3, 3)
    assert counts[("judge_failed", "custom/sphinx", "invalid_request")] == 1
    assert counts[("judge_reply", "custom/sphinx", None)] == 2
    legend = "\n".join(results_legend([model]))
    assert "2 not scored, judge_reply of custom/sphinx: the judge custom/sphinx gave no usable reply" in legend
    assert "1 not scored, judge_failed (invalid_request) of custom/sphinx: " in legend
    assert found.evaluation.to_json()["results"][0]["unscoredReasons"][0]["code"] == "judge_reply"


async def test_a_gate_names_the_cause() -> None:
    found = await evaluate(lambda _: "?", 3)
    assert (found.evaluation.status, found.evaluation.why_stopped) == (RunStatus.COMPLETED, None), "all were run"
    violation, _ = Gate(fail_under=0.5).violations(found.evaluation.models)
    assert violation.startswith("3 of 3 answers could not be scored (judge_reply of custom/sphinx: ")


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("judge_reply", "cupel rescore run_1 --judge-model PROVIDER/NAME --watch"),
        ("judge_failed", "cupel rescore run_1 [--judge-model PROVIDER/NAME] --watch"),
        ("input", None),
        ("a_later_code", None),
    ],
)
def test_the_repair_of_answers_without_a_verdict_is_named(code: str, hint: str | None) -> None:
    assert rescore_hint("run_1", [UnscoredReason(code, "sim/judge", None, 3, "")]) == hint


@pytest.mark.parametrize(("status", "is_named"), [("PAUSED", False), ("RUNNING", False), ("CANCELLED", True)])
async def test_only_a_run_that_is_over_is_rescored(status: str, is_named: bool) -> None:
    found = await evaluate(lambda _: "?", 3)
    assert (repair_of_run({"id": "run_1", "status": status}, found.evaluation.models) is not None) is is_named


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("It depends.", "judge_reply"),
        (json({"error": {"message": "not here", "code": "invalid_api_key"}}, 401), "judge_failed"),
    ],
)
async def test_a_decision_that_the_judge_does_not_read_has_a_cause(reply: object, code: str) -> None:
    file = {"content": {"decision": {"rubric": "5 if it rhymes"}}, "scenarios": [{"name": "one", "prompt": "Hi"}]}
    async with serving(judge(lambda _: reply)) as server:
        providers: Any = {"custom": {"base_url": server.url}}
        found = await cupel.evaluate_async(
            file, lambda _: "So.", judge_model="custom/sphinx", providers=providers, progress=False
        )
    transcript = found.results[0].to_json(found.id)
    assert transcript["summaryError"]
    assert (transcript["summaryCause"]["code"], transcript["summaryCause"]["model"]) == (code, "custom/sphinx")
