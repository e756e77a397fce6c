"""The cost of a probe includes what calls without a usable answer have cost, or may have: the target's, judges',
simulated users' and embeddings."""

from collections.abc import Callable
from random import Random

import pytest

from cupel_core.budgets.accounts import MemoryAccount
from cupel_core.budgets.allowance import Allowance
from cupel_core.budgets.charging import ChargedCalls
from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counted_outcomes import counted_outcome
from cupel_core.domain.budgets.money import nano_usd
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    RequestParameter,
    Usage,
)
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reservations import spend_of_failure
from cupel_core.providers.wire_format import Embeddings
from cupel_core.scoring.grading.grader import Grader
from cupel_core.scoring.registry import embed_texts
from tests.unit.conversations.conftest import ConversationHarness, verdict

type Harnesses = Callable[..., ConversationHarness]
PRICED = Account("custom", "http://127.0.0.1:1", prices=(ModelPrice(None, 1.0, 2.0),))
REQUEST = ModelRequest((Message(MessageRole.USER, "Hello"),), ModelParameters(max_output_tokens=100))
FILTERED = ProviderError(ProbeErrorCode.CONTENT_FILTERED, "no", usage=Usage(1_000, 500))
BILLED = ProviderError(ProbeErrorCode.PROVIDER_ERROR, "no", final=True, cost_usd=0.25)


def test_a_reply_that_reports_its_usage_costs_what_that_costs() -> None:
    spend = spend_of_failure(PRICED, "custom/m", REQUEST, FILTERED)
    assert (spend.calls, spend.cost_usd, spend.uncertain_usd) == (1, 0.002, 0.0)


def test_a_call_that_timed_out_may_have_cost_what_it_costs_at_most() -> None:
    spend = spend_of_failure(PRICED, "custom/m", REQUEST, ProviderError(ProbeErrorCode.TIMEOUT, "slow"))
    assert (spend.calls, spend.uncertain_usd > 0.0002) == (0, True)


@pytest.mark.parametrize("code", [ProbeErrorCode.RATE_LIMITED, ProbeErrorCode.AUTH, ProbeErrorCode.INVALID_REQUEST])
def test_a_refused_call_costs_nothing(code: ProbeErrorCode) -> None:
    assert spend_of_failure(PRICED, "custom/m", REQUEST, ProviderError(code, "no")) == Spend()


async def test_an_errored_probe_has_the_cost_of_its_reply(harness: Harnesses) -> None:
    outcome = await harness(target=[BILLED], judged=False).run()
    assert isinstance(outcome, ProbeError)
    assert (outcome.spending.target.calls, outcome.spending.target.cost_usd) == (1, 0.25)


async def test_a_completed_probe_has_the_cost_of_what_was_unusable_before(harness: Harnesses) -> None:
    unusable = ProviderError(ProbeErrorCode.PROVIDER_ERROR, "no", retry_after_seconds=0.01, cost_usd=0.25)
    outcome = await harness(target=[unusable, Reply("Hi", usage=Usage(1, 1), cost_usd=0.5)], judged=False).run()
    assert isinstance(outcome, Transcript)
    assert (outcome.spending.target.calls, outcome.spending.target.cost_usd) == (2, 0.75)
    totals = ColumnTotals()
    totals.add(counted_outcome(outcome))
    assert (totals.cost_usd, ColumnTotals.from_json(totals.to_json()).cost_usd) == (0.75, 0.75)


def test_what_is_uncertain_is_summed_and_stored() -> None:
    spend = Spend(uncertain_usd=0.5) + Spend(1, Usage(1, 1), 0.25, uncertain_usd=0.25)
    assert decode(Spend, encode(spend)) == spend
    assert (spend.has_calls, Spend().has_calls, spend.uncertain_usd) == (True, False, 0.75)


async def test_answers_that_were_cut_are_counted(harness: Harnesses) -> None:
    totals = ColumnTotals()
    for reason in ("stop", "length", "MAX_TOKENS", "max_tokens"):
        totals.add(counted_outcome(await harness(target=[Reply("Hi", finish_reason=reason)], judged=False).run()))
    assert (totals.cut, ColumnTotals.from_json(totals.to_json()).cut) == (3, 3)


