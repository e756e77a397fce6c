"""Texts of chats in items, and the artifacts of a turn.

A short text is stored in the item. A long one is stored as an object, which is written before the item that names it.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson
from pynamodb.attributes import JSONAttribute

from cupel_core.base.ids import new_short_id
from cupel_core.base.messages import ChatRef
from cupel_core.store import blobs, keys, object_names
from cupel_core.store.table import Item

MAX_INLINE_BYTES = 8_192
"""Longer texts are stored in the bucket. An item has at most 400 KB, and each write of it is charged by the KB."""


ARTIFACTS = "artifacts#"


def write_text(ref: ChatRef, text: str) -> dict[str, Any]:
    """Store a text and return what its item contains: the text or the name of its object."""
    if len(text.encode()) <= MAX_INLINE_BYTES:
        return {"text": text}
    key = object_names.chat_blob(ref, new_short_id() + new_short_id())
    blobs.put_json(key, text)
    return {"blob": key}


def read_text(stored: Mapping[str, Any]) -> str:
    return str(stored["text"] if "text" in stored else blobs.get_json(stored["blob"]))


@lru_cache(maxsize=16)
def _read_settings_blob(key: str) -> str:
    return str(blobs.get_json(key))


def read_settings(stored: Mapping[str, Any]) -> Any:
    """Return a document that many requests read. Objects never change, so each process caches those of the last few
    chats."""
    text = stored["text"] if "text" in stored else _read_settings_blob(stored["blob"])
    return orjson.loads(text)


def write_json(ref: ChatRef, value: object) -> dict[str, Any]:
    """Store a document and return what its item contains: the document or the name of its object."""
    return write_text(ref, orjson.dumps(value).decode())


def read_json(stored: Mapping[str, Any]) -> Any:
    return orjson.loads(read_text(stored))


class ArtifactsItem(Item):
    body = JSONAttribute()


def get_artifacts(ref: ChatRef, turn_id: str) -> dict[str, Any]:
    try:
        item = ArtifactsItem.get(keys.chat(ref), f"{ARTIFACTS}{turn_id}", consistent_read=True)
    except ArtifactsItem.DoesNotExist:
        return {}
    artifacts: dict[str, Any] = read_json(item.body)
    return artifacts
