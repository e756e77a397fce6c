"""Computes metrics from the sums of others, such as an F1 of precision and recall, as in promptfoo.

An expression has numbers, names of metrics, `__count` (how many results there are), `+ - * / % ^`, comparisons, `a ? b
: c`, parentheses and a few functions. promptfoo's own expressions are mathjs; this is their arithmetic.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass

MAX_DERIVED_METRICS = 50
MAX_LENGTH = 500
COUNT = "__count"
_MAX_DEPTH = 50
_TOKEN = re.compile(r"\s*(?:((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_][\w]*)|(<=|>=|==|!=|[-+*/%^()<>?:,]))")


def _round(number: float) -> float:
    """Round half away from zero, unlike Python's `round`."""
    return math.copysign(math.floor(abs(number) + 0.5), number)


_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "max": max,
    "min": min,
    "pow": pow,
    "round": _round,
    "sqrt": math.sqrt,
}
_VARIADIC, _BINARY = frozenset({"max", "min"}), frozenset({"pow"})
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}

type Evaluated = Callable[[Mapping[str, float]], float]


class DerivedMetric(NamedTuple):
    name: str
    value: str


class ExpressionIssue(ValueError):
    """The expression is invalid; the message is for its author."""


def expression_issue(text: str, known: Collection[str] | None = None) -> str | None:
    """Return the error in an expression; None if it is valid. If `known` is given, it may only contain these names."""
    try:
        _parse(text, known)
    except ExpressionIssue as error:
        return str(error)
    return None


def derive(metrics: Sequence[DerivedMetric], sums: Mapping[str, float], count: int) -> dict[str, float]:
    """Return the values in order; each may use those before it. A value that cannot be computed (a division by zero, a
    metric that no result has) is omitted."""
    names = {**sums, COUNT: float(count)}
    derived: dict[str, float] = {}
    for metric in metrics:
        try:
            value = float(_parse(metric.value)(names))
        except (ArithmeticError, LookupError, ValueError, TypeError):
            continue
        if math.isfinite(value):
            derived[metric.name] = names[metric.name] = value
    return derived


class WeightedMetrics(NamedTuple):
    """Contains the metrics of one result, and the sums of their weights that are not 1."""

    values: Mapping[str, float] = {}
    weights: Mapping[str, float] = {}


def metrics_of(results: Sequence[WeightedMetrics], derived: Sequence[DerivedMetric]) -> dict[str, float]:
    """Return the mean of each metric over the results with it, and the metrics derived from sums of score x weight."""
    values: dict[str, list[float]] = {}
    sums: dict[str, float] = {}
    for result in results:
        for name, value in result.values.items():
            values.setdefault(name, []).append(value)
            sums[name] = sums.get(name, 0.0) + value * result.weights.get(name, 1)
    means = {name: sum(given) / len(given) for name, given in sorted(values.items())}
    return means | derive(derived, sums, len(results))


def read_derived_metrics(data: Iterable[Mapping[str, Any]] | None) -> tuple[DerivedMetric, ...]:
    return tuple(DerivedMetric(each["name"], each["value"]) for each in data or ())


def _parse(text: str, known: Collection[str] | None = None) -> Evaluated:
    if len(text) > MAX_LENGTH:
        raise ExpressionIssue(f"must have at most {MAX_LENGTH} characters")
    parser = _ExpressionParser(_tokens(text))
    evaluated = parser.choice()
    if parser.remaining:
        raise ExpressionIssue(f"is not an expression of metrics, from {parser.remaining[0]!r} on")
    if known is not None and (unknown := parser.names.difference(known)):
        raise ExpressionIssue(f"has the unknown name {min(unknown)}; known names: {', '.join(known)}")
    return evaluated


def _tokens(text: str) -> list[str]:
    tokens, position, text = [], 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionIssue(f"is not an expression of metrics, from {text[position:].strip()[:20]!r} on")
        tokens.append(match[0].strip())
        position = match.end()
    return tokens


