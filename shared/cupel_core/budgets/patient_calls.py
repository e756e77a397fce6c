"""Calls that wait until other calls release money of a budget, and fail once none can."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from cupel_core.base.deferred import dataclass
from cupel_core.budgets.charging import ChargedCalls
from cupel_core.budgets.reservations import SHORTAGE_SECONDS, BudgetShortage
from cupel_core.domain.budgets.money import limit_text, nano_usd, usd
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.text.figures import format_usd
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import Embeddings


def budget_error(shortage: BudgetShortage, max_usd: float | None = None) -> ProviderError:
    """Return the error of a call that no budget will allow. `max_usd` is the budget of the run, if it has one."""
    of_run = "the budget" if max_usd is None else f"the budget of {limit_text(max_usd)}"
    is_own = shortage.exhausted is None or shortage.exhausted is BudgetScope.RUN
    name = of_run if is_own else f"the workspace's budget for the {shortage.exhausted}"
    too_little = f"less is left than the call may cost ({format_usd(usd(shortage.needed))})"
    return ProviderError(ProbeErrorCode.BUDGET, f"{name} is used up: {too_little}", final=True)


@dataclass
class PatientCalls:
    charged: ChargedCalls
    max_usd: float | None
    may_wait: Callable[[], bool] = lambda: True
    """Returns whether there is time to wait. Otherwise BudgetShortage is raised."""
    wait_seconds: float = SHORTAGE_SECONDS
    read_max_usd: Callable[[], Awaitable[float | None]] | None = None
    """Reads that budget again, before calls give up, and after each wait."""
    has_own_budget: bool = False
    """True if their budget is not the run's. When it is used up, BudgetShortage is raised and the caller
    stops."""

    async def attempt(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        return await self._patiently(account, partial(self.charged.attempt, account, model, request, timeout_seconds))

    async def embed(self, account: Account, model: str, texts: tuple[str, ...], timeout_seconds: float) -> Embeddings:
        return await self._patiently(account, partial(self.charged.embed, account, model, texts, timeout_seconds))

    async def _patiently[Answer](self, account: Account, call: Callable[[], Awaitable[Answer]]) -> Answer:
        while True:
            attempted_with_usd = self.max_usd or 0.0
            try:
                return await call()
            except BudgetShortage as shortage:
                await self._wait_after(shortage, attempted_with_usd)
            await self.charged.recheck(account)

    async def _wait_after(self, shortage: BudgetShortage, attempted_with_usd: float) -> None:
        """Wait until the call may be tried again. Raise if that would be in vain, or if there is no time for it."""
        is_own = shortage.exhausted is BudgetScope.RUN
        if is_own and await self._update_limit() > attempted_with_usd:
            return
        if is_own and self.has_own_budget:
            raise shortage
        if shortage.exhausted is not None:
            raise budget_error(shortage, self.max_usd) from None
        if not self.may_wait():
            raise shortage
        await asyncio.sleep(self.wait_seconds)
        await self._update_limit()

    async def _update_limit(self) -> float:
        now = await self.read_max_usd() if self.read_max_usd is not None and self.max_usd is not None else None
        if now is not None:
            self.max_usd = now
            self.charged.set_limit(nano_usd(now))
        return self.max_usd or 0.0
