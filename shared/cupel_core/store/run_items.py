from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import replace
from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.runs.run import Run
from cupel_core.store import keys
from cupel_core.store.table import CreationIndex, Item


class RunItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    definition_id = UnicodeAttribute(attr_name="definitionId")
    experiment_id = UnicodeAttribute(attr_name="experimentId", null=True)
    schedule_id = UnicodeAttribute(attr_name="scheduleId", null=True)
    eval_id = UnicodeAttribute(attr_name="evalId", null=True)
    status = UnicodeAttribute()
    folded_name = UnicodeAttribute(attr_name="foldedName", null=True)
    tags = UnicodeSetAttribute(null=True)
    metadata_entries = UnicodeSetAttribute(attr_name="metadataEntries", null=True)
    """Texts `key=value` to filter by. The metadata itself is in the body."""
    fencing_token = NumberAttribute(attr_name="fencingToken")
    event_seq = NumberAttribute(attr_name="eventSeq")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)
    body = JSONAttribute()
    """The whole run. The other attributes are for conditions and filters."""


def from_item(item: RunItem) -> Run:
    # Deleting a run changes only this attribute.
    deleted_at = from_iso(item.deleted_at) if item.deleted_at else None
    return replace(decode(Run, item.body), deleted_at=deleted_at)


def to_item(run: Run) -> RunItem:
    ref = RunRef(run.workspace, run.id)
    return RunItem(
        keys.run(ref),
        "run",
        gsi1pk=f"{run.workspace}#runs",
        gsi1sk=f"{to_iso(run.created_at)}#{run.id}",
        definition_id=run.definition_id,
        experiment_id=run.experiment_id,
        schedule_id=run.schedule_id,
        eval_id=run.eval_id,
        status=run.status,
        folded_name=run.labels.name and run.labels.name.casefold(),
        tags=set(run.labels.tags) or None,
        metadata_entries=set(run.labels.metadata_entries()) or None,
        fencing_token=run.fencing_token,
        event_seq=run.event_seq,
        deleted_at=run.deleted_at and to_iso(run.deleted_at),
        body=encode(run),
    )
