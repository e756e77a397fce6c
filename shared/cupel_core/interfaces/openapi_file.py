"""The OpenAPI document as the API serves it: whole, or the part with some tags.

`python -m tools.generate` writes the file, because making the document loads every model and takes seconds.
"""

import gzip
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson

import cupel_core
from cupel_core.base.errors import Invalid

NAME = "interfaces/openapi.json.gz"
_REFERENCE = re.compile(r'"#/components/(\w+)/([\w.-]+)"')
_MAX_PARTS = 16
"""The cache has at most this many parts of the document."""


@cache
def read_document() -> dict[str, Any]:
    content = (Path(cupel_core.__file__).parent / NAME).read_bytes()
    return dict(orjson.loads(gzip.decompress(content)))


@lru_cache(maxsize=_MAX_PARTS)
def read_part(tags: frozenset[str]) -> dict[str, Any]:
    """Return the operations with these tags, and the components that they refer to, directly or not.

    Raises Invalid for an unknown tag.
    """
    whole = read_document()
    known = [each["name"] for each in whole["tags"]]
    if unknown := sorted(tags.difference(known)):
        raise Invalid.field("tags", f"has no {', '.join(map(repr, unknown))}; the tags are {', '.join(known)}")
    paths = {
        path: chosen
        for path, item in whole["paths"].items()
        if (chosen := {method: each for method, each in item.items() if not tags.isdisjoint(each["tags"])})
    }
    needed = _needed(whole, paths)
    components = {
        kind: found
        for kind, each in whole["components"].items()
        if (found := {name: value for name, value in each.items() if (kind, name) in needed})
    }
    components["securitySchemes"] = whole["components"]["securitySchemes"]
    return {**whole, "tags": [each for each in whole["tags"] if each["name"] in tags], "paths": paths} | {
        "components": components
    }


def _needed(whole: dict[str, Any], paths: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the kinds and names of the components that these paths refer to, directly or not."""
    found: set[tuple[str, str]] = set()
    to_read: list[Any] = [paths]
    while to_read:
        for kind, name in set(_REFERENCE.findall(orjson.dumps(to_read.pop()).decode())) - found:
            found.add((kind, name))
            to_read.append(whole["components"][kind][name])
    return found
