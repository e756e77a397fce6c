"""The calls of one conversation: its target's and its graders', each within a lease on the account that it uses."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cupel_core.leases import LeasePool
from cupel_core.leases.holder import Reservation
from cupel_core.providers.account import Account
from cupel_core.providers.call_guard import OnAnswer


@dataclass
class ConversationCalls:
    """A CallLimiter for the conversation's graders, and the guard of its target."""

    leases: LeasePool
    workspace: str
    reservation: Reservation
    """The target's slot, free when the conversation started. Lost if the conversation begins with a grader's call."""
    check: Callable[[], Awaitable[None]]
    """Raises Halted when no further call may start."""

    @asynccontextmanager
    async def target_slot(self, account: Account, model: str) -> AsyncIterator[OnAnswer]:
        async with self.leases.slot(self.workspace, account, model, self.reservation) as on_answer:
            await self.check()
            yield on_answer

    @asynccontextmanager
    async def slot(self, workspace: str, account: Account, model: str) -> AsyncIterator[OnAnswer]:
        """A grader's slot. The factory of the graders makes the check."""
        self.reservation.release()
        async with self.leases.slot(workspace, account, model) as on_answer:
            yield on_answer
