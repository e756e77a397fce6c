"""Plays the cloud around the handlers: delivers messages, carries out the finishing machine's tasks, lets time pass."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import Any

from botocore.exceptions import ClientError

from api import app as api
from authorize import app as authorizer
from cupel_core.clock import to_iso, utc_now
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Run
from cupel_core.messages import RunRef
from cupel_core.store import keys, starts
from dispatch import app as dispatch
from finish import app as finish
from probe import app as probe
from sweep import app as sweep
from tests.faults.cloud import REGION, Cloud
from tests.faults.hooks import Faults
from tests.lambda_context import Context
from tests.unit.api.client import event

WORKSPACE = "faults"
QUEUES = ("dispatch", "probe-custom")
SECONDS = {"authorize": 10, "api": 29, "dispatch": 60, "probe": 40, "finish": 900, "sweep": 55}
DEAD = "probe-custom-dlq"
_MOST_ROUNDS = 60
_LONG_AGO = "2020-01-01T00:00:00.000000+00:00"

type Json = dict[str, Any]
type Handler = Callable[[Json, Any], Any]


class Invocation(Context):
    """With the function's time: the template's, and for a probe as much as one with short calls needs."""

    def __init__(self, function: str) -> None:
        self._ends_at = time.time() + SECONDS[function]

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends_at - time.time()) * 1_000))


class Stage:
    def __init__(self, cloud: Cloud, faults: Faults) -> None:
        self.cloud = cloud
        self.faults = faults
        self._urls = {queue: cloud.url(queue) for queue in (*QUEUES, DEAD)}
        self._one_at_a_time = Lock()
        Thread(target=self._work_for_machine, daemon=True).start()

    def invoke(self, function: str, handler: Handler, given: Json) -> Any:
        """The handler's answer, or its exception."""
        with self._one_at_a_time, self.faults.within(function):
            try:
                return handler(given, Invocation(function))
            except Exception as error:  # noqa: BLE001 - as Lambda does
                return error

    # requests

    def request(self, token: str, method: str, path: str, body: Json | None = None, key: str | None = None) -> Json:
        """As a client that asks again when the answer is the server's fault, or its key is still in use."""
        headers = {"authorization": f"Bearer {token}"} | ({"idempotency-key": key} if key else {})
        if body is not None:
            headers["content-type"] = "application/json"
        for asked_before in range(6):
            status, answer = self._request(event(method, path, headers, None if body is None else json.dumps(body)))
            if status < 300:
                return answer
            if status == 409 and key:
                self._forget_reservation(key)
            elif status == 409 and asked_before:
                return {}  # It was carried out, and its answer lost.
            elif status < 500:
                raise AssertionError(f"{method} {path} is answered {status}: {answer}")
        raise AssertionError(f"{method} {path} is never answered well")

    def _request(self, asked: Json) -> tuple[int, Json]:
        known = self.invoke("authorize", authorizer.handler, asked)
        if isinstance(known, Exception):
            return 500, {}
        asked["requestContext"]["authorizer"] = {"lambda": known["context"]}
        answer = self.invoke("api", api.handler, asked)
        return (500, {}) if isinstance(answer, Exception) else (answer["statusCode"], json.loads(answer["body"]))

    def _forget_reservation(self, key: str) -> None:
        where = keys.start(WORKSPACE, starts.fingerprint(key))
        self._update(where, "start", "SET reservedUntil = :long_ago", {":long_ago": {"S": _LONG_AGO}})

    # messages

    def receive(self, queue: str) -> Json | None:
        answer = self.cloud.client("sqs").receive_message(
            QueueUrl=self._urls[queue], AttributeNames=["ApproximateReceiveCount"]
        )
        return next(iter(answer.get("Messages", [])), None)

    def delete(self, queue: str, message: Json) -> None:
        with suppress(ClientError):  # The worker has deleted it.
            self.cloud.client("sqs").delete_message(QueueUrl=self._urls[queue], ReceiptHandle=message["ReceiptHandle"])

    def deliver(self, queue: str) -> bool:
        """One message to its function, as the event source mapping would; False when there is none."""
        message = self.receive(queue)
        if message is None:
            return False
        self.faults.receipts.add((self._urls[queue], message["ReceiptHandle"]))
        function, handler = ("dispatch", dispatch.handler) if queue == "dispatch" else ("probe", probe.handler)
        record = {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:{REGION}:000000000000:{self.cloud.name}-{queue}",
            "awsRegion": REGION,
        }
        answer = self.invoke(function, handler, {"Records": [record]})
        if not isinstance(answer, Exception) and not answer["batchItemFailures"]:
            self.delete(queue, message)
        return True

    def deliver_all(self) -> None:
        for _ in range(_MOST_ROUNDS):
            if not any(self.deliver(queue) for queue in QUEUES):
                return

    def empty(self, *queues: str) -> None:
        for queue in queues:
            self.cloud.client("sqs").purge_queue(QueueUrl=self._urls[queue])

    def bury(self, body: str) -> None:
        self.cloud.client("sqs").send_message(QueueUrl=self._urls[DEAD], MessageBody=body)

    # finishing

    def _work_for_machine(self) -> None:
        client = self.cloud.client("stepfunctions")
        while True:
            task = client.get_activity_task(activityArn=self.cloud.activity)
            if "taskToken" not in task:
                continue
            answer = self.invoke("finish", finish.handler, json.loads(task["input"]))
            if isinstance(answer, Exception):
                client.send_task_failure(taskToken=task["taskToken"], error="Unhandled", cause=repr(answer)[:200])
            else:
                client.send_task_success(taskToken=task["taskToken"], output=json.dumps(answer))

    def await_machine(self) -> None:
        """Until no execution runs any more."""
        deadline = time.monotonic() + 60
        client = self.cloud.client("stepfunctions")
        while client.list_executions(stateMachineArn=self.cloud.machine, statusFilter="RUNNING")["executions"]:
            if time.monotonic() > deadline:
                raise AssertionError("an execution does not end")
            time.sleep(0.05)

    # time

    def sweep(self) -> None:
        self.invoke("sweep", sweep.handler, {})

    def let_time_pass(self, run: Run) -> None:
        """All that waits for a time to come has waited: hidden messages, claims, the sweeper's patience."""
        self._show_hidden()
        ref, now = RunRef(run.workspace, run.id), to_iso(utc_now())
        for leaf in range(-(-run.plan.total // 100)):
            self._end_claims(keys.siblings(ref, Node(0, leaf), 0), keys.node(leaf))
        self._update(keys.OUTBOX, keys.outbox(ref, run.epoch), "SET touchedAt = :then", {":then": {"S": _LONG_AGO}})
        silent = "SET silentSince = :then"
        guard = {":then": {"S": _LONG_AGO}, ":now": {"S": now}}
        self._update(keys.ACTIVE, keys.active(ref), silent, guard, "silentSince < :now")

    def _show_hidden(self) -> None:
        for url, receipt in self.faults.receipts:
            with suppress(ClientError):  # It was deleted.
                self.cloud.client("sqs").change_message_visibility(
                    QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0
                )
        self.faults.receipts.clear()

    def _end_claims(self, partition: str, number: str) -> None:
        key = {"pk": {"S": partition}, "sk": {"S": number}}
        found = self.cloud.client("dynamodb").get_item(TableName=self.cloud.name, Key=key, ConsistentRead=True)
        for name in [name for name in found.get("Item", {}) if name.startswith("claim:")]:
            self.cloud.client("dynamodb").update_item(
                TableName=self.cloud.name,
                Key=key,
                UpdateExpression="SET #claim.#until = :then",
                ExpressionAttributeNames={"#claim": name, "#until": "until"},
                ExpressionAttributeValues={":then": {"N": "0"}},
            )

    def _update(self, partition: str, sort: str, expression: str, values: Json, condition: str = "") -> None:
        """Of an item that is there; nothing where it is not."""
        guard = "attribute_exists(pk)" + (f" AND {condition}" if condition else "")
        try:
            self.cloud.client("dynamodb").update_item(
                TableName=self.cloud.name,
                Key={"pk": {"S": partition}, "sk": {"S": sort}},
                UpdateExpression=expression,
                ConditionExpression=guard,
                ExpressionAttributeValues=values,
            )
        except self.cloud.client("dynamodb").exceptions.ConditionalCheckFailedException:
            return
