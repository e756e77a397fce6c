"""Finds operations by id and by path in the generated index, and loads an operation's module when it is called.

A cold start answers a single request; loading all operations and their models would take a third of it.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from cupel_core.contract.operation import Operation, operations_of
from cupel_core.contract.routes import OPENAI_PREFIX, Route
from cupel_core.interfaces.index import INDEX

ROUTES = {each.id: each for each in INDEX}
_WORD = 2
"""The segment of a path that is never a parameter: `runs` in `/v1/runs/{run_id}`."""
_loaded: dict[str, Operation] = {}


def load(route: Route) -> Operation:
    if route.id not in _loaded:
        _loaded.update((each.id, each) for each in operations_of(import_module(f"cupel_core.{route.module}")))
    return _loaded[route.id]


def find_operation(operation_id: str) -> Operation:
    """Return an operation. Raises KeyError for an unknown id."""
    return load(ROUTES[operation_id])


def load_all(routes: Iterable[Route] = INDEX) -> list[Operation]:
    return [load(each) for each in routes]


@cache
def _by_shape() -> dict[tuple[int, str], list[Route]]:
    """Group routes by the number of segments and a word of their paths: a request is compared with a few only.

    Paths with fewer parameters come later, and so take precedence: `/imports/promptfoo` over `/imports/{format}`.
    """
    by_shape = defaultdict[tuple[int, str], list[Route]](list)
    for route in sorted(INDEX, key=lambda route: -route.path.count("{")):
        by_shape[_shape(route.path)].append(route)
    return by_shape


def _shape(path: str) -> tuple[int, str]:
    segments, word = path.split("/"), _WORD + path.startswith(f"{OPENAI_PREFIX}/")
    return len(segments), segments[word] if len(segments) > word else ""


def routes_at(path: str) -> dict[str, Route]:
    segments = path.split("/")
    return {each.method: each for each in _by_shape().get(_shape(path), ()) if each.serves(segments)}


def methods_at(path: str) -> list[str]:
    declared = set(routes_at(path))
    implied = {"OPTIONS"} | ({"HEAD"} if "GET" in declared else set())
    return sorted(declared | implied) if declared else []
