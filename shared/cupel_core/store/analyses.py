"""Analyses of a run: one item each, with the figures as a document in the bucket. Superseded analyses stay listed."""

from collections.abc import Iterator

from pynamodb.attributes import JSONAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord, AnalysisStatus
from cupel_core.domain.runs.run import RunFailure
from cupel_core.store import blobs, keys, object_names
from cupel_core.store.document_cache import DocumentCache
from cupel_core.store.listing import list_newest
from cupel_core.store.table import Item

MAX_CACHED_BYTES = 16_000_000
documents = DocumentCache(bytes, MAX_CACHED_BYTES)


class AnalysisItem(Item):
    status = UnicodeAttribute()
    revision = UnicodeAttribute()
    body = JSONAttribute()


def save(record: AnalysisRecord, document: bytes | None = None) -> None:
    """Store an analysis. Its figures (JSON) are written first, so that every listed analysis can be read."""
    ref = _ref(record)
    if document is not None:
        blobs.put_text(object_names.analysis_document(ref, record.id), document)
    _to_item(record).save()


def read_document(record: AnalysisRecord) -> bytes:
    """Return the figures of a completed analysis, which never change. Raise NotFound if the run is being erased."""
    return documents(object_names.analysis_document(_ref(record), record.id))


def save_narrative(ref: RunRef, key: str, document: bytes) -> None:
    blobs.put_text(object_names.narrative_reply(ref, key), document)


def find_narrative(ref: RunRef, key: str) -> bytes | None:
    try:
        return blobs.get_text(object_names.narrative_reply(ref, key))
    except NotFound:
        return None


def find(ref: RunRef, like: AnalysisRecord) -> AnalysisRecord | None:
    """Return the stored analysis with the same id, kind, rescore and time. The read is strongly consistent."""
    key = keys.analysis(like.kind, like.rescore_id, to_iso(like.created_at), like.id)
    try:
        return _from_item(ref, AnalysisItem.get(keys.analyses(ref), key, consistent_read=True))
    except AnalysisItem.DoesNotExist:
        return None


def find_newest(ref: RunRef, rescore_id: str | None, kind: AnalysisKind = AnalysisKind.BASIC) -> AnalysisRecord | None:
    """Return the newest analysis of this kind and rescore. The read is strongly consistent."""
    prefix = keys.analysis(kind, rescore_id, "", "")
    found: Iterator[AnalysisItem] = AnalysisItem.query(
        keys.analyses(ref), AnalysisItem.sk.startswith(prefix), scan_index_forward=False, limit=1, consistent_read=True
    )
    item = next(iter(found), None)
    return None if item is None else _from_item(ref, item)


def list_analyses(ref: RunRef, limit: int, cursor: str | None) -> Page[AnalysisRecord]:
    """Return a page of a run's analyses, newest first: those of the run's own scoring, then those of its rescores."""
    entries = list_newest(AnalysisItem, keys.analyses(ref), limit, cursor, by_sort_key=True)
    return fill_page((entry.map(lambda item: _from_item(ref, item)) for entry in entries), limit)


def _ref(record: AnalysisRecord) -> RunRef:
    return RunRef(record.workspace, record.run_id)


def _to_item(record: AnalysisRecord) -> AnalysisItem:
    body = {
        "id": record.id,
        "kind": record.kind,
        "rescoreId": record.rescore_id,
        "algorithmVersion": record.algorithm_version,
        "createdAt": to_iso(record.created_at),
        "inputsHash": record.inputs_hash,
        "failure": record.failure and record.failure.to_event(),
        "narrator": record.narrator,
    }
    return AnalysisItem(
        keys.analyses(_ref(record)),
        keys.analysis(record.kind, record.rescore_id, to_iso(record.created_at), record.id),
        status=record.status,
        revision=record.revision,
        body={name: value for name, value in body.items() if value is not None},
    )


def _from_item(ref: RunRef, item: AnalysisItem) -> AnalysisRecord:
    body = dict(item.body)
    failure = body.get("failure")
    return AnalysisRecord(
        id=body["id"],
        workspace=ref.workspace,
        run_id=ref.run_id,
        kind=AnalysisKind(body["kind"]),
        status=AnalysisStatus(item.status),
        revision=item.revision,
        algorithm_version=body["algorithmVersion"],
        created_at=from_iso(body["createdAt"]),
        rescore_id=body.get("rescoreId"),
        inputs_hash=body.get("inputsHash"),
        failure=RunFailure(failure["where"], failure["why"]) if failure else None,
        narrator=body.get("narrator"),
    )
