import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import chain, count
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.parts import FilePart, TextPart
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.text.templates import normalize_name, placeholder_names, render

MESSAGE = "message"
"""The placeholder stands for the text of the scenario's own last user message."""
_MAX_NAMED_LENGTH = 40
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9._-]+")


class MissingValue(ValueError):
    """A scenario has no value for a placeholder of a prompt; the message says which."""


@dataclass(frozen=True)
class Prompt:
    """Without `messages`, the scenario's own are used. Placeholders in the texts are the scenario's variables, the
    labels of its dimensions' levels, and `[message]`."""

    id: str
    label: str | None = None
    system: str | None = None
    messages: tuple[Message, ...] = ()
    params: ParameterFields = field(default_factory=dict)
    """Parameters that take precedence over those of the target."""

    @property
    def title(self) -> str:
        return self.label or self.id

    def to_json(self) -> dict[str, Any]:
        """Return the prompt in the shape of the HTTP contract; a single user message is a template."""
        is_template = [(each.role, each.parts) for each in self.messages] == [(MessageRole.USER, ())]
        own = {
            "label": self.label,
            "system": self.system,
            "template": self.messages[0].content if is_template else None,
            "messages": [message.to_json() for message in self.messages] if self.messages and not is_template else None,
            "params": dict(self.params) or None,
        }
        return {"id": self.id, **{name: value for name, value in own.items() if value is not None}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Prompt":
        template = data.get("template")
        messages = tuple(map(Message.from_json, data.get("messages") or ()))
        return cls(
            id=data["id"],
            label=data.get("label"),
            system=data.get("system"),
            messages=messages if template is None else (Message(MessageRole.USER, template),),
            params=data.get("params") or {},
        )


def prompt_errors(prompts: tuple[Prompt, ...]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for number, prompt in enumerate(prompts):
        if prompt.id in seen:
            yield f"prompts.{number}.id", f"another prompt has the id {prompt.id}"
        seen.add(prompt.id)
        if any(not message.content.strip() for message in prompt.messages):
            yield f"prompts.{number}", "must not have an empty template or message"


def prompt_labels(prompts: Iterable[Prompt]) -> dict[str, str]:
    return {prompt.id: prompt.label for prompt in prompts if prompt.label}


def prompt_ids(names: Iterable[str], taken: Collection[str] = ()) -> Iterator[str]:
    """Yield ids for prompts with these names: the legal characters of each beginning, numbered if the id is taken."""
    used = set(taken)
    for number, name in enumerate(names, 1):
        base = _NOT_IN_IDS.sub("-", name[:_MAX_NAMED_LENGTH]).strip("-._") or f"prompt-{number}"
        prompt_id = next(each for each in chain([base], _numbered(base, number)) if each not in used)
        used.add(prompt_id)
        yield prompt_id


def _numbered(base: str, number: int) -> Iterator[str]:
    return (f"{base}-{each}" for each in count(number))


def opening_messages(
    system: str | None, scenario: Scenario, labels: Mapping[str, str], prompt: Prompt | None
) -> tuple[Message, ...]:
    """Return the first messages of a conversation. Raises MissingValue if the prompt has a placeholder without a value.
    `labels` are those of the scenario's levels, by dimension."""
    if prompt is None:
        return (*_system_message(system), *scenario.messages)
    own = scenario.messages_by_prompt.get(prompt.id)
    if own is not None:  # These messages were rendered at the import.
        return (*_system_message(prompt.system or system), *own)
    values = _values(scenario, labels)
    own_system = _text(prompt, prompt.system, values) if prompt.system else system
    asked = _last_user_message(scenario)
    messages = [_rendered(prompt, message, values, asked.files if asked else ()) for message in prompt.messages]
    return (*_system_message(own_system), *(messages or scenario.messages))


def _rendered(prompt: Prompt, message: Message, values: Mapping[str, str], files: tuple[FilePart, ...]) -> Message:
    """Append `files`, which are those of the message that `[message]` stands for, after the text."""
    rendered = message.with_texts(lambda text: _text(prompt, text, values))
    if not files or MESSAGE not in map(normalize_name, placeholder_names(message.spoken_text)):
        return rendered
    parts = rendered.parts or (TextPart(rendered.content),)
    return Message.of_parts(message.role, (*parts, *files))


def _system_message(system: str | None) -> tuple[Message, ...]:
    return (Message(MessageRole.SYSTEM, system),) if system else ()


def _text(prompt: Prompt, template: str, values: Mapping[str, str]) -> str:
    missing = [name for name in placeholder_names(template) if normalize_name(name) not in values]
    if missing:
        names = ", ".join(f"[{name}]" for name in missing)
        raise MissingValue(f"the prompt {prompt.title} needs a value for {names}, which the scenario does not have")
    return render(template, values)


def _last_user_message(scenario: Scenario) -> Message | None:
    return next((each for each in reversed(scenario.messages) if each.role is MessageRole.USER), None)


def _values(scenario: Scenario, labels: Mapping[str, str]) -> dict[str, str]:
    """Return values by normalized name; variables take precedence over dimensions."""
    asked = _last_user_message(scenario)
    named = {**({} if asked is None else {MESSAGE: asked.spoken_text}), **labels}
    for name, value in scenario.variables.items():
        if value is None:
            named[name] = ""
        else:
            named[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {normalize_name(name): value for name, value in named.items()}
