"""Queues deep analyses. Each has a job whose id follows from the outcomes and from the analysis that it replaces."""

import json
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from cupel_core.analysis.basic import is_current
from cupel_core.analysis.tabulate import CountedInputs, counted_inputs
from cupel_core.base.errors import Conflict, named_in_body
from cupel_core.base.messages import JobRequest, RunRef
from cupel_core.domain.analysis.deep import ALGORITHM_VERSION
from cupel_core.domain.analysis.jobs import Job, JobKind, job_id_of
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord
from cupel_core.domain.runs.run import TERMINAL
from cupel_core.resources.evaluation_settings import get_settings
from cupel_core.store import analyses, jobs, queues, runs
from cupel_core.store.settings import settings

_SIMULATED = "sim/"


class RequestedDeepAnalysis(NamedTuple):
    record: AnalysisRecord | None
    job: Job | None


def request(
    workspace: str, run_id: str, rescore_id: str | None, now: datetime, *, force: bool, narrative: bool = True
) -> RequestedDeepAnalysis:
    """Queue a deep analysis of a run that has ended, unless nothing has changed since the last one.

    The workspace's model for narratives writes one unless `narrative` is false.

    Raises NotFound for an unknown run, Invalid for an unknown rescore, and Conflict while the run goes on, or if
    nothing completed.
    """
    run = runs.get(RunRef(workspace, run_id))
    with named_in_body("rescoreId"):
        inputs = counted_inputs(run, rescore_id)
    if run.status not in TERMINAL:
        raise Conflict(f"the run is {run.status}; it can be deeply analyzed when it has ended")
    if not inputs.recorded:
        raise Conflict("no probe of the run has an outcome")
    newest = analyses.find_newest(inputs.ref, rescore_id, AnalysisKind.DEEP)
    narrator = _narrator(workspace) if narrative else None
    if newest is not None and not force and is_current(newest, inputs) and newest.has_narrative_by(narrator):
        return RequestedDeepAnalysis(newest, None)
    job = _job(inputs, newest, narrator, now, force=force)
    if jobs.create(job):
        queues.send(settings().analyze_queue_url, [JobRequest(workspace=workspace, job_id=job.id)], group=workspace)
        return RequestedDeepAnalysis(None, job)
    return RequestedDeepAnalysis(None, jobs.get(workspace, job.id))


def find_job(inputs: CountedInputs) -> Job | None:
    workspace = inputs.run.workspace
    for narrator in dict.fromkeys((None, _narrator(workspace))):
        if job := jobs.find(workspace, job_id_of(_analysis_id(inputs, None, narrator))):
            return job
    return None


def _narrator(workspace: str) -> str | None:
    model = get_settings(workspace).analysis_model
    return None if model is None or model.startswith(_SIMULATED) else model


def _job(
    inputs: CountedInputs, newest: AnalysisRecord | None, narrator: str | None, now: datetime, *, force: bool
) -> Job:
    analysis_id = _analysis_id(inputs, newest, narrator)
    return Job(
        workspace=inputs.run.workspace,
        id=job_id_of(analysis_id),
        kind=JobKind.DEEP_ANALYSIS,
        result_id=analysis_id,
        run_ids=(inputs.run.id,),
        created_at=now,
        updated_at=now,
        options={"rescoreId": inputs.rescore_id, "force": force, "narrator": narrator},
    )


def _analysis_id(inputs: CountedInputs, newest: AnalysisRecord | None, narrator: str | None) -> str:
    """Return the same id for the same request about the same outcomes until a newer analysis is computed."""
    replaced = newest.id if newest else None
    made_from = [ALGORITHM_VERSION, inputs.run.id, inputs.revision, inputs.rescore_id, replaced, narrator]
    return f"ana_{sha256(json.dumps(made_from).encode()).hexdigest()[:24]}"
