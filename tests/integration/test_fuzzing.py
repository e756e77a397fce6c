"""The API against its own description: no request gets a 5xx, and every response is one that the document describes.

Schemathesis makes requests that fit the OpenAPI document and requests that do not, the same ones every time; half of
them name resources that do not exist, half existing ones. They are sent in a workspace of their own.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import Any
from urllib.parse import unquote

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import one_of
from requests.adapters import HTTPAdapter
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from urllib3.util import Retry

from cupel.client import Client
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from cupel.stack.subprocesses import child_environment, run
from tests.conftest import ROOT
from tests.effort import IS_SEARCHING
from tests.eval_api import create_definition, evaluate
from tests.profiles import operation, profile

REQUESTS = 20 if IS_SEARCHING else 6
"""Per operation."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(json.loads((ROOT / "docs/openapi.json").read_text()))
# Deletions come last, so that the other operations find existing resources.
OPERATIONS = sorted((each.ok() for each in SCHEMA.get_all_operations()), key=lambda each: each.method == "delete")


@pytest.fixture(scope="module")
def token(stack: LocalStack, stack_paths: StackPaths) -> str:
    """The token of an admin of a workspace that no other test uses."""
    command = ["cupel", "tokens", "bootstrap", "--stack-name", stack.stack_name, "--workspace", "fuzzed", "--json"]
    return str(json.loads(run(command, stack_paths, child_environment(stack_paths, stack.access)))["token"])


@pytest.fixture(scope="module")
def caller(stack: LocalStack, token: str) -> Iterator[Client]:
    with Client(stack.api_url, token) as client:
        yield client


@pytest.fixture(scope="module")
def session(token: str) -> Iterator[requests.Session]:
    """Waits when it exceeds the limit of its token."""
    waits = Retry(status=None, status_forcelist=[429], allowed_methods=None, raise_on_status=False)
    with requests.Session() as session:
        session.trust_env = False
        session.mount("http://", HTTPAdapter(max_retries=waits))
        session.headers["Authorization"] = f"Bearer {token}"
        yield session


@pytest.fixture(scope="module")
def existing(caller: Client) -> dict[str, str]:
    """Existing values of path parameters."""
    run_id = evaluate(caller, definition_id := create_definition(caller, 3), "sim/steady")["id"]
    content = {"template": "Rate [it].", "dimensions": [{"name": "it", "levels": [{"score": 1, "label": "one"}]}]}
    generated = str(caller.create_definition({"name": "generated", "content": content})["id"])
    run = {"definitionId": definition_id, "models": ["sim/steady"]}
    schedule = caller.create_schedule({"name": "yearly", "expression": "cron(0 12 1 1 ? *)", "run": run})
    scenario = next(caller.list_scenarios(definition_id))
    unreachable = {"name": "away", "type": "http", "baseUrl": "http://127.0.0.1:9"}
    agent = caller.create_connector({**unreachable, "config": {"request": "{text: message}", "reply": "text"}})
    other_id = evaluate(caller, definition_id, "sim/steady")["id"]
    compared = caller.create_comparison({"baseline": {"runId": run_id}, "comparison": {"runId": other_id}})
    experiment = caller.create_experiment({"name": "shorter", "hypothesis": "Shorter prompts suffice."})
    announced = {"name": "dot.png", "type": "image/png", "size": 3, "sha256": sha256(b"dot").hexdigest()}
    saved = caller.create_eval({"name": "saved", "model": "sim/steady", "scenarioIds": [scenario["id"]]})
    chat = caller.create_chat({"target": {"model": "sim/steady"}})
    return {
        "chat_id": str(chat["id"]),
        "branch_id": str(chat["activeBranchId"]),
        "message_id": "ex_01k1f0aa.user",
        "tag": "summary",
        "turn_id": str(caller.start_turn(chat["id"], {"content": "hello"})["id"]),
        "definition_id": generated,
        "scenario_id": f"scn_{generated.removeprefix('def_')}_000000",
        "generation_id": str(caller.generate_scenarios(generated, {"mode": "matrix"})["id"]),
        "run_id": run_id,
        "label_set_id": "lbs_01k1f0aa",
        "transcript_id": f"{run_id}-0",
        "probe_id": f"{run_id}-1",
        "report_id": str(caller.create_report(run_id, {"summarizerModel": None})["id"]),
        "rescore_id": str(caller.create_rescore(run_id)["id"]),
        "persona_id": str(caller.create_persona({"name": "Ada"})["id"]),
        "connector_id": str(agent["id"]),
        "eval_id": str(saved["id"]),
        "comparison_id": str(compared["id"]),
        "job_id": str(compared["jobId"]),
        "experiment_id": str(experiment["id"]),
        "profile_id": str(caller.create_profile(profile(operation()))["id"]),
        "file_id": str(caller.create_file(announced)["file"]["id"]),
        "format": "csv",
        "schedule_id": str(schedule["id"]),
        "token_id": str(caller.create_token("fuzz", "viewer")["id"]),
        "name": "openai",
    }


def reaches_the_api(case: Case) -> bool:
    """The embedded gateway has no route for a path with a line break, and responds by itself."""
    return "\n" not in unquote(case.formatted_path)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.label)
def test_every_response_is_one_that_the_document_describes(
    stack: LocalStack, session: requests.Session, existing: dict[str, str], operation: Any
) -> None:
    named = {each.name: existing[each.name] for each in operation.path_parameters}
    strategies = [
        operation.as_strategy(mode, path_parameters=known).filter(reaches_the_api)
        for mode, known in product(GenerationMode, ({}, named))
    ]

    @settings(
        max_examples=REQUESTS,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(one_of(strategies))
    def ask(case: Case) -> None:
        case.call_and_validate(base_url=stack.api_url, session=session, checks=CHECKS, timeout=30)

    ask()
