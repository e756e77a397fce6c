"""The calls of one conversation: its target's and its graders', each within a lease on the account that it uses."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from cupel_core.leases import LeasePool
from cupel_core.leases.holder import Reservation
from cupel_core.providers.account import Account
from cupel_core.providers.call_guard import BeforeCall, OnAnswer, allow_call


@dataclass
class ConversationCalls:
    """A CallLimiter for the conversation's graders, and the guard of its target."""

    leases: LeasePool
    workspace: str
    reservation: Reservation
    """The target's slot, free when the conversation started. Lost if the conversation begins with a grader's call."""
    before_call: BeforeCall
    """Raises Halted when no further call may start."""

    def target_slot(self, account: Account, model: str) -> AbstractAsyncContextManager[OnAnswer]:
        return self.leases.slot(self.workspace, account, model, self.before_call, reservation=self.reservation)

    def slot(
        self, workspace: str, account: Account, model: str, before_call: BeforeCall = allow_call
    ) -> AbstractAsyncContextManager[OnAnswer]:
        """A grader's slot."""
        self.reservation.release()
        return self.leases.slot(workspace, account, model, before_call)
