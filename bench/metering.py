"""Counts what a process asks of AWS, as AWS bills it.

A meter stands before the clients of `cupel_core` and looks at every table item a write is about to change, before and
after, with a client of its own. It lets one call pass at a time: the looks belong to it, and moto loses updates that
meet. Failed calls are counted too, because AWS bills them.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from threading import Lock
from typing import Any

from bench.sizes import item_bytes, read_units, write_units
from cupel_core.store import clients, table

_SQS_CHUNK_BYTES = 65_536
_S3_WRITES = frozenset({"PutObject", "CopyObject", "ListObjectsV2"})
_KEYS = ("pk", "sk")
_INDEX_KEYS = ("gsi1pk", "gsi1sk")

type Call = Callable[[str, dict[str, Any]], Any]


class Meter:
    """`counts` by what is billed; `calls` by service and operation."""

    def __init__(self, look: Callable[..., dict[str, Any]]) -> None:
        """`look` is `get_item` of a client that is not metered."""
        self.counts: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.written_bytes: Counter[int] = Counter()
        self._look = look
        self._one_at_a_time = Lock()

    @contextmanager
    def before(self, *counted: Any) -> Iterator[None]:
        """Every call of these clients is counted meanwhile."""
        for client in counted:
            self._attach(client)
        try:
            yield
        finally:
            for client in counted:
                del client._make_api_call

    def _attach(self, client: Any) -> None:
        # Both boto3 and PynamoDB call a client through this one method.
        call, service = client._make_api_call, client.meta.service_model.service_name
        client._make_api_call = lambda operation, parameters: self._pass(service, operation, parameters, call)

    def _pass(self, service: str, operation: str, parameters: dict[str, Any], call: Call) -> Any:
        with self._one_at_a_time:
            self.calls[f"{service}.{operation}"] += 1
            with self._counted(service, operation, parameters):
                answer = call(operation, parameters)
            if service == "dynamodb":
                self.counts["dynamodb_read_units"] += _read_units(operation, parameters, answer)  # type: ignore[assignment]
            return answer

    @contextmanager
    def _counted(self, service: str, operation: str, parameters: dict[str, Any]) -> Iterator[None]:
        if service == "sqs":
            self.counts["sqs_requests"] += max(1, ceil(_message_bytes(parameters) / _SQS_CHUNK_BYTES))
        elif service == "s3":
            self.counts["s3_writes" if operation in _S3_WRITES else "s3_reads"] += 1
        writes = _writes(operation, parameters) if service == "dynamodb" else []
        before = [self._image(*write) for write in writes]
        try:
            yield
        finally:
            factor = 2 if operation == "TransactWriteItems" else 1
            for write, old in zip(writes, before, strict=True):
                self._bill(old, self._image(*write), factor)

    def _image(self, table_name: str, key: dict[str, Any]) -> dict[str, Any] | None:
        found = self._look(TableName=table_name, Key=key, ConsistentRead=True).get("Item")
        return dict(found) if found else None

    def _bill(self, before: dict[str, Any] | None, after: dict[str, Any] | None, factor: int) -> None:
        """The larger of the two images counts; an index is written when what it projects has changed."""
        size = max(item_bytes(before), item_bytes(after))
        self.written_bytes[size] += 1
        self.counts["dynamodb_write_units"] += factor * write_units(size)
        if before != after and any(_INDEX_KEYS[0] in (image or {}) for image in (before, after)):
            moved = before is not None and any(before.get(key) != (after or {}).get(key) for key in _INDEX_KEYS)
            self.counts["dynamodb_write_units"] += write_units(size) * (1 + moved)


def aws_clients() -> list[Any]:
    """All that `cupel_core` talks to AWS with: its own clients, and one of each PynamoDB connection."""
    own = [clients.dynamodb(), clients.s3(), clients.sqs(), clients.stepfunctions()]
    models = [model._get_connection().connection.client for model in table.Item.__subclasses__()]
    return [*own, *{id(client): client for client in [table.connection().client, *models]}.values()]


def _writes(operation: str, parameters: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(table, key) of each item that a call may change."""
    match operation:
        case "PutItem" | "UpdateItem" | "DeleteItem":
            return [(parameters["TableName"], parameters.get("Key") or _key(parameters["Item"]))]
        case "TransactWriteItems":
            actions = [next(iter(each.items())) for each in parameters["TransactItems"]]
            return [(action["TableName"], action.get("Key") or _key(action["Item"])) for _, action in actions]
        case "BatchWriteItem":
            raise NotImplementedError("nothing in cupel_core writes in batches without conditions")
    return []


def _read_units(operation: str, parameters: dict[str, Any], answer: dict[str, Any]) -> float:
    match operation:
        case "GetItem":
            return read_units(item_bytes(answer.get("Item")), consistent=parameters.get("ConsistentRead", False))
        case "Query":
            size = sum(map(item_bytes, answer["Items"]))
            return read_units(size, consistent=parameters.get("ConsistentRead", False))
        case "BatchGetItem":
            return sum(
                read_units(item_bytes(item), consistent=asked.get("ConsistentRead", False))
                for name, asked in parameters["RequestItems"].items()
                for item in answer["Responses"].get(name, [])
            )
    return 0.0


def _key(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in _KEYS}


def _message_bytes(parameters: dict[str, Any]) -> int:
    bodies = [entry.get("MessageBody", "") for entry in parameters.get("Entries", [])]
    return sum(len(body.encode()) for body in [*bodies, parameters.get("MessageBody", "")])
