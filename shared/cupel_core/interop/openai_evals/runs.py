"""Runs evals. Rows of data become the scenarios of a version of the definition, and the run is an ordinary one.

Runs of equal data share a version, so their scenarios can be compared in pairs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import batched, islice
from typing import Any, NamedTuple

from cupel_core.analysis.results import get_results
from cupel_core.base.errors import AppError, Conflict, FieldError, Invalid, NotFound, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import MAX_LIMIT
from cupel_core.contract.openai_evals import (
    MAX_ROWS,
    CreateOpenAIEvalRun,
    StoredAnswers,
)
from cupel_core.definitions import catalog, resolve
from cupel_core.domain.analysis.run_results import RunResults
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.openai_evals.rows import (
    ITEM,
    Row,
    data_digest,
)
from cupel_core.domain.runs.labels import LabelChanges
from cupel_core.domain.runs.run import Run, RunStatus, StartedBy
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_templates import SAMPLE
from cupel_core.interop.openai_evals import evals, stored_answers
from cupel_core.interop.openai_evals.evals import OpenAIEval
from cupel_core.interop.openai_evals.run_requests import (
    build_scenarios,
    check_judges,
    check_rows,
    read_rows,
    source_of,
    target_of,
)
from cupel_core.runs import control, erasure, start
from cupel_core.store import definition_runs, definition_scenarios, openai_evals, runs, scenarios, snapshots
from cupel_core.store.openai_evals import DataRecord

JUDGE_FIELDS = ("judge_model", "persona_model")
_MAX_ATTEMPTS = 5
_FIELDS = {"models.0": "data_source.model", "targets.0.model": "data_source.model"}
_PARAMS = "targets.0.params"

STATUSES: Mapping[RunStatus, str] = {
    RunStatus.PENDING: "queued",
    RunStatus.RUNNING: "in_progress",
    RunStatus.PAUSED: "in_progress",
    RunStatus.SUMMARIZING: "in_progress",
    RunStatus.COMPLETED: "completed",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "canceled",
}


class OpenAIRun(NamedTuple):
    eval_id: str
    run: Run
    assertions: Sequence[Assertion]
    """The assertions are those of the evaluated version of the definition, which may have been changed since."""
    results: RunResults | None
    data: DataRecord
    rows: Sequence[Row]

    @property
    def is_recorded(self) -> bool:
        """Return whether the answers are in the data, so that no model is asked."""
        return self.data.is_recorded


def create(
    workspace: str,
    eval_id: str,
    body: CreateOpenAIEvalRun,
    idempotency_key: str | None,
    now: datetime,
    started_by: StartedBy,
) -> OpenAIRun:
    """Start a run. Raises Invalid, naming the invalid fields, and the errors of starting a run."""
    evaluation = evals.get(workspace, eval_id)
    request = f"{eval_id}\n{body.model_dump_json(by_alias=True)}"
    if idempotency_key is not None and (first := start.find_started(workspace, idempotency_key, request, now)):
        return _read(evaluation, first.run)
    check_judges(workspace, evaluation)

    def start_run(definition_id: str, rows: Sequence[Row]) -> Run:
        check_rows(workspace, evaluation, body, rows)
        target, built, source = target_of(body), build_scenarios(body, rows), source_of(body)
        data = DataRecord(source, data_digest(source, rows), None if definition_id == eval_id else eval_id)
        spec = RunSpec(
            definition_id=definition_id,
            targets=(target,),
            disabled_graders=JUDGE_FIELDS,
            labels=LabelChanges(name=body.name, metadata=body.metadata),
        )
        for _ in range(_MAX_ATTEMPTS):
            version = _version_of(workspace, definition_id, data, built, now)
            versioned = replace(spec, definition_version=version.number)
            try:
                return start.start(
                    workspace, versioned, idempotency_key, now, started_by, request, version.unstored
                ).run
            except _VersionTaken:
                continue
            except start.UnknownDefinition:
                raise NotFound(f"there is no definition {definition_id}") from None
            except Invalid as error:
                raise _with_request_fields(error) from None
        raise RetryableError("the eval is being changed by others; try again")

    source = body.data_source.source
    if isinstance(source, StoredAnswers):
        return _read(evaluation, _start_over_answers(workspace, evaluation, source, start_run, now))
    return _read(evaluation, start_run(eval_id, read_rows(workspace, body)))


def _start_over_answers(
    workspace: str,
    evaluation: OpenAIEval,
    source: StoredAnswers,
    start_run: Callable[[str, Sequence[Row]], Run],
    now: datetime,
) -> Run:
    selection = stored_answers.select(evaluation, workspace, source, now)
    definition_id = stored_answers.make_definition(evaluation, workspace, selection, now)
    try:
        definition_runs.add_definition(workspace, evaluation.id, definition_id, now)
        if not (rows := stored_answers.read_rows(selection)):
            raise NotFound("none of the answers is left")
        return start_run(definition_id, rows)
    except AppError as error:
        erasure.erase_made_definition(RunRef(workspace, definition_id), now)
        if isinstance(error, NotFound):  # The definition was deleted with an answer.
            why = "has answers that were deleted meanwhile; send the request again for those that are left"
            raise Invalid.field(stored_answers.SOURCE_FIELD, why) from None
        raise


def get(workspace: str, eval_id: str, run_id: str, now: datetime, has_time: Callable[[], bool]) -> OpenAIRun:
    """Return a run. Raises NotFound for an unknown run, and for a run of another eval."""
    run = find(workspace, eval_id, run_id)
    return _read(evals.get(workspace, eval_id), run, _results(run, now, has_time))


def find(workspace: str, eval_id: str, run_id: str) -> Run:
    evals.get(workspace, eval_id)
    run = runs.get(RunRef(workspace, run_id))
    if eval_id not in (run.definition_id, _data_of(run).eval_id):
        raise NotFound(f"eval {eval_id} has no run {run_id}")
    return run


def list_runs(
    workspace: str,
    eval_id: str,
    after: str | None,
    limit: int,
    *,
    oldest_first: bool,
    status: str | None,
    now: datetime,
    has_time: Callable[[], bool],
) -> Iterator[OpenAIRun]:
    """Yield the runs after `after`, without rows, read lazily about `limit` at a time.

    Raises RetryableError if there is no time for the next one.
    """
    evaluation = evals.get(workspace, eval_id)
    assertions: dict[tuple[str, int], Sequence[Assertion]] = {}
    start = None if after is None else find(workspace, eval_id, after)
    page_size = limit + 1 if status is None else MAX_LIMIT
    for run in _all_runs(workspace, eval_id, start, page_size, oldest_first=oldest_first):
        if not has_time():
            raise RetryableError("there was no time to read more runs; try again")
        if status in (None, STATUSES[run.status]):
            version = (run.definition_id, run.definition_version)
            if version not in assertions:
                assertions[version] = _assertions(evaluation, run)
            yield OpenAIRun(eval_id, run, assertions[version], _results(run, now, has_time), _data_of(run), ())


def cancel(workspace: str, eval_id: str, run_id: str, now: datetime, has_time: Callable[[], bool]) -> OpenAIRun:
    """Cancel a run. Raises Conflict if it has completed or failed, or is being summarized."""
    find(workspace, eval_id, run_id)
    control.cancel(workspace, run_id, now)
    return get(workspace, eval_id, run_id, now, has_time)


def delete(workspace: str, eval_id: str, run_id: str, now: datetime) -> None:
    run = find(workspace, eval_id, run_id)
    erasure.delete_run(workspace, run_id, now)
    if run.definition_id != eval_id:
        erasure.erase_made_definition(RunRef(workspace, run.definition_id), now)


def _all_runs(workspace: str, eval_id: str, after: Run | None, page_size: int, *, oldest_first: bool) -> Iterator[Run]:
    ids = definition_runs.list_ids(workspace, eval_id, after, page_size, oldest_first=oldest_first)
    for batch in batched(ids, page_size):
        refs = [RunRef(workspace, run_id) for run_id in _run_ids(workspace, batch)]
        found = runs.get_many(refs)
        yield from (found[ref] for ref in refs if ref in found)


def _run_ids(workspace: str, ids: Iterable[str]) -> Iterator[str]:
    for each in ids:
        if each.startswith("def_"):
            yield from islice(definition_runs.list_ids(workspace, each, None, 1, oldest_first=True), 1)
        else:
            yield each


class _VersionTaken(Conflict):
    """The definition was changed since the version was prepared."""


class _DataVersion(NamedTuple):
    number: int
    unstored: start.UnstoredDefinition | None = None


def _version_of(
    workspace: str, eval_id: str, data: DataRecord, built: Sequence[Scenario], now: datetime
) -> _DataVersion:
    """Return the latest version if it has this data, or a new one, which is stored once a run of it can start."""
    current = definition_scenarios.get_current(workspace, eval_id)
    latest = openai_evals.find_data(workspace, eval_id, current.head.version)
    if latest is not None and latest.digest == data.digest and current.manifest.total:
        return _DataVersion(current.head.version)
    manifest = scenarios.write_pages(workspace, eval_id, current.manifest, built, replace=True)
    number = current.head.version + (1 if current.manifest.total else 0)

    def store() -> None:
        try:
            extra = openai_evals.data_creation(workspace, eval_id, number, data)
            definition_scenarios.commit(workspace, current, manifest, now, extra)
        except Conflict:
            raise _VersionTaken("the eval was changed at the same time") from None

    resolved = resolve(workspace, eval_id)._replace(version=number, manifest=manifest)
    return _DataVersion(number, start.UnstoredDefinition(resolved, store))


def _with_request_fields(error: Invalid) -> Invalid:
    return Invalid.fields(map(_request_error, error.errors)) if error.errors else error


def _request_error(error: FieldError) -> FieldError:
    if error.field == "config.embeddingModel":
        return FieldError("eval_id", "uses the metric cosine: set embeddingModel in the workspace's settings")
    if error.field.startswith(_PARAMS):
        return FieldError("data_source.sampling_params", error.message)
    return FieldError(_FIELDS.get(error.field, error.field), error.message)


def _read(evaluation: OpenAIEval, run: Run, results: RunResults | None = None) -> OpenAIRun:
    data = _data_of(run)
    rows = rows_of(run) if data.source["source"]["type"] == "file_content" else ()
    return OpenAIRun(evaluation.id, run, _assertions(evaluation, run), results, data, rows)


def _assertions(evaluation: OpenAIEval, run: Run) -> Sequence[Assertion]:
    if (run.definition_id, run.definition_version) == (evaluation.id, evaluation.version):
        return evaluation.content.assertions
    return catalog.get(run.workspace, run.definition_id, run.definition_version).content.assertions


def _data_of(run: Run) -> DataRecord:
    found = openai_evals.find_data(run.workspace, run.definition_id, run.definition_version)
    return found or DataRecord({"type": "completions", "source": {"type": "file_content"}})


def rows_of(run: Run) -> list[Row]:
    """Return the rows of a run's data, read from its scenarios; at most MAX_ROWS of a run that was started in Cupel."""
    try:
        snapshot = snapshots.get(run.snapshot_key)
    except NotFound:
        return []
    positions = snapshot.scenario_positions[:MAX_ROWS]
    listed = (scenarios.get_scenario(snapshot.manifest, position) for position in positions)
    return [_row(scenario.variables) for scenario in listed]


def _row(variables: Mapping[str, Any]) -> Row:
    item = variables.get(ITEM)
    row = {ITEM: item if isinstance(item, dict) else dict(variables)}
    return {**row, SAMPLE: variables[SAMPLE]} if variables.get(SAMPLE) else row


def _results(run: Run, now: datetime, has_time: Callable[[], bool]) -> RunResults | None:
    return None if run.status is RunStatus.PENDING else get_results(run.workspace, run.id, now, has_time)
