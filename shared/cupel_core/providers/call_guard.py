"""What surrounds each attempt of a model call: it waits until the call may start, and learns how it ended."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from cupel_core.domain.conversations.model_request import ExhaustedAllowance, Usage
from cupel_core.providers.account import Account


class Answer(Protocol):
    """What a limit needs to know of a successful call."""

    @property
    def usage(self) -> Usage | None: ...

    @property
    def exhausted_allowance(self) -> ExhaustedAllowance | None: ...


type OnAnswer = Callable[[Answer], None]
"""To be called with the answer; an attempt that failed raises a ProviderError instead."""
type CallGuard = Callable[[], AbstractAsyncContextManager[OnAnswer]]
"""Surrounds one attempt; may raise to prevent it."""
type BeforeCall = Callable[[], Awaitable[None]]
"""Awaited when a call could start; raises to prevent it, such as Halted."""


async def allow_call() -> None:
    return


class CallLimiter(Protocol):
    """Decides when calls to an account may start."""

    def slot(
        self, workspace: str, account: Account, model: str, before_call: BeforeCall = allow_call
    ) -> AbstractAsyncContextManager[OnAnswer]:
        """Wait until a call may start, await `before_call`, and hold its place while it runs. Raises CallPostponed."""
        ...


def ignore_answer(answer: Answer) -> None:
    """For limits that do not depend on answers."""


@asynccontextmanager
async def no_guard() -> AsyncIterator[OnAnswer]:
    yield ignore_answer
