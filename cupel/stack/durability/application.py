"""Answers a write of the emulator once it is recorded, or undoes and refuses it.

A request and its record are one step of the event loop, so no other request sees a write that is not recorded, and
records are in the order of effect.
"""

import asyncio
import json
import logging
from collections.abc import MutableMapping
from itertools import chain
from typing import Any

from cupel.stack.asgi import Application, AsgiMessage, Receive, Send, read_body, replay
from cupel.stack.durability import CHECKPOINT_PATH
from cupel.stack.durability.journal import Journal
from cupel.stack.durability.services import ServiceStates
from cupel.stack.durability.tables import ITEM_OPERATIONS, ItemWrite, Tables

SAVED_SERVICES = ("secretsmanager", "scheduler", "ssm")
"""Saved with every change. The others hold the resources of a deployment, and are saved by a checkpoint after
it."""
_TARGETS = {"DynamoDB_20120810": "dynamodb", "secretsmanager": "secretsmanager", "AmazonSSM": "ssm"}
_READS = ("Get", "BatchGet", "Query", "Scan", "Describe", "List", "TransactGet", "Search")
_WHOLE_TABLE = ("Execute", "BatchExecute", "Restore", "Import")
_MAINTENANCE_SECONDS = 1.0

logger = logging.getLogger("cupel.durability")


