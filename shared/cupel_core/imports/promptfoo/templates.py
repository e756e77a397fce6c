"""Renders Nunjucks templates with Jinja in a sandbox: no code, no files, no environment variables, bounded work.

The two languages are closely related. Values are printed as in JavaScript (`true`, `1,2`, nothing for null), and an
unknown name is empty. Features that only Nunjucks or JavaScript has (`===`, string methods) raise `RenderError`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import ChainableUndefined, Template, TemplateError, nodes, pass_context
from jinja2.filters import do_batch, sync_do_slice
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from cupel_core.imports.json_documents import from_json, to_json

MAX_STEPS = 50_000
"""Per rendering, over all loops."""
MAX_LENGTH = 500_000
_UNSUPPORTED = (nodes.Macro, nodes.CallBlock, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Block)
_JINJA_FILTERS = frozenset(
    [
        "abs",
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
_TEXT_RETURN = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\r", re.DOTALL)
_RETURN = "\ufdd0"
"""Stands for a carriage return, which Jinja would remove; no text has this character."""
_STEPS = "__steps"
_ENVIRONMENT = object()


class RenderError(ValueError):
    """A template cannot be rendered; the message says why."""


_FAILURES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
# Raised by Python's compiler for a template with too many levels.
_TOO_COMPLEX = (SyntaxError, MemoryError)


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            is_text = isinstance(left, str) or isinstance(right, str)  # JavaScript concatenates them
            return _limited(_printed(left) + _printed(right) if is_text else left + right)
        if not all(isinstance(operand, int | float) and abs(operand) < 2**53 for operand in (left, right)):
            raise RenderError(f"the operands of {operator} must be numbers of at most 53 bits")
        if operator == "**" and abs(right) > 64:
            raise RenderError("the exponent of ** must be at most 64")
        return super().call_binop(context, operator, left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Strings and lists have only `length`; an object has its keys and no methods."""
        if obj is _ENVIRONMENT:
            raise RenderError("it uses environment variables, which are not imported")
        if isinstance(obj, Mapping):
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        if isinstance(obj, str | list):
            return len(obj) if attribute == "length" else self.undefined(f"unknown attribute {attribute}")
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """As in JavaScript, a list has no element before its first."""
        if isinstance(obj, list | str) and isinstance(argument, int) and argument < 0:
            return self.undefined(f"no element {argument}")
        return super().getitem(obj, argument)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _with_limits(super()._parse(source, name, filename))


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Render a template with these variables. Raises `RenderError` with the reason if that is impossible."""
    try:
        return _join(_compile(template).generate({**variables, _STEPS: [MAX_STEPS]}))
    except RenderError:
        raise
    except _TOO_COMPLEX:
        raise RenderError("it is nested too deeply") from None
    except _FAILURES as error:
        raise RenderError(str(error).partition("\n")[0] or type(error).__name__) from None


def _join(parts: Iterator[str]) -> str:
    length, rendered = 0, []
    for part in parts:
        length += len(part)
        rendered.append(part)
        if length > MAX_LENGTH:
            raise RenderError(f"its output is longer than {MAX_LENGTH:,} characters")
    return "".join(rendered)


@lru_cache(maxsize=256)
def _compile(template: str) -> Template:
    if len(template) > MAX_LENGTH:
        raise RenderError(f"it is longer than {MAX_LENGTH:,} characters")
    if "\r" in template:
        template = _TEXT_RETURN.sub(_protected, template)
    return _environment().from_string(template)


def _protected(match: re.Match[str]) -> str:
    return _RETURN if match[0] == "\r" else match[0]


@lru_cache(maxsize=1)
def _environment() -> _Environment:
    environment = _Environment(
        undefined=ChainableUndefined, keep_trailing_newline=True, finalize=_printed, autoescape=False
    )
    environment.filters = {name: environment.filters[name] for name in _JINJA_FILTERS} | _FILTERS
    environment.globals = {"range": environment.globals["range"], "env": _ENVIRONMENT}
    environment.policies["truncate.leeway"] = 0
    return environment


def _with_limits(tree: nodes.Template) -> nodes.Template:
    """Make every loop count its steps and limit the length of concatenations."""
    if unsupported := next(tree.find_all(_UNSUPPORTED), None):
        raise RenderError(f"{type(unsupported).__name__.lower()} is not supported")
    for data in tree.find_all(nodes.TemplateData):
        data.data = data.data.replace(_RETURN, "\r")
    for loop in tree.find_all(nodes.For):
        if loop.recursive:
            raise RenderError("recursive loops are not supported")
        name = "_pairs" if isinstance(loop.target, nodes.Tuple) else "_counted"
        loop.iter = _apply_filter(name, loop.iter)
    for parent in list(tree.find_all(nodes.Node)):
        for field, value in list(parent.iter_fields()):
            if isinstance(value, nodes.Concat):
                setattr(parent, field, _apply_filter("_joined", nodes.List(value.nodes, lineno=value.lineno)))
    return tree


def _apply_filter(name: str, node: nodes.Node) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _printed(value: Any) -> str:
    """Print a value as JavaScript does."""
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
        raise RenderError(f"its output is longer than {MAX_LENGTH:,} characters")
    return value


@pass_context
def _counted(context: Context, values: Any) -> Iterator[Any]:
    steps: list[int] = context[_STEPS]
    for value in values or ():
        steps[0] -= 1
        if steps[0] < 0:
            raise RenderError(f"its loops exceed {MAX_STEPS:,} steps")
        yield value


@pass_context
def _pairs(context: Context, values: Any) -> Iterator[Any]:
    """Nunjucks unpacks an object into its keys and values."""
    return _counted(context, list(values.items()) if isinstance(values, Mapping) else values)


def _joined(values: list[Any], separator: str = "", attribute: str | None = None) -> str:
    parts = [_printed(item.get(attribute) if attribute else item) for item in values]
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_LENGTH:
        raise RenderError(f"its output is longer than {MAX_LENGTH:,} characters")
    return separator.join(parts)


def _replace(value: Any, old: str, new: str, times: int = -1) -> str:
    text = _printed(value)
    if len(text) + (text.count(old) if old else len(text) + 1) * len(str(new)) > MAX_LENGTH:
        raise RenderError(f"its output is longer than {MAX_LENGTH:,} characters")
    return text.replace(str(old), str(new), times)


def _dump(value: Any, indent: int | None = None) -> str:
    return to_json(None if isinstance(value, ChainableUndefined) else value, min(indent, 8) if indent else None)


def _slice(values: Any, slices: int, fill_with: Any = None) -> Iterator[list[Any]]:
    yield from sync_do_slice(values, _counted_parts(slices), fill_with)


def _batch(values: Any, size: int, fill_with: Any = None) -> Iterator[list[Any]]:
    yield from do_batch(values, _counted_parts(size), fill_with)


def _counted_parts(number: int) -> int:
    if not isinstance(number, int) or number > MAX_STEPS:
        raise RenderError(f"a list has at most {MAX_STEPS:,} parts")
    return number


_FILTERS: dict[str, Callable[..., Any]] = {
    "_counted": _counted,
    "_pairs": _pairs,
    "_joined": _joined,
    "batch": _batch,
    "slice": _slice,
    "join": _joined,
    "replace": _replace,
    "string": _printed,
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


_NAMES = re.compile(r"{{\s*([^{}\s|]+)\s*(?:\|[^}]+)?}}|{%\s*(?:if|for)\s+([^{}\s]+)\s*.*?%}")


def referenced_names(template: str) -> set[str]:
    """The names of the variables a template uses, as promptfoo finds them."""
    expressions = (first or second for first, second in _NAMES.findall(template))
    return {name[0] for expression in expressions if (name := re.match(r"[A-Za-z_]\w*", expression))}
