"""Counts the progress of an evaluation by the rules of `GET /runs/{id}/progress`, and shows it on standard error."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from cupel.in_process.options import EvaluationOptions
from cupel.in_process.plan import EvaluationPlan
from cupel.in_process.probes import as_json
from cupel.json_types import Json
from cupel_core.base.clock import to_iso, utc_now
from cupel_core.contract.progress import DetailedProgressResponse, TargetProgressResponse
from cupel_core.contract.runs import RunSpendResponse
from cupel_core.domain.runs.column_progress import ColumnCounts
from cupel_core.domain.runs.column_samples import ColumnSample
from cupel_core.domain.runs.delays import Delay, DelayReason
from cupel_core.domain.runs.rates import Reading, rates, with_reading
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.runs.run_spend import Cost, RunSpend
from cupel_core.domain.runs.slow_calls import slow_calls
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.domain.runs.views import ColumnProgressView
from cupel_core.providers.attempt_log import AttemptLog

if TYPE_CHECKING:
    from cupel.progress_display import Show
    from cupel.session import PlainTextConsole

_INTERVAL_SECONDS = 0.25


@dataclass(frozen=True)
class _Wait:
    model: str
    until: datetime
    reason: str

    def delay(self) -> Delay:
        provider = self.model.partition("/")[0]
        return Delay(DelayReason.MODEL_SUSPENDED, provider, model=self.model, until=self.until, message=self.reason)


@dataclass
class _ColumnProgress:
    counts: ColumnCounts
    sample: ColumnSample = field(default_factory=ColumnSample)
    cost: Cost = field(default_factory=Cost)
    waits: dict[int, _Wait] = field(default_factory=dict)
    logs: dict[int, AttemptLog] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        if isinstance(outcome, ProbeError):
            self.counts.errored += 1
        else:
            self.counts.completed += 1
        self.sample.add(outcome)
        self.cost += Cost.of(outcome.spending)

    def find_slow_calls(self, now: datetime) -> None:
        calls = ((index, call) for index, log in self.logs.items() for call in log.open_calls)
        self.counts.slow_calls = list(slow_calls(calls, now.timestamp()))

    def delays(self) -> tuple[Delay, ...]:
        if len(self.waits) < self.counts.running:
            return ()
        soonest: dict[str, _Wait] = {}
        for wait in sorted(self.waits.values(), key=lambda each: each.until, reverse=True):
            soonest[wait.model] = wait
        return tuple(map(_Wait.delay, soonest.values()))


class EvaluationProgress:
    """Counts the events of each probe; `read` returns the progress of the evaluation."""

    def __init__(self, plan: EvaluationPlan, started_at: datetime) -> None:
        self.run: Json = {"id": plan.id, "createdAt": to_iso(started_at)}
        self._plan = plan.probe_plan
        self._status = RunStatus.RUNNING
        self._readings: Sequence[Reading] = ()
        self._reset()

    def note_attempts(self, index: int, log: AttemptLog) -> None:
        self._column_of(index).logs[index] = log

    def start(self, index: int) -> None:
        self._column_of(index).counts.running += 1

    def note_wait(self, index: int, model: str, until: datetime | None, reason: str) -> None:
        waits = self._column_of(index).waits
        if until is None:
            waits.pop(index, None)
        else:
            waits[index] = _Wait(model, until, reason)

    def finish(self, outcome: Outcome) -> None:
        column = self._column_of(outcome.probe_index)
        column.counts.running -= 1
        column.logs.pop(outcome.probe_index, None)
        self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        self._column_of(outcome.probe_index).add(outcome)

    def end(self, outcomes: Iterable[Outcome], *, has_failed: bool = False) -> None:
        """Replace the outcomes by the final ones: comparisons have added results and costs."""
        self._reset()
        for outcome in outcomes:
            self.add(outcome)
        completed = sum(each.counts.completed for each in self._columns)
        self._status = RunStatus.COMPLETED if completed and not has_failed else RunStatus.FAILED

    def read(self, now: datetime) -> Json:
        for column in self._columns:
            column.find_slow_calls(now)
        counts = [each.counts for each in self._columns]
        spend = self._spend()
        return as_json(
            DetailedProgressResponse(
                run_id=self.run["id"],
                status=self._status,
                pause_reason=None,
                pause_cause=None,
                exhausted_budget=None,
                read_at=now,
                total=self._plan.total,
                completed=sum(each.completed for each in counts),
                errored=sum(each.errored for each in counts),
                running=sum(each.running for each in counts),
                spend=RunSpendResponse.of(spend, self._plan.columns, as_of=now),
                targets=[
                    TargetProgressResponse.of(view, spend.of_column(number), now)
                    for number, view in enumerate(self._views(now))
                ],
            )
        )

    def _reset(self) -> None:
        total = self._plan.total // len(self._plan.columns)
        self._columns = [_ColumnProgress(ColumnCounts(total)) for _ in self._plan.columns]

    def _column_of(self, index: int) -> _ColumnProgress:
        return self._columns[self._plan.probe(index).column]

    def _views(self, now: datetime) -> list[ColumnProgressView]:
        speeds = self._measure_rates(now)
        return [
            ColumnProgressView(column, each.counts, each.sample, rate, each.delays())
            for column, each, rate in zip(self._plan.columns, self._columns, speeds, strict=True)
        ]

    def _measure_rates(self, now: datetime) -> Sequence[float | None]:
        if self._status is not RunStatus.RUNNING:
            return [None] * len(self._columns)
        current = Reading(now.timestamp(), tuple(each.counts.recorded for each in self._columns))
        before, self._readings = self._readings, with_reading(self._readings, current)
        return rates(before, current)

    def _spend(self) -> RunSpend:
        by_column = {number: each.cost for number, each in enumerate(self._columns)}
        return RunSpend(sum(by_column.values(), Cost()), by_column=by_column)


def progress_console(options: EvaluationOptions) -> "PlainTextConsole | None":
    if not options.get("progress", True):
        return None
    from cupel.session import console

    return console(stderr=True)


@asynccontextmanager
async def shown_progress(progress: EvaluationProgress, console: "PlainTextConsole | None") -> AsyncIterator[None]:
    if console is None:
        yield
        return
    from cupel.progress_display import progress_display

    with progress_display(console, progress.run) as show:
        refreshing = asyncio.create_task(_refresh(progress, show))
        try:
            yield
        finally:
            refreshing.cancel()
            await asyncio.gather(refreshing, return_exceptions=True)
        show(progress.read(utc_now()))


async def _refresh(progress: EvaluationProgress, show: "Show") -> None:
    while True:
        show(progress.read(utc_now()))
        await asyncio.sleep(_INTERVAL_SECONDS)
