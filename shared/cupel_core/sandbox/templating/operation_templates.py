"""The templates and expressions of operations.

A text is printed as it is, null and an unknown name as nothing, everything else as JSON.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import ChainableUndefined, StrictUndefined, Undefined, nodes, pass_environment

from cupel_core.domain.text.storable import storable
from cupel_core.domain.text.transcript_lines import transcript_lines
from cupel_core.sandbox.templating.environment import LimitedEnvironment, TemplateLimits
from cupel_core.sandbox.templating.errors import RenderError

LIMITS = TemplateLimits(max_steps=20_000, max_length=200_000)

MAX_QUICK_LENGTH = 10_000
_MAX_NODES = 200
_MAX_DEPTH = 30
"""The time of Jinja's compiler grows at least with the depth's square: 0.9 s for `a` and 180 attributes."""
_MAX_FILTERS = 20
"""The limit includes calls of functions."""
_FUNCTIONS = frozenset(["recent", "recent_text"])
_NODES = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.If,
    nodes.Name,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Slice,
    nodes.Const,
    nodes.CondExpr,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Neg,
    nodes.Keyword,
    nodes.Filter,
    nodes.Test,
    nodes.Call,
)
_FILTERS = frozenset(
    ["capitalize", "first", "float", "int", "json", "last", "length", "lower", "string", "trim", "upper"]
)
_FILTERS_WITH_ARGUMENTS = frozenset(["contains", "d", "default", "truncate"])
_TESTS = frozenset(
    ["boolean", "defined", "false", "in", "mapping", "none", "number", "sequence", "string", "true", "undefined"]
)


def template_errors(templates: Iterable[str], expressions: Iterable[str]) -> list[list[str | None]]:
    """Return why each of the templates, and of the expressions, does not compile, or None for one that does. This is a
    task of the sandbox: compiling a hostile template takes seconds."""
    return [[_template_error(text) for text in templates], [_expression_error(text) for text in expressions]]


def render(template: str, context: Mapping[str, Any], *, strict: bool) -> str:
    r"""Render the template. Raise RenderError. With `strict`, an unknown name is such an error.

    Escapes such as `\ud83d` can make half surrogate pairs, which cannot be stored.
    """
    environment = _environment(StrictUndefined if strict else ChainableUndefined)
    return storable(environment.render_text(template, _variables(context)))


def render_task(template: str, context: Mapping[str, Any], strict: bool) -> str:
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
    if value is None or isinstance(value, ChainableUndefined):
        return ""
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value) and "null"  # A strict undefined value raises.
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except TypeError:
        raise RenderError(f"a {type(value).__name__} cannot be printed") from None


@pass_environment
def _json(environment: LimitedEnvironment, value: Any) -> str:
    """Return JSON of limited length, because each application of the filter may double the text of the one before."""
    text = _as_json(value)
    environment.check_length(len(text))
    return text


def _contains(container: Any, part: Any) -> bool:
    if isinstance(container, Undefined) or container is None:
        return False
    if isinstance(container, str):
        return str(part) in container
    if isinstance(container, list | tuple | Mapping):
        return part in container
    raise RenderError(f"a {type(container).__name__} contains nothing")


@lru_cache(maxsize=256)
def is_quick_template(environment: LimitedEnvironment, template: str) -> bool:
    """Return whether a template may be rendered in the worker's own process, where nothing limits CPU time and memory.

    A rendering takes well below a millisecond with ordinary variables, and milliseconds with any. The allowed elements
    cost at most a pass over the variables. None can make a value grow: no assignments, blocks, loops, lists or
    arithmetic, and filters return no more than they get. So the constants that the compiler computes in advance cost no
    more either.
    """
    if len(template) > MAX_QUICK_LENGTH:
        return False
    try:
        tree = environment.tree(template)
    except RenderError:
        return False
    level, parts = list[nodes.Node]([tree]), list[nodes.Node]()
    for _ in range(_MAX_DEPTH):
        parts += level
        level = [child for node in level for child in node.iter_child_nodes()]
    costly = sum(isinstance(each, nodes.Filter | nodes.Call) for each in parts)
    is_small = not level and len(parts) <= _MAX_NODES and costly <= _MAX_FILTERS
    return is_small and all(map(_is_quick, parts))


def _is_quick(node: nodes.Node) -> bool:
    match node:
        case nodes.Filter():
            has_arguments = bool(node.args or node.kwargs or node.dyn_args or node.dyn_kwargs)
            return node.name in _FILTERS_WITH_ARGUMENTS or (node.name in _FILTERS and not has_arguments)
        case nodes.Test():
            return node.name in _TESTS
        case nodes.Call():
            return isinstance(node.node, nodes.Name) and node.node.name in _FUNCTIONS
    return type(node) in _NODES
