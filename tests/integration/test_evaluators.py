"""What is asked outside for results: webhooks of assertions, and an external evaluator beside them."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import Json, finished, start
from tests.stacks import ModelServer


class Outside:
    """Answers every POST alike, and remembers what was asked."""

    def __init__(self, url: str, asked: list[Json], answer: dict[str, Any]) -> None:
        self.url, self.asked, self.answer = url, asked, answer


@pytest.fixture
def outside() -> Iterator[Outside]:
    asked: list[Json] = []
    answer: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
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
        yield Outside(f"http://127.0.0.1:{server.server_port}/results", asked, answer)
    finally:
        server.shutdown()
        server.server_close()


def held(api: Client, scenario: Json, **config: str) -> Json:
    definition_id = str(api.create_definition({"name": "outside", "content": {"system": "Be kind."}})["id"])
    api.add_scenarios(definition_id, [scenario])
    run = finished(api, start(api, definition_id, "custom/agent", config=config))
    assert run["status"] == "COMPLETED", run
    (transcript,) = api.transcripts(run["id"])
    return transcript


def test_a_webhook_judges_an_answer(api: Client, models: ModelServer, outside: Outside) -> None:
    models.behave(answer="It is sunny.")
    outside.answer |= {"pass": True, "score": 0.7, "reason": "the sun is up"}
    transcript = held(api, {"prompt": "Weather?", "assertions": [{"type": "webhook", "value": outside.url}]})
    assert (transcript["result"]["success"], transcript["result"]["score"]) == (True, 0.7)
    assert outside.asked[0]["output"] == "It is sunny."


def test_an_external_evaluators_results_are_merged(api: Client, models: ModelServer, outside: Outside) -> None:
    models.behave(answer="It is sunny.")
    outside.answer |= {"results": [{"assertion": "politeness", "pass": False, "score": 0.2, "details": "curt"}]}
    scenario = {
        "prompt": "Weather?",
        "successCriteria": "it is told",
        "assertions": [{"type": "icontains", "value": "SUN"}],
    }
    transcript = held(api, scenario, evaluatorUrl=outside.url)
    results = transcript["scoring"]["results"]
    assert [(each["type"], each["source"], each["passed"]) for each in results] == [
        ("icontains", "cupel", True),
        ("politeness", "external", False),
    ]
    assert transcript["result"]["success"] is False
    (asked,) = outside.asked
    assert [message["role"] for message in asked["transcript"]][-2:] == ["user", "assistant"]
    assert (asked["goal"], bool(asked["conversationId"])) == ("it is told", True)


def test_an_evaluator_that_is_away_leaves_the_built_in_assertions_and_says_so(api: Client, models: ModelServer) -> None:
    models.behave(answer="It is sunny.")
    scenario = {"prompt": "Weather?", "assertions": [{"type": "contains", "value": "sunny"}]}
    transcript = held(api, scenario, evaluatorUrl="http://127.0.0.1:9/results")
    assert transcript["result"]["success"] is True
    assert transcript["scoring"]["evaluatorNote"]
