"""The templates and expressions of operations.

A text is printed as it is, null and an unknown name as nothing, everything else as JSON.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import ChainableUndefined, StrictUndefined, Undefined, pass_environment

from cupel_core.domain.text.storable import storable
from cupel_core.domain.text.transcript_lines import transcript_lines
from cupel_core.sandbox.templating.environment import LimitedEnvironment, TemplateLimits
from cupel_core.sandbox.templating.errors import RenderError
from cupel_core.sandbox.templating.quick_templates import is_quick_template

LIMITS = TemplateLimits(max_steps=20_000, max_length=200_000)


def template_errors(templates: Iterable[str], expressions: Iterable[str]) -> list[list[str | None]]:
    """Return why each of the templates, and of the expressions, does not compile; None for one that does.

    This is a task of the sandbox: compiling a hostile template takes seconds.
    """
    return [[_template_error(text) for text in templates], [_expression_error(text) for text in expressions]]


def render(template: str, context: Mapping[str, Any], *, strict: bool) -> str:
    """Raises RenderError. `strict` makes an unknown name one. Escapes such as `\\ud83d` can make half characters, which
    nothing can store."""
    environment = _environment(StrictUndefined if strict else ChainableUndefined)
    return storable(environment.render_text(template, _variables(context)))


def render_task(template: str, context: Mapping[str, Any], strict: bool) -> str:
    """A task of the sandbox."""
    return render(template, context, strict=strict)


def condition_template(expression: str) -> str:
    """Return a template that renders a text if the expression is true, and nothing if it is false."""
    return "{% if (" + expression + ") %}1{% endif %}"


def is_quick(template: str) -> bool:
    """Return whether a rendering with ordinary variables takes well below a millisecond."""
    return is_quick_template(_environment(StrictUndefined), template)


def _variables(context: Mapping[str, Any]) -> dict[str, Any]:
    messages = context.get("messages") or []

    def recent(*arguments: Any, **named: Any) -> list[Any]:
        match [*arguments, *named.values()]:
            case [int(count)]:
                pass
            case _:
                raise RenderError("recent and recent_text need one whole number, such as recent(4)")
        return list(messages[-count:]) if count > 0 else []

    def recent_text(*arguments: Any, **named: Any) -> str:
        return transcript_lines((each["role"], each["content"]) for each in recent(*arguments, **named))

    return {**context, "recent": recent, "recent_text": recent_text}


def _template_error(template: str) -> str | None:
    try:
        _environment(StrictUndefined).check(template)
    except RenderError as error:
        return f"does not compile: {error}"
    return None


def _expression_error(expression: str) -> str | None:
    try:
        _environment(StrictUndefined).check_expression(expression)
    except RenderError as error:
        return f"does not compile: {error}"
    return _template_error(condition_template(expression))


@lru_cache(maxsize=2)
def _environment(undefined: type[Undefined]) -> LimitedEnvironment:
    environment = LimitedEnvironment(LIMITS, printed, undefined)
    environment.filters |= {"json": _json, "contains": _contains}
    return environment


def printed(value: Any) -> str:
    """A value as text."""
    if value is None or isinstance(value, ChainableUndefined):
        return ""
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value) and "null"  # a strict one raises
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except TypeError:
        raise RenderError(f"a {type(value).__name__} cannot be printed") from None


@pass_environment
def _json(environment: LimitedEnvironment, value: Any) -> str:
    """Return JSON of limited length: each application of the filter may double the text of the one before."""
    text = _as_json(value)
    environment.check_length(len(text))
    return text


def _contains(container: Any, part: Any) -> bool:
    """Return whether a text has a part, a list an element, or an object a key."""
    if isinstance(container, Undefined) or container is None:
        return False
    if isinstance(container, str):
        return str(part) in container
    if isinstance(container, list | tuple | Mapping):
        return part in container
    raise RenderError(f"a {type(container).__name__} contains nothing")
