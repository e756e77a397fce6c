"""Jinja with limits: counted loops, measured concatenations, no macros, no methods of values."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError, Undefined, nodes, pass_context, pass_environment
from jinja2.filters import do_batch, sync_do_slice
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from cupel_core.base.deferred import dataclass
from cupel_core.sandbox.templating.errors import RenderError

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
_STEPS = "__steps"


_FAILURES = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    AssertionError,  # Jinja's filters raise it for unusable arguments.
)
# Jinja and Python's compiler raise it for a template with too many levels.
_TOO_COMPLEX = (SyntaxError, MemoryError, RecursionError)


@dataclass(frozen=True)
class TemplateLimits:
    max_steps: int
    """All loops together may take at most this many steps."""
    max_length: int
    """The template, its output and every intermediate text have at most this many characters."""


class LimitedEnvironment(ImmutableSandboxedEnvironment):
    """`printed` converts a value to text. `a + b` concatenates as soon as one of the two is text."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, limits: TemplateLimits, printed: Callable[[Any], str], undefined: type[Undefined]) -> None:
        super().__init__(undefined=undefined, keep_trailing_newline=True, finalize=printed, autoescape=False)
        self.limits = limits
        self.printed = printed
        self.filters = {name: self.filters[name] for name in _JINJA_FILTERS} | _FILTERS
        self.globals = {"range": self.globals["range"]}
        self.policies["truncate.leeway"] = 0

    def render_text(self, template: str, variables: Mapping[str, Any]) -> str:
        """Render a template with these variables. Raise RenderError with the reason if that is impossible."""
        with _render_errors():
            compiled, steps = _compile(self, template), {_STEPS: [self.limits.max_steps]}
            # All names are in one dictionary, as Jinja takes longer to merge them than to render a short template.
            context = compiled.new_context({**self.globals, **variables, **steps}, shared=True)
            return self._join(compiled.root_render_func(context))

    def check(self, template: str) -> None:
        """Raise RenderError if the template does not compile."""
        with _render_errors():
            _compile(self, template)

    def tree(self, template: str) -> nodes.Template:
        """Parse the template. Raise RenderError if that is impossible."""
        with _render_errors():
            return self.parse(template)

    def check_expression(self, expression: str) -> None:
        """Raise RenderError unless the text is one expression, which may be put into a tag of a template."""
        with _render_errors():
            parser = Parser(self, expression, state="variable")
            parser.parse_expression()
            if not parser.stream.eos:
                raise RenderError("it must be one expression")

    def check_length(self, length: int) -> None:
        if length > self.limits.max_length:
            raise RenderError(f"its output is longer than {self.limits.max_length:,} characters")

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            is_text = isinstance(left, str) or isinstance(right, str)
            return self._limited(self.printed(left) + self.printed(right) if is_text else left + right)
        if not all(isinstance(operand, int | float) and abs(operand) < 2**53 for operand in (left, right)):
            raise RenderError(f"the operands of {operator} must be numbers of at most 53 bits")
        if operator == "**" and abs(right) > 64:
            raise RenderError("the exponent of ** must be at most 64")
        return super().call_binop(context, operator, left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute. Strings and lists have only `length`; an object has its keys and no methods."""
        if isinstance(obj, Mapping):
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        if isinstance(obj, str | list):
            return len(obj) if attribute == "length" else self.undefined(f"unknown attribute {attribute}")
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an element. A list has no element before its first."""
        if isinstance(obj, list | str) and isinstance(argument, int) and argument < 0:
            return self.undefined(f"no element {argument}")
        return super().getitem(obj, argument)

    def _limited[T](self, value: T) -> T:
        if isinstance(value, str | list):
            self.check_length(len(value))
        return value

    def _join(self, parts: Iterator[str]) -> str:
        length, rendered = 0, []
        for part in parts:
            length += len(part)
            rendered.append(part)
            self.check_length(length)
        return "".join(rendered)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _with_limits(super()._parse(source, name, filename))


@contextmanager
def _render_errors() -> Iterator[None]:
    try:
        yield
    except RenderError:
        raise
    except _TOO_COMPLEX:
        raise RenderError("it is nested too deeply") from None
    except _FAILURES as error:
        raise RenderError(str(error).partition("\n")[0] or type(error).__name__) from None


@lru_cache(maxsize=256)
def _compile(environment: LimitedEnvironment, template: str) -> Template:
    if len(template) > environment.limits.max_length:
        raise RenderError(f"it is longer than {environment.limits.max_length:,} characters")
    return environment.from_string(template)


def _with_limits(tree: nodes.Template) -> nodes.Template:
    """Make every loop count its steps and limit the length of concatenations."""
    if unsupported := next(tree.find_all(_UNSUPPORTED), None):
        raise RenderError(f"{type(unsupported).__name__.lower()} is not supported")
    for loop in tree.find_all(nodes.For):
        if loop.recursive:
            raise RenderError("recursive loops are not supported")
        name = "_pairs" if isinstance(loop.target, nodes.Tuple) else "_counted"
        loop.iter = _apply_filter(name, loop.iter)
    for parent in list(tree.find_all(nodes.Node)):
        for field, value in list(parent.iter_fields()):
            if isinstance(value, nodes.Concat):
                setattr(parent, field, _limited_concatenation(value))
            elif isinstance(value, list):
                value[:] = [_limited_concatenation(each) if isinstance(each, nodes.Concat) else each for each in value]
    return tree


def _limited_concatenation(node: nodes.Concat) -> nodes.Filter:
    return _apply_filter("_joined", nodes.List(node.nodes, lineno=node.lineno))


def _apply_filter(name: str, node: nodes.Node) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


@pass_context
def _counted(context: Context, values: Any) -> Iterator[Any]:
    steps: list[int] = context[_STEPS]
    for value in values or ():
        steps[0] -= 1
        if steps[0] < 0:
            raise RenderError(f"its loops exceed {_limits(context).max_steps:,} steps")
        yield value


@pass_context
def _pairs(context: Context, values: Any) -> Iterator[Any]:
    """Yield the items of a loop. A loop with two names unpacks an object into its keys and values."""
    return _counted(context, list(values.items()) if isinstance(values, Mapping) else values)


def _limits(context: Context) -> TemplateLimits:
    limits: TemplateLimits = context.environment.limits  # type: ignore[attr-defined]
    return limits


@pass_environment
def _joined(
    environment: LimitedEnvironment, values: list[Any], separator: str = "", attribute: str | None = None
) -> str:
    parts = [environment.printed(item.get(attribute) if attribute else item) for item in values]
    environment.check_length(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


@pass_environment
def _replace(environment: LimitedEnvironment, value: Any, old: str, new: str, times: int = -1) -> str:
    text = environment.printed(value)
    environment.check_length(len(text) + (text.count(old) if old else len(text) + 1) * len(str(new)))
    return text.replace(str(old), str(new), times)


@pass_environment
def _string(environment: LimitedEnvironment, value: Any) -> str:
    text = environment.printed(value)
    environment.check_length(len(text))
    return text


@pass_environment
def _slice(environment: LimitedEnvironment, values: Any, slices: int, fill_with: Any = None) -> Iterator[list[Any]]:
    yield from sync_do_slice(values, _counted_parts(environment, slices), fill_with)


@pass_environment
def _batch(environment: LimitedEnvironment, values: Any, size: int, fill_with: Any = None) -> Iterator[list[Any]]:
    yield from do_batch(values, _counted_parts(environment, size), fill_with)


def _counted_parts(environment: LimitedEnvironment, number: int) -> int:
    if not isinstance(number, int) or number > environment.limits.max_steps:
        raise RenderError(f"a list has at most {environment.limits.max_steps:,} parts")
    return number


_FILTERS: dict[str, Callable[..., Any]] = {
    "_counted": _counted,
    "_pairs": _pairs,
    "_joined": _joined,
    "batch": _batch,
    "slice": _slice,
    "join": _joined,
    "replace": _replace,
    "string": _string,
}
