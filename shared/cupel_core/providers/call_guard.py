"""Guards of model calls: a guard waits until an attempt may start, and is informed of how it ended."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from cupel_core.domain.conversations.model_request import ExhaustedAllowance, Usage
from cupel_core.providers.account import Account


class Answer(Protocol):
    @property
    def usage(self) -> Usage | None: ...

    @property
    def exhausted_allowance(self) -> ExhaustedAllowance | None: ...


type OnAnswer = Callable[[Answer], None]
"""Called with the answer. A failed attempt raises a ProviderError instead."""
type CallGuard = Callable[[], AbstractAsyncContextManager[OnAnswer]]
"""Surrounds one attempt. It may raise to prevent it."""
type BeforeCall = Callable[[], Awaitable[None]]
"""Awaited when a call could start. It raises an error such as Halted to prevent it."""


async def allow_call() -> None:
    return


class CallLimiter(Protocol):
    def slot(
        self, workspace: str, account: Account, model: str, before_call: BeforeCall = allow_call
    ) -> AbstractAsyncContextManager[OnAnswer]:
        """Wait until a call may start, await `before_call`, and reserve its slot while it runs. Raise CallPostponed."""
        ...


def ignore_answer(answer: Answer) -> None: ...


@asynccontextmanager
async def no_guard() -> AsyncIterator[OnAnswer]:
    yield ignore_answer
