"""DynamoDB in memory: conditional and transactional writes, set arithmetic, strong and eventual reads.

An item keeps its last versions with the time of their writing, so that an eventually consistent read can see the past.
A transaction holds its items from its arrival to its end; whoever meets it is refused, as DynamoDB does.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.simulation.expressions import BadExpression, Item, Scope
from tests.simulation.services import Refused

type Key = tuple[str, str]
type Observer = Callable[[Key, Item, Item], None]

_VERSIONS = 6
_MOST_LAG_SECONDS = 1.0
_WRITES = ("Put", "Update", "Delete", "ConditionCheck")


class Table:
    """`observe` is told of every write: key, the item before, the item after ({} for none)."""

    def __init__(self, clock: Callable[[], float], rng: Random, observe: Observer = lambda *_: None) -> None:
        self._clock = clock
        self._rng = rng
        self._observe = observe
        self._partitions: dict[str, dict[str, list[tuple[float, Item]]]] = defaultdict(dict)
        self._held: set[Key] = set()
        self._tokens: dict[str, bool] = {}
        """Of transactions: whether the one with this token has ended well."""

    # -- what tests look at

    def item(self, pk: str, sk: str) -> Item:
        versions = self._partitions.get(pk, {}).get(sk)
        return versions[-1][1] if versions else {}

    def items(self) -> Iterator[tuple[Key, Item]]:
        for pk, partition in self._partitions.items():
            for sk, versions in partition.items():
                if versions[-1][1]:
                    yield (pk, sk), versions[-1][1]

    # -- operations, each atomic

    def execute(self, operation: str, request: Any) -> Any:
        try:
            return getattr(self, f"_{operation}")(request)
        except BadExpression as error:
            raise Refused("ValidationException", str(error)) from error

    def _GetItem(self, request: Any) -> Any:  # noqa: N802
        scope, key = Scope(request), _key(request["Key"])
        found = self._as_of(key, self._read_time(request))
        return {"Item": _projected(scope, request, found)} if found else {}

    def _BatchGetItem(self, request: Any) -> Any:  # noqa: N802
        responses: dict[str, list[Item]] = {}
        unprocessed: dict[str, Any] = {}
        for name, wanted in request["RequestItems"].items():
            keys = list(wanted["Keys"])
            if len(keys) > 1 and self._rng.random() < 0.1:
                cut = self._rng.randrange(1, len(keys))
                keys, unprocessed[name] = keys[:cut], {**wanted, "Keys": keys[cut:]}
            scope, moment = Scope(wanted), self._read_time(wanted)
            found = [self._as_of(_key(key), moment) for key in keys]
            responses[name] = [_projected(scope, wanted, item) for item in found if item]
        return {"Responses": responses, "UnprocessedKeys": unprocessed}

    def _PutItem(self, request: Any) -> Any:  # noqa: N802
        return self._write_one("Put", request)

    def _UpdateItem(self, request: Any) -> Any:  # noqa: N802
        return self._write_one("Update", request)

    def _DeleteItem(self, request: Any) -> Any:  # noqa: N802
        return self._write_one("Delete", request)

    def _BatchWriteItem(self, request: Any) -> Any:  # noqa: N802
        for writes in request["RequestItems"].values():
            for write in writes:
                ((kind, body),) = write.items()
                self._write_one(kind.removesuffix("Request"), body)
        return {"UnprocessedItems": {}}

    def _Query(self, request: Any) -> Any:  # noqa: N802
        scope, moment = Scope(request), self._read_time(request)
        start = _key(request["ExclusiveStartKey"]) if request.get("ExclusiveStartKey") else None
        found = [
            (order, key, item)
            for order, key, item in self._candidates(scope, request, moment)
            if scope.holds(request["KeyConditionExpression"], item)
        ]
        found.sort(key=lambda each: each[0], reverse=request.get("ScanIndexForward") is False)
        if start is not None:
            found = found[next((n + 1 for n, (_, key, _) in enumerate(found) if key == start), len(found)) :]
        most = min(request.get("Limit") or 1_000, 1_000 if self._rng.random() < 0.9 else self._rng.randint(1, 3))
        page, rest = found[:most], found[most:]
        kept = [item for _, _, item in page if scope.holds(request.get("FilterExpression"), item)]
        answer: Any = {"Items": [_projected(scope, request, item) for item in kept], "Count": len(kept)}
        answer["ScannedCount"] = len(page)
        if rest:
            last = page[-1][2]
            answer["LastEvaluatedKey"] = {n: last[n] for n in ("pk", "sk", "gsi1pk", "gsi1sk") if n in last}
        return answer

    def _candidates(self, scope: Scope, request: Any, moment: float) -> Iterator[tuple[Any, Key, Item]]:
        from tests.simulation.expressions import parse_condition

        index = request.get("IndexName")
        condition = parse_condition(request["KeyConditionExpression"])
        if index is None:
            pk = scope.equal_to(condition, "pk")["S"]
            for sk in list(self._partitions.get(pk, ())):
                if item := self._as_of((pk, sk), moment):
                    yield sk, (pk, sk), item
            return
        for (pk, sk), _ in list(self.items()):
            item = self._as_of((pk, sk), moment)
            if f"{index}pk" in item:
                yield (item[f"{index}sk"]["S"], pk, sk), (pk, sk), item

    # -- transactions, in two steps: between them others are refused

    def begin(self, request: Any) -> list[Key] | None:
        """Holds the items of a transaction; None when the request has been carried out before."""
        token = request.get("ClientRequestToken", "")
        if token in self._tokens:
            if self._tokens[token]:
                return None
            raise Refused("TransactionInProgressException")
        keys = [_key(_body(write).get("Key") or _body(write)["Item"]) for write in request["TransactItems"]]
        if len(set(keys)) < len(keys):
            raise Refused("ValidationException", "a transaction may not name an item twice")
        if self._held.intersection(keys):
            _cancel([{"Code": "TransactionConflict" if key in self._held else "None"} for key in keys])
        self._held.update(keys)
        if token:
            self._tokens[token] = False
        return keys

    def commit(self, request: Any, keys: list[Key]) -> Any:
        self._held.difference_update(keys)
        self._tokens.pop(request.get("ClientRequestToken", ""), None)
        reasons = [self._reason(write, key) for write, key in zip(request["TransactItems"], keys, strict=True)]
        if any(reason["Code"] != "None" for reason in reasons):
            _cancel(reasons)
        for write, key in zip(request["TransactItems"], keys, strict=True):
            kind = next(iter(write))
            if kind != "ConditionCheck":
                self._apply(kind, _body(write), key)
        if request.get("ClientRequestToken"):
            self._tokens[request["ClientRequestToken"]] = True
        return {}

    def _reason(self, write: Any, key: Key) -> Any:
        body, present = _body(write), self.item(*key)
        if Scope(body).holds(body.get("ConditionExpression"), present):
            return {"Code": "None"}
        reason: Any = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
        if body.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and present:
            reason["Item"] = present
        return reason

    # -- one item

    def _write_one(self, kind: str, request: Any) -> Any:
        key = _key(request.get("Key") or request["Item"])
        if key in self._held:
            raise Refused("TransactionConflictException", "Transaction is ongoing for the item")
        before = self.item(*key)
        if not Scope(request).holds(request.get("ConditionExpression"), before):
            shown = {"Item": before} if request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" else {}
            raise Refused("ConditionalCheckFailedException", "The conditional request failed", **shown)
        after, touched = self._apply(kind, request, key)
        match request.get("ReturnValues", "NONE"):
            case "ALL_NEW":
                return {"Attributes": after}
            case "ALL_OLD":
                return {"Attributes": before}
            case "UPDATED_NEW":
                return {"Attributes": {name: after[name] for name in touched if name in after}}
            case "UPDATED_OLD":
                return {"Attributes": {name: before[name] for name in touched if name in before}}
        return {}

    def _apply(self, kind: str, request: Any, key: Key) -> tuple[Item, list[str]]:
        before, touched = self.item(*key), list[str]()
        if kind == "Put":
            after = dict(request["Item"])
        elif kind == "Delete":
            after = {}
        else:
            base = before or dict(request["Key"])
            after, touched = Scope(request).update(request["UpdateExpression"], base)
        _check(after)
        versions = self._partitions[key[0]].setdefault(key[1], [(0.0, {})])
        versions.append((self._clock(), after))
        del versions[:-_VERSIONS]
        self._observe(key, before, after)
        return after, touched

    def _read_time(self, request: Any) -> float:
        """When a read sees the table: an eventually consistent one may see it as it was."""
        if request.get("ConsistentRead") or self._rng.random() < 0.5:
            return self._clock()
        return self._clock() - self._rng.uniform(0, _MOST_LAG_SECONDS)

    def _as_of(self, key: Key, moment: float) -> Item:
        versions = self._partitions.get(key[0], {}).get(key[1], [])
        return next((item for written, item in reversed(versions) if written <= moment), {})


def _key(item: Item) -> Key:
    return item["pk"]["S"], item["sk"]["S"]


def _body(write: Any) -> Any:
    return next(write[kind] for kind in _WRITES if kind in write)


def _cancel(reasons: list[Any]) -> None:
    codes = ", ".join(reason["Code"] for reason in reasons)
    raise Refused("TransactionCanceledException", f"reasons [{codes}]", CancellationReasons=reasons)


def _projected(scope: Scope, request: Any, item: Item) -> Item:
    text = request.get("ProjectionExpression")
    if text is None:
        return dict(item)
    names = [scope.parts(("path", name.strip()))[0] for name in text.split(",")]
    return {name: item[name] for name in names if name in item}


def _check(item: Item) -> None:
    for name, value in item.items():
        type_, content = next(iter(value.items()))
        if type_ in ("NS", "SS") and not content:
            raise BadExpression(f"{name} is an empty set")
        if name in ("gsi1pk", "gsi1sk") and not content:
            raise BadExpression(f"{name} is an empty key")
