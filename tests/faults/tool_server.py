"""A server that executes calls of tools, and compares each with what is stored when it arrives.

It runs in the process of the harness, beside the worker, whose AWS clients it does not use: no fault is its own.
"""

import json
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from cupel_core.base.messages import RunRef
from cupel_core.store import keys
from tests.faults.cloud import Cloud

RESULT = "paid"


class ToolServer:
    """`executions` counts them by the id that all attempts at a call have."""

    def __init__(self, cloud: Cloud, workspace: str) -> None:
        self.executions: Counter[str] = Counter()
        self.violations: list[str] = []
        self._cloud = cloud
        self._workspace = workspace
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def reset(self) -> None:
        self.executions.clear()
        self.violations.clear()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server._execute(body)
                answer = json.dumps({"result": RESULT}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        return Handler

    def _execute(self, body: dict[str, Any]) -> None:
        index, call_id = int(body["probeIndex"]), str(body["callId"])
        is_stored = call_id in self._stored_results(RunRef(self._workspace, body["runId"]), index)
        with self._lock:
            self.executions[body["id"]] += 1
            if is_stored:
                self.violations.append(f"call {call_id} of probe {index} is executed although its result is stored")

    def _stored_results(self, ref: RunRef, index: int) -> set[str]:
        """The ids of the calls whose results the probe's checkpoint has, in any retry round."""
        response = self._cloud.client("dynamodb").query(
            TableName=self._cloud.name,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :probe)",
            ExpressionAttributeValues={
                ":pk": {"S": keys.checkpoints(ref, index)},
                ":probe": {"S": keys.numbered_probe(index, 0).partition("#")[0]},
            },
            ConsistentRead=True,
        )
        stored = [json.loads(zlib.decompress(item["content"]["B"])) for item in response["Items"] if "content" in item]
        messages = [message for body in stored for message in body["messages"]]
        return {message["toolCallId"] for message in messages if message.get("toolCallId")}
