"""Each reason for which a check has no result has its code."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from cupel_core import sandbox
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import Embeddings
from cupel_core.scoring import external_evaluators
from cupel_core.scoring import score as score_module
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.code_assertions import Code
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.score import score

JUDGE, EMBEDDER = "sim/judge", "sim/embed"
RUBRIC = {"type": "llm-rubric", "value": "is polite"}


def graders(says: str | ProviderError, *, configured: bool = True) -> GraderFactory:
    async def attempt(_: Account, __: str, ___: ModelRequest, ____: float) -> Reply:
        if isinstance(says, ProviderError):
            raise says
        return Reply(says, "1", Usage(1, 1), "stop")

    async def embed(_: Account, __: str, ___: tuple[str, ...], ____: float) -> Embeddings:
        assert isinstance(says, ProviderError)
        raise says

    config = GraderConfig(JUDGE, None, EMBEDDER) if configured else GraderConfig()
    accounts = {"sim": Account("sim", "")}
    factory = GraderFactory(
        "ws_a", config, accounts, ConcurrencyLimiter(), call_timeout_seconds=1.0, max_wait_seconds=0
    )
    return replace(factory, attempt=attempt, embed_attempt=embed, rng=Random(7))


async def cause_of(written: dict[str, Any], factory: GraderFactory, **more: Any) -> UnscoredCause | None:
    scored = await score([Assertion.from_json(written)], AssertionContext("an answer", **more), factory)
    (result,) = scored.results
    assert result.passed is None
    assert result.error
    return result.cause


def failed(code: ProbeErrorCode) -> ProviderError:
    return ProviderError(code, "no", final=True)


@pytest.mark.parametrize(
    ("written", "says", "cause"),
    [
        (RUBRIC, "I would rather not say.", UnscoredCause(UnscoredCode.JUDGE_REPLY, JUDGE)),
        (RUBRIC, failed(ProbeErrorCode.CONTENT_FILTERED), UnscoredCause(UnscoredCode.JUDGE_REFUSED, JUDGE)),
        (RUBRIC, failed(ProbeErrorCode.BUDGET), UnscoredCause(UnscoredCode.BUDGET, JUDGE)),
        (RUBRIC, failed(ProbeErrorCode.AUTH), UnscoredCause(UnscoredCode.JUDGE_FAILED, JUDGE, "auth")),
        (
            {"type": "similar", "value": "another"},
            failed(ProbeErrorCode.TIMEOUT),
            UnscoredCause(UnscoredCode.JUDGE_FAILED, EMBEDDER, "timeout"),
        ),
    ],
)
async def test_a_judge_without_a_verdict_is_named(
    written: dict[str, Any], says: str | ProviderError, cause: UnscoredCause
) -> None:
    assert await cause_of(written, graders(says)) == cause


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (RUBRIC, UnscoredCode.NO_JUDGE),
        ({"type": "cost", "threshold": 0.1}, UnscoredCode.INPUT),
        ({"type": "contains", "value": "x", "turn": 4}, UnscoredCode.INPUT),
        ({"type": "regex", "value": "("}, UnscoredCode.ASSERTION),
        ({"type": "is-json", "value": "{"}, UnscoredCode.ASSERTION),
        ({"type": "no-such-check"}, UnscoredCode.ASSERTION),
        ({"type": "python", "value": "True"}, UnscoredCode.CODE),
    ],
)
async def test_what_needs_no_model_has_its_code(written: dict[str, Any], code: UnscoredCode) -> None:
    context = {"cost_usd": None} if written["type"] == "cost" else {}
    assert await cause_of(written, graders("", configured=False), **context) == UnscoredCause(code)


async def test_code_that_does_not_end_is_named() -> None:
    async def run(_: Code, __: list[Any]) -> Any:
        raise NotComputable("the code takes more than 9 s", UnscoredCode.CODE)

    context = AssertionContext("an answer")
    scored = await score([Assertion("python", value="output")], context, graders(""), code_runner=run)
    assert scored.results[0].cause == UnscoredCause(UnscoredCode.CODE)


async def test_a_webhook_that_cannot_be_called_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: Any) -> Any:
        raise failed(ProbeErrorCode.NETWORK)

    monkeypatch.setattr(external_evaluators, "_post", refused)
    written = {"type": "webhook", "value": "https://checks.example.com"}
    assert await cause_of(written, graders("")) == UnscoredCause(UnscoredCode.EVALUATOR)


async def test_a_limit_of_time_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def exceeded(*_: Any) -> Any:
        raise sandbox.LimitExceeded("takes too long")

    monkeypatch.setattr(score_module, "compute_bounded", exceeded)
    assert await cause_of({"type": "contains", "value": "x"}, graders("")) == UnscoredCause(UnscoredCode.LIMIT)


async def test_a_set_has_the_cause_of_its_part() -> None:
    parts = [{"type": "contains", "value": "answer"}, RUBRIC]
    cause = await cause_of({"type": "assert-set", "assert": parts}, graders("?"))
    assert cause == UnscoredCause(UnscoredCode.JUDGE_REPLY, JUDGE)


async def test_a_computed_result_has_no_cause() -> None:
    scored = await score([Assertion("contains", value="answer")], AssertionContext("an answer"), graders(""))
    result: AssertionResult = scored.results[0]
    assert (result.passed, result.cause) == (True, None)
