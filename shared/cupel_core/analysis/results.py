from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from cupel_core.analysis.basic import read_rows, read_sample
from cupel_core.analysis.judge_accuracy import judge_accuracy
from cupel_core.analysis.tabulate import CountedInputs, counted_inputs, read_available
from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, decode_index, encode_cursor
from cupel_core.domain.analysis.column_totals import MAX_CAUSES, ColumnTotals
from cupel_core.domain.analysis.counts import RunCounts
from cupel_core.domain.analysis.extrapolation import RunSample, extrapolate
from cupel_core.domain.analysis.run_rates import column_estimate
from cupel_core.domain.analysis.run_results import ColumnResults, RunResults
from cupel_core.domain.calibration.judge_accuracy import JudgeAccuracy
from cupel_core.domain.runs.probe_columns import PROBES_PER_BLOCK, ProbeColumns, block_indexes, build_columns
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError, Transcript, readable_at
from cupel_core.domain.scoring.derived_metrics import read_derived_metrics
from cupel_core.domain.scoring.scores import ScenarioScoresView, Scores, column_scores, scenario_scores
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.runs.probe_ranges import check_column
from cupel_core.store import counted_outcomes, outcomes, rescore_results, runs, snapshots

MAX_EXAMPLES = 50


MAX_UNSCORED_EXAMPLES = 50


_FORMAT = "1"
"""The format of the columns is part of their revision, so that a browser's cache never mixes formats."""


def get_results(workspace: str, run_id: str, now: datetime, has_time: Callable[[], bool]) -> RunResults:
    """Return the results so far. If time is short, the next request counts the rest."""
    run = runs.get(RunRef(workspace, run_id))
    inputs = counted_inputs(run)
    available = read_available(inputs, has_time)
    sample, is_over = read_sample(run), inputs.recorded == run.plan.total
    accuracy = judge_accuracy(inputs)
    columns = tuple(
        _column(run, available.counts, number, sample if is_over else None, accuracy.get(number))
        for number in range(len(run.plan.columns))
    )
    messages = _messages(inputs.ref, columns, now)
    return RunResults(run, inputs.recorded, available.is_complete, columns, sample, messages)


def _column(
    run: Run, counts: RunCounts, number: int, sample: RunSample | None, accuracy: JudgeAccuracy | None
) -> ColumnResults:
    plan, estimate = run.plan, column_estimate(counts, number)
    probes = plan.total // len(plan.columns)
    return ColumnResults(
        plan.columns[number],
        probes,
        estimate,
        extrapolate(estimate, sample),
        counts.totals.column(number),
        accuracy,
    )


def _messages(ref: RunRef, columns: tuple[ColumnResults, ...], now: datetime) -> dict[int, str]:
    """Read messages of errors, which are not in the counts because they may quote a conversation.

    A deleted message is replaced by a text that says so.
    """
    examples = sorted({error.first_index for each in columns for error in each.totals.errors.values()})
    found = outcomes.get_many(ref, islice(examples, MAX_EXAMPLES))
    errors = {index: readable_at(error, now).message for index, error in found.items() if isinstance(error, ProbeError)}
    return errors | unscored_messages(ref, (each.totals for each in columns), now)


def unscored_messages(
    ref: RunRef, totals: Iterable[ColumnTotals], now: datetime, rescore_id: str | None = None
) -> dict[int, str]:
    """Return errors of checks by probe index, of the run's own scoring or of a rescore, without those that were erased.

    There is one example for each cause that left answers unscored. Errors may quote a conversation, so they are not in
    the counts and are read when they are shown.
    """
    causes = (cause for each in totals for cause in each.unscored_causes[:MAX_CAUSES])
    indexes = sorted({cause.first_index for cause in causes})[:MAX_UNSCORED_EXAMPLES]
    found = _run_scorings(ref, indexes, now) if rescore_id is None else _rescored(ref, rescore_id, indexes, now)
    messages = ((index, scoring.unscored_error if scoring else None) for index, scoring in found.items())
    return {index: message for index, message in messages if message is not None}


