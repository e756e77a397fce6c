"""Calls that reach a model server: wire formats, number, concurrency, and retries after faults."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import orjson
import pytest

from cupel.client import Client
from tests.eval_api import RATING, assistant_messages, create_definition, evaluate
from tests.stacks import ModelServer

FAULTS = {"429": 0.05, "500": 0.04, "drop": 0.04}


@pytest.mark.parametrize(("provider", "path"), [("openai", "/v1"), ("anthropic", "/v1"), ("google", "/v1beta")])
def test_each_wire_format_works_end_to_end(api: Client, models: ModelServer, provider: str, path: str) -> None:
    api.update_provider(provider, {"baseUrl": models.url + path, "apiKey": "dummy"})
    models.configure(script=[{"contains": "system words\nQuestion 1", "reply": "Yes.\n\nRating: 4"}])
    definition_id = create_definition(api, ["Question 1"], {"system": "system words", **RATING})
    run = evaluate(api, definition_id, f"{provider}/bench-model")
    transcript = next(api.list_transcripts(run["id"]))
    assert (run["status"], assistant_messages(transcript), transcript["decisionCode"]) == (
        "COMPLETED",
        ["Yes.\n\nRating: 4"],
        "4",
    )
    assert (transcript["modelVersion"], transcript["usage"]) == (
        "bench-model-bench-1",
        {"inputTokens": 6, "outputTokens": 4, "cachedInputTokens": 0, "cacheWriteTokens": 0, "unreportedCalls": 0},
    )


def test_a_probe_is_one_model_call(api: Client, models: ModelServer) -> None:
    models.configure(latencySeconds=0.2)
    run = evaluate(api, create_definition(api, 300), "custom/bench")
    assert run["progress"] == {"total": 300, "completed": 300, "failed": 0}
    assert sorted(models.counts()["prompts"].values()) == [1] * 300


def test_calls_in_flight_stay_within_the_provider_limit(api: Client, models: ModelServer) -> None:
    models.configure(latencySeconds=0.2)
    evaluate(api, create_definition(api, 300), "custom/bench")
    assert 25 < models.counts()["inFlightPeak"] <= 50


def test_retries_complete_probes_despite_faults(api: Client, models: ModelServer) -> None:
    models.configure(rates=FAULTS, retryAfterSeconds=0.5)
    run = evaluate(api, create_definition(api, 200), "custom/bench")
    transcripts = list(api.list_transcripts(run["id"]))
    by_status = models.counts()["byStatus"]
    assert set(FAULTS) <= set(by_status)
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 200, "completed": 200, "failed": 0})
    assert (len(transcripts), by_status["200"]) == (200, 200)
    assert all(each["decisionCode"] in "12345" and len(assistant_messages(each)) == 1 for each in transcripts)


def test_a_server_that_always_fails_errors_its_probes_after_four_attempts(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": "Question 1:", "status": 500, "reply": "broken"}])
    run = evaluate(api, create_definition(api, 3), "custom/bench")
    errors = [
        (each["index"], each["error"]["code"], each["error"]["attempts"])
        for each in api.list_run_probes(run["id"], status="ERROR")
    ]
    assert (run["status"], errors) == ("COMPLETED", [(1, "provider_error", 4)])


def test_a_rejected_api_key_fails_the_run(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": "", "status": 401, "reply": "the key is not known"}])
    run = evaluate(api, create_definition(api, 3), "custom/bench")
    assert (run["status"], run["failure"]["where"], run["progress"]["failed"]) == ("FAILED", "probing", 3)
    assert "auth" in run["failure"]["why"]
    assert "the key is not known" in run["failure"]["why"]
    assert models.counts()["requests"] == 3


def test_follow_ups_are_turns_of_one_conversation(api: Client, models: ModelServer) -> None:
    models.configure(
        script=[
            {"contains": "Sure?", "reply": "Rating: 2"},
            {"contains": "And now?", "reply": "second"},
            {"contains": "", "reply": "first"},
        ]
    )
    content = {"followUps": ["And now?", "Sure?"], **RATING}
    run = evaluate(api, create_definition(api, ["Question"], content), "custom/bench")
    transcript = next(api.list_transcripts(run["id"]))
    contents = [message["content"] for message in transcript["content"]["messages"]]
    assert contents == ["Question", "first", "And now?", "second", "Sure?", "Rating: 2"]
    assert (transcript["turnCount"], transcript["decisionCode"], models.counts()["requests"]) == (3, "2", 3)


def test_max_turns_ends_a_conversation_early(api: Client, models: ModelServer) -> None:
    definition_id = create_definition(api, ["Question"], {"followUps": ["And now?", "Sure?"], **RATING})
    run = evaluate(api, definition_id, "custom/bench", config={"maxTurns": 2})
    assert (next(api.list_transcripts(run["id"]))["turnCount"], models.counts()["requests"]) == (2, 2)


def test_a_repeat_sends_the_same_prompt(api: Client, models: ModelServer) -> None:
    run = evaluate(api, create_definition(api, 2), "custom/bench", repeats=3)
    assert (run["progress"]["completed"], sorted(models.counts()["prompts"].values())) == (6, [3, 3])


def test_the_temperature_reaches_the_server(api: Client) -> None:
    with recording_server() as (url, bodies):
        api.update_provider("custom", {"baseUrl": url})
        evaluate(api, create_definition(api, 1), "custom/bench", config={"temperature": 0.25})
    assert [body["temperature"] for body in bodies] == [0.25]


def test_without_a_temperature_none_is_sent(api: Client) -> None:
    with recording_server() as (url, bodies):
        api.update_provider("custom", {"baseUrl": url})
        evaluate(api, create_definition(api, 1), "custom/bench")
    assert ["temperature" in body for body in bodies] == [False]


@contextmanager
def recording_server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A chat completions server that records requests; yields its URL and the request bodies."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(orjson.loads(self.rfile.read(int(self.headers["content-length"]))))
            reply = orjson.dumps({"choices": [{"message": {"role": "assistant", "content": "Rating: 3"}}]})
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