class DurableApplication:
    """Wraps the emulator's module `ministack.app`; `responses` is the module with the request's account and region."""

    def __init__(
        self, emulator: Any, responses: Any, tables: Tables, journal: Journal, services: ServiceStates
    ) -> None:
        self._application: Application = emulator.app
        self._emulator, self._responses = emulator, responses
        self._tables, self._journal, self._services = tables, journal, services
        self._writes = asyncio.Lock()
        """The emulator answers a write without waiting, so nothing waits for this lock either."""
        self._snapshots = asyncio.Lock()
        self._failed_snapshot_bytes = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if scope["path"] == CHECKPOINT_PATH:
            await self._answer(send, self._checkpoint())
            return
        service, operation, credential = _identify(scope)
        if service == "dynamodb" and not operation.startswith(_READS):
            await self._write_tables(scope, receive, send, operation, credential)
        elif service in SAVED_SERVICES and scope["method"] != "GET" and not operation.startswith(_READS):
            await self._write_service(scope, receive, send, service)
        elif service == "s3" and scope["method"] == "PUT":
            await self._write_object(scope, receive, send)
        else:
            await self._application(scope, receive, send)

    async def maintain(self) -> None:
        """Sync to the disk once a second, save the Scheduler's own changes, and take a snapshot when due."""
        while True:
            await asyncio.sleep(_MAINTENANCE_SECONDS)
            try:
                await asyncio.to_thread(self._journal.sync)
                self._services.save("scheduler")
                if self._journal.is_snapshot_due(self._failed_snapshot_bytes):
                    await self.take_snapshot()
            except (OSError, RuntimeError) as error:
                self._failed_snapshot_bytes = self._journal.log_bytes
                logger.warning("maintenance of the journal failed: %s", error)

    async def take_snapshot(self) -> None:
        """Replace the journal's files by one of all items, while requests are answered."""
        async with self._snapshots:
            number = self._journal.start_log()
            definitions = self._tables.definitions()
            self._tables.mark_recorded()
            payloads = chain((definitions,), self._tables.snapshot())
            await asyncio.to_thread(self._journal.write_snapshot, number, payloads)
            self._failed_snapshot_bytes = 0

    async def _write_tables(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send, operation: str, credential: list[str]
    ) -> None:
        body = await read_body(receive)
        async with self._writes:
            request = _parse(body)
            writes = self._prepare(operation, request, credential)
            messages = await self._call(scope, body, receive)
            failure = self._record(writes, request.get("ClientRequestToken"))
            if not failure and operation not in ITEM_OPERATIONS:
                failure = await self._record_tables(operation)
        await self._forward(send, messages, failure)

    def _prepare(self, operation: str, request: dict[str, Any], credential: list[str]) -> list[ItemWrite]:
        if operation not in ITEM_OPERATIONS:
            return []
        self._responses.set_request_account_id(credential[0])
        self._responses.set_request_region(credential[2])
        account, region = self._responses.get_account_id(), self._responses.get_region()
        try:
            return self._tables.prepare(operation, request, account, region)
        except (KeyError, TypeError, AttributeError):
            return []  # The emulator refuses it.

    def _record(self, writes: list[ItemWrite], token: str | None) -> OSError | None:
        record = self._tables.effects(writes)
        if record is None:
            return None
        try:
            if not self._tables.are_recorded(writes):
                self._journal.append(self._tables.definitions())
                self._tables.mark_recorded()
            self._journal.append(record)
        except OSError as error:
            self._tables.undo(writes, token)
            return error
        return None

    async def _record_tables(self, operation: str) -> OSError | None:
        try:
            self._journal.append(self._tables.definitions())
            self._tables.mark_recorded()
            if operation.startswith(_WHOLE_TABLE):
                await self.take_snapshot()
        except OSError as error:
            return error
        return None

    async def _write_service(self, scope: MutableMapping[str, Any], receive: Receive, send: Send, service: str) -> None:
        body = await read_body(receive)
        failure = None
        async with self._writes:
            before = self._services.encode(service)
            messages = await self._call(scope, body, receive)
            try:
                self._services.save(service)
            except OSError as error:
                failure = error
                self._services.load(service, before)
        await self._forward(send, messages, failure)

    async def _write_object(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Write an object. The emulator writes objects to files itself, but reports success even if it could not."""
        messages = await self._call(scope, await read_body(receive), receive)
        bucket_name, _, key = scope["path"].removeprefix("/").partition("/")
        bucket = self._emulator._get_module("s3")._buckets.get(bucket_name) or {"objects": {}}
        stored = bucket["objects"].get(key)
        is_lost = bool(stored) and stored.get("body") is not None
        await self._forward(send, messages, OSError("the object's file could not be written") if is_lost else None)

    def _checkpoint(self) -> OSError | None:
        try:
            for service in self._emulator._build_persistence_save_dict():
                self._services.save(service)
            self._journal.append(self._tables.definitions())
            self._tables.mark_recorded()
        except OSError as error:
            return error
        return None

    async def _call(self, scope: MutableMapping[str, Any], body: bytes, receive: Receive) -> list[AsgiMessage]:
        messages: list[AsgiMessage] = []

        async def collect(message: AsgiMessage) -> None:
            messages.append(message)

        await self._application(scope, replay(body, receive), collect)
        return messages

    async def _forward(self, send: Send, messages: list[AsgiMessage], failure: OSError | None) -> None:
        if failure:
            await self._answer(send, failure)
            return
        for message in messages:
            await send(message)

    async def _answer(self, send: Send, failure: OSError | None) -> None:
        status, body = 200, b"{}"
        if failure:
            logger.error("a write was refused: %s", failure)
            content = {"__type": "InternalServerError", "message": f"nothing was stored: {failure}"}
            status, body = 500, json.dumps(content).encode()
        headers = [(b"content-type", b"application/x-amz-json-1.0"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _identify(scope: MutableMapping[str, Any]) -> tuple[str, str, list[str]]:
    target = authorization = ""
    for name, value in scope["headers"]:
        if name == b"x-amz-target":
            target = value.decode("latin-1")
        elif name == b"authorization":
            authorization = value.decode("latin-1")
    credential = authorization.partition("Credential=")[2].partition(",")[0].split("/")
    credential += [""] * (4 - len(credential))
    interface, _, operation = target.partition(".")
    return _TARGETS.get(interface, credential[3]), operation, credential


def _parse(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}
