import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

import cupel_core

_FILE = Path(cupel_core.__file__).parent / "interfaces/mcp_operations.json"
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_WEIGHTS = {"id": 8, "tag": 6, "summary": 4, "path": 2, "description": 1}
_FEW_LETTERS = 3


class Found(NamedTuple):
    score: int
    entry: Mapping[str, Any]


def search(query: str, limit: int) -> list[Mapping[str, Any]]:
    """Return the operations with the most words of the query, best first; equal ones are sorted by their ids."""
    words = set(words_of(query))
    found = [Found(_score(words, texts), entry) for entry, texts in _indexed()]
    found = [each for each in found if each.score > 0]
    found.sort(key=lambda each: (-each.score, each.entry["id"]))
    return [each.entry for each in found[:limit]]


def words_of(text: str) -> Iterable[str]:
    """Return the words of a text in lower case, without the ending of the plural: `run` for `listRuns`."""
    for word in _WORD.findall(text):
        folded = word.lower()
        yield folded.removesuffix("s") if len(folded) > _FEW_LETTERS and not folded.endswith("ss") else folded


def _score(words: set[str], texts: Mapping[str, frozenset[str]]) -> int:
    return sum(max((_WEIGHTS[name] for name, own in texts.items() if word in own), default=0) for word in words)


@cache
def read_operations() -> list[dict[str, Any]]:
    operations: list[dict[str, Any]] = orjson.loads(_FILE.read_bytes())
    return operations


@cache
def _indexed() -> list[tuple[dict[str, Any], dict[str, frozenset[str]]]]:
    return [(entry, {name: frozenset(words_of(entry[name] or "")) for name in _WEIGHTS}) for entry in read_operations()]
