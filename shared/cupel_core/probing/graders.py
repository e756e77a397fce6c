"""A worker's way to the models beside the one under test: judges, simulated users, embeddings.

Their calls stop with their run. The governor does not count them: it shares out conversations, and these are calls
inside of one.
"""

from collections.abc import Awaitable, Callable
from random import Random

from cupel_core.conversations.turn import PATIENCE_SECONDS, Halted
from cupel_core.grading.concurrency import Seats
from cupel_core.grading.grader import Grader
from cupel_core.grading.graders import Panel
from cupel_core.probing.slice_context import Setting
from cupel_core.providers.completion import Attempt, complete
from cupel_core.settings import settings


class Judges:
    def __init__(self, rng: Random, attempt: Attempt = complete) -> None:
        self._seats = Seats(settings().call_timeout_seconds, PATIENCE_SECONDS, rng, attempt)

    def panel(self, setting: Setting, may_call: Callable[[], Awaitable[bool]]) -> Panel:
        """For one slice; `may_call` is asked before every attempt."""

        async def check() -> None:
            if not await may_call():
                raise Halted

        def grader(model: str) -> Grader:
            account = setting.judges.get(model.partition("/")[0])
            return self._seats.grader(setting.run.workspace, account, model, check)

        return Panel(
            evaluation=setting.run.evaluation,
            grader=grader,
            evaluator_headers=setting.evaluator_headers,
            allow_private=settings().allow_private_endpoints,
        )
