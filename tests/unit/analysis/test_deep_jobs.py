"""Jobs that compute deep analyses: what they store, and that repeating them changes nothing."""

import json
from datetime import timedelta
from typing import Any

import pytest

from cupel_core.analysis import deep_analysis, deep_requests, jobs
from cupel_core.analysis.jobs import JobOutcome, run_job
from cupel_core.base.errors import Conflict, RetryableError
from cupel_core.base.messages import JobRequest
from cupel_core.domain.analysis.deep import ALGORITHM_VERSION
from cupel_core.domain.analysis.jobs import MAX_ATTEMPTS, Job, JobStatus
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord, AnalysisStatus
from cupel_core.domain.runs.run import Action, Run, RunEventType
from cupel_core.domain.runs.transcripts import TranscriptResult
from cupel_core.store import analyses, corrections, events, outcomes, runs
from cupel_core.store import jobs as stored_jobs
from tests.compared_runs import carry_out_jobs, run_of
from tests.started_runs import NOW, RunSetup, ref_of

pytestmark = pytest.mark.usefixtures("cloud")

MODELS = ("sim/steady", "sim/bold", "sim/contrarian")


def answered(**given: Any) -> Run:
    """Eight scenarios, whose results differ between three targets."""
    return run_of("def_deep", "++-+-+--++++----", models=MODELS, **given)


def requested(run: Run, *, force: bool = False, minutes: int = 0) -> Job:
    """The job of a request that finds no current analysis."""
    found, job = deep_requests.request("acme", run.id, None, NOW + timedelta(minutes=minutes), force=force)
    assert found is None
    assert job is not None
    return job


def newest(run: Run) -> AnalysisRecord:
    found = analyses.find_newest(ref_of(run), None, AnalysisKind.DEEP)
    assert found is not None
    return found


