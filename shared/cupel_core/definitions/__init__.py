"""Definitions: their versions, forks and scenarios.

Resolving a definition needs the store, which is imported only when it is used: validation of user input must also work
without AWS (cupel/in_process).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cupel_core.definitions.resolution import ResolvedDefinition, resolve

__all__ = ["ResolvedDefinition", "resolve"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from cupel_core.definitions import resolution

    return getattr(resolution, name)
