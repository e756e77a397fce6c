"""Definitions and scenarios as the YAML of a definition file, and the differences between two versions."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from functools import cached_property
from typing import Any

import yaml
from yaml.representer import SafeRepresenter

from cupel.json_types import Json

_FILE_FIELDS = ("id", "name", "folder", "tags", "content")
_NOT_IN_FILES = ("id", "definitionId", "definitionVersion")
_WRITTEN_BY_AUTHORS = frozenset({"value", "config", "parameters", "schema", "extraBody"})
"""An empty list, an empty object or null within these fields has a meaning, as in an assertion that expects `[]`."""
_DEFAULTS = (("failureCriteriaMode", "on_max_messages"), ("separateTurns", False))


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Long texts are blocks. Ten times as fast where PyYAML has its compiled half."""


def _represent_text(dumper: SafeRepresenter, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_multi_representer(str, _represent_text)  # enumerations


def definition_text(definition: Json, scenarios: Iterable[Json] | None) -> str:
    """A file that describes this version; comments say which one it is."""
    label = f" ({definition['versionLabel']})" if definition.get("versionLabel") else ""
    count = definition["scenarioCount"]
    comment = f"# version {definition['version']}{label}, {count:,} scenario{'' if count == 1 else 's'}"
    parts = {name: without_empty(definition[name]) for name in _FILE_FIELDS if definition[name]}
    if scenarios is not None:
        parts["scenarios"] = [scenario_fields(each) for each in scenarios]
    return f"{comment}\n{to_yaml(parts)}"


def scenario_text(scenario: Json) -> str:
    return f"# {scenario['id']}\n{to_yaml(scenario_fields(scenario))}"


def scenario_fields(scenario: Json) -> Json:
    """The fields of a scenario in a file: without ids and what is not set, and with a single user message as prompt."""
    fields: Json = without_empty({name: value for name, value in scenario.items() if name not in _NOT_IN_FILES})
    if scenario.get("metadata"):  # Its values are the author's: null and empty ones too.
        fields["metadata"] = scenario["metadata"]
    messages = fields.get("messages") or []
    if len(messages) == 1 and messages[0]["role"] == "user" and isinstance(messages[0]["content"], str):
        fields = {("prompt" if name == "messages" else name): value for name, value in fields.items()}
        fields["prompt"] = messages[0]["content"]
    return {name: value for name, value in fields.items() if (name, value) not in _DEFAULTS}


def without_empty(value: Any) -> Any:
    """Return the value without fields that are null or empty lists or objects, except within what authors write."""
    if isinstance(value, dict):
        return {name: each for name, each in map(_without_empty_fields, value.items()) if _is_written(name, each)}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


def _without_empty_fields(field: tuple[str, Any]) -> tuple[str, Any]:
    name, value = field
    return name, value if name in _WRITTEN_BY_AUTHORS else without_empty(value)


def _is_written(name: str, value: Any) -> bool:
    return value is not None and (name in _WRITTEN_BY_AUTHORS or value not in ([], {}))


def to_yaml(value: Any) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


@dataclass(frozen=True)
class VersionDiff:
    """Scenarios are compared by their fields: an edited file replaces all of them, so their ids differ."""

    before: Json
    after: Json
    scenarios_before: list[Json]
    scenarios_after: list[Json]

    def lines(self, *, scenarios_only: bool = False) -> Iterator[str]:
        """A unified diff of the YAML; empty if nothing differs."""
        if not scenarios_only:
            contents = (without_empty(each["content"]) for each in (self.before, self.after))
            yield from self._unified("content", *contents)
        for removed, added in self._changed_blocks:
            place = _place(added if len(added) else removed)
            old = [scenario_fields(self.scenarios_before[position]) for position in removed]
            new = [scenario_fields(self.scenarios_after[position]) for position in added]
            yield from self._unified(place, old, new)

    def to_json(self, *, scenarios_only: bool = False) -> Json:
        """Of the content, the fields that differ; of the scenarios, those that only one of the versions has."""
        document: Json = {
            "definitionId": self.after["id"],
            "from": self.before["version"],
            "to": self.after["version"],
            "content": self._changed_fields(),
            "removedScenarios": [self.scenarios_before[n] for removed, _ in self._changed_blocks for n in removed],
            "addedScenarios": [self.scenarios_after[n] for _, added in self._changed_blocks for n in added],
        }
        if scenarios_only:
            del document["content"]
        return document

    def _changed_fields(self) -> Json:
        old, new = (without_empty(each["content"]) for each in (self.before, self.after))
        changed = (name for name in {**old, **new} if old.get(name) != new.get(name))
        return {name: {"before": old.get(name), "after": new.get(name)} for name in changed}

    @cached_property
    def _changed_blocks(self) -> list[tuple[range, range]]:
        """The positions of scenarios that differ, in each version."""
        old, new = (
            [json.dumps(scenario_fields(each), sort_keys=True) for each in scenarios]
            for scenarios in (self.scenarios_before, self.scenarios_after)
        )
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        return [(range(a, b), range(c, d)) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]

    def _unified(self, part: str, old: Any, new: Any) -> Iterator[str]:
        old_name, new_name = (f"version {each['version']} {part}" for each in (self.before, self.after))
        old_lines, new_lines = (to_yaml(each).splitlines() if each else [] for each in (old, new))
        return unified_diff(old_lines, new_lines, old_name, new_name, lineterm="")


def _place(positions: range) -> str:
    """Name scenarios as users count: `scenario 3`, `scenarios 3-5`."""
    first, last = positions.start + 1, positions.stop
    return f"scenario {first}" if first == last else f"scenarios {first}-{last}"
