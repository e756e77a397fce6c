"""The cloud around the handlers: delivers messages, executes the finishing machine's tasks, advances time."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Lock, Thread
from typing import Any

from botocore.exceptions import ClientError

from analyze import app as analyze
from api import app as api
from authorize import app as authorizer
from cupel_core.base.clock import to_iso, utc_now
from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Run
from cupel_core.store import budgets, idempotency_keys, keys, versioned_items
from dispatch import app as dispatch
from finish import app as finish
from probe import app as probe
from sweep import app as sweep
from tests.faults.cloud import REGION, Cloud
from tests.faults.hooks import Faults
from tests.lambda_context import Context
from tests.unit.api.client import event
from turn import app as turn

WORKSPACE = "faults"
QUEUES = ("dispatch", "probe_custom", "analyze", "turn")
TIMEOUT_SECONDS = {
    "authorize": 10,
    "api": 29,
    "dispatch": 60,
    "probe": 300,
    "finish": 900,
    "sweep": 55,
    "analyze": 900,
    "turn": 300,
}
DEAD_LETTER_QUEUE = "probe_custom-dlq"
_MAX_ROUNDS = 60
_MAX_SECONDS = 300
"""Only guards against a hang."""
_DISTANT_PAST = "2020-01-01T00:00:00.000000+00:00"

type Json = dict[str, Any]
type Handler = Callable[[Json, Any], Any]

_CONSUMERS: dict[str, tuple[str, Handler]] = {
    "dispatch": ("dispatch", dispatch.handler),
    "probe_custom": ("probe", probe.handler),
    "analyze": ("analyze", analyze.handler),
    "turn": ("turn", turn.handler),
}


class Invocation(Context):
    """Its timeout is the template's."""

    def __init__(self, function: str) -> None:
        self._ends_at = time.time() + TIMEOUT_SECONDS[function]

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends_at - time.time()) * 1_000))