@dataclass
class _ExpressionParser:
    """Parses by recursive descent; each method reads one level of precedence."""

    remaining: list[str] = field(default_factory=list)
    depth: int = 0
    names: set[str] = field(default_factory=set)

    def choice(self) -> Evaluated:
        return self._nested(self._choice)

    def _choice(self) -> Evaluated:
        condition = self._comparison()
        if self._accept("?"):
            then = self.choice()
            self._expect(":")
            other = self.choice()
            return lambda names: then(names) if condition(names) else other(names)
        return condition

    def _comparison(self) -> Evaluated:
        left = self._sum()
        if self.remaining and self.remaining[0] in _COMPARISONS:
            compare, right = _COMPARISONS[self._take()], self._sum()
            return lambda names: float(compare(left(names), right(names)))
        return left

    def _sum(self) -> Evaluated:
        value = self._product()
        while self.remaining and self.remaining[0] in ("+", "-"):
            value = _combined(self._take(), value, self._product())
        return value

    def _product(self) -> Evaluated:
        value = self._signed()
        while self.remaining and self.remaining[0] in ("*", "/", "%"):
            value = _combined(self._take(), value, self._signed())
        return value

    def _signed(self) -> Evaluated:
        if self._accept("-"):
            value = self._nested(self._signed)
            return lambda names: -value(names)
        self._accept("+")
        return self._power()

    def _power(self) -> Evaluated:
        base = self._operand()
        if self._accept("^"):
            exponent = self._nested(self._signed)
            return lambda names: _finite_power(base(names), exponent(names))
        return base

    def _nested(self, read: Callable[[], Evaluated]) -> Evaluated:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ExpressionIssue("is nested too deeply")
        value = read()
        self.depth -= 1
        return value

    def _operand(self) -> Evaluated:
        if self._accept("("):
            value = self.choice()
            self._expect(")")
            return value
        token = self._take()
        if token[0].isdigit() or token[0] == ".":
            number = float(token)
            return lambda _: number
        if not (token[0].isalpha() or token[0] == "_"):
            raise ExpressionIssue(f"has {token!r} where a number or a metric is expected")
        if self.remaining[:1] == ["("]:
            return self._call(token)
        self.names.add(token)
        return lambda names: names[token]

    def _call(self, name: str) -> Evaluated:
        if name not in _FUNCTIONS:
            raise ExpressionIssue(f"has the unknown function {name}; known functions: {', '.join(_FUNCTIONS)}")
        self._expect("(")
        arguments = [self.choice()]
        while self._accept(","):
            arguments.append(self.choice())
        self._expect(")")
        if name not in _VARIADIC and len(arguments) != 1 + (name in _BINARY):
            raise ExpressionIssue(f"calls {name} with {len(arguments)} arguments")
        function = _finite_power if name == "pow" else _FUNCTIONS[name]
        if name in _VARIADIC and len(arguments) == 1:
            return arguments[0]
        return lambda names: float(function(*(argument(names) for argument in arguments)))

    def _take(self) -> str:
        if not self.remaining:
            raise ExpressionIssue("ends too early")
        return self.remaining.pop(0)

    def _accept(self, token: str) -> bool:
        if self.remaining[:1] != [token]:
            return False
        self.remaining.pop(0)
        return True

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise ExpressionIssue(f"needs {token!r}" + (f" before {self.remaining[0]!r}" if self.remaining else ""))


def _combined(operator: str, left: Evaluated, right: Evaluated) -> Evaluated:
    match operator:
        case "+":
            return lambda names: left(names) + right(names)
        case "-":
            return lambda names: left(names) - right(names)
        case "*":
            return lambda names: left(names) * right(names)
        case "/":
            return lambda names: left(names) / right(names)
        case _:
            return lambda names: left(names) % right(names)


def _finite_power(base: float, exponent: float) -> float:
    """Compute a power without complex numbers, which a negative base with a fractional exponent would have."""
    return math.pow(base, exponent)
