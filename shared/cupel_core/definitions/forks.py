"""The tree of forks. A fork pins its parent's version and stores only what it overrides."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from cupel_core.base.errors import Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.paging import Page, decode_index, encode_cursor
from cupel_core.definitions.files.attachments import attach_to_content
from cupel_core.definitions.resolution import content_of, parent_of
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import (
    Definition,
    DefinitionHead,
    DefinitionVersion,
    Labels,
    merge_overrides,
)
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.store import definition_scenarios, definitions
from cupel_core.store.definitions import UnknownVersion

MAX_DEPTH = 20
"""The maximum number of ancestors. Resolving a definition reads each of them."""
_SCENARIO_SOURCES = frozenset({"template", "dimensions"})


def fork(
    workspace: str,
    parent_id: str,
    labels: Labels,
    overrides: Mapping[str, Any],
    now: datetime,
    version: int | None = None,
) -> Definition:
    """Create a fork: content fields in `overrides` replace the parent's, null unsets a field, others are inherited. The
    scenarios of the parent's version are inherited too, unless `overrides` changes what they are generated from. Raise
    Invalid for invalid content, an unknown version and more than MAX_DEPTH ancestors."""
    parent = definitions.get(workspace, parent_id)
    pinned = DefinitionVersion(parent_id, parent.version if version is None else version)
    overrides = attach_to_content(workspace, overrides, now)
    try:
        inherited = content_of(workspace, parent, pinned.number)
    except UnknownVersion as unknown:
        raise Invalid.field("version", unknown.detail) from None
    merged = merge_overrides(inherited, overrides)
    content = validate_content(merged, has_scenarios=True)  # It shares its parent's scenarios.
    if sum(1 for _ in _lineage(workspace, parent)) >= MAX_DEPTH:
        raise Invalid(f"a definition has at most {MAX_DEPTH} ancestors")
    inherits = not _SCENARIO_SOURCES & set(overrides)
    manifest = definition_scenarios.get_manifest(workspace, *pinned) if inherits else Manifest()
    unnamed = DefinitionHead(new_id("def"), f"{parent.name} (fork)", now, now, folder=parent.folder, parent=pinned)
    head = replace(labels.apply_to(unnamed), version_label=labels.version_label or None)
    definitions.create(workspace, head, overrides, manifest if manifest.total else None)
    return Definition(head, head.version, content, manifest.total)


def list_ancestors(workspace: str, definition_id: str, *, limit: int, cursor: str | None) -> Page[DefinitionHead]:
    """Return the ancestors, nearest first, without deleted ones."""
    head = definitions.get(workspace, definition_id)
    heads = [ancestor for ancestor in islice(_lineage(workspace, head), 1, None) if not ancestor.deleted_at]
    start = decode_index(cursor)
    page = heads[start : start + limit + 1]
    cursors = tuple(encode_cursor(str(start + number)) for number in range(len(page[:limit])))
    return Page(tuple(page[:limit]), _next_cursor(start, limit, len(page)), cursors)


def list_descendants(workspace: str, definition_id: str, *, limit: int, cursor: str | None) -> Page[DefinitionHead]:
    """Return the descendants level by level, oldest first within a level, without deleted ones but with their forks."""
    definitions.get(workspace, definition_id)
    start = decode_index(cursor)
    ids = list(islice(_descendant_ids(workspace, definition_id), start, start + limit + 1))
    heads = definitions.get_heads(workspace, ids[:limit])
    kept = [(encode_cursor(str(index)), heads[each]) for index, each in enumerate(ids[:limit], start) if each in heads]
    cursors = tuple(cursor for cursor, _ in kept)
    return Page(tuple(head for _, head in kept), _next_cursor(start, limit, len(ids)), cursors)


def _lineage(workspace: str, head: DefinitionHead) -> Iterator[DefinitionHead]:
    """Yield the definition itself, its parent, and so on to the root."""
    yield head
    while head.parent:
        head = parent_of(workspace, head.parent)
        yield head


def _descendant_ids(workspace: str, definition_id: str) -> Iterator[str]:
    queue = deque([definition_id])
    while queue:
        for fork_id in definitions.list_fork_ids(workspace, queue.popleft()):
            yield fork_id
            queue.append(fork_id)


def _next_cursor(start: int, limit: int, read: int) -> str | None:
    return encode_cursor(str(start + limit)) if read > limit else None
