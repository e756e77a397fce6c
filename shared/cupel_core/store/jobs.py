"""Jobs. One that has not ended also has an item in the sweeper's list, written in the same transaction.

One worker at a time has the lease of a job. The result of a job depends on stored inputs alone, so another worker
rewrites whatever an interrupted one has left.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import NamedTuple

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.exceptions import PutError
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, from_optional_iso, to_iso, to_optional_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import JobRequest
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.analysis.jobs import Job, JobKind, JobStatus
from cupel_core.domain.runs.run import RunFailure
from cupel_core.store import keys, listing
from cupel_core.store.listing import all_of, list_newest
from cupel_core.store.open_work import OpenWork
from cupel_core.store.table import CreationIndex, Item, conditional_transaction, error_code, updated

RETENTION = timedelta(days=30)
"""A job that is over is listed for this time."""
_SORT_KEY = "job"


class JobItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    status = UnicodeAttribute()
    attempts = NumberAttribute()
    """As a write condition, this number voids the writes of a worker whose lease another worker has taken."""
    run_ids = UnicodeSetAttribute(attr_name="runIds")
    leased_until = UnicodeAttribute(attr_name="leasedUntil", null=True)
    ttl = NumberAttribute(null=True)
    body = JSONAttribute()


class OpenJobItem(Item):
    workspace = UnicodeAttribute()
    job_id = UnicodeAttribute(attr_name="jobId")
    touched_at = UnicodeAttribute(attr_name="touchedAt")


class LeasedJob(NamedTuple):
    job: Job
    leased_until: datetime | None


def add(transaction: TransactWrite, job: Job, *, replaces: Sequence[JobStatus] = ()) -> None:
    """Add a queued job to a transaction. It is cancelled if the job exists in a status that is not among `replaces`."""
    is_new = JobItem.pk.does_not_exist()
    condition = is_new | JobItem.status.is_in(*replaces) if replaces else is_new
    transaction.save(_to_item(job, None), condition=condition)
    transaction.save(
        OpenJobItem(
            keys.OPEN_JOBS,
            keys.open_job(job.workspace, job.id),
            workspace=job.workspace,
            job_id=job.id,
            touched_at=to_iso(job.created_at),
        )
    )


def create(job: Job) -> bool:
    """Queue a job that is new or has failed. Return False if one exists that has not failed."""
    with conditional_transaction() as transaction:
        add(transaction, job, replaces=(JobStatus.FAILED,))
    return transaction.is_committed


def find(workspace: str, job_id: str) -> Job | None:
    try:
        return get(workspace, job_id)
    except NotFound:
        return None


def get(workspace: str, job_id: str) -> Job:
    """Return the job. Raise NotFound for an unknown job and for one that ended before the retention period."""
    return get_leased(workspace, job_id).job


def get_leased(workspace: str, job_id: str) -> LeasedJob:
    try:
        item = JobItem.get(keys.job(workspace, job_id), _SORT_KEY, consistent_read=True)
    except JobItem.DoesNotExist:
        raise NotFound(f"there is no job {job_id}") from None
    return LeasedJob(_from_item(workspace, item), from_optional_iso(item.leased_until))


def list_jobs(
    workspace: str, *, run_id: str | None, status: JobStatus | None, limit: int, cursor: str | None
) -> Page[Job]:
    condition = all_of(
        None if run_id is None else JobItem.run_ids.contains(run_id),
        None if status is None else JobItem.status == status,
    )
    entries = list_newest(
        JobItem, f"{workspace}#jobs", limit, cursor, condition=condition, is_selective=condition is not None
    )
    return fill_page((entry.map(lambda item: _from_item(workspace, item)) for entry in entries), limit)


def claim(request: JobRequest, now: datetime, until: datetime) -> Job | None:
    """Take the lease of a job until `until` and count the attempt. Return None if it is over or another worker has
    it."""
    job = get(request.workspace, request.job_id)
    if job.status.is_over:
        return None
    started = job.started(now)
    is_free = JobItem.leased_until.does_not_exist() | (JobItem.leased_until < to_iso(now))
    condition = (JobItem.attempts == job.attempts) & is_free
    try:
        _to_item(started, until).save(condition=condition)
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return None
    return started


def note_progress(job: Job, until: datetime) -> bool:
    """Store stage and progress. Return False if another worker has taken the lease."""
    item = JobItem(keys.job(job.workspace, job.id), _SORT_KEY)
    actions = [JobItem.body.set(_body(job)), JobItem.leased_until.set(to_iso(until))]
    return updated(item, actions, (JobItem.attempts == job.attempts) & (JobItem.status == JobStatus.RUNNING))


def end(job: Job) -> bool:
    """Store how a job ended. Return False if another worker has ended it or taken its lease."""
    is_own = (JobItem.attempts == job.attempts) & JobItem.status.is_in(JobStatus.QUEUED, JobStatus.RUNNING)
    with conditional_transaction() as transaction:
        transaction.save(_to_item(job, None), condition=is_own)
        transaction.delete(OpenJobItem(keys.OPEN_JOBS, keys.open_job(job.workspace, job.id)))
    return transaction.is_committed


def end_lease(request: JobRequest, taken_before: datetime) -> None:
    """End the lease of a worker that has written nothing since `taken_before`. Raise NotFound."""
    job, leased_until = get_leased(request.workspace, request.job_id)
    if leased_until is not None and job.updated_at < taken_before:
        release(job)


def release(job: Job) -> None:
    """Release the lease, so that a redelivered message continues at once."""
    item = JobItem(keys.job(job.workspace, job.id), _SORT_KEY)
    updated(item, [JobItem.leased_until.remove()], JobItem.attempts == job.attempts)


def list_open(after: str | None = None) -> Iterator[OpenWork[JobRequest]]:
    """Yield the jobs whose end the sweeper has not seen, from the sort key `after` on."""
    for item in OpenJobItem.query(keys.OPEN_JOBS, OpenJobItem.sk > after if after else None):
        request = JobRequest(workspace=item.workspace, job_id=item.job_id)
        yield OpenWork(item.pk, item.sk, request, from_iso(item.touched_at))


def list_ids(workspace: str) -> Iterator[str]:
    return listing.list_ids(JobItem, f"{workspace}#jobs")


def erase(workspace: str, job_id: str) -> None:
    """Erase the job of deleted data. A worker that still runs it ends without an effect."""
    OpenJobItem(keys.OPEN_JOBS, keys.open_job(workspace, job_id)).delete()
    JobItem(keys.job(workspace, job_id), _SORT_KEY).delete()


def _to_item(job: Job, leased_until: datetime | None) -> JobItem:
    return JobItem(
        keys.job(job.workspace, job.id),
        _SORT_KEY,
        gsi1pk=f"{job.workspace}#jobs",
        gsi1sk=f"{to_iso(job.created_at)}#{job.id}",
        status=job.status,
        attempts=job.attempts,
        run_ids=set(job.run_ids),
        leased_until=to_optional_iso(leased_until),
        ttl=int((job.completed_at + RETENTION).timestamp()) if job.completed_at else None,
        body=_body(job),
    )


def _body(job: Job) -> dict[str, object]:
    return {
        "kind": job.kind,
        "resultId": job.result_id,
        "runIds": list(job.run_ids),
        "createdAt": to_iso(job.created_at),
        "updatedAt": to_iso(job.updated_at),
        "startedAt": to_optional_iso(job.started_at),
        "completedAt": to_optional_iso(job.completed_at),
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
        "failure": job.failure and asdict(job.failure),
        "options": dict(job.options),
    }


def _from_item(workspace: str, item: JobItem) -> Job:
    body, failure = item.body, item.body["failure"]
    return Job(
        workspace=workspace,
        id=item.pk.rpartition("#")[2],
        kind=JobKind(body["kind"]),
        result_id=body["resultId"],
        run_ids=tuple(body["runIds"]),
        created_at=from_iso(body["createdAt"]),
        updated_at=from_iso(body["updatedAt"]),
        status=JobStatus(item.status),
        attempts=int(item.attempts),
        stage=body["stage"],
        done=body["done"],
        total=body["total"],
        failure=RunFailure(**failure) if failure else None,
        started_at=from_optional_iso(body["startedAt"]),
        completed_at=from_optional_iso(body["completedAt"]),
        options=body["options"],
    )
