from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import (
    ANY_TIME,
    DEFAULT_LIMIT,
    Creation,
    Entry,
    Page,
    decode_index,
    encode_cursor,
    fill_page,
)
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.limits.provider_status import SuspendedModel
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.run import ACTIVE, Progress, Run, RunStatus
from cupel_core.domain.runs.slices import providers_of
from cupel_core.domain.runs.transcripts import (
    ALL_TRANSCRIPTS,
    Outcome,
    ProbeError,
    Transcript,
    TranscriptFilter,
    readable_at,
)
from cupel_core.domain.runs.views import ProbeView, RunView, TranscriptView
from cupel_core.runs.probe_ranges import probe_ranges
from cupel_core.store import barrier, budgets, governor, outcomes, runs, scenarios, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import State

_ACCESS_PRECISION = timedelta(minutes=1)
# Access times are written in the background: readers do not wait for them, and losing one does no harm.
_background = ThreadPoolExecutor(max_workers=2, thread_name_prefix="access")


def get_run(workspace: str, run_id: str, now: datetime) -> RunView:
    """Return the run with its definition snapshot and suspended models, and record the access. Raise NotFound."""
    ref = RunRef(workspace, run_id)
    stored, last_accessed_at = runs.get_with_access(ref)
    if _is_to_be_noted(last_accessed_at, now):
        _background.submit(runs.note_access, ref, now)
    run = _with_failure_example(stored, now)
    state, snapshot = _state(run), snapshots.find(run.snapshot_key)
    return RunView(
        run=run,
        progress=state.progress,
        spend=state.spend,
        definition_snapshot=snapshot.definition if snapshot else None,
        last_accessed_at=last_accessed_at,
        recorded_at=state.recorded_at,
        suspended_models=_suspended_models(run),
        account=budgets.get(ref) if run.budget else None,
        price_list=snapshot.price_list if snapshot else None,
    )


def get_runs(workspace: str, run_ids: Iterable[str]) -> dict[str, RunView]:
    found = runs.get_many(RunRef(workspace, run_id) for run_id in run_ids)
    accounts = budgets.get_all(ref for ref, run in found.items() if run.budget)
    return {run.id: _list_entry(accounts, run) for run in found.values()}


def _is_to_be_noted(last_accessed_at: datetime | None, now: datetime) -> bool:
    """Return whether to write the time of an access. It is not written each time, as a page reads a run every few
    seconds."""
    return last_accessed_at is None or now - last_accessed_at >= _ACCESS_PRECISION


def _with_failure_example(run: Run, now: datetime) -> Run:
    """Return the run, with the message of the probe that the reason of its failure names."""
    failure = run.failure
    if failure is None or failure.example_probe is None:
        return run
    outcome = outcomes.get(RunRef(run.workspace, run.id), failure.example_probe)
    if not isinstance(outcome, ProbeError):
        return run
    why = f"{failure.why}: {readable_at(outcome, now).message}"
    return replace(run, failure=replace(failure, why=why))


def list_runs(
    workspace: str,
    *,
    definition_id: str | None = None,
    experiment_id: str | None = None,
    schedule_id: str | None = None,
    eval_id: str | None = None,
    status: RunStatus | None = None,
    name: str | None = None,
    tag: str | None = None,
    metadata: Sequence[str] = (),
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
    created: Creation = ANY_TIME,
) -> Page[RunView]:
    """Return a page of runs, newest first unless `created` says otherwise. They have no definition snapshots and
    suspended models, which only `get_run` reads. Raise Invalid for a definition, experiment, schedule or eval that the
    workspace never had."""
    page = runs.list_runs(
        workspace,
        definition_id=definition_id,
        experiment_id=experiment_id,
        schedule_id=schedule_id,
        eval_id=eval_id,
        status=status,
        name=name,
        tag=tag,
        metadata=metadata,
        limit=limit,
        cursor=cursor,
        created=created,
    )
    owners = {"definition": definition_id, "experiment": experiment_id, "schedule": schedule_id, "eval": eval_id}
    if not page.items and any(owners.values()):
        from cupel_core.runs.owners import check_owners  # It imports much, and few lists are empty.

        check_owners(workspace, owners)
    accounts = budgets.get_all(RunRef(workspace, run.id) for run in page.items if run.budget)
    return page.map(partial(_list_entry, accounts))


def _list_entry(accounts: Mapping[RunRef, BudgetAccount], run: Run) -> RunView:
    state, account = _state(run), accounts.get(RunRef(run.workspace, run.id))
    return RunView(run, state.progress, state.spend, None, None, state.recorded_at, account=account)


def progress(run: Run) -> Progress:
    """Return a settled run's stored counts, otherwise those of its barrier."""
    return run.settled or barrier.get_progress(Tree.for_run(run))


def _state(run: Run) -> State:
    if run.settled and run.spend:
        return State(run.settled, run.spend)
    state = barrier.get_state(Tree.for_run(run))
    return state._replace(progress=run.settled or state.progress)


