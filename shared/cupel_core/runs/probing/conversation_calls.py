"""The calls of one conversation, to its target and its graders. Each needs a lease on its account."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property

from cupel_core.accounts.leases import LeasePool
from cupel_core.accounts.leases.holder import Reservation
from cupel_core.base.deferred import dataclass
from cupel_core.budgets.allowance import Allowance
from cupel_core.budgets.charging import ChargedCalls
from cupel_core.budgets.reservations import OpeningReservation
from cupel_core.domain.limits.provider_errors import Remedy
from cupel_core.providers.account import Account
from cupel_core.providers.call_guard import BeforeCall, OnAnswer, allow_call
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.embeddings import EmbedAttempt, embed
from cupel_core.providers.errors import ProviderError


@dataclass
class ConversationCalls:
    leases: LeasePool
    workspace: str
    reservation: Reservation
    """The slot of the target that was free when the conversation started. It is released if a grader's call comes
    first."""
    before_call: BeforeCall
    """Raises Halted when no further call may start."""
    allowance: Allowance | None = None
    """Pays for the calls if the run has a budget."""
    opening: OpeningReservation | None = None
    """The amount that the conversation has set aside from the allowance for its first call."""
    was_interrupted: bool = False
    """True if the run was paused or retried before. Then also calls that only the owner can repair are
    postponed."""

    @cached_property
    def attempt(self) -> Attempt:
        return self._charged.attempt if self._charged else complete

    @cached_property
    def embed_attempt(self) -> EmbedAttempt:
        return self._charged.embed if self._charged else embed

    @cached_property
    def _charged(self) -> ChargedCalls | None:
        if self.allowance is None:
            return None
        return ChargedCalls(self.allowance, opening=self.opening, recheck=self._recheck)

    async def _recheck(self, account: Account) -> None:
        await self.before_call()
        await self.leases.recheck(self.workspace, account)

    def target_slot(self, account: Account, model: str) -> AbstractAsyncContextManager[OnAnswer]:
        slot = self.leases.slot(self.workspace, account, model, self.before_call, reservation=self.reservation)
        return self._handing_back(slot)

    def slot(
        self, workspace: str, account: Account, model: str, before_call: BeforeCall = allow_call
    ) -> AbstractAsyncContextManager[OnAnswer]:
        """Return a slot for a grader's call. The slot that is reserved for the target is released."""
        self.reservation.release()
        return self._handing_back(self.leases.slot(workspace, account, model, before_call))

    @asynccontextmanager
    async def _handing_back(self, slot: AbstractAsyncContextManager[OnAnswer]) -> AsyncIterator[OnAnswer]:
        try:
            async with slot as on_answer:
                yield on_answer
        except ProviderError as error:
            error.is_handed_back |= self.was_interrupted and error.repair is Remedy.OWNER
            raise

    def end(self) -> None:
        self.reservation.release()
        if self.opening is not None:
            self.opening.release()
        if self.allowance is not None:
            self.allowance.end_conversation()
