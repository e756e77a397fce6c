"""The models that judge what was already said: bounded for each provider, and not begun when the time is up."""

from collections.abc import Callable, Iterable

from cupel_core.accounts import account
from cupel_core.domain.scoring.assertions import Assertion, flat
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.grading.concurrency import Seats
from cupel_core.grading.grader import Grader
from cupel_core.grading.graders import Panel
from cupel_core.providers.completion import Attempt, complete
from cupel_core.resources.evaluation_settings import evaluator_headers
from cupel_core.settings import settings

CONCURRENT = 50
PATIENCE_SECONDS = 60.0
RESERVE_SECONDS = 5.0
"""To store what was found."""


class TimeIsUp(Exception):
    """A call would not end before the invocation does: what it is for is left to the next one."""


class Bench:
    """The accounts of a workspace's models, read once, since an event loop must not wait for them."""

    def __init__(
        self, workspace: str, models: Iterable[str], seconds_left: Callable[[], float], attempt: Attempt = complete
    ) -> None:
        providers = sorted({model.partition("/")[0] for model in models})
        self._workspace = workspace
        self._accounts = {provider: account(workspace, provider) for provider in providers}
        self._seconds_left = seconds_left
        self._seats = Seats(settings().call_timeout_seconds, PATIENCE_SECONDS, attempt=attempt)

    def panel(self, evaluation: Evaluation) -> Panel:
        """Reads the headers of an evaluator."""
        return Panel(
            evaluation=evaluation,
            grader=self.grader,
            evaluator_headers=evaluator_headers(self._workspace, evaluation),
            allow_private=settings().allow_private_endpoints,
        )

    def grader(self, model: str) -> Grader:
        return self._seats.grader(self._workspace, self._accounts.get(model.partition("/")[0]), model, self._check)

    def check_time(self) -> None:
        if self._seconds_left() < settings().call_timeout_seconds + RESERVE_SECONDS:
            raise TimeIsUp

    async def _check(self) -> None:
        self.check_time()


def models_of(evaluation: Evaluation, assertions: Iterable[Assertion]) -> frozenset[str]:
    """Those that may be asked."""
    named = {evaluation.judge_model, evaluation.embedding_model}
    named.update(assertion.provider for assertion in flat(tuple(assertions)))
    return frozenset(model for model in named if model is not None)
