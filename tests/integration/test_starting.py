"""Starts that are repeated, and a run of a million."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from cupel.client import Client
from cupel.stack.address import Local
from tests.eval_api import Json, define, finished, start, until
from tests.queues import count
from tests.stacks import ModelServer

MILLION = 1_000_000


@pytest.fixture
def http(stack: Local) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {stack.token}"}
    with httpx.Client(base_url=f"{stack.api_url}/v1", headers=headers, timeout=30, trust_env=False) as client:
        yield client


def post(http: httpx.Client, key: str, body: Json) -> httpx.Response:
    return http.post("/runs", json=body, headers={"Idempotency-Key": key})


def specification(api: Client) -> Json:
    return {"definitionId": define(api, 2), "models": ["sim/steady"]}


def test_concurrent_starts_with_one_key_make_one_run(api: Client, http: httpx.Client) -> None:
    body, key = specification(api), str(uuid4())
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(http, key, body), range(4)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    started = {answer.json()["run"]["id"] for answer in answers if answer.status_code == 201}
    assert started == {run["id"] for run in api.runs(definition_id=body["definitionId"])}
    assert len(started) == 1


def test_the_same_key_is_answered_alike_after_the_run_has_ended(api: Client, http: httpx.Client) -> None:
    body, key = specification(api), str(uuid4())
    first = post(http, key, body)
    finished(api, first.json()["run"]["id"])
    again = post(http, key, body)
    assert (again.status_code, again.json()) == (201, first.json())


def test_the_same_key_with_another_body_is_refused(api: Client, http: httpx.Client) -> None:
    body, key = specification(api), str(uuid4())
    post(http, key, body)
    refused = post(http, key, body | {"repeats": 2})
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert [error["field"] for error in refused.json()["errors"]] == ["Idempotency-Key"]


def test_a_deleted_run_of_a_million_is_accepted_and_leaves_no_work(api: Client, aws: Callable[[str], Any]) -> None:
    started = api.start_run({"definitionId": vast(api), "models": ["sim/steady"], "repeats": 100})
    assert started["jobCount"] == MILLION
    until(lambda: api.run(started["run"]["id"])["status"] == "RUNNING")
    api.delete_run(started["run"]["id"])
    until(lambda: count(aws("sqs"), "dispatch", "probe-sim") == 0, seconds=60, every=0.5)


def test_a_deleted_run_asks_no_model_any_more(api: Client, aws: Callable[[str], Any], models: ModelServer) -> None:
    models.behave(latencySeconds=0.2)
    run_id = start(api, define(api, 200), "custom/bench", repeats=10)
    until(lambda: models.counts()["requests"])
    api.delete_run(run_id)
    until(lambda: count(aws("sqs"), "dispatch", "probe-custom") == 0)
    assert models.counts()["requests"] < 2_000


def vast(api: Client) -> str:
    """A definition with 10,000 scenarios."""
    names = ("left", "right")
    dimensions = [{"name": name, "levels": [{"score": n, "label": f"{n}"} for n in range(100)]} for name in names]
    content = {"template": "[left] or [right]?", "dimensions": dimensions}
    definition_id = str(api.create_definition({"name": "vast", "content": content})["id"])
    api.generate_scenarios(definition_id, {"mode": "matrix"})
    return definition_id
