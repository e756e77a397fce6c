"""Every attempt of a call is reserved before it and settled after it."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from cupel_core.budgets.accounts import MemoryAccount
from cupel_core.budgets.allowance import Allowance
from cupel_core.budgets.charging import ChargedCalls
from cupel_core.budgets.pool import AllowancePool
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.call_tokens import GRADER_OUTPUT_TOKENS
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.providers.account import Account
from cupel_core.providers.errors import CallPrevented, ParameterRejected, ProviderError, error_from_response
from cupel_core.providers.wire_format import Embeddings

ACCOUNT = Account("custom", "http://models.test", prices=(ModelPrice(None, 1.0, 10.0),))
REQUEST = ModelRequest((Message(MessageRole.USER, "Hi"),), ModelParameters(max_output_tokens=100))
BOUND = 18 * 1_000 + 100 * 10_000
TARGET, JUDGE, PERSONA = ModelRole.TARGET, ModelRole.JUDGE, ModelRole.PERSONA


class Calls:
    """Answers with a reply or an error, and notes what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []

    async def complete(self, _account: Account, _model: str, request: ModelRequest, _seconds: float) -> Reply:
        self.requests.append(request)
        return self._answer()

    async def embed(self, *_: Any) -> Embeddings:
        return self._answer()

    def _answer(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Charged:
    def __init__(self, answer: Any, limit: int = 10**9) -> None:
        self.store, self.calls = MemoryAccount(), Calls(answer)
        self.allowance = Allowance("w", self.store, lambda: 0.0)
        self.allowance.set_limit(limit)
        self.charged = ChargedCalls(self.allowance, self.calls.complete, self.calls.embed)

    async def call(self, request: ModelRequest = REQUEST) -> BudgetAccount:
        with suppress(ProviderError, asyncio.CancelledError):
            await self.charged.attempt(ACCOUNT, "custom/m", request, 10.0)
        await self.allowance.leave()
        return self.store.account


async def test_a_call_is_charged_what_its_usage_costs() -> None:
    account = await Charged(Reply("Hello", usage=Usage(10, 5))).call()
    assert (account.spent_by_role, account.total_uncertain) == ({TARGET: 60_000}, 0)


async def test_a_call_is_charged_to_what_its_model_is_called_for() -> None:
    request = ModelRequest(REQUEST.messages, REQUEST.parameters, role=PERSONA)
    account = await Charged(Reply("Hello", usage=Usage(10, 5))).call(request)
    assert account.spent_by_role == {PERSONA: 60_000}


async def test_a_call_that_the_budget_does_not_allow_is_not_made() -> None:
    charged = Charged(Reply("Hello", usage=Usage(10, 5)), limit=BOUND - 1)
    with pytest.raises(BudgetShortage):
        await charged.call()
    assert charged.calls.requests == []


async def test_an_answer_without_usage_may_have_cost_all_that_was_reserved() -> None:
    account = await Charged(Reply("Hello")).call()
    assert (account.spent_by_role, account.total_uncertain) == ({}, BOUND)


async def test_what_a_provider_reports_as_cost_counts_only_without_own_prices() -> None:
    charged = Charged(Reply("Hello", usage=Usage(10, 5), cost_usd=0.5))
    account = Account("openrouter", "https://o.test")
    await charged.charged.attempt(account, "openrouter/x/y", REQUEST, 10.0)
    await charged.allowance.leave()
    assert charged.store.account.spent_by_role == {TARGET: 5 * 10**8}


async def test_an_answer_from_a_cache_costs_nothing() -> None:
    account = await Charged(Reply("Hello", usage=Usage(10, 5), cached_duration_ms=5)).call()
    assert account.used == 0


@pytest.mark.parametrize(
    "error",
    [
        error_from_response(429, {}, b"{}", None),  # type: ignore[arg-type]
        error_from_response(503, {}, b"{}", None),  # type: ignore[arg-type]
        error_from_response(400, {}, b"{}", None),  # type: ignore[arg-type]
        ProviderError(ProbeErrorCode.INVALID_REQUEST, "the provider has no baseUrl"),
        ProviderError(ProbeErrorCode.NETWORK, "no connection", refused=True),
        ParameterRejected(ProviderError(ProbeErrorCode.INVALID_REQUEST, "temperature is not supported")),
    ],
    ids=["429", "503", "400", "never sent", "no connection", "parameter rejected"],
)
async def test_a_call_that_was_refused_costs_nothing(error: ProviderError) -> None:
    assert (await Charged(error).call()).used == 0


@pytest.mark.parametrize(
    "error",
    [
        ProviderError(ProbeErrorCode.TIMEOUT, "no response within 10 s"),
        ProviderError(ProbeErrorCode.NETWORK, "the connection was lost"),
        ProviderError(ProbeErrorCode.PROVIDER_ERROR, "malformed response"),
        asyncio.CancelledError(),
    ],
    ids=["timeout", "lost connection", "malformed response", "cancelled"],
)
async def test_a_call_that_ends_without_an_answer_may_have_been_billed(error: BaseException) -> None:
    account = await Charged(error).call()
    assert (account.spent_by_role, account.total_uncertain) == ({}, BOUND)


async def test_the_replies_of_graders_are_limited_and_those_of_targets_are_not() -> None:
    charged = Charged(Reply("Hello", usage=Usage(10, 5)))
    await charged.charged.attempt(ACCOUNT, "custom/m", ModelRequest(REQUEST.messages, role=JUDGE), 10.0)
    await charged.charged.attempt(ACCOUNT, "custom/m", ModelRequest(REQUEST.messages), 10.0)
    limits = [request.parameters.max_output_tokens for request in charged.calls.requests]
    assert limits == [GRADER_OUTPUT_TOKENS, None]


async def test_embeddings_are_charged_to_the_judge() -> None:
    charged = Charged(Embeddings(((1.0,),), Usage(3)))
    await charged.charged.embed(ACCOUNT, "custom/e", ("abc",), 10.0)
    await charged.allowance.leave()
    assert charged.store.account.spent_by_role == {JUDGE: 3_000}


async def test_embeddings_without_usage_count_as_what_they_cost_at_most() -> None:
    charged = Charged(Embeddings(((1.0,),)))
    await charged.charged.embed(ACCOUNT, "custom/e", ("abc",), 10.0)
    await charged.allowance.leave()
    assert charged.store.account.total_uncertain == 4_000


async def test_the_first_call_of_a_conversation_uses_what_it_has_set_aside() -> None:
    charged = Charged(Reply("Hello", usage=Usage(10, 5)), limit=BOUND)
    charged.allowance.demand.pending, charged.allowance.demand.first_call = 1, BOUND
    await charged.allowance.report()
    opening = charged.allowance.start_conversation(BOUND)
    calls = ChargedCalls(charged.allowance, charged.calls.complete, charged.calls.embed, opening)
    charged.allowance.demand.pending = 0
    await calls.attempt(ACCOUNT, "custom/m", REQUEST, 10.0)
    assert len(charged.calls.requests) == 1


async def test_a_worker_without_budgets_makes_no_report() -> None:
    def open_account(budget: str) -> MemoryAccount:
        raise AssertionError(budget)

    async with AllowancePool[str]("w", open_account, ends_at=900.0):
        await asyncio.sleep(0)


async def test_a_pool_gives_everything_back_at_its_end() -> None:
    account = MemoryAccount()
    async with AllowancePool[str]("w", lambda _: account, ends_at=10**12) as pool:
        allowance = pool.allowance("run", 1_000)
        await allowance.reserve(100)
        allowance.settle(100, 40, TARGET)
    assert (account.account.used, account.account.reserved) == (40, 0)


async def test_allowances_for_several_days_of_a_run_have_leases_of_their_own() -> None:
    account = MemoryAccount()
    async with AllowancePool[str]("w", lambda _: account, ends_at=10**12) as pool:
        for day in ("first", "second"):
            allowance = pool.allowance(day, 1_000)
            await allowance.reserve(100)
            allowance.settle(100, 40, TARGET)
        assert len(account.account.leases) == 2
    assert (account.account.used, account.account.reserved) == (80, 0)


class SlowCharged(Charged):
    """A worker whose budget takes a while to answer."""

    def __init__(self, seconds: float) -> None:
        super().__init__(Reply("Hello", usage=Usage(10, 5)))
        times = iter([0.0, 0.0, seconds])
        self.allowance = Allowance("w", self.store, lambda: next(times, seconds))
        self.allowance.set_limit(10**9)
        self.rechecked: list[Account] = []
        self.charged = ChargedCalls(self.allowance, self.calls.complete, self.calls.embed, recheck=self._recheck)

    async def _recheck(self, account: Account) -> None:
        self.rechecked.append(account)
        raise CallPrevented


async def test_a_call_that_waited_for_its_budget_is_prevented_by_a_pause_meanwhile_and_costs_nothing() -> None:
    slow = SlowCharged(5.0)
    with pytest.raises(CallPrevented):
        await slow.call()
    await slow.allowance.leave()
    assert (slow.rechecked, slow.calls.requests) == ([ACCOUNT], [])
    assert (slow.store.account.used, slow.store.account.total_uncertain) == (0, 0)


async def test_a_call_that_hardly_waited_is_made_without_another_check() -> None:
    slow = SlowCharged(0.1)
    await slow.call()
    assert (slow.rechecked, len(slow.calls.requests)) == ([], 1)
