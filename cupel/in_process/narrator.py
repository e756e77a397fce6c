"""The model that writes narratives of the figures of an evaluation, charged to its budget."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from cupel.in_process.answer_cache import CachedCalls, open_cache
from cupel.in_process.budget import EvaluationBudget
from cupel.in_process.event_loops import shared_connections
from cupel.in_process.options import cache_path, cache_ttl_seconds
from cupel.in_process.plan import EvaluationPlan
from cupel.in_process.runner import JUDGE_MAX_WAIT_SECONDS
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import Narrative
from cupel_core.domain.conversations.spend import Spend
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.grader import GraderReply
from cupel_core.scoring.grading.narrative import UNWRITTEN, NarrativeDraft, NarrativeReply, write_narrative


@dataclass
class Narrator:
    """It is asked once about the same figures: replies are remembered, also by the cache if the evaluation has one."""

    model: str
    account: Account
    plan: EvaluationPlan = field(repr=False)
    budget: EvaluationBudget | None
    """Of the evaluation, which has ended."""
    _replies: dict[str, GraderReply[NarrativeReply]] = field(default_factory=dict)

    async def narrative(self, material: Material) -> Narrative:
        """What rules write, with `error`, if the model cannot be called or gives no usable reply."""
        draft = NarrativeDraft.of(self.model, material)
        figures, interrupted = draft.figures, list[Spend]()
        if figures not in self._replies:
            try:
                self._replies[figures] = await self._ask(figures, interrupted)
            except UNWRITTEN as error:
                return draft.without_reply(error, interrupted)
        reply = self._replies[figures]
        return draft.with_reply(reply.value, reply.spend)

    async def _ask(self, figures: str, interrupted: list[Spend]) -> GraderReply[NarrativeReply]:
        options = self.plan.options
        async with shared_connections(), self._paid_calls() as calls:
            with open_cache(cache_path(options), cache_ttl_seconds(options)) as cache:
                cached = CachedCalls(cache, 0, calls) if cache else None
                graders = replace(
                    self.plan.graders,
                    accounts={self.account.provider: self.account},
                    # Those of the evaluation may belong to another event loop.
                    limiter=ConcurrencyLimiter(1),
                    attempt=cached or calls,
                    max_wait_seconds=JUDGE_MAX_WAIT_SECONDS,
                )
                try:
                    return await write_narrative(graders.grader(self.model), figures, interrupted)
                except UNWRITTEN:
                    if cached:
                        cached.delete_grades()
                    raise

    @asynccontextmanager
    async def _paid_calls(self) -> AsyncIterator[Attempt]:
        if self.budget is None:
            yield complete
            return
        async with self.budget.reopened() as budget:
            yield budget.patient_calls.attempt


def narrator_of(plan: EvaluationPlan, budget: EvaluationBudget | None) -> Narrator | None:
    """None without a model for it."""
    model, account = plan.options.get("analysis_model"), plan.narrator_account
    return None if model is None or account is None else Narrator(model, account, plan, budget)