def _run_scorings(ref: RunRef, indexes: Sequence[int], now: datetime) -> dict[int, Scoring | None]:
    found = outcomes.get_many(ref, indexes)
    transcripts = ((index, each) for index, each in found.items() if isinstance(each, Transcript))
    return {index: readable_at(each, now).scoring for index, each in transcripts}


def _rescored(ref: RunRef, rescore_id: str, indexes: Sequence[int], now: datetime) -> dict[int, Scoring | None]:
    found = ((index, rescore_results.find(ref, rescore_id, index)) for index in indexes)
    return {index: each.readable_at(now).scoring for index, each in found if each is not None}


def scores_by_column(
    workspace: str,
    run_id: str,
    *,
    rescore_id: str | None,
    model: str | None,
    prompt_id: str | None,
    k: int | None,
    has_time: Callable[[], bool],
) -> Scores:
    """Return scores by target, then by prompt, or of one of them; without a `rescore_id`, the run's own scoring counts.

    Raises RetryableError if there is no time to count all outcomes; the next call continues.
    """
    run = runs.get(RunRef(workspace, run_id))
    check_column(run.plan, model, prompt_id)
    trials, counts = _trials(run, k), _read(run, rescore_id, has_time)
    derived = read_derived_metrics((snapshots.get_definition(run.snapshot_key) or {}).get("derivedMetrics"))
    numbers = run.plan.columns_of(model, prompt_id)
    columns = tuple(column_scores(column, counts, trials, derived) for column in numbers)
    messages = unscored_messages(
        RunRef(workspace, run_id), (each.totals for each in columns), utc_now(), rescore_id=rescore_id
    )
    return Scores(run, trials, columns, messages)


def scores_by_scenario(
    workspace: str,
    run_id: str,
    *,
    rescore_id: str | None,
    model: str | None,
    prompt_id: str | None,
    k: int | None,
    cursor: str | None,
    has_time: Callable[[], bool],
) -> Iterator[Entry[ScenarioScoresView]]:
    """Yield scores by column, then in the order of the run's scenarios. Scenarios without a transcript are left out."""
    run = runs.get(RunRef(workspace, run_id))
    check_column(run.plan, model, prompt_id)
    trials, counts, start = _trials(run, k), _read(run, rescore_id, has_time), decode_index(cursor)
    rows = read_rows(run, counts)
    for column in run.plan.columns_of(model, prompt_id):
        for position, scores in scenario_scores(column, counts, trials):
            number = column * len(rows) + position
            if number >= start:
                view = ScenarioScoresView(scores, rows[position].id, run.plan.columns[column], rows[position].name)
                yield Entry(encode_cursor(str(number)), view)


def _read(run: Run, rescore_id: str | None, has_time: Callable[[], bool]) -> RunCounts:
    available = read_available(counted_inputs(run, rescore_id), has_time)
    if not available.is_complete:
        raise RetryableError("the outcomes are still being counted; try again", retry_after=1)
    return available.counts


def _trials(run: Run, k: int | None) -> int:
    return run.plan.repeats if k is None else k


@dataclass(frozen=True)
class ColumnBlock:
    inputs: CountedInputs
    block: int

    @property
    def revision(self) -> str | None:
        """Identify the columns without reading them; the result is None while the run goes on."""
        inputs = self.inputs
        is_final = inputs.is_final
        return f"{_FORMAT}-{self.block}-{inputs.revision}-{inputs.run.plan.total}" if is_final else None

    def read(self) -> ProbeColumns:
        plan = self.inputs.run.plan
        indexes = block_indexes(plan, self.block)
        return build_columns(plan, indexes, counted_outcomes.list_run(self.inputs.ref, indexes))


def find_block(workspace: str, run_id: str, block: int) -> ColumnBlock:
    """Find a block. Raises NotFound for an unknown run, and Invalid for a block that it does not have."""
    run = runs.get(RunRef(workspace, run_id))
    last = (run.plan.total - 1) // PROBES_PER_BLOCK
    if block > last:
        raise Invalid.field("block", f"must be at most {last}: the run has {run.plan.total:,} probes")
    return ColumnBlock(counted_inputs(run), block)
