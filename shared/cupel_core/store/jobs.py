"""Jobs. One that has not ended also has an item in the sweeper's list, written in the same transaction.

One worker at a time has the lease of a job. What a job computes follows from stored inputs alone, so a worker that is
interrupted leaves nothing that another one does not write again.
"""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import NamedTuple

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.analysis.jobs import Job, JobKind, JobStatus
from cupel_core.domain.runs.run import RunFailure
from cupel_core.errors import NotFound
from cupel_core.messages import JobRequest
from cupel_core.paging import Page, fill_page
from cupel_core.store import keys, listing
from cupel_core.store.listing import list_newest
from cupel_core.store.table import CreationIndex, Item, connection, error_code, updated

RETENTION = timedelta(days=30)
"""How long a job that is over is listed."""
_SORT_KEY = "job"


class JobItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    status = UnicodeAttribute()
    attempts = NumberAttribute()
    """As a write condition it voids what a worker writes whose lease another one has taken."""
    run_ids = UnicodeSetAttribute(attr_name="runIds")
    leased_until = UnicodeAttribute(attr_name="leasedUntil", null=True)
    ttl = NumberAttribute(null=True)
    body = JSONAttribute()


class OpenJobItem(Item):
    workspace = UnicodeAttribute()
    job_id = UnicodeAttribute(attr_name="jobId")
    touched_at = UnicodeAttribute(attr_name="touchedAt")


class OpenJob(NamedTuple):
    """A job whose end the sweeper has not seen, and when its message was last sent for certain."""

    request: JobRequest
    touched_at: datetime

    @property
    def sort_key(self) -> str:
        return keys.open_job(self.request.workspace, self.request.job_id)


class LeasedJob(NamedTuple):
    job: Job
    leased_until: datetime | None


def add(transaction: TransactWrite, job: Job, *, replaces_failed: bool = False) -> None:
    """Add a queued job to a transaction, which is cancelled if there is one already that `replaces_failed` excludes."""
    is_new = JobItem.pk.does_not_exist()
    condition = is_new | (JobItem.status == JobStatus.FAILED) if replaces_failed else is_new
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


def get(workspace: str, job_id: str) -> Job:
    """Raises NotFound for an unknown job, and for one that ended long ago."""
    return get_leased(workspace, job_id).job


def get_leased(workspace: str, job_id: str) -> LeasedJob:
    try:
        item = JobItem.get(keys.job(workspace, job_id), _SORT_KEY, consistent_read=True)
    except JobItem.DoesNotExist:
        raise NotFound(f"there is no job {job_id}") from None
    return LeasedJob(_from_item(workspace, item), from_iso(item.leased_until) if item.leased_until else None)


def list_jobs(
    workspace: str, *, run_id: str | None, status: JobStatus | None, limit: int, cursor: str | None
) -> Page[Job]:
    """A page of jobs, newest first; a filter that is None matches all."""
    condition: Condition | None = None
    if run_id is not None:
        condition = JobItem.run_ids.contains(run_id)
    if status is not None:
        has_status = JobItem.status == status
        condition = has_status if condition is None else condition & has_status
    entries = list_newest(
        JobItem, f"{workspace}#jobs", limit, cursor, condition=condition, is_selective=condition is not None
    )
    return fill_page((entry.map(lambda item: _from_item(workspace, item)) for entry in entries), limit)


def claim(request: JobRequest, now: datetime, until: datetime) -> Job | None:
    """Take the lease of a job until `until` and count the attempt; None if it is over or another worker has it."""
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
    """Store stage and progress; False if another worker has taken the lease."""
    item = JobItem(keys.job(job.workspace, job.id), _SORT_KEY)
    actions = [JobItem.body.set(_body(job)), JobItem.leased_until.set(to_iso(until))]
    return updated(item, actions, (JobItem.attempts == job.attempts) & (JobItem.status == JobStatus.RUNNING))


def end(job: Job) -> bool:
    """Store how a job ended; False if another worker has ended it or taken its lease."""
    try:
        with TransactWrite(connection=connection()) as transaction:
            is_own = (JobItem.attempts == job.attempts) & JobItem.status.is_in(JobStatus.QUEUED, JobStatus.RUNNING)
            transaction.save(_to_item(job, None), condition=is_own)
            transaction.delete(OpenJobItem(keys.OPEN_JOBS, keys.open_job(job.workspace, job.id)))
    except TransactWriteError as error:
        if error_code(error) != "TransactionCanceledException":
            raise
        return False
    return True


def release(job: Job) -> None:
    """Give up the lease, so that a redelivered message continues at once."""
    item = JobItem(keys.job(job.workspace, job.id), _SORT_KEY)
    updated(item, [JobItem.leased_until.remove()], JobItem.attempts == job.attempts)


def list_open(after: str | None = None) -> Iterator[OpenJob]:
    """The jobs whose end the sweeper has not seen; those after a sort key, if one is given."""
    for item in OpenJobItem.query(keys.OPEN_JOBS, OpenJobItem.sk > after if after else None):
        yield OpenJob(JobRequest(workspace=item.workspace, job_id=item.job_id), from_iso(item.touched_at))


def touch_open(open_job: OpenJob, now: datetime) -> None:
    """Note that the job's message was sent again."""
    item = OpenJobItem(keys.OPEN_JOBS, open_job.sort_key)
    updated(item, [OpenJobItem.touched_at.set(to_iso(now))], OpenJobItem.pk.exists())


def remove_open(open_job: OpenJob) -> None:
    OpenJobItem(keys.OPEN_JOBS, open_job.sort_key).delete()


def list_ids(workspace: str) -> Iterator[str]:
    return listing.list_ids(JobItem, f"{workspace}#jobs")


def erase(workspace: str, job_id: str) -> None:
    """Of what is deleted; a worker that has it ends without an effect."""
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
        leased_until=leased_until and to_iso(leased_until),
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
        "startedAt": job.started_at and to_iso(job.started_at),
        "completedAt": job.completed_at and to_iso(job.completed_at),
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
        "failure": job.failure and asdict(job.failure),
    }


def _from_item(workspace: str, item: JobItem) -> Job:
    body = item.body
    started, completed, failure = body["startedAt"], body["completedAt"], body["failure"]
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
        started_at=from_iso(started) if started else None,
        completed_at=from_iso(completed) if completed else None,
    )
