"""Definitions: their versions, forks and scenarios."""

from shared.definitions.contents import Resolved, resolve

__all__ = ["Resolved", "resolve"]
