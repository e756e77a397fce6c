"""A cache of documents from the bucket. Its size is bounded, because a workspace decides how large its documents
are."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from cupel_core.store import blobs


class DocumentCache[T]:
    """Reads documents and caches the last read ones, up to `max_bytes` of JSON together. In memory a parsed document
    takes about five times as many bytes. The last one is cached whatever its size."""

    def __init__(self, parse: Callable[[bytes], T], max_bytes: int) -> None:
        self._parse = parse
        self._max_bytes = max_bytes
        self._documents: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def __call__(self, key: str) -> T:
        with self._lock:
            if key in self._documents:
                self._documents.move_to_end(key)
                return self._documents[key][0]
        text = blobs.get_text(key)
        document = self._parse(text)
        with self._lock:
            self._add(key, document, len(text))
        return document

    def cache_clear(self) -> None:
        with self._lock:
            self._documents.clear()
            self._size = 0

    def _add(self, key: str, document: T, size: int) -> None:
        if key in self._documents:
            return
        self._documents[key] = (document, size)
        self._size += size
        while self._size > self._max_bytes and len(self._documents) > 1:
            _, (_, freed) = self._documents.popitem(last=False)
            self._size -= freed
