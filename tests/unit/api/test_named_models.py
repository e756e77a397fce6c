"""Models that definitions and scenarios name themselves: every start refuses those that cannot be called."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.store import executions
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Answer, Client

NO_KEY = "provider openai has no API key: PUT /v1/providers/openai sets it"
RUBRIC = {"type": "llm-rubric", "value": "is polite", "provider": "openai/gpt-5-mini"}
SIMILAR = {"type": "similar", "value": "yes", "provider": "openai/text-embedding-3-small"}
OF_SETS = {"type": "assert-set", "assert": [RUBRIC]}
DECIDED = {"decision": {"rubric": "Who wins?", "judgeModel": "openai/gpt-5-mini"}}


def definition(client: Client, content: dict[str, Any], *assertions: list[dict[str, Any]]) -> str:
    """With a scenario for each list of assertions."""
    created = client.post("/v1/definitions", {"name": "x", "content": {"system": "Be brief.", **content}})
    assert created.status == 201, created.text
    items = [{"name": f"case {number}", "prompt": "Hi", "assertions": own} for number, own in enumerate(assertions)]
    path = f"/v1/definitions/{created.json()['id']}/scenarios"
    assert client.post(path, {"items": items}).status == 201
    return str(created.json()["id"])


def start(client: Client, definition_id: str, **changes: Any) -> Answer:
    return client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"], **changes})


def refusal(answer: Answer, field: str = "definitionId") -> str:
    assert (answer.status, answer.fields()) == (422, [field]), answer.text
    return str(answer.json()["errors"][0]["message"])


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (
            {"assertions": [RUBRIC]},
            "the definition has an assertion of type llm-rubric that calls openai/gpt-5-mini",
        ),
        ({"assertions": [OF_SETS]}, "llm-rubric"),
        ({"assertions": [SIMILAR]}, "the definition has an assertion of type similar"),
        (DECIDED, "the definition has a decision that calls openai/gpt-5-mini"),
    ],
)
def test_a_run_whose_definition_names_a_model_without_a_key_is_refused(
    client: Client, content: dict[str, Any], named: str
) -> None:
    definition_id = definition(client, content, [])
    message = refusal(start(client, definition_id))
    assert named in message
    assert NO_KEY in message
    assert client.get("/v1/runs").json()["items"] == []
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    assert start(client, definition_id).status == 201


def test_a_scenario_that_names_such_a_model_is_named(client: Client) -> None:
    definition_id = definition(client, {}, [], [RUBRIC])
    assert 'scenario "case 1" has an assertion of type llm-rubric' in refusal(start(client, definition_id))


def test_a_sample_without_such_scenarios_is_started(client: Client) -> None:
    definition_id = definition(client, {}, [], [RUBRIC])
    answers = {start(client, definition_id, samplePercentage=50, sampleSeed=seed).status for seed in range(20)}
    assert answers == {201, 422}


def test_each_model_is_named_once(client: Client) -> None:
    definition_id = definition(client, {"assertions": [RUBRIC, SIMILAR]}, [RUBRIC], [RUBRIC])
    answer = start(client, definition_id)
    assert (answer.status, len(answer.json()["errors"])) == (422, 2)


def test_simulated_models_need_no_key(client: Client) -> None:
    named = [{**RUBRIC, "provider": "sim/bold"}, {**SIMILAR, "provider": "sim/any"}]
    assert start(client, definition(client, {"assertions": named}, [])).status == 201


def test_every_way_to_start_a_run_refuses_it(client: Client) -> None:
    definition_id = definition(client, {}, [RUBRIC])
    run = {"definitionId": definition_id, "models": ["sim/steady"]}
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    first = client.post("/v1/runs", run).json()["run"]
    [scenario] = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"]
    saved = {"name": "x", "model": "sim/steady", "scenarioIds": [scenario["id"]]}
    eval_id = client.post("/v1/evals", saved).json()["id"]
    client.put("/v1/providers/openai", {"apiKey": None})
    for path, body, field in (
        ("/v1/runs", run, "definitionId"),
        (f"/v1/evals/{eval_id}/runs", {}, "eval.definitionId"),
        ("/v1/playground/runs", {"scenarioId": scenario["id"], "model": "sim/steady"}, "definitionId"),
        (f"/v1/runs/{first['id']}/rerun", {}, "definitionId"),
    ):
        assert NO_KEY in refusal(client.post(path, body), field), path
    schedule = client.post("/v1/schedules", {"name": "nightly", "expression": "rate(1 day)", "run": run})
    assert (schedule.status, schedule.fields()) == (422, ["run.definitionId"])


@pytest.fixture
def _no_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "start_rescore", lambda *_: None)


def completed(config: GraderConfig, *assertions: Assertion, criteria: bool = False) -> str:
    from cupel_core.domain.conversations.conversation import Criteria

    scenario = Scenario(
        "", "one", (Message(MessageRole.USER, "?"),), criteria=Criteria("is polite") if criteria else Criteria()
    )
    run = AnsweredRun(
        workspace="acme", scenarios=(scenario,), content=Content(assertions=assertions), grader_config=config
    )
    return run.completed().id


def rescore(client: Client, run_id: str, body: dict[str, Any]) -> tuple[int, list[str]]:
    answer = client.post(f"/v1/runs/{run_id}/rescores", body)
    return answer.status, [] if answer.status == 202 else answer.fields()


@pytest.mark.usefixtures("_no_executions")
def test_a_rescore_refuses_models_without_a_key(client: Client) -> None:
    run_id = completed(GraderConfig(judge_model="openai/gpt-5-mini"), Assertion.from_json(RUBRIC), criteria=True)
    polite, contains = {"type": "llm-rubric", "value": "is polite"}, {"type": "contains", "value": "yes"}
    assert rescore(client, run_id, {}) == (422, ["assertions"])
    assert rescore(client, run_id, {"assertions": [contains, RUBRIC]}) == (422, ["assertions.1"])
    assert rescore(client, run_id, {"assertions": [polite]}) == (422, ["judgeModel"])
    assert rescore(client, run_id, {"assertions": [], "criteria": {"success": "x"}}) == (422, ["judgeModel"])
    assert rescore(client, run_id, {"assertions": [polite], "judgeModel": "sim/bold"}) == (202, [])
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    assert rescore(client, run_id, {}) == (202, [])


@pytest.mark.usefixtures("_no_executions")
def test_a_rescore_that_asks_no_judge_needs_no_key(client: Client) -> None:
    """The run's verdicts by criteria are kept."""
    run_id = completed(GraderConfig(judge_model="openai/gpt-5-mini"), criteria=True)
    assert rescore(client, run_id, {"assertions": [{"type": "contains", "value": "yes"}]}) == (202, [])
