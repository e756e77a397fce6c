"""The conversations of an evaluation, many at a time, held by the very loop that the stack's workers hold them by."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from cupel.in_process.plan import Order
from cupel.in_process.probes import Probe, ProbeResult
from cupel.in_process.selections import hold_contests
from cupel_core.clock import utc_now
from cupel_core.conversations.runner import hold
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.scoring.decisions import OTHER
from cupel_core.domain.turns.conversation import Dialogue
from cupel_core.grading.decisions import Judge, decide
from cupel_core.providers.errors import PleaseWait, ProviderError

MOST_WAITS = 10
"""Of one probe, each as long as the provider asks for; then it is an error."""
JUDGE_PATIENCE_SECONDS = 60.0


@dataclass
class Memory:
    """Of one conversation: whoever waits for a provider goes on with what was paid for."""

    dialogue: Dialogue | None = None

    async def recall(self) -> Dialogue | None:
        return self.dialogue

    async def keep(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue


@dataclass
class Holding:
    order: Order
    threads: Executor
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    async def results(self) -> tuple[ProbeResult, ...]:
        """What a callback raises ends it: no further call is made, and the caller is told."""
        indexes = iter(range(self.order.plan.total))
        count = min(self.order.max_concurrency, self.order.plan.total)
        await _all_or_none(asyncio.create_task(self._work(indexes)) for _ in range(count))
        await hold_contests(self.order, self.outcomes)
        return tuple(ProbeResult(self.order.probe(index), self.outcomes[index]) for index in sorted(self.outcomes))

    async def _work(self, indexes: Iterator[int]) -> None:
        """One of those who share the probes out among them."""
        options = self.order.options
        on_status = options.get("on_status")
        for index in indexes:
            probe = self.order.probe(index)
            await _tell(on_status, probe, ProbeStatus.RUNNING)
            await _tell(options.get("on_start"), probe)
            outcome = self.outcomes[index] = await self._outcome(probe)
            if isinstance(outcome, ProbeError):
                await _tell(on_status, probe, ProbeStatus.ERROR)
                await _tell(options.get("on_error"), probe, outcome)
            else:
                await _tell(on_status, probe, ProbeStatus.COMPLETED)
                await _tell(options.get("on_complete"), probe, outcome)

    async def _outcome(self, probe: Probe) -> Outcome:
        held = await self._held(probe)
        if isinstance(held, Transcript) and held.summary is None:
            return replace(held, summary=await self._summary(held))
        return held

    async def _held(self, probe: Probe) -> Outcome:
        known = next(each for each in self.order.targets if each.name == probe.target)
        target = known.target(self.order.call_timeout_seconds, self.threads)
        task, memory = self.order.task(probe), Memory()
        waits = 0
        while True:
            try:
                return await hold(task, target, memory, utc_now, None)
            except PleaseWait as wait:
                waits += 1
                if waits > MOST_WAITS:
                    return _given_up(probe, wait)
                await self.sleep(wait.retry_after_seconds)

    async def _summary(self, transcript: Transcript) -> Summary:
        """By the definition's own judge, for what no pattern could tell."""
        rules = self.order.subject.content.decision
        if rules is None or rules.judge_model is None or rules.rubric is None:
            raise ValueError("only a definition with a judge leaves a transcript without a summary")
        judge = Judge(self.order.grader(rules.judge_model, JUDGE_PATIENCE_SECONDS), rules.rubric)
        try:
            verdict = (await decide(judge, transcript.messages)).value
        except (ProviderError, PleaseWait) as error:
            return Summary(OTHER, "", utc_now(), error=error.detail)
        return Summary(verdict.decisionCode, verdict.decisionText, utc_now())


async def _tell(callback: Callable[..., object] | None, *what: object) -> None:
    told = callback(*what) if callback else None
    if isinstance(told, Awaitable):
        await told


def _given_up(probe: Probe, wait: PleaseWait) -> ProbeError:
    return ProbeError(
        probe_index=probe.index,
        scenario_id=probe.scenario.id,
        model_id=probe.target,
        code=wait.code,
        message=wait.detail,
        attempts=wait.attempts,
        created_at=utc_now(),
        persona_id=probe.persona.id if probe.persona else None,
    )


async def _all_or_none(work: Iterator[asyncio.Task[None]]) -> None:
    """The first that fails, and a cancellation from outside, ends the others."""
    tasks = list(work)
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
