"""The events of a run as a finite server-sent stream, through the gateway."""

from collections.abc import Callable

import httpx
import pytest

from cupel.client import Client
from cupel.stack.address import Local
from tests.eval_api import define, evaluate, start, until
from tests.stacks import ModelServer

type Ask = Callable[..., httpx.Response]


@pytest.fixture
def ask(stack: Local) -> Ask:
    """As an EventSource does."""

    def get(run_id: str, **headers: str) -> httpx.Response:
        own = {"Authorization": f"Bearer {stack.token}", "Accept": "text/event-stream"}
        url = f"{stack.api_url}/v1/runs/{run_id}/events"
        return httpx.get(url, headers=own | headers, timeout=30, trust_env=False)

    return get


@pytest.fixture(scope="module")
def ended(api: Client) -> str:
    return str(evaluate(api, define(api, 2), "sim/steady")["id"])


def ids(answer: httpx.Response) -> list[int]:
    return [int(line.removeprefix("id: ")) for line in answer.text.splitlines() if line.startswith("id: ")]


def test_the_body_is_finite_and_tells_when_to_come_back(ask: Ask, ended: str) -> None:
    answer = ask(ended)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
    assert answer.text.startswith("retry: 2000\n\n")


def test_events_carry_their_seq(ask: Ask, ended: str) -> None:
    assert ids(ask(ended)) == [1, 2, 3, 4]


def test_a_stream_goes_on_after_the_last_event_seen(ask: Ask, ended: str) -> None:
    assert ids(ask(ended, **{"Last-Event-ID": "2"})) == [3, 4]


def test_a_stream_that_was_read_to_the_end_is_closed(ask: Ask, ended: str) -> None:
    assert ask(ended, **{"Last-Event-ID": "4"}).status_code == 204


def test_progress_is_told_without_an_id_while_the_run_goes_on(api: Client, ask: Ask, models: ModelServer) -> None:
    models.behave(latencySeconds=2)
    run_id = start(api, define(api, 2), "custom/bench")
    until(lambda: models.counts()["inFlight"])
    answer = ask(run_id, **{"Last-Event-ID": "9"})
    assert (answer.status_code, ids(answer)) == (200, [])
    assert answer.text.count("event: run.progress\n") == 1
    until(lambda: ask(run_id, **{"Last-Event-ID": "9"}).status_code == 204)
