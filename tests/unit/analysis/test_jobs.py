"""Jobs: one worker at a time, repeated after a crash, failed after five attempts."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from cupel_core.analysis import comparisons, jobs
from cupel_core.analysis.jobs import JobOutcome, run_job
from cupel_core.base.errors import Invalid, RetryableError
from cupel_core.base.messages import JobRequest, RunRef
from cupel_core.domain.analysis.comparison_requests import ComparisonSpec, SideSpec
from cupel_core.domain.analysis.jobs import MAX_ATTEMPTS, Job, JobKind, JobStatus
from cupel_core.domain.runs.run import RunEventType, RunFailure
from cupel_core.store import blobs, events, object_names, runs
from cupel_core.store import comparisons as stored_comparisons
from cupel_core.store import jobs as stored_jobs
from tests.compared_runs import run_of
from tests.started_runs import NOW

pytestmark = pytest.mark.usefixtures("cloud")


def requested() -> JobRequest:
    """The request for a comparison of two runs."""
    first, second = (run_of("def_shared", passes) for passes in ("++++++++", "--------"))
    view, _ = comparisons.request("acme", ComparisonSpec(SideSpec(first.id), SideSpec(second.id)), NOW)
    return JobRequest(workspace="acme", job_id=view.comparison.job_id)


def comparison_id(request: JobRequest) -> str:
    return request.job_id.removeprefix("job_")


def interrupted(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """From now on every computation raises this error."""

    def compute(job: Job, note_stage: Callable[[str], None]) -> None:
        note_stage("reading")
        raise error

    broken = jobs.COMPUTATIONS[JobKind.COMPARISON]._replace(compute=compute)
    monkeypatch.setitem(jobs.COMPUTATIONS, JobKind.COMPARISON, broken)


def test_a_job_computes_its_comparison() -> None:
    request = requested()
    assert run_job(request, 900) is JobOutcome.COMPLETED
    job = stored_jobs.get("acme", request.job_id)
    assert (job.status, job.stage, job.attempts) == (JobStatus.COMPLETED, "storing", 1)
    assert (job.done, job.total) == (3, 3)
    comparison = stored_comparisons.get("acme", comparison_id(request))
    assert (comparison.status, comparison.verdict) == (JobStatus.COMPLETED, "LOWER")
    assert list(stored_jobs.list_open()) == []


def test_the_run_has_an_event() -> None:
    request = requested()
    run_job(request, 900)
    run_id = stored_comparisons.get("acme", comparison_id(request)).spec.comparison.run_id
    last = events.list_after(RunRef("acme", run_id), 0)[-1]
    assert (last.type, last.data["comparisonId"]) == (RunEventType.COMPARISON_FINISHED, comparison_id(request))


def test_a_second_message_finds_nothing_to_do() -> None:
    request = requested()
    run_job(request, 900)
    assert run_job(request, 900) is JobOutcome.NOTHING


def test_a_message_delivered_during_the_work_finds_the_lease_taken() -> None:
    request = requested()
    assert stored_jobs.claim(request, NOW, NOW + timedelta(days=365)) is not None
    assert run_job(request, 900) is JobOutcome.NOTHING


def test_a_worker_whose_lease_was_taken_changes_nothing() -> None:
    request = requested()
    first = stored_jobs.claim(request, NOW, NOW + timedelta(minutes=1))
    second = stored_jobs.claim(request, NOW + timedelta(minutes=2), NOW + timedelta(minutes=3))
    assert first is not None
    assert second is not None
    assert not stored_jobs.end(first.finished(NOW))
    assert not stored_jobs.note_progress(first, NOW)
    assert stored_jobs.get("acme", request.job_id).status is JobStatus.RUNNING


def test_an_internal_error_is_raised_and_the_next_delivery_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    request = requested()
    with monkeypatch.context() as broken:
        interrupted(broken, RetryableError("the table is busy"))
        with pytest.raises(RetryableError):
            run_job(request, 900)
    assert run_job(request, 900) is JobOutcome.COMPLETED
    assert stored_jobs.get("acme", request.job_id).attempts == 2


def test_the_fifth_internal_error_fails_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    request = requested()
    interrupted(monkeypatch, ValueError("unexpected"))
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(ValueError, match="unexpected"):
            run_job(request, 900)
    job = stored_jobs.get("acme", request.job_id)
    assert job.failure == RunFailure("reading", "an internal error, five times in a row")
    assert stored_comparisons.get("acme", comparison_id(request)).status is JobStatus.FAILED


def test_a_job_whose_workers_died_five_times_fails() -> None:
    request = requested()
    for attempt in range(MAX_ATTEMPTS):
        now = NOW + timedelta(hours=attempt)
        assert stored_jobs.claim(request, now, now + timedelta(minutes=1)) is not None
    assert run_job(request, 900) is JobOutcome.FAILED
    assert stored_comparisons.get("acme", comparison_id(request)).failure == RunFailure(
        "internal", "the job was interrupted too often"
    )


def test_what_cannot_be_computed_fails_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    request = requested()
    interrupted(monkeypatch, Invalid("NOT_MATCHABLE: nothing in common"))
    assert run_job(request, 900) is JobOutcome.FAILED
    failure = stored_comparisons.get("acme", comparison_id(request)).failure
    assert failure == RunFailure("reading", "NOT_MATCHABLE: nothing in common")


def test_after_a_crash_before_the_end_of_the_job_only_the_event_is_repeated() -> None:
    request = requested()
    run_job(request, 900)
    job = stored_jobs.get("acme", request.job_id)
    item = stored_jobs._to_item(job.queued_again(NOW), None)
    item.save()
    assert run_job(request, 900) is JobOutcome.COMPLETED


def test_a_comparison_that_is_deleted_while_it_is_computed_leaves_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    request = requested()
    save = stored_comparisons.save_figures

    def save_and_delete(workspace: str, compared: str, *figures: object) -> None:
        save(workspace, compared, *figures)
        item = stored_comparisons.ComparisonItem.get(f"acme#comparison#{compared}", "comparison")
        item.delete()

    monkeypatch.setattr(stored_comparisons, "save_figures", save_and_delete)
    run_job(request, 900)
    assert list(blobs.list_keys(object_names.comparison_blobs("acme", comparison_id(request)))) == []


def test_a_failed_comparison_can_be_requested_again(monkeypatch: pytest.MonkeyPatch) -> None:
    request = requested()
    with monkeypatch.context() as broken:
        interrupted(broken, Invalid("no"))
        run_job(request, 900)
    spec = stored_comparisons.get("acme", comparison_id(request)).spec
    view, is_queued = comparisons.request("acme", spec, NOW)
    assert (is_queued, view.comparison.status) == (True, JobStatus.QUEUED)
    assert run_job(request, 900) is JobOutcome.COMPLETED


def test_deleting_a_run_erases_its_comparisons() -> None:
    request = requested()
    run_job(request, 900)
    run_id = stored_comparisons.get("acme", comparison_id(request)).spec.baseline.run_id
    runs.delete(RunRef("acme", run_id), NOW, erase_from=NOW)
    stored_comparisons.delete_all_of_run(RunRef("acme", run_id))
    assert stored_comparisons.find("acme", comparison_id(request)) is None
    assert list(stored_jobs.list_ids("acme")) == []
