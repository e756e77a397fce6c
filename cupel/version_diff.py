"""What differs between two versions of a definition."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from functools import cached_property
from typing import Any

from cupel.definition_texts import scenario_fields, to_yaml, without_empty
from cupel.json_types import Json


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
    """As users count: `scenario 3`, `scenarios 3-5`."""
    first, last = positions.start + 1, positions.stop
    return f"scenario {first}" if first == last else f"scenarios {first}-{last}"
