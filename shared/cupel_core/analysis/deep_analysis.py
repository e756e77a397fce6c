import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from cupel_core.analysis.basic import read_matrix
from cupel_core.analysis.deep.analyze import DeepInput, analyze
from cupel_core.analysis.tabulate import CountedInputs, counted_inputs, read_hashed_counts
from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charged_calls import charged_calls
from cupel_core.budgets.slice_graders import slice_graders, slice_leases
from cupel_core.contract.deep_analysis import DeepAnalysisFigures
from cupel_core.domain.analysis.deep import ALGORITHM_VERSION
from cupel_core.domain.analysis.jobs import Job
from cupel_core.domain.analysis.narrating import material_of, narrate
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import Narrative
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord, AnalysisStatus
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.run import TERMINAL, Run, RunEventType, RunFailure
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.completion import Attempt, complete
from cupel_core.scoring.grading.grader import GraderReply
from cupel_core.scoring.grading.narrative import (
    PROMPT_VERSION,
    UNWRITTEN,
    NarrativeDraft,
    NarrativeReply,
    write_narrative,
)
from cupel_core.store import analyses, runs

STAGES = ("reading", "components", "outliers", "effects", "narrative", "storing")
_SEED_DIGITS = 16


_SECONDS = 900.0


def compute(
    job: Job,
    note_stage: Callable[[str], None],
    seconds_left: Callable[[], float] = lambda: _SECONDS,
    attempt: Attempt = complete,
) -> None:
    """Compute and store the deep analysis.

    Raises NotFound if the run was deleted, and Conflict if it has been resumed since. Repeating it stores the same, as
    long as the run has the same outcomes, and asks no model again that has written the narrative.
    """
    ref = RunRef(job.workspace, job.run_ids[0])
    stored = analyses.find(ref, _record(job, AnalysisStatus.COMPLETED, ""))
    if stored is not None and stored.status is AnalysisStatus.COMPLETED:  # A worker was interrupted after this.
        _announce(ref, stored)
        return
    note_stage("reading")
    inputs = _final_inputs(ref, job.options["rescoreId"])
    counts, inputs_hash = read_hashed_counts(inputs)
    record = _record(job, AnalysisStatus.COMPLETED, inputs.revision, inputs_hash=inputs_hash)
    narrator: str | None = job.options.get("narrator")
    same = None if job.options["force"] else _find_same(record, narrator)
    if same is not None:
        document, record = analyses.read_document(same), replace(record, narrator=same.narrator)
    else:
        matrix = read_matrix(inputs.run, counts)
        missing = inputs.run.plan.total - inputs.recorded
        seed = int(inputs_hash[:_SEED_DIGITS], 16)
        figures = analyze(DeepInput(matrix, seed, missing), note_stage)
        note_stage("narrative")
        columns = inputs.run.plan.columns
        material = material_of(figures, matrix, tuple(column.name for column in columns))
        narrative = (
            narrative_by(narrator, inputs.run, material, seconds_left, attempt) if narrator else narrate(material)
        )
        record = replace(record, narrator=None if narrative.error else narrative.model)
        document = DeepAnalysisFigures.of(figures, columns, narrative).to_json()
    note_stage("storing")
    runs.get(ref)  # Nothing is written for a run that was deleted meanwhile.
    analyses.save(record, document)
    _announce(ref, record)


def fail(job: Job, failure: RunFailure) -> None:
    ref = RunRef(job.workspace, job.run_ids[0])
    run = runs.find(ref)
    if run is not None:
        revision = counted_inputs(run, job.options["rescoreId"]).revision
        analyses.save(_record(job, AnalysisStatus.FAILED, revision, failure=failure))


def _final_inputs(ref: RunRef, rescore_id: str | None) -> CountedInputs:
    run = runs.get(ref)
    if run.status not in TERMINAL:
        raise Conflict(f"the run is {run.status}; it can be deeply analyzed when it has ended")
    return counted_inputs(run, rescore_id)


