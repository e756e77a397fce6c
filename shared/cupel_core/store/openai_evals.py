"""The fields of OpenAI's Evals API that a definition does not have: one item for an eval, one for the data of a run."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Creation, Entry, encode_cursor
from cupel_core.domain.openai_evals.rows import STORED_ANSWERS
from cupel_core.store import keys
from cupel_core.store.listing import list_newest
from cupel_core.store.table import CreationIndex, ExtraWrite, Item

_EVAL = "openai-eval"


@dataclass(frozen=True)
class EvalRecord:
    """The eval's graders and name are stored in the definition."""

    definition_id: str
    created_at: datetime
    data_source_config: Mapping[str, Any]
    metadata: Mapping[str, str] | None = None


@dataclass(frozen=True)
class DataRecord:
    source: Mapping[str, Any] = field(default_factory=dict)
    """The data source without rows, model and parameters."""
    digest: str = ""
    eval_id: str | None = None
    """The eval, if the definition was made for a run of one."""

    @property
    def is_recorded(self) -> bool:
        """Return whether the data has the answers, so that no model is called."""
        is_stored = self.source["source"]["type"] in STORED_ANSWERS
        return self.source["type"] == "jsonl" or (is_stored and "input_messages" not in self.source)


class OpenAIEvalItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute(null=True)
    gsi1sk = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute(attr_name="createdAt")
    data_source_config = JSONAttribute(attr_name="dataSourceConfig")
    metadata = JSONAttribute(null=True)


class OpenAIDataItem(Item):
    source = JSONAttribute()
    digest = UnicodeAttribute()
    eval_id = UnicodeAttribute(attr_name="evalId", null=True)


def creation(workspace: str, record: EvalRecord) -> ExtraWrite:
    return ExtraWrite(_item(workspace, record), OpenAIEvalItem.pk.does_not_exist())


def replacement(workspace: str, record: EvalRecord) -> ExtraWrite:
    return ExtraWrite(_item(workspace, record), OpenAIEvalItem.pk.exists())


def data_creation(workspace: str, definition_id: str, version: int, record: DataRecord) -> ExtraWrite:
    pk = keys.definition(workspace, definition_id)
    source, sort_key = dict(record.source), keys.openai_data(version)
    item = OpenAIDataItem(pk, sort_key, source=source, digest=record.digest, eval_id=record.eval_id)
    return ExtraWrite(item, OpenAIDataItem.pk.does_not_exist())


def get(workspace: str, definition_id: str) -> EvalRecord:
    """Return the record. Raise NotFound if the definition was not created as an eval of OpenAI's API."""
    try:
        item = OpenAIEvalItem.get(keys.definition(workspace, definition_id), _EVAL, consistent_read=True)
    except OpenAIEvalItem.DoesNotExist:
        raise NotFound(f"there is no eval {definition_id}") from None
    return _record(item)


def find_data(workspace: str, definition_id: str, version: int) -> DataRecord | None:
    """Return the record, or None if the version was not made for a run of OpenAI's API."""
    try:
        item = OpenAIDataItem.get(
            keys.definition(workspace, definition_id), keys.openai_data(version), consistent_read=True
        )
    except OpenAIDataItem.DoesNotExist:
        return None
    return DataRecord(item.source, item.digest, item.eval_id)


def list_evals(workspace: str, after: EvalRecord | None, limit: int, *, oldest_first: bool) -> Iterator[EvalRecord]:
    """Yield the evals after `after` by creation time, lazily, including those whose definition is deleted."""
    cursor = None if after is None else encode_cursor(f"{to_iso(after.created_at)}#{after.definition_id}")
    entries: Iterator[Entry[OpenAIEvalItem]] = list_newest(
        OpenAIEvalItem, keys.openai_evals(workspace), limit, cursor, created=Creation(oldest_first=oldest_first)
    )
    return (_record(entry.item) for entry in entries if entry.item is not None)


def _item(workspace: str, record: EvalRecord) -> OpenAIEvalItem:
    return OpenAIEvalItem(
        keys.definition(workspace, record.definition_id),
        _EVAL,
        gsi1pk=keys.openai_evals(workspace),
        gsi1sk=f"{to_iso(record.created_at)}#{record.definition_id}",
        created_at=to_iso(record.created_at),
        data_source_config=dict(record.data_source_config),
        metadata=None if record.metadata is None else dict(record.metadata),
    )


def _record(item: OpenAIEvalItem) -> EvalRecord:
    definition_id = item.pk.rpartition("#")[2]
    return EvalRecord(definition_id, from_iso(item.created_at), item.data_source_config, item.metadata)