class FunctionHarness:
    def __init__(self, cloud: Cloud, faults: Faults) -> None:
        self.cloud = cloud
        self.faults = faults
        self._urls = {queue: cloud.url(queue) for queue in (*QUEUES, DEAD_LETTER_QUEUE)}
        self._one_at_a_time = Lock()
        Thread(target=self._serve_activity, daemon=True).start()

    def invoke(self, function: str, handler: Handler, payload: Json) -> Any:
        """The handler's response, or its exception."""
        with self._one_at_a_time, self.faults.within(function):
            try:
                return handler(payload, Invocation(function))
            except Exception as error:  # noqa: BLE001 - like Lambda
                return error

    # -- requests

    def request(self, token: str, method: str, path: str, body: Json | None = None, key: str | None = None) -> Json:
        """Send a request like a client that retries after a 5xx response, or while its key is reserved."""
        headers = {"authorization": f"Bearer {token}"} | ({"idempotency-key": key} if key else {})
        if body is not None:
            headers["content-type"] = "application/json"
        for attempt in range(6):
            status, response = self._request(event(method, path, headers, None if body is None else json.dumps(body)))
            if status < 300:
                return response
            if status == 409 and key:
                self._expire_reservation(key)
            elif status == 409 and attempt:
                return {}  # It was executed, and its response lost.
            elif status < 500:
                raise AssertionError(f"{method} {path} returned {status}: {response}")
        raise AssertionError(f"{method} {path} never succeeded")

    def _request(self, request_event: Json) -> tuple[int, Json]:
        identity = self.invoke("authorize", authorizer.handler, request_event)
        if isinstance(identity, Exception):
            return 500, {}
        request_event["requestContext"]["authorizer"] = {"lambda": identity["context"]}
        response = self.invoke("api", api.handler, request_event)
        return (500, {}) if isinstance(response, Exception) else (response["statusCode"], json.loads(response["body"]))

    def _expire_reservation(self, key: str) -> None:
        partition = keys.idempotency_key(WORKSPACE, idempotency_keys.fingerprint(key))
        self._update(partition, "start", "SET reservedUntil = :past", {":past": {"S": _DISTANT_PAST}})

    # -- messages

    def receive(self, queue: str) -> Json | None:
        response = self.cloud.client("sqs").receive_message(
            QueueUrl=self._urls[queue], AttributeNames=["ApproximateReceiveCount"]
        )
        return next(iter(response.get("Messages", [])), None)

    def delete(self, queue: str, message: Json) -> None:
        with suppress(ClientError):  # Already deleted by the worker.
            self.cloud.client("sqs").delete_message(QueueUrl=self._urls[queue], ReceiptHandle=message["ReceiptHandle"])

    def deliver(self, queue: str) -> bool:
        """Deliver one message to its function, like the event source mapping; False if there is none."""
        message = self.receive(queue)
        if message is None:
            return False
        self.faults.receipts.add((self._urls[queue], message["ReceiptHandle"]))
        function, handler = _CONSUMERS[queue]
        record = {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:{REGION}:000000000000:{self.cloud.name}-{queue}",
            "awsRegion": REGION,
        }
        response = self.invoke(function, handler, {"Records": [record]})
        if not isinstance(response, Exception) and not response["batchItemFailures"]:
            self.delete(queue, message)
        return True

    def deliver_all(self) -> None:
        for _ in range(_MAX_ROUNDS):
            if not any(self.deliver(queue) for queue in QUEUES):
                return

    def purge(self, *queues: str) -> None:
        for queue in queues:
            self.cloud.client("sqs").purge_queue(QueueUrl=self._urls[queue])

    def send_dead_letter(self, body: str) -> None:
        self.cloud.client("sqs").send_message(QueueUrl=self._urls[DEAD_LETTER_QUEUE], MessageBody=body)

    # -- finishing

    def _serve_activity(self) -> None:
        client = self.cloud.client("stepfunctions")
        while True:
            task = client.get_activity_task(activityArn=self.cloud.activity)
            if "taskToken" not in task:
                continue
            response = self.invoke("finish", finish.handler, json.loads(task["input"]))
            if isinstance(response, Exception):
                client.send_task_failure(taskToken=task["taskToken"], error="Unhandled", cause=repr(response)[:200])
            else:
                client.send_task_success(taskToken=task["taskToken"], output=json.dumps(response))

    def wait_for_executions(self) -> None:
        """Wait until no execution is running."""
        deadline = time.monotonic() + _MAX_SECONDS
        client = self.cloud.client("stepfunctions")
        while client.list_executions(stateMachineArn=self.cloud.machine, statusFilter="RUNNING")["executions"]:
            if time.monotonic() > deadline:
                raise AssertionError(f"an execution does not end within {_MAX_SECONDS} s")
            time.sleep(0.05)

    # -- time

    def sweep(self) -> None:
        self.invoke("sweep", sweep.handler, {})

    def advance_time(self, run: Run) -> None:
        """Expire everything that waits for a time: visibility timeouts, claims, the sweeper's delays."""
        self._expire_visibility()
        ref, now = RunRef(run.workspace, run.id), to_iso(utc_now())
        for leaf in range(-(-run.plan.total // 100)):
            self._expire_claims(keys.barrier_nodes(ref, Node(0, leaf), 0), keys.barrier_node(leaf))
        self._update(
            keys.OUTBOX, keys.outbox(ref, run.fencing_token), "SET touchedAt = :past", {":past": {"S": _DISTANT_PAST}}
        )
        silent = "SET silentSince = :past"
        guard = {":past": {"S": _DISTANT_PAST}, ":now": {"S": now}}
        self._update(keys.ACTIVE_RUNS, keys.active_run(ref), silent, guard, "silentSince < :now")
        self._expire_budget_leases(run)

    def _expire_budget_leases(self, run: Run) -> None:
        """No worker is at work while time advances, so every lease is that of a dead one."""

        def expire(account: BudgetAccount) -> BudgetAccount:
            leases = {worker_id: replace(lease, until=0.0) for worker_id, lease in account.leases.items()}
            return replace(account, leases=leases)

        if run.budget is not None:
            key = budgets.key_of(RunRef(run.workspace, run.id))
            versioned_items.change(key, budgets.CODEC, expire)

    def advance_job(self, job_id: str) -> None:
        """Expire the lease of a job, and the sweeper's delay."""
        key = {"pk": {"S": keys.job(WORKSPACE, job_id)}, "sk": {"S": "job"}}
        item = self.cloud.client("dynamodb").get_item(TableName=self.cloud.name, Key=key, ConsistentRead=True)["Item"]
        body = json.dumps(json.loads(item["body"]["S"]) | {"updatedAt": _DISTANT_PAST})
        past = {":past": {"S": _DISTANT_PAST}}
        self._update(key["pk"]["S"], "job", "SET body = :body", {":body": {"S": body}})
        if "leasedUntil" in item:
            self._update(key["pk"]["S"], "job", "SET leasedUntil = :past", past)
        self._update(keys.OPEN_JOBS, keys.open_job(WORKSPACE, job_id), "SET touchedAt = :past", past)

    def advance_turn(self, ref: ChatRef, turn_id: str) -> None:
        """Expire the claim of a turn, which no worker has now, and the sweeper's delays."""
        self._expire_visibility()
        past = {":past": {"S": _DISTANT_PAST}}
        self._update(keys.chat_turns(ref), turn_id, "SET createdAt = :past REMOVE claimedUntil", past)
        self._update(keys.OPEN_TURNS, keys.open_turn(ref, turn_id), "SET touchedAt = :past", past)

    def _expire_visibility(self) -> None:
        for url, receipt in self.faults.receipts:
            with suppress(ClientError):  # Already deleted.
                self.cloud.client("sqs").change_message_visibility(
                    QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0
                )
        self.faults.receipts.clear()

    def _expire_claims(self, partition: str, number: str) -> None:
        key = {"pk": {"S": partition}, "sk": {"S": number}}
        response = self.cloud.client("dynamodb").get_item(TableName=self.cloud.name, Key=key, ConsistentRead=True)
        for name in [name for name in response.get("Item", {}) if name.startswith("claim:")]:
            self.cloud.client("dynamodb").update_item(
                TableName=self.cloud.name,
                Key=key,
                UpdateExpression="SET #claim.#until = :past",
                ExpressionAttributeNames={"#claim": name, "#until": "until"},
                ExpressionAttributeValues={":past": {"N": "0"}},
            )

    def _update(self, partition: str, sort: str, expression: str, values: Json, condition: str = "") -> None:
        """Update an item if it exists."""
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
