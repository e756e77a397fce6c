"""Results from outside: webhook assertions, and an external evaluator."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import Json, start_run, wait_for_end
from tests.stacks import ModelServer


class RecordingServer:
    """Gives the same response to every POST, and records the requests."""

    def __init__(self, url: str, requests: list[Json], answer: dict[str, Any]) -> None:
        self.url, self.requests, self.answer = url, requests, answer


@pytest.fixture
def evaluator() -> Iterator[RecordingServer]:
    requests: list[Json] = []
    answer: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield RecordingServer(f"http://127.0.0.1:{server.server_port}/results", requests, answer)
    finally:
        server.shutdown()
        server.server_close()


def run_transcript(api: Client, scenario: Json, **config: str) -> Json:
    definition_id = str(api.create_definition({"name": "outside", "content": {"system": "Be kind."}})["id"])
    api.create_scenarios(definition_id, [scenario])
    run = wait_for_end(api, start_run(api, definition_id, "custom/agent", config=config))
    assert run["status"] == "COMPLETED", run
    (transcript,) = api.list_transcripts(run["id"])
    return transcript


def test_a_webhook_grades_a_reply(api: Client, models: ModelServer, evaluator: RecordingServer) -> None:
    models.configure(answer="It is sunny.")
    evaluator.answer |= {"pass": True, "score": 0.7, "reason": "the sun is up"}
    transcript = run_transcript(
        api, {"prompt": "Weather?", "assertions": [{"type": "webhook", "value": evaluator.url}]}
    )
    assert (transcript["result"]["success"], transcript["result"]["score"]) == (True, 0.7)
    assert evaluator.requests[0]["output"] == "It is sunny."


def test_results_of_an_external_evaluator_are_merged(
    api: Client, models: ModelServer, evaluator: RecordingServer
) -> None:
    models.configure(answer="It is sunny.")
    evaluator.answer |= {"results": [{"assertion": "politeness", "pass": False, "score": 0.2, "details": "curt"}]}
    scenario = {
        "prompt": "Weather?",
        "instructions": "the weather is given",
        "assertions": [{"type": "icontains", "value": "SUN"}],
    }
    transcript = run_transcript(api, scenario, evaluatorUrl=evaluator.url)
    results = transcript["scoring"]["results"]
    assert [(each["type"], each["source"], each["passed"]) for each in results] == [
        ("icontains", "cupel", True),
        ("politeness", "external", False),
    ]
    assert transcript["result"]["success"] is False
    (request,) = evaluator.requests
    assert [message["role"] for message in request["transcript"]][-2:] == ["user", "assistant"]
    assert (request["goal"], bool(request["conversationId"])) == ("the weather is given", True)


def test_an_unreachable_evaluator_leaves_a_note_and_the_other_results(api: Client, models: ModelServer) -> None:
    models.configure(answer="It is sunny.")
    scenario = {"prompt": "Weather?", "assertions": [{"type": "contains", "value": "sunny"}]}
    transcript = run_transcript(api, scenario, evaluatorUrl="http://127.0.0.1:9/results")
    assert transcript["result"]["success"] is True
    assert transcript["scoring"]["evaluatorNote"]