def figures(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(analyses.read_document(newest(run)))
    return document


def run_request(job: Job) -> JobRequest:
    return JobRequest(workspace="acme", job_id=job.id)


def test_a_job_computes_the_deep_analysis() -> None:
    run = answered()
    job = requested(run)
    assert carry_out_jobs() == [JobOutcome.COMPLETED]
    done = stored_jobs.get("acme", job.id)
    assert (done.status, done.stage, done.done, done.total) == (JobStatus.COMPLETED, "storing", 6, 6)
    record = newest(run)
    assert (record.id, record.status, record.algorithm_version) == (
        job.result_id,
        AnalysisStatus.COMPLETED,
        ALGORITHM_VERSION,
    )
    document = figures(run)
    assert [each["name"] for each in document["columns"]] == list(MODELS)
    assert document["variance"]["columns"] == [0, 1, 2]
    assert {each["part"] for each in document["unavailable"]} == {
        "components",
        "outlierScenarios",
        "design",
        "interactions",
    }


def test_the_run_has_an_event() -> None:
    run = answered()
    job = requested(run)
    carry_out_jobs()
    last = events.list_after(ref_of(run), 0)[-1]
    assert (last.type, last.data) == (
        RunEventType.ANALYSIS_FINISHED,
        {"analysisId": job.result_id, "kind": AnalysisKind.DEEP},
    )


def test_the_basic_analysis_is_not_replaced() -> None:
    run = answered()
    requested(run)
    carry_out_jobs()
    assert analyses.find_newest(ref_of(run), None) is None


def test_asking_twice_is_one_job() -> None:
    run = answered()
    assert requested(run).id == requested(run).id
    assert carry_out_jobs() == [JobOutcome.COMPLETED]


def test_a_current_analysis_is_returned() -> None:
    run = answered()
    job = requested(run)
    carry_out_jobs()
    found, queued = deep_requests.request("acme", run.id, None, NOW, force=False)
    assert (found and found.id, queued) == (job.result_id, None)


def test_force_computes_the_same_bytes_again() -> None:
    run = answered()
    first = requested(run)
    carry_out_jobs()
    before = analyses.read_document(newest(run))
    again = requested(run, force=True, minutes=1)
    assert again.id != first.id
    assert carry_out_jobs() == [JobOutcome.COMPLETED]
    assert newest(run).id == again.result_id
    assert analyses.read_document(newest(run)) == before


def test_a_correction_makes_another_job() -> None:
    run = answered()
    first = requested(run)
    carry_out_jobs()
    outcomes.set_correction(ref_of(run), 1, TranscriptResult(True))
    assert requested(run, minutes=1).id != first.id
    carry_out_jobs()
    assert newest(run).revision != ""
    assert len(analyses.list_analyses(ref_of(run), 10, None).items) == 2


def test_figures_of_the_same_counts_are_not_computed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as after a correction that was removed again."""
    run = answered()
    requested(run)
    carry_out_jobs()
    before = figures(run)
    outcomes.set_correction(ref_of(run), 1, TranscriptResult(True))
    outcomes.set_correction(ref_of(run), 1, None)
    assert corrections.get_count(ref_of(run)) == 2
    requested(run, minutes=1)
    monkeypatch.setattr(deep_analysis, "analyze", None)
    assert carry_out_jobs() == [JobOutcome.COMPLETED]
    assert figures(run) == before


def test_a_repeated_delivery_finds_the_job_done() -> None:
    job = requested(answered())
    carry_out_jobs()
    assert run_job(run_request(job), 900) is JobOutcome.NOTHING


def test_after_a_crash_before_the_end_of_the_job_only_the_event_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    run = answered()
    job = requested(run)
    carry_out_jobs()
    stored_jobs._to_item(stored_jobs.get("acme", job.id).queued_again(job.created_at), None).save()
    monkeypatch.setattr(deep_analysis, "analyze", None)
    assert run_job(run_request(job), 900) is JobOutcome.COMPLETED
    assert len(analyses.list_analyses(ref_of(run), 10, None).items) == 1


def test_a_job_whose_run_was_deleted_fails_and_stores_nothing() -> None:
    run = answered()
    job = requested(run)
    runs.delete(ref_of(run), NOW, erase_from=NOW)
    assert run_job(run_request(job), 900) is JobOutcome.FAILED
    assert analyses.find_newest(ref_of(run), None, AnalysisKind.DEEP) is None


def test_nothing_is_stored_of_a_run_that_is_deleted_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    run = answered()
    job = requested(run)
    analyze = deep_analysis.analyze

    def analyze_and_delete(*given: Any) -> Any:
        runs.delete(ref_of(run), NOW, erase_from=NOW)
        return analyze(*given)

    monkeypatch.setattr(deep_analysis, "analyze", analyze_and_delete)
    assert run_job(run_request(job), 900) is JobOutcome.FAILED
    assert analyses.find_newest(ref_of(run), None, AnalysisKind.DEEP) is None


def test_a_job_whose_run_goes_on_again_fails_with_the_reason() -> None:
    run = answered()
    job = requested(run)
    runs.transition(ref_of(run), Action.REOPEN, NOW)
    assert run_job(run_request(job), 900) is JobOutcome.FAILED
    failure = stored_jobs.get("acme", job.id).failure
    assert failure is not None
    assert (failure.where, failure.why) == (
        "reading",
        "the run is RUNNING; it can be deeply analyzed when it has ended",
    )


def test_the_fifth_internal_error_records_a_failed_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    run = answered()
    job = requested(run)

    def fail(*given: Any) -> None:
        raise RetryableError("the table is busy")

    with monkeypatch.context() as broken:
        broken.setattr(deep_analysis, "read_matrix", fail)
        for _ in range(MAX_ATTEMPTS):
            with pytest.raises(RetryableError):
                run_job(run_request(job), 900)
    assert newest(run).status is AnalysisStatus.FAILED
    assert newest(run).failure is not None
    again = requested(run, minutes=1)
    assert again.id != job.id
    assert run_job(run_request(again), 900) is JobOutcome.COMPLETED


def test_a_run_that_goes_on_is_refused() -> None:
    run = RunSetup(scenario_count=3, workspace="acme").start()
    with pytest.raises(Conflict, match="PENDING"):
        deep_requests.request("acme", run.id, None, NOW, force=False)


def test_stages_are_those_of_the_computation() -> None:
    stages: list[str] = []
    deep_analysis.compute(requested(answered()), stages.append)
    assert tuple(stages) == jobs.COMPUTATIONS[requested(answered()).kind].stages
