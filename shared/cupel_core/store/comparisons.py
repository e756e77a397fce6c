"""Comparisons in the table, their figures and changed scenarios in the bucket, and links from the compared runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pynamodb.attributes import JSONAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, from_optional_iso, to_iso, to_optional_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.analysis.comparison_requests import ComparisonRecord, ComparisonSpec
from cupel_core.domain.analysis.jobs import Job, JobStatus
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.runs.run import RunFailure
from cupel_core.store import blobs, jobs, keys, object_names
from cupel_core.store.listing import all_of, list_newest
from cupel_core.store.table import CreationIndex, Item, conditional_transaction, connection, updated

_ALL_ROWS = "all"
_SORT_KEY = "comparison"


class ComparisonItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    status = UnicodeAttribute()
    run_ids = UnicodeSetAttribute(attr_name="runIds")
    experiment_id = UnicodeAttribute(attr_name="experimentId", null=True)
    body = JSONAttribute()


class ComparisonLinkItem(Item):
    pass


def create(comparison: ComparisonRecord, job: Job) -> bool:
    """Create a comparison that is new or has failed, and its job. Return False if one exists that has not failed."""
    is_new_or_failed = ComparisonItem.pk.does_not_exist() | (ComparisonItem.status == JobStatus.FAILED)
    with conditional_transaction() as transaction:
        transaction.save(_to_item(comparison), condition=is_new_or_failed)
        for run_id in comparison.spec.run_ids:
            transaction.save(_link(comparison.workspace, run_id, comparison.id))
        jobs.add(transaction, job, replaces=(JobStatus.FAILED,))
    return transaction.is_committed


def get(workspace: str, comparison_id: str) -> ComparisonRecord:
    found = find(workspace, comparison_id)
    if found is None:
        raise NotFound(f"there is no comparison {comparison_id}")
    return found


def find(workspace: str, comparison_id: str) -> ComparisonRecord | None:
    try:
        item = ComparisonItem.get(keys.comparison(workspace, comparison_id), _SORT_KEY, consistent_read=True)
    except ComparisonItem.DoesNotExist:
        return None
    return _from_item(workspace, item)


def list_comparisons(
    workspace: str, *, run_id: str | None, experiment_id: str | None, limit: int, cursor: str | None
) -> Page[ComparisonRecord]:
    condition = all_of(
        None if run_id is None else ComparisonItem.run_ids.contains(run_id),
        None if experiment_id is None else ComparisonItem.experiment_id == experiment_id,
    )
    entries = list_newest(
        ComparisonItem,
        f"{workspace}#comparisons",
        limit,
        cursor,
        condition=condition,
        is_selective=condition is not None,
    )
    return fill_page((entry.map(lambda item: _from_item(workspace, item)) for entry in entries), limit)


def save_figures(
    workspace: str, comparison_id: str, figures: Mapping[str, Any], changes: Sequence[object], all_changes: object
) -> None:
    """Store the figures, and the changed scenarios of each row and of all. Repeating it writes the same bytes."""
    prefix = object_names.comparison_blobs(workspace, comparison_id)
    for number, rows in enumerate(changes):
        blobs.put_json(f"{prefix}scenarios-{number}.json.gz", rows)
    blobs.put_json(f"{prefix}scenarios-{_ALL_ROWS}.json.gz", all_changes)
    blobs.put_json(f"{prefix}figures.json.gz", figures)


def get_figures(workspace: str, comparison_id: str) -> dict[str, Any]:
    figures: dict[str, Any] = blobs.get_json(
        f"{object_names.comparison_blobs(workspace, comparison_id)}figures.json.gz"
    )
    return figures


def get_changes(workspace: str, comparison_id: str, row: int | None) -> list[dict[str, Any]]:
    """Return the changed scenarios of a row, or of all rows together, most changed first."""
    prefix = object_names.comparison_blobs(workspace, comparison_id)
    name = _ALL_ROWS if row is None else str(row)
    changes: list[dict[str, Any]] = blobs.get_json(f"{prefix}scenarios-{name}.json.gz")
    return changes


def end(comparison: ComparisonRecord) -> bool:
    """Store the comparison's end. Return False if it was deleted meanwhile."""
    item = ComparisonItem(keys.comparison(comparison.workspace, comparison.id), _SORT_KEY)
    actions = [ComparisonItem.status.set(comparison.status), ComparisonItem.body.set(_body(comparison))]
    return updated(item, actions, ComparisonItem.pk.exists())


def delete(workspace: str, comparison_id: str) -> None:
    """Erase a comparison, its links and its job. Figures go first, so that a repetition after a crash still finds
    them."""
    blobs.delete_prefix(object_names.comparison_blobs(workspace, comparison_id))
    comparison = find(workspace, comparison_id)
    if comparison is not None:
        with TransactWrite(connection=connection()) as transaction:
            transaction.delete(ComparisonItem(keys.comparison(workspace, comparison_id), _SORT_KEY))
            for run_id in comparison.spec.run_ids:
                transaction.delete(_link(workspace, run_id, comparison_id))
        jobs.erase(workspace, comparison.job_id)


def delete_figures(workspace: str, comparison_id: str) -> None:
    """Delete the figures of a comparison that was deleted while it was computed."""
    blobs.delete_prefix(object_names.comparison_blobs(workspace, comparison_id))


def list_ids_of_run(ref: RunRef) -> Iterator[str]:
    for item in ComparisonLinkItem.query(keys.run(ref), ComparisonLinkItem.sk.startswith(keys.COMPARISON_LINKS)):
        yield item.sk.removeprefix(keys.COMPARISON_LINKS)


def delete_all_of_run(ref: RunRef) -> None:
    for comparison_id in list(list_ids_of_run(ref)):
        delete(ref.workspace, comparison_id)


def _link(workspace: str, run_id: str, comparison_id: str) -> ComparisonLinkItem:
    return ComparisonLinkItem(keys.run(RunRef(workspace, run_id)), keys.comparison_link(comparison_id))


def _to_item(comparison: ComparisonRecord) -> ComparisonItem:
    return ComparisonItem(
        keys.comparison(comparison.workspace, comparison.id),
        _SORT_KEY,
        gsi1pk=f"{comparison.workspace}#comparisons",
        gsi1sk=f"{to_iso(comparison.created_at)}#{comparison.id}",
        status=comparison.status,
        run_ids=set(comparison.spec.run_ids),
        experiment_id=comparison.spec.experiment_id,
        body=_body(comparison),
    )


def _body(comparison: ComparisonRecord) -> dict[str, Any]:
    return {
        "spec": encode(comparison.spec),
        "revisions": list(comparison.revisions),
        "createdAt": to_iso(comparison.created_at),
        "completedAt": to_optional_iso(comparison.completed_at),
        "verdict": comparison.verdict,
        "sentence": comparison.sentence,
        "failure": comparison.failure and asdict(comparison.failure),
    }


def _from_item(workspace: str, item: ComparisonItem) -> ComparisonRecord:
    body: dict[str, Any] = item.body
    failure, (baseline, comparison) = body["failure"], body["revisions"]
    return ComparisonRecord(
        workspace=workspace,
        id=item.pk.rpartition("#")[2],
        spec=decode(ComparisonSpec, body["spec"]),
        revisions=(baseline, comparison),
        created_at=from_iso(body["createdAt"]),
        status=JobStatus(item.status),
        verdict=body["verdict"],
        sentence=body["sentence"],
        failure=RunFailure(**failure) if failure else None,
        completed_at=from_optional_iso(body["completedAt"]),
    )
