"""Definitions: their versions, forks and scenarios.

What is resolved lies in the store, which is loaded when it is asked for: the shapes of what people write are read
without any cloud too (cupel/evaluating).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cupel_core.definitions.resolution import Resolved, resolve

__all__ = ["Resolved", "resolve"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from cupel_core.definitions import resolution

    return getattr(resolution, name)
