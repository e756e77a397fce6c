"""Calls that are paid from an allowance: the maximum cost of one is reserved before it, and settled after it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from cupel_core.budgets.allowance import Allowance
from cupel_core.budgets.reservations import OpeningReservation
from cupel_core.domain.budgets.call_tokens import GRADER_OUTPUT_TOKENS
from cupel_core.domain.budgets.money import nano_usd, usd
from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.providers import prices
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.embeddings import EmbedAttempt, embed
from cupel_core.providers.errors import CallPostponed, CallPrevented, ProviderError
from cupel_core.providers.reservations import bound_of_call, bound_of_embedding, spend_of_failure
from cupel_core.providers.wire_format import Embeddings

RECHECK_SECONDS = 0.5
"""After a longer wait for its reservation, a call is checked again, because a pause may have come since."""

type Recheck = Callable[[Account], Awaitable[None]]
"""Raises to prevent a call to the account."""


async def allow(account: Account) -> None: ...


class _ChargedCall:
    """One attempt. Nothing is charged before it is made. Then the whole reservation counts, until its cost is known."""

    def __init__(self) -> None:
        self.cost = 0
        self.is_certain = True

    def note_cost(self, cost: int, *, is_certain: bool = True) -> None:
        self.cost, self.is_certain = cost, is_certain


class ChargedCalls:
    def __init__(
        self,
        allowance: Allowance,
        attempt: Attempt = complete,
        embed_attempt: EmbedAttempt = embed,
        opening: OpeningReservation | None = None,
        recheck: Recheck = allow,
    ) -> None:
        self._allowance = allowance
        self._attempt = attempt
        self._embed_attempt = embed_attempt
        self._opening = opening
        self.recheck = recheck

    def set_limit(self, limit: int) -> None:
        self._allowance.set_limit(limit)

    async def attempt(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        """Make an attempt. Raise BudgetShortage if the call may not be made now, and else what the attempt raises."""
        request = _with_limit(request)
        bound = bound_of_call(account, model, request, self._allowance.outputs.mean_tokens(model))
        async with self._charge(account, bound.nano_usd, request.role) as call:
            try:
                reply = await self._attempt(account, model, request, timeout_seconds)
            except ProviderError as error:
                spend = spend_of_failure(account, model, request, error)
                if spend.calls and spend.cost_usd is not None:
                    call.note_cost(nano_usd(spend.cost_usd))
                else:
                    error.charged_usd = usd(bound.nano_usd)
                raise
            cost = prices.spend_of(account, model, reply).cost_usd
            amount = nano_usd(cost or 0.0)
            if cost is None and reply.usage is None:
                call.note_cost(bound.nano_usd, is_certain=bound.nano_usd == 0)
            else:
                call.note_cost(amount)
            if reply.usage is not None:
                self._allowance.outputs.note(model, reply.usage.output_tokens)
            return reply

    async def embed(self, account: Account, model: str, texts: tuple[str, ...], timeout_seconds: float) -> Embeddings:
        """Make embeddings in the same way. Google reports no usage, so such a call counts with its maximum cost."""
        bound = bound_of_embedding(account, model, texts)
        async with self._charge(account, bound, ModelRole.JUDGE) as call:
            answer = await self._embed_attempt(account, model, texts, timeout_seconds)
            if answer.usage is not None:
                call.note_cost(nano_usd(prices.cost_usd(model, answer.usage, account) or 0.0))
            return answer

    @asynccontextmanager
    async def _charge(self, account: Account, bound: int, role: ModelRole) -> AsyncIterator[_ChargedCall]:
        """Charge an attempt. If it ends without an answer, its provider may bill it, unless it has refused it."""
        if self._opening is not None:
            self._opening.release()
        waited_seconds = await self._allowance.reserve(bound)
        call = _ChargedCall()
        try:
            if waited_seconds > RECHECK_SECONDS:
                await self.recheck(account)
            call.note_cost(bound, is_certain=False)
            yield call
        except (CallPrevented, CallPostponed):  # The call was not made.
            call.note_cost(0)
            raise
        except ProviderError as error:
            if not error.may_be_billed:
                call.note_cost(0)
            raise
        finally:
            self._allowance.settle(bound, call.cost, role, is_certain=call.is_certain)


def _with_limit(request: ModelRequest) -> ModelRequest:
    """Limit the answer of a judge or a simulated user. A target's answer is not limited: that would change the
    result."""
    if not request.is_graders or request.parameters.max_output_tokens is not None:
        return request
    return request.with_parameters(max_output_tokens=GRADER_OUTPUT_TOKENS)
