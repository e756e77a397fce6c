"""The tree of forks. A fork pins its parent's version and stores only what it overrides."""

from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from cupel_core.definitions.catalog import Definition, Labels
from cupel_core.definitions.resolution import check, content_of, parent_of
from cupel_core.domain.definitions.definitions import Head, Version, merge
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.errors import Invalid
from cupel_core.ids import new_id
from cupel_core.paging import Page, decode_index, encode_cursor
from cupel_core.store import definitions, scenarios

MAX_DEPTH = 20
"""Ancestors of a definition: resolving its content reads each."""
_SHAPES_SCENARIOS = frozenset({"template", "dimensions"})


def fork(
    workspace: str,
    parent_id: str,
    labels: Labels,
    overrides: Mapping[str, Any],
    now: datetime,
    version: int | None = None,
) -> Definition:
    """Content fields in `overrides` replace the parent's, null unsets one; all others are inherited.

    The scenarios are inherited as they are now, unless what they were made from is overridden.
    """
    parent = definitions.get(workspace, parent_id)
    pinned = Version(parent_id, parent.version if version is None else version)
    content = check(merge(content_of(workspace, parent, pinned.number), overrides))
    if sum(1 for _ in _lineage(workspace, parent)) >= MAX_DEPTH:
        raise Invalid(f"a definition has at most {MAX_DEPTH} ancestors")
    manifest = Manifest() if _SHAPES_SCENARIOS & set(overrides) else scenarios.manifest(workspace, parent_id)
    unnamed = Head(new_id("def"), f"{parent.name} (fork)", now, now, folder=parent.folder, parent=pinned)
    head = labels.on(unnamed)
    definitions.create(workspace, head, overrides, manifest if manifest.total else None)
    return Definition(head, head.version, content, manifest.total)


def ancestors(workspace: str, definition_id: str, *, limit: int, cursor: str | None) -> Page[Head]:
    """Nearest first; deleted ones are left out."""
    head = definitions.get(workspace, definition_id)
    found = [ancestor for ancestor in islice(_lineage(workspace, head), 1, None) if not ancestor.deleted_at]
    start = decode_index(cursor)
    return _page(found[start : start + limit + 1], start, limit)


def descendants(workspace: str, definition_id: str, *, limit: int, cursor: str | None) -> Page[Head]:
    """Level by level, oldest first in each; deleted ones are left out, their own forks are not."""
    definitions.get(workspace, definition_id)
    start = decode_index(cursor)
    ids = list(islice(_below(workspace, definition_id), start, start + limit + 1))
    known = definitions.heads(workspace, ids[:limit])
    more = encode_cursor(str(start + limit)) if len(ids) > limit else None
    return Page(tuple(known[each] for each in ids[:limit] if each in known), more)


def _lineage(workspace: str, head: Head) -> Iterator[Head]:
    """The definition itself, its parent, and so on to the root."""
    yield head
    while head.parent:
        head = parent_of(workspace, head.parent)
        yield head


def _below(workspace: str, definition_id: str) -> Iterator[str]:
    waiting = deque([definition_id])
    while waiting:
        for child in definitions.children(workspace, waiting.popleft()):
            yield child
            waiting.append(child)


def _page(found: list[Head], start: int, limit: int) -> Page[Head]:
    return Page(tuple(found[:limit]), encode_cursor(str(start + limit)) if len(found) > limit else None)
