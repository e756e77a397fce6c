"""Handles entity tags and `If-Match`: a change based on a state is refused if that is no longer the state.

The check is part of the write: what was read and checked is written on condition that it is still what is stored.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict, PreconditionFailed

_ANY = "*"
_TAG_LENGTH = 32


def etag(revision: int | str) -> str:
    return f'"{revision}"'


def content_etag(content: object) -> str:
    """Return the strong entity tag of JSON content that has no revision."""
    text = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    return etag(hashlib.sha256(text).hexdigest()[:_TAG_LENGTH])


def bytes_etag(content: bytes) -> str:
    """Return the strong entity tag of a response without a revision."""
    return etag(hashlib.sha256(content).hexdigest()[:_TAG_LENGTH])


@dataclass(frozen=True)
class Precondition:
    """Contains the tags of an `If-Match` header; None for a request without it."""

    tags: frozenset[str] | None = None

    @classmethod
    def parse(cls, header: str | None) -> "Precondition":
        """Parse the header; weak tags and other text match nothing."""
        return cls(None if header is None else frozenset(tag.strip() for tag in header.split(",")))

    @property
    def is_set(self) -> bool:
        """Return whether the request has an `If-Match`, so that what is written depends on what was read."""
        return self.tags is not None

    def check(self, current: str) -> None:
        """Raise PreconditionFailed unless the header names the current tag, or any."""
        if self.tags is not None and _ANY not in self.tags and current not in self.tags:
            raise PreconditionFailed(f"If-Match does not name the current state, whose ETag is {current}", current)

    @contextmanager
    def guard_write(self) -> Iterator[None]:
        """Raise PreconditionFailed instead of Conflict if the state changed between `check` and this write."""
        try:
            yield
        except Conflict as conflict:
            if self.tags is None or _ANY in self.tags or conflict.errors:
                raise
            raise PreconditionFailed(conflict.detail) from None


UNCONDITIONAL = Precondition()
