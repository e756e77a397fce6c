"""Whether every `toolChoice` of a run has tools to choose from; without any, it would not be sent."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.domain.conversations.tools import ToolMode
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.providers.parameters import known_parameters

_NEEDS_NO_TOOLS = (None, ToolMode.AUTO, ToolMode.NONE)

type Layers = tuple[tuple[str, Mapping[str, Any]], ...]
"""Parameters with the field that they are in; later ones take precedence."""


def check_tool_choices(spec: RunSpec, content: Content) -> None:
    """Raise Invalid for each `toolChoice` that forces a call although there is no such tool."""
    default = ("content.params", content.params), ("config.params", spec.params)
    targets = [
        (f"targets.{number}.params", target.params)
        for number, target in enumerate(spec.targets)
        if {"tools", "toolChoice"} <= known_parameters(target)
    ]
    prompts = [(f"prompts.{number}.params", prompt.params) for number, prompt in enumerate(content.prompts)]
    errors = (
        error
        for target, prompt in product(targets, prompts or [("prompts", {})])
        for error in _errors((*default, target, prompt))
    )
    if found := list(dict.fromkeys(errors)):
        raise Invalid.fields(found)


def _errors(layers: Layers) -> Iterator[FieldError]:
    field, choice = _last(layers, "toolChoice")
    if choice in _NEEDS_NO_TOOLS:
        return
    names = [str(tool["name"]) for tool in _last(layers, "tools")[1] or ()]
    if not names:
        yield FieldError(f"{field}.toolChoice", "needs tools, and neither the target nor a default has any")
    elif isinstance(choice, Mapping) and choice["name"] not in names:
        yield FieldError(f"{field}.toolChoice", f"must name one of the tools: {', '.join(names)}")


def _last(layers: Layers, name: str) -> tuple[str, Any]:
    """The value that takes precedence, with its field; None if nothing has one."""
    return next(((field, params[name]) for field, params in reversed(layers) if name in params), ("", None))