async def test_parameters_that_were_left_out_are_counted(harness: Harnesses) -> None:
    totals, seed = ColumnTotals(), RequestParameter.SEED
    for omitted in ((), (seed,), (seed, RequestParameter.JSON_SCHEMA)):
        reply = Reply("Hi", omitted_parameters=omitted)
        totals.add(counted_outcome(await harness(target=[reply], judged=False).run()))
    merged = ColumnTotals.from_json(totals.to_json())
    merged.merge(totals)
    assert (totals.omitted, merged.omitted) == ({"seed": 2, "jsonSchema": 1}, {"seed": 4, "jsonSchema": 2})


LOST = ProviderError(ProbeErrorCode.TIMEOUT, "slow", retry_after_seconds=0.001)
RUBRIC = Assertion("llm-rubric", value="is polite")
GRADED = {"reason": "so", "pass": True, "score": 1}


async def test_calls_of_a_judge_that_timed_out_may_have_been_billed(harness: Harnesses) -> None:
    content = Content(assertions=(RUBRIC,))
    judge = [LOST, LOST, GRADED]
    outcome = await harness(account=PRICED, judge=judge, criteria=Criteria(), content=content, max_messages=2).run()
    assert isinstance(outcome, Transcript)
    spend = outcome.spending.judge
    assert (spend.calls, spend.uncertain_usd > 0) == (1, True)
    once = await harness(
        account=PRICED, judge=[LOST, GRADED], criteria=Criteria(), content=content, max_messages=2
    ).run()
    assert spend.uncertain_usd == pytest.approx(2 * once.spending.judge.uncertain_usd)
    totals = ColumnTotals()
    totals.add(counted_outcome(outcome))
    assert totals.uncertain_usd == pytest.approx(spend.uncertain_usd)


async def test_a_judge_that_never_answers_may_have_been_billed(harness: Harnesses) -> None:
    outcome = await harness(account=PRICED, judge=[LOST]).run()
    assert isinstance(outcome, ProbeError)
    assert (outcome.spending.judge.calls, outcome.spending.judge.uncertain_usd > 0) == (0, True)


async def test_calls_of_a_simulated_user_that_timed_out_may_have_been_billed(harness: Harnesses) -> None:
    user = [LOST, {"content": "And then?"}]
    outcome = await harness(account=PRICED, user=user, judge=[verdict(), verdict(success=True)]).run()
    assert isinstance(outcome, Transcript)
    spend = outcome.spending.persona
    assert (spend.calls, spend.uncertain_usd > 0) == (1, True)


async def test_embeddings_that_timed_out_may_have_been_billed() -> None:
    answers: list[Embeddings | ProviderError] = [LOST, Embeddings(((1.0,),), Usage(3))]

    async def attempt(*_: object) -> Embeddings:
        answer = answers.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    grader, spent = Grader(PRICED, "custom/e", 1.0, 1.0, Random(1), embed_attempt=attempt), list[Spend]()
    await embed_texts(grader, ("abc",), spent)
    total = sum(spent, Spend())
    assert (total.calls, total.uncertain_usd) == (1, pytest.approx(4e-6))


async def test_a_probe_and_its_budget_count_the_same() -> None:
    """Without a limit of tokens, a budget expects an answer as long as the model's others were."""
    lost, request = ProviderError(ProbeErrorCode.TIMEOUT, "slow"), ModelRequest(REQUEST.messages)
    store = MemoryAccount()
    allowance = Allowance("w", store, lambda: 0.0)
    allowance.set_limit(10**12)
    allowance.outputs.note("custom/m", 50_000)

    async def attempt(*_: object) -> Reply:
        raise lost

    with pytest.raises(ProviderError):
        await ChargedCalls(allowance, attempt).attempt(PRICED, "custom/m", request, 1.0)
    counted = spend_of_failure(PRICED, "custom/m", request, lost).uncertain_usd
    await allowance.leave()
    assert nano_usd(counted) == store.account.total_uncertain
    assert counted > spend_of_failure(PRICED, "custom/m", request, LOST).uncertain_usd
