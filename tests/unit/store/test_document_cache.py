"""What a process caches is bounded by bytes, because a workspace decides how large its documents are."""

from typing import Any

import orjson
import pytest

from cupel_core.store import blobs
from cupel_core.store.document_cache import DocumentCache
from cupel_core.store.settings import Settings


@pytest.fixture
def read(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys that are read from the bucket."""
    keys: list[str] = []
    get_text = blobs.get_text

    def recording(key: str) -> bytes:
        keys.append(key)
        return get_text(key)

    monkeypatch.setattr(blobs, "get_text", recording)
    for name in "abc":
        blobs.put_json(name, name * 100)
    return keys


def cache(max_bytes: int) -> DocumentCache[Any]:
    return DocumentCache(orjson.loads, max_bytes)


def test_a_cached_document_is_read_once(read: list[str]) -> None:
    documents = cache(1_000)
    assert [documents("a"), documents("a")] == ["a" * 100] * 2
    assert read == ["a"]


def test_the_document_that_was_used_least_recently_gives_way(read: list[str]) -> None:
    documents = cache(250)
    for key in ("a", "b", "a", "c", "a", "b"):
        documents(key)
    assert read == ["a", "b", "c", "b"]


def test_the_last_document_is_cached_whatever_its_size(read: list[str]) -> None:
    documents = cache(10)
    for key in ("a", "a", "b", "a"):
        documents(key)
    assert read == ["a", "b", "a"]
