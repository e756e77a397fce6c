"""Lists what changed between two runs: a change only explains a difference if it is the only one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from difflib import unified_diff
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass

MAX_DIFF_LENGTH = 20_000
_CONTENT = {
    "dimensions": "The dimensions or their levels differ",
    "matchingRules": "The matching rules differ",
    "decision": "The rule that reads decisions differs",
    "assertions": "The assertions differ",
    "derivedMetrics": "The derived metrics differ",
    "followUps": "The follow-up messages differ",
}
_CONFIG = {
    "maxTurns": "Maximum turns",
    "judgeModel": "Judge",
    "personaModel": "Simulated user",
    "embeddingModel": "Embedding model",
    "evaluatorUrl": "Evaluator",
}
_ABSENT = "none"


@dataclass(frozen=True)
class RunDescription:
    definition_id: str
    definition_version: int
    definition_name: str
    content: Mapping[str, Any]
    """The definition's content has the shape of the API."""
    targets: Mapping[str, str]
    params: Mapping[str, Mapping[str, Any]]
    config: Mapping[str, Any]
    repeats: int
    sample_percentage: int
    sample_seed: int
    scenario_count: int
    scenario_total: int
    rescore_id: str | None
    model_versions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


class RunChange(NamedTuple):
    """`aspect` is a stable name, and `summary` is a sentence."""

    aspect: str
    summary: str
    baseline: Any = None
    comparison: Any = None
    is_cause: bool = True
    """A cause can explain a difference; another number of repeats, for example, cannot."""


@dataclass(frozen=True)
class WhatChanged:
    changes: tuple[RunChange, ...]
    diff: str
    """The unified diff of the texts sent to targets, with at most MAX_DIFF_LENGTH characters."""
    definition_path: tuple[str, ...] = ()
    """Ids of the definitions on the path from the baseline's to the comparison's through the tree of forks; empty if
    there is none."""

    @property
    def causes(self) -> tuple[str, ...]:
        """Return each aspect once, because several targets may have changed model versions."""
        return tuple(dict.fromkeys(change.aspect for change in self.changes if change.is_cause))

    @property
    def is_confounded(self) -> bool:
        return len(self.causes) > 1


def what_changed(baseline: RunDescription, comparison: RunDescription, path: Sequence[str] = ()) -> WhatChanged:
    diff = _text_diff(baseline, comparison)
    return WhatChanged(tuple(_changes(baseline, comparison, diff)), diff[:MAX_DIFF_LENGTH], tuple(path))


def _changes(before: RunDescription, after: RunDescription, diff: str) -> Iterator[RunChange]:
    yield from _definition_changes(before, after)
    if diff:
        yield RunChange("prompt", "The texts that targets are sent differ.")
    for name, summary in _CONTENT.items():
        first, second = before.content.get(name) or None, after.content.get(name) or None
        if first != second:
            yield RunChange(name, f"{summary}.", first, second)
    yield from _target_changes(before, after)
    for name, title in _CONFIG.items():
        yield from _value_change(name, title, before.config.get(name), after.config.get(name))
    yield from _value_change("rescore", "Scoring", before.rescore_id, after.rescore_id)
    yield from _value_change("repeats", "Repeats", before.repeats, after.repeats, is_cause=False)
    yield from _sampling_changes(before, after)


def _definition_changes(before: RunDescription, after: RunDescription) -> Iterator[RunChange]:
    first, second = _version(before), _version(after)
    if first != second:
        yield RunChange("definition", f"Definition: {first} → {second}.", first, second, is_cause=False)


def _version(run: RunDescription) -> str:
    return f"{run.definition_name} v{run.definition_version}"


def _target_changes(before: RunDescription, after: RunDescription) -> Iterator[RunChange]:
    if dict(before.targets) != dict(after.targets):
        first, second = ", ".join(before.targets), ", ".join(after.targets)
        yield RunChange("targets", f"Targets: {first} → {second}.", dict(before.targets), dict(after.targets))
    shared = [name for name in before.targets if name in after.targets]
    changed = [name for name in shared if dict(before.params[name]) != dict(after.params[name])]
    if changed:
        first_params, second_params = ({name: dict(run.params[name]) for name in changed} for run in (before, after))
        yield RunChange("params", f"Parameters of {', '.join(changed)} differ.", first_params, second_params)
    for name in shared:
        first_versions, second_versions = before.model_versions.get(name, {}), after.model_versions.get(name, {})
        if set(first_versions) != set(second_versions):
            texts = [", ".join(sorted(versions)) or "unknown" for versions in (first_versions, second_versions)]
            summary = f"Model versions of {name}: {texts[0]} → {texts[1]}."
            yield RunChange("modelVersions", summary, dict(first_versions), dict(second_versions))


def _sampling_changes(before: RunDescription, after: RunDescription) -> Iterator[RunChange]:
    first, second = _sample(before), _sample(after)
    if first != second:
        yield RunChange("sampling", f"Scenarios: {first} → {second}.", first, second, is_cause=False)


def _sample(run: RunDescription) -> str:
    if run.scenario_count == run.scenario_total:
        return f"all {run.scenario_total:,}"
    return f"{run.scenario_count:,} of {run.scenario_total:,} (seed {run.sample_seed})"


def _value_change(
    aspect: str, title: str, before: object, after: object, *, is_cause: bool = True
) -> Iterator[RunChange]:
    if before != after:
        first, second = (_ABSENT if value is None else value for value in (before, after))
        yield RunChange(aspect, f"{title}: {first} → {second}.", before, after, is_cause)


def _text_diff(before: RunDescription, after: RunDescription) -> str:
    first, second = _texts(before.content), _texts(after.content)
    if first == second:
        return ""
    return "\n".join(unified_diff(first, second, "baseline", "comparison", lineterm="", n=2))


def _texts(content: Mapping[str, Any]) -> list[str]:
    """Return the texts that targets are sent, line by line: system prompt, template and prompts."""
    lines: list[str] = []
    for title, text in _titled(content):
        lines += [f"[{title}]", *text.splitlines()]
    return lines


def _titled(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for title in ("system", "template"):
        if text := content.get(title):
            yield title, str(text)
    for prompt in content.get("prompts") or ():
        for name, value in sorted(prompt.items()):
            if name != "id":
                yield f"prompt {prompt.get('id')} {name}", value if isinstance(value, str) else repr(value)
