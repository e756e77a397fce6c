"""Narratives of deep analyses in process: a model writes them, is asked once, and is paid from the budget."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

import cupel
from cupel.errors import UsageError
from cupel.in_process import Evaluation
from cupel_core.domain.analysis.narratives import UNAVAILABLE, NarrativeTopic
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_analyze_deep import MODELS, ratings
from tests.unit.providers.agents import ReceivedRequest, json, serving

HEADLINE = "The targets agree little."
PRICES = {"*": (1_000.0, 1_000.0)}
CALL_USD = 0.015
"""10 and 5 tokens."""


def reply(**findings: tuple[str, list[str]]) -> dict[str, Any]:
    """With these findings, by topic; the others say nothing."""
    texts = {topic: findings.get(topic, (UNAVAILABLE, [])) for topic in NarrativeTopic}
    written = [{"topic": topic, "text": text, "facts": facts} for topic, (text, facts) in texts.items()]
    return {"headline": HEADLINE, "findings": written, "limitations": [], "nextSteps": []}


def writer(answer: object) -> Callable[[ReceivedRequest], web.Response]:
    text = orjson.dumps(answer).decode()
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage}
    return lambda _: json(message)


async def evaluated(url: str, **options: Any) -> Evaluation:
    providers = {"custom": {"base_url": url, "prices": PRICES}}
    given = {"analysis_model": "custom/writer", "providers": providers, "progress": False, **options}
    return await cupel.evaluate_async(ratings(), list(MODELS), **given)


async def test_a_model_writes_what_the_figures_support() -> None:
    async with serving(writer(reply(agreement=("Alpha is 0.99.", ["alpha"])))) as server:
        evaluation = await evaluated(server.url)
        assert server.requests == []
        narrative = (await evaluation.deep_analysis_async())["narrative"]
    assert (narrative["headline"], narrative["model"], narrative["calls"]) == (HEADLINE, "custom/writer", 1)
    assert narrative["costUsd"] == pytest.approx(CALL_USD)
    assert [(each["topic"], each["reason"]) for each in narrative["dropped"]] == [
        ("agreement", "says 0.99, which it does not cite")
    ]
    shown = server.requests[0].body["messages"][-1]["content"]
    assert all({"id", "label", "value"} <= figure.keys() for figure in orjson.loads(shown)["figures"])


async def test_the_same_figures_are_paid_for_once() -> None:
    async with serving(writer(reply())) as server:
        evaluation = await evaluated(server.url)
        first = await evaluation.deep_analysis_async()
        assert await evaluation.deep_analysis_async() == first
    assert len(server.requests) == 1


async def test_the_cache_answers_for_another_evaluation(tmp_path: Path) -> None:
    async with serving(writer(reply())) as server:
        for _ in range(2):
            evaluation = await evaluated(server.url, cache=tmp_path / "answers.sqlite", seed=1)
            narrative = (await evaluation.deep_analysis_async())["narrative"]
    assert (narrative["headline"], narrative["costUsd"], len(server.requests)) == (HEADLINE, 0.0, 1)


async def test_without_a_narrative_no_model_is_asked() -> None:
    async with serving(writer(reply())) as server:
        evaluation = await evaluated(server.url)
        narrative = (await evaluation.deep_analysis_async(narrative=False))["narrative"]
    assert (narrative["model"], server.requests) == (None, [])


async def test_it_is_paid_from_the_budget_of_the_evaluation() -> None:
    async with serving(writer(reply())) as server:
        evaluation = await evaluated(server.url, budget_usd=10)
        assert evaluation.narrator is not None
        await evaluation.deep_analysis_async()
        assert evaluation.narrator.budget is not None
        account = evaluation.narrator.budget.account.account
    assert (account.used, account.reserved) == (15_000_000, 0)


async def test_rules_write_when_the_budget_is_used_up() -> None:
    async with serving(writer(reply())) as server:
        evaluation = await evaluated(server.url, budget_usd=0.01)
        narrative = (await evaluation.deep_analysis_async())["narrative"]
    assert "the budget of $0.01 is used up" in narrative["error"]
    assert narrative["headline"] == evaluation.deep_analysis(narrative=False)["narrative"]["headline"]
    assert server.requests == []


async def test_rules_write_when_the_reply_is_unusable_and_the_next_call_asks_again(tmp_path: Path) -> None:
    async with serving(writer(["no narrative"])) as server:
        evaluation = await evaluated(server.url, cache=tmp_path / "answers.sqlite")
        for calls in (2, 4):
            narrative = (await evaluation.deep_analysis_async())["narrative"]
            assert ("no usable reply" in narrative["error"], narrative["calls"]) == (True, 2)
            assert len(server.requests) == calls


async def test_a_budget_needs_the_price_of_the_model() -> None:
    with pytest.raises(UsageError, match="the price of custom/writer is unknown"):
        await cupel.evaluate_async(
            ratings(),
            MODELS[0],
            analysis_model="custom/writer",
            budget_usd=1,
            providers={"custom": {"base_url": "http://127.0.0.1:1"}},
        )


@pytest.mark.parametrize("model", ["sim/steady", None])
def test_a_simulated_model_is_not_asked(model: str | None) -> None:
    evaluation = cupel.evaluate(ratings(), list(MODELS), analysis_model=model, progress=False)
    assert evaluation.deep_analysis()["narrative"]["model"] is None


@pytest.mark.parametrize("model", ["nobody/x", "sim/steddy", "openai/gpt-5-mini"])
def test_a_model_that_cannot_be_called_is_refused_before_any_call(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="analysis_model: "):
        cupel.evaluate(ratings(), list(MODELS), analysis_model=model, progress=False)


async def test_within_an_event_loop_the_narrative_is_awaited() -> None:
    evaluation = await evaluated("http://127.0.0.1:1")
    with pytest.raises(UsageError, match=r"use `await evaluation.deep_analysis_async\(\)`"):
        evaluation.deep_analysis()


async def test_without_an_event_loop_it_is_returned() -> None:
    """Its connections are closed with the loop, so that a second call can use others."""
    async with serving(writer(reply())) as server:
        evaluation = await evaluated(server.url)
        found = await asyncio.to_thread(evaluation.deep_analysis)
    assert found["narrative"]["headline"] == HEADLINE


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "ratings.json"
    path.write_bytes(orjson.dumps(ratings()))
    return str(path)


def here(cupel: Cupel, file: str, *options: str) -> Any:
    return cupel("run", file, "--models", ",".join(MODELS), "--in-process", *options)


def test_the_command_prints_the_deep_analysis_below_the_results(cupel: Cupel, file: str) -> None:
    printed = here(cupel, file, "--deep").stdout
    assert printed.index("72 completed") < printed.index("change per step") < printed.index("in short")


def test_the_command_prints_what_the_model_wrote(cupel: Cupel, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def served() -> str:
        async with serving(writer(reply())) as server:
            monkeypatch.setenv("CUSTOM_BASE_URL", server.url)
            options = ("--deep", "--analysis-model", "custom/writer")
            return str((await asyncio.to_thread(here, cupel, file, *options)).stdout)

    printed = asyncio.run(served())
    assert f"in short   {HEADLINE}" in printed
    assert "written by custom/writer (1 call" in printed


def test_the_json_of_the_command_has_the_deep_analysis(cupel: Cupel, file: str) -> None:
    printed = orjson.loads(here(cupel, file, "--deep", "--json").stdout)
    assert printed["deepAnalysis"]["narrative"]["model"] is None
    assert "deepAnalysis" not in orjson.loads(here(cupel, file, "--json").stdout)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--in-process", "--analysis-model", "sim/steady"],
            "--analysis-model: writes about a deep analysis",
        ),
        (["--in-process", "--deep", "--analysis-model", "nobody/x"], "--analysis-model: "),
        (["--deep"], "--deep and --analysis-model: only with --in-process; use `cupel analyze RUN --deep`"),
    ],
)
def test_options_without_effect_are_refused(cupel: Cupel, file: str, options: list[str], message: str) -> None:
    answer = cupel("run", file, "--models", "sim/steady", *options)
    assert (answer.exit_code, message in answer.stderr) == (2, True), answer.stderr


def test_a_deep_analysis_without_numpy_is_refused_before_the_evaluation(
    cupel: Cupel, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cupel.extras.find_spec", lambda _: None)
    answer = here(cupel, file, "--deep")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "cupel[analysis]" in answer.stderr
