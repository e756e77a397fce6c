"""Counts the AWS requests and units of a process, as AWS bills them.

A meter intercepts the calls of the clients of `cupel_core`, and with a separate client reads every item that a write
may change, before and after. It serializes calls, so that these reads are consistent; also, moto loses concurrent
updates. Failed calls are counted too, because AWS bills them.
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


class RequestMeter:
    def __init__(self, get_item: Callable[..., dict[str, Any]]) -> None:
        self.counts: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.written_bytes: Counter[int] = Counter()
        self._get_item = get_item
        self._one_at_a_time = Lock()

    @contextmanager
    def attached(self, *metered_clients: Any) -> Iterator[None]:
        for client in metered_clients:
            self._attach(client)
        try:
            yield
        finally:
            for client in metered_clients:
                del client._make_api_call

    def _attach(self, client: Any) -> None:
        # Both boto3 and PynamoDB call a client through this one method.
        call, service = client._make_api_call, client.meta.service_model.service_name
        client._make_api_call = lambda operation, parameters: self._call(service, operation, parameters, call)

    def _call(self, service: str, operation: str, parameters: dict[str, Any], call: Call) -> Any:
        with self._one_at_a_time:
            self.calls[f"{service}.{operation}"] += 1
            with self._count(service, operation, parameters):
                response = call(operation, parameters)
            if service == "dynamodb":
                self.counts["dynamodb_read_units"] += _read_units(operation, parameters, response)  # type: ignore[assignment]
            return response

    @contextmanager
    def _count(self, service: str, operation: str, parameters: dict[str, Any]) -> Iterator[None]:
        if service == "sqs":
            self.counts["sqs_requests"] += max(1, ceil(_message_bytes(parameters) / _SQS_CHUNK_BYTES))
        elif service == "s3":
            self.counts["s3_writes" if operation in _S3_WRITES else "s3_reads"] += 1
        writes = _writes(operation, parameters) if service == "dynamodb" else []
        self.counts["budget_writes"] += sum(_is_of_budget(key) for _, key in writes)
        before = [self._read_item(*write) for write in writes]
        try:
            yield
        finally:
            factor = 2 if operation == "TransactWriteItems" else 1
            for write, old_item in zip(writes, before, strict=True):
                self._bill(old_item, self._read_item(*write), factor)

    def _read_item(self, table_name: str, key: dict[str, Any]) -> dict[str, Any] | None:
        item = self._get_item(TableName=table_name, Key=key, ConsistentRead=True).get("Item")
        return dict(item) if item else None

    def _bill(self, before: dict[str, Any] | None, after: dict[str, Any] | None, factor: int) -> None:
        """Bill the larger of the two images; the index is written if the item has changed."""
        size = max(item_bytes(before), item_bytes(after))
        self.written_bytes[size] += 1
        self.counts["dynamodb_write_units"] += factor * write_units(size)
        if before != after and any(_INDEX_KEYS[0] in (image or {}) for image in (before, after)):
            has_moved = before is not None and any(before.get(key) != (after or {}).get(key) for key in _INDEX_KEYS)
            self.counts["dynamodb_write_units"] += write_units(size) * (1 + has_moved)


def aws_clients() -> list[Any]:
    own = [clients.dynamodb(), clients.s3(), clients.sqs(), clients.stepfunctions()]
    models = [model._get_connection().connection.client for model in table.Item.__subclasses__()]
    return [*own, *{id(client): client for client in [table.connection().client, *models]}.values()]


def _is_of_budget(key: dict[str, Any]) -> bool:
    """Return whether it is the account of the budget of a run, or of its workspace for a month."""
    partition, sort = str(key["pk"]["S"]), str(key["sk"]["S"])
    return sort == "budget" or partition.endswith("#budgets")


def _writes(operation: str, parameters: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    match operation:
        case "PutItem" | "UpdateItem" | "DeleteItem":
            return [(parameters["TableName"], parameters.get("Key") or _key(parameters["Item"]))]
        case "TransactWriteItems":
            actions = [next(iter(item.items())) for item in parameters["TransactItems"]]
            return [(action["TableName"], action.get("Key") or _key(action["Item"])) for _, action in actions]
        case "BatchWriteItem":
            return [
                (name, next(iter(write.values())).get("Key") or _key(next(iter(write.values()))["Item"]))
                for name, writes in parameters["RequestItems"].items()
                for write in writes
            ]
    return []


def _read_units(operation: str, parameters: dict[str, Any], response: dict[str, Any]) -> float:
    match operation:
        case "GetItem":
            return read_units(item_bytes(response.get("Item")), consistent=parameters.get("ConsistentRead", False))
        case "Query":
            size = sum(map(item_bytes, response["Items"]))
            return read_units(size, consistent=parameters.get("ConsistentRead", False))
        case "BatchGetItem":
            return sum(
                read_units(item_bytes(item), consistent=reads.get("ConsistentRead", False))
                for name, reads in parameters["RequestItems"].items()
                for item in response["Responses"].get(name, [])
            )
    return 0.0


def _key(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in _KEYS}


def _message_bytes(parameters: dict[str, Any]) -> int:
    bodies = [entry.get("MessageBody", "") for entry in parameters.get("Entries", [])]
    return sum(len(body.encode()) for body in [*bodies, parameters.get("MessageBody", "")])
