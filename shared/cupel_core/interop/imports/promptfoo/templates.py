"""Renders Nunjucks templates with Jinja in a sandbox: no code, no files, no environment variables, bounded work.

The two languages are closely related. Values are printed as in JavaScript (`true`, `1,2`, nothing for null), and an
unknown name is empty. Features that only Nunjucks or JavaScript has (`===`, string methods) raise `RenderError`.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import ChainableUndefined, TemplateError, meta, nodes

from cupel_core.domain.text.javascript_values import number_text
from cupel_core.interop.imports.json_documents import from_json, to_json
from cupel_core.sandbox.templating.environment import LimitedEnvironment, TemplateLimits
from cupel_core.sandbox.templating.errors import RenderError

LIMITS = TemplateLimits(max_steps=50_000, max_length=500_000)
_TAG = re.compile(r"\{[{%#]")
_TEXT_RETURN = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\r", re.DOTALL)
_RETURN = "\ufdd0"
"""The character in place of a carriage return, which Jinja would remove; no text has this character."""


class EnvironmentVariables(dict[str, Any]):
    """Holds the variables that a configuration itself sets (`env`). Those of a process are unknown."""

    def __missing__(self, name: str) -> Any:
        raise RenderError("it uses environment variables, which are not imported")


class _Environment(LimitedEnvironment):
    def __init__(self) -> None:
        super().__init__(LIMITS, _printed, ChainableUndefined)
        self.filters |= _FILTERS
        self.globals |= {"env": EnvironmentVariables()}

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, EnvironmentVariables):
            return obj[attribute]
        return super().getattr(obj, attribute)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for data in tree.find_all(nodes.TemplateData):
            data.data = data.data.replace(_RETURN, "\r")
        return tree


def render(template: str, variables: Mapping[str, Any]) -> str:
    if not _TAG.search(template) and len(template) <= LIMITS.max_length:
        return template  # Most values of tables have no tag, and compiling one takes a millisecond.
    if "\r" in template and len(template) <= LIMITS.max_length:
        template = _TEXT_RETURN.sub(_protected, template)
    return _environment().render_text(template, variables)


def _protected(match: re.Match[str]) -> str:
    return _RETURN if match[0] == "\r" else match[0]


@lru_cache(maxsize=1)
def _environment() -> _Environment:
    return _Environment()


def _printed(value: Any) -> str:
    match value:
        case str():
            return value
        case None | ChainableUndefined():
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number_text(value)
        case list() | tuple():
            return _printed_list(value)
        case Mapping():
            return "[object Object]"
    return str(value)


def _printed_list(values: list[Any] | tuple[Any, ...]) -> str:
    parts = [_printed(item) for item in values]
    _environment().check_length(sum(map(len, parts)) + len(parts))
    return ",".join(parts)


def _dump(value: Any, indent: int | None = None) -> str:
    return to_json(None if isinstance(value, ChainableUndefined) else value, min(indent, 8) if indent else None)


_FILTERS: dict[str, Callable[..., Any]] = {
    "dump": _dump,
    "load": lambda text: from_json(text, "the text to load"),
    "nl2br": lambda text: _printed(text).replace("\n", "<br />\n"),
}

_PARTIAL = re.compile(r"({%[^%]*$|{{[^}]*$|{#[^#]*$)", re.MULTILINE)
_RAW = re.compile(r"{%\s*raw\s*%}")


def escape_unclosed_tags(template: str) -> str:
    """Escape the whole template if it has a tag that is never closed, which promptfoo treats as text."""
    return (
        f"{{% raw %}}{template}{{% endraw %}}" if _PARTIAL.search(template) and not _RAW.search(template) else template
    )


_PRINTED = re.compile(r"{{-?\s*([A-Za-z_]\w*)\s*-?}}")


def printed_variables(template: str) -> set[str]:
    """Return the variables that a template prints unchanged, so that nothing remains there without them."""
    try:
        needed = meta.find_undeclared_variables(_environment().parse(escape_unclosed_tags(template)))
    except TemplateError:
        return set()
    return set(_PRINTED.findall(template)) & needed


_NAMES = re.compile(r"{{\s*([^{}\s|]+)\s*(?:\|[^}]+)?}}|{%\s*(?:if|for)\s+([^{}\s]+)\s*.*?%}")


def referenced_names(template: str) -> set[str]:
    expressions = (first or second for first, second in _NAMES.findall(template))
    return {name[0] for expression in expressions if (name := re.match(r"[A-Za-z_]\w*", expression))}
