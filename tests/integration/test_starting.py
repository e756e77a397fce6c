"""Repeated starts with an Idempotency-Key, and deletion of large and running runs."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from cupel.client import Client
from cupel.stack.address import LocalStack
from tests.eval_api import Json, create_definition, start_run, wait_for_end, wait_until
from tests.queues import count_messages
from tests.stacks import ModelServer

MILLION = 1_000_000


@pytest.fixture
def http(stack: LocalStack) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {stack.token}"}
    with httpx.Client(base_url=f"{stack.api_url}/v1", headers=headers, timeout=30, trust_env=False) as client:
        yield client


def post(http: httpx.Client, key: str, body: Json) -> httpx.Response:
    return http.post("/runs", json=body, headers={"Idempotency-Key": key})


def run_spec(api: Client) -> Json:
    return {"definitionId": create_definition(api, 2), "models": ["sim/steady"]}


def test_concurrent_starts_with_one_key_make_one_run(api: Client, http: httpx.Client) -> None:
    body, key = run_spec(api), str(uuid4())
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(http, key, body), range(4)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    started = {answer.json()["run"]["id"] for answer in answers if answer.status_code == 201}
    assert started == {run["id"] for run in api.list_runs(definition_id=body["definitionId"])}
    assert len(started) == 1


def test_the_same_key_gets_the_same_response_after_the_run_has_ended(api: Client, http: httpx.Client) -> None:
    body, key = run_spec(api), str(uuid4())
    first = post(http, key, body)
    wait_for_end(api, first.json()["run"]["id"])
    repeated = post(http, key, body)
    assert (repeated.status_code, repeated.json()) == (201, first.json())


def test_the_same_key_with_another_body_is_rejected(api: Client, http: httpx.Client) -> None:
    body, key = run_spec(api), str(uuid4())
    post(http, key, body)
    rejected = post(http, key, body | {"repeats": 2})
    assert (rejected.status_code, rejected.headers["content-type"]) == (422, "application/problem+json")
    assert [error["field"] for error in rejected.json()["errors"]] == ["Idempotency-Key"]


def test_a_deleted_run_of_a_million_probes_leaves_no_messages(api: Client, aws: Callable[[str], Any]) -> None:
    started = api.create_run({"definitionId": create_large_definition(api), "models": ["sim/steady"], "repeats": 100})
    assert started["jobCount"] == MILLION
    wait_until(lambda: api.get_run(started["run"]["id"])["status"] == "RUNNING")
    api.delete_run(started["run"]["id"])
    wait_until(lambda: count_messages(aws("sqs"), "dispatch", "probe_sim") == 0, seconds=60, every=0.5)


def test_a_deleted_run_makes_no_further_calls(api: Client, aws: Callable[[str], Any], models: ModelServer) -> None:
    models.configure(latencySeconds=0.2)
    run_id = start_run(api, create_definition(api, 200), "custom/bench", repeats=10)
    wait_until(lambda: models.counts()["requests"])
    api.delete_run(run_id)
    wait_until(lambda: count_messages(aws("sqs"), "dispatch", "probe_custom") == 0)
    assert models.counts()["requests"] < 2_000


def create_large_definition(api: Client) -> str:
    """Create a definition with 10,000 scenarios; returns its id."""
    names = ("left", "right")
    dimensions = [{"name": name, "levels": [{"score": n, "label": f"{n}"} for n in range(100)]} for name in names]
    content = {"template": "[left] or [right]?", "dimensions": dimensions}
    definition_id = str(api.create_definition({"name": "large", "content": content})["id"])
    api.generate_scenarios(definition_id, {"mode": "matrix"})
    return definition_id
