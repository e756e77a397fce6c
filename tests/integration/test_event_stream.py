"""The events of a run as a finite server-sent stream, through the gateway."""

from collections.abc import Callable

import httpx
import pytest

from cupel.client import Client
from cupel.stack.address import LocalStack
from tests.eval_api import create_definition, evaluate, start_run, wait_until
from tests.stacks import ModelServer

type GetEvents = Callable[..., httpx.Response]


@pytest.fixture
def get_events(stack: LocalStack) -> GetEvents:
    """Request the events like a browser's EventSource."""

    def get(run_id: str, **headers: str) -> httpx.Response:
        own = {"Authorization": f"Bearer {stack.token}", "Accept": "text/event-stream"}
        url = f"{stack.api_url}/v1/runs/{run_id}/events"
        return httpx.get(url, headers=own | headers, timeout=30, trust_env=False)

    return get


@pytest.fixture(scope="module")
def ended_run(api: Client) -> str:
    return str(evaluate(api, create_definition(api, 2), "sim/steady")["id"])


def event_ids(response: httpx.Response) -> list[int]:
    return [int(line.removeprefix("id: ")) for line in response.text.splitlines() if line.startswith("id: ")]


def test_the_body_is_finite_and_has_a_retry_interval(get_events: GetEvents, ended_run: str) -> None:
    response = get_events(ended_run)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream")
    assert response.text.startswith("retry: 2000\n\n")


def test_event_ids_are_sequence_numbers(get_events: GetEvents, ended_run: str) -> None:
    assert event_ids(get_events(ended_run)) == [1, 2, 3, 4]


def test_a_stream_resumes_after_the_last_event_id(get_events: GetEvents, ended_run: str) -> None:
    assert event_ids(get_events(ended_run, **{"Last-Event-ID": "2"})) == [3, 4]


def test_a_completely_read_stream_is_closed(get_events: GetEvents, ended_run: str) -> None:
    assert get_events(ended_run, **{"Last-Event-ID": "4"}).status_code == 204


def test_progress_events_of_a_running_run_have_no_id(api: Client, get_events: GetEvents, models: ModelServer) -> None:
    models.configure(latencySeconds=2)
    run_id = start_run(api, create_definition(api, 2), "custom/bench")
    wait_until(lambda: models.counts()["inFlight"])
    response = get_events(run_id, **{"Last-Event-ID": "9"})
    assert (response.status_code, event_ids(response)) == (200, [])
    assert response.text.count("event: run.progress\n") == 1
    wait_until(lambda: get_events(run_id, **{"Last-Event-ID": "9"}).status_code == 204)
