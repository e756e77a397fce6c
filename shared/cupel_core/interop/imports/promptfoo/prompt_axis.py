"""Joins the definitions that a configuration's prompts make to one with several prompts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cupel_core.domain.definitions.drafts import DefinitionDraft
from cupel_core.domain.definitions.prompts import prompt_ids
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.text.control_characters import single_line

MAX_PROMPTS = 100
_MAX_LABEL_LENGTH = 100


class PromptDraft(NamedTuple):
    """The definition that a prompt makes alone."""

    label: str
    params: Mapping[str, Any]
    """The prompt sets these parameters, under the names of the API."""
    draft: DefinitionDraft


def join_prompts(name: str, prompt_drafts: Sequence[PromptDraft]) -> list[DefinitionDraft]:
    """One draft with all prompts, if each has the same targets and the same tests.

    A prompt, a test or a provider that is restricted to some of the others needs a definition of its own.
    """
    drafts = [each.draft for each in prompt_drafts]
    if not 1 < len(drafts) <= MAX_PROMPTS or not _are_alike(drafts):
        return [_alone(each) for each in prompt_drafts]
    ids = list(prompt_ids(each.label for each in prompt_drafts))
    first = drafts[0]
    prompts = [_prompt(*each) for each in zip(ids, prompt_drafts, strict=True)]
    scenarios = tuple(_joined(ids, variants) for variants in zip(*(draft.scenarios for draft in drafts), strict=True))
    content = {**{key: value for key, value in first.content.items() if key != "system"}, "prompts": prompts}
    return [replace(first, name=name, content=content, scenarios=scenarios)]


def _are_alike(drafts: Sequence[DefinitionDraft]) -> bool:
    first = drafts[0]
    return all(
        draft.models == first.models
        and draft.targets == first.targets
        and _without_system(draft.content) == _without_system(first.content)
        and list(map(_case, draft.scenarios)) == list(map(_case, first.scenarios))
        for draft in drafts[1:]
    )


def _without_system(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "system"}


def _case(scenario: Scenario) -> Scenario:
    """Return the scenario without what depends on the prompt, so that the rest can be compared."""
    return replace(scenario, messages=(), metadata=_metadata(scenario))


def _metadata(scenario: Scenario) -> dict[str, object]:
    source = scenario.metadata.get("promptfoo")
    own = {name: value for name, value in source.items() if name != "prompt"} if isinstance(source, Mapping) else {}
    return {**scenario.metadata, "promptfoo": own}


def _joined(ids: Sequence[str], variants: Sequence[Scenario]) -> Scenario:
    by_prompt = {prompt_id: scenario.messages for prompt_id, scenario in zip(ids, variants, strict=True)}
    return replace(variants[0], messages=(), metadata=_metadata(variants[0]), messages_by_prompt=by_prompt)


def _alone(prompt: PromptDraft) -> DefinitionDraft:
    """Return the prompt's own definition, with the prompt's parameters in a prompt of the definition.

    There they take precedence over those of a provider, as no default of a definition does.
    """
    if not prompt.params:
        return prompt.draft
    [prompt_id] = prompt_ids([prompt.label])
    own = {"id": prompt_id, **_label(prompt), "params": dict(prompt.params)}
    return replace(prompt.draft, content={**prompt.draft.content, "prompts": [own]})


def _prompt(prompt_id: str, prompt: PromptDraft) -> dict[str, Any]:
    system = prompt.draft.content.get("system")
    return {
        "id": prompt_id,
        **_label(prompt),
        **({"system": system} if system else {}),
        **({"params": dict(prompt.params)} if prompt.params else {}),
    }


def _label(prompt: PromptDraft) -> dict[str, str]:
    """The label on one line, as the rules of definitions require; without one, the prompt's id is shown."""
    label = single_line(prompt.label)[:_MAX_LABEL_LENGTH].rstrip()
    return {"label": label} if label else {}
