"""In-memory DynamoDB: conditional and transactional writes, set updates, strongly and eventually consistent reads.

An item keeps its latest versions with their write times, so that an eventually consistent read can return an old one.
A transaction locks its items from its arrival to its end; conflicting writes fail, as in DynamoDB.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.simulation.expressions import BadExpression, Item, Scope
from tests.simulation.services import ServiceError

type Key = tuple[str, str]
type Observer = Callable[[Key, Item, Item], None]

_VERSIONS = 6
_MAX_LAG_SECONDS = 1.0
_WRITES = ("Put", "Update", "Delete", "ConditionCheck")


class Table:
    """`observe` is called for every write with the key, the item before and the item after ({} for none); `on_commit`
    after a write, or after all of a transaction."""

    def __init__(
        self,
        clock: Callable[[], float],
        rng: Random,
        observe: Observer = lambda *_: None,
        on_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._rng = rng
        self._observe = observe
        self._on_commit = on_commit
        self._partitions: dict[str, dict[str, list[tuple[float, Item]]]] = defaultdict(dict)
        self._locked: set[Key] = set()
        self._tokens: dict[str, bool] = {}
        """By client request token: whether that transaction has been committed."""
        self.have_reads_caught_up = False
        """Whether every read returns what was written last, as some time after the last write."""

    # -- for tests

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
            raise ServiceError("ValidationException", str(error)) from error

    def _GetItem(self, request: Any) -> Any:  # noqa: N802
        scope, key = Scope(request), _key(request["Key"])
        item = self._as_of(key, self._read_time(request))
        return {"Item": _projected(scope, request, item)} if item else {}

    def _BatchGetItem(self, request: Any) -> Any:  # noqa: N802
        responses: dict[str, list[Item]] = {}
        unprocessed: dict[str, Any] = {}
        for name, reads in request["RequestItems"].items():
            keys = list(reads["Keys"])
            if len(keys) > 1 and self._rng.random() < 0.1:
                cut = self._rng.randrange(1, len(keys))
                keys, unprocessed[name] = keys[:cut], {**reads, "Keys": keys[cut:]}
            scope, read_at = Scope(reads), self._read_time(reads)
            items = [self._as_of(_key(key), read_at) for key in keys]
            responses[name] = [_projected(scope, reads, item) for item in items if item]
        return {"Responses": responses, "UnprocessedKeys": unprocessed}

    def _PutItem(self, request: Any) -> Any:  # noqa: N802
        return self._write_one("Put", request)

    def _UpdateItem(self, request: Any) -> Any:  # noqa: N802
        return self._write_one("Update", request)

    def _DeleteItem(self, request: Any) -> Any:  # noqa: N802
        return self._write_one("Delete", request)

    def _BatchWriteItem(self, request: Any) -> Any:  # noqa: N802
        unprocessed: dict[str, Any] = {}
        for name, writes in request["RequestItems"].items():
            accepted = self._rng.sample(list(writes), len(writes))
            if len(writes) > 1 and self._rng.random() < 0.1:
                cut = self._rng.randrange(1, len(writes))
                accepted, unprocessed[name] = accepted[:cut], accepted[cut:]
            for write in accepted:
                ((kind, body),) = write.items()
                self._write_one(kind.removesuffix("Request"), body)
        return {"UnprocessedItems": unprocessed}

    def _Query(self, request: Any) -> Any:  # noqa: N802
        scope, read_at = Scope(request), self._read_time(request)
        start = _key(request["ExclusiveStartKey"]) if request.get("ExclusiveStartKey") else None
        matches = [
            (order, key, item)
            for order, key, item in self._candidates(scope, request, read_at)
            if scope.matches(request["KeyConditionExpression"], item)
        ]
        matches.sort(key=lambda match: match[0], reverse=request.get("ScanIndexForward") is False)
        if start is not None:
            after = next((n + 1 for n, (_, key, _) in enumerate(matches) if key == start), len(matches))
            matches = matches[after:]
        limit = min(request.get("Limit") or 1_000, 1_000 if self._rng.random() < 0.9 else self._rng.randint(1, 3))
        page, remaining = matches[:limit], matches[limit:]
        items = [item for _, _, item in page if scope.matches(request.get("FilterExpression"), item)]
        response: Any = {"Items": [_projected(scope, request, item) for item in items], "Count": len(items)}
        response["ScannedCount"] = len(page)
        if remaining:
            last = page[-1][2]
            response["LastEvaluatedKey"] = {n: last[n] for n in ("pk", "sk", "gsi1pk", "gsi1sk") if n in last}
        return response

    def _candidates(self, scope: Scope, request: Any, read_at: float) -> Iterator[tuple[Any, Key, Item]]:
        from tests.simulation.expressions import parse_condition

        index = request.get("IndexName")
        condition = parse_condition(request["KeyConditionExpression"])
        if index is None:
            pk = scope.required_value(condition, "pk")["S"]
            for sk in list(self._partitions.get(pk, ())):
                if item := self._as_of((pk, sk), read_at):
                    yield sk, (pk, sk), item
            return
        for (pk, sk), _ in list(self.items()):
            item = self._as_of((pk, sk), read_at)
            if f"{index}pk" in item:
                yield (item[f"{index}sk"]["S"], pk, sk), (pk, sk), item

    # -- transactions, in two steps: conflicting writes in between fail

    def begin(self, request: Any) -> list[Key] | None:
        """Lock the items of a transaction; None if the request was already executed."""
        token = request.get("ClientRequestToken", "")
        if token in self._tokens:
            if self._tokens[token]:
                return None
            raise ServiceError("TransactionInProgressException")
        keys = [_key(_body(write).get("Key") or _body(write)["Item"]) for write in request["TransactItems"]]
        if len(set(keys)) < len(keys):
            raise ServiceError("ValidationException", "a transaction may not name an item twice")
        if self._locked.intersection(keys):
            _cancel([{"Code": "TransactionConflict" if key in self._locked else "None"} for key in keys])
        self._locked.update(keys)
        if token:
            self._tokens[token] = False
        return keys

    def commit(self, request: Any, keys: list[Key]) -> Any:
        self._locked.difference_update(keys)
        self._tokens.pop(request.get("ClientRequestToken", ""), None)
        reasons = [self._reason(write, key) for write, key in zip(request["TransactItems"], keys, strict=True)]
        if any(reason["Code"] != "None" for reason in reasons):
            _cancel(reasons)
        for write, key in zip(request["TransactItems"], keys, strict=True):
            kind = next(iter(write))
            if kind != "ConditionCheck":
                self._apply(kind, _body(write), key)
        self._on_commit()
        if request.get("ClientRequestToken"):
            self._tokens[request["ClientRequestToken"]] = True
        return {}

    def _reason(self, write: Any, key: Key) -> Any:
        body, present = _body(write), self.item(*key)
        if Scope(body).matches(body.get("ConditionExpression"), present):
            return {"Code": "None"}
        reason: Any = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
        if body.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and present:
            reason["Item"] = present
        return reason

    # -- one item

    def _write_one(self, kind: str, request: Any) -> Any:
        key = _key(request.get("Key") or request["Item"])
        if key in self._locked:
            raise ServiceError("TransactionConflictException", "Transaction is ongoing for the item")
        before = self.item(*key)
        if not Scope(request).matches(request.get("ConditionExpression"), before):
            fields = {"Item": before} if request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" else {}
            raise ServiceError("ConditionalCheckFailedException", "The conditional request failed", **fields)
        after, written = self._apply(kind, request, key)
        self._on_commit()
        match request.get("ReturnValues", "NONE"):
            case "ALL_NEW":
                return {"Attributes": after}
            case "ALL_OLD":
                return {"Attributes": before}
            case "UPDATED_NEW":
                return {"Attributes": {name: after[name] for name in written if name in after}}
            case "UPDATED_OLD":
                return {"Attributes": {name: before[name] for name in written if name in before}}
        return {}

    def _apply(self, kind: str, request: Any, key: Key) -> tuple[Item, list[str]]:
        before, written = self.item(*key), list[str]()
        if kind == "Put":
            after = dict(request["Item"])
        elif kind == "Delete":
            after = {}
        else:
            base = before or dict(request["Key"])
            after, written = Scope(request).update(request["UpdateExpression"], base)
        _check(after)
        versions = self._partitions[key[0]].setdefault(key[1], [(0.0, {})])
        versions.append((self._clock(), after))
        del versions[:-_VERSIONS]
        self._observe(key, before, after)
        return after, written

    def _read_time(self, request: Any) -> float:
        """The time whose state a read returns: in the past for some eventually consistent reads."""
        if request.get("ConsistentRead") or self.have_reads_caught_up or self._rng.random() < 0.5:
            return self._clock()
        return self._clock() - self._rng.uniform(0, _MAX_LAG_SECONDS)

    def _as_of(self, key: Key, read_at: float) -> Item:
        versions = self._partitions.get(key[0], {}).get(key[1], [])
        return next((item for written_at, item in reversed(versions) if written_at <= read_at), {})


def _key(item: Item) -> Key:
    return item["pk"]["S"], item["sk"]["S"]


def _body(write: Any) -> Any:
    return next(write[kind] for kind in _WRITES if kind in write)


def _cancel(reasons: list[Any]) -> None:
    codes = ", ".join(reason["Code"] for reason in reasons)
    raise ServiceError("TransactionCanceledException", f"reasons [{codes}]", CancellationReasons=reasons)


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
