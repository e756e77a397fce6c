"""DynamoDB's condition and update expressions, as far as the store uses them, over items in wire format."""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any

type Item = dict[str, Any]
type Node = tuple[Any, ...]

_TOKEN = re.compile(r"\s*(<>|<=|>=|[()=<>,+\-.]|[#:]?\w+)")
_FUNCTIONS = ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains")
_OPERANDS = ("size", "if_not_exists", "list_append")


class BadExpression(Exception):
    """DynamoDB would respond with a ValidationException."""


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        if "".join(self._tokens) != re.sub(r"\s", "", text):
            raise BadExpression(text)
        self._position = 0

    @property
    def next(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.next
        if not token or (expected is not None and token.upper() != expected):
            raise BadExpression(f"{expected} expected at {token!r}")
        self._position += 1
        return token

    def has(self, *words: str) -> bool:
        if self.next.upper() in words:
            self._position += 1
            return True
        return False

    def condition(self) -> Node:
        node = self._conjunction()
        while self.has("OR"):
            node = ("or", node, self._conjunction())
        return node

    def _conjunction(self) -> Node:
        node = self._negation()
        while self.has("AND"):
            node = ("and", node, self._negation())
        return node

    def _negation(self) -> Node:
        if self.has("NOT"):
            return ("not", self._negation())
        if self.has("("):
            node = self.condition()
            self.take(")")
            return node
        if self.next in _FUNCTIONS:
            return (self.take(), *self._arguments())
        return self._comparison()

    def _comparison(self) -> Node:
        left = self.operand()
        if self.has("BETWEEN"):
            low = self.operand()
            self.take("AND")
            return ("and", (">=", left, low), ("<=", left, self.operand()))
        if self.has("IN"):
            return ("in", left, *self._arguments())
        return (self.take(), left, self.operand())

    def _arguments(self) -> list[Node]:
        self.take("(")
        operands = [self.operand()]
        while self.has(","):
            operands.append(self.operand())
        self.take(")")
        return operands

    def operand(self) -> Node:
        if self.next in _OPERANDS:
            return (self.take(), *self._arguments())
        if self.next.startswith(":"):
            return ("value", self.take())
        return self.path()

    def path(self) -> Node:
        parts = [self.take()]
        while self.has("."):
            parts.append(self.take())
        return ("path", *parts)

    def sum(self) -> Node:
        node = self.operand()
        while self.next in ("+", "-"):
            node = (self.take(), node, self.operand())
        return node

    def update(self) -> list[Node]:
        actions: list[Node] = []
        while self.next:
            clause = self.take().upper()
            actions.append(self._action(clause))
            while self.has(","):
                actions.append(self._action(clause))
        return actions

    def _action(self, clause: str) -> Node:
        target = self.path()
        if clause == "SET":
            self.take("=")
            return ("set", target, self.sum())
        if clause == "REMOVE":
            return ("remove", target)
        if clause in ("ADD", "DELETE"):
            return (clause.lower(), target, self.operand())
        raise BadExpression(clause)


@cache
def parse_condition(text: str) -> Node:
    parser = _Parser(text)
    node = parser.condition()
    if parser.next:
        raise BadExpression(text)
    return node


@cache
def parse_update(text: str) -> list[Node]:
    return _Parser(text).update()


class Scope:
    """The attribute names and values of a request, with which its expressions are evaluated."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._names = request.get("ExpressionAttributeNames") or {}
        self._values = request.get("ExpressionAttributeValues") or {}

    def matches(self, text: str | None, item: Item) -> bool:
        return text is None or self._evaluate(parse_condition(text), item)

    def parts(self, path: Node) -> list[str]:
        return [self._names[part] if part.startswith("#") else part for part in path[1:]]

    def required_value(self, node: Node, attribute: str) -> Any:
        """The value a key condition requires of `attribute`; None if it does not mention the attribute."""
        if node[0] == "and":
            return self.required_value(node[1], attribute) or self.required_value(node[2], attribute)
        is_match = node[0] == "=" and node[1][0] == "path" and self.parts(node[1]) == [attribute]
        return self.value(node[2], {}) if is_match else None

    def _evaluate(self, node: Node, item: Item) -> bool:
        match node[0]:
            case "or":
                return self._evaluate(node[1], item) or self._evaluate(node[2], item)
            case "and":
                return self._evaluate(node[1], item) and self._evaluate(node[2], item)
            case "not":
                return not self._evaluate(node[1], item)
            case "attribute_exists":
                return self.value(node[1], item) is not None
            case "attribute_not_exists":
                return self.value(node[1], item) is None
            case "in":
                value = self.value(node[1], item)
                return value is not None and any(_equal(value, self.value(operand, item)) for operand in node[2:])
        left, right = self.value(node[1], item), self.value(node[2], item)
        return left is not None and right is not None and _compare(node[0], left, right)

    def value(self, node: Node, item: Item) -> Any:
        """In wire format, such as `{"S": "x"}`; None if the item has no such attribute."""
        match node[0]:
            case "value":
                return self._values[node[1]]
            case "path":
                return _value_at(item, self.parts(node))
            case "size":
                value = self.value(node[1], item)
                return value and {"N": str(len(next(iter(value.values()))))}
            case "if_not_exists":
                value = self.value(node[1], item)
                return self.value(node[2], item) if value is None else value
            case "list_append":
                return {"L": [*self.value(node[1], item)["L"], *self.value(node[2], item)["L"]]}
            case "+" | "-":
                left, right = (_number(self.value(operand, item)) for operand in node[1:])
                return {"N": str(left + right if node[0] == "+" else left - right)}
        raise BadExpression(str(node))

    def update(self, text: str, item: Item) -> tuple[Item, list[str]]:
        """The updated item and the top-level attributes that were written. Operands have their old values."""
        changed = dict(item)
        written = []
        for kind, target, *operands in parse_update(text):
            parts = self.parts(target)
            written.append(parts[0])
            operand = self.value(operands[0], item) if operands else None
            _put(changed, parts, _applied(kind, _value_at(changed, parts), operand))
        return changed, written


def _applied(kind: str, present: Any, operand: Any) -> Any:
    """The attribute's new value; None if it is removed."""
    if kind in ("set", "remove"):
        if kind == "set" and operand is None:
            raise BadExpression("the expression refers to an attribute that does not exist")
        return operand
    if operand is None or not next(iter(operand.values())):
        raise BadExpression("a set may not be empty")
    if "N" in operand:
        return {"N": str((_number(present) if present else Decimal(0)) + _number(operand))}
    type_ = next(iter(operand))
    members = set(present[type_] if present else ())
    members = members | set(operand[type_]) if kind == "add" else members - set(operand[type_])
    return {type_: sorted(members)} if members else None


def _value_at(item: Any, parts: list[str]) -> Any:
    value = item.get(parts[0])
    for part in parts[1:]:
        value = value.get("M", {}).get(part) if value is not None else None
    return value


def _put(item: Item, parts: list[str], value: Any) -> None:
    """Copies the maps along the path, so that items returned earlier do not change."""
    if len(parts) > 1:
        inner = item.get(parts[0])
        if inner is None or "M" not in inner:
            raise BadExpression("the document path does not exist")
        members = dict(inner["M"])
        _put(members, parts[1:], value)
        item[parts[0]] = {"M": members}
    elif value is None:
        item.pop(parts[0], None)
    else:
        item[parts[0]] = value


def _number(value: Any) -> Decimal:
    return Decimal(value["N"])


def _equal(left: Any, right: Any) -> bool:
    if right is None or left.keys() != right.keys():
        return False
    if "N" in left:
        return _number(left) == _number(right)
    type_ = next(iter(left))
    return set(left[type_]) == set(right[type_]) if type_ in ("SS", "NS") else bool(left == right)


def _compare(operator: str, left: Any, right: Any) -> bool:
    if operator in ("=", "<>"):
        return _equal(left, right) is (operator == "=")
    if operator == "contains":
        type_ = next(iter(left))
        return next(iter(right.values())) in left[type_]
    if left.keys() != right.keys():
        return False
    first, second = (_number(left), _number(right)) if "N" in left else (left["S"], right["S"])
    if operator == "begins_with":
        return bool(first.startswith(second))
    return {"<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second}[operator]
