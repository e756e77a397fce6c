"""Adds what `cupel up` needs outside of a clone (cupel/stack/sources.py) to the wheel; a clone has it in place."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = "cupel/stack/packaged"
_SOURCES = (
    "functions",
    "pyproject.toml",
    "samconfig.toml",
    "shared/Makefile",
    "statemachines",
    "template.yaml",
    "uv.lock",
)


class StackSources(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"] |= {name: f"{_FOLDER}/{name}" for name in _SOURCES}
