"""DynamoDB's condition and update expressions, as far as the store uses them, over items in wire form."""

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
    """What DynamoDB would answer with a ValidationException."""


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        if "".join(self._tokens) != re.sub(r"\s", "", text):
            raise BadExpression(text)
        self._place = 0

    @property
    def next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.next
        if not token or (wanted is not None and token.upper() != wanted):
            raise BadExpression(f"{wanted} expected at {token!r}")
        self._place += 1
        return token

    def has(self, *words: str) -> bool:
        if self.next.upper() in words:
            self._place += 1
            return True
        return False

    def condition(self) -> Node:
        found = self._conjunction()
        while self.has("OR"):
            found = ("or", found, self._conjunction())
        return found

    def _conjunction(self) -> Node:
        found = self._negation()
        while self.has("AND"):
            found = ("and", found, self._negation())
        return found

    def _negation(self) -> Node:
        if self.has("NOT"):
            return ("not", self._negation())
        if self.has("("):
            found = self.condition()
            self.take(")")
            return found
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
        found = [self.operand()]
        while self.has(","):
            found.append(self.operand())
        self.take(")")
        return found

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
        found = self.operand()
        while self.next in ("+", "-"):
            found = (self.take(), found, self.operand())
        return found

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
    found = parser.condition()
    if parser.next:
        raise BadExpression(text)
    return found


@cache
def parse_update(text: str) -> list[Node]:
    return _Parser(text).update()


class Scope:
    """The names and values that a request's expressions use."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._names = request.get("ExpressionAttributeNames") or {}
        self._values = request.get("ExpressionAttributeValues") or {}

    def holds(self, text: str | None, item: Item) -> bool:
        return text is None or self._holds(parse_condition(text), item)

    def parts(self, path: Node) -> list[str]:
        return [self._names[part] if part.startswith("#") else part for part in path[1:]]

    def equal_to(self, node: Node, attribute: str) -> Any:
        """The value that a key condition asks `attribute` to be; None when it does not."""
        if node[0] == "and":
            return self.equal_to(node[1], attribute) or self.equal_to(node[2], attribute)
        is_it = node[0] == "=" and node[1][0] == "path" and self.parts(node[1]) == [attribute]
        return self.value(node[2], {}) if is_it else None

    def _holds(self, node: Node, item: Item) -> bool:
        match node[0]:
            case "or":
                return self._holds(node[1], item) or self._holds(node[2], item)
            case "and":
                return self._holds(node[1], item) and self._holds(node[2], item)
            case "not":
                return not self._holds(node[1], item)
            case "attribute_exists":
                return self.value(node[1], item) is not None
            case "attribute_not_exists":
                return self.value(node[1], item) is None
            case "in":
                wanted = self.value(node[1], item)
                return wanted is not None and any(_equal(wanted, self.value(each, item)) for each in node[2:])
        left, right = self.value(node[1], item), self.value(node[2], item)
        return left is not None and right is not None and _compare(node[0], left, right)

    def value(self, node: Node, item: Item) -> Any:
        """In wire form, such as `{"S": "x"}`; None where the item has nothing."""
        match node[0]:
            case "value":
                return self._values[node[1]]
            case "path":
                return _reach(item, self.parts(node))
            case "size":
                found = self.value(node[1], item)
                return found and {"N": str(len(next(iter(found.values()))))}
            case "if_not_exists":
                found = self.value(node[1], item)
                return self.value(node[2], item) if found is None else found
            case "list_append":
                return {"L": [*self.value(node[1], item)["L"], *self.value(node[2], item)["L"]]}
            case "+" | "-":
                left, right = (_number(self.value(each, item)) for each in node[1:])
                return {"N": str(left + right if node[0] == "+" else left - right)}
        raise BadExpression(str(node))

    def update(self, text: str, item: Item) -> tuple[Item, list[str]]:
        """The item afterwards, and the top-level attributes that were touched. All values are of the item before."""
        changed = dict(item)
        touched = []
        for kind, target, *operands in parse_update(text):
            parts = self.parts(target)
            touched.append(parts[0])
            operand = self.value(operands[0], item) if operands else None
            _put(changed, parts, _combined(kind, _reach(changed, parts), operand))
        return changed, touched


def _combined(kind: str, present: Any, operand: Any) -> Any:
    """What an attribute becomes; None when it goes."""
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


def _reach(item: Any, parts: list[str]) -> Any:
    found = item.get(parts[0])
    for part in parts[1:]:
        found = found.get("M", {}).get(part) if found is not None else None
    return found


def _put(item: Item, parts: list[str], value: Any) -> None:
    """Copies the maps on the way: an item that was handed out does not change."""
    if len(parts) > 1:
        inner = item.get(parts[0])
        if inner is None or "M" not in inner:
            raise BadExpression("the document path does not exist")
        below = dict(inner["M"])
        _put(below, parts[1:], value)
        item[parts[0]] = {"M": below}
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