def list_transcripts(
    workspace: str,
    run_id: str,
    *,
    model: str | None = None,
    prompt_id: str | None = None,
    scenario_id: str | None = None,
    wanted: TranscriptFilter = ALL_TRANSCRIPTS,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
    now: datetime,
) -> Iterator[Entry[TranscriptView]]:
    """Yield transcripts by probe index, lazily, about `limit` at a time. With `wanted`, it may end early."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    ranges = probe_ranges(run.plan, model, prompt_id, decode_index(cursor))
    if scenario_id is not None:
        found = wanted.transcripts(_scenario_outcomes(run, scenario_id, ranges))
        entries: Iterator[Entry[Transcript]] = (Entry(encode_cursor(str(each.probe_index)), each) for each in found)
    else:
        entries = outcomes.list_matching(ref, ranges, wanted, page_size=limit)
    return (entry.map(lambda transcript: _transcript_view(run, transcript, now)) for entry in entries)


class FirstTranscripts(NamedTuple):
    """Selects the first `limit` transcripts of a target, a prompt or a scenario, or of all if these are None."""

    run: Run
    model: str | None
    prompt_id: str | None
    scenario_id: str | None
    limit: int

    def indexes(self) -> Sequence[int]:
        ranges = probe_ranges(self.run.plan, self.model, self.prompt_id, 0)
        if self.scenario_id is not None:
            return list(islice(_scenario_indexes(self.run, self.scenario_id, ranges), self.limit))
        return list(islice(chain.from_iterable(ranges), self.limit))


def list_first_transcripts(wanted: Sequence[FirstTranscripts], now: datetime) -> list[list[TranscriptView]]:
    """Return transcripts of many runs with about as few reads as of one: two per hundred runs, and more for errored
    probes."""
    indexes = [each.indexes() for each in wanted]
    read = outcomes.read_many(
        [(RunRef(one.run.workspace, one.run.id), each) for one, each in zip(wanted, indexes, strict=True)]
    )
    return [_first_of(one, each, found, now) for one, each, found in zip(wanted, indexes, read, strict=True)]


def _first_of(
    one: FirstTranscripts, indexes: Sequence[int], read: Sequence[Outcome], now: datetime
) -> list[TranscriptView]:
    found = [each for each in read if isinstance(each, Transcript)]
    if len(found) == one.limit or len(indexes) < one.limit:
        return [_transcript_view(one.run, each, now) for each in found]
    # Some of the first probes have no transcript; later ones may.
    entries = list_transcripts(
        one.run.workspace,
        one.run.id,
        model=one.model,
        prompt_id=one.prompt_id,
        scenario_id=one.scenario_id,
        limit=one.limit,
        now=now,
    )
    return list(fill_page(entries, one.limit).items)


def get_transcript(workspace: str, transcript_id: str, now: datetime) -> TranscriptView:
    """Return the transcript and record the access. Raise NotFound if no completed probe of the workspace has this
    id."""
    unknown = NotFound(f"there is no transcript {transcript_id}")
    located = find_probe(workspace, transcript_id)
    if located is None:
        raise unknown
    run, index = located
    ref = RunRef(workspace, run.id)
    outcome = outcomes.get(ref, index)
    if not isinstance(outcome, Transcript):
        raise unknown
    if _is_to_be_noted(outcome.last_accessed_at, now):
        _background.submit(outcomes.note_access, ref, index, now)
    return _transcript_view(run, outcome, now)


def transcript_of(probe: ProbeView, now: datetime) -> TranscriptView | None:
    """Return None unless the probe is completed."""
    return _transcript_view(probe.run, probe.outcome, now) if isinstance(probe.outcome, Transcript) else None


def find_probe(workspace: str, probe_id: str) -> tuple[Run, int] | None:
    run_id, _, number = probe_id.rpartition("-")
    if not run_id or not (number.isascii() and number.isdigit()):
        return None
    try:
        run = runs.get(RunRef(workspace, run_id))
    except NotFound:
        return None
    return (run, int(number)) if int(number) < run.plan.total else None


def _suspended_models(run: Run) -> tuple[SuspendedModel, ...]:
    if run.status not in ACTIVE:
        return ()
    statuses = governor.get_statuses(run.workspace, providers_of(run.plan)).values()
    return tuple(each for status in statuses for each in status.suspended_models if each.model in run.models)


def _scenario_outcomes(run: Run, scenario_id: str, ranges: Sequence[range]) -> Iterator[Outcome]:
    return outcomes.list_outcomes(RunRef(run.workspace, run.id), _scenario_indexes(run, scenario_id, ranges))


def _scenario_indexes(run: Run, scenario_id: str, ranges: Sequence[range]) -> list[int]:
    cases = snapshots.get(run.snapshot_key).cases(scenario_id)
    indexes = sorted(index for case in cases for index in run.plan.case_indexes(case))
    return [index for index in indexes if any(index in span for span in ranges)]


def _transcript_view(run: Run, transcript: Transcript, now: datetime) -> TranscriptView:
    readable, probe = readable_at(transcript, now), run.plan.probe(transcript.probe_index)
    return TranscriptView(
        id=transcript_id(run.id, transcript.probe_index),
        run_id=run.id,
        column=run.plan.columns[probe.column],
        case=snapshots.get_case(run.snapshot_key, probe.case),
        repeat=probe.repeat,
        transcript=readable,
        definition_snapshot=snapshots.get_definition(run.snapshot_key),
        content_available=bool(readable.messages),
    )


def list_selected_scenarios(run: Run, limit: int, cursor: str | None) -> Page[Scenario]:
    """Return each scenario once, in the order of the definition. There are none if the run's snapshot is gone."""
    snapshot = snapshots.find(run.snapshot_key)
    if snapshot is None:
        return Page(())
    positions = sorted(set(snapshot.scenario_positions))
    following = range(decode_index(cursor), len(positions))
    entries = (
        Entry(encode_cursor(str(each)), scenarios.get_scenario(snapshot.manifest, positions[each]))
        for each in following
    )
    return fill_page(entries, limit)


def find_scenario(run: Run, probe_index: int) -> Scenario | None:
    """Return the scenario of a probe, or None if the run's snapshot is gone."""
    snapshot = snapshots.find(run.snapshot_key)
    return snapshot.scenario(run.plan.probe(probe_index).case) if snapshot else None
