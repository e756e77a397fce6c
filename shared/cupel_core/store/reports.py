"""Reports of runs: an item each, the figures as a document, and the texts that quote conversations as another.

The texts are stored below the prefix of the run's conversations, so that they expire and are erased with them.
"""

from collections.abc import Sequence

from pynamodb.attributes import BooleanAttribute, JSONAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.jobs import Job, JobStatus
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.reports.records import ReportRecord
from cupel_core.domain.reports.trials import Trial
from cupel_core.domain.runs.run import Run, RunFailure
from cupel_core.store import blobs, jobs, keys, object_names, resources, runs
from cupel_core.store.resources import Resource
from cupel_core.store.table import Item, conditional_transaction, updated


class ReportItem(Item):
    status = UnicodeAttribute()
    body = JSONAttribute()
    is_summary_missing = BooleanAttribute(attr_name="isSummaryMissing", null=True)
    trial = JSONAttribute(null=True)
    """The trial of the report's revised prompt. A report has at most one."""
    trial_refusal = UnicodeAttribute(attr_name="trialRefusal", null=True)


def create(record: ReportRecord, job: Job) -> bool:
    """Create a report that is new, has failed or lacks its summary, and its job. Return False if there is another
    report, or its job has not ended."""
    is_replaceable = (ReportItem.status == JobStatus.FAILED) | (ReportItem.is_summary_missing == True)  # noqa: E712
    with conditional_transaction() as transaction:
        transaction.save(_to_item(record), condition=ReportItem.pk.does_not_exist() | is_replaceable)
        jobs.add(transaction, job, replaces=(JobStatus.FAILED, JobStatus.COMPLETED))
    return transaction.is_committed


def create_trial(record: ReportRecord, trial: Trial, experiment: Resource, arms: Sequence[Run]) -> bool:
    """Create the runs of a trial and their experiment in one transaction. Return False if the report is gone or has
    one."""
    resources.take_quota(record.workspace, experiment.kind)
    has_none = ReportItem.pk.exists() & ReportItem.trial.does_not_exist()
    with conditional_transaction() as transaction:
        item = ReportItem(keys.reports(_ref(record)), record.id)
        transaction.update(item, actions=[ReportItem.trial.set(encode(trial))], condition=has_none)
        resources.add(transaction, record.workspace, experiment)
        for run in arms:
            runs.add(transaction, run, {"total": run.plan.total})
    if transaction.is_committed:
        for run in arms:
            runs.request_callbacks(run)
    return transaction.is_committed


def refuse_trial(record: ReportRecord, why: str) -> None:
    """Store why the requested trial could not start, unless the report is gone."""
    item = ReportItem(keys.reports(_ref(record)), record.id)
    updated(item, [ReportItem.trial_refusal.set(why)], ReportItem.pk.exists())


def find(ref: RunRef, report_id: str) -> ReportRecord | None:
    try:
        item = ReportItem.get(keys.reports(ref), report_id, consistent_read=True)
    except ReportItem.DoesNotExist:
        return None
    return _from_item(ref, item)


def get(ref: RunRef, report_id: str) -> ReportRecord:
    found = find(ref, report_id)
    if found is None:
        raise NotFound(f"there is no report {report_id} of the run {ref.run_id}")
    return found


def list_all(ref: RunRef) -> list[ReportRecord]:
    """Return the reports, newest first. A run has one for each of its revisions that was reported."""
    found = [_from_item(ref, item) for item in ReportItem.query(keys.reports(ref), consistent_read=True)]
    return sorted(found, key=lambda record: (record.created_at, record.id), reverse=True)


def save_texts(record: ReportRecord, texts: bytes) -> None:
    blobs.put_text(object_names.report_texts(_ref(record), record.id), texts)


def save_content(record: ReportRecord, content: bytes) -> None:
    blobs.put_text(object_names.report_document(_ref(record), record.id), content)


def read_content(record: ReportRecord) -> bytes:
    """Return the figures. Raise NotFound if the run is being erased."""
    return blobs.get_text(object_names.report_document(_ref(record), record.id))


def find_texts(record: ReportRecord) -> bytes | None:
    """Return the texts, or None once a conversation that they quote was deleted or has expired."""
    try:
        return blobs.get_text(object_names.report_texts(_ref(record), record.id))
    except NotFound:
        return None


def erase_content(record: ReportRecord) -> None:
    """Erase the content of a report whose run was deleted meanwhile."""
    blobs.delete_prefix(object_names.report_document(_ref(record), record.id))


def erase_texts(ref: RunRef) -> None:
    blobs.delete_prefix(object_names.report_texts(ref))


def end(record: ReportRecord) -> bool:
    """Store how a report ended. Return False if its run was erased meanwhile."""
    item = ReportItem(keys.reports(_ref(record)), record.id)
    actions = [
        ReportItem.status.set(record.status),
        ReportItem.is_summary_missing.set(record.is_summary_missing),
        ReportItem.body.set(_body(record)),
    ]
    return updated(item, actions, ReportItem.pk.exists())


def _ref(record: ReportRecord) -> RunRef:
    return RunRef(record.workspace, record.run_id)


def _to_item(record: ReportRecord) -> ReportItem:
    return ReportItem(keys.reports(_ref(record)), record.id, status=record.status, body=_body(record))


def _body(record: ReportRecord) -> dict[str, object]:
    failure, completed, expire = record.failure, record.completed_at, record.texts_expire_at
    fields = {
        "createdAt": to_iso(record.created_at),
        "summarizerModel": record.summarizer_model,
        "completedAt": completed and to_iso(completed),
        "failure": failure and failure.to_event(),
        "textsExpireAt": expire and to_iso(expire),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _from_item(ref: RunRef, item: ReportItem) -> ReportRecord:
    body = dict(item.body)
    failure, completed, expire = body.get("failure"), body.get("completedAt"), body.get("textsExpireAt")
    return ReportRecord(
        workspace=ref.workspace,
        run_id=ref.run_id,
        id=item.sk,
        created_at=from_iso(body["createdAt"]),
        summarizer_model=body.get("summarizerModel"),
        status=JobStatus(item.status),
        completed_at=from_iso(completed) if completed else None,
        failure=RunFailure(failure["where"], failure["why"]) if failure else None,
        texts_expire_at=from_iso(expire) if expire else None,
        is_summary_missing=bool(item.is_summary_missing),
        trial=decode(Trial, item.trial) if item.trial else None,
        trial_refusal=item.trial_refusal,
    )
