"""Runs the conversations of an evaluation concurrently, with the same loop as the workers of a stack."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

from cupel.in_process.answer_cache import AnswerCache, CachedCalls
from cupel.in_process.budget import WAIT_SECONDS, EvaluationBudget
from cupel.in_process.model_waits import PATIENCE_SECONDS, ModelWaits, OnWait, PatientLimiter, ignore_wait
from cupel.in_process.plan import EvaluationPlan
from cupel.in_process.probes import Probe, ProbeResult
from cupel.in_process.progress import EvaluationProgress
from cupel.in_process.saved_outcomes import OutcomeFile
from cupel.in_process.selections import run_selections
from cupel_core.base.clock import utc_now
from cupel_core.budgets.patient_calls import budget_error
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.conversations.outcomes import MAX_ERROR_LENGTH, probe_error
from cupel_core.conversations.runner import run_conversation
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.definitions.definitions import DecisionMethod
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.runs.unusable_judges import JudgeWatch
from cupel_core.domain.text.storable import storable
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.embeddings import embed
from cupel_core.providers.errors import RetryLater
from cupel_core.scoring.grading.decisions import DecisionJudge, judge_summary, without_judge
from cupel_core.scoring.grading.grader import failed_call
from cupel_core.scoring.grading.graders import GraderFactory

JUDGE_MAX_WAIT_SECONDS = PATIENCE_SECONDS
"""A judge's call waits in place this long: within one process, no other worker could take it over."""


@dataclass
class MemoryCheckpoints:
    """Stores the checkpoint of one conversation, from which it resumes after waiting for a provider."""

    state: ConversationState | None = None

    async def load(self) -> ConversationState | None:
        return self.state

    async def save(self, state: ConversationState) -> None:
        self.state = state


