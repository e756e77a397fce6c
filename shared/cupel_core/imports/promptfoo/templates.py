"""Nunjucks templates, rendered by Jinja in a sandbox: no code, no files, no environment, bounded work.

Both languages are cousins. What JavaScript would print is printed (`true`, `1,2`, nothing for null), an unknown name is
empty; what only Nunjucks or JavaScript has (`===`, methods of texts) does not render, and is told.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import ChainableUndefined, Template, TemplateError, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from cupel_core.imports.json_documents import from_json, to_json

MAX_STEPS = 50_000
"""Of all loops of one rendering."""
MAX_LENGTH = 500_000
_UNSUPPORTED = (nodes.Macro, nodes.CallBlock, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Block)
_KEPT_FILTERS = frozenset(
    [
        "abs",
        "batch",
        "capitalize",
        "d",
        "default",
        "dictsort",
        "first",
        "float",
        "groupby",
        "int",
        "last",
        "length",
        "list",
        "lower",
        "reject",
        "rejectattr",
        "reverse",
        "round",
        "safe",
        "select",
        "selectattr",
        "slice",
        "sort",
        "striptags",
        "sum",
        "title",
        "trim",
        "truncate",
        "upper",
        "urlencode",
        "wordcount",
    ]
)
_STEPS = "__steps"
_ENVIRONMENT = object()


class Unrenderable(ValueError):
    """Why a template cannot be rendered."""


_FAILURES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
# Python's own compiler, on a template of too many levels.
_TOO_COMPLEX = (SyntaxError, MemoryError)


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            texts = isinstance(left, str) or isinstance(right, str)  # JavaScript makes one of both
            return _limited(_printed(left) + _printed(right) if texts else left + right)
        if not all(isinstance(each, int | float) and abs(each) < 2**53 for each in (left, right)):
            raise Unrenderable(f"{operator} is for numbers of at most 53 bits")
        if operator == "**" and abs(right) > 64:
            raise Unrenderable("** is for exponents up to 64")
        return super().call_binop(context, operator, left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Of texts and lists, only what JavaScript calls the same; an object has its keys and no methods."""
        if obj is _ENVIRONMENT:
            raise Unrenderable("it reads environment variables, which are not imported")
        if isinstance(obj, Mapping):
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        if isinstance(obj, str | list):
            return len(obj) if attribute == "length" else self.undefined(f"{attribute} is not known")
        return super().getattr(obj, attribute)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _bounded(super()._parse(source, name, filename))


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Unrenderable, with the reason, when it cannot be."""
    try:
        return _gathered(_compiled(template).generate({**variables, _STEPS: [MAX_STEPS]}))
    except Unrenderable:
        raise
    except _TOO_COMPLEX:
        raise Unrenderable("it is nested too deeply") from None
    except _FAILURES as error:
        raise Unrenderable(str(error).partition("\n")[0] or type(error).__name__) from None


def _gathered(parts: Iterator[str]) -> str:
    length, kept = 0, []
    for part in parts:
        length += len(part)
        kept.append(part)
        if length > MAX_LENGTH:
            raise Unrenderable(f"it makes more than {MAX_LENGTH:,} characters")
    return "".join(kept)


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    if len(template) > MAX_LENGTH:
        raise Unrenderable(f"it has more than {MAX_LENGTH:,} characters")
    return _environment().from_string(template)


@lru_cache(maxsize=1)
def _environment() -> _Environment:
    made = _Environment(undefined=ChainableUndefined, keep_trailing_newline=True, finalize=_printed, autoescape=False)
    made.filters = {name: made.filters[name] for name in _KEPT_FILTERS} | _FILTERS
    made.globals = {"range": made.globals["range"], "env": _ENVIRONMENT}
    made.policies["truncate.leeway"] = 0
    return made


def _bounded(tree: nodes.Template) -> nodes.Template:
    """Every loop counts its steps, and what is joined is measured."""
    if bad := next(tree.find_all(_UNSUPPORTED), None):
        raise Unrenderable(f"{type(bad).__name__.lower()} is not supported")
    for loop in tree.find_all(nodes.For):
        if loop.recursive:
            raise Unrenderable("a recursive loop is not supported")
        name = "_pairs" if isinstance(loop.target, nodes.Tuple) else "_counted"
        loop.iter = _filtered(name, loop.iter)
    for parent in list(tree.find_all(nodes.Node)):
        for field, value in list(parent.iter_fields()):
            if isinstance(value, nodes.Concat):
                setattr(parent, field, _filtered("_joined", nodes.List(value.nodes, lineno=value.lineno)))
    return tree


def _filtered(name: str, node: nodes.Node) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _printed(value: Any) -> str:
    """As JavaScript prints it."""
    match value:
        case str():
            return value
        case None | ChainableUndefined():
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case list() | tuple():
            return _joined(list(value), ",")
        case Mapping():
            return "[object Object]"
    return str(value)


def _limited[T](value: T) -> T:
    if isinstance(value, str | list) and len(value) > MAX_LENGTH:
        raise Unrenderable(f"it makes more than {MAX_LENGTH:,} characters")
    return value


@pass_context
def _counted(context: Context, values: Any) -> Iterator[Any]:
    steps: list[int] = context[_STEPS]
    for value in values or ():
        steps[0] -= 1
        if steps[0] < 0:
            raise Unrenderable(f"its loops take more than {MAX_STEPS:,} steps")
        yield value


@pass_context
def _pairs(context: Context, values: Any) -> Iterator[Any]:
    """Nunjucks unpacks an object into its keys and values."""
    return _counted(context, list(values.items()) if isinstance(values, Mapping) else values)


def _joined(values: list[Any], separator: str = "", attribute: str | None = None) -> str:
    parts = [_printed(each.get(attribute) if attribute else each) for each in values]
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_LENGTH:
        raise Unrenderable(f"it makes more than {MAX_LENGTH:,} characters")
    return separator.join(parts)


def _replace(value: Any, old: str, new: str, times: int = -1) -> str:
    text = _printed(value)
    if len(text) + (text.count(old) if old else len(text) + 1) * len(str(new)) > MAX_LENGTH:
        raise Unrenderable(f"it makes more than {MAX_LENGTH:,} characters")
    return text.replace(str(old), str(new), times)


def _dump(value: Any, indent: int | None = None) -> str:
    return to_json(None if isinstance(value, ChainableUndefined) else value, min(indent, 8) if indent else None)


_FILTERS: dict[str, Callable[..., Any]] = {
    "_counted": _counted,
    "_pairs": _pairs,
    "_joined": _joined,
    "join": _joined,
    "replace": _replace,
    "string": _printed,
    "dump": _dump,
    "load": lambda text: from_json(text, "what is loaded"),
    "nl2br": lambda text: _printed(text).replace("\n", "<br />\n"),
}

_PARTIAL = re.compile(r"({%[^%]*$|{{[^}]*$|{#[^#]*$)", re.MULTILINE)
_RAW = re.compile(r"{%\s*raw\s*%}")


def closed(template: str) -> str:
    """What looks like a tag that never ends is text; promptfoo then takes the whole for text."""
    return (
        f"{{% raw %}}{template}{{% endraw %}}" if _PARTIAL.search(template) and not _RAW.search(template) else template
    )


_NAMES = re.compile(r"{{\s*([^{}\s|]+)\s*(?:\|[^}]+)?}}|{%\s*(?:if|for)\s+([^{}\s]+)\s*.*?%}")


def names_in(template: str) -> set[str]:
    """The first words of what a template uses, as promptfoo finds them."""
    found = (first or second for first, second in _NAMES.findall(template))
    return {name[0] for each in found if (name := re.match(r"[A-Za-z_]\w*", each))}