def _find_same(record: AnalysisRecord, narrator: str | None) -> AnalysisRecord | None:
    newest = analyses.find_newest(RunRef(record.workspace, record.run_id), record.rescore_id, AnalysisKind.DEEP)
    if newest is None or newest.status is not AnalysisStatus.COMPLETED or not newest.has_same_figures(record):
        return None
    return newest if newest.has_narrative_by(narrator) else None


def _announce(ref: RunRef, record: AnalysisRecord) -> None:
    """Append the event before the job is ended: a crash in between repeats the event instead of losing it."""
    data: dict[str, object] = {"analysisId": record.id, "kind": record.kind}
    runs.append_event(ref, RunEventType.ANALYSIS_FINISHED, utc_now(), data)


def _record(
    job: Job,
    status: AnalysisStatus,
    revision: str,
    *,
    inputs_hash: str | None = None,
    failure: RunFailure | None = None,
) -> AnalysisRecord:
    """Return a record with the job's time of creation, so that a repeated delivery stores the same record."""
    return AnalysisRecord(
        id=job.result_id,
        workspace=job.workspace,
        run_id=job.run_ids[0],
        kind=AnalysisKind.DEEP,
        status=status,
        revision=revision,
        algorithm_version=ALGORITHM_VERSION,
        created_at=job.created_at,
        rescore_id=job.options["rescoreId"],
        inputs_hash=inputs_hash,
        failure=failure,
    )


def narrative_by(
    model: str, run: Run, material: Material, seconds_left: Callable[[], float], attempt: Attempt = complete
) -> Narrative:
    """Return the model's narrative. If the model cannot be called or gives no usable reply, rules write it with
    `error`."""
    draft = NarrativeDraft.of(model, material)
    interrupted: list[Spend] = []
    try:
        reply, spend = _reply(model, run, draft.figures, seconds_left, attempt, interrupted)
    except UNWRITTEN as error:
        return draft.without_reply(error, interrupted)
    return draft.with_reply(reply, spend)


def _reply(
    model: str,
    run: Run,
    figures: str,
    seconds_left: Callable[[], float],
    attempt: Attempt,
    interrupted: list[Spend],
) -> tuple[NarrativeReply, Spend]:
    ref, made_from = RunRef(run.workspace, run.id), [PROMPT_VERSION, model, figures]
    key = sha256(json.dumps(made_from).encode()).hexdigest()[:24]
    stored = analyses.find_narrative(ref, key)
    if stored is not None:
        found = json.loads(stored)
        return NarrativeReply.model_validate(found["reply"]), decode(Spend, found["spend"])
    asked = event_loop.run(_ask(model, run, figures, key, seconds_left, attempt, interrupted))
    return asked.value, asked.spend


def _store(run: Run, key: str, asked: GraderReply[NarrativeReply]) -> None:
    ref = RunRef(run.workspace, run.id)
    runs.get(ref)  # Nothing is written for a run that was deleted meanwhile.
    document = {"reply": asked.value.model_dump(mode="json", by_alias=True), "spend": encode(asked.spend)}
    analyses.save_narrative(ref, key, json.dumps(document).encode())


async def _ask(
    model: str,
    run: Run,
    figures: str,
    key: str,
    seconds_left: Callable[[], float],
    attempt: Attempt,
    interrupted: list[Spend],
) -> GraderReply[NarrativeReply]:
    """Ask the model. The reply is stored before its budget is settled, so that no later failure pays for it again."""
    async with (
        slice_leases(seconds_left, run.priority) as leases,
        charged_calls(run, attempt, seconds_left, leases) as charged,
    ):
        graders = await asyncio.to_thread(
            slice_graders, run.workspace, GraderConfig(), (model,), seconds_left, leases, charged
        )
        asked = await write_narrative(graders.grader(model), figures, interrupted)
        await asyncio.to_thread(_store, run, key, asked)
    return asked