@dataclass
class EvaluationRunner:
    plan: EvaluationPlan
    progress: EvaluationProgress
    executor: Executor
    file: OutcomeFile | None = None
    cache: AnswerCache | None = None
    budget: EvaluationBudget | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    waits: ModelWaits = field(default_factory=ModelWaits)
    has_failed: bool = False
    """True if an exception, such as a callback's, ends the evaluation: no further probe starts."""
    why_stopped: str | None = None
    """Says why probes were not run, and is None if all were, whatever their judge replied."""

    async def run(self) -> tuple[ProbeResult, ...]:
        """Run all probes. An exception of a callback ends the evaluation and is raised; no further call is made."""
        saved = self.plan.saved
        self.outcomes |= saved.transcripts if saved else {}
        for outcome in list(self.outcomes.values()):
            self.progress.add(outcome)
            await _notify(self.plan.options.get("on_status"), self._probe_of(outcome), ProbeStatus.COMPLETED)
        missing = [index for index in range(self.plan.probe_plan.total) if index not in self.outcomes]
        indexes, count = iter(missing), min(2 * self.plan.max_concurrency, len(missing))
        await _gather_or_cancel(asyncio.create_task(self._run_probes(indexes)) for _ in range(count))
        await run_selections(self.plan, self.outcomes, self.file, self._selection_graders)
        self.progress.end(self.outcomes.values(), has_failed=self.why_stopped is not None)
        return tuple(ProbeResult(self._probe_of(each), each) for _, each in sorted(self.outcomes.items()))

    def _selection_graders(self, index: int) -> GraderFactory:
        calls = self._cached(self._patient_calls, self.plan.probe(index).repeat)
        return self._graders(calls, max_wait_seconds=JUDGE_MAX_WAIT_SECONDS)

    def _graders(self, calls: Attempt, on_wait: OnWait = ignore_wait, **changes: Any) -> GraderFactory:
        limiter = PatientLimiter(self.plan.graders.limiter, self.waits, on_wait)
        return replace(self.plan.graders, attempt=calls, limiter=limiter, log=AttemptLog(), **changes)

    @cached_property
    def judges(self) -> JudgeWatch:
        return JudgeWatch(self.plan.probe_plan.total)

    @property
    def _patient_calls(self) -> Attempt:
        return self.budget.patient_calls.attempt if self.budget else complete

    def _patient(self, calls: Attempt) -> Attempt:
        return replace(calls, attempt=self._patient_calls) if isinstance(calls, CachedCalls) else self._patient_calls

    def _cached(self, calls: Attempt, repeat: int) -> Attempt:
        return CachedCalls(self.cache, repeat, calls) if self.cache else calls

    def _probe_of(self, outcome: Outcome) -> Probe:
        return self.plan.probe(outcome.probe_index, outcome.retry_round)

    async def _run_probes(self, indexes: Iterator[int]) -> None:
        while True:
            async with self._slots:
                index = next(indexes, None)
                if index is None or self.has_failed:
                    return
                try:
                    await self._run_and_record(index)
                except BaseException:  # Its slot is free before the others are cancelled.
                    self.has_failed = True
                    raise

    async def _run_and_record(self, index: int) -> None:
        on_status, probe = self.plan.options.get("on_status"), self.plan.probe(index)
        self.progress.start(index)
        await _notify(on_status, probe, ProbeStatus.RUNNING)
        await _notify(self.plan.options.get("on_start"), probe)
        why_stopped = self.judges.why_stopped
        outcome = await self._run_probe(probe) if why_stopped is None else self._not_run(probe, why_stopped)
        self.outcomes[index] = outcome
        self.judges.add(outcome)
        self.progress.finish(outcome)
        if self.file is not None:
            self.file.record(outcome)
        if isinstance(outcome, ProbeError):
            await _notify(on_status, probe, ProbeStatus.ERROR)
            await _notify(self.plan.options.get("on_error"), probe, outcome)
        else:
            await _notify(on_status, probe, ProbeStatus.COMPLETED)
            await _notify(self.plan.options.get("on_complete"), probe, outcome)

    def _not_run(self, probe: Probe, why: str) -> ProbeError:
        """Return the outcome of a probe without a call, because its judge would give no verdict on the answer."""
        self.why_stopped = why
        return ProbeError(
            probe_index=probe.index,
            scenario_id=probe.scenario.id,
            model_id=probe.column.target.model,
            code=ProbeErrorCode.JUDGE_ERROR,
            message=storable(f"not run: {why}", MAX_ERROR_LENGTH),
            attempts=0,
            created_at=utc_now(),
            persona_id=probe.persona.id if probe.persona else None,
            retry_round=self.plan.retry_round,
        )

    async def _run_probe(self, probe: Probe) -> Outcome:
        calls = self._cached(self.budget.calls.attempt if self.budget else complete, probe.repeat)
        outcome = await self._run_conversation(probe, calls)
        rules = self.plan.definition.content.decision
        if rules is not None and isinstance(outcome, Transcript) and not outcome.is_summarized:
            outcome = replace(outcome, summary=await self._summarize(rules, outcome, self._patient(calls)))
        if isinstance(calls, CachedCalls) and not is_fully_graded(outcome):
            calls.delete_grades()
        return outcome

    async def _run_conversation(self, probe: Probe, calls: Attempt) -> Outcome:
        target = self.plan.target_of(probe).target(self.plan.settings, self.executor, calls)
        on_wait = partial(self.progress.note_wait, probe.index)
        guard = partial(PatientLimiter(self.plan.graders.limiter, self.waits, on_wait).target, target.model)
        target = replace(target, files=self.plan.definition.files, guard=guard, sleep=self._pause)
        embed_attempt = self.budget.calls.embed if self.budget else embed
        graders = self._graders(calls, on_wait, embed_attempt=embed_attempt)
        self.progress.note_attempts(probe.index, graders.log)
        spec = self.plan.conversation_spec(probe, graders, self.executor)
        checkpoints = MemoryCheckpoints()
        unstarted, waited_seconds = ConversationState((), started_at=utc_now()), 0.0
        while True:
            try:
                return await run_conversation(spec, target, checkpoints, utc_now, None)
            except RetryLater as wait:
                if waited_seconds >= PATIENCE_SECONDS:
                    return probe_error(spec, target.model, wait, utc_now(), None, checkpoints.state or unstarted)
                waited_seconds += wait.retry_after_seconds
                until = utc_now() + timedelta(seconds=wait.retry_after_seconds)
                on_wait(wait.model or target.model, until, wait.words)
                await self._pause(wait.retry_after_seconds)
                on_wait(wait.model or target.model, None, "")
            except BudgetShortage as shortage:
                if shortage.exhausted is not None and self.budget is not None:
                    error = budget_error(shortage, self.budget.max_usd)
                    return probe_error(spec, target.model, error, utc_now(), None, checkpoints.state or unstarted)
                await self.sleep(WAIT_SECONDS)

    @cached_property
    def _slots(self) -> asyncio.Semaphore:
        return asyncio.Semaphore(self.plan.max_concurrency)

    async def _pause(self, seconds: float) -> None:
        self._slots.release()
        try:
            await self.sleep(seconds)
        finally:
            await self._slots.acquire()

    async def _summarize(self, rules: DecisionMethod, transcript: Transcript, calls: Attempt) -> Summary:
        model = rules.judged_by(self.plan.grader_config.judge_model)
        if model is None:
            raise ValueError("only the transcripts of a definition with a judge can lack a final summary")
        graders = self._graders(calls, max_wait_seconds=JUDGE_MAX_WAIT_SECONDS)
        judge = DecisionJudge(graders.grader(model), rules.rubric)
        try:
            return await judge_summary(judge, transcript, utc_now)
        except RetryLater as wait:
            return without_judge(transcript, wait.detail, utc_now(), failed_call(wait.code, model))


def is_fully_graded(outcome: Outcome) -> bool:
    """Return whether every judge and simulated user gave a usable reply, so that each may be used again."""
    if isinstance(outcome, ProbeError):
        return False
    summarized = outcome.summary is None or outcome.summary.error is None
    return summarized and not (outcome.scoring and any(result.error for result in outcome.scoring.results))


async def _notify(callback: Callable[..., object] | None, *arguments: object) -> None:
    returned = callback(*arguments) if callback else None
    if isinstance(returned, Awaitable):
        await returned


async def _gather_or_cancel(started: Iterator[asyncio.Task[None]]) -> None:
    tasks = list(started)
    if not tasks:
        return
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
