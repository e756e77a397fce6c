"""A worker's way to the models beside the one under test: judges, simulated users, embeddings.

Their calls are bounded by worker and provider and stop with their run. The governor does not count them: it shares out
conversations, and these are calls inside of one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random

from shared.domain.conversation import Conversation, Reply
from shared.errors import Invalid
from shared.judging.asking import Grader
from shared.judging.panel import Panel
from shared.probing.setting import Setting
from shared.providers.account import Account
from shared.providers.complete import Attempt, complete
from shared.settings import settings
from shared.turns.turn import PATIENCE_SECONDS, Halted

MOST_AT_A_TIME = 50


class Judges:
    def __init__(self, rng: Random, attempt: Attempt = complete) -> None:
        self._rng = rng
        self._attempt = attempt
        self._slots: dict[tuple[str, str], asyncio.Semaphore] = {}

    def panel(self, setting: Setting, may_call: Callable[[], Awaitable[bool]]) -> Panel:
        """For one slice; `may_call` is asked before every attempt."""
        return Panel(
            evaluation=setting.run.evaluation,
            grader=partial(self._grader, setting, may_call),
            evaluator_headers=setting.evaluator_headers,
            allow_private=settings().allow_private_endpoints,
        )

    def _grader(self, setting: Setting, may_call: Callable[[], Awaitable[bool]], model: str) -> Grader:
        account = setting.judges.get(model.partition("/")[0])
        if account is None:
            raise Invalid(f"{model} is no model of a provider that Cupel knows")
        slots = self._slots_of(setting.run.workspace, account)
        return Grader(
            account=account,
            model=model,
            timeout_seconds=settings().call_timeout_seconds,
            patience_seconds=PATIENCE_SECONDS,
            rng=self._rng,
            attempt=partial(self._call, slots, may_call),
        )

    def _slots_of(self, workspace: str, account: Account) -> asyncio.Semaphore:
        key = (workspace, account.provider)
        if key not in self._slots:
            self._slots[key] = asyncio.Semaphore(min(MOST_AT_A_TIME, account.max_parallel_requests))
        return self._slots[key]

    async def _call(
        self,
        slots: asyncio.Semaphore,
        may_call: Callable[[], Awaitable[bool]],
        account: Account,
        model: str,
        conversation: Conversation,
        timeout_seconds: float,
    ) -> Reply:
        async with slots:
            if not await may_call():
                raise Halted
            return await self._attempt(account, model, conversation, timeout_seconds)
